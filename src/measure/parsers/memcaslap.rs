//! `memcaslap` and `memaslap` (libmemcached): the counts and the last line `Run time: 2.1s Ops: 53415 TPS: 25582 Net_rate: 28.6M/s`.
//!
//! ok: a complete last line, at least one operation, nothing that failed its verification, and its numbers agree with each other and
//! with the counts before it. The tables of `--stat_freq` (`-S`) are interim and not read. Several results in one output: the last counts.

use super::constants::{HIGHER, LOWER, info, pattern};
use super::plain_text::pieces;
use super::reading::Reading;
use super::{Parser, ToolOutput, number};
use crate::model::catalog::ParserInfo;
use crate::model::metric::{MetricInfo, Parsed, Unit};
use regex::Regex;
use std::sync::LazyLock;

/// The parser of `memcaslap`.
pub(super) struct Memcaslap;

const METRICS: &[MetricInfo] = &[
    info("requests_per_second", "1/s", HIGHER, "`TPS`: gets and sets over the time, rounded to a whole number; misses count too"),
    info("requests", "1", None, "`Ops`: gets and sets"),
    info("duration", "s", LOWER, "`Run time`, in tenths of a second"),
    info("gets", "1", None, "`cmd_get`"),
    info("sets", "1", None, "`cmd_set`"),
    info("misses", "1", LOWER, "`get_misses`: gets whose key was not there"),
    info("errors", "1", LOWER, "`verify_failed`: gets that answered with another value; only with --verify"),
    info("read_bytes", "B", None, "received by the clients, protocol included"),
    info("write_bytes", "B", None, "sent by the clients, protocol included"),
    info("bytes_per_second", "B/s", HIGHER, "`Net_rate`: sent and received per second, in tenths of a MiB"),
];

/// The counts before the last line, and what they are called here.
const COUNTS: [(&str, &str, Unit); 6] = [
    ("cmd_get", "gets", Unit::ONE),
    ("cmd_set", "sets", Unit::ONE),
    ("get_misses", "misses", Unit::ONE),
    ("verify_failed", "errors", Unit::ONE),
    ("read_bytes", "read_bytes", Unit::BYTE),
    ("written_bytes", "write_bytes", Unit::BYTE),
];

static RESULT: LazyLock<Regex> = LazyLock::new(|| pattern(r"^Run time: +(\d+\.\d)s +Ops: +(\d+) +TPS: +(\d+) +Net_rate: +(\d+\.\d)M/s$"));
static COUNT: LazyLock<Regex> = LazyLock::new(|| pattern(r"^([a-z_]+): (\d+)$"));
static COMPLAINT: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(?:\S*/)?memc?aslap: .+$|^\S*sh: .*\bmemc?aslap: (?:command )?not found$"));

impl Parser for Memcaslap {
    fn info(&self) -> ParserInfo {
        ParserInfo { name: "memcaslap", about: "memcaslap and memaslap: gets and sets per second of memcached, misses", metrics: METRICS }
    }

    fn parse(&self, output: &ToolOutput<'_>) -> Parsed {
        let mut reading = Reading::default();
        let text = output.both();
        reading.complain(&text, &COMPLAINT);
        let runs = pieces(&text, |line| line.starts_with("servers: "));
        match runs.last().and_then(|run| Some((run, run.lines().rev().find_map(|line| RESULT.captures(line.trim()))?))) {
            Some((run, result)) => tell(&counts(run), &result, &mut reading),
            None => reading.fail("no result of memcaslap in the output (`Run time: ...`): it could not connect, or was interrupted"),
        }
        if text.lines().filter(|line| RESULT.is_match(line.trim())).count() > 1 {
            reading.beware("several results of memcaslap: the last one counts");
        }
        reading.finish(output)
    }
}

/// The counts of a run, by memcaslap's names; a count that stands there twice is none.
fn counts(run: &str) -> Vec<(String, Option<f64>)> {
    let mut found: Vec<(String, Option<f64>)> = Vec::new();
    for line in run.lines().filter_map(|line| COUNT.captures(line.trim())) {
        match found.iter_mut().find(|(name, _)| *name == line[1]) {
            Some((_, value)) => *value = None,
            None => found.push((line[1].to_owned(), number::count(&line[2]))),
        }
    }
    found
}

fn tell(counts: &[(String, Option<f64>)], result: &regex::Captures<'_>, reading: &mut Reading) {
    let count = |name: &str| counts.iter().find(|(known, _)| known == name).and_then(|(_, value)| *value);
    let (Some(duration), Some(requests), Some(rate), Some(mebibytes)) =
        (number::point(&result[1]), number::count(&result[2]), number::count(&result[3]), number::point(&result[4]))
    else {
        return reading.fail("the result of memcaslap is damaged");
    };
    let (gets, sets) = (count("cmd_get"), count("cmd_set"));
    // Tenths of a second: a run of 0.3 s is only known to a sixth.
    let wrong_rate = rate > 0.0 && (requests / rate - duration).abs() > 0.06 + duration * 0.01;
    let wrong_sum = gets.zip(sets).is_some_and(|(gets, sets)| gets + sets != requests);
    let too_many = gets.zip(count("get_misses")).is_some_and(|(gets, misses)| gets < misses);
    if wrong_rate || wrong_sum || too_many {
        return reading.fail(
            "the result of memcaslap contradicts itself: its rate is not its requests over its time, or they are not its gets and sets",
        );
    }
    reading.metric("requests_per_second", rate, Unit::PER_SECOND);
    reading.metric("requests", requests, Unit::ONE);
    if duration > 0.0 {
        reading.metric("duration", duration, Unit::SECOND);
    }
    for (theirs, name, unit) in COUNTS {
        reading.metric_if(name, count(theirs), unit);
    }
    reading.metric("bytes_per_second", mebibytes * 1_048_576.0, Unit::BYTES_PER_SECOND);
    if requests == 0.0 {
        reading.fail("no request was completed");
    }
    if let Some(failed) = count("verify_failed").filter(|failed| *failed > 0.0) {
        reading.fail(format!("{failed} gets answered with another value than was set"));
    }
    if gets.is_none() || sets.is_none() {
        reading.fail("the result of memcaslap is damaged or cut off: its gets or sets are missing");
    }
    if let Some(misses) = count("get_misses").filter(|misses| *misses > 0.0) {
        reading.beware(format!("{misses} gets missed, which is less work than a hit: memcached had no room for the keys"));
    }
}
