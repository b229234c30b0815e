//! Charts of effects as a caller sees them.

use super::{heading, measure};
use shakedown::model::estimate::Verdict;
use shakedown::model::metric::{Better, Unit};
use shakedown::report::charts::{Chart, ChartError, Contrast, Fonts, Forest, Group, Heading, Role, Span};

const SAID: &str = "requests_per_second, ratio to network=native, higher is better ↑ · simultaneous 95 % intervals (Bonferroni over 5 \
                    comparisons), verdicts by Holm · n = 10 · 10 randomised blocks, seed 7 · clean 58 of 60 trials · 8 × EPYC · 2026-11-30";

/// A row whose interval reaches this share to either side.
fn contrast(label: &str, ratio: f64, reach: f64, verdict: Verdict) -> Contrast {
    let ends = (ratio * (1.0 - reach), ratio * (1.0 + reach));
    Contrast {
        label: label.to_owned(),
        role: Role::Plain,
        effect: Some(Span { ratio, interval: (reach >= 0.0).then_some(ends) }),
        clean: None,
        text: if reach < 0.0 { format!("{ratio:.3}, no interval") } else { format!("{ratio:.3} ({:.3} to {:.3})", ends.0, ends.1) },
        n: Some(10),
        verdict: Some(verdict),
        remark: String::new(),
    }
}

fn baseline(label: &str) -> Contrast {
    let row = contrast(&format!("{label} (baseline)"), 1.0, -1.0, Verdict::Undecided);
    Contrast { role: Role::Baseline, text: "1".to_owned(), n: None, verdict: None, ..row }
}

fn forest(rows: Vec<Contrast>) -> Forest {
    Forest {
        heading: Heading {
            subtitle: SAID.to_owned(),
            ..heading("The bridge costs a quarter of the throughput; half of that is the userland proxy")
        },
        measure: measure("requests_per_second", Unit::PER_SECOND, Better::Higher),
        against: "network=native".to_owned(),
        intervals: "simultaneous 95 % interval".to_owned(),
        min_effect: 0.01,
        margin: 0.03,
        groups: vec![Group { title: String::new(), rows }],
    }
}

fn networks() -> Forest {
    let mut rows = vec![
        baseline("network=native"),
        Contrast { role: Role::Control, ..contrast("A/A: the baseline again", 1.001, 0.008, Verdict::Equivalent) },
        contrast("network=host", 0.993, 0.01, Verdict::Equivalent),
        contrast("network=bridge", 0.768, 0.02, Verdict::Different),
        contrast("network=bridge, userland_proxy=false", 0.83, 0.024, Verdict::Different),
        contrast("network=macvlan", 0.945, 0.09, Verdict::Undecided),
        contrast("network=ipvlan", 1.008, 0.004, Verdict::DifferentSmall),
        contrast("network=tuned", 1.09, 0.03, Verdict::Different),
        Contrast {
            effect: None,
            text: "–".to_owned(),
            n: Some(0),
            verdict: None,
            remark: "not compared".to_owned(),
            ..contrast("network=overlay", 1.0, 0.1, Verdict::Undecided)
        },
    ];
    rows[3].clean = Some(Span { ratio: 0.781, interval: Some((0.762, 0.8)) });
    rows[5].remark = "fragile".to_owned();
    forest(rows)
}

/// So many variants of a stack, cheap to dear.
fn many(count: usize, label: &str) -> Forest {
    let verdicts = [Verdict::Different, Verdict::Undecided, Verdict::Equivalent, Verdict::DifferentSmall];
    let row = |at: usize| {
        contrast(
            &format!("{label}buffer_pool={}m, proxy={}", 128 + at, at.is_multiple_of(2)),
            0.9 + 0.01 * at as f64,
            0.02,
            verdicts[at % 4],
        )
    };
    forest([baseline(label)].into_iter().chain((1..count).map(row)).collect())
}

/// Main effects: the factors with their levels.
fn factors() -> Forest {
    let level =
        |label: &str, ratio, reach, verdict, remark: &str| Contrast { remark: remark.to_owned(), ..contrast(label, ratio, reach, verdict) };
    let groups = vec![
        Group {
            title: "cpus, against 1".to_owned(),
            rows: vec![
                level("0.5", 2.01, 0.02, Verdict::Different, ""),
                level("2", 0.62, 0.02, Verdict::Different, "depends on network, storage_driver"),
            ],
        },
        Group {
            title: "network, against native".to_owned(),
            rows: vec![
                level("host", 1.002, 0.01, Verdict::Equivalent, ""),
                level("bridge", 1.21, 0.05, Verdict::Different, "depends on cpus"),
            ],
        },
        Group {
            title: "ストレージドライバー, against overlay2".to_owned(),
            rows: vec![level("ｖｆｓ", 1.03, 0.06, Verdict::Undecided, "3 of 5 engine starts")],
        },
    ];
    Forest { groups, measure: measure("wall", Unit::SECOND, Better::Lower), against: "the baseline's level".to_owned(), ..networks() }
}

fn huge() -> Forest {
    forest(vec![
        baseline("cpus=1"),
        contrast("cpus=0.025", 40.0, 0.1, Verdict::Different),
        contrast("cpus=2", 0.5, 0.1, Verdict::Different),
        contrast("cpus=3", 0.4, -1.0, Verdict::Undecided),
        Contrast {
            effect: Some(Span { ratio: 1.4, interval: Some((0.0, f64::INFINITY)) }),
            text: "1.4 (0 to inf)".to_owned(),
            ..contrast("cpus=4", 1.4, 0.1, Verdict::Undecided)
        },
    ])
}

fn tiny() -> Forest {
    let rows = vec![
        baseline("a"),
        contrast("b", 1.0021, 0.0012, Verdict::DifferentSmall),
        contrast("c", 0.9988, 0.002, Verdict::Equivalent),
        contrast("d", 1.0, 0.0, Verdict::Equivalent),
    ];
    Forest { min_effect: 0.001, margin: 0.004, ..forest(rows) }
}

/// Pictures to look at.
pub(super) fn drawn(fonts: &Fonts) -> Vec<(&'static str, Result<Vec<u8>, ChartError>)> {
    let mut wild = tiny();
    wild.groups[0]
        .rows
        .push(Contrast { effect: Some(Span { ratio: 1.1, interval: Some((0.3, 3.5)) }), ..contrast("wild", 1.1, 0.5, Verdict::Undecided) });
    let mut japanese = networks();
    japanese.heading.title = "ネットワークの種類によるスループットの違い：ブリッジは四分の一遅い".to_owned();
    japanese.groups[0].rows[3].label = "ネットワーク=ブリッジ、プロキシ=あり、ストレージドライバー=オーバーレイ".to_owned();
    vec![
        ("forest", networks().render(fonts)),
        ("forest-japanese", japanese.render(fonts)),
        ("forest-one", forest(vec![contrast("only", 1.02, 0.01, Verdict::Different)]).render(fonts)),
        ("forest-forty", many(40, "").render(fonts)),
        ("forest-sixty-long", many(60, "innodb_flush_method=O_DIRECT, network=bridge, ").render(fonts)),
        ("forest-factors", factors().render(fonts)),
        ("forest-huge", huge().render(fonts)),
        ("forest-tiny", tiny().render(fonts)),
        ("forest-wild", wild.render(fonts)),
        ("forest-empty", forest(vec![]).render(fonts)),
    ]
}

#[test]
fn forests_are_the_same_twice_small_and_refuse_what_nobody_reads() {
    let fonts = Fonts::embedded();
    let once = networks().render(&fonts).expect("drawn");
    assert_eq!(once, networks().render(&Fonts::embedded()).expect("drawn again"));
    assert!(once.len() < 200_000, "{} bytes", once.len());
    assert!(matches!(many(161, "").render(&fonts), Err(ChartError::TooManyRows { found: 161, limit: 160 })));
}
