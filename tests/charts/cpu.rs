//! Where CPU time goes: samples of stacked bars and of timelines.

use super::heading;
use shakedown::model::metric::Unit;
use shakedown::report::charts::{
    Bar, Chart, ChartError, Fonts, Layer, Line, Measure, Paint, PhaseSpan, Role, Scene, Stack, Step, Timeline,
};

fn layers() -> Vec<Layer> {
    let named = [
        ("generator", Paint::Workload(0)),
        ("web", Paint::Service(0)),
        ("docker-proxy", Paint::Proxy),
        ("engine", Paint::Engine),
        ("softirq", Paint::Softirq),
        ("foreign", Paint::Foreign),
        ("shakedown", Paint::Observer),
    ];
    named.map(|(label, paint)| Layer { label: label.to_owned(), paint }).to_vec()
}

/// Microseconds per request by part, as seconds.
fn bar(label: &str, role: Role, micros: [f64; 7]) -> Bar {
    Bar { label: label.to_owned(), role, trials: 10, amounts: micros.map(|micro| (micro >= 0.0).then_some(micro / 1e6)).to_vec() }
}

/// Four ways to a web server; what is below zero was not told.
pub fn ways() -> Stack {
    Stack {
        heading: heading("The userland proxy costs more CPU than the server it stands before"),
        measure: Measure { name: "CPU time per request".to_owned(), unit: Unit::SECOND, better: None },
        parts: layers(),
        bars: vec![
            bar("network=native (baseline)", Role::Baseline, [14.1, 22.4, -1.0, 0.05, 6.2, 0.4, 0.2]),
            bar("A/A: the baseline again", Role::Control, [14.2, 22.3, -1.0, 0.05, 6.3, 0.4, 0.2]),
            bar("network=bridge", Role::Plain, [15.0, 24.9, -1.0, 0.3, 10.8, 0.6, 0.2]),
            bar("network=bridge, userland_proxy=true", Role::Plain, [15.8, 25.3, 31.9, 0.4, 11.7, 0.5, 0.2]),
        ],
    }
}

/// Forty variants with five services.
pub fn many() -> Stack {
    let mut chart = ways();
    let services = ["cache", "database", "proxy", "queue", "web"];
    let service = |(at, name): (usize, &&str)| Layer { label: (*name).to_owned(), paint: Paint::Service(at) };
    chart.parts.splice(1..2, services.iter().enumerate().map(service));
    chart.bars = (0..40)
        .map(|at| Bar {
            label: format!(
                "driver={}, buffer_pool={}m, proxy={}",
                ["overlay2", "vfs", "btrfs", "zfs"][at % 4],
                128 << (at / 8),
                at % 2 == 0
            ),
            role: if at == 0 { Role::Baseline } else { Role::Plain },
            trials: 5,
            amounts: (0..11).map(|part| Some(0.0004 * f64::from(1 + (part * 7 + at as i32) % 9))).collect(),
        })
        .collect();
    chart
}

/// One trial of so many variants, sampled every half second.
pub fn trials(variants: usize) -> Timeline {
    let wave = |at: usize, by: f64| by * (1.0 + 0.08 * ((at * 7 + 3) % 11) as f64 / 10.0);
    let line = |layer: usize, from: usize, to: usize, value: &dyn Fn(usize) -> f64| Line {
        layer,
        steps: (from..to).map(|at| Step { from: at as f64 / 2.0, to: (at + 1) as f64 / 2.0, value: value(at) }).collect(),
    };
    let scene = |variant: usize| {
        let speed = 1.0 - 0.1 * variant as f64;
        let phase = |name: &str, from: f64, to: f64| PhaseSpan { name: name.to_owned(), measured: name == "window", from, to };
        Scene {
            label: format!("network=way {variant}, userland_proxy={}", variant.is_multiple_of(2)),
            role: if variant == 0 { Role::Baseline } else { Role::Plain },
            phases: vec![phase("start", 0.0, 1.0), phase("warm-up", 1.0, 4.0), phase("window", 4.0, 14.0), phase("drain", 14.0, 14.5)],
            panels: vec![
                vec![
                    line(0, 2, 29, &|at| wave(at, if (8..28).contains(&at) { 0.55 * speed } else { 0.3 })),
                    line(1, 0, 29, &|at| wave(at + 2, if at > 2 { 0.9 * speed } else { 0.1 })),
                    line(2, 2, 29, &|at| wave(at + 5, 0.25)),
                    line(3, 0, 29, &|at| if at < 2 { 0.4 } else { 0.02 }),
                    line(5, 0, 29, &|at| wave(at, if at == 19 { 0.4 } else { 0.03 })),
                    line(6, 0, 29, &|_| 0.004),
                ],
                vec![line(1, 2, 29, &|at| if at % 4 == 0 { 0.12 } else { 0.05 })],
                vec![line(7, 0, 29, &|at| if at == 12 { 0.2 } else { 0.0 })],
            ],
        }
    };
    let mut all = layers();
    all.push(Layer { label: "host".to_owned(), paint: Paint::Host });
    Timeline {
        heading: heading("The userland proxy costs more CPU than the server it stands before"),
        axis: "seconds since the trial began".to_owned(),
        panels: ["CPUs used", "throttled by a CPU quota, seconds per second", "all tasks waited for a disk, share of the time"]
            .map(str::to_owned)
            .to_vec(),
        layers: all,
        scenes: (0..variants).map(scene).collect(),
        remark: "one trial of each variant; each step is the mean between two samples".to_owned(),
    }
}

/// What to look at, by file name.
pub fn drawn(fonts: &Fonts) -> Vec<(&'static str, Result<Vec<u8>, ChartError>)> {
    let mut japanese = ways();
    japanese.heading.title = "コンテナのネットワーク方式ごとの1リクエストあたりCPU時間".to_owned();
    for (bar, label) in
        japanese.bars.iter_mut().zip(["ネイティブ（基準）", "A/A：基準をもう一度", "ブリッジ", "ブリッジ、ユーザーランドプロキシあり"])
    {
        bar.label = label.to_owned();
    }
    japanese.parts[1].label = "ウェブサーバー".to_owned();
    vec![
        ("cpu", ways().render(fonts)),
        ("cpu-many", many().render(fonts)),
        ("cpu-japanese", japanese.render(fonts)),
        ("cpu-one", Stack { bars: ways().bars[3..].to_vec(), ..ways() }.render(fonts)),
        ("cpu-empty", Stack { bars: vec![], ..ways() }.render(fonts)),
        ("series-1", trials(1).render(fonts)),
        ("series-2", trials(2).render(fonts)),
        ("series-6", trials(6).render(fonts)),
    ]
}

#[test]
fn the_same_amounts_give_the_same_small_pictures() {
    let fonts = Fonts::embedded();
    for ((name, bytes), (_, again)) in drawn(&fonts).into_iter().zip(drawn(&fonts)) {
        let bytes = bytes.expect(name);
        assert!(bytes == again.expect(name), "{name}");
        assert!(bytes.len() < 350_000, "{name}: {} bytes", bytes.len());
    }
}

#[test]
fn more_than_can_be_told_apart_is_refused() {
    let fonts = Fonts::embedded();
    assert!(matches!(trials(7).render(&fonts), Err(ChartError::TooManyRows { found: 7, limit: 6 })));
    let mut chart = trials(1);
    chart.layers = vec![chart.layers[0].clone(); 13];
    assert!(matches!(chart.render(&fonts), Err(ChartError::TooManySeries { found: 13, limit: 12 })));
    let mut chart = ways();
    chart.bars = vec![chart.bars[0].clone(); 161];
    assert!(matches!(chart.render(&fonts), Err(ChartError::TooManyRows { found: 161, limit: 160 })));
}
