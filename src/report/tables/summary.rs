//! `summary.csv`: long, the level of every metric in every variant, the A/A copy included.

use super::cells::{Table, number, optional, text};
use super::columns;
use crate::model::estimate::Analysis;
use crate::model::results::Results;

/// One row per variant and metric that has an observation; `low` and `high` are the 95 % interval of the median, empty below n = 6.
#[must_use]
pub fn summary_csv(results: &Results, analysis: &Analysis) -> Vec<u8> {
    let mut table = Table::new(&columns::header(&["variant"], &columns::factors(results), &columns::SUMMARY));
    for row in &analysis.levels {
        let (Some(variant), Some(metric)) = (results.variants.get(row.variant), results.metrics.get(row.metric)) else { continue };
        let level = &row.estimate;
        let numbers = vec![
            text(&metric.name),
            text(metric.unit.symbol()),
            level.n.to_string(),
            number(level.median),
            optional(level.low),
            optional(level.high),
            number(level.min),
            number(level.max),
        ];
        table.row(&[vec![text(&variant.id)], columns::levels(results, Some(row.variant)), numbers].concat());
    }
    table.bytes()
}
