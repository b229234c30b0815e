//! `effects.csv`: long, every comparison with its verdict, the primary family first.

use super::cells::{Table, computed, text};
use super::columns;
use crate::analyse::primary;
use crate::model::estimate::{Analysis, Comparison, Effect, Subject, Verdict, too_few_starts};
use crate::model::results::Results;

/// One row per comparison. `baseline` is the variant below the line, or, for two workloads of the same trials, the metric below it;
/// `low` and `high` are the plain 95 % interval; `p_adjusted` is empty outside a family (the A/A control) and without a test. A verdict on
/// windows that are too short says so, and is never just `different`; without a verdict for want of engine starts it is
/// `undecided, insufficient engine starts`. `n` counts engine starts where engines are compared. `kind` names the family: `primary`,
/// `control`, `workloads` or `exploratory`. The `clean_` columns are the same without the tainted trials: equal to the others where none is
/// tainted, and without numbers where too few trials are left.
#[must_use]
pub fn effects_csv(results: &Results, analysis: &Analysis) -> Vec<u8> {
    let mut table = Table::new(&columns::header(&["variant"], &columns::factors(results), &columns::effects()));
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
    let by_starts = comparison.engine_starts.is_some();
    // What is too short is tainted: no clean trial is.
    let clean = comparison.clean.as_ref().map_or(Some(&comparison.effect), |clean| clean.effect.as_ref());
    let clean = [
        clean.map_or(0, |effect| effect.n).to_string(),
        optional(clean.map(|effect| effect.ratio)),
        optional(clean.and_then(|effect| effect.low)),
        optional(clean.and_then(|effect| effect.high)),
        clean.map_or_else(|| Verdict::Undecided.words().to_owned(), |effect| verdict(effect, by_starts, false)),
    ];
    let cells = [
        vec![text(&results.variants.get(variant)?.id)],
        columns::levels(results, Some(variant)),
        vec![text(&comparison.metric), text(baseline)],
        numbers(&comparison.effect, verdict(&comparison.effect, by_starts, comparison.too_short)).to_vec(),
        vec![kind(results, comparison).to_owned(), comparison.is_fragile().to_string()],
        further(&comparison.effect).to_vec(),
        clean.to_vec(),
    ];
    Some(cells.concat())
}

/// The family that a comparison belongs to.
fn kind(results: &Results, comparison: &Comparison) -> &'static str {
    let is_primary = || primary(results).is_some_and(|metric| results.metrics[metric].name == comparison.metric);
    match comparison.subject {
        Subject::Workloads { .. } => "workloads",
        Subject::Variant(variant) if results.variants[variant].is_copy() => "control",
        Subject::Variant(_) if is_primary() => "primary",
        Subject::Variant(_) => "exploratory",
    }
}

/// The cells of [`columns::EFFECT`].
pub(super) fn numbers(effect: &Effect, verdict: String) -> [String; 6] {
    [effect.n.to_string(), computed(effect.ratio), optional(effect.low), optional(effect.high), optional(effect.p_adjusted), verdict]
}

/// The cells of [`columns::FURTHER`].
pub(super) fn further(effect: &Effect) -> [String; 3] {
    let simultaneous = effect.simultaneous;
    [optional(simultaneous.map(|(low, _)| low)), optional(simultaneous.map(|(_, high)| high)), optional(effect.hodges_lehmann)]
}

fn optional(value: Option<f64>) -> String {
    value.map_or_else(String::new, computed)
}

/// The verdict, with the reason why it is none.
pub(super) fn verdict(effect: &Effect, by_starts: bool, too_short: bool) -> String {
    let words = effect.verdict.words();
    if too_few_starts(by_starts.then_some(effect.n)).is_some() {
        return format!("{words}, insufficient engine starts");
    }
    if too_short && effect.verdict != Verdict::Undecided { format!("{words}, too short") } else { words.to_owned() }
}
