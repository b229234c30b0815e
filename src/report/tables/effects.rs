//! `effects.csv`: long, every comparison with its verdict, the primary family first.

use super::cells::{Table, computed, text};
use super::columns;
use crate::model::estimate::{Analysis, Comparison, Subject, Verdict};
use crate::model::results::Results;

/// One row per comparison. `baseline` is the variant below the line, or, for two workloads of the same trials, the metric below it;
/// `low` and `high` are the plain 95 % interval; `p_adjusted` is empty outside a family (the A/A control) and without a test. A verdict on
/// windows that are too short says so, and is never just `different`; without a verdict for want of engine starts it is
/// `undecided, insufficient engine starts`. `n` counts engine starts where engines are compared.
#[must_use]
pub fn effects_csv(results: &Results, analysis: &Analysis) -> Vec<u8> {
    let mut table = Table::new(&columns::header(&["variant"], &columns::factors(results), &columns::EFFECTS));
    for comparison in &analysis.comparisons {
        if let Some(cells) = row(results, comparison) {
            table.row(&cells);
        }
    }
    table.bytes()
}

fn row(results: &Results, comparison: &Comparison) -> Option<Vec<String>> {
    let (variant, baseline) = match &comparison.subject {
        Subject::Variant(variant) => (*variant, results.variants.get(results.baseline)?.id.as_str()),
        Subject::Workloads { variant, against } => (*variant, against.as_str()),
    };
    let effect = &comparison.effect;
    let optional = |value: Option<f64>| value.map_or_else(String::new, computed);
    let numbers = vec![
        text(&comparison.metric),
        text(baseline),
        effect.n.to_string(),
        computed(effect.ratio),
        optional(effect.low),
        optional(effect.high),
        optional(effect.p_adjusted),
        verdict(comparison),
    ];
    Some([vec![text(&results.variants.get(variant)?.id)], columns::levels(results, Some(variant)), numbers].concat())
}

fn verdict(comparison: &Comparison) -> String {
    let verdict = comparison.effect.verdict;
    if comparison.lacks_engine_starts().is_some() {
        return format!("{}, insufficient engine starts", verdict.words());
    }
    let doubted = comparison.too_short && verdict != Verdict::Undecided;
    if doubted { format!("{}, too short", verdict.words()) } else { verdict.words().to_owned() }
}
