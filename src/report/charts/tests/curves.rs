//! Percentile curves, trials in their order, and charts as vectors.

use super::*;

fn curve(label: &str, at: usize, values: &[(f64, f64)]) -> Curve {
    let role = if at == 0 { Role::Baseline } else { Role::Plain };
    let trials = (0..3).map(|trial| Profile { values: values.to_vec(), tainted: trial == 2 }).collect();
    Curve { label: label.to_owned(), role, hue: at.saturating_sub(1), trials, median: values.to_vec() }
}

fn percentiles(curves: Vec<Curve>) -> Percentiles {
    Percentiles {
        heading: Heading { title: "Title".to_owned(), subtitle: "n".to_owned() },
        measure: Measure { name: "latency".to_owned(), unit: Unit::SECOND, better: Some(Better::Lower) },
        curves,
        remarks: vec!["of N requests not beyond 1 − 10/N".to_owned()],
    }
}

const USUAL: [(f64, f64); 4] = [(0.5, 0.004), (0.9, 0.006), (0.99, 0.01), (0.999, 0.05)];

#[test]
fn percentile_curves_keep_all_their_labels_whatever_the_values() {
    let fonts = Fonts::embedded();
    let inputs: [&[(f64, f64)]; 10] = [
        &[],
        &[(0.5, 1.0)],
        &[(0.5, 1.0), (0.9, 1.0), (0.99, 1.0)],
        &[(0.5, 0.0), (0.9, 0.0), (0.99, 0.01)],
        &[(0.5, 0.0), (0.9, -1.0)],
        &[(0.5, f64::NAN), (0.9, f64::INFINITY), (0.99, 1e-9)],
        &[(0.5, 5e-324), (0.9, f64::MAX)],
        &[(0.0, 1.0), (1.0, 2.0), (2.0, 3.0), (f64::NAN, 1.0)],
        &[(0.1, 1e-6), (0.25, 1e-5), (0.5, 1e-4), (0.66, 1e-3), (0.75, 0.1), (0.8, 1.0), (0.9, 10.0), (0.99999, 1e4)],
        &USUAL,
    ];
    let name = "ネットワーク=bridge, userland_proxy=true, a level with a name that is longer than the room for it, again, number ";
    for values in inputs {
        for count in [0, 1, 8] {
            let curves = (0..count).map(|at| curve(&format!("{name}{at}"), at, values)).collect();
            let picture = percentiles(curves).picture(&fonts).expect("drawn");
            assert_eq!(faults(&picture.labels, HEIGHT), Vec::<String>::new(), "{values:?} {count}");
            let named = picture.labels.iter().filter(|label| label.text.starts_with("ネット")).count();
            assert_eq!(named, count, "{values:?}: equal ends still have all labels");
            assert!(picture.labels.iter().all(|label| label.size >= 14.0));
        }
    }
}

#[test]
fn percentiles_are_marked_n_and_unit_are_named_and_further_nines_have_the_same_room() {
    let fonts = Fonts::embedded();
    let picture = percentiles(vec![curve("a", 0, &USUAL)]).picture(&fonts).expect("drawn");
    let y = |text: &str| picture.labels.iter().find(|label| label.text == text).map(|label| label.room.top).expect(text);
    assert!((y("p90") - y("p99") - (y("p99") - y("p99.9"))).abs() < 1.5, "each nine has the room of the one before");
    for words in ["p50", "n = 3 trials per variant", "latency (ms), logarithmic axis, lower is better ↓", "one trial", "tainted trial"] {
        assert!(picture.labels.iter().any(|label| label.text == words), "{words}");
    }
    let crowd = Curve { trials: vec![Profile { values: USUAL.to_vec(), tainted: false }; 5000], ..curve("a", 0, &USUAL) };
    let picture = percentiles(vec![crowd]).picture(&fonts).expect("drawn");
    assert!(picture.labels.iter().any(|label| label.text == "200 trials of a variant are drawn"));
}

fn drifting(variants: usize, runs: usize, values: &[f64]) -> Drifting {
    let trial = |(at, percent): (usize, &f64)| DriftTrial {
        variant: at % variants.max(1),
        block: (at / variants.max(1)) as u32,
        percent: *percent,
        tainted: at % 5 == 1,
    };
    let run = |number: usize| DriftRun {
        label: format!("2026-11-30-実験機-{number}"),
        trials: values.iter().enumerate().map(trial).collect(),
        line: (number == 1).then_some((2.0, -2.0)),
    };
    let variant = |at: usize| DriftVariant {
        label: format!("ネットワーク=bridge, userland_proxy=true, a level with a name that is longer than the key, again {at}"),
        role: Role::Plain,
        hue: at % 7,
    };
    Drifting {
        heading: Heading { title: "Title".to_owned(), subtitle: "n".to_owned() },
        measure: "wall of a trial, above or below the level of its variant in the run (%)".to_owned(),
        variants: (0..variants).map(variant).collect(),
        runs: (0..runs).map(run).collect(),
    }
}

#[test]
fn trials_in_their_order_keep_all_their_labels_whatever_the_values() {
    let fonts = Fonts::embedded();
    let many: Vec<f64> = (0..3000).map(|at| f64::from(at % 37) / 10.0 - 1.8).collect();
    let inputs: [&[f64]; 9] =
        [&[], &[0.0], &[-3.0], &[0.0; 12], &[f64::NAN, 1.0, f64::INFINITY], &[f64::MAX, f64::MIN], &[1e-12, -1e-12], &many[..40], &many];
    for values in inputs {
        for (variants, runs) in [(1, 1), (8, 3), (9, 2), (40, 30), (0, 0)] {
            let picture = drifting(variants, runs, values).picture(&fonts).expect("drawn");
            assert_eq!(faults(&picture.labels, HEIGHT), Vec::<String>::new(), "{} {variants} {runs}", values.len());
            let named = picture.labels.iter().filter(|label| label.text.starts_with("ネット")).count();
            assert_eq!(named, if variants <= 8 { variants } else { 0 }, "{} {variants} {runs}", values.len());
        }
    }
}

#[test]
fn blocks_runs_and_the_line_are_explained_where_they_are() {
    let fonts = Fonts::embedded();
    let says = |chart: &Drifting, words: &str| chart.picture(&fonts).expect("drawn").labels.iter().any(|label| label.text == words);
    let two = drifting(2, 2, &[1.0, -1.0, 0.5, -0.5]);
    for words in ["n = 8 trials", "every other block", "least-squares line of a run", "2026-11-30-実験機-0", "2026-11-30-実験機-1"] {
        assert!(says(&two, words), "{words}");
    }
    assert!(says(&drifting(2, 1, &[1.0; 500]), "trials that coincide are one mark"));
    let one = drifting(2, 1, &[1.0, -1.0]);
    for words in ["every other block", "least-squares line of a run", "2026-11-30-実験機-0"] {
        assert!(!says(&one, words), "{words}");
    }
}

#[test]
fn vectors_are_well_formed_name_nothing_outside_and_hold_every_label() {
    let fonts = Fonts::embedded();
    let hostile = "<script>alert(1)</script> & \"quotes\" ]]> \u{1b}[31m \u{0} 性能\u{202e}";
    let mut rows = vec![row(hostile, &[1.0, 2.0]), row("b", &[f64::NAN])];
    rows[0].role = Role::Baseline;
    let charts: [Box<dyn Chart>; 5] = [
        Box::new(strip(rows, Form::Bars)),
        Box::new(scaling(&["0", "1"], vec![series(hostile, &[&[1.0], &[2.0]])])),
        Box::new(stack(&[(hostile.to_owned(), vec![Some(1.0), None, Some(2.0)])], &PARTS)),
        Box::new(percentiles(vec![curve(hostile, 0, &USUAL)])),
        Box::new(drifting(3, 2, &[1.0, 2.0, 3.0, -1.0])),
    ];
    for chart in charts {
        let picture = chart.picture(&fonts).expect("drawn");
        let svg = picture.svg(hostile);
        assert_eq!(svg, chart.picture(&fonts).expect("again").svg(hostile), "the same chart, the same bytes");
        let document = roxmltree::Document::parse(&svg).unwrap_or_else(|error| panic!("{error}: {svg}"));
        assert_eq!(document.root_element().attribute("width"), Some("1200"));
        let names = ["svg", "title", "path", "circle"];
        for node in document.descendants().filter(roxmltree::Node::is_element) {
            assert!(names.contains(&node.tag_name().name()), "{node:?}");
            assert!(node.attributes().all(|attribute| !attribute.name().contains("href") && !attribute.value().contains("url(")));
            let plain = |data: &str| data.chars().all(|c| c.is_ascii_digit() || "MLQCZ-. ".contains(c));
            assert!(node.attribute("d").is_none_or(plain), "{node:?}");
        }
        let written: Vec<&str> = document.descendants().filter_map(|node| node.attribute("aria-label")).collect();
        let visible = picture.labels.iter().filter(|label| !label.text.trim().is_empty());
        assert_eq!(written.len(), visible.count(), "{written:?}");
        assert!(!svg.contains("<script") && svg.contains("&lt;script&gt;"), "hostile text is text");
    }
}
