//! What units could have used, and did: quotas, threads, CPUs.

use super::span::{Span, UnitSpan};
use super::{largest, read, read_largest};
use crate::model::hygiene::Reading;

/// Counters may say a little more than is possible; a unit that used more than that has more threads than were seen.
const MOST: f64 = 1.05;

pub(super) fn readings(span: &Span<'_>) -> Vec<Reading> {
    let mut found = quotas(span);
    let workloads: Vec<UnitSpan<'_>> = span.units().filter(|unit| !unit.scope.is_service).collect();
    if !workloads.is_empty() {
        let check = if span.scope.has_service() { "generator" } else { "workload-threads" };
        let shares = workloads.iter().map(|unit| Some((used(span, unit)?, unit.scope.name.clone())));
        // The busiest is not known where one of them is not.
        let shares: Option<Vec<(f64, String)>> = shares.collect();
        found.push(read_largest(check, shares.unwrap_or_default().into_iter()));
    }
    found
}

fn quotas(span: &Span<'_>) -> Vec<Reading> {
    let limited: Vec<UnitSpan<'_>> = span.units().filter(|unit| unit.scope.quota.is_some()).collect();
    if limited.is_empty() {
        return Vec::new();
    }
    let name = |unit: &UnitSpan<'_>| unit.scope.name.clone();
    let periods: Option<Vec<_>> = limited.iter().map(|unit| Some((unit.periods()?, name(unit)))).collect();
    let throttled = periods.map(|all| all.into_iter().map(|((of, throttled), name)| (throttled as f64 / of.max(1) as f64, name)));
    let throttled = throttled.and_then(largest);
    let most = |(value, name): &(f64, String)| Reading::of("throttled-periods", *value).about(name.clone());
    let mut found = vec![throttled.as_ref().map_or_else(|| Reading::unobservable("throttled-periods"), most)];
    match throttled {
        Some((share, _)) if share > 0.0 => {} // the limit limited
        Some(_) => {
            let used = limited.iter().filter_map(|unit| Some((unit.cpu_seconds()? / (unit.scope.quota? * span.seconds), name(unit))));
            found.push(read_largest("cpu-limit-unused", used));
        }
        None => found.push(read("cpu-limit-unused", None)),
    }
    found
}

/// CPU time of a unit as a share of what its threads, quota and cpuset can use; none when its threads are not known and matter.
fn used(span: &Span<'_>, unit: &UnitSpan<'_>) -> Option<f64> {
    let cpus = unit.cpu_seconds()? / span.seconds;
    let cpuset = unit.scope.cpuset.map_or(f64::INFINITY, f64::from);
    let allowed = unit.scope.quota.unwrap_or(f64::INFINITY).min(cpuset).min(span.cpus()?);
    if allowed <= 1.0 {
        return Some(cpus / allowed);
    }
    let tasks = unit.begun.tasks.max(unit.ended.tasks)? as f64;
    Some(if cpus > tasks * MOST { cpus / allowed } else { cpus / allowed.min(tasks) })
}
