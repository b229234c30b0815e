//! The spread of all variants together: what is left of each log value when its block and its variant are taken away.
//!
//! It is steadier than the spread of one pair of variants, which is what a rule for stopping needs, and twice as strong at three to five
//! blocks; but it is wrong for a variant that is noisier than the others, so a verdict stands on it only where that was asked for.

use super::observed::{Key, Observed};
use super::replicates::Spread;
use super::{ALPHA, tail};
use crate::model::results::Results;

/// Above this ratio of the largest to the smallest spread of a variant the variants are not alike.
const ALIKE: f64 = 2.0;

/// The residuals of a two-way model over the blocks that every variant has.
pub(super) struct Pooled {
    /// Blocks.
    pub(super) n: usize,
    /// The spread of a difference of two variants within a block.
    pub(super) spread: Spread,
    /// The largest spread of a variant over the smallest one.
    pub(super) unlike: f64,
}

impl Pooled {
    /// Of one metric over the variants that have any value; none below two variants or two blocks that all of them have.
    pub(super) fn of(results: &Results, observed: &Observed, metric: usize) -> Option<Self> {
        let cells: Vec<&[(Key, f64)]> =
            (0..results.variants.len()).map(|variant| observed.cell(metric, variant)).filter(|cell| !cell.is_empty()).collect();
        let log_at = |cell: &[(Key, f64)], key: &Key| {
            let at = cell.binary_search_by_key(key, |(other, _)| *other).ok()?;
            Some(cell[at].1).filter(|value| *value > 0.0).map(f64::ln)
        };
        let block = |key: &Key| cells.iter().map(|cell| log_at(cell, key)).collect::<Option<Vec<f64>>>();
        let blocks: Vec<Vec<f64>> = cells.first()?.iter().filter_map(|(key, _)| block(key)).collect();
        let (n, k) = (blocks.len(), cells.len());
        if n < 2 || k < 2 {
            return None;
        }
        let of_block: Vec<f64> = blocks.iter().map(|block| block.iter().sum::<f64>() / k as f64).collect();
        let of_variant: Vec<f64> = (0..k).map(|variant| blocks.iter().map(|block| block[variant]).sum::<f64>() / n as f64).collect();
        let overall = of_block.iter().sum::<f64>() / n as f64;
        let squares = |variant: usize| {
            let left = blocks.iter().zip(&of_block).map(|(block, mean)| block[variant] - mean - of_variant[variant] + overall);
            left.map(|left| left * left).sum::<f64>()
        };
        let of_variants: Vec<f64> = (0..k).map(squares).collect();
        let (least, most) = of_variants.iter().fold((f64::INFINITY, 0.0_f64), |(least, most), sum| (least.min(*sum), most.max(*sum)));
        let freedom = (n - 1) * (k - 1);
        let sd = (2.0 * of_variants.iter().sum::<f64>() / freedom as f64).sqrt();
        Some(Self { n, spread: Spread { sd, freedom: freedom as f64 }, unlike: (most / least).sqrt() })
    }

    /// Whether the variants are so unlike that their common spread is true of none.
    pub(super) fn is_refused(&self) -> bool {
        // It is not a number when both are 0.
        self.unlike > ALIKE || self.unlike.is_nan()
    }

    /// Half the width of the 95 % interval of a ratio, on the log scale, as if every ratio had the common spread.
    pub(super) fn half_width(&self) -> Option<f64> {
        Some(tail::quantile(1.0 - ALPHA / 2.0, (self.n - 1) as f64)? * self.spread.sd / (self.n as f64).sqrt())
    }
}
