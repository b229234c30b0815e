//! The CSV files: one row per trial, per level, per effect, per reading, per part of the CPU time, and the two dictionaries of factors and
//! metrics; on request one per sample, which is no part of a report.
//!
//! The form is RFC 4180 with LF line ends, UTF-8 without a byte order mark, a dot as the decimal sign, and the shortest digits that
//! read back as the same number (ratios and p, which are computed, have 12 significant ones). What is absent is empty, never 0. The
//! columns and their order follow from the factors and metrics of the results alone.
//!
//! **Formulas.** A spreadsheet runs a cell that begins with `=`, `+`, `-`, `@`, a tab or a line break. Text of that kind gets an
//! apostrophe in front, and so does text that begins with apostrophes before such a sign, so that taking one away gives the text
//! back. Numbers are never touched, nor is text that is a number (a level `-5`).
//!
//! **Column names.** A factor or metric whose name another column already has is prefixed with `factor.` or `metric.`, as often as
//! needed. Factors yield to the fixed columns of *all* files, so that a factor has one name everywhere; metrics yield to factors too.

mod cells;
mod circumstances;
mod columns;
mod cpu;
mod dictionaries;
mod effects;
mod factorial;
mod samples;
mod summary;
mod trials;

pub use cells::text;
pub use circumstances::circumstances_csv;
pub use cpu::cpu_csv;
pub use dictionaries::{factors_csv, metrics_csv};
pub use effects::effects_csv;
pub use factorial::{interactions_csv, main_effects_csv};
pub use samples::{samples_head, samples_of};
pub use summary::summary_csv;
pub use trials::trials_csv;

use crate::model::estimate::Analysis;
use crate::model::results::Results;

/// The names of all files of a report, those that only some records have included.
pub const NAMES: [&str; 9] = [
    "trials.csv",
    "summary.csv",
    "effects.csv",
    "factors.csv",
    "metrics.csv",
    "main_effects.csv",
    "interactions.csv",
    "circumstances.csv",
    "cpu.csv",
];

/// The files of a report in the order of [`NAMES`].
#[must_use]
pub fn tables(results: &Results, analysis: &Analysis) -> Vec<(&'static str, Vec<u8>)> {
    let made = [
        Some(trials_csv(results)),
        Some(summary_csv(results, analysis)),
        Some(effects_csv(results, analysis)),
        Some(factors_csv(results)),
        Some(metrics_csv(results)),
        main_effects_csv(results, analysis),
        interactions_csv(results, analysis),
        circumstances_csv(results),
        (!analysis.cpu.is_empty()).then(|| cpu_csv(results, analysis)),
    ];
    NAMES.into_iter().zip(made).filter_map(|(name, bytes)| Some((name, bytes?))).collect()
}
