//! What units could have used, and did: quotas, threads, CPUs.

use super::largest;
use super::span::{Span, UnitSpan};
use crate::model::hygiene::Reading;

/// Counters may say a little more than is possible; a unit that used more than that has more threads than were seen.
const MOST: f64 = 1.05;

pub(super) fn readings(span: &Span<'_>) -> Vec<Reading> {
    let mut found = quotas(span);
    let workloads: Vec<UnitSpan<'_>> = span.units().filter(|unit| !unit.scope.is_service).collect();
    if !workloads.is_empty() {
        let check = if span.scope.has_service() { "generator" } else { "workload-threads" };
        // The busiest is not known where one of them is not.
        let shares: Option<Vec<_>> = workloads.iter().map(|unit| Some((used(span, unit)?, name(unit)))).collect();
        found.push(about_unit(workloads.len(), check, largest(shares.into_iter().flatten())));
    }
    found
}

fn quotas(span: &Span<'_>) -> Vec<Reading> {
    let limited: Vec<UnitSpan<'_>> = span.units().filter(|unit| unit.scope.quota.is_some()).collect();
    if limited.is_empty() {
        return Vec::new();
    }
    let periods: Option<Vec<_>> = limited.iter().map(|unit| Some((unit.periods()?, name(unit)))).collect();
    let shares = periods.into_iter().flatten().map(|((of, throttled), name)| (throttled as f64 / of.max(1) as f64, name));
    let throttled = largest(shares);
    // Where some period was, the limit limited.
    let unused = throttled.as_ref().is_none_or(|(share, _)| *share <= 0.0).then(|| {
        let used = limited.iter().filter_map(|unit| Some((unit.cpu_seconds()? / (unit.scope.quota? * span.seconds), name(unit))));
        largest(used).filter(|_| throttled.is_some())
    });
    let units = span.scope.units.len();
    let mut found = vec![about_unit(units, "throttled-periods", throttled)];
    found.extend(unused.map(|used| about_unit(units, "cpu-limit-unused", used)));
    found
}

fn name(unit: &UnitSpan<'_>) -> String {
    unit.scope.name.clone()
}

/// A reading of one of so many units, which is named where there are others.
fn about_unit(of: usize, check: &str, found: Option<(f64, String)>) -> Reading {
    match found {
        Some((value, name)) if of > 1 => Reading::of(check, value).about(name),
        Some((value, _)) => Reading::of(check, value),
        None => Reading::unobservable(check),
    }
}

/// CPU time of a unit as a share of what its threads, quota and cpuset can use; none when its threads are not known and matter.
fn used(span: &Span<'_>, unit: &UnitSpan<'_>) -> Option<f64> {
    let cpus = unit.cpu_seconds()? / span.seconds;
    let cpuset = unit.scope.cpuset.map_or(f64::INFINITY, f64::from);
    let allowed = unit.scope.quota.unwrap_or(f64::INFINITY).min(cpuset).min(span.cpus()?);
    if allowed <= 1.0 {
        return Some(cpus / allowed);
    }
    let tasks = unit.begun.tasks.max(unit.ended.tasks)?;
    // Threads that only wait for others use nothing, whatever is left for them.
    let working = tasks.saturating_sub(unit.begun.waiting).max(1) as f64;
    Some(if cpus > working * MOST { cpus / allowed } else { cpus / allowed.min(working) })
}
