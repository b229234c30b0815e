//! The level of one variant: its median, and the interval that the sorted observations give without any assumption on their shape.

use super::ALPHA;
use crate::model::estimate::Estimate;

/// Median, order-statistic interval and range of some observations; none without any, or when one is not finite.
#[must_use]
pub fn level(mut values: Vec<f64>) -> Option<Estimate> {
    if values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    values.sort_by(f64::total_cmp);
    let (min, max) = (*values.first()?, *values.last()?);
    let n = values.len();
    let ranks = median_ranks(n);
    Some(Estimate {
        n,
        median: f64::midpoint(values[(n - 1) / 2], values[n / 2]),
        low: ranks.map(|(low, _)| values[low - 1]),
        high: ranks.map(|(_, high)| values[high - 1]),
        min,
        max,
    })
}

/// The ranks, from 1, of the two of `n` sorted observations that enclose the median with at least 95 % confidence; none below n = 6.
///
/// The number of observations below the median is binomial with p = 1/2, so the interval from rank k to rank n + 1 - k misses it
/// with twice the probability of fewer than k successes: the largest k that keeps this within 5 % is taken.
#[must_use]
pub fn median_ranks(n: usize) -> Option<(usize, usize)> {
    let mut log_term = -(n as f64) * std::f64::consts::LN_2;
    let mut tail = 0.0;
    let mut rank = 0;
    while rank < n {
        tail += log_term.exp();
        if 2.0 * tail > ALPHA {
            break;
        }
        log_term += ((n - rank) as f64).ln() - ((rank + 1) as f64).ln();
        rank += 1;
    }
    (rank > 0).then_some((rank, n + 1 - rank))
}
