//! The trials themselves, as far as a page can hold them.

use super::inline::{Inline, code, text};
use super::number::{self, ABSENT, Scale};
use super::view::{TrialLine, TrialTable};
use crate::analyse::primary;
use crate::model::results::{ResultRow, Results};

/// Most trials that a page lists; `trials.csv` has all.
const MOST_TRIALS: usize = 2000;

/// The trials in the order of the record, with the primary metric and the declared ones.
pub(in crate::report) fn trials(results: &Results) -> TrialTable {
    let primary = primary(results);
    let declared = (0..results.metrics.len()).filter(|metric| Some(*metric) != primary && results.metrics[*metric].declared);
    let metrics: Vec<usize> = primary.into_iter().chain(declared).collect();
    let shown = &results.rows[..results.rows.len().min(MOST_TRIALS)];
    let mut headings = Vec::new();
    let mut columns: Vec<Vec<Inline>> = Vec::new();
    for metric in metrics {
        let metric = &results.metrics[metric];
        let value = |row: &ResultRow| row.row.metrics.iter().find(|found| found.name == metric.name).map(|found| found.value);
        let values: Vec<Option<f64>> = shown.iter().map(value).collect();
        let known: Vec<f64> = values.iter().copied().flatten().collect();
        let Some(largest) = known.iter().map(|value| value.abs()).reduce(f64::max) else { continue };
        let scale = Scale::of(&metric.unit, largest);
        let bare = scale.column(&known);
        let cell = |value: Option<f64>| value.map_or_else(|| ABSENT.into(), |value| Inline::from(bare(value)).of(value));
        columns.push(values.into_iter().map(cell).collect());
        let unit = if scale.symbol().is_empty() { Inline::default() } else { text(format!(" ({})", scale.symbol())) };
        headings.push(code(metric.name.as_str()).and(unit));
    }
    let mut cells: Vec<_> = columns.into_iter().map(Vec::into_iter).collect();
    let line = |row: &ResultRow| line(results, row, cells.iter_mut().filter_map(Iterator::next).collect());
    let rows = shown.iter().map(line).collect();
    TrialTable { runs: if results.runs.len() > 1 { "yes".into() } else { Inline::default() }, metrics: headings, rows, note: note(results) }
}

fn line(results: &Results, row: &ResultRow, values: Vec<Inline>) -> TrialLine {
    let trial = &row.row;
    let replaced = if row.superseded { ", replaced" } else { "" };
    TrialLine {
        run: results.runs.get(row.run).map_or_else(Inline::default, |run| code(run.run.as_str())),
        trial: code(trial.trial.as_str()),
        variant: code(trial.variant.as_str()),
        block: Inline::from(trial.block.to_string()).of(f64::from(trial.block)),
        outcome: format!("{}{replaced}", trial.outcome.name()).into(),
        tainted: trial.taints.join(", ").into(),
        values,
    }
}

fn note(results: &Results) -> Inline {
    let all = results.rows.len();
    if all <= MOST_TRIALS {
        return Inline::default();
    }
    let number = |many: usize| number::significant(many as f64);
    format!("The first {} of {} trials; trials.csv has all of them.", number(MOST_TRIALS), number(all)).into()
}
