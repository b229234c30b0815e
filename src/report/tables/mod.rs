//! The CSV files: one row per trial, per level, per effect, per reading, per part of the CPU time, and the two dictionaries of factors and
//! metrics.
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
mod summary;
mod trials;

pub use cells::text;
pub use circumstances::circumstances_csv;
pub use cpu::cpu_csv;
pub use dictionaries::{factors_csv, metrics_csv};
pub use effects::effects_csv;
pub use summary::summary_csv;
pub use trials::trials_csv;
