//! The names of the columns that the design decides.

use super::cells::text;
use crate::model::results::Results;
use std::collections::HashSet;

/// The fixed columns of `trials.csv` before the factors.
pub(super) const TRIALS: [&str; 10] = ["run", "trial", "variant", "block", "position", "attempt", "outcome", "phase", "reason", "tainted"];
/// The column of `trials.csv` after those, where trials have private engines.
pub(super) const ENGINE_START: &str = "engine_start";
/// The fixed columns of `summary.csv` after the factors.
pub(super) const SUMMARY: [&str; 8] = ["metric", "unit", "n", "median", "low", "high", "min", "max"];
/// The columns of any effect: replicates, the ratio with its plain 95 % interval, and what may be said.
pub(super) const EFFECT: [&str; 6] = ["n", "ratio", "low", "high", "p_adjusted", "verdict"];
/// What else is known of it.
pub(super) const FURTHER: [&str; 3] = ["simultaneous_low", "simultaneous_high", "hodges_lehmann"];
/// What is compared in `effects.csv`.
const COMPARED: [&str; 2] = ["metric", "baseline"];
/// The family of a comparison, and whether its verdict hangs on little.
const FAMILY: [&str; 2] = ["kind", "fragile"];
/// The same without the tainted trials.
const CLEAN: [&str; 5] = ["clean_n", "clean_ratio", "clean_low", "clean_high", "clean_verdict"];

/// The columns of `main_effects.csv` before those of the effect.
pub(super) const MAIN_EFFECTS: [&str; 8] = ["metric", "factor", "level", "against", "at_factor", "at_level", "combinations", "depends_on"];
/// The columns of `interactions.csv` before those of the effect.
pub(super) const INTERACTIONS: [&str; 8] =
    ["metric", "factor", "level", "against", "other_factor", "other_level", "other_against", "combinations"];
/// The columns of `samples.csv`.
pub(super) const SAMPLES: [&str; 9] = ["run", "trial", "variant", "phase", "time_s", "subject", "quantity", "unit", "value"];

/// The fixed columns of `cpu.csv` after the factors.
pub(super) const CPU: [&str; 4] = ["part", "seconds_per_unit", "unit_of_work", "n"];

/// The fixed columns of `effects.csv` after the factors.
pub(super) fn effects() -> Vec<&'static str> {
    [&COMPARED[..], &EFFECT, &FAMILY, &FURTHER, &CLEAN].concat()
}

/// The factors' columns, the same in all files.
pub(super) fn factors(results: &Results) -> Vec<String> {
    let mut taken: Vec<String> =
        TRIALS.iter().chain(&SUMMARY).chain(&effects()).chain(&CPU).chain([&ENGINE_START]).map(|name| (*name).to_owned()).collect();
    results.factors.iter().map(|factor| free(text(&factor.name), "factor.", &mut taken)).collect()
}

/// The metrics' columns of `trials.csv`, beside those factors.
pub(super) fn metrics(results: &Results, factors: &[String]) -> Vec<String> {
    let mut taken: Vec<String> =
        TRIALS.iter().chain([&ENGINE_START]).map(|name| (*name).to_owned()).chain(factors.iter().cloned()).collect();
    results.metrics.iter().map(|metric| free(text(&metric.name), "metric.", &mut taken)).collect()
}

/// The names of the metrics that at least one row has: the others get no column.
pub(super) fn seen(results: &Results) -> HashSet<&str> {
    results.rows.iter().flat_map(|row| &row.row.metrics).map(|observation| observation.name.as_str()).collect()
}

/// The texts of a variant's levels, in the order of the factors; empty cells without a variant.
pub(super) fn levels(results: &Results, variant: Option<usize>) -> Vec<String> {
    let indices = variant.and_then(|variant| results.variants.get(variant)).map(|variant| variant.levels.as_slice());
    let level = |position: usize| {
        let index = usize::try_from(*indices?.get(position)?).ok()?;
        results.factors[position].levels.get(index).map(|level| text(level))
    };
    (0..results.factors.len()).map(|position| level(position).unwrap_or_default()).collect()
}

/// A header of fixed and other names.
pub(super) fn header(before: &[&str], between: &[String], after: &[&str]) -> Vec<String> {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    [owned(before), between.to_vec(), owned(after)].concat()
}

fn free(name: String, prefix: &str, taken: &mut Vec<String>) -> String {
    let mut name = name;
    while taken.contains(&name) {
        name.insert_str(0, prefix);
    }
    taken.push(name.clone());
    name
}
