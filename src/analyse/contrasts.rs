//! Weighted sums of log values over several variants of one block: main effects, interactions and trends are all of this form, and the
//! t test on them asks nothing of the noise but that the order within a block is random.

use super::observed::{Key, Observed, too_many};
use super::replicates::Replicates;
use super::starts::Starts;
use std::collections::BTreeSet;

/// Weights that sum to 0, by variant.
pub(super) type Weights = Vec<(usize, f64)>;

/// The values of a contrast, and the blocks that have none.
pub(super) struct Contrast {
    pub(super) replicates: Replicates,
    /// Whether engine starts are what is repeated.
    pub(super) by_starts: bool,
    /// Blocks without a value, and all blocks, when those are too many.
    pub(super) lost: Option<(usize, usize)>,
}

impl Contrast {
    /// Of one metric. A block counts when every variant with a weight has a positive value in it; it is lost when one has a value that is
    /// not, or failed.
    pub(super) fn of(observed: &Observed, starts: &Starts, metric: usize, weights: &[(usize, f64)]) -> Self {
        let (first, others) = weights.split_first().expect("a contrast has variants");
        let cells: Vec<(&[(Key, f64)], f64)> = others.iter().map(|(variant, weight)| (observed.cell(metric, *variant), *weight)).collect();
        let mut logs = Vec::new();
        let mut nonpositive = 0;
        for (key, value) in observed.cell(metric, first.0) {
            let rest: Option<Vec<(f64, f64)>> = cells
                .iter()
                .map(|(cell, weight)| cell.binary_search_by_key(key, |(other, _)| *other).ok().map(|at| (cell[at].1, *weight)))
                .collect();
            let Some(mut all) = rest else { continue };
            all.push((*value, first.1));
            if all.iter().all(|(value, _)| *value > 0.0) {
                logs.push((*key, all.iter().map(|(value, weight)| weight * value.ln()).sum::<f64>()));
            } else {
                nonpositive += 1;
            }
        }
        let failed: BTreeSet<Key> = weights.iter().flat_map(|(variant, _)| observed.failed(*variant)).copied().collect();
        let lost = nonpositive + failed.len();
        let lost = too_many(lost, lost + logs.len());
        let by_starts = starts.differ(weights);
        let logs = if by_starts { starts.means(&logs) } else { logs.into_iter().map(|(_, log)| log).collect() };
        Self { replicates: Replicates::of(logs), by_starts, lost }
    }
}
