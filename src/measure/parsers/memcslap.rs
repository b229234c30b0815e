//! `memcslap` (libmemcached-awesome 1.1): `Time to set  8000 keys by  4 threads:  0.388 seconds.`
//!
//! The same line without threads is the preparation of a `get` test. Keys that were not set or not found are not counted: the line
//! `Time to generate` tells how many there should be.
//! ok: a complete result, at least one key, as many keys as were made for all threads (`mget` aside), and no `Fatal error`: with none of its servers
//! there it prints its times and exits with 0. Several results in one output: the last counts.

use super::constants::{HIGHER, LOWER, info, pattern};
use super::plain_text::{pieces, quoted};
use super::reading::Reading;
use super::{Parser, ToolOutput, number};
use crate::model::catalog::ParserInfo;
use crate::model::metric::{MetricInfo, Parsed, Unit};
use regex::Regex;
use std::sync::LazyLock;

/// The parser of `memcslap`.
pub(super) struct Memcslap;

const METRICS: &[MetricInfo] = &[
    info("requests_per_second", "1/s", HIGHER, "keys over duration, computed: as rough as the whole milliseconds of the duration"),
    info("requests", "1", None, "keys that all threads set or got"),
    info("errors", "1", LOWER, "keys that were made for the threads and neither set nor found; absent for mget"),
    info("duration", "s", LOWER, "time of the test without its preparation, in whole ms; absent when printed as 0.000"),
];

/// Below this, whole milliseconds are more than 1 % of the time.
const SHORTEST_FINE: f64 = 0.05;

static GENERATED: LazyLock<Regex> = LazyLock::new(|| pattern(r"^Time to generate +(\d+) test keys: +\d+\.\d{3} seconds\.$"));
static RESULT: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^Time to (set|get|mget) +(\d+) keys by +(\d+) threads: +(\d+\.\d{3}) seconds\.$"));
static TOTAL: LazyLock<Regex> = LazyLock::new(|| pattern(r"^Time total: +\d+\.\d{3} seconds\.$"));
/// What comes before differs from key to key.
static FATAL: LazyLock<Regex> = LazyLock::new(|| pattern(r"^Fatal error for key '.*': (?:\(0x[0-9a-f]+\) )?(.+)$"));
static COMPLAINT: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(?:\S*/)?memcslap: .+$|^\S*sh: .*\bmemcslap: (?:command )?not found$"));

impl Parser for Memcslap {
    fn info(&self) -> ParserInfo {
        ParserInfo { name: "memcslap", about: "memcslap: keys set or got per second of memcached", metrics: METRICS }
    }

    fn parse(&self, output: &ToolOutput<'_>) -> Parsed {
        let mut reading = Reading::default();
        let text = output.both();
        for line in text.lines().map(str::trim) {
            if let Some(found) = FATAL.captures(line) {
                reading.fail(quoted(&found[1]));
            } else if COMPLAINT.is_match(line) {
                reading.fail(quoted(line));
            }
        }
        let runs = pieces(&text, |line| line.starts_with("Time to generate "));
        match runs.last().and_then(|run| Some((run, run.lines().rev().find_map(|line| RESULT.captures(line.trim()))?))) {
            Some((run, result)) => tell(run, &result, &mut reading),
            None => reading.fail("no result of memcslap in the output (`Time to set ... keys by ... threads`)"),
        }
        if text.lines().filter(|line| RESULT.is_match(line.trim())).count() > 1 {
            reading.beware("several results of memcslap: the last one counts");
        }
        reading.finish(output)
    }
}

fn tell(run: &str, result: &regex::Captures<'_>, reading: &mut Reading) {
    let made = run.lines().find_map(|line| number::count(&GENERATED.captures(line.trim())?[1]));
    let (Some(keys), Some(threads), Some(duration)) = (number::count(&result[2]), number::count(&result[3]), number::point(&result[4]))
    else {
        return reading.fail("the result of memcslap is damaged");
    };
    let expected = made.map(|made| made * threads).filter(|_| &result[1] != "mget");
    if expected.is_some_and(|expected| expected < keys) {
        return reading.fail("the result of memcslap contradicts itself: more keys than were made for its threads");
    }
    if duration > 0.0 {
        reading.metric("requests_per_second", keys / duration, Unit::PER_SECOND);
    }
    reading.metric("requests", keys, Unit::ONE);
    reading.metric_if("errors", expected.map(|expected| expected - keys), Unit::ONE);
    if duration > 0.0 {
        reading.metric("duration", duration, Unit::SECOND);
    }
    match expected {
        _ if keys == 0.0 => reading.fail("no key was set or found"),
        Some(expected) if keys < expected => reading.fail(format!("only {keys} of {expected} keys were set or found")),
        None if made.is_none() => reading.fail("the result of memcslap is damaged or cut off: `Time to generate` is missing"),
        _ => {}
    }
    if !run.lines().any(|line| TOTAL.is_match(line.trim())) {
        reading.fail("the result of memcslap is damaged or cut off: `Time total` is missing");
    }
    match duration {
        0.0 => reading.beware("printed as 0.000, below the resolution, and therefore absent: duration"),
        _ if duration < SHORTEST_FINE => {
            reading.beware("memcslap prints whole milliseconds, and the test took less than 50 of them: duration and rate are rough");
        }
        _ => {}
    }
}
