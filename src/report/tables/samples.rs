//! `samples.csv`: long, every sample of every trial, made trial by trial because a record may hold millions.

use super::cells::{Table, number, text};
use super::columns;
use crate::model::observe::Series;

/// Its header.
#[must_use]
pub fn samples_head() -> Vec<u8> {
    Table::new(&columns::header(&columns::SAMPLES, &[], &[])).bytes()
}

/// The rows of one trial, one per moment and quantity: counters since the trial's beginning, `memory` and `tasks` as they were. What could
/// not be read has no row.
#[must_use]
pub fn samples_of(run: &str, trial: &str, variant: &str, series: &Series) -> Vec<u8> {
    let mut table = Table::headless();
    let names = [run, trial, variant].map(text);
    for sample in &series.samples {
        for (column, value) in series.columns.iter().zip(&sample.values) {
            let Some(value) = value else { continue };
            let moment = [text(&sample.phase), number(sample.time)];
            let what = [&column.subject, &column.quantity, &column.unit].map(|name| text(name));
            table.row(&[&names[..], &moment, &what, &[number(*value)]].concat());
        }
    }
    table.bytes()
}
