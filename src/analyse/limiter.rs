//! What held each variant back: the first of the suspects that the medians of its trials convict.

use super::hygiene::Medians;
use crate::model::estimate::Limiter;
use crate::model::results::{ResultRow, Results};
use std::collections::BTreeMap;

/// Above this share of one CPU the engine's helpers are at their limit: what they forward comes in bursts, so they never reach all of it.
const ONE_CPU: f64 = 0.8;
/// Above this share a generator, or the threads of a workload, have nothing left.
const THREADS: f64 = 0.85;
/// Above this share of its periods a quota is what holds a unit back.
const THROTTLED: f64 = 0.2;
/// Above this share a CPU, or all of them, are full.
const FULL: f64 = 0.95;
/// Above this share of the time a disk has no pause.
const DISK: f64 = 0.9;
/// Above this share of the time the memory is too small.
const MEMORY: f64 = 0.01;
/// Above this share a table of connections or a range of ports is about to be full.
const TABLE: f64 = 0.8;

/// A suspect: the check that reads it, from where on it is guilty, and what is said of it. `{share}` is what was read, `{detail}` what it is
/// about.
struct Suspect {
    check: &'static str,
    above: f64,
    words: &'static str,
}

const fn suspect(check: &'static str, above: f64, words: &'static str) -> Suspect {
    Suspect { check, above, words }
}

/// In the order of the protocol (after B. Gregg's active benchmarking): who measures comes before what is measured, and a part before the
/// whole.
static SUSPECTS: [Suspect; 13] = [
    suspect("generator", THREADS, "the load generator{detail}, at {share} of what its threads and limits allow"),
    suspect("busiest-proxy", ONE_CPU, "docker-proxy, one CPU at {share}"),
    suspect("engine-cpu", ONE_CPU, "the engine's own processes, {share} of one CPU"),
    suspect("throttled-periods", THROTTLED, "the CPU limit{detail}, throttled in {share} of its periods"),
    suspect("host-cpu", FULL, "the host's CPUs, all at {share}"),
    suspect("busiest-cpu", FULL, "one CPU at {share}{detail}"),
    suspect("workload-threads", THREADS, "the workload's own CPU time{detail}, {share} of what its threads and limits allow"),
    suspect("disk-busy", DISK, "a disk{detail}, busy for {share} of the time"),
    suspect("memory-pressure", MEMORY, "memory: all tasks waited for it for {share} of the time"),
    suspect("conntrack", TABLE, "the table of tracked connections, at {share}"),
    suspect("conntrack-drops", 0.0, "the table of tracked connections: packets were dropped"),
    suspect("ports", TABLE, "the generator's ephemeral ports, {share} in TIME_WAIT"),
    suspect("listen-drops", 0.0, "the queue of a listening socket: connections were refused"),
];

/// What is said when nothing is guilty.
const UNKNOWN: &str = "nothing that was observed: a lock, or latency";

/// The limiter of every variant that has readings, the A/A copy apart, which is the baseline again.
pub(super) fn limiters(results: &Results) -> Vec<Limiter> {
    let medians = Medians::of(results);
    let mut rows: Vec<Vec<&ResultRow>> = vec![Vec::new(); results.variants.len()];
    for row in &results.rows {
        if let Some(of_variant) = row.counts().and_then(|variant| rows.get_mut(variant)) {
            of_variant.push(row);
        }
    }
    let is_copy = |variant: usize| results.variants[variant].is_copy();
    let trials = rows.iter().enumerate().filter(|(variant, _)| !is_copy(*variant));
    trials.filter_map(|(variant, rows)| limiter(variant, rows, &medians)).collect()
}

fn limiter(variant: usize, rows: &[&ResultRow], medians: &Medians) -> Option<Limiter> {
    // Without this one nothing was read at all: an old record, or windows too short for counters.
    medians.of_variant("host-cpu", variant)?;
    let read = |suspect: &'static Suspect| Some((suspect, medians.of_variant(suspect.check, variant)?));
    Some(match SUSPECTS.iter().filter_map(read).find(|(suspect, value)| *value > suspect.above) {
        Some((suspect, value)) => Limiter { variant, check: Some(suspect.check), words: words(rows, suspect, value) },
        None => Limiter { variant, check: None, words: UNKNOWN.to_owned() },
    })
}

fn words(rows: &[&ResultRow], suspect: &Suspect, share: f64) -> String {
    let detail = detail(rows, suspect.check).map_or_else(String::new, |detail| format!(" ({detail})"));
    suspect.words.replace("{share}", &format!("{:.0} %", share * 100.0)).replace("{detail}", &detail)
}

/// What the readings of a check are about: what most of them name, without what only one trial can tell.
fn detail(rows: &[&ResultRow], check: &str) -> Option<String> {
    let readings = rows.iter().flat_map(|row| &row.row.readings).filter(|reading| reading.check == check);
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    readings.filter_map(|reading| reading.detail.as_deref()).for_each(|detail| *seen.entry(detail).or_default() += 1);
    let most = seen.into_iter().rev().max_by_key(|(_, count)| *count)?;
    Some(most.0.to_owned())
}
