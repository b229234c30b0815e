//! Charts over two factors and more, from the inside.

use super::*;

const CPUS: [&str; 4] = ["0.5", "1", "2", "4"];
const LONG: [&str; 3] =
    ["ネイティブ、コンテナなし、プロキシなし、とても長い名前", "a level with a name of many words, network=host", "bridge"];

fn texts(levels: &[&str]) -> Vec<String> {
    levels.iter().map(ToString::to_string).collect()
}

fn heat(across: &[&str], down: &[&str], titles: &[&str], ratio: impl Fn(usize) -> f64) -> HeatMap {
    let tile = |at: usize| Tile {
        across: at % across.len(),
        down: at / across.len(),
        ratio: ratio(at),
        decided: at.is_multiple_of(2),
        baseline: at == 0,
    };
    let facet = |title: &&str| Facet { title: (*title).to_owned(), tiles: (0..across.len() * down.len()).map(tile).collect() };
    HeatMap {
        heading: Heading { title: "Title".to_owned(), subtitle: "n".to_owned() },
        measure: measure(),
        against: "cpus=0.5".to_owned(),
        most: 2.0,
        across: Axis { factor: "cpus".to_owned(), levels: texts(across) },
        down: Axis { factor: "a factor with a long name".to_owned(), levels: texts(down) },
        facets: titles.iter().map(facet).collect(),
    }
}

fn said(picture: &Picture) -> Vec<&str> {
    picture.labels.iter().map(|label| label.text.as_str()).collect()
}

#[test]
fn heat_maps_keep_all_their_labels() {
    let fonts = Fonts::embedded();
    let many: Vec<String> = (0..40).map(|at| format!("innodb_flush_method=O_DIRECT, level {at}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let sixteen: Vec<&str> = "a b c d e f g h i j k l m n o p".split(' ').collect();
    let six =
        ["driver=overlay2, pool=1", "プール=2", "a title that is wider than its panel, whatever is done about it, and more", "d", "e", "f"];
    let charts = [
        ("one", heat(&["1"], &["a"], &[""], |_| 1.0)),
        ("plain", heat(&CPUS, &LONG, &[""], |at| 0.5 + at as f64 * 0.1)),
        ("turned", heat(&LONG, &CPUS, &["", "b"], |at| 0.5 + at as f64 * 0.1)),
        ("six", heat(&CPUS, &LONG, &six, |at| 0.011 * at as f64)),
        ("four", heat(&CPUS, &CPUS, &six[..4], |at| 900.0 * at as f64)),
        ("large", heat(&sixteen, &many, &[""], |at| 0.0095 * 1.02f64.powi(at as i32))),
    ];
    for (name, chart) in charts {
        let picture = chart.picture(&fonts).expect(name);
        assert_eq!(faults(&picture.labels, height(&picture)), Vec::<String>::new(), "{name}");
        assert!(picture.labels.iter().all(|label| label.size >= 14.0), "{name}");
        let (all, panels) = (said(&picture), chart.facets.len());
        for level in CPUS.iter().filter(|level| chart.across.levels.contains(&level.to_string())) {
            assert!(all.iter().filter(|text| *text == level).count() >= panels, "{name}: {level}");
        }
        if name == "large" {
            let named = (0..40).filter(|at| all.iter().any(|text| text.starts_with("innodb") && text.ends_with(&format!("level {at}"))));
            assert_eq!(named.count(), 40);
        }
    }
}

#[test]
fn a_heat_map_says_its_numbers_and_what_its_signs_mean() {
    let mut chart = heat(&["a", "b"], &["c", "d"], &[""], |at| [1.0, 0.934, 1.0042, 12.34][at]);
    let picture = chart.picture(&Fonts::embedded()).expect("drawn");
    for words in
        ["baseline", "0.93", "1.004", "12.3", "wall: ratio to cpus=0.5, logarithmic, lower is better ↓", "the baseline", "undecided"]
    {
        assert!(said(&picture).contains(&words), "{words}: {:?}", said(&picture));
    }
    assert!(!said(&picture).contains(&"—"));
    chart.facets[0].tiles.remove(3);
    let picture = chart.picture(&Fonts::embedded()).expect("drawn");
    assert!(said(&picture).contains(&"—") && said(&picture).contains(&"— not compared"));
}

#[test]
fn nasty_ratios_give_a_heat_map_all_the_same() {
    let fonts = Fonts::embedded();
    let nasty = [f64::NAN, f64::INFINITY, 0.0, -1.0, 5e-324, 1e300, 1.0, 1.0 + 1e-12];
    for most in [f64::NAN, f64::INFINITY, 1.0, 0.0, 1e300, 2.0] {
        let chart = HeatMap { most, ..heat(&CPUS, &["a", "b"], &[""], |at| nasty[at % nasty.len()]) };
        let picture = chart.picture(&fonts).expect("drawn");
        assert_eq!(faults(&picture.labels, height(&picture)), Vec::<String>::new(), "{most}");
        assert!(said(&picture).contains(&"<0.01") && said(&picture).contains(&">9999"));
    }
    assert!(heat(&["a"], &["b"], &[], |_| 1.0).render(&fonts).is_ok());
}

fn plot(levels: &[&str], numeric: bool, lines: &[&str], titles: &[&str], values: &[f64]) -> InteractionPlot {
    let mark = |text: &&str| LevelMark { text: (*text).to_owned(), value: text.parse().unwrap_or(f64::NAN), remark: String::new() };
    let cells = vec![values; levels.len()];
    let line = |label: &&str| series(label, &cells);
    InteractionPlot {
        heading: Heading { title: "Title".to_owned(), subtitle: "n".to_owned() },
        measure: measure(),
        factor: "cpus".to_owned(),
        levels: levels.iter().map(mark).collect(),
        numeric,
        panels: titles.iter().map(|title| Panel { title: (*title).to_owned(), series: lines.iter().map(line).collect() }).collect(),
    }
}

#[test]
fn interaction_plots_keep_all_their_labels() {
    let fonts = Fonts::embedded();
    let eight =
        ["network=native", "ネットワーク=ホスト", "network=bridge", "d", "e", "f", "g", "network=bridge, userland_proxy=true, again"];
    let many: Vec<String> = (0..24).map(|at| format!("{at}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let six =
        ["driver=overlay2, pool=1", "プール=2", "a title that is wider than its panel, whatever is done about it, and more", "d", "e", "f"];
    let values: &[f64] = &[5.0, 5.5, 6.0];
    let charts = [
        ("plain", plot(&CPUS, true, &eight, &[""], values)),
        ("close", plot(&["1", "1.01", "1.02", "64"], true, &eight[..2], &[""], values)),
        ("words", plot(&LONG, false, &eight, &six[..2], values)),
        ("six", plot(&CPUS, true, &eight, &six, values)),
        ("four", plot(&CPUS, false, &eight[..3], &six[..4], values)),
        ("many", plot(&many, true, &eight[..1], &[""], values)),
        ("one", plot(&["a"], false, &["b"], &[""], &[1.0])),
        ("nothing", plot(&[], false, &[], &[""], values)),
        ("no panel", plot(&CPUS, true, &eight, &[], values)),
    ];
    for (name, chart) in charts {
        let picture = chart.picture(&fonts).expect(name);
        assert_eq!(faults(&picture.labels, height(&picture)), Vec::<String>::new(), "{name}");
        assert!(picture.labels.iter().all(|label| label.size >= 14.0), "{name}");
        let all = said(&picture);
        for level in chart.levels.iter().filter(|level| level.value.is_finite()) {
            assert!(all.iter().filter(|text| **text == level.text).count() >= chart.panels.len(), "{name}: {}", level.text);
        }
        for series in chart.panels.iter().flat_map(|panel| &panel.series).filter(|series| series.label.len() < 16) {
            assert!(all.iter().filter(|text| **text == series.label).count() >= chart.panels.len(), "{name}: {}", series.label);
        }
    }
}

#[test]
fn equal_ratios_are_equal_steps_up_an_interaction_plot() {
    let picture = plot(&["a", "b"], false, &["x"], &[""], &[10.0, 40.0]).picture(&Fonts::embedded()).expect("drawn");
    let y = |text: &str| {
        let label = picture.labels.iter().find(|label| label.text == text).expect(text);
        (label.room.top + label.room.bottom) / 2.0
    };
    assert!(((y("10") - y("20")) - (y("20") - y("40"))).abs() < 1.0);
    for words in ["wall (s), logarithmic axis, lower is better ↓", "n = 2 trials per combination", "one trial", "cpus"] {
        assert!(said(&picture).contains(&words), "{words}: {:?}", said(&picture));
    }
}

#[test]
fn nasty_values_give_an_interaction_plot_all_the_same() {
    let fonts = Fonts::embedded();
    let inputs: [&[f64]; 9] = [
        &[],
        &[0.0; 3],
        &[-1.0, 1.0],
        &[f64::NAN, f64::INFINITY],
        &[f64::MAX, 5e-324],
        &[1e-12, 1e12],
        &[5.0; 7],
        &[1e12, 1.000_001e12],
        &[3.0, 40.0],
    ];
    for values in inputs {
        for (levels, numeric) in [(&["1", "2"][..], true), (&["-1", "NaN", "0"], true), (&["x", "y"], false)] {
            let picture = plot(levels, numeric, &["a", "b"], &["", "c"], values).picture(&fonts).expect("drawn");
            assert_eq!(faults(&picture.labels, height(&picture)), Vec::<String>::new(), "{values:?} {levels:?}");
        }
    }
}
