//! Charts as a caller sees them: bytes in equal bytes out, whatever the data.
//!
//! `SHAKEDOWN_CHARTS=DIR cargo test --test main charts::samples -- --ignored` writes samples to look at;
//! `SHAKEDOWN_FONT=FILE` adds a fallback face for the Japanese one.

mod cpu;
mod curves;
mod effects;
mod factorial;

use shakedown::model::metric::{Better, Unit};
use shakedown::report::charts::{
    Cell, Chart, ChartError, Fonts, Form, Heading, Ideal, LevelMark, Measure, Point, Role, Row, Scaling, Series, Strip,
};

fn heading(title: &str) -> Heading {
    Heading {
        title: title.to_owned(),
        subtitle: "wall time, 5 blocks, clean 20 of 20 trials, host bench-1 (8 cores, Linux 6.1), 2026-11-30, seed 7".to_owned(),
    }
}

fn measure(name: &str, unit: Unit, better: Better) -> Measure {
    Measure { name: name.to_owned(), unit, better: Some(better) }
}

fn clean(values: &[f64]) -> Vec<Point> {
    values.iter().map(|value| Point { value: *value, tainted: false }).collect()
}

fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied()
}

fn cell(level: usize, values: &[f64]) -> Cell {
    let interval =
        (values.len() >= 6).then(|| (values.iter().copied().fold(f64::MAX, f64::min), values.iter().copied().fold(f64::MIN, f64::max)));
    Cell { level, points: clean(values), median: median(values), interval }
}

fn row(label: &str, role: Role, values: &[f64]) -> Row {
    let Cell { points, median, interval, .. } = cell(0, values);
    Row { label: label.to_owned(), role, hue: None, points, median, interval, remark: String::new() }
}

fn levels(texts: &[&str]) -> Vec<LevelMark> {
    let level = |text: &&str| LevelMark { text: (*text).to_owned(), value: text.parse().expect("a number"), remark: String::new() };
    texts.iter().map(level).collect()
}

fn cpus() -> Scaling {
    let mut cells = vec![
        cell(0, &[6.61, 6.58, 6.72, 6.49, 6.63]),
        cell(1, &[3.21, 3.24, 3.18, 3.35, 3.22]),
        cell(2, &[1.62, 1.61, 1.64, 1.6, 1.66]),
        cell(3, &[1.61, 1.6, 1.62, 1.65, 1.59]),
    ];
    cells[1].points[3].tainted = true;
    Scaling {
        heading: heading("A single-threaded program gains nothing beyond one CPU"),
        measure: measure("wall", Unit::SECOND, Better::Lower),
        factor: "cpus".to_owned(),
        levels: levels(&["0.25", "0.5", "1", "2"]),
        series: vec![Series { label: String::new(), role: Role::Plain, hue: None, cells }],
        ideal: Some(Ideal::Inverse),
        anchor: Some(2),
    }
}

/// A little deterministic spread around a value.
fn spread(centre: f64, n: usize, share: f64) -> Vec<f64> {
    (0..n).map(|at| centre * (1.0 + share * (((at * 7 + 3) % 11) as f64 / 5.0 - 1.0))).collect()
}

fn many_series() -> Scaling {
    let names = [
        "network=native",
        "network=host",
        "network=bridge",
        "network=bridge, userland_proxy=off",
        "network=macvlan",
        "network=ipvlan",
        "network=overlay",
        "network=none (unix socket)",
    ];
    let series = names.iter().enumerate().map(|(at, name)| Series {
        label: (*name).to_owned(),
        role: if at == 0 { Role::Baseline } else { Role::Plain },
        hue: None,
        cells: [1.0, 2.0, 4.0, 8.0]
            .iter()
            .enumerate()
            .map(|(level, cpus): (usize, &f64)| cell(level, &spread(12_000.0 * cpus.powf(0.9) * (1.0 - 0.045 * at as f64), 8, 0.02)))
            .collect(),
    });
    Scaling {
        heading: heading("Requests per second scale with the CPUs until the generator is the limit"),
        measure: measure("requests_per_second", Unit::PER_SECOND, Better::Higher),
        factor: "cpus".to_owned(),
        levels: levels(&["1", "2", "4", "8"]),
        series: series.collect(),
        ideal: Some(Ideal::Proportional),
        anchor: None,
    }
}

fn seven() -> Strip {
    let rates = [
        ("network=native", 41_000.0),
        ("network=native (A/A)", 40_900.0),
        ("network=host", 40_700.0),
        ("network=bridge", 31_500.0),
        ("network=bridge, userland_proxy=false", 33_900.0),
        ("network=macvlan", 38_800.0),
        ("network=ipvlan", 38_200.0),
    ];
    let rows = rates.iter().enumerate().map(|(at, (label, rate))| {
        let role = [Role::Baseline, Role::Control].get(at).copied().unwrap_or_default();
        let mut row = row(label, role, &spread(*rate, 10, 0.018));
        row.remark = format!("{:.2}", rate / 41_000.0);
        row.points[4].tainted = at == 3;
        row
    });
    Strip {
        heading: heading("The bridge costs a quarter of the throughput; half of that is the userland proxy"),
        measure: measure("requests_per_second", Unit::PER_SECOND, Better::Higher),
        rows: rows.collect(),
        form: Form::Points,
        remark: Some("ratio".to_owned()),
    }
}

fn forty() -> Strip {
    let rows = (0..40).map(|at| {
        let label =
            format!("driver={}, buffer_pool={}m, proxy={}", ["overlay2", "vfs", "btrfs", "zfs"][at % 4], 128 << (at / 8), at % 2 == 0);
        row(&label, if at == 0 { Role::Baseline } else { Role::Plain }, &spread(0.012 + 0.0004 * at as f64, 5, 0.08))
    });
    Strip {
        heading: heading("Forty variants of a stack: the buffer pool matters, the storage driver does not"),
        measure: measure("latency_p99", Unit::SECOND, Better::Lower),
        rows: rows.collect(),
        form: Form::Points,
        remark: None,
    }
}

fn long() -> Strip {
    let mut strip = forty();
    for row in &mut strip.rows {
        row.label = format!("innodb_flush_method=O_DIRECT, network=bridge, {}", row.label);
    }
    strip
}

#[test]
fn equal_input_gives_equal_bytes_of_a_small_file_at_twice_the_logical_size() {
    let fonts = Fonts::embedded();
    let once = cpus().render(&fonts).expect("drawn");
    assert_eq!(once, cpus().render(&Fonts::embedded()).expect("drawn again"));
    let size = |bytes: &[u8]| [16, 20].map(|at| u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes")));
    assert_eq!(size(&once), [2400, 1350 + 320], "with the panel of efficiency");
    assert_eq!(size(&Scaling { ideal: None, ..cpus() }.render(&fonts).expect("drawn")), [2400, 1350]);
    let small = |name: &str, bytes: Vec<u8>, limit: usize| assert!(bytes.len() < limit, "{name}: {} bytes", bytes.len());
    small("scaling", once, 150_000);
    small("eight series", many_series().render(&fonts).expect("drawn"), 150_000);
    small("strip", seven().render(&fonts).expect("drawn"), 150_000);
    small("a sheet twice as tall", forty().render(&fonts).expect("drawn"), 250_000);
}

#[test]
fn what_cannot_be_read_is_refused_with_its_limit() {
    let fonts = Fonts::embedded();
    let mut chart = many_series();
    chart.series.push(chart.series[0].clone());
    assert!(matches!(chart.render(&fonts), Err(ChartError::TooManySeries { found: 9, limit: 8 })));
    let mut chart = cpus();
    chart.levels.truncate(2);
    assert!(matches!(chart.render(&fonts), Err(ChartError::NoSuchLevel { level: 2, levels: 2, .. })));
    let mut strip = forty();
    strip.rows = vec![strip.rows[0].clone(); 161];
    assert!(matches!(strip.render(&fonts), Err(ChartError::TooManyRows { found: 161, limit: 160 })));
}

#[test]
#[ignore = "writes pictures to look at"]
fn samples() {
    let folder = std::path::PathBuf::from(std::env::var("SHAKEDOWN_CHARTS").expect("SHAKEDOWN_CHARTS names a folder"));
    let mut fonts = Fonts::embedded();
    if let Ok(file) = std::env::var("SHAKEDOWN_FONT") {
        fonts = fonts.with_fallback(std::fs::read(file).expect("a font").into(), 0).expect("a face");
    }
    let mut japanese = cpus();
    japanese.heading.title =
        "コンテナのCPU制限を変えたときの実行時間：1 CPUを超えても単一スレッドのプログラムは速くならない（各条件5回、中央値）".to_owned();
    japanese.series[0].label = "ネイティブ 🚀".to_owned();
    let bars = Strip { form: Form::Bars, ..seven() };
    let mut few = seven();
    few.rows.truncate(2);
    let all = |strip: &Strip, at: usize| strip.rows[at].points.iter().map(|point| point.value).collect::<Vec<_>>();
    let wide = Strip { rows: vec![row("tiny", Role::Baseline, &[1e-6, 2e-6]), row("huge", Role::Plain, &all(&few, 0))], ..seven() };
    let drawn = [
        ("cpus", cpus().render(&fonts)),
        ("series", many_series().render(&fonts)),
        ("japanese", japanese.render(&fonts)),
        ("seven", seven().render(&fonts)),
        ("bars", bars.render(&fonts)),
        ("forty", forty().render(&fonts)),
        ("long", long().render(&fonts)),
        ("few", few.render(&fonts)),
        ("wide", wide.render(&fonts)),
        ("empty", Strip { rows: vec![], ..seven() }.render(&fonts)),
        ("blank", Scaling { series: vec![], levels: vec![], ..cpus() }.render(&fonts)),
    ];
    for (name, bytes) in drawn
        .into_iter()
        .chain(cpu::drawn(&fonts))
        .chain(curves::drawn(&fonts))
        .chain(effects::drawn(&fonts))
        .chain(factorial::drawn(&fonts))
    {
        let bytes = bytes.expect("drawn");
        println!("{name}: {} bytes", bytes.len());
        std::fs::write(folder.join(format!("{name}.png")), bytes).expect("written");
    }
}
