//! The difference of two lists of logs: of the same trials, pair by pair, or of trials that have nothing to do with each other (Welch).
//!
//! Welch's test does not ask that both sides are equally noisy. It does ask that the replicates of a side are independent: what a day does
//! to all trials of one record is not in its interval.

use super::moments::moments;
use super::{ALPHA, power, tail};
use crate::model::estimate::{Effect, Verdict};

/// Below this a spread of logs is rounding, not variation: no measurement repeats to twelve digits.
pub(super) const ROUNDING: f64 = 1e-12;

/// A mean difference of logs with its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Difference {
    /// Replicates of the smaller side.
    n: usize,
    mean: f64,
    error: f64,
    /// Degrees of freedom; 0 where nothing can be tested.
    freedom: f64,
}

impl Difference {
    /// Of differences that are paired already; none without any.
    pub(super) fn paired(differences: &[f64]) -> Option<Self> {
        let (mean, variance) = moments(differences)?;
        let n = differences.len();
        Some(Self { n, mean, error: (variance / n as f64).sqrt(), freedom: (n - 1) as f64 })
    }

    /// `b` less `a` with Welch's degrees of freedom; none when one side is empty.
    pub(super) fn unpaired(a: &[f64], b: &[f64]) -> Option<Self> {
        let ((mean_a, variance_a), (mean_b, variance_b)) = (moments(a)?, moments(b)?);
        let (n_a, n_b) = (a.len() as f64, b.len() as f64);
        let (of_a, of_b) = (variance_a / n_a, variance_b / n_b);
        let n = a.len().min(b.len());
        let freedom = if n < 2 { 0.0 } else { (of_a + of_b).powi(2) / (of_a.powi(2) / (n_a - 1.0) + of_b.powi(2) / (n_b - 1.0)) };
        Some(Self { n, mean: mean_b - mean_a, error: (of_a + of_b).sqrt(), freedom })
    }

    /// A mean of so many replicates with its standard error.
    pub(super) fn known(n: usize, mean: f64, error: f64, freedom: f64) -> Self {
        Self { n, mean, error, freedom }
    }

    /// The effect before any correction, undecided until a rule is applied. In a `family` of so many under Holm's correction the level of the
    /// strictest test is that of the simultaneous interval, and of what is detectable.
    pub(super) fn effect(&self, family: Option<usize>) -> Effect {
        let strictest = ALPHA / family.unwrap_or(1).max(1) as f64;
        let bare = Effect {
            n: self.n,
            ratio: self.mean.exp(),
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
        if self.n < 2 || !bare.ratio.is_finite() {
            return bare;
        }
        if self.error <= ROUNDING {
            let none_at_all = self.mean.abs() <= ROUNDING;
            return Effect { p: none_at_all.then_some(1.0), equivalence: none_at_all.then_some((1.0, 1.0)), ..bare };
        }
        let interval = self.interval(ALPHA);
        Effect {
            low: interval.map(|(low, _)| low),
            high: interval.map(|(_, high)| high),
            simultaneous: family.and_then(|_| self.interval(strictest)),
            equivalence: self.interval(2.0 * ALPHA),
            p: tail::two_sided(self.mean / self.error, self.freedom),
            detectable: power::detectable(self.error, self.freedom, strictest),
            ..bare
        }
    }

    /// The interval of the ratio at level 1 - `alpha`.
    fn interval(&self, alpha: f64) -> Option<(f64, f64)> {
        let half = tail::quantile(1.0 - alpha / 2.0, self.freedom)? * self.error;
        let (low, high) = ((self.mean - half).exp(), (self.mean + half).exp());
        high.is_finite().then_some((low, high))
    }
}
