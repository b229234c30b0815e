//! Two lists of observations paired by their blocks, or by the engine starts that hosted those.

use super::observed::{Key, too_many};
use super::replicates::Replicates;
use super::starts::Starts;

/// What the pairs of two lists of observations say.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Paired {
    /// The log ratio of each pair of which both values are positive, or its mean over the pairs of one engine start.
    pub(super) replicates: Replicates,
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
        Self { replicates: Replicates::of(logs), pairs, nonpositive, failed }
    }

    /// The blocks that have no ratio, and all blocks, when those are too many.
    pub(super) fn lost(&self) -> Option<(usize, usize)> {
        let lost = self.nonpositive + self.failed;
        too_many(lost, lost + self.pairs)
    }
}
