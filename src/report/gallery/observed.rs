//! The trials, levels and ratios of the metrics that are drawn, read once from the results.

use crate::analyse::too_short;
use crate::model::estimate::{Analysis, Comparison, ENOUGH_ENGINE_STARTS, Estimate, Subject};
use crate::model::outcome::Outcome;
use crate::model::results::Results;
use crate::report::charts::Point;
use crate::report::templates::number;
use std::collections::{BTreeSet, HashMap};

/// Everything that charts show of the results, by metric and variant.
pub(super) struct Observed<'r> {
    points: HashMap<(usize, usize), Vec<Point>>,
    levels: HashMap<(usize, usize), &'r Estimate>,
    against_baseline: HashMap<(usize, usize), &'r Comparison>,
    against_workload: HashMap<(usize, usize), &'r Comparison>,
    /// Where the numbers come from, in one line.
    pub(super) source: String,
}

impl<'r> Observed<'r> {
    pub(super) fn of(results: &'r Results, analysis: &'r Analysis, wanted: &[usize]) -> Self {
        let names: HashMap<&str, usize> = wanted.iter().map(|metric| (results.metrics[*metric].name.as_str(), *metric)).collect();
        let mut points: HashMap<(usize, usize), Vec<Point>> = HashMap::new();
        let (mut counted, mut clean) = (0_usize, 0_usize);
        let mut blocks: BTreeSet<(usize, u32)> = BTreeSet::new();
        for row in results.rows.iter().filter(|row| !row.superseded && row.row.outcome == Outcome::Ok) {
            let Some(variant) = row.variant else { continue };
            let tainted = !row.row.taints.is_empty();
            counted += 1;
            blocks.insert((row.run, row.row.block));
            clean += usize::from(!tainted);
            for observation in &row.row.metrics {
                if let Some(metric) = names.get(observation.name.as_str()) {
                    points.entry((*metric, variant)).or_default().push(Point { value: observation.value, tainted });
                }
            }
        }
        let mut against_baseline = HashMap::new();
        let mut against_workload = HashMap::new();
        for comparison in &analysis.comparisons {
            let Some(metric) = names.get(comparison.metric.as_str()) else { continue };
            match &comparison.subject {
                Subject::Variant(variant) => against_baseline.insert((*metric, *variant), comparison),
                Subject::Workloads { variant, .. } => against_workload.insert((*metric, *variant), comparison),
            };
        }
        let source = source(results, blocks.len(), counted, clean, !too_short(results).is_empty());
        let levels = analysis.levels.iter().map(|level| ((level.metric, level.variant), &level.estimate)).collect();
        Self { points, levels, against_baseline, against_workload, source }
    }

    pub(super) fn points(&self, metric: usize, variant: usize) -> Vec<Point> {
        self.points.get(&(metric, variant)).cloned().unwrap_or_default()
    }

    pub(super) fn level(&self, metric: usize, variant: usize) -> Option<&Estimate> {
        self.levels.get(&(metric, variant)).copied()
    }

    /// The comparison with the baseline.
    pub(super) fn comparison(&self, metric: usize, variant: usize) -> Option<&'r Comparison> {
        self.against_baseline.get(&(metric, variant)).copied()
    }

    /// The ratio to the baseline, as the page writes it; empty without one.
    pub(super) fn ratio(&self, metric: usize, variant: usize) -> String {
        written(self.comparison(metric, variant))
    }

    /// The ratio to the first workload of the same trials; empty without one.
    pub(super) fn ratio_within(&self, metric: usize, variant: usize) -> String {
        written(self.against_workload.get(&(metric, variant)).copied())
    }
}

fn written(comparison: Option<&Comparison>) -> String {
    let Some(comparison) = comparison else { return String::new() };
    let effect = &comparison.effect;
    let ratio = number::ratio(effect.ratio, [effect.low, effect.high]).0;
    match comparison.lacks_engine_starts() {
        _ if comparison.too_short => format!("{ratio} (too short)"),
        Some(starts) => format!("{ratio} ({starts} of {ENOUGH_ENGINE_STARTS} engine starts)"),
        None => ratio,
    }
}

fn source(results: &Results, blocks: usize, counted: usize, clean: usize, short: bool) -> String {
    let newest = results.runs.last();
    let host = newest.map(|run| &run.started.host);
    let machine = host.map(|h| format!("{} × {}", h.cpus, if h.cpu_model.is_empty() { &h.arch } else { &h.cpu_model })).unwrap_or_default();
    let date = newest.map(|run| run.started.at.chars().take(10).collect::<String>()).unwrap_or_default();
    let seed = newest.map(|run| run.seed.to_string()).unwrap_or_default();
    let warning = if short { "TOO SHORT TO TRUST · " } else { "" };
    format!(
        "{warning}{blocks} randomised {}, seed {seed} · clean {clean} of {counted} trials · {machine} · {date}",
        if blocks == 1 { "block" } else { "blocks" }
    )
}

/// The metrics of all workloads that measure what `metric` measures of one: none where a trial has one workload only.
pub(super) fn carried(results: &Results, metric: usize) -> Vec<usize> {
    let mut workloads: Vec<&str> = Vec::new();
    for workload in results.variants.iter().flat_map(|variant| &variant.spec.workloads) {
        if !workloads.contains(&workload.name.as_str()) {
            workloads.push(&workload.name);
        }
    }
    let Some(what) = suffix(&workloads, &results.metrics[metric].name) else { return Vec::new() };
    let of = |workload: &&str| {
        let full = format!("{workload}.{what}");
        results.metrics.iter().position(|metric| metric.name == full)
    };
    workloads.iter().filter_map(of).collect()
}

fn suffix<'m>(workloads: &[&str], metric: &'m str) -> Option<&'m str> {
    workloads.iter().find_map(|workload| metric.strip_prefix(workload)?.strip_prefix('.'))
}
