//! `trials.csv`: wide, one row per attempt in the order in which they were recorded, failed and replaced ones and
//! primers included.

use super::cells::{Table, number, text};
use super::columns;
use crate::model::results::{ResultRow, Results};
use std::collections::HashMap;

/// The rows as they were recorded; metrics in base units. Of a variant that the design no longer has the factors' cells are empty.
///
/// `tainted` holds the keywords of what makes a good trial doubtful, separated by semicolons, such as `too-short` (its window was below
/// the design's smallest); empty means that nothing does. A tainted trial still counts in every statistic. A metric that no row has gets
/// no column; neither has `engine_start` when no trial ran on a private engine.
#[must_use]
pub fn trials_csv(results: &Results) -> Vec<u8> {
    let factors = columns::factors(results);
    let seen = columns::seen(results);
    let names = columns::metrics(results, &factors).into_iter().zip(&results.metrics);
    let (metrics, found): (Vec<String>, Vec<&str>) =
        names.map(|(column, metric)| (column, metric.name.as_str())).filter(|(_, name)| seen.contains(name)).unzip();
    let starts = results.rows.iter().any(|row| row.row.engine_start.is_some());
    let own: &[&str] = if starts { &[columns::ENGINE_START] } else { &[] };
    let mut table = Table::new(&[columns::header(&columns::TRIALS, &[], own), factors.clone(), metrics].concat());
    let places: HashMap<&str, usize> = found.iter().enumerate().map(|(place, name)| (*name, place)).collect();
    for row in &results.rows {
        let mut values = vec![String::new(); found.len()];
        for observation in &row.row.metrics {
            if let Some(place) = places.get(observation.name.as_str()) {
                values[*place] = number(observation.value);
            }
        }
        let start = starts.then(|| row.row.engine_start.map_or_else(String::new, |start| start.to_string()));
        table.row(&[fixed(results, row), start.into_iter().collect(), columns::levels(results, row.variant), values].concat());
    }
    table.bytes()
}

fn fixed(results: &Results, row: &ResultRow) -> Vec<String> {
    let trial = &row.row;
    let failure = trial.failure.as_ref();
    vec![
        results.runs.get(row.run).map_or_else(String::new, |run| text(&run.run)),
        text(&trial.trial),
        text(&trial.variant),
        trial.block.to_string(),
        trial.position.to_string(),
        trial.attempt.to_string(),
        trial.outcome.name().to_owned(),
        failure.map_or_else(String::new, |failure| failure.phase.name().to_owned()),
        failure.map_or_else(String::new, |failure| text(&failure.reason)),
        text(&trial.taints.join(";")),
    ]
}
