//! Charts of effects from the inside.

use super::*;
use crate::model::estimate::Verdict;

const VERDICTS: [Option<Verdict>; 5] =
    [Some(Verdict::Different), Some(Verdict::DifferentSmall), Some(Verdict::Equivalent), Some(Verdict::Undecided), None];

fn contrast(label: &str, at: usize, ratio: f64, interval: Option<(f64, f64)>) -> Contrast {
    Contrast {
        label: label.to_owned(),
        role: Role::Plain,
        effect: Some(Span { ratio, interval }),
        clean: (at % 7 == 3).then_some(Span { ratio, interval: None }),
        text: "0.961 (0.955 to 0.968)".to_owned(),
        n: Some(10),
        verdict: VERDICTS[at % 5],
        remark: ["", "fragile", "", "too short", "3 of 5 engine starts"][at % 5].to_owned(),
    }
}

fn forest(rows: Vec<Contrast>) -> Forest {
    Forest {
        heading: Heading { title: "Title".to_owned(), subtitle: "n".to_owned() },
        measure: measure(),
        against: "cpus=1".to_owned(),
        intervals: "simultaneous 95 % interval".to_owned(),
        min_effect: 0.01,
        margin: 0.03,
        groups: vec![Group { title: String::new(), rows }],
    }
}

fn named(count: usize, label: &str) -> Vec<Contrast> {
    (0..count)
        .map(|at| contrast(&format!("{label}{at}"), at, 0.8 + 0.01 * at as f64, Some((0.75 + 0.01 * at as f64, 0.9 + 0.01 * at as f64))))
        .collect()
}

/// Where a label ends and begins again is of no matter: everything that is written, by place.
fn written(picture: &Picture) -> Vec<&str> {
    picture.labels.iter().map(|label| label.text.as_str()).collect()
}

#[test]
fn forests_keep_all_their_labels() {
    let fonts = Fonts::embedded();
    for (count, label) in
        [(0, ""), (1, "x="), (40, "pool=128m, network=bridge, proxy="), (60, "ネットワーク=ブリッジ、プロキシ="), (60, "net=")]
    {
        let picture = forest(named(count, label)).picture(&fonts).expect("drawn");
        assert_eq!(faults(&picture.labels, height(&picture)), Vec::<String>::new(), "{count} {label}");
        assert!(picture.labels.iter().all(|label| label.size >= 14.0), "{count} {label}");
        let said = written(&picture);
        for at in 0..count {
            assert!(said.iter().any(|text| *text == format!("{label}{at}")), "{label}{at}");
        }
        let words = |part: &str| said.iter().filter(|text| text.contains(part)).count();
        assert_eq!(words("0.961 (0.955 to 0.968)"), count);
        for (at, word) in
            ["different", "different, small · fragile", "equivalent", "undecided · too short", "3 of 5 engine starts"].iter().enumerate()
        {
            assert!(words(word) >= (count + 4 - at) / 5, "{count} {label}: {word}");
        }
    }
    let long = "driver=overlay2,innodb_buffer_pool_size=2048m,network=bridge,userland_proxy=true,level=";
    for count in [40, 100, 160] {
        let mut chart = forest(named(count, long));
        chart.heading.title = "比較".repeat(100);
        chart.against = "a baseline with a very long name ".repeat(9);
        let picture = chart.picture(&fonts).expect("drawn");
        assert_eq!(faults(&picture.labels, height(&picture)), Vec::<String>::new(), "{count}");
    }
}

#[test]
fn groups_have_titles_and_long_remarks_a_second_line() {
    let fonts = Fonts::embedded();
    let mut chart = forest(Vec::new());
    let mut rows = named(3, "level ");
    rows[1].remark = "depends on network, storage_driver".to_owned();
    chart.groups =
        ["cpus, against 1", "ネットワーク, against native"].map(|title| Group { title: title.to_owned(), rows: rows.clone() }).to_vec();
    let picture = chart.picture(&fonts).expect("drawn");
    assert_eq!(faults(&picture.labels, height(&picture)), Vec::<String>::new());
    let all = written(&picture).join(" ");
    for words in ["cpus, against 1", "ネットワーク, against native", "different, small · depends on", "network, storage_driver"] {
        assert!(all.contains(words), "{words}: {all}");
    }
}

#[test]
fn a_forest_says_what_its_signs_mean() {
    let picture = forest(named(5, "variant ")).picture(&Fonts::embedded()).expect("drawn");
    let said = written(&picture);
    for words in [
        "wall: ratio to cpus=1, logarithmic axis, lower is better ↓",
        "simultaneous 95 % interval",
        "too small to matter, ±1 %",
        "margin of equivalence, ±3 %",
        "without tainted trials",
        "different, better",
        "different, small, better",
        "equivalent",
        "undecided",
        "1",
    ] {
        assert!(said.contains(&words), "{words}: {said:?}");
    }
}

#[test]
fn nasty_effects_give_a_forest_all_the_same() {
    let fonts = Fonts::embedded();
    let ratios = [1.0, 0.0, -1.0, f64::NAN, f64::INFINITY, 1e300, 5e-324, 40.0, 1.000_000_1];
    let intervals = [
        None,
        Some((1.0, 1.0)),
        Some((0.0, f64::INFINITY)),
        Some((f64::NAN, 1.0)),
        Some((2.0, 1.0)),
        Some((-1.0, 1e300)),
        Some((5e-324, 1.1)),
    ];
    for (ratio, (min_effect, margin)) in ratios.into_iter().zip([(0.01, 0.03), (0.0, 0.0), (0.9, 20.0)].into_iter().cycle()) {
        let mut rows: Vec<Contrast> = intervals.iter().map(|interval| contrast("a", 3, ratio, *interval)).collect();
        rows.push(contrast("b", 0, 1.02, Some((1.01, 1.03))));
        rows.push(Contrast { effect: None, n: None, text: String::new(), ..contrast("c", 4, 1.0, None) });
        let picture = Forest { min_effect, margin, ..forest(rows) }.picture(&fonts).expect("drawn");
        assert_eq!(faults(&picture.labels, height(&picture)), Vec::<String>::new(), "{ratio} {margin}");
        assert!(written(&picture).contains(&"1"), "{ratio} {margin}");
    }
}
