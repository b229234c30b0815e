//! Main effects, interactions and trends against numbers of scipy and numpy, and over matrices with holes.

use super::{add_run, fail, results, row};
use crate::analyse::starts::{hosted, private};
use shakedown::analyse::analyse;
use shakedown::model::estimate::{Analysis, Effect, Verdict};
use shakedown::model::factorial::{Interaction, MainEffect};
use shakedown::model::metric::{Better, Unit};
use shakedown::model::outcome::Phase;
use shakedown::model::plan::{FactorSummary, Reason, SavedVariant};
use shakedown::model::results::Results;
use shakedown::model::spec::{EngineSpec, TrialSpec};

/// The logs' noise of a 2 x 3 matrix in five blocks: rows are blocks, columns its cells in the order of the product.
const NOISE: [[f64; 6]; 5] = [
    [0.01, -0.02, 0.015, 0.005, -0.01, 0.0],
    [-0.015, 0.01, 0.02, -0.005, 0.0, 0.012],
    [0.0, 0.005, -0.01, 0.02, 0.015, -0.02],
    [0.02, -0.01, -0.005, 0.01, -0.02, 0.005],
    [0.003, 0.007, -0.012, -0.008, 0.011, 0.001],
];

/// Results over these factors, one value per cell (none: a hole in the matrix), in as many blocks as there are rows of noise. The first cell
/// is the baseline.
fn matrix(factors: &[(&str, &[&str])], values: &[Option<f64>], noise: &[&[f64]]) -> Results {
    let mut all = results("unused", "wall", Unit::SECOND, Better::Lower, &[]);
    let summary = |(name, levels): &(&str, &[&str])| FactorSummary {
        name: (*name).into(),
        levels: levels.iter().map(|level| (*level).into()).collect(),
    };
    all.factors = factors.iter().map(summary).collect();
    for (cell, value) in values.iter().enumerate() {
        let Some(value) = value else { continue };
        let mut rest = cell;
        let mut levels = vec![0; factors.len()];
        for (at, (_, of)) in factors.iter().enumerate().rev() {
            levels[at] = u32::try_from(rest % of.len()).expect("few levels");
            rest /= of.len();
        }
        let named: Vec<String> = factors.iter().zip(&levels).map(|((name, of), level)| format!("{name}={}", of[*level as usize])).collect();
        all.variants.push(SavedVariant {
            id: named.join(","),
            levels,
            identity: format!("{cell:032x}"),
            reason: Reason::New,
            spec: TrialSpec::bare(EngineSpec::default()),
            vars: serde_json::Map::new(),
        });
        for (block, of_block) in (1..).zip(noise) {
            let value = value * of_block.get(cell).copied().unwrap_or(0.0).exp();
            let row = row(&all, all.variants.len() - 1, block, &[("wall", value)]);
            all.rows.push(row);
        }
    }
    all
}

fn two_by_three() -> Results {
    let values = [10.0, 12.0, 15.0, 20.0, 25.0, 33.0].map(Some);
    let noise: Vec<&[f64]> = NOISE.iter().map(<[f64; 6]>::as_slice).collect();
    matrix(&[("a", &["x", "y"]), ("b", &["1", "2", "3"])], &values, &noise)
}

#[track_caller]
fn near(effect: &Effect, ratio: f64, low: f64, high: f64, p: f64) {
    let close = |found: f64, expected: f64, what: &str| {
        assert!((found - expected).abs() <= 1e-9 * expected.abs().max(1e-3), "{what}: {found} is not {expected}");
    };
    close(effect.ratio, ratio, "ratio");
    close(effect.low.expect("an interval"), low, "low");
    close(effect.high.expect("an interval"), high, "high");
    close(effect.p.expect("a p"), p, "p");
}

fn main_effect(analysis: &Analysis, factor: usize, level: usize) -> &MainEffect {
    analysis.main_effects.iter().find(|found| (found.factor, found.level) == (factor, level)).expect("the main effect")
}

fn interaction(analysis: &Analysis, levels: (usize, usize)) -> &Interaction {
    analysis.interactions.iter().find(|found| found.levels == levels).expect("the interaction")
}

#[test]
fn effects_of_factors_give_the_reference_numbers() {
    let analysis = analyse(&two_by_three());
    assert_eq!((analysis.main_effects.len(), analysis.interactions.len()), (3, 2));
    let a = main_effect(&analysis, 0, 1);
    near(&a.effect, 2.0925663652896964, 2.0811469180944306, 2.1040484720565242, 3.045385757201534e-10);
    assert_eq!((a.combinations, a.against, a.effect.n, a.effect.verdict), (3, 0, 5, Verdict::Different));
    let b = main_effect(&analysis, 1, 1);
    near(&b.effect, 1.2183927279467994, 1.1882487890465827, 1.2493013695429465, 2.5762515147570406e-05);
    // Holm over the three: the largest p stays as it is, the smallest is taken three times.
    assert_eq!(b.effect.p_adjusted, b.effect.p);
    assert_eq!(a.effect.p_adjusted, a.effect.p.map(|p| 3.0 * p));
    near(&main_effect(&analysis, 1, 2).effect, 1.5678734300054313, 1.5309047763121049, 1.605734811565993, 7.982587293956866e-07);
    near(&interaction(&analysis, (1, 1)).effect, 1.041666666666667, 1.021923532114533, 1.0617912303078612, 0.004070358909787157);
    let corner = interaction(&analysis, (1, 2));
    near(&corner.effect, 1.0969243079782824, 1.0650171903848074, 1.1297873389244388, 0.0009606184337756091);
    assert_eq!((corner.effect.verdict, corner.combinations), (Verdict::Different, 1));
}

#[test]
fn an_effect_that_depends_on_another_factor_says_on_which_and_how() {
    let analysis = analyse(&two_by_three());
    let a = main_effect(&analysis, 0, 1);
    assert_eq!(a.depends_on, [1]);
    let simple: Vec<(usize, usize, f64)> =
        a.simple.iter().map(|simple| (simple.factor, simple.level, (simple.effect.ratio * 100.0).round() / 100.0)).collect();
    // 20/10, 25/12 and 33/15, times the means of the noise: 1.0008, 1.0008 and 0.998.
    assert_eq!(simple, [(1, 0, 2.0), (1, 1, 2.09), (1, 2, 2.2)]);
    let flat: Vec<&[f64]> = NOISE.iter().map(<[f64; 6]>::as_slice).collect();
    let own = analyse(&matrix(&[("a", &["x", "y"]), ("b", &["1", "2", "3"])], &[1.0, 2.0, 4.0, 3.0, 6.0, 12.0].map(Some), &flat));
    assert!(own.interactions.iter().all(|found| found.effect.verdict == Verdict::Undecided || found.effect.verdict == Verdict::Equivalent));
    assert!(own.main_effects.iter().all(|found| found.depends_on.is_empty() && found.simple.is_empty()), "each acts on its own");
}

#[test]
fn only_combinations_with_both_levels_take_part() {
    let noise: Vec<&[f64]> = NOISE.iter().map(<[f64; 6]>::as_slice).collect();
    let factors: [(&str, &[&str]); 2] = [("a", &["x", "y"]), ("b", &["1", "2", "3"])];
    // Without y at 3, where x is twenty times slower, the effect of y is that of the other two combinations.
    let analysis = analyse(&matrix(&factors, &[Some(1.0), Some(1.0), Some(20.0), Some(2.0), Some(2.0), None], &noise));
    let y = main_effect(&analysis, 0, 1);
    assert_eq!(y.combinations, 2);
    assert!((y.effect.ratio - 2.0).abs() < 0.02, "{}", y.effect.ratio);
    assert!(analysis.main_effects.iter().all(|found| (found.factor, found.level) != (1, 2)), "one combination is a plain comparison");
    assert_eq!(analysis.interactions.len(), 1);
    let cross = analyse(&matrix(&factors, &[Some(1.0), Some(2.0), None, Some(2.0), None, None], &noise));
    assert!(cross.main_effects.is_empty() && cross.interactions.is_empty(), "one factor at a time has no factorial effects");
}

#[test]
fn one_factor_has_neither_main_effects_nor_interactions() {
    let noise: Vec<&[f64]> = NOISE.iter().map(<[f64; 6]>::as_slice).collect();
    let one = analyse(&matrix(&[("b", &["1", "2", "3"])], &[1.0, 2.0, 3.0].map(Some), &noise));
    assert!(one.main_effects.is_empty() && one.interactions.is_empty());
    let fixed = analyse(&matrix(&[("a", &["x"]), ("b", &["1", "2", "3"])], &[1.0, 2.0, 3.0].map(Some), &noise));
    assert!(fixed.main_effects.is_empty() && fixed.interactions.is_empty(), "a factor of one level does not vary");
}

#[test]
fn a_block_that_lacks_a_cell_is_left_out_where_the_cell_is_needed() {
    let mut results = two_by_three();
    let lost = results.rows.iter().position(|row| row.variant == Some(5) && row.row.block == 1).expect("the row");
    fail(&mut results.rows[lost], Phase::Measure, "gone");
    let analysis = analyse(&results);
    assert_eq!(main_effect(&analysis, 0, 1).effect.n, 4);
    assert_eq!((main_effect(&analysis, 0, 1).lost, main_effect(&analysis, 1, 1).effect.n), (None, 5));
    let another = results.rows.iter().position(|row| row.variant == Some(2) && row.row.block == 2).expect("the row");
    fail(&mut results.rows[another], Phase::Measure, "gone");
    let analysis = analyse(&results);
    let refused = main_effect(&analysis, 0, 1);
    assert_eq!((refused.lost, refused.effect.verdict), (Some((2, 5)), Verdict::Undecided));
}

#[test]
fn what_weighs_engines_against_each_other_counts_their_starts() {
    let mut results = two_by_three();
    let engines: Vec<EngineSpec> = ["overlay2", "overlay2", "overlay2", "vfs", "vfs", "vfs"].map(private).to_vec();
    hosted(&mut results, &engines, 2, 5);
    let analysis = analyse(&results);
    let driver = main_effect(&analysis, 0, 1);
    assert_eq!((driver.engine_starts, driver.effect.n, driver.effect.verdict), (Some(2), 2, Verdict::Undecided));
    let within = main_effect(&analysis, 1, 1);
    assert_eq!((within.engine_starts, within.effect.n), (None, 5), "both levels ran under the same starts");
    assert_eq!(interaction(&analysis, (1, 1)).engine_starts, None, "a start cancels out of a ratio of ratios");
}

#[test]
fn trends_are_slopes_over_the_logarithm_of_the_level() {
    let none: [&[f64]; 5] = [&[0.001], &[-0.001], &[0.002], &[0.0], &[-0.002]];
    let of = |values: &[f64], levels: &[&str]| {
        let values: Vec<Option<f64>> = values.iter().copied().map(Some).collect();
        analyse(&matrix(&[("cpus", levels)], &values, &none)).trends
    };
    let straight = &of(&[1.0, 2.0, 4.0, 16.0], &["0.25", "0.5", "1", "4"])[0];
    assert!((straight.doubling.ratio - 2.0).abs() < 1e-3 && (straight.bend.ratio - 1.0).abs() < 1e-3, "{straight:?}");
    let bent = &of(&[1.0, 2.2, 4.5, 15.0], &["0.25", "0.5", "1", "4"])[0];
    assert!((bent.doubling.ratio.ln() - 0.6717473464458102).abs() < 1e-3, "{}", bent.doubling.ratio.ln());
    assert!((bent.bend.ratio.ln() + 0.0748271640981009).abs() < 1e-3, "{}", bent.bend.ratio.ln());
    assert!(of(&[1.0, 2.0], &["1", "2"]).is_empty(), "two levels are a ratio");
    assert!(of(&[1.0, 2.0, 3.0], &["0", "1", "2"]).is_empty(), "zero has no logarithm");
    assert!(of(&[1.0, 2.0, 3.0], &["a", "1", "2"]).is_empty());
}

#[test]
fn runs_are_sequences_and_blocks_of_their_own() {
    let mut results = two_by_three();
    add_run(&mut results);
    for variant in 0..6 {
        let row = row(&results, variant, 1, &[("wall", [10.0, 12.0, 15.0, 20.0, 25.0, 33.0][variant])]);
        results.rows.push(row);
    }
    assert_eq!(main_effect(&analyse(&results), 0, 1).effect.n, 6);
}
