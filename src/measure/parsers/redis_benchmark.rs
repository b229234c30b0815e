//! `redis-benchmark` and `valkey-benchmark`: the report of a test, the line of `-q`, and the rows of `--csv`; of 6.2 and later with
//! latencies, of earlier versions the rate alone (their table of percentages says how many requests took at most 1 ms, 2 ms ...).
//!
//! Columns of `--csv` are found by their names; without a header a row is a name and a rate. Progress is overwritten with carriage
//! returns and is not read. A test that began and has no result was interrupted.
//! ok: at least one test, each that began has its result, a rate above 0, no error line, and the numbers agree with each other. An error
//! reply of the server ends the program before its first result. Without a server it tries for ever. Several tests in one output
//! (`-t set,get`): the last counts.

mod test;

use super::constants::{HIGHER, LOWER, info, pattern};
use super::plain_text::quoted;
use super::reading::Reading;
use super::{Parser, ToolOutput};
use crate::model::catalog::ParserInfo;
use crate::model::metric::{MetricInfo, Parsed, Unit};
use regex::Regex;
use std::sync::LazyLock;
use test::{Test, Tests};

/// The parser of `redis-benchmark`.
pub(super) struct RedisBenchmark;

const PERCENTILE: &str = "that percentile of the latency of a request (with -P of a whole pipeline); closed loop: a stall counts once per connection; from 6.2 on";

const METRICS: &[MetricInfo] = &[
    info("requests_per_second", "1/s", HIGHER, "as printed; of the last test when there are several"),
    info("requests", "1", None, "`requests completed`; only in the report, not with -q or --csv"),
    info("duration", "s", LOWER, "time of the test, in hundredths of a second; only in the report; absent when printed as 0.00"),
    info("latency_avg", "s", LOWER, "mean latency of a request (with -P of a whole pipeline); from 6.2 on"),
    info("latency_min", "s", LOWER, "smallest latency"),
    info("latency_max", "s", LOWER, "largest latency"),
    info("latency_p50", "s", LOWER, PERCENTILE),
    info("latency_p95", "s", LOWER, PERCENTILE),
    info("latency_p99", "s", LOWER, PERCENTILE),
];

/// Of fewer requests, the 99th percentile is one of them.
const FEWEST_FOR_P99: f64 = 1000.0;

static COMPLAINT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"^Could not connect to \S+ at .+|^Error(?: from server)?: .+|^ERROR: .+|^All clients disconnected\.\.\. aborting\.$|^(?:Invalid|Wrong) option ".+|^\S*sh: .*\b(?:redis|valkey)-benchmark: (?:command )?not found$"#,
    )
});

impl Parser for RedisBenchmark {
    fn info(&self) -> ParserInfo {
        ParserInfo {
            name: "redis-benchmark",
            about: "redis-benchmark and valkey-benchmark: requests per second and latencies",
            metrics: METRICS,
        }
    }

    fn parse(&self, output: &ToolOutput<'_>) -> Parsed {
        let mut reading = Reading::default();
        let text = output.both();
        for line in text.lines().map(str::trim) {
            if COMPLAINT.is_match(line) {
                reading.fail(quoted(line));
            } else if line.starts_with("WARNING: ") || line.starts_with("WARN: ") {
                reading.beware(quoted(line));
            }
        }
        let tests = Tests::read(&text);
        match tests.results.last() {
            // The test that is torn may be the last one: another may not pass for it.
            _ if tests.torn => reading.fail("a result of redis-benchmark is damaged or cut off"),
            Some(test) => tell(test, &mut reading),
            None => reading.fail("no result of redis-benchmark in the output"),
        }
        if tests.results.len() > 1 && !tests.torn {
            let names: Vec<&str> = tests.results.iter().map(|test| test.name.as_str()).collect();
            reading.beware(format!("several tests ({}): the last one counts", names.join(", ")));
        }
        reading.finish(output)
    }
}

fn tell(test: &Test, reading: &mut Reading) {
    if test.contradicts_itself() {
        return reading.fail(
            "the result of redis-benchmark contradicts itself: its rate is not its requests over its time, or its latencies are not in order",
        );
    }
    reading.metric_if("requests_per_second", test.rate, Unit::PER_SECOND);
    reading.metric_if("requests", test.requests, Unit::ONE);
    reading.metric_if("duration", test.duration.filter(|duration| *duration > 0.0), Unit::SECOND);
    let mut below_resolution = Vec::new();
    for (name, seconds) in &test.latencies {
        match seconds {
            0.0 => below_resolution.push(*name),
            _ => reading.metric(name, *seconds, Unit::SECOND),
        }
    }
    if test.rate == Some(0.0) || test.requests == Some(0.0) {
        reading.fail("no request was completed");
    }
    if !below_resolution.is_empty() {
        reading.beware(format!("printed as 0.000, below the resolution, and therefore absent: {}", below_resolution.join(", ")));
    }
    if test.requests.is_some_and(|requests| requests > 0.0 && requests < FEWEST_FOR_P99) && !test.latencies.is_empty() {
        reading.beware("fewer than 1000 requests: their 99th percentile is one of the slowest ten");
    }
}
