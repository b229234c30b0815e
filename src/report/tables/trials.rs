//! `trials.csv`: wide, one row per attempt in the order in which they were recorded, failed and replaced ones included.

use super::cells::{Table, number, text};
use super::columns;
use crate::model::outcome::Outcome;
use crate::model::results::{ResultRow, Results};
use std::collections::HashMap;

/// The rows as they were recorded; metrics in base units, taints separated by a semicolon. Of a variant that the design no longer has
/// the factors' cells are empty.
#[must_use]
pub fn trials_csv(results: &Results) -> Vec<u8> {
    let factors = columns::factors(results);
    let metrics = columns::metrics(results, &factors);
    let mut table = Table::new(&[columns::header(&columns::TRIALS, &factors, &[]), metrics].concat());
    let places: HashMap<&str, usize> = results.metrics.iter().enumerate().map(|(place, metric)| (metric.name.as_str(), place)).collect();
    for row in &results.rows {
        let mut values = vec![String::new(); results.metrics.len()];
        for observation in &row.row.metrics {
            if let Some(place) = places.get(observation.name.as_str()) {
                values[*place] = number(observation.value);
            }
        }
        table.row(&[fixed(results, row), columns::levels(results, row.variant), values].concat());
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
        match trial.outcome {
            Outcome::Ok => "ok".to_owned(),
            Outcome::Failed => "failed".to_owned(),
        },
        failure.map_or_else(String::new, |failure| failure.phase.name().to_owned()),
        failure.map_or_else(String::new, |failure| text(&failure.reason)),
        text(&trial.taints.join(";")),
    ]
}
