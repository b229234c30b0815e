//! `locust` 1 and 2 without its web page: the `P_stats.csv` of `--csv P`, the array of `--json` on standard output, or the tables that
//! it prints on standard error. When there are several forms the CSV counts, else the JSON; the tables are rounded to whole milliseconds.
//! Of tables printed while it ran the last counts, and only with its percentiles, which end the final report.
//!
//! ok: a complete form whose numbers agree with each other, at least one request, no failure, no line of the level ERROR, and an end
//! that was reached. locust itself ends with exit code 1 as soon as one request failed.
//! Several runs in one output: the last counts.

mod json;
mod stats;
mod stats_csv;
mod tables;

use super::constants::{HIGHER, LOWER, info, pattern};
use super::few_samples::beware_of_few;
use super::plain_text::{pieces, quoted};
use super::reading::Reading;
use super::{Parser, ToolOutput};
use crate::model::catalog::ParserInfo;
use crate::model::metric::{MetricInfo, Parsed, Unit};
use regex::Regex;
use stats::Stats;
use std::sync::LazyLock;

/// The parser of `locust`.
pub(super) struct Locust;

const PERCENTILE: &str = "that percentile of the response times of all requests, failed ones too; locust counts them in whole ms, from 100 ms on with two digits; closed loop: a stall counts once per user";

const METRICS: &[MetricInfo] = &[
    info(
        "requests_per_second",
        "1/s",
        HIGHER,
        "requests, failed ones too, over the time that locust measured; with --json over the time from the first response to the last",
    ),
    info("requests", "1", None, "requests of all names, failed ones too"),
    info("errors", "1", LOWER, "failed requests"),
    info("latency_avg", "s", LOWER, "mean response time of all requests, failed ones too; whole ms in the tables"),
    info("latency_min", "s", LOWER, "smallest response time; whole ms in the tables, absent when printed as 0"),
    info("latency_max", "s", LOWER, "largest response time; whole ms in the tables"),
    info("latency_p50", "s", LOWER, PERCENTILE),
    info("latency_p66", "s", LOWER, PERCENTILE),
    info("latency_p75", "s", LOWER, PERCENTILE),
    info("latency_p80", "s", LOWER, PERCENTILE),
    info("latency_p90", "s", LOWER, PERCENTILE),
    info("latency_p95", "s", LOWER, PERCENTILE),
    info("latency_p98", "s", LOWER, PERCENTILE),
    info("latency_p99", "s", LOWER, PERCENTILE),
    info("latency_p999", "s", LOWER, PERCENTILE),
    info("latency_p9999", "s", LOWER, PERCENTILE),
    info("body_bytes", "B", None, "length of all response bodies; only with --json"),
];

/// `[2026-11-30 14:35:47,776] host/INFO/locust.main: text`
static LOG: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d+\] \S+/(INFO|WARNING|ERROR|CRITICAL)/\S+: (.+)$"));
static COMPLAINT: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(?:\S*/)?locust: error: .+|^Could not find '.+|^\S*sh: .*\blocust: (?:command )?not found$"));

impl Parser for Locust {
    fn info(&self) -> ParserInfo {
        ParserInfo {
            name: "locust",
            about: "locust: requests per second, response times and failures, from CSV, JSON or tables",
            metrics: METRICS,
        }
    }

    fn parse(&self, output: &ToolOutput<'_>) -> Parsed {
        let mut reading = Reading::default();
        let text = output.both();
        let parts = pieces(&text, |line| LOG.captures(line).is_some_and(|found| found[2].starts_with("Starting Locust ")));
        let last = parts.last().copied().unwrap_or_default();
        let (log, rest) = log_and_rest(last);
        reading.complain(&rest, &COMPLAINT);
        log_lines(&log, &mut reading);
        let forms = [stats_csv::read(&rest), json::read(&rest), tables::read(&rest)];
        let from_tables = forms[0].is_none() && forms[1].is_none();
        let mut forms = forms.into_iter().flatten();
        match forms.next() {
            Some(Ok(stats)) => {
                tell(&stats, &mut reading);
                if forms.flatten().any(|other| other.requests != stats.requests) {
                    reading.fail("the forms in which locust reports contradict each other: their requests differ");
                }
                if from_tables {
                    reading.beware("read from the tables of locust, in whole milliseconds: `--csv` and `--json` have more digits");
                }
                if stats.runs > 1 || parts.len() > 1 {
                    reading.beware("several runs of locust: the last one counts");
                }
            }
            Some(Err(reason)) => reading.fail(reason),
            None if reading.is_ok() => reading.fail("no report of locust in the output: neither CSV, nor JSON, nor its tables"),
            None => {}
        }
        reading.finish(output)
    }
}

/// The lines of the log, as level and text, and everything else: the log has JSON of its own (`All users spawned: {"U": 10}`).
fn log_and_rest(text: &str) -> (Vec<(String, String)>, String) {
    let (mut log, mut rest) = (Vec::new(), String::with_capacity(text.len()));
    for line in text.lines() {
        match LOG.captures(line.trim()) {
            Some(found) => log.push((found[1].to_owned(), found[2].to_owned())),
            None => {
                rest.push_str(line);
                rest.push('\n');
            }
        }
    }
    (log, rest)
}

fn log_lines(log: &[(String, String)], reading: &mut Reading) {
    for (level, line) in log {
        match level.as_str() {
            "ERROR" | "CRITICAL" => reading.fail(quoted(line)),
            "WARNING" => reading.beware(quoted(line)),
            _ => {}
        }
    }
    let says = |beginning: &str| log.iter().any(|(_, line)| line.starts_with(beginning));
    if says("Starting Locust ") && !says("Shutting down") {
        reading.fail("locust did not reach its end: there is no line `Shutting down`");
    }
    if let Some((_, line)) = log.iter().find(|(_, line)| line.starts_with("Ramping to ")).filter(|_| !says("All users spawned")) {
        reading.beware(format!("not all users were there before the end: {}", quoted(line)));
    }
}

fn tell(stats: &Stats, reading: &mut Reading) {
    reading.metric_if("requests_per_second", stats.rate, Unit::PER_SECOND);
    reading.metric("requests", stats.requests, Unit::ONE);
    reading.metric("errors", stats.failures, Unit::ONE);
    let (latencies, zeros): (Vec<_>, Vec<_>) = stats.latencies.iter().partition(|(_, seconds)| *seconds > 0.0);
    for (name, seconds) in &latencies {
        reading.metric(name, *seconds, Unit::SECOND);
    }
    reading.metric_if("body_bytes", stats.body_bytes, Unit::BYTE);
    if stats.requests == 0.0 {
        reading.fail("no request was made");
        return;
    }
    if stats.failures > 0.0 {
        reading.fail(format!("{} of {} requests failed", stats.failures, stats.requests));
        stats.kinds.iter().for_each(|kind| reading.fail(kind));
    }
    if let Some(reason) = &stats.contradiction {
        reading.fail(format!("the report of locust contradicts itself: {reason}"));
    }
    if !zeros.is_empty() {
        let zeros: Vec<&str> = zeros.into_iter().map(|(name, _)| name).collect();
        reading.beware(format!("printed as 0, below the resolution, and therefore absent: {}", zeros.join(", ")));
    }
    beware_of_few(reading, stats.requests, "requests", latencies.into_iter().map(|(name, _)| name));
}
