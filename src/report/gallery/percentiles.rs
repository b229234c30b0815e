//! Families of percentiles, `latency_p50` to `latency_p9999`, as curves.

use super::Material;
use super::kinds::Absent;
use crate::analyse::level;
use crate::model::chart::ChartDecl;
use crate::model::estimate::Analysis;
use crate::model::percentile::{is_closed_loop, percentile};
use crate::model::results::Results;
use crate::report::charts::{Curve, Heading, MOST_CURVES, Measure, Percentiles, Profile, Role};
use std::collections::HashMap;

/// Percentiles that make a curve.
const FEWEST: usize = 3;
/// So many requests must lie beyond the last percentile that is shown.
const BEYOND: f64 = 10.0;

/// Percentiles of one thing.
pub(super) struct Family<'r> {
    /// What they are percentiles of: `latency`.
    pub(super) stem: &'r str,
    /// Indices of the metrics, with their shares.
    members: Vec<(usize, f64)>,
}

/// Every family that makes a curve, in the order of the metrics.
pub(super) fn families<'r>(results: &'r Results, analysis: &Analysis) -> Vec<Family<'r>> {
    let mut found: Vec<Family> = Vec::new();
    let has_level = |metric: usize| analysis.levels.iter().any(|level| level.metric == metric);
    for (metric, column) in results.metrics.iter().enumerate().filter(|(metric, _)| has_level(*metric)) {
        let Some((stem, share)) = percentile(&column.name) else { continue };
        match found.iter_mut().find(|family| family.stem == stem) {
            Some(family) => family.members.push((metric, share)),
            None => found.push(Family { stem, members: vec![(metric, share)] }),
        }
    }
    found.retain(|family| family.members.len() >= FEWEST);
    found
}

impl Family<'_> {
    /// Whether verdicts are about one of them, or the manifest declares one: its name.
    pub(super) fn declared<'r>(&self, results: &'r Results) -> Option<&'r str> {
        self.members.iter().map(|(metric, _)| &results.metrics[*metric]).find(|column| column.declared).map(|column| column.name.as_str())
    }

    /// What counts the requests of the same workload.
    fn requests(&self) -> String {
        self.workload().map_or_else(|| "requests".to_owned(), |workload| format!("{workload}.requests"))
    }

    fn workload(&self) -> Option<&str> {
        self.stem.split_once('.').map(|(workload, _)| workload)
    }
}

/// A trial: which variant it was of, and as far as its requests support them its percentiles.
struct Trial {
    variant: usize,
    profile: Profile,
    /// Whether percentiles were left out.
    cut: bool,
}

impl Material<'_> {
    /// The curves of the family that is meant, a page for every [`MOST_CURVES`] variants with the baseline on each, and its name.
    pub(super) fn percentiles(&self, chart: &ChartDecl) -> Result<(String, Vec<Percentiles>), Absent> {
        let families = families(self.results, self.analysis);
        let asked = chart.metric.as_deref().or(Some(&self.metric(self.main).name)).and_then(percentile).map(|(stem, _)| stem);
        let of_stem = |stem: &str| families.iter().find(|family| family.stem == stem);
        let declared = || families.iter().find(|family| family.declared(self.results).is_some()).or(families.first());
        let family = match (&chart.metric, asked.and_then(of_stem)) {
            (_, Some(family)) => family,
            (None, None) => declared().ok_or(Absent::Percentiles)?,
            (Some(_), None) => return Err(Absent::Percentiles),
        };
        let trials = self.profiles(family);
        let role = |variant: usize| self.role(variant);
        let all: Vec<usize> =
            self.order().into_iter().filter(|variant| role(*variant) != Role::Control && has_curve(&trials, *variant)).collect();
        if all.is_empty() {
            return Err(Absent::FewRequests);
        }
        let baseline: Vec<usize> = all.iter().copied().filter(|variant| role(*variant) == Role::Baseline).collect();
        let others: Vec<usize> = all.iter().copied().filter(|variant| role(*variant) == Role::Plain).collect();
        let sets: Vec<Vec<usize>> = if all.len() <= MOST_CURVES {
            vec![all]
        } else {
            others.chunks(MOST_CURVES - 1).map(|others| baseline.iter().chain(others).copied().collect()).collect()
        };
        let pages = sets.iter().map(|variants| self.page(chart, family, &trials, variants)).collect();
        Ok((family.stem.to_owned(), pages))
    }

    fn page(&self, chart: &ChartDecl, family: &Family, trials: &[Trial], variants: &[usize]) -> Percentiles {
        let of = |variant: usize| trials.iter().filter(move |trial| trial.variant == variant);
        let curve = |variant: &usize| Curve {
            label: self.name(*variant),
            role: self.role(*variant),
            hue: self.hue(*variant),
            trials: of(*variant).map(|trial| trial.profile.clone()).collect(),
            median: median(of(*variant)),
        };
        let is_cut = variants.iter().any(|variant| of(*variant).any(|trial| trial.cut));
        let Heading { title, subtitle } = self.heading(chart);
        let closed = if self.is_closed_loop(family) { "closed loop: service time at saturation · " } else { "" };
        let unit = self.metric(family.members[0].0).unit.clone();
        Percentiles {
            heading: Heading { title, subtitle: format!("{closed}{subtitle}") },
            measure: Measure { name: family.stem.to_owned(), unit, better: self.metric(family.members[0].0).better },
            curves: variants.iter().map(curve).collect(),
            remarks: is_cut.then(|| "of N requests not beyond 1 − 10/N".to_owned()).into_iter().collect(),
        }
    }

    /// The percentiles of each trial that counts.
    fn profiles(&self, family: &Family) -> Vec<Trial> {
        let shares: HashMap<&str, f64> =
            family.members.iter().map(|(metric, share)| (self.metric(*metric).name.as_str(), *share)).collect();
        let requests = family.requests();
        let rows = self.results.rows.iter().filter_map(|row| Some((row.counts()?, row)));
        rows.map(|(variant, row)| {
            let metrics = &row.row.metrics;
            let supported = metrics.iter().find(|metric| metric.name == requests).map_or(1.0, |metric| 1.0 - BEYOND / metric.value);
            let named = metrics.iter().filter_map(|metric| Some((*shares.get(metric.name.as_str())?, metric.value)));
            let all: Vec<(f64, f64)> = named.collect();
            // 1 - 10/1000 is a little less than 0.99.
            let values: Vec<(f64, f64)> = all.iter().copied().filter(|(share, _)| *share <= supported + 1e-9).collect();
            Trial { variant, cut: values.len() < all.len(), profile: Profile { values, tainted: !row.row.taints.is_empty() } }
        })
        .collect()
    }

    /// Whether every workload that these percentiles are of waits for an answer before it asks again.
    fn is_closed_loop(&self, family: &Family) -> bool {
        let workloads = self.results.variants.iter().flat_map(|variant| &variant.spec.workloads);
        let mut of_family = workloads.filter(|workload| family.workload().is_none_or(|name| name == workload.name)).peekable();
        of_family.peek().is_some() && of_family.all(is_closed_loop)
    }
}

fn has_curve(trials: &[Trial], variant: usize) -> bool {
    trials.iter().any(|trial| trial.variant == variant && !trial.profile.values.is_empty())
}

/// The median of the trials at each percentile that all of them have.
fn median<'t>(trials: impl Iterator<Item = &'t Trial>) -> Vec<(f64, f64)> {
    let profiles: Vec<&Profile> = trials.map(|trial| &trial.profile).filter(|profile| !profile.values.is_empty()).collect();
    let Some(first) = profiles.first() else { return Vec::new() };
    let at = |profile: &Profile, share: f64| profile.values.iter().find(|(other, _)| *other == share).map(|(_, value)| *value);
    let middle = |share: f64| {
        let values: Option<Vec<f64>> = profiles.iter().map(|profile| at(profile, share)).collect();
        Some((share, level(values?)?.median))
    };
    let mut found: Vec<(f64, f64)> = first.values.iter().filter_map(|(share, _)| middle(*share)).collect();
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    found
}
