//! Charts of effects in reports: which are drawn, and what is said of them.

use super::{pictures, text};
use crate::analyse::{results, row};
use shakedown::analyse::analyse;
use shakedown::model::estimate::{Analysis, Effect, Verdict};
use shakedown::model::factorial::{Interaction, MainEffect};
use shakedown::model::metric::{Better, Unit};
use shakedown::model::plan::FactorSummary;
use shakedown::model::results::Results;
use shakedown::report::charts::Fonts;
use shakedown::report::page::Own;
use shakedown::report::render;

/// A factor and its levels.
type Factor = (&'static str, &'static [&'static str]);

/// All combinations of these factors, six trials each: every step of a factor makes it a tenth slower, those of the last one more.
fn crossed(factors: &[(&str, &[&str])]) -> Results {
    let mut levels: Vec<Vec<u32>> = vec![Vec::new()];
    for (_, texts) in factors {
        let each = |before: &Vec<u32>| {
            (0..u32::try_from(texts.len()).expect("few")).map(|level| [&before[..], &[level]].concat()).collect::<Vec<_>>()
        };
        levels = levels.iter().flat_map(each).collect();
    }
    let names: Vec<String> = (0..levels.len()).map(|at| at.to_string()).collect();
    let plain: Vec<(&str, &[f64])> = names.iter().map(|name| (name.as_str(), &[] as &[f64])).collect();
    let mut results = results("f", "wall", Unit::SECOND, Better::Lower, &plain);
    results.factors = factors
        .iter()
        .map(|(name, texts)| FactorSummary { name: (*name).into(), levels: texts.iter().map(|text| (*text).into()).collect() })
        .collect();
    for (variant, levels) in levels.into_iter().enumerate() {
        let mut words: Vec<String> =
            factors.iter().zip(&levels).map(|((name, texts), level)| format!("{name}={}", texts[*level as usize])).collect();
        words.sort();
        results.variants[variant].id = words.join(",");
        let steps = levels.iter().sum::<u32>() + levels.last().copied().unwrap_or(0) * levels[0];
        results.variants[variant].levels = levels;
        for block in 1..=6_u32 {
            let noise = 1.0 + 0.002 * f64::from((block * 5 + steps * 3) % 7);
            let row = row(&results, variant, block, &[("wall", noise * 1.1f64.powi(i32::try_from(steps).expect("few")))]);
            results.rows.push(row);
        }
    }
    results
}

fn drawn(results: &Results, analysis: &Analysis) -> Vec<(String, Vec<u8>)> {
    render(results, analysis, &Fonts::embedded(), &Own::default(), false).expect("a report").files
}

/// The effects of an analysis that knows no factors.
fn plain(results: &Results) -> Analysis {
    Analysis { main_effects: Vec::new(), interactions: Vec::new(), ..analyse(results) }
}

fn effect(ratio: f64, verdict: Verdict) -> Effect {
    Effect {
        n: 6,
        ratio,
        low: Some(ratio * 0.99),
        high: Some(ratio * 1.01),
        simultaneous: Some((ratio * 0.98, ratio * 1.02)),
        hodges_lehmann: None,
        fragile: false,
        equivalence: None,
        p: Some(0.01),
        p_adjusted: Some(0.02),
        verdict,
        detectable: None,
    }
}

fn main_effect(factor: usize, level: usize, ratio: f64, verdict: Verdict, depends_on: &[usize]) -> MainEffect {
    MainEffect {
        metric: "wall".into(),
        factor,
        level,
        against: 0,
        combinations: 2,
        effect: effect(ratio, verdict),
        engine_starts: None,
        lost: None,
        too_short: false,
        depends_on: depends_on.to_vec(),
        simple: Vec::new(),
    }
}

fn interaction(metric: &str, ratio: f64, verdict: Verdict) -> Interaction {
    Interaction {
        metric: metric.into(),
        factors: (0, 1),
        levels: (1, 1),
        against: (0, 0),
        combinations: 1,
        effect: effect(ratio, verdict),
        engine_starts: None,
        lost: None,
    }
}

const CPUS: Factor = ("cpus", &["1", "2", "4"]);
const NETWORK: Factor = ("network", &["native", "ブリッジ"]);

#[test]
fn effects_come_first_and_say_in_words_what_they_show() {
    let results = crossed(&[CPUS]);
    let made = drawn(&results, &plain(&results));
    assert_eq!(pictures(&made), ["wall-effects.png", "wall-by-cpus.png", "wall-trials.png"]);
    let page = text(&made, "README.md");
    let said = page.lines().find(|line| line.ends_with("](wall-effects.png)")).expect("the chart");
    let start = "![effects on wall, ratio to cpus=1, lower is better ↓: cpus=2 1.208 (";
    assert!(said.starts_with(start) && said.contains(") different; cpus=4 1.769 ("), "{said}");
}

#[test]
fn a_long_list_of_effects_is_cut_in_words_and_paged_in_pictures() {
    let texts: Vec<String> = (1..=130).map(|level| format!("level-{level}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let results = crossed(&[("f", &texts)]);
    let made = drawn(&results, &plain(&results));
    assert_eq!(pictures(&made)[..4], ["wall-effects-1.png", "wall-effects-2.png", "wall-effects-3.png", "wall-trials-1.png"]);
    let page = text(&made, "README.md");
    let said = page.lines().find(|line| line.ends_with("](wall-effects-2.png)")).expect("the chart");
    assert!(said.chars().count() < 360 && said.contains("; and 12"), "{said}");
}

#[test]
fn two_crossed_factors_make_a_heat_map() {
    let table: [(&[Factor], &[&str]); 4] = [
        (&[CPUS, NETWORK], &["wall-by-cpus-and-network.png"]),
        (&[NETWORK, CPUS, ("pool", &["a", "b"])], &["wall-by-network-and-cpus.png"]),
        (&[NETWORK, ("a", &["1"])], &[]),
        (&[("p", &["a", "b", "c", "d", "e", "f", "g"]), NETWORK, CPUS], &["wall-by-p-and-cpus.png"]),
    ];
    for (factors, expected) in table {
        let results = crossed(factors);
        let made = drawn(&results, &plain(&results));
        let maps: Vec<&str> = pictures(&made).into_iter().filter(|name| name.contains("-and-")).collect();
        assert_eq!(maps, expected);
        assert!(made == drawn(&results, &plain(&results)), "the same twice");
    }
}

#[test]
fn where_no_four_combinations_form_a_square_there_is_no_heat_map() {
    let mut results = crossed(&[CPUS, NETWORK]);
    results.rows.retain(|row| !matches!(row.variant, Some(3 | 5)));
    let made = drawn(&results, &plain(&results));
    assert!(pictures(&made).iter().all(|name| !name.contains("-and-")), "{:?}", pictures(&made));
}

#[test]
fn a_factor_with_more_levels_than_have_room_makes_no_map_and_no_lines() {
    let texts: Vec<String> = (1..=41).map(|level| format!("level-{level}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let results = crossed(&[("f", &texts), NETWORK]);
    let analysis = Analysis { interactions: vec![interaction("wall", 1.2, Verdict::Different)], ..plain(&results) };
    let made = drawn(&results, &analysis);
    assert!(pictures(&made).iter().all(|name| !name.contains("-and-") && !name.contains("interaction")), "{:?}", pictures(&made));
}

#[test]
fn main_effects_stand_by_factor_and_say_what_they_depend_on() {
    let results = crossed(&[CPUS, NETWORK]);
    let main_effects = vec![
        main_effect(0, 1, 1.15, Verdict::Different, &[1]),
        main_effect(0, 2, 1.33, Verdict::Undecided, &[]),
        main_effect(1, 1, 1.004, Verdict::Equivalent, &[]),
        MainEffect { metric: "other".into(), ..main_effect(1, 1, 9.0, Verdict::Different, &[]) },
    ];
    let made = drawn(&results, &Analysis { main_effects, ..plain(&results) });
    assert_eq!(pictures(&made)[..2], ["wall-effects.png", "wall-factors.png"]);
    let page = text(&made, "README.md");
    let said = page.lines().find(|line| line.ends_with("](wall-factors.png)")).expect("the chart");
    let expected = "![main effects on wall, ratio to the baseline's level of the factor, lower is better ↓: cpus=2 1.150 (1.127 to 1.173) different depends on network; cpus=4 1.330 (1.303 to 1.357) undecided; network=ブリッジ 1.004 (0.984 to 1.024) equivalent](wall-factors.png)";
    assert_eq!(said, expected);
}

#[test]
fn an_interaction_is_drawn_when_it_is_different() {
    let results = crossed(&[CPUS, NETWORK, ("pool", &["a", "b"])]);
    let of = |interactions: Vec<Interaction>| drawn(&results, &Analysis { interactions, ..plain(&results) });
    let quiet = [Verdict::Undecided, Verdict::DifferentSmall, Verdict::Equivalent].map(|verdict| interaction("wall", 1.1, verdict));
    let other = interaction("other", 2.0, Verdict::Different);
    let made = of([&quiet[..], &[other]].concat());
    assert!(pictures(&made).iter().all(|name| !name.contains("interaction")), "{:?}", pictures(&made));
    let made = of([&quiet[..1], &[interaction("wall", 1.21, Verdict::Different)]].concat());
    assert!(pictures(&made).contains(&"wall-interaction-cpus-network.png"), "{:?}", pictures(&made));
    let page = text(&made, "README.md");
    let said = page.lines().find(|line| line.ends_with("](wall-interaction-cpus-network.png)")).expect("the chart");
    let lines = "![wall over cpus, a line each for network=native, network=ブリッジ; ratios of ratios: ";
    assert!(said.starts_with(lines) && said.contains("cpus=2 with network=ブリッジ 1.210 (1.186 to 1.234) different"), "{said}");
}

/// What a forest's subtitle says cannot be read from its bytes; its words carry the same numbers.
#[test]
fn intervals_are_simultaneous_only_where_all_of_them_can_be() {
    let results = crossed(&[CPUS, NETWORK]);
    let mut effects = vec![main_effect(0, 1, 1.0, Verdict::Different, &[]), main_effect(1, 1, 2.0, Verdict::Different, &[])];
    let said = |main_effects: &[MainEffect]| {
        let made = drawn(&results, &Analysis { main_effects: main_effects.to_vec(), ..plain(&results) });
        let page = text(&made, "README.md");
        page.lines().find(|line| line.ends_with("](wall-factors.png)")).expect("the chart").to_owned()
    };
    let together = said(&effects);
    assert!(together.contains("1.000 (0.980 to 1.020)") && together.contains("2.000 (1.960 to 2.040)"), "{together}");
    effects[0].effect.simultaneous = None;
    let alone = said(&effects);
    assert!(alone.contains("1.000 (0.990 to 1.010)") && alone.contains("2.000 (1.980 to 2.020)"), "{alone}");
    effects[0].effect.low = None;
    let without = said(&effects);
    assert!(without.contains("1.000, no interval") && without.contains("2.000 (1.960 to 2.040)"), "{without}");
}
