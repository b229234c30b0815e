//! Whether the machine held still: what is left of the trials, in the order in which they ran.
//!
//! One variant's trials are too few and too far apart to show it, so all are looked at together. A drift makes no comparison wrong, for the
//! blocks absorb it; it is told because it widens every interval, and because its cause can often be removed.

use super::kendall::Concordance;
use super::tail;
use crate::model::metric::Observation;
use crate::model::results::{ResultRow, Results};
use crate::model::sequence::{Drift, Residual};
use std::collections::{BTreeMap, HashMap};

/// Trials of one run of which a trend can be asked.
const ENOUGH: usize = 4;

/// Of one metric: its log values without the mean of their variant in the same run. Runs are sequences of their own: what changed between
/// two of them is no drift.
pub(super) fn drift(results: &Results, metric: usize) -> Option<Drift> {
    let name = results.metrics[metric].name.as_str();
    let mut means: HashMap<(usize, usize), (f64, usize)> = HashMap::new();
    let mut logs: Vec<(usize, usize, f64)> = Vec::new();
    for (index, row) in results.rows.iter().enumerate() {
        let (Some(variant), Some(log)) = (row.counts(), log_of(row, name)) else { continue };
        let mean = means.entry((row.run, variant)).or_default();
        (mean.0, mean.1) = (mean.0 + log, mean.1 + 1);
        logs.push((index, variant, log));
    }
    let left = logs.into_iter().filter_map(|(row, variant, log)| {
        let (sum, count) = means[&(results.rows[row].run, variant)];
        (count > 1).then(|| Residual { row, log: log - sum / count as f64 })
    });
    let residuals: Vec<Residual> = left.collect();
    if residuals.is_empty() {
        return None;
    }
    let mut by_run: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for residual in &residuals {
        by_run.entry(results.rows[residual.row].run).or_default().push(residual.log);
    }
    let long = || by_run.values().filter(|logs| logs.len() >= ENOUGH);
    let change = long().map(|logs| change(logs)).max_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap_or(0.0);
    Some(Drift { p: mann_kendall(long()), change: change.exp_m1(), autocorrelation: autocorrelation(by_run.values()), residuals })
}

fn log_of(row: &ResultRow, metric: &str) -> Option<f64> {
    let value = |observation: &&Observation| observation.name == metric && observation.value > 0.0 && observation.value.is_finite();
    row.row.metrics.iter().find(value).map(|observation| observation.value.ln())
}

/// The two-sided p of the Mann-Kendall test over several sequences: their counts and variances add up. None without variation.
fn mann_kendall<'a>(sequences: impl Iterator<Item = &'a Vec<f64>>) -> Option<f64> {
    let (score, variance) = sequences
        .map(|sequence| Concordance::of(sequence))
        .fold((0.0, 0.0), |(score, variance), found| (score + found.score as f64, variance + found.variance));
    let away: f64 = f64::max(score.abs() - 1.0, 0.0);
    (variance > 0.0).then(|| tail::normal_two_sided(away / variance.sqrt()))
}

/// How much the least-squares line changes from the first to the last of some values.
fn change(values: &[f64]) -> f64 {
    let middle = (values.len() - 1) as f64 / 2.0;
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let places = || (0..values.len()).map(|at| at as f64 - middle);
    let products: f64 = places().zip(values).map(|(place, value)| place * (value - mean)).sum();
    let squares: f64 = places().map(|place| place * place).sum();
    if squares > 0.0 { products / squares * 2.0 * middle } else { 0.0 }
}

/// The correlation of each value with the next one of its sequence; the values are residuals, so their mean is 0.
fn autocorrelation<'a>(sequences: impl Iterator<Item = &'a Vec<f64>>) -> Option<f64> {
    let (mut products, mut squares) = (0.0, 0.0);
    for sequence in sequences {
        products += sequence.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>();
        squares += sequence.iter().map(|value| value * value).sum::<f64>();
    }
    (squares > 0.0).then(|| products / squares)
}
