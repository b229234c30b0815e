//! `factors.csv` and `metrics.csv`: what the columns of the other files mean.

use super::cells::{Table, text};
use super::columns;
use crate::model::metric::{BUILTIN_METRICS, Better, TRIAL_METRICS};
use crate::model::outcome::Outcome;
use crate::model::results::{MetricColumn, Results};

/// One row per level: the column of its factor, the factor, the level's place from 1 and its text, whether the baseline has it, and how
/// many variants and trials have it (A/A copy apart; trials that ended well and were not replaced).
#[must_use]
pub fn factors_csv(results: &Results) -> Vec<u8> {
    let mut table = Table::new(&columns::header(&["column", "factor", "place", "level", "baseline", "variants", "trials"], &[], &[]));
    let is_copy = |variant: usize| results.variants[variant].is_copy();
    let mut trials = vec![0_usize; results.variants.len()];
    for row in results.rows.iter().filter(|row| row.row.outcome == Outcome::Ok && !row.superseded) {
        if let Some(count) = row.variant.and_then(|variant| trials.get_mut(variant)) {
            *count += 1;
        }
    }
    for (position, (factor, column)) in results.factors.iter().zip(columns::factors(results)).enumerate() {
        for (place, level) in factor.levels.iter().enumerate() {
            let has = |variant: usize| results.variants[variant].levels.get(position).is_some_and(|l| usize::try_from(*l) == Ok(place));
            let with: Vec<usize> = (0..results.variants.len()).filter(|variant| has(*variant) && !is_copy(*variant)).collect();
            table.row(&[
                column.clone(),
                text(&factor.name),
                (place + 1).to_string(),
                text(level),
                with.contains(&results.baseline).to_string(),
                with.len().to_string(),
                with.iter().map(|variant| trials[*variant]).sum::<usize>().to_string(),
            ]);
        }
    }
    table.bytes()
}

/// One row per metric: its column in `trials.csv` (empty for a declared one that no row has), its name, unit, direction (`higher`, `lower` or empty), whether verdicts are about it,
/// and what it is where that is known.
#[must_use]
pub fn metrics_csv(results: &Results) -> Vec<u8> {
    let mut table = Table::new(&columns::header(&["column", "metric", "unit", "better", "primary", "about"], &[], &[]));
    let names = columns::metrics(results, &columns::factors(results));
    let seen = columns::seen(results);
    for (metric, column) in results.metrics.iter().zip(names) {
        let better = match metric.better {
            Some(Better::Higher) => "higher",
            Some(Better::Lower) => "lower",
            None => "",
        };
        let about = text(about(results, metric));
        let column = if seen.contains(metric.name.as_str()) { column } else { String::new() };
        table.row(&[column, text(&metric.name), text(metric.unit.symbol()), better.to_owned(), metric.primary.to_string(), about]);
    }
    table.bytes()
}

/// What a metric is: in the user's words, else by its formula, else what the program knows of a built-in one.
fn about<'a>(results: &'a Results, metric: &'a MetricColumn) -> &'a str {
    let declared = results.presentation.metrics.iter().find(|declared| declared.name == metric.name);
    let said = declared.and_then(|declared| declared.about.as_deref().or(declared.expr.as_deref()));
    let last = metric.name.rsplit('.').next().unwrap_or(&metric.name);
    let built_in = || {
        let of_trials = TRIAL_METRICS.iter().find(|known| known.name == metric.name);
        of_trials.or_else(|| BUILTIN_METRICS.iter().find(|known| known.name == last)).map(|known| known.about)
    };
    said.or_else(built_in).unwrap_or_default()
}
