//! Drift, slow noise and two groups of values: known answers, and what is no drift.

use super::{add_run, results, row};
use shakedown::analyse::{analyse, half_width};
use shakedown::model::estimate::{Subject, Verdict};
use shakedown::model::experiment::{Adaptive, Correction, Variance};
use shakedown::model::metric::{Better, Unit};
use shakedown::model::results::Results;
use shakedown::model::sequence::Drift;

/// Two variants in so many blocks, in the order of the blocks, each value from the place of its trial.
fn in_order(blocks: u32, value: impl Fn(usize, u32) -> f64) -> Results {
    let mut all = results("f", "wall", Unit::SECOND, Better::Lower, &[("a", &[]), ("b", &[])]);
    append(&mut all, blocks, value);
    all
}

fn append(all: &mut Results, blocks: u32, value: impl Fn(usize, u32) -> f64) {
    for block in 1..=blocks {
        for variant in 0..2 {
            let row = row(all, variant, block, &[("wall", value(variant, block))]);
            all.rows.push(row);
        }
    }
}

/// Noise without a trend or a memory: a fixed shuffle of evenly spaced numbers.
fn noise(place: u32) -> f64 {
    f64::from((place * 29 + 7) % 41) / 41.0 - 0.5
}

fn drift(results: &Results) -> Drift {
    analyse(results).drift.expect("a sequence")
}

#[test]
fn a_sequence_that_only_rises_has_the_reference_p() {
    // Five values per variant, ten in all, each larger than all before it but for the variant's own mean: S = 25 + 20 of 45 pairs.
    let rising = in_order(5, |_, block| f64::from(block).exp());
    let found = drift(&rising);
    // Pairs of one block are equal: 45 pairs less 5 ties, variance (10 * 9 * 25 - 5 * 2 * 1 * 9) / 18 = 120, z = 39 / sqrt 120.
    let p = found.p.expect("a p");
    assert!((p - 3.708_8e-4).abs() < 2e-6, "{p}");
    assert!(found.is_drifting() && found.change > 0.0);
    assert_eq!(found.residuals.len(), 10);
    let falling = drift(&in_order(5, |_, block| (-f64::from(block)).exp()));
    assert!((falling.p.expect("a p") - p).abs() < 1e-12 && falling.change < 0.0);
}

#[test]
fn a_slow_machine_is_found_in_all_trials_together_and_the_size_is_told() {
    let found = drift(&in_order(20, |variant, block| {
        let place = 2 * block + u32::try_from(variant).expect("small");
        (1.0 + variant as f64) * (1.0 + 0.01 * noise(place)) * (1.0 - 0.06 * f64::from(block - 1) / 19.0)
    }));
    assert!(found.is_drifting(), "{:?}", found.p);
    assert!((found.change + 0.06).abs() < 0.01, "{}", found.change);
    assert!(found.is_slow_noise(), "{:?}", found.autocorrelation);
}

#[test]
fn variants_of_different_level_are_no_drift_nor_are_runs_of_another_day() {
    let still = |variant: usize, block: u32| (1.0 + 9.0 * variant as f64) * (1.0 + 0.02 * noise(2 * block + variant as u32));
    let mut results = in_order(10, still);
    assert!(!drift(&results).is_drifting());
    add_run(&mut results);
    append(&mut results, 10, |variant, block| 3.0 * still(variant, block));
    let found = drift(&results);
    assert!(!found.is_drifting() && found.residuals.iter().all(|residual| residual.log.abs() < 0.1), "each run has its own level");
}

#[test]
fn nothing_is_said_of_nothing() {
    assert_eq!(analyse(&in_order(0, |_, _| 1.0)).drift, None);
    assert_eq!(analyse(&in_order(1, |_, _| 1.0)).drift, None, "one trial per variant has no residual");
    let constant = drift(&in_order(6, |_, _| 2.0));
    assert_eq!((constant.p, constant.autocorrelation, constant.change), (None, None, 0.0));
    assert_eq!(analyse(&in_order(6, |_, _| 0.0)).drift, None, "zeros have no logarithm");
}

#[test]
fn two_groups_are_told_where_there_are_enough_values() {
    let modal = |variant: usize, block: u32| {
        let slow = (block * 7 + 3 * variant as u32) % 10 < 3;
        (if slow { 1.0 } else { 1.054 }) * (1.0 + 0.01 * noise(block))
    };
    let each = analyse(&in_order(30, modal)).modes;
    assert_eq!(each.iter().map(|modes| (modes.variant, modes.n)).collect::<Vec<_>>(), [(Some(0), 30), (Some(1), 30)]);
    assert!((each[0].lower - 0.3).abs() < 1e-9 && (each[0].gap - 1.054).abs() < 0.003, "{each:?}");
    let pooled = analyse(&in_order(10, modal)).modes;
    assert_eq!(pooled.iter().map(|modes| (modes.variant, modes.n)).collect::<Vec<_>>(), [(None, 20)]);
    assert!(analyse(&in_order(9, modal)).modes.is_empty(), "18 values are too few");
    assert!(analyse(&in_order(30, |_, block| 1.0 + 0.05 * noise(block))).modes.is_empty());
    assert!(analyse(&in_order(30, |_, block| if block == 4 { 9.0 } else { 1.0 + 0.01 * noise(block) })).modes.is_empty(), "one outlier");
}

/// Three variants in four blocks; the numbers of the next tests are numpy's.
fn three() -> Results {
    let column = |of: [f64; 4]| of.to_vec();
    let (a, b, c) = (column([10.0, 10.2, 9.7, 10.05]), column([10.5, 10.1, 10.4, 10.6]), column([9.8, 9.9, 10.1, 9.75]));
    results("f", "wall", Unit::SECOND, Better::Lower, &[("a", &a), ("b", &b), ("c", &c)])
}

#[test]
fn the_common_spread_of_all_variants_gives_the_reference_numbers() {
    let mut results = three();
    let (n, half) = half_width(&results).expect("a width");
    assert!(n == 4 && (half - 0.05274341434161901).abs() < 1e-12, "{half}");
    results.design.variance = Variance::Pooled;
    let analysis = analyse(&results);
    let effect = &analysis.comparisons.iter().find(|c| c.subject == Subject::Variant(1)).expect("b").effect;
    assert!((effect.ratio - 1.0413050567635747).abs() < 1e-12);
    assert!((effect.low.expect("low") - 0.999921559105609).abs() < 1e-10);
    assert!((effect.p.expect("p") - 0.050322509266876723).abs() < 1e-10);
    assert!(analysis.cautions.iter().all(|caution| !caution.contains("pooled")));
}

#[test]
fn a_common_spread_of_unlike_variants_is_refused_and_said() {
    let mut results = three();
    results.design.variance = Variance::Pooled;
    for row in results.rows.iter_mut().filter(|row| row.variant == Some(2)) {
        row.row.metrics[0].value *= if row.row.block % 2 == 0 { 1.3 } else { 0.8 };
    }
    let refused = analyse(&results);
    assert!(refused.cautions.iter().any(|caution| caution.starts_with("`design.variance` is `pooled`, but")), "{:?}", refused.cautions);
    results.design.variance = Variance::Own;
    assert_eq!(analyse(&results).comparisons, refused.comparisons);
}

#[test]
fn no_correction_is_said_and_used() {
    let mut results = three();
    results.design.correction = Correction::None;
    let analysis = analyse(&results);
    assert!(analysis.cautions.iter().any(|caution| caution.contains("`design.correction` is `none`: each of 2 comparisons")));
    assert!(analysis.comparisons.iter().all(|comparison| comparison.effect.p_adjusted.is_none()));
    assert!(analysis.comparisons.iter().all(|c| c.effect.simultaneous.is_none()));
    results.design.correction = Correction::BenjaminiHochberg;
    assert!(analyse(&results).comparisons.iter().all(|comparison| comparison.effect.p_adjusted.is_some()));
}

#[test]
fn an_adaptive_experiment_is_judged_more_strictly() {
    // d = -0.05, 0.0, ... has p between 0.035 and 0.05 for one comparison.
    let values = [1.0, 1.021, 1.012, 0.998, 1.015, 1.009, 0.996, 1.018];
    let mut results = results("f", "wall", Unit::SECOND, Better::Lower, &[("a", &[1.0; 8]), ("b", &values)]);
    let judged = |results: &Results| {
        let comparison = analyse(results).comparisons.remove(0);
        (comparison.effect.p.expect("a p"), comparison.effect.verdict)
    };
    let (p, verdict) = judged(&results);
    assert!(p > 0.035 && p < 0.05, "{p}");
    assert_ne!(verdict, Verdict::Equivalent);
    results.design.adaptive = Some(Adaptive::default());
    assert_eq!(judged(&results), (p, Verdict::Equivalent));
}
