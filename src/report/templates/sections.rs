//! The tables of numbers: verdicts, and levels by metric.

use super::markdown::{code, text};
use super::number::{self, ABSENT, Scale};
use super::sentences::direction;
use super::view::{LevelLine, LevelTable, VerdictRow, VerdictTable};
use crate::analyse::primary;
use crate::model::estimate::{Analysis, Comparison, LevelRow, Subject, Verdict};
use crate::model::metric::Better;
use crate::model::plan::AA_SUFFIX;
use crate::model::results::Results;

/// The kinds of comparison, in the order of the page.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Primary,
    Workloads,
    Exploratory,
}

/// The comparisons in up to three tables: the primary family with the A/A control, pairs of workloads, and the exploratory rest.
pub(in crate::report) fn verdicts(results: &Results, analysis: &Analysis) -> Vec<VerdictTable> {
    let primary = primary(results).map(|metric| results.metrics[metric].name.as_str());
    let kind = |comparison: &Comparison| match comparison.subject {
        Subject::Workloads { .. } => Kind::Workloads,
        Subject::Variant(_) if Some(comparison.metric.as_str()) == primary => Kind::Primary,
        Subject::Variant(_) => Kind::Exploratory,
    };
    let table = |wanted: Kind, heading: &str, note: &str| VerdictTable {
        heading: heading.to_owned(),
        note: note.to_owned(),
        rows: analysis.comparisons.iter().filter(|c| kind(c) == wanted).filter_map(|c| verdict_row(results, c)).collect(),
    };
    let tables = [
        table(
            Kind::Primary,
            "Against the baseline",
            "p is adjusted over this table by Holm's method; the A/A control stands outside of it.",
        ),
        table(Kind::Workloads, "Workloads within a trial", "p is adjusted over the workloads of a variant by Holm's method."),
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
    let (subject, against) = match &comparison.subject {
        Subject::Variant(variant) => (variant_name(results, *variant)?, code(&results.variants.get(results.baseline)?.id)),
        Subject::Workloads { variant, against } => (code(&results.variants.get(*variant)?.id), code(against)),
    };
    let (ratio, ends) = number::ratio(effect.ratio, [effect.low, effect.high]);
    let copy = subject.starts_with('*');
    let verdict = match (effect.verdict, if copy { "" } else { direction(metric.better, effect.ratio) }) {
        (Verdict::Different | Verdict::DifferentSmall, better) if !better.is_empty() => {
            format!("**{}** ({better})", effect.verdict.words())
        }
        (Verdict::Undecided, _) => effect.verdict.words().to_owned(),
        _ => format!("**{}**", effect.verdict.words()),
    };
    Some(VerdictRow {
        subject,
        against,
        metric: code(&comparison.metric),
        ratio,
        interval: ends.map_or_else(|| ABSENT.to_owned(), |[low, high]| format!("{low} to {high}")),
        change: number::change(effect.ratio),
        n: effect.n.to_string(),
        p: effect.p_adjusted.map_or_else(|| ABSENT.to_owned(), number::probability),
        verdict,
    })
}

/// The levels, a table per metric: that of the primary metric, and those of the others.
pub(in crate::report) fn levels(results: &Results, analysis: &Analysis) -> (Vec<LevelTable>, Vec<LevelTable>) {
    let primary = primary(results);
    let table = |metric: usize| level_table(results, analysis, metric);
    let others = (0..results.metrics.len()).filter(|metric| Some(*metric) != primary);
    (primary.into_iter().filter_map(table).collect(), others.filter_map(table).collect())
}

fn level_table(results: &Results, analysis: &Analysis, metric: usize) -> Option<LevelTable> {
    let levels: Vec<&LevelRow> = analysis.levels.iter().filter(|level| level.metric == metric).collect();
    let largest = levels.iter().map(|level| level.estimate.median.abs()).reduce(f64::max)?;
    let metric = &results.metrics[metric];
    let scale = Scale::of(&metric.unit, largest);
    let line = |level: &&LevelRow| {
        let estimate = &level.estimate;
        let interval = match (estimate.low, estimate.high) {
            (Some(low), Some(high)) => format!("{} to {}", scale.bare(low), scale.bare(high)),
            _ => ABSENT.to_owned(),
        };
        Some(LevelLine {
            variant: variant_name(results, level.variant)?,
            n: estimate.n.to_string(),
            median: scale.bare(estimate.median),
            interval,
            min: scale.bare(estimate.min),
            max: scale.bare(estimate.max),
        })
    };
    let better = match metric.better {
        Some(Better::Higher) => "higher is better",
        Some(Better::Lower) => "lower is better",
        None => "",
    };
    Some(LevelTable {
        metric: code(&metric.name),
        unit: text(scale.symbol()),
        better: better.to_owned(),
        rows: levels.iter().filter_map(line).collect(),
    })
}

/// A variant's id; the A/A copy says what it is, and the baseline too.
fn variant_name(results: &Results, variant: usize) -> Option<String> {
    let id = &results.variants.get(variant)?.id;
    Some(match id.strip_suffix(AA_SUFFIX) {
        Some(original) => format!("*{} (A/A control)*", code(original)),
        None if variant == results.baseline => format!("{} (baseline)", code(id)),
        None => code(id),
    })
}
