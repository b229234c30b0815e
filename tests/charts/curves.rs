//! Samples of percentile curves and of trials in their order.

use super::{heading, measure};
use shakedown::model::metric::{Better, Unit};
use shakedown::report::charts::{
    Chart, ChartError, Curve, DriftRun, DriftTrial, DriftVariant, Drifting, Fonts, Percentiles, Profile, Role,
};

const SHARES: [f64; 6] = [0.5, 0.75, 0.9, 0.95, 0.99, 0.999];

/// Latencies of one trial: `centre` seconds at the median, `tail` times that at p99.9.
fn profile(centre: f64, tail: f64, trial: usize) -> Profile {
    let noise = 1.0 + 0.04 * (((trial * 7 + 3) % 11) as f64 / 5.0 - 1.0);
    let at = |share: f64| centre * noise * tail.powf((-(1.0 - share).log10() - 0.30) / 2.70);
    Profile { values: SHARES.iter().map(|share| (*share, at(*share))).collect(), tainted: trial % 5 == 4 }
}

fn curve(label: &str, hue: usize, centre: f64, tail: f64, trials: usize) -> Curve {
    let trials: Vec<Profile> = (0..trials).map(|trial| profile(centre, tail, trial)).collect();
    let median = profile(centre, tail, 3).values;
    Curve { label: label.to_owned(), role: if hue == 0 { Role::Baseline } else { Role::Plain }, hue: hue.saturating_sub(1), trials, median }
}

pub fn latency() -> Percentiles {
    Percentiles {
        heading: heading("docker-proxy has a tail that the bridge has not"),
        measure: measure("latency", Unit::SECOND, Better::Lower),
        curves: vec![
            curve("network=native (baseline)", 0, 0.0042, 4.0, 5),
            curve("network=host", 1, 0.0044, 4.1, 5),
            curve("network=bridge", 2, 0.0056, 5.0, 5),
            curve("network=bridge, userland_proxy=true", 3, 0.0061, 16.0, 5),
        ],
        remarks: vec!["of N requests not beyond 1 − 10/N".to_owned()],
    }
}

fn eight() -> Percentiles {
    let curves =
        (0..8).map(|at| curve(&format!("cpus={at}, network=bridge, userland_proxy=true"), at, 0.004 + 0.0001 * at as f64, 1.2, 10));
    Percentiles { curves: curves.collect(), ..latency() }
}

/// Runs of so many blocks over `variants`, falling by `fall` percent in each run.
pub fn sequence(variants: usize, runs: &[usize], fall: f64) -> Drifting {
    let run = |(number, blocks): (usize, &usize)| {
        let count = blocks * variants;
        let trial = |at: usize| {
            let noise = 0.9 * (((at * 13 + 5) % 17) as f64 / 8.0 - 1.0);
            let percent = noise + fall * (0.5 - at as f64 / count as f64);
            DriftTrial { variant: (at * 7 + 1) % variants, block: (at / variants) as u32 + 1, percent, tainted: at % 19 == 7 }
        };
        let line = (fall != 0.0).then_some((fall / 2.0, -fall / 2.0));
        DriftRun { label: format!("2026-11-{:02}-bench-1-a1b2c{number}", number + 10), trials: (0..count).map(trial).collect(), line }
    };
    let role = |at: usize| [Role::Baseline, Role::Control].get(at).copied().unwrap_or_default();
    let variant = |at: usize| DriftVariant { label: format!("network=kind{at}"), role: role(at), hue: at.saturating_sub(2) % 7 };
    Drifting {
        heading: heading("The machine became slower while the experiment ran"),
        measure: "requests_per_second of a trial, above or below the level of its variant in the run (%)".to_owned(),
        variants: (0..variants).map(variant).collect(),
        runs: runs.iter().enumerate().map(run).collect(),
    }
}

/// Samples to look at.
pub fn drawn(fonts: &Fonts) -> Vec<(&'static str, Result<Vec<u8>, ChartError>)> {
    let mut japanese = latency();
    japanese.heading.title = "コンテナのネットワーク方式による応答時間の分布：パーセンタイルごとの中央値（各条件5回）".to_owned();
    japanese.curves[1].label = "ネットワーク=ホスト".to_owned();
    let one = Percentiles { curves: vec![curve("all", 0, 0.004, 3.0, 1)], remarks: vec![], ..latency() };
    vec![
        ("latency", latency().render(fonts)),
        ("latency-eight", eight().render(fonts)),
        ("latency-japanese", japanese.render(fonts)),
        ("latency-one", one.render(fonts)),
        ("drift", sequence(5, &[10, 4], 6.0).render(fonts)),
        ("drift-none", sequence(3, &[5], 0.0).render(fonts)),
        ("drift-many", sequence(40, &[30, 60, 10], 3.0).render(fonts)),
        ("drift-one", sequence(1, &[1], 0.0).render(fonts)),
    ]
}

#[test]
fn equal_input_gives_equal_bytes() {
    let fonts = Fonts::embedded();
    assert_eq!(latency().render(&fonts).expect("drawn"), latency().render(&Fonts::embedded()).expect("again"));
    assert_eq!(sequence(5, &[4, 4], 1.0).render(&fonts).expect("drawn"), sequence(5, &[4, 4], 1.0).render(&fonts).expect("again"));
    let mut nine = eight();
    nine.curves.push(nine.curves[1].clone());
    assert!(matches!(nine.render(&fonts), Err(ChartError::TooManySeries { found: 9, limit: 8 })));
}
