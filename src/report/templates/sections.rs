//! The tables of numbers: verdicts, and levels by metric.

use super::inline::{Inline, code, emphasis};
use super::judged::{self, Case};
use super::number::{self, ABSENT, Scale};
use super::sentences::{self, workload};
use super::view::{LevelLine, LevelTable, VerdictRow, VerdictTable};
use crate::analyse::primary;
use crate::model::estimate::{Analysis, Comparison, LevelRow, Subject};
use crate::model::metric::Better;
use crate::model::outcome::Outcome;
use crate::model::plan::AA_SUFFIX;
use crate::model::plan::SavedVariant;
use crate::model::results::{MetricColumn, Results};
use std::collections::BTreeMap;

/// The kinds of comparison, in the order of the page.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Primary,
    Workloads,
    Exploratory,
}

/// What the mark means.
pub(super) const FRAGILE: &str = "Fragile: the verdict hangs on few trials; a rank test, the Hodges-Lehmann estimate or the clean trials alone \
    say otherwise.";

/// The comparisons in up to three tables: the primary family with the A/A control, pairs of workloads, and the exploratory rest.
pub(in crate::report) fn verdicts(results: &Results, analysis: &Analysis) -> Vec<VerdictTable> {
    let primary = primary(results).map(|metric| results.metrics[metric].name.as_str());
    let kind = |comparison: &Comparison| match comparison.subject {
        Subject::Workloads { .. } => Kind::Workloads,
        Subject::Variant(_) if Some(comparison.metric.as_str()) == primary => Kind::Primary,
        Subject::Variant(_) => Kind::Exploratory,
    };
    let fragile = |wanted: Kind| analysis.comparisons.iter().any(|c| kind(c) == wanted && c.is_fragile() && !c.too_short);
    let table = |wanted: Kind, heading: &str, note: &str| VerdictTable {
        heading: heading.into(),
        note: if fragile(wanted) { format!("{note} {FRAGILE}") } else { note.to_owned() }.into(),
        rows: analysis.comparisons.iter().filter(|c| kind(c) == wanted).filter_map(|c| verdict_row(results, c)).collect(),
    };
    let adjusted = match results.design.correction.method() {
        Some(method) => format!("p is adjusted over this table by {method}'s method; the A/A control stands outside of it."),
        None => "p is not adjusted: each row may be called different by chance once in 20 times.".to_owned(),
    };
    let tables = [
        table(Kind::Primary, "Against the baseline", &adjusted),
        table(
            Kind::Workloads,
            "Workloads of the same trials",
            "Each pair is of one trial: what disturbs both leaves their ratio alone. p is adjusted over the workloads of a variant by Holm's method.",
        ),
        table(
            Kind::Exploratory,
            "Other metrics (exploratory)",
            "p is adjusted over this table by Benjamini and Hochberg's method: of what is called different here, up to one in twenty is expected to be chance.",
        ),
    ];
    tables.into_iter().filter(|table| !table.rows.is_empty()).collect()
}

fn verdict_row(results: &Results, comparison: &Comparison) -> Option<VerdictRow> {
    let effect = &comparison.effect;
    let metric = results.metrics.iter().find(|metric| metric.name == comparison.metric)?;
    let (subject, against, measured) = match &comparison.subject {
        Subject::Variant(variant) => {
            (variant_name(results, *variant)?, code(results.variants.get(results.baseline)?.id.as_str()), comparison.metric.as_str())
        }
        Subject::Workloads { variant, against } => pair_names(results, *variant, &comparison.metric, against)?,
    };
    let copy = matches!(comparison.subject, Subject::Variant(variant) if results.variants[variant].is_copy());
    let pair = matches!(comparison.subject, Subject::Workloads { .. });
    // The copy of the baseline is neither better nor worse, and no workload is meant to win.
    let direction = if copy || pair { "" } else { sentences::direction(metric.better, effect.ratio) };
    let (ratio, interval) = judged::ratio(effect);
    Some(VerdictRow {
        subject,
        against,
        metric: code(measured),
        ratio,
        interval,
        simultaneous: judged::simultaneous(effect),
        hodges_lehmann: judged::hodges_lehmann(effect),
        change: judged::change(effect),
        n: Inline::from(sentences::replicates(effect, comparison.engine_starts)).of(effect.n as f64),
        p: judged::probability(effect),
        verdict: Case::of(comparison, direction).judged(),
        clean: clean(comparison).into(),
    })
}

/// What the clean trials alone say, where there are tainted ones.
fn clean(comparison: &Comparison) -> String {
    let Some(clean) = comparison.clean.as_ref().filter(|_| !comparison.too_short) else { return String::new() };
    match &clean.effect {
        Some(effect) => format!("clean (n = {}): {}, {}", effect.n, number::ratio(effect.ratio, [None; 2]).0, effect.verdict.words()),
        None => "clean: too few trials".to_owned(),
    }
}

/// What is compared, with what, and by which metric, for two workloads of one variant.
fn pair_names<'m>(results: &Results, variant: usize, over: &'m str, under: &str) -> Option<(Inline, Inline, &'m str)> {
    let place = code(results.variants.get(variant)?.id.as_str());
    Some(match workload(results, variant, over).zip(workload(results, variant, under)) {
        Some(((over, what), (under, _))) => (code(over).and(" in ").and(place), code(under), what),
        None => (place, code(under), over),
    })
}

/// The levels, a table per metric: those of the primary and the declared metrics, and those of the others.
pub(in crate::report) fn levels(results: &Results, analysis: &Analysis) -> (Vec<LevelTable>, Vec<LevelTable>) {
    let primary = primary(results);
    let tainted = tainted(results);
    let mut rows: Vec<Vec<&LevelRow>> = vec![Vec::new(); results.metrics.len()];
    for level in &analysis.levels {
        rows[level.metric].push(level);
    }
    let table = |metric: usize| level_table(results, metric, &rows[metric], &tainted);
    let is_named = |metric: &usize| Some(*metric) != primary && results.metrics[*metric].declared;
    let is_other = |metric: &usize| Some(*metric) != primary && !results.metrics[*metric].declared;
    let all = || 0..results.metrics.len();
    (primary.into_iter().chain(all().filter(is_named)).filter_map(table).collect(), all().filter(is_other).filter_map(table).collect())
}

/// By variant: how many of its good trials carry which taint.
fn tainted(results: &Results) -> Vec<String> {
    let mut counts: Vec<BTreeMap<&str, usize>> = vec![BTreeMap::new(); results.variants.len()];
    for row in results.rows.iter().filter(|row| row.row.outcome == Outcome::Ok && !row.superseded) {
        if let Some(of_variant) = row.variant.and_then(|variant| counts.get_mut(variant)) {
            row.row.taints.iter().for_each(|taint| *of_variant.entry(taint).or_default() += 1);
        }
    }
    let words = |(taint, count): (&str, usize)| format!("{count} {taint}");
    counts
        .into_iter()
        .map(|taints| if taints.is_empty() { "0".to_owned() } else { taints.into_iter().map(words).collect::<Vec<_>>().join(", ") })
        .collect()
}

fn level_table(results: &Results, metric: usize, levels: &[&LevelRow], tainted: &[String]) -> Option<LevelTable> {
    let largest = levels.iter().map(|level| level.estimate.median.abs()).reduce(f64::max)?;
    let metric = &results.metrics[metric];
    let scale = Scale::of(&metric.unit, largest);
    let shown = |level: &&LevelRow| [level.estimate.median, level.estimate.min, level.estimate.max];
    let bare = scale.column(&levels.iter().flat_map(shown).collect::<Vec<f64>>());
    let line = |level: &&LevelRow| {
        let estimate = &level.estimate;
        let interval = match (estimate.low, estimate.high) {
            (Some(low), Some(high)) => format!("{} to {}", bare(low), bare(high)),
            _ => ABSENT.to_owned(),
        };
        Some(LevelLine {
            variant: variant_name(results, level.variant)?,
            n: number::count(estimate.n),
            tainted: tainted.get(level.variant).cloned().unwrap_or_default().into(),
            median: Inline::from(bare(estimate.median)).of(estimate.median),
            interval: Inline::from(interval).of(estimate.low.unwrap_or(f64::NAN)),
            min: Inline::from(bare(estimate.min)).of(estimate.min),
            max: Inline::from(bare(estimate.max)).of(estimate.max),
        })
    };
    let better = match metric.better.filter(|better| metric.declared || !is_declared_otherwise(results, metric, *better)) {
        Some(Better::Higher) => "higher is better",
        Some(Better::Lower) => "lower is better",
        None => "",
    };
    Some(LevelTable {
        metric: code(metric.name.as_str()),
        unit: scale.symbol().into(),
        better: better.into(),
        rows: in_order(results, levels).iter().filter_map(line).collect(),
    })
}

/// Whether the same is measured of another workload, and declared with another direction: where more of `a.cpu_seconds` is better,
/// nothing is said of `b.cpu_seconds`.
fn is_declared_otherwise(results: &Results, metric: &MetricColumn, better: Better) -> bool {
    let what = |metric: &MetricColumn| metric.name.rsplit('.').next().map(str::to_owned);
    let same = |other: &&MetricColumn| other.declared && what(other) == what(metric);
    results.metrics.iter().filter(same).any(|other| other.better.is_some_and(|declared| declared != better))
}

/// Sorted by their variants' places.
fn in_order<'l>(results: &Results, levels: &[&'l LevelRow]) -> Vec<&'l LevelRow> {
    let mut ordered = levels.to_vec();
    ordered.sort_by_key(|level| place(results, level.variant));
    ordered
}

/// Where a variant stands in tables: in the order of the product, the A/A copy directly below the baseline.
pub(super) fn place(results: &Results, variant: usize) -> (usize, u8) {
    let copy = results.variants.get(variant).is_some_and(SavedVariant::is_copy);
    if copy { (results.baseline, 1) } else { (variant, 0) }
}

/// A variant's id; the A/A copy says what it is, and the baseline too.
pub(super) fn variant_name(results: &Results, variant: usize) -> Option<Inline> {
    let id = results.variants.get(variant)?.id.as_str();
    Some(match id.strip_suffix(AA_SUFFIX) {
        Some(original) => emphasis(code(original).and(" (A/A control)")),
        None if variant == results.baseline => code(id).and(" (baseline)"),
        None => code(id),
    })
}
