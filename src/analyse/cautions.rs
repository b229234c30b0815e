//! The sentences that a reader must see before the numbers.

use super::disturbed;
use super::families::Found;
use super::observed::{Key, Observed};
use super::order_statistics::level;
use super::primary;
use crate::model::estimate::{Comparison, ENOUGH_ENGINE_STARTS, Subject};
use crate::model::event::{CLOCK_STEP, TOO_SHORT, UNATTESTED};
use crate::model::experiment::Correction;
use crate::model::facts::engine_differences;
use crate::model::outcome::Outcome;
use crate::model::results::Results;
use std::collections::{BTreeMap, BTreeSet};

/// Below this many blocks an experiment is a first look.
const FEW_BLOCKS: usize = 3;

/// Above this many variants a caution names their number instead.
const MOST_NAMED: usize = 4;

/// All cautions, the gravest first. User's words stand in backticks.
pub(super) fn cautions(results: &Results, observed: &Observed, found: &Found) -> Vec<String> {
    let mut said: Vec<String> = said_too_short(results);
    if let Some((limit, taken)) = found.distrusted {
        said.push(format!(
            "the experiment calls two identical configurations different (the A/A control): something other than the factors moves the \
             numbers, so no effect up to {} of the baseline is believed{}",
            percent(limit),
            if taken > 0 { format!("; {} set to undecided", counted(taken, "verdict was", "verdicts were")) } else { String::new() },
        ));
    }
    said.extend(unusual(results, found));
    said.extend(tainted(results));
    said.extend(disturbed::disturbed(results, &found.comparisons));
    said.extend(few_blocks(results, found));
    said.extend(failed(results));
    said.extend(no_ratio(results, observed, found));
    said.extend(machines(results));
    said
}

/// What the manifest asks of the analysis that makes its verdicts weaker.
fn unusual(results: &Results, found: &Found) -> Vec<String> {
    let family = results.compared().saturating_sub(1);
    let mut said = Vec::new();
    if results.design.correction == Correction::None && family > 1 {
        said.push(format!(
            "`design.correction` is `none`: each of {family} comparisons may be called different by chance once in 20 times, so one of them \
             often is"
        ));
    }
    if let Some(unlike) = found.unlike {
        said.push(format!(
            "`design.variance` is `pooled`, but the noisiest variant has {} times the spread of the quietest: each verdict stands on the \
             spread of its own pairs instead",
            short(unlike)
        ));
    }
    said
}

/// The good trials of one variant that were flagged as too short.
#[derive(Default)]
struct Windows {
    /// The window of each, in seconds.
    seconds: Vec<f64>,
    flagged: usize,
    good: usize,
}

impl Windows {
    /// By variant, where there is one flagged trial at least.
    fn of(results: &Results) -> BTreeMap<usize, Self> {
        let mut all: BTreeMap<usize, Self> = BTreeMap::new();
        for row in &results.rows {
            let Some(variant) = row.counts().filter(|variant| *variant < results.variants.len()) else { continue };
            let windows = all.entry(variant).or_default();
            windows.good += 1;
            if row.row.taints.iter().any(|taint| taint == TOO_SHORT) {
                let walls = row.row.metrics.iter().filter(|o| o.name == "wall" || o.name.ends_with(".wall"));
                windows.seconds.extend(walls.map(|wall| wall.value).reduce(f64::min));
                windows.flagged += 1;
            }
        }
        all.retain(|_, windows| windows.flagged > 0);
        all
    }

    /// Whether so many are too short that no verdict is worth anything.
    fn is_hopeless(&self) -> bool {
        self.flagged * 2 >= self.good
    }

    fn words(&self) -> String {
        let window = level(self.seconds.clone()).map_or(String::new(), |all| format!("median window {} s, ", short(all.median)));
        format!("{window}{} of {}", self.flagged, counted(self.good, "trial", "trials"))
    }
}

/// The variants of which at least half of the good trials had too short a window: no verdict about them is worth anything.
#[must_use]
pub fn too_short(results: &Results) -> BTreeSet<usize> {
    Windows::of(results).into_iter().filter(|(_, windows)| windows.is_hopeless()).map(|(variant, _)| variant).collect()
}

fn said_too_short(results: &Results) -> Vec<String> {
    let (hopeless, some): (BTreeMap<_, _>, BTreeMap<_, _>) =
        Windows::of(results).into_iter().partition(|(_, windows)| windows.is_hopeless());
    let limit = short(results.design.min_window.as_secs_f64());
    let change = format!("raise the work so that a trial lasts at least {limit} s, or set `design.min_window` if a short window is meant");
    let mut said = Vec::new();
    if !hopeless.is_empty() {
        said.push(format!(
            "too short to trust: {}; below {limit} s start-up swamps what is compared, so no verdict on them holds: {change}",
            of_windows(results, &hopeless)
        ));
    }
    if !some.is_empty() {
        said.push(format!("some trials were shorter than {limit} s: {}; {change}", of_windows(results, &some)));
    }
    said
}

/// The variants with their windows. The A/A copy is the baseline again, and is named only where nothing else could be.
fn of_windows(results: &Results, all: &BTreeMap<usize, Windows>) -> String {
    let is_copy = |variant: usize| results.variants[variant].is_copy();
    let wanted: Vec<_> = all.iter().filter(|(variant, _)| all.len() == 1 || !is_copy(**variant)).collect();
    let name = |(variant, windows): &(&usize, &Windows)| format!("`{}` ({})", results.variants[**variant].id, windows.words());
    let mut names: Vec<String> = wanted.iter().take(MOST_NAMED).map(name).collect();
    if let more @ 1.. = wanted.len().saturating_sub(MOST_NAMED) {
        names.push(format!("{more} more"));
    }
    joined(&names)
}

pub(super) fn joined(names: &[String]) -> String {
    match names {
        [before @ .., last] if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        _ => names.concat(),
    }
}

/// Trials that count and that a sceptic would leave out for another reason than their length.
fn tainted(results: &Results) -> Vec<String> {
    let good: Vec<_> = results.rows.iter().filter(|row| row.counts().is_some()).collect();
    let told = |(keyword, what): (&str, &str)| {
        let some = good.iter().filter(|row| row.row.taints.iter().any(|taint| taint == keyword)).count();
        (some > 0).then(|| format!("{some} of {} {what} (`{keyword}`)", counted(good.len(), "trial", "trials")))
    };
    let kinds = [
        (UNATTESTED, "ran under a limit that was never seen in force: whether it held is not known"),
        (CLOCK_STEP, "ran while the engine's clock was set: their `wall` cannot be trusted"),
    ];
    kinds.into_iter().filter_map(told).collect()
}

fn few_blocks(results: &Results, found: &Found) -> Vec<String> {
    let keys: BTreeSet<Key> = results.rows.iter().filter(|row| row.counts().is_some()).map(|row| (row.run, row.row.block)).collect();
    if keys.is_empty() {
        return vec!["no trial has finished: there is nothing to compare".to_owned()];
    }
    if keys.len() < FEW_BLOCKS {
        let blocks = counted(keys.len(), "block", "blocks");
        return vec![format!("only {blocks}: take the numbers as a first look, not as an answer; 10 blocks are a good start")];
    }
    let mut said = Vec::new();
    if !found.unpaired.is_empty() {
        let names = named(results, &found.unpaired);
        said.push(format!("never measured in one block with the baseline, and so not compared: {names}"));
    }
    let metric = primary(results).map(|index| results.metrics[index].name.as_str());
    let of_family = || found.comparisons.iter().filter(|c| Some(c.metric.as_str()) == metric);
    let variant = |comparison: &Comparison| match comparison.subject {
        Subject::Variant(variant) if !results.variants[variant].is_copy() => Some(variant),
        _ => None,
    };
    let of_blocks = of_family().filter(|comparison| comparison.engine_starts.is_none());
    let thin: Vec<usize> = of_blocks.filter(|comparison| comparison.effect.n < FEW_BLOCKS).filter_map(variant).collect();
    if !thin.is_empty() {
        said.push(format!("fewer than {FEW_BLOCKS} blocks shared with the baseline: {}", named(results, &thin)));
    }
    let lacking = of_family().filter_map(|comparison| Some((comparison.lacks_engine_starts()?, variant(comparison)?)));
    let mut by_starts: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    lacking.for_each(|(starts, variant)| by_starts.entry(starts).or_default().push(variant));
    said.extend(by_starts.iter().map(|(starts, variants)| few_starts(results, *starts, variants)));
    said
}

/// Too few engine starts to say anything about these variants.
fn few_starts(results: &Results, starts: usize, variants: &[usize]) -> String {
    let declared = results.design.engine_starts.is_some_and(|declared| (declared as usize) < ENOUGH_ENGINE_STARTS);
    let help = if declared {
        format!("raise `design.engine_starts` to {ENOUGH_ENGINE_STARTS} at least")
    } else {
        "measure more blocks, each with starts of its own".to_owned()
    };
    format!(
        "insufficient engine starts ({starts} of {ENOUGH_ENGINE_STARTS}): no verdict on {}, of another engine than the baseline; no two \
         starts of an engine are alike, and trials under one start cannot show by how much; {help}",
        named(results, variants)
    )
}

fn failed(results: &Results) -> Option<String> {
    let of_design = results.rows.iter().filter(|row| row.variant.is_some() && !row.row.is_primer());
    let mut by_variant: BTreeMap<usize, usize> = BTreeMap::new();
    for row in of_design.clone().filter(|row| row.row.outcome == Outcome::Failed && !row.superseded) {
        *by_variant.entry(row.variant.unwrap_or_default()).or_default() += 1;
    }
    let failures: usize = by_variant.values().sum();
    let standing = of_design.filter(|row| !row.superseded).count();
    let variants: Vec<usize> = by_variant.into_keys().collect();
    (failures > 0).then(|| {
        let trials = counted(standing, "trial", "trials");
        format!(
            "{failures} of {trials} failed; no number holds them, which flatters what fails when it is slow: {}",
            named(results, &variants)
        )
    })
}

fn no_ratio(results: &Results, observed: &Observed, found: &Found) -> Vec<String> {
    let mut said = Vec::new();
    for (metric, (without, all)) in &found.nonpositive {
        let name = &results.metrics[*metric].name;
        let zero = (0..results.variants.len()).any(|v| observed.cell(*metric, v).iter().any(|(_, value)| *value == 0.0));
        let what = if zero { "zero or negative" } else { "negative" };
        let pairs = counted(*all, "pair holds", "pairs hold");
        said.push(format!(
            "`{name}`: {without} of {pairs} {what} values and have no ratio; with more than a fifth lost there is no verdict"
        ));
    }
    for (metric, comparisons) in &found.constant {
        let name = &results.metrics[*metric].name;
        let which = counted(*comparisons, "comparison has", "comparisons have");
        said.push(format!("`{name}`: {which} the same ratio in every block: no variation, cannot test"));
    }
    said
}

fn machines(results: &Results) -> Option<String> {
    let used: BTreeSet<usize> = results.rows.iter().filter(|row| row.counts().is_some()).map(|row| row.run).collect();
    let starts: Vec<_> = used.iter().filter_map(|run| results.runs.get(*run)).map(|run| &run.started).collect();
    let mut differences: Vec<String> = Vec::new();
    for pair in starts.windows(2) {
        let found = [pair[1].host.differences(&pair[0].host), engine_differences(&pair[1].engines, &pair[0].engines)].concat();
        differences.extend(found.into_iter().filter(|difference| !differences.contains(difference)).collect::<Vec<_>>());
    }
    (!differences.is_empty()).then(|| {
        format!("hosts or engines differ between the runs ({}): ratios are paired within a run, levels mix them", differences.join(", "))
    })
}

fn named(results: &Results, variants: &[usize]) -> String {
    let ids: Vec<String> =
        variants.iter().take(MOST_NAMED).filter_map(|v| results.variants.get(*v)).map(|v| format!("`{}`", v.id)).collect();
    match variants.len().saturating_sub(MOST_NAMED) {
        0 => ids.join(", "),
        more => format!("{} and {more} more", ids.join(", ")),
    }
}

pub(super) fn counted(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

pub(super) fn percent(fraction: f64) -> String {
    format!("{} %", short(fraction * 100.0))
}

/// Two significant digits, without a trailing zero.
pub(super) fn short(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return "0".to_owned();
    }
    let exponent: i32 = format!("{value:e}").rsplit('e').next().and_then(|digits| digits.parse().ok()).unwrap_or(0);
    let decimals = usize::try_from(1 - exponent).unwrap_or(0).min(12);
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}
