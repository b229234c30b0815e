//! Paired log ratios: the estimator behind every effect.
//!
//! Within a block of random order the difference of two logs is symmetric under "no difference", whatever the shape of the noise;
//! that is why a t test on the differences keeps its error rate on timings with bursts and tails. The mean of log ratios is the
//! geometric mean of the ratios: swapping numerator and denominator gives exactly the reciprocal.

use super::observed::Key;
use super::starts::Starts;
use super::{ALPHA, power, student};
use crate::model::estimate::{Effect, Verdict};

/// Below this a spread of log ratios is rounding, not variation: no measurement repeats to twelve digits.
pub(super) const ROUNDING: f64 = 1e-12;

/// What the pairs of two lists of observations say.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Paired {
    /// Replicates: pairs of which both values are positive, or the engine starts that hosted such pairs.
    pub(super) n: usize,
    /// Mean of the replicates' log ratios.
    pub(super) mean: f64,
    /// Their standard deviation; 0 below two of them.
    pub(super) sd: f64,
    /// Pairs of which both values are positive.
    pub(super) pairs: usize,
    /// Pairs without a ratio, because a value is zero or negative.
    pub(super) nonpositive: usize,
    /// Blocks without a pair, because a trial of either side failed.
    pub(super) failed: usize,
}

impl Paired {
    /// Pairs `over` with `under` by key, both in the order of their keys; in `failed` blocks a trial of either side failed. With `starts`
    /// the log ratios of one engine start are averaged to one replicate.
    ///
    /// The mean of the differences is the difference of the means where no trial is lost; where one is, the other side's trial of
    /// that block is left out, too, and what the block was like stays out of the comparison.
    pub(super) fn of(over: &[(Key, f64)], under: &[(Key, f64)], failed: usize, starts: Option<&Starts>) -> Self {
        let mut logs = Vec::with_capacity(over.len());
        let mut nonpositive = 0;
        for (key, value) in over {
            let Ok(at) = under.binary_search_by_key(key, |(other, _)| *other) else { continue };
            let base = under[at].1;
            if *value > 0.0 && base > 0.0 {
                logs.push((*key, value.ln() - base.ln()));
            } else {
                nonpositive += 1;
            }
        }
        let pairs = logs.len();
        let logs = match starts {
            Some(starts) => starts.means(&logs),
            None => logs.into_iter().map(|(_, log)| log).collect(),
        };
        let n = logs.len();
        let mean = logs.iter().sum::<f64>() / n.max(1) as f64;
        let squares: f64 = logs.iter().map(|d| (d - mean).powi(2)).sum();
        let sd = if n < 2 { 0.0 } else { (squares / (n - 1) as f64).sqrt() };
        Self { n, mean, sd, pairs, nonpositive, failed }
    }

    /// Whether at least two replicates all have one ratio, so that nothing can be tested.
    pub(super) fn is_constant(&self) -> bool {
        self.n >= 2 && self.sd <= ROUNDING
    }

    /// The blocks that have no ratio, and all blocks, when those are more than a fifth: what is left was selected, often by its
    /// value, so no verdict is given.
    pub(super) fn lost(&self) -> Option<(usize, usize)> {
        let lost = self.nonpositive + self.failed;
        let all = lost + self.pairs;
        (lost * 5 > all).then_some((lost, all))
    }

    /// The effect before any correction, undecided until a rule is applied; none without pairs. `alpha` is the level of the
    /// family's strictest test and only decides what is detectable.
    pub(super) fn effect(&self, alpha: f64) -> Option<Effect> {
        if self.n == 0 {
            return None;
        }
        let ratio = self.mean.exp();
        let bare = Effect {
            n: self.n,
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
        if self.n < 2 || !ratio.is_finite() {
            return Some(bare);
        }
        if self.is_constant() {
            let none_at_all = self.mean.abs() <= ROUNDING;
            return Some(Effect { p: none_at_all.then_some(1.0), equivalence: none_at_all.then_some((1.0, 1.0)), ..bare });
        }
        let interval = self.interval(ALPHA);
        Some(Effect {
            low: interval.map(|(low, _)| low),
            high: interval.map(|(_, high)| high),
            equivalence: self.interval(2.0 * ALPHA),
            p: student::two_sided(self.mean / self.error(), self.n - 1),
            detectable: power::detectable(self.sd, self.n, alpha),
            ..bare
        })
    }

    /// The interval of the ratio at level 1 - `alpha`.
    fn interval(&self, alpha: f64) -> Option<(f64, f64)> {
        let half = student::quantile(1.0 - alpha / 2.0, self.n - 1)? * self.error();
        let (low, high) = ((self.mean - half).exp(), (self.mean + half).exp());
        high.is_finite().then_some((low, high))
    }

    fn error(&self) -> f64 {
        self.sd / (self.n as f64).sqrt()
    }
}
