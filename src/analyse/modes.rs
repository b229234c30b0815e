//! Whether values fall into two groups: a CPU set, a NUMA node, a port or a cold cache that some trials got and others did not.
//!
//! The values are split at their widest gap. Below 20 of them noise alone looks like two groups too often (at ten values, every seventh
//! time), and the strip of all trials shows more than a test.

use super::moments::moments;
use super::observed::Observed;
use crate::model::results::Results;
use crate::model::sequence::Modes;

/// Values of which it can be asked.
const ENOUGH: usize = 20;

/// Each group has at least two values, and this share of all.
const LEAST_SHARE: f64 = 0.15;

/// The share of the variance that lies between the groups is above this.
const EXPLAINED: f64 = 0.8;

/// The gap is wider than so many of the groups' common deviations.
const GAP: f64 = 1.5;

/// A variant whose residuals are pooled has at least so many values: those of fewer are mirror images of each other.
const ENOUGH_TO_POOL: usize = 5;

/// The variants with two groups. Where no variant has enough values for the question, all residuals are looked at together.
pub(super) fn modes(results: &Results, observed: &Observed, metric: usize) -> Vec<Modes> {
    let logs = |variant: usize| {
        let values = observed.cell(metric, variant).iter().map(|(_, value)| *value).filter(|value| *value > 0.0);
        values.map(f64::ln).collect::<Vec<f64>>()
    };
    let variants = || (0..results.variants.len()).filter(|variant| !results.variants[*variant].is_copy());
    let found: Vec<Modes> = variants().filter_map(|variant| split(logs(variant), Some(variant))).collect();
    if !found.is_empty() || variants().any(|variant| observed.cell(metric, variant).len() >= ENOUGH) {
        return found;
    }
    let residuals = |logs: Vec<f64>| {
        let (n, mean) = (logs.len() as f64, logs.iter().sum::<f64>() / logs.len() as f64);
        // A mean taken from the values themselves lies nearer to them than the true one.
        logs.into_iter().map(move |log| (log - mean) * (n / (n - 1.0)).sqrt())
    };
    let all: Vec<f64> = variants().map(logs).filter(|logs| logs.len() >= ENOUGH_TO_POOL).flat_map(residuals).collect();
    split(all, None).into_iter().collect()
}

fn split(mut logs: Vec<f64>, variant: Option<usize>) -> Option<Modes> {
    let n = logs.len();
    if n < ENOUGH {
        return None;
    }
    logs.sort_by(f64::total_cmp);
    let (at, gap) = logs.windows(2).map(|pair| pair[1] - pair[0]).enumerate().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))?;
    let (lower, upper) = logs.split_at(at + 1);
    let least = (LEAST_SHARE * n as f64).max(2.0);
    if (lower.len().min(upper.len()) as f64) < least {
        return None;
    }
    let spread = |values: &[f64]| moments(values).map(|(mean, variance)| (mean, variance * (values.len() - 1) as f64));
    let ((below, of_lower), (above, of_upper), (_, all)) = (spread(lower)?, spread(upper)?, spread(&logs)?);
    let within = of_lower + of_upper;
    let sd = (within / (n - 2) as f64).sqrt();
    let found = 1.0 - within / all > EXPLAINED && gap > GAP * sd;
    found.then(|| Modes { variant, n, lower: lower.len() as f64 / n as f64, gap: (above - below).exp() })
}
