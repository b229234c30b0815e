//! Replicates of one contrast on logarithms, and the t test on them: the estimator behind every effect.
//!
//! Within a block of random order the difference of two logs is symmetric under "no difference", whatever the shape of the noise; that is
//! why a t test on the differences keeps its error rate on timings with bursts and tails. The mean of log ratios is the geometric mean of
//! the ratios: swapping numerator and denominator gives exactly the reciprocal.

use super::difference::{Difference, ROUNDING};
use super::moments::moments;
use super::{ALPHA, ranks};
use crate::model::estimate::Effect;

/// From this many replicates on the rank tests can reject, and are a cross-check.
const ENOUGH_TO_RANK: usize = 6;

/// One number per block or engine start, with what a t test needs of them.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Replicates {
    pub(super) logs: Vec<f64>,
    /// Their mean; 0 without any.
    pub(super) mean: f64,
    /// Their standard deviation; 0 below two of them.
    pub(super) sd: f64,
}

/// The spread of a contrast, estimated from more than its own replicates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Spread {
    pub(super) sd: f64,
    pub(super) freedom: f64,
}

impl Replicates {
    pub(super) fn of(logs: Vec<f64>) -> Self {
        let (mean, variance) = moments(&logs).unwrap_or_default();
        Self { logs, mean, sd: variance.sqrt() }
    }

    pub(super) fn n(&self) -> usize {
        self.logs.len()
    }

    /// Whether at least two replicates all have one ratio, so that nothing can be tested.
    pub(super) fn is_constant(&self) -> bool {
        self.n() >= 2 && self.sd <= ROUNDING
    }

    /// The effect before any correction, undecided until a rule is applied, see [`Difference::effect`]; none without replicates. `pooled`
    /// replaces the replicates' own spread.
    pub(super) fn effect(&self, family: Option<usize>, pooled: Option<Spread>) -> Option<Effect> {
        let n = self.n();
        if n == 0 {
            return None;
        }
        let spread = pooled.unwrap_or(Spread { sd: self.sd, freedom: n.saturating_sub(1) as f64 });
        let error = if self.is_constant() { 0.0 } else { spread.sd / (n as f64).sqrt() };
        let effect = Difference::known(n, self.mean, error, spread.freedom).effect(family);
        if n < 2 || !effect.ratio.is_finite() {
            return Some(effect);
        }
        let centre = ranks::hodges_lehmann(&self.logs);
        let fragile = !self.is_constant() && self.is_fragile(effect.p, centre);
        Some(Effect { hodges_lehmann: centre.map(f64::exp), fragile, ..effect })
    }

    /// Whether few replicates decide: the signed ranks say otherwise than the t test, or the centre that ignores wild ones lies more than
    /// a standard error away.
    fn is_fragile(&self, p: Option<f64>, centre: Option<f64>) -> bool {
        if self.n() < ENOUGH_TO_RANK {
            return false;
        }
        let rejects = |p: Option<f64>| p.is_some_and(|p| p <= ALPHA);
        let away = centre.is_some_and(|centre| (centre - self.mean).abs() > self.sd / (self.n() as f64).sqrt());
        away || rejects(ranks::signed_rank(&self.logs)) != rejects(p)
    }
}
