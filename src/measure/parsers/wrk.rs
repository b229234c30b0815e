//! `wrk` 4: the report that it writes at its end, with `--latency`, and the exact numbers that a `done()` in Lua can add.
//!
//! Such a `done(summary, latency, requests)` prints one JSON object: `requests`, `duration_us`, `bytes`, `errors` (`connect`, `read`,
//! `write`, `status`, `timeout`) and `latency_us` (`min`, `mean`, `stdev`, `max` and percentiles `p50`, `p99`, `p999`). When it is there
//! and counts the same requests as the report, its numbers take the place of the rounded ones.
//!
//! ok: a complete report, at least one request, no socket error, no response of 400 or more, and its numbers agree with each other.
//! `wrk` leaves out the lines of errors when there are none: in a complete report absent is 0. A latency of 0 beside requests is no
//! latency, and one without its unit is no number: absent, and said. Several reports in one output: the last counts.

mod report;

use super::constants::{HIGHER, LOWER, info, pattern};
use super::plain_text::pieces;
use super::reading::Reading;
use super::{Parser, ToolOutput};
use crate::model::catalog::ParserInfo;
use crate::model::metric::{MetricInfo, Parsed, Unit};
use regex::Regex;
use report::{Report, Socket};
use std::sync::LazyLock;

/// The parser of `wrk`.
pub(super) struct Wrk;

const PERCENTILE: &str = "that percentile of the latency of all responses, error pages too, without those later than --timeout; closed loop: a stall counts once per connection; with --latency or from done()";
const THREAD: &str = "requests per second of one thread, read every 100 ms: not the total";

const METRICS: &[MetricInfo] = &[
    info("requests_per_second", "1/s", HIGHER, "responses over duration, error pages too; as printed, or from done()"),
    info("requests", "1", None, "responses; those still awaited at the end are counted nowhere"),
    info("errors", "1", LOWER, "socket errors of all kinds; 0 when the line is absent"),
    info("errors_connect", "1", LOWER, "socket errors while connecting; 0 when the line is absent"),
    info("errors_read", "1", LOWER, "socket errors while reading; 0 when the line is absent"),
    info("errors_write", "1", LOWER, "socket errors while writing; 0 when the line is absent"),
    info("errors_timeout", "1", LOWER, "responses later than --timeout; 0 when the line is absent"),
    info("non_2xx_3xx", "1", LOWER, "`Non-2xx or 3xx responses`: status 400 and more; 0 when the line is absent"),
    info("duration", "s", LOWER, "how long it really ran, with two decimals of the printed unit; from done() in us"),
    info("latency_avg", "s", LOWER, "mean of the same latencies as latency_p50"),
    info("latency_stdev", "s", LOWER, "standard deviation of the same latencies"),
    info("latency_min", "s", LOWER, "smallest latency; only from done()"),
    info("latency_max", "s", LOWER, "largest latency"),
    info("latency_p50", "s", LOWER, PERCENTILE),
    info("latency_p75", "s", LOWER, PERCENTILE),
    info("latency_p90", "s", LOWER, PERCENTILE),
    info("latency_p95", "s", LOWER, "as latency_p50; only from done()"),
    info("latency_p99", "s", LOWER, PERCENTILE),
    info("latency_p999", "s", LOWER, "as latency_p50; only from done()"),
    info("thread_requests_per_second_avg", "1/s", HIGHER, THREAD),
    info("thread_requests_per_second_stdev", "1/s", LOWER, THREAD),
    info("thread_requests_per_second_max", "1/s", HIGHER, THREAD),
    info("bytes", "B", None, "received, headers included; two decimals of the printed unit, exact from done()"),
    info("bytes_per_second", "B/s", HIGHER, "received per second; two decimals of the printed unit, or from done()"),
];

static COMPLAINT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^unable to (?:connect|resolve|create) .+|^number of connections must be >= threads$|^invalid URL: .+|^PANIC: .+|^(?:\S*/)?wrk: .+|^\S*sh: .*\bwrk: (?:command )?not found$",
    )
});

impl Parser for Wrk {
    fn info(&self) -> ParserInfo {
        ParserInfo { name: "wrk", about: "wrk: requests per second, latencies, socket errors and bad responses", metrics: METRICS }
    }

    fn parse(&self, output: &ToolOutput<'_>) -> Parsed {
        let mut reading = Reading::default();
        let text = output.both();
        reading.complain(&text, &COMPLAINT);
        let parts = pieces(&text, |line| line.starts_with("Running ") && line.contains(" test @ "));
        let reports: Vec<Report> = parts.into_iter().map(Report::read).collect();
        match reports.last().filter(|report| report.is_there()) {
            Some(report) => tell(report, &mut reading),
            None => reading.fail("no report of wrk in the output (killed by another signal than SIGINT it prints none)"),
        }
        if reports.len() > 1 {
            reading.beware("several reports of wrk: the last one counts");
        }
        reading.finish(output)
    }
}

fn tell(report: &Report, reading: &mut Reading) {
    counts(report, reading);
    latencies(report, reading);
    for (name, rate) in ["avg", "stdev", "max"].into_iter().zip(report.thread_rates) {
        reading.metric_if(&format!("thread_requests_per_second_{name}"), rate, Unit::PER_SECOND);
    }
    reading.metric_if("bytes", report.bytes, Unit::BYTE);
    reading.metric_if("bytes_per_second", report.bytes_per_second, Unit::BYTES_PER_SECOND);
    if !report.is_complete() {
        reading.fail("the report of wrk is damaged or cut off");
    } else if report.contradicts_itself() {
        reading.fail("the report of wrk contradicts itself: its rate is not its requests over its time, or its latencies are not in order");
    }
}

fn counts(report: &Report, reading: &mut Reading) {
    reading.metric_if("requests_per_second", report.rate, Unit::PER_SECOND);
    reading.metric_if("requests", report.requests, Unit::ONE);
    if report.requests == Some(0.0) {
        reading.fail("no request was completed");
    }
    // Only the end of the report says that a line is missing because there was nothing to count.
    let or_none = |there: bool| there || report.is_complete();
    if or_none(report.socket.is_some()) {
        let Socket { connect, read, write, timeout } = report.socket.unwrap_or_default();
        let errors = connect + read + write + timeout;
        let kinds = [("errors_connect", connect), ("errors_read", read), ("errors_write", write), ("errors_timeout", timeout)];
        reading.metric("errors", errors, Unit::ONE);
        kinds.into_iter().for_each(|(name, count)| reading.metric(name, count, Unit::ONE));
        if errors > 0.0 {
            reading.fail(format!("{errors} socket errors: {connect} connecting, {read} reading, {write} writing, {timeout} timed out"));
        }
        if timeout > 0.0 {
            reading.beware("the latencies of responses later than --timeout were dropped: all latencies are too low");
        }
    }
    if or_none(report.bad_status.is_some()) {
        let bad_status = report.bad_status.unwrap_or_default();
        reading.metric("non_2xx_3xx", bad_status, Unit::ONE);
        if bad_status > 0.0 {
            reading.fail(format!("{bad_status} responses were neither 2xx nor 3xx"));
        }
    }
    reading.metric_if("duration", report.duration.filter(|duration| *duration > 0.0), Unit::SECOND);
}

fn latencies(report: &Report, reading: &mut Reading) {
    let (latencies, zeros): (Vec<_>, Vec<_>) = report.latencies.iter().partition(|(_, seconds)| *seconds > 0.0);
    for (name, seconds) in latencies {
        reading.metric(name, *seconds, Unit::SECOND);
    }
    let zeros: Vec<&str> = zeros.into_iter().map(|(name, _)| name.as_str()).collect();
    if !zeros.is_empty() && report.requests != Some(0.0) {
        reading.beware(format!("printed as 0 beside requests, which is no latency, and therefore absent: {}", zeros.join(", ")));
    }
    if !report.unreadable.is_empty() {
        reading.beware(format!("printed without a number and its unit, and therefore absent: {}", report.unreadable.join(", ")));
    }
    if let Some(reason) = &report.no_json {
        reading.beware(format!("the JSON of done() does not count: {reason}"));
    }
}
