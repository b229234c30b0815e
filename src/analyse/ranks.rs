//! Ranks: the cross-check of the t test, which a few wild replicates hardly move.

use super::tail;
use std::cmp::Ordering;

/// Up to this many differences the distribution of their ranks is counted out; beyond, it is normal to four digits.
const MOST_COUNTED: usize = 60;

/// Steps of the bisection for a middle average: enough for the last bit of any spread.
const STEPS: usize = 100;

/// The Hodges-Lehmann estimate: the median of the means of all pairs of values, each with itself included; none without values, or with
/// one that is not finite.
#[must_use]
pub fn hodges_lehmann(values: &[f64]) -> Option<f64> {
    if values.is_empty() || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let all = sorted.len() * (sorted.len() + 1) / 2;
    let (lower, upper) = (smallest_mean(&sorted, all.div_ceil(2)), smallest_mean(&sorted, all / 2 + 1));
    Some(f64::midpoint(lower, upper))
}

/// The mean of two values that `wanted` of all such means do not exceed. There are too many to write them down where there are thousands of
/// values, but those up to a limit are counted in one pass over the sorted values.
fn smallest_mean(sorted: &[f64], wanted: usize) -> f64 {
    let count = |limit: f64| {
        let mut up_to = sorted.len();
        let mut found = 0;
        for (at, value) in sorted.iter().enumerate() {
            while up_to > at && f64::midpoint(*value, sorted[up_to - 1]) > limit {
                up_to -= 1;
            }
            found += up_to.saturating_sub(at);
        }
        found
    };
    let (mut low, mut high) = (sorted[0], sorted[sorted.len() - 1]);
    for _ in 0..STEPS {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            break;
        }
        if count(middle) >= wanted { high = middle } else { low = middle }
    }
    if count(low) >= wanted { low } else { high }
}

/// The two-sided p of Wilcoxon's signed-rank test: exact, ties and all, up to 60 differences, and by the normal distribution with
/// continuity correction beyond. Differences of 0 are left out; none where no other is left.
#[must_use]
pub fn signed_rank(differences: &[f64]) -> Option<f64> {
    let mut sorted: Vec<f64> = differences.iter().copied().filter(|d| *d != 0.0).collect();
    if sorted.is_empty() || sorted.iter().any(|d| !d.is_finite()) {
        return None;
    }
    sorted.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    // Twice the rank, so that the middle rank of a tie is a whole number.
    let mut doubled: Vec<usize> = Vec::with_capacity(sorted.len());
    for group in sorted.chunk_by(|a, b| a.abs().total_cmp(&b.abs()) == Ordering::Equal) {
        let before = doubled.len();
        doubled.extend(std::iter::repeat_n(2 * before + group.len() + 1, group.len()));
    }
    let positive: usize = doubled.iter().zip(&sorted).filter(|(_, d)| **d > 0.0).map(|(rank, _)| rank).sum();
    let total: usize = doubled.iter().sum();
    Some(if sorted.len() <= MOST_COUNTED { counted_out(&doubled, positive, total) } else { normal(&doubled, positive, total) })
}

/// The share of all ways to give the ranks signs in which the sum is at least as far from its middle.
fn counted_out(doubled: &[usize], positive: usize, total: usize) -> f64 {
    let mut ways = vec![0.0_f64; total + 1];
    ways[0] = 1.0;
    let mut reached = 0;
    for rank in doubled {
        reached += rank;
        for sum in (*rank..=reached).rev() {
            ways[sum] += ways[sum - rank];
        }
    }
    let all: f64 = ways.iter().sum();
    let smaller = positive.min(total - positive);
    let tail: f64 = ways[..=smaller].iter().sum();
    (2.0 * tail / all).min(1.0)
}

fn normal(doubled: &[usize], positive: usize, total: usize) -> f64 {
    let sd = (doubled.iter().map(|rank| (*rank as f64).powi(2)).sum::<f64>() / 4.0).sqrt();
    let away = (positive as f64 - total as f64 / 2.0).abs() - 1.0;
    tail::normal_two_sided(away.max(0.0) / sd)
}
