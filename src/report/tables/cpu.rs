//! `cpu.csv`: long, where the CPU time of every variant went, the A/A copy included.

use super::cells::{Table, computed, text};
use super::columns;
use crate::model::estimate::Analysis;
use crate::model::results::Results;

/// One row per variant and part that some trial has: median over its trials of the seconds per unit of work, the unit, and the trials.
#[must_use]
pub fn cpu_csv(results: &Results, analysis: &Analysis) -> Vec<u8> {
    let mut table = Table::new(&columns::header(&["variant"], &columns::factors(results), &columns::CPU));
    for split in &analysis.cpu {
        let Some(variant) = results.variants.get(split.variant) else { continue };
        for share in &split.shares {
            let cells = vec![text(share.part.words()), computed(share.seconds), split.work.word().to_owned(), share.n.to_string()];
            table.row(&[vec![text(&variant.id)], columns::levels(results, Some(split.variant)), cells].concat());
        }
    }
    table.bytes()
}
