//! Replicates of one contrast on logarithms, and the t test on them: the estimator behind every effect.
//!
//! Within a block of random order the difference of two logs is symmetric under "no difference", whatever the shape of the noise; that is
//! why a t test on the differences keeps its error rate on timings with bursts and tails. The mean of log ratios is the geometric mean of
//! the ratios: swapping numerator and denominator gives exactly the reciprocal.

use super::{ALPHA, power, ranks, tail};
use crate::model::estimate::{Effect, Verdict};

/// Below this a spread of log ratios is rounding, not variation: no measurement repeats to twelve digits.
const ROUNDING: f64 = 1e-12;

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
    pub(super) freedom: usize,
}

impl Replicates {
    pub(super) fn of(logs: Vec<f64>) -> Self {
        let n = logs.len();
        let mean = logs.iter().sum::<f64>() / n.max(1) as f64;
        let squares: f64 = logs.iter().map(|d| (d - mean).powi(2)).sum();
        let sd = if n < 2 { 0.0 } else { (squares / (n - 1) as f64).sqrt() };
        Self { logs, mean, sd }
    }

    pub(super) fn n(&self) -> usize {
        self.logs.len()
    }

    /// Whether at least two replicates all have one ratio, so that nothing can be tested.
    pub(super) fn is_constant(&self) -> bool {
        self.n() >= 2 && self.sd <= ROUNDING
    }

    /// The effect before any correction, undecided until a rule is applied; none without replicates. `strictest` is the level of the
    /// family's strictest test: that of the simultaneous interval, and of what is detectable. `pooled` replaces the replicates' own spread.
    pub(super) fn effect(&self, strictest: f64, pooled: Option<Spread>) -> Option<Effect> {
        let n = self.n();
        if n == 0 {
            return None;
        }
        let ratio = self.mean.exp();
        let bare = Effect {
            n,
            ratio,
            low: None,
            high: None,
            simultaneous: None,
            hodges_lehmann: None,
            fragile: false,
            equivalence: None,
            p: None,
            p_adjusted: None,
            verdict: Verdict::Undecided,
            detectable: None,
        };
        if n < 2 || !ratio.is_finite() {
            return Some(bare);
        }
        let centre = ranks::hodges_lehmann(&self.logs);
        let bare = Effect { hodges_lehmann: centre.map(f64::exp), ..bare };
        if self.is_constant() {
            let none_at_all = self.mean.abs() <= ROUNDING;
            return Some(Effect { p: none_at_all.then_some(1.0), equivalence: none_at_all.then_some((1.0, 1.0)), ..bare });
        }
        let spread = pooled.unwrap_or(Spread { sd: self.sd, freedom: n - 1 });
        let error = spread.sd / (n as f64).sqrt();
        let interval = |alpha: f64| {
            let half = tail::quantile(1.0 - alpha / 2.0, spread.freedom)? * error;
            let (low, high) = ((self.mean - half).exp(), (self.mean + half).exp());
            high.is_finite().then_some((low, high))
        };
        let (plain, p) = (interval(ALPHA), tail::two_sided(self.mean / error, spread.freedom));
        Some(Effect {
            low: plain.map(|(low, _)| low),
            high: plain.map(|(_, high)| high),
            simultaneous: interval(strictest),
            fragile: self.is_fragile(p, centre),
            equivalence: interval(2.0 * ALPHA),
            p,
            detectable: power::detectable(spread, n, strictest),
            ..bare
        })
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
