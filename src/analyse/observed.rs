//! Which rows count, sorted into one list of values per metric and variant.

use crate::model::outcome::Outcome;
use crate::model::results::{ResultRow, Results};
use std::collections::{BTreeSet, HashMap};

/// What pairs two observations: the index of the run, and the block in it.
pub(super) type Key = (usize, u32);

/// The values that count, by metric and variant, each list in the order of its keys.
pub(super) struct Observed {
    cells: Vec<Vec<(Key, f64)>>,
    failed: Vec<BTreeSet<Key>>,
    variants: usize,
}

impl Observed {
    /// Takes the finite values of the rows that count; of two values with one key the one recorded last stays.
    pub(super) fn of(results: &Results) -> Self {
        Self::of_rows(results, |_| true)
    }

    /// The same of those that nothing makes doubtful.
    pub(super) fn clean(results: &Results) -> Self {
        Self::of_rows(results, |row| row.row.taints.is_empty())
    }

    fn of_rows(results: &Results, is_wanted: impl Fn(&ResultRow) -> bool) -> Self {
        let variants = results.variants.len();
        let metrics: HashMap<&str, usize> = results.metrics.iter().enumerate().map(|(index, m)| (m.name.as_str(), index)).collect();
        let mut cells: Vec<Vec<(Key, f64)>> = vec![Vec::new(); variants * results.metrics.len()];
        let mut failed = vec![BTreeSet::new(); variants];
        for row in &results.rows {
            if let Some(variant) = fails(row).filter(|variant| *variant < variants) {
                failed[variant].insert((row.run, row.row.block));
            }
            let Some(variant) = row.counts().filter(|variant| *variant < variants && is_wanted(row)) else { continue };
            for observation in row.row.metrics.iter().filter(|observation| observation.value.is_finite()) {
                if let Some(metric) = metrics.get(observation.name.as_str()) {
                    cells[metric * variants + variant].push(((row.run, row.row.block), observation.value));
                }
            }
        }
        for cell in &mut cells {
            cell.sort_by_key(|(key, _)| *key);
            cell.dedup_by(|later, earlier| {
                let same = later.0 == earlier.0;
                if same {
                    earlier.1 = later.1;
                }
                same
            });
        }
        Self { cells, failed, variants }
    }

    /// The values of one metric in one variant.
    pub(super) fn cell(&self, metric: usize, variant: usize) -> &[(Key, f64)] {
        &self.cells[metric * self.variants + variant]
    }

    /// The keys of the trials of one variant that failed for good.
    pub(super) fn failed(&self, variant: usize) -> &BTreeSet<Key> {
        &self.failed[variant]
    }
}

/// The blocks that are lost, and all blocks, when those are more than a fifth: what is left was selected, often by its value, so no
/// verdict is given.
pub(super) fn too_many(lost: usize, all: usize) -> Option<(usize, usize)> {
    (lost * 5 > all).then_some((lost, all))
}

/// The variant for which a row is a loss: it failed, and no later attempt replaced it.
fn fails(row: &ResultRow) -> Option<usize> {
    row.variant.filter(|_| row.row.outcome == Outcome::Failed && !row.superseded)
}
