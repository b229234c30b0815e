//! Whole charts from the inside: no label over another or off the sheet, whatever the data; and what must be said is said.

mod curves;

use super::canvas::{Label, Picture};
use super::frame::{HEIGHT, WIDTH};
use super::*;

mod effects;
mod factorial;

fn measure() -> Measure {
    Measure { name: "wall".to_owned(), unit: Unit::SECOND, better: Some(Better::Lower) }
}

fn points(values: &[f64]) -> Vec<Point> {
    values.iter().enumerate().map(|(at, value)| Point { value: *value, tainted: at % 4 == 3 }).collect()
}

fn row(label: &str, values: &[f64]) -> Row {
    let median = values.iter().copied().find(|value| value.is_finite());
    let interval = (values.len() >= 6).then(|| (values[0], values[values.len() - 1]));
    Row { label: label.to_owned(), role: Role::Plain, hue: None, points: points(values), median, interval, remark: "×1.05".to_owned() }
}

fn strip(rows: Vec<Row>, form: Form) -> Strip {
    Strip {
        heading: Heading { title: "Title".to_owned(), subtitle: "n".to_owned() },
        measure: measure(),
        rows,
        form,
        remark: Some("ratio".to_owned()),
    }
}

fn series(label: &str, cells: &[&[f64]]) -> Series {
    let cells = cells.iter().enumerate().map(|(level, values)| {
        let Row { points, median, interval, .. } = row("", values);
        Cell { level, points, median, interval }
    });
    Series { label: label.to_owned(), role: Role::Plain, hue: None, cells: cells.collect() }
}

fn scaling(levels: &[&str], series: Vec<Series>) -> Scaling {
    let level = |text: &&str| LevelMark { text: (*text).to_owned(), value: text.parse().expect("a number"), remark: format!("× {text}") };
    Scaling {
        heading: Heading { title: "Title".to_owned(), subtitle: "n".to_owned() },
        measure: measure(),
        factor: "cpus".to_owned(),
        levels: levels.iter().map(level).collect(),
        series,
        ideal: Some(Ideal::Inverse),
        anchor: Some(1),
    }
}

/// What is wrong with the places of the labels.
fn faults(labels: &[Label], height: f32) -> Vec<String> {
    let mut found = Vec::new();
    for (at, one) in labels.iter().enumerate() {
        let room = one.room;
        if room.left < 0.0 || room.top < 0.0 || room.right > WIDTH || room.bottom > height {
            found.push(format!("`{}` leaves the sheet: {room:?}", one.text));
        }
        for other in &labels[at + 1..] {
            let across = room.right.min(other.room.right) - room.left.max(other.room.left);
            let down = room.bottom.min(other.room.bottom) - room.top.max(other.room.top);
            if across > 0.5 && down > 0.5 {
                found.push(format!("`{}` lies over `{}`", one.text, other.text));
            }
        }
    }
    found
}

fn height(picture: &Picture) -> f32 {
    picture.height()
}

#[test]
fn no_label_lies_over_another_or_leaves_the_sheet() {
    let fonts = Fonts::embedded();
    let long = "driver=overlay2,innodb_buffer_pool_size=2048m,network=bridge,userland_proxy=true,level=";
    let many =
        |n: usize, label: &str| (0..n).map(|at| row(&format!("{label}{at}"), &[at as f64 + 1.0, at as f64 + 1.5])).collect::<Vec<_>>();
    let mut titled = strip(many(3, "variant "), Form::Points);
    titled.heading.title = "A very long title that says much about the cost of networks in containers ".repeat(5);
    titled.heading.subtitle = "各条件5回、中央値、".repeat(40);
    titled.measure.name = "a_metric_with_a_very_long_name".repeat(5);
    let strips = [
        ("seven", strip(many(7, "network="), Form::Points)),
        ("bars", strip(many(7, "network="), Form::Bars)),
        ("forty long", strip(many(40, long), Form::Points)),
        ("a hundred long", strip(many(100, long), Form::Points)),
        ("the most", strip(many(160, long), Form::Bars)),
        ("no word breaks", strip(many(5, &"x".repeat(300)), Form::Points)),
        ("titles", titled),
    ];
    for (name, chart) in strips {
        let picture = chart.picture(&fonts).expect(name);
        assert_eq!(faults(&picture.labels, height(&picture)), Vec::<String>::new(), "{name}");
        assert!(height(&picture) <= 1801.0, "{name}: {}", height(&picture));
    }
}

fn stack(rows: &[(String, Vec<Option<f64>>)], parts: &[(&str, Paint)]) -> Stack {
    let bar = |(label, amounts): &(String, Vec<Option<f64>>)| Bar {
        label: label.clone(),
        role: Role::Plain,
        trials: 5,
        amounts: amounts.clone(),
    };
    Stack {
        heading: Heading { title: "Title".to_owned(), subtitle: "n".to_owned() },
        measure: Measure { name: "CPU time per request".to_owned(), unit: Unit::SECOND, better: None },
        parts: parts.iter().map(|(label, paint)| Layer { label: (*label).to_owned(), paint: *paint }).collect(),
        bars: rows.iter().map(bar).collect(),
    }
}

const PARTS: [(&str, Paint); 3] = [("generator", Paint::Workload(0)), ("ウェブ", Paint::Service(4)), ("engine", Paint::Engine)];

#[test]
fn stacked_bars_keep_their_labels_whatever_the_amounts() {
    let fonts = Fonts::embedded();
    let inputs: [[Option<f64>; 3]; 9] = [
        [None; 3],
        [Some(0.0); 3],
        [Some(1e-9), None, Some(2e-9)],
        [Some(1.0), Some(1e-6), Some(1e6)],
        [Some(f64::NAN), Some(f64::INFINITY), Some(1.0)],
        [Some(-1.0), Some(2.0), None],
        [Some(f64::MAX); 3],
        [Some(5e-324); 3],
        [Some(0.000_012), Some(0.000_03), Some(0.000_001)],
    ];
    for amounts in inputs {
        let counts: &[usize] = if amounts[0] == Some(0.000_012) { &[0, 1, 40, 160] } else { &[2] };
        for count in counts.iter().copied() {
            let rows: Vec<_> = (0..count).map(|at| (format!("ネットワーク=bridge, userland_proxy={at}"), amounts.to_vec())).collect();
            let picture = stack(&rows, &PARTS).picture(&fonts).expect("drawn");
            assert_eq!(faults(&picture.labels, height(&picture)), Vec::<String>::new(), "{amounts:?} {count}");
            let named = picture.labels.iter().filter(|label| label.text.ends_with(char::is_numeric) && label.text.contains("proxy="));
            assert!(count > 40 || named.count() == count, "{amounts:?} {count}");
        }
    }
}

#[test]
fn segments_are_as_long_as_their_amounts_and_absent_is_no_zero() {
    let fonts = Fonts::embedded();
    let rows = [("both".to_owned(), vec![Some(0.002), Some(0.003), None]), ("nothing".to_owned(), vec![None; 3])];
    let picture = stack(&rows, &PARTS).picture(&fonts).expect("drawn");
    let middle = |text: &str| {
        let label = picture.labels.iter().find(|label| label.text == text).expect(text);
        (label.room.left + label.room.right) / 2.0
    };
    // From 0 to 2 ms, then from 2 to 5 ms: the middles of the segments are at 1 and 3.5 ms.
    let millisecond = middle("1.0") - middle("0");
    assert!((middle("generator 2.00") - middle("0") - millisecond).abs() < 1.0);
    assert!((middle("ウェブ 3.00") - middle("0") - 3.5 * millisecond).abs() < 1.0);
    for words in ["sum (ms)", "5.00", "–", "engine", "each part is a median, n = 5 trials per variant", "CPU time per request (ms)"] {
        assert!(picture.labels.iter().any(|label| label.text == words), "{words}");
    }
    assert!(picture.labels.iter().all(|label| label.size >= 14.0));
}

/// Scenes of three panels with these values in every line, a second apart.
fn timeline(scenes: usize, layers: usize, values: &[f64]) -> Timeline {
    let steps = |at: usize| -> Vec<Step> {
        let step = |(second, value): (usize, &f64)| Step { from: second as f64, to: second as f64 + 1.0, value: *value * (at + 1) as f64 };
        values.iter().enumerate().map(step).collect()
    };
    let phase = |at: usize, name: &str| PhaseSpan {
        name: name.to_owned(),
        measured: name == "window",
        from: at as f64 * 0.01,
        to: (at + 1) as f64 * 0.01,
    };
    let scene = |_| Scene {
        label: "ネットワーク=bridge, a variant with a name that is longer than half of the sheet, userland_proxy=true, cpus=0.5, again"
            .to_owned(),
        role: Role::Baseline,
        phases: ["start", "warm-up", "window", "drain"].iter().enumerate().map(|(at, name)| phase(at, name)).collect(),
        panels: vec![
            (0..layers).map(|layer| Line { layer, steps: steps(layer) }).collect(),
            vec![],
            vec![Line { layer: 0, steps: steps(0) }],
        ],
    };
    Timeline {
        heading: Heading { title: "Title".to_owned(), subtitle: "n".to_owned() },
        axis: "seconds since the trial began".to_owned(),
        panels: ["CPUs used", "throttled", "a title that is too long for a panel of half a sheet, however it is set"]
            .map(str::to_owned)
            .to_vec(),
        layers: (0..layers).map(|at| Layer { label: format!("データベース service {at}"), paint: Paint::Service(at) }).collect(),
        scenes: (0..scenes).map(scene).collect(),
        remark: "one trial".to_owned(),
    }
}

#[test]
fn timelines_keep_all_their_labels_whatever_the_values() {
    let fonts = Fonts::embedded();
    let inputs: [&[f64]; 7] = [&[], &[0.0], &[0.0; 5], &[1.0, f64::NAN, 2.0], &[1e307, -1e307], &[1e-9, 2e-9], &[0.5, 1.9, 0.2, 0.2]];
    for values in inputs {
        let sizes: &[(usize, usize)] = if values.len() == 4 { &[(0, 0), (1, 0), (2, 12), (6, 7)] } else { &[(1, 2)] };
        for (scenes, layers) in sizes.iter().copied() {
            let picture = timeline(scenes, layers, values).picture(&fonts).expect("drawn");
            assert_eq!(faults(&picture.labels, height(&picture)), Vec::<String>::new(), "{values:?} {scenes} {layers}");
            let count = |is_it: &dyn Fn(&str) -> bool| picture.labels.iter().filter(|label| is_it(&label.text)).count();
            assert_eq!(count(&|text| ["start", "warm-up", "window", "drain"].contains(&text)), 4 * scenes, "short phases are named, too");
            let lines = if values.iter().any(|value| value.is_finite()) && layers > 0 { scenes * (layers + 1) } else { 0 };
            assert_eq!(count(&|text| text.starts_with("データ")), lines, "{values:?} {scenes} {layers}");
            assert!(picture.labels.iter().all(|label| label.size >= 14.0));
        }
    }
}

#[test]
fn every_row_and_series_has_its_label_at_a_readable_size() {
    let fonts = Fonts::embedded();
    let rows = (0..40).map(|at| row(&format!("pool={}m, network=bridge, proxy={at}", 128 * at), &[1.0 + at as f64])).collect();
    let picture = strip(rows, Form::Points).picture(&fonts).expect("drawn");
    for at in 0..40 {
        let text = format!("pool={}m, network=bridge, proxy={at}", 128 * at);
        let label = picture.labels.iter().find(|label| label.text == text).expect("whole label");
        assert!(label.size >= 14.0, "{text}: {}", label.size);
    }
    let flat: Vec<&[f64]> = vec![&[5.0, 5.0]; 4];
    let all = (0..8).map(|at| series(&format!("network=kind{at}"), &flat)).collect();
    let picture = scaling(&["1", "2", "4", "8"], all).picture(&fonts).expect("drawn");
    assert_eq!(faults(&picture.labels, height(&picture)), Vec::<String>::new());
    let found = picture.labels.iter().filter(|label| label.text.starts_with("network=kind")).count();
    assert_eq!(found, 8, "equal medians still have eight labels");
    assert!(picture.labels.iter().all(|label| label.size >= 14.0));
}

#[test]
fn the_levels_are_marked_with_their_texts_as_written_on_a_true_axis() {
    let values: &[f64] = &[300.0, 310.0];
    let fonts = Fonts::embedded();
    let picture = scaling(&["0.25", "0.50", "1.0", "4"], vec![series("", &[values; 4])]).picture(&fonts).expect("drawn");
    let x = |text: &str| {
        let label = picture.labels.iter().find(|label| label.text == text).expect("a tick");
        (label.room.left + label.room.right) / 2.0
    };
    let octave = x("0.50") - x("0.25");
    assert!((x("1.0") - x("0.50") - octave).abs() < 1.0);
    assert!((x("4") - x("1.0") - 2.0 * octave).abs() < 1.0, "two octaves are twice as wide");
}

#[test]
fn perfect_scaling_goes_through_the_anchor_and_says_so() {
    let fonts = Fonts::embedded();
    let cells: Vec<&[f64]> = vec![&[7.0], &[4.0], &[1.5]];
    let mut chart = scaling(&["0.5", "1", "2"], vec![series("", &cells)]);
    let across = scale::Scale::of_levels([0.5, 1.0, 2.0].into_iter());
    let near = |(level, value): (f64, f64), expected: (f64, f64)| (level - expected.0).abs() < 1e-6 && (value - expected.1).abs() < 1e-4;
    for (anchor, ideal, from, to) in [
        (Some(1), Ideal::Inverse, (0.5, 8.0), (2.0, 2.0)),
        (Some(2), Ideal::Proportional, (0.5, 0.375), (2.0, 1.5)),
        (None, Ideal::Inverse, (0.5, 7.0), (2.0, 1.75)),
    ] {
        (chart.anchor, chart.ideal) = (anchor, Some(ideal));
        let line = chart.ideal_line(&across);
        assert!(near(line[0], from) && near(line[line.len() - 1], to), "{anchor:?} {ideal:?}: {line:?}");
    }
    let says = |chart: &Scaling, words: &str| chart.picture(&fonts).expect("drawn").labels.iter().any(|label| label.text == words);
    assert!(says(&chart, "ideal scaling from the lowest level") && says(&chart, "× 0.5"));
    chart.anchor = Some(1);
    assert!(says(&chart, "ideal scaling from cpus=1, the baseline"));
}

#[test]
fn n_the_interval_the_unit_and_the_direction_are_named() {
    let fonts = Fonts::embedded();
    let six = [0.0101, 0.0102, 0.0103, 0.0104, 0.0105, 0.0106];
    let charts = [
        strip(vec![row("a", &six), row("b", &six[..3])], Form::Points).picture(&fonts).expect("strip"),
        scaling(&["1", "2"], vec![series("a", &[&six, &six[..3]])]).picture(&fonts).expect("scaling"),
    ];
    for picture in charts {
        let says = |words: &str| picture.labels.iter().any(|label| label.text.contains(words));
        for words in ["n = 3 to 6 trials", "95 % order-statistic interval", "tainted trial", "wall (ms)", "lower is better"] {
            assert!(says(words), "{words}");
        }
    }
    let bars = strip(vec![row("a", &six)], Form::Bars).picture(&fonts).expect("bars");
    assert!(!bars.labels.iter().any(|label| label.text.contains("interval")), "no interval on bars");
    assert!(bars.labels.iter().any(|label| label.text == "0"), "bars start at zero");
    assert!(bars.labels.iter().any(|label| label.text == "×1.05"));
}

#[test]
fn nasty_data_gives_a_picture_and_the_same_one_twice() {
    let fonts = Fonts::embedded();
    let inputs: [&[f64]; 12] = [
        &[],
        &[42.0],
        &[42.0; 7],
        &[0.0; 7],
        &[-1.0, 0.0, 1.0],
        &[1e-12, 1e12],
        &[0.0, 10.0, 1000.0],
        &[1e12, 1.000_001e12],
        &[f64::NAN, 1.0, f64::INFINITY],
        &[f64::MAX, f64::MIN, 5e-324],
        &[1e-320],
        &[-5.0, -4.0],
    ];
    for values in inputs {
        for form in [Form::Points, Form::Bars] {
            let chart = strip(vec![row("a", values), row("b", &[1.0])], form);
            let picture = chart.picture(&fonts).expect("strip");
            assert_eq!(faults(&picture.labels, height(&picture)), Vec::<String>::new(), "{values:?}");
        }
        for levels in [&["1", "2"][..], &["0", "10"], &["0.000000000001", "1000000000000"], &["5", "5"], &["-1", "1"]] {
            let chart = scaling(levels, vec![series("a", &[values, &[2.0]]), series("b", &[values, values])]);
            let picture = chart.picture(&fonts).expect("scaling");
            assert_eq!(faults(&picture.labels, height(&picture)), Vec::<String>::new(), "{values:?} {levels:?}");
        }
    }
    let odd = scaling(&["NaN", "inf", "1"], vec![series("a", &[&[1.0], &[2.0], &[3.0]])]);
    assert_eq!(odd.render(&fonts).expect("drawn"), odd.render(&fonts).expect("drawn again"));
}

#[test]
fn empty_charts_and_dense_axes_are_drawn_too() {
    let fonts = Fonts::embedded();
    assert!(strip(Vec::new(), Form::Bars).render(&fonts).is_ok());
    assert!(scaling(&[], Vec::new()).render(&fonts).is_ok());
    let levels: Vec<String> = (1..=200).map(|level| level.to_string()).collect();
    let texts: Vec<&str> = levels.iter().map(String::as_str).collect();
    let cell: &[f64] = &[1.0, 2.0];
    let picture = scaling(&texts, vec![series("", &vec![cell; 200])]).picture(&fonts).expect("drawn");
    assert_eq!(faults(&picture.labels, height(&picture)), Vec::<String>::new());
}

#[test]
fn below_an_ideal_stands_which_share_of_it_is_reached() {
    let near = |(level, share): (f64, f64), expected: (f64, f64)| (level - expected.0).abs() < 1e-9 && (share - expected.1).abs() < 1e-9;
    let times: Vec<&[f64]> = vec![&[8.0], &[4.0], &[3.0]];
    let rates: Vec<&[f64]> = vec![&[60.0], &[100.0], &[0.0]];
    let mut chart = scaling(&["0.5", "1", "2"], vec![series("times", &times), series("rates", &rates), series("none", &[])]);
    // Time: twice the CPUs should halve 4 s, and 3 s remain: two thirds.
    let found = chart.efficiency();
    assert!(near(found[0][0], (0.5, 1.0)) && near(found[0][1], (1.0, 1.0)) && near(found[0][2], (2.0, 2.0 / 3.0)), "{found:?}");
    assert!(found[2].is_empty());
    chart.ideal = Some(Ideal::Proportional);
    let found = chart.efficiency();
    assert!(near(found[1][0], (0.5, 1.2)) && near(found[1][1], (1.0, 1.0)) && near(found[1][2], (2.0, 0.0)), "{found:?}");
    let fonts = Fonts::embedded();
    let words = "efficiency, the share of ideal scaling";
    let says = |chart: &Scaling| chart.picture(&fonts).expect("drawn").labels.iter().any(|label| label.text == words);
    assert!(says(&chart));
    assert_eq!(faults(&chart.picture(&fonts).expect("drawn").labels, chart.picture(&fonts).expect("drawn").height()), Vec::<String>::new());
    chart.ideal = None;
    assert!(!says(&chart) && chart.efficiency().is_empty(), "without an ideal nobody promised anything");
    let one = scaling(&["1"], vec![series("", &[&[1.0]])]);
    assert!(!says(&one), "one level scales nowhere");
}
