//! The charts of an experiment that declares none.

use super::factors::crossed;
use super::observed::carried;
use super::percentiles::{Family, families};
use super::strips::ROWS_PER_PAGE;
use crate::model::chart::{ChartDecl, ChartKind};
use crate::model::estimate::{Analysis, Verdict};
use crate::model::results::Results;

/// Declared metrics beside the primary one that get a chart of their own.
const MOST_OTHERS: usize = 4;

/// The effects on the primary metric against the baseline, and by factor where there are main effects; the primary metric over each numeric
/// factor, its ratios over two crossed factors, and lines where two factors depend on each other; all trials of every variant (and of every
/// workload, where a trial has several), and those of a few more metrics that the manifest declares; the percentiles of what it declares percentiles of; the
/// order of the trials where they drift. Where the record tells it, also where
/// the CPU time went, and one trial of each variant over time.
pub(super) fn charts(results: &Results, analysis: &Analysis, main: usize) -> Vec<ChartDecl> {
    let has_level = |metric: usize| analysis.levels.iter().any(|level| level.metric == metric);
    if !has_level(main) {
        return Vec::new();
    }
    let of_workloads = carried(results, main);
    let is_other =
        |metric: &usize| *metric != main && !of_workloads.contains(metric) && results.metrics[*metric].declared && has_level(*metric);
    let others = (0..results.metrics.len()).filter(is_other).take(MOST_OTHERS);
    let trials_of = |metric: usize| ChartDecl { metric: Some(results.metrics[metric].name.clone()), ..ChartDecl::of(ChartKind::Trials) };
    let one_page = results.variants.len() <= ROWS_PER_PAGE;
    let mut chosen = [ChartKind::Effects, ChartKind::MainEffects, ChartKind::Line, ChartKind::HeatMap].map(ChartDecl::of).to_vec();
    let name = &results.metrics[main].name;
    let different = analysis.interactions.iter().filter(|one| one.metric == *name && one.effect.verdict == Verdict::Different);
    let factor = |at: usize| results.factors.get(at).map(|factor| factor.name.to_string());
    let plot = |(one, other)| ChartDecl { x: factor(one), y: factor(other), ..ChartDecl::of(ChartKind::Interactions) };
    chosen.extend(crossed(different).into_iter().map(plot));
    chosen.push(ChartDecl::of(ChartKind::Trials));
    chosen.extend(others.filter(|_| one_page).map(trials_of));
    let families = families(results, analysis);
    let curves =
        |family: &Family| Some(ChartDecl { metric: Some(family.declared(results)?.to_owned()), ..ChartDecl::of(ChartKind::Percentiles) });
    chosen.extend(families.iter().filter_map(curves));
    chosen.extend(analysis.drift.as_ref().filter(|drift| drift.is_drifting()).map(|_| ChartDecl::of(ChartKind::Drift)));
    chosen.extend([ChartKind::Cpu, ChartKind::Series].map(ChartDecl::of));
    chosen
}
