//! `httperf` 0.9: the report that it writes at its end.
//!
//! ok: a complete report, at least one reply, a reply to every request, no error, no reply of 400 or more, and its numbers agree with
//! each other: `httperf` exits with 0 when every connection was refused, and does not count as an error when the server closes a
//! connection without a reply. Its own `Reply rate` is a mean of samples of 5 seconds, and 0.0 in a shorter run: here the rate is replies
//! over time. Times are printed with 0.1 ms: `0.0` is below the resolution and therefore absent. Several reports: the last counts.

mod report;

use super::constants::{HIGHER, LOWER, info, pattern};
use super::plain_text::{pieces, quoted};
use super::reading::Reading;
use super::{Parser, ToolOutput};
use crate::model::catalog::ParserInfo;
use crate::model::metric::{MetricInfo, Parsed, Unit};
use regex::Regex;
use report::{ERRORS, Report};
use std::sync::LazyLock;

/// The parser of `httperf`.
pub(super) struct Httperf;

const CONNECTION: &str = "of the times from the start of a connection to its end, of those with a reply, in 0.1 ms";
const SAMPLES: &str = "of `Reply rate`: samples of 5 s; absent in shorter runs";

const METRICS: &[MetricInfo] = &[
    info("requests_per_second", "1/s", HIGHER, "replies over `test-duration`, error pages too"),
    info("requests", "1", None, "replies, of whatever status"),
    info("errors", "1", LOWER, "`Errors: total`"),
    info("errors_timeout", "1", LOWER, "`client-timo`: no progress within --timeout"),
    info("errors_socket_timeout", "1", LOWER, "`socket-timo`: the kernel gave up"),
    info("errors_refused", "1", LOWER, "`connrefused`"),
    info("errors_reset", "1", LOWER, "`connreset`"),
    info("errors_fd_unavailable", "1", LOWER, "`fd-unavail`: the client had no file descriptor left"),
    info("errors_address_unavailable", "1", LOWER, "`addrunavail`: the client had no port left"),
    info("errors_file_table_full", "1", LOWER, "`ftab-full`: the client's host had no file left"),
    info("errors_other", "1", LOWER, "`other`"),
    info("non_2xx_3xx", "1", LOWER, "replies of status 400 and more, or below 200"),
    info("requests_sent", "1", None, "requests that were sent whole"),
    info("connections", "1", None, "connections that were tried"),
    info("connections_per_second", "1/s", None, "`Connection rate`: connections over the time; the load that was offered, in 0.1 1/s"),
    info("connections_max", "1", None, "most connections at once"),
    info("duration", "s", LOWER, "`test-duration`"),
    info(
        "latency_avg",
        "s",
        LOWER,
        "mean time from the start of a request to the end of its reply: the sum of waiting_avg and transfer_avg; open loop: requests do not wait for replies",
    ),
    info(
        "waiting_avg",
        "s",
        LOWER,
        "`Reply time: response`: mean time from the start of a request to the first byte of its reply, in 0.1 ms",
    ),
    info("transfer_avg", "s", LOWER, "`Reply time: transfer`: mean time from the first byte of a reply to its last, in 0.1 ms"),
    info("connect_avg", "s", LOWER, "mean time to connect, in 0.1 ms"),
    info(
        "connection_time_avg",
        "s",
        LOWER,
        "mean of the times from the start of a connection to its end, of those with a reply, in 0.1 ms",
    ),
    info("connection_time_stdev", "s", LOWER, "standard deviation of the same times"),
    info("connection_time_min", "s", LOWER, CONNECTION),
    info("connection_time_max", "s", LOWER, CONNECTION),
    info("connection_time_p50", "s", LOWER, "median of the same times, the middle of a class of 1 ms"),
    info("requests_per_second_stdev", "1/s", LOWER, SAMPLES),
    info("requests_per_second_min", "1/s", HIGHER, SAMPLES),
    info("requests_per_second_max", "1/s", HIGHER, SAMPLES),
    info("reply_bytes_avg", "B", None, "`Reply size: total`: mean size of a reply, with its header"),
];

static COMPLAINT: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(?:\S*/)?httperf(?:\.\w+)?: .+|^\S*sh: .*\bhttperf: (?:command )?not found$"));

impl Parser for Httperf {
    fn info(&self) -> ParserInfo {
        ParserInfo {
            name: "httperf",
            about: "httperf: replies per second at an offered rate, reply times, errors by kind",
            metrics: METRICS,
        }
    }

    fn parse(&self, output: &ToolOutput<'_>) -> Parsed {
        let mut reading = Reading::default();
        let text = output.both();
        // Its warning of the limit of open files comes in every run; what it costs is counted in `fd-unavail`.
        for line in text.lines().map(str::trim).filter(|line| COMPLAINT.is_match(line) && !line.contains(": warning: ")) {
            reading.fail(quoted(line));
        }
        let reports: Vec<Report> = pieces(&text, |line| line.starts_with("httperf --")).into_iter().map(Report::read).collect();
        match reports.last() {
            Some(report) if report.is_there() => tell(report, &mut reading),
            _ if reports.iter().any(Report::is_there) => reading.fail("the last run of httperf has no report: it was interrupted"),
            _ => reading.fail("no report of httperf in the output"),
        }
        if reports.iter().filter(|report| report.is_there()).count() > 1 {
            reading.beware("several reports of httperf: the last one counts");
        }
        reading.finish(output)
    }
}

fn tell(report: &Report, reading: &mut Reading) {
    if report.contradicts_itself() {
        return reading.fail("the report of httperf contradicts itself: a rate is not its count over its time, a total not the sum of its parts, or its times are not in order");
    }
    if !report.is_complete() {
        reading.fail("the report of httperf is damaged or cut off");
    }
    counts(report, reading);
    times(report, reading);
    if let Some([min, _, max, stdev]) = report.reply_rates {
        reading.metric_if("requests_per_second_stdev", stdev, Unit::PER_SECOND);
        reading.metric_if("requests_per_second_min", min, Unit::PER_SECOND);
        reading.metric_if("requests_per_second_max", max, Unit::PER_SECOND);
    }
    reading.metric_if("reply_bytes_avg", report.reply_bytes.filter(|bytes| *bytes > 0.0), Unit::BYTE);
    if let Some((asked, made)) = report.asked_rate.zip(report.connection_rate).filter(|(asked, made)| *made < asked * 0.95) {
        reading.beware(format!(
            "asked for {asked} connections per second and made {made}: the client fell behind, or the last ones took long"
        ));
    }
}

fn counts(report: &Report, reading: &mut Reading) {
    if let Some(total) = &report.total {
        reading.metric("requests_per_second", total.replies / total.duration, Unit::PER_SECOND);
        reading.metric("requests", total.replies, Unit::ONE);
        if total.replies == 0.0 {
            reading.fail("no request was completed");
        }
        if total.requests > total.replies {
            reading.fail(format!("{} of {} requests got no reply", total.requests - total.replies, total.requests));
        }
    }
    if let Some(errors) = report.errors() {
        reading.metric("errors", errors.iter().sum(), Unit::ONE);
        ERRORS.iter().zip(errors).for_each(|((_, name, _), count)| reading.metric(name, count, Unit::ONE));
        let kinds: Vec<String> =
            ERRORS.iter().zip(errors).filter(|(_, count)| *count > 0.0).map(|((_, _, kind), count)| format!("{count} {kind}")).collect();
        if !kinds.is_empty() {
            reading.fail(format!("{} errors: {}", errors.iter().sum::<f64>(), kinds.join(", ")));
        }
    }
    if let Some([informational, _, _, client, server]) = report.statuses {
        let bad = informational + client + server;
        reading.metric("non_2xx_3xx", bad, Unit::ONE);
        if bad > 0.0 {
            reading.fail(format!("{bad} replies were neither 2xx nor 3xx: {client} were 4xx, {server} 5xx"));
        }
    }
    if let Some(total) = &report.total {
        reading.metric("requests_sent", total.requests, Unit::ONE);
        reading.metric("connections", total.connections, Unit::ONE);
    }
    reading.metric_if("connections_per_second", report.connection_rate, Unit::PER_SECOND);
    reading.metric_if("connections_max", report.connections_max, Unit::ONE);
}

fn times(report: &Report, reading: &mut Reading) {
    reading.metric_if("duration", report.total.as_ref().map(|total| total.duration), Unit::SECOND);
    let mut below_resolution = Vec::new();
    for (name, seconds) in report.times() {
        match seconds {
            Some(0.0) => below_resolution.push(name),
            seconds => reading.metric_if(name, seconds, Unit::SECOND),
        }
    }
    if !below_resolution.is_empty() && report.total.as_ref().is_some_and(|total| total.replies > 0.0) {
        reading.beware(format!("printed as 0.0, below the resolution, and therefore absent: {}", below_resolution.join(", ")));
    }
}
