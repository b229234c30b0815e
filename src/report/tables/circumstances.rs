//! `circumstances.csv`: long, what was read around every trial and what it means.

use super::cells::{Table, number, text};
use crate::model::hygiene::{State, find};
use crate::model::results::Results;

/// Its columns.
const COLUMNS: [&str; 10] = ["run", "trial", "variant", "block", "attempt", "check", "state", "value", "unit", "detail"];

/// One row per reading, trial by trial in the order of `trials.csv`; none when no trial has any. `state` is `ok`, `warn`, `taint` or
/// `not observable`, by the thresholds of the design; `value` is empty for the last.
#[must_use]
pub fn circumstances_csv(results: &Results) -> Option<Vec<u8>> {
    let mut table = Table::new(&COLUMNS.map(str::to_owned));
    let mut any = false;
    for row in &results.rows {
        let trial = &row.row;
        for (reading, state) in row.judged() {
            any = true;
            table.row(&[
                results.runs.get(row.run).map_or_else(String::new, |run| text(&run.run)),
                text(&trial.trial),
                text(&trial.variant),
                trial.block.to_string(),
                trial.attempt.to_string(),
                text(&reading.check),
                word(state).to_owned(),
                reading.value.map_or_else(String::new, number),
                find(&reading.check).map_or_else(String::new, |check| text(check.amount.unit().symbol())),
                text(reading.detail.as_deref().unwrap_or_default()),
            ]);
        }
    }
    any.then(|| table.bytes())
}

fn word(state: State) -> &'static str {
    match state {
        State::Unobservable => "not observable",
        State::Ok => "ok",
        State::Warn => "warn",
        State::Taint => "taint",
    }
}
