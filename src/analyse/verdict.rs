//! The one rule that turns numbers into a verdict, and the control that may take it back.

use super::ALPHA;
use crate::model::estimate::{Effect, Verdict};
use crate::model::experiment::Design;
use crate::model::results::Results;

/// How many times the A/A copy's own apparent effect another effect must exceed to keep its verdict.
const DISTRUST: f64 = 1.5;

/// The adjusted p up to which a difference is believed. An experiment that ends when its intervals are narrow enough ends a little more
/// often where the noise happens to be small, so it must be stricter; the levels were found by simulation.
#[must_use]
pub fn significance(results: &Results) -> f64 {
    let compared = results.compared();
    match (&results.design.adaptive, compared) {
        (None, _) => ALPHA,
        (Some(_), ..=2) => 0.035,
        (Some(_), _) => 0.04,
    }
}

/// Gives an effect its corrected p, and the verdict that this allows unless it is `withheld`.
pub(super) fn decide(effect: &mut Effect, p_adjusted: Option<f64>, withheld: bool, alpha: f64, design: &Design) {
    effect.p_adjusted = p_adjusted;
    if !withheld {
        effect.verdict = verdict(effect, p_adjusted.or(effect.p), alpha, design);
    }
}

/// What may be said of an effect with this p, where one up to `alpha` is believed. No significant difference is never taken for equivalence.
fn verdict(effect: &Effect, p: Option<f64>, alpha: f64, design: &Design) -> Verdict {
    if p.is_some_and(|p| p <= alpha) {
        let far = (effect.ratio - 1.0).abs() >= design.min_effect;
        return if far { Verdict::Different } else { Verdict::DifferentSmall };
    }
    let margin = 1.0 + design.margin;
    match effect.equivalence {
        Some((low, high)) if low >= 1.0 / margin && high <= margin => Verdict::Equivalent,
        _ => Verdict::Undecided,
    }
}

/// The size, as a fraction, up to which the verdicts of an experiment are worth nothing, because its A/A control, a second copy of
/// the baseline, was itself called different; none when the control holds.
pub(super) fn distrusted(control: &Effect) -> Option<f64> {
    if !control.verdict.differs() {
        return None;
    }
    let far = [control.low, control.high, Some(control.ratio)].into_iter().flatten().map(|bound| (bound - 1.0).abs());
    Some(DISTRUST * far.fold(0.0, f64::max))
}
