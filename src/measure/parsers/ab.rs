//! `ab` (ApacheBench 2.3): the report on standard output, and the finer percentiles of `-e /dev/stdout`.
//!
//! ok: a complete report, at least one request complete, no failed request, no write error, every response 2xx, and its numbers
//! agree with each other. Requests that failed by their length alone are failures too: `ab` compares with the first response and
//! cannot tell a dynamic page from a torn one. Whose pages differ in length says so with `-l`, and `ab` counts none.
//!
//! `ab` leaves out the lines of non-2xx responses and write errors when there are none: in a complete report absent is 0.
//! Its table and percentiles are whole milliseconds, and 0 is below that resolution and therefore absent.
//! Several reports in one output: the last counts.

mod report;

use super::constants::{HIGHER, LOWER, info};
use super::plain_text::{pieces, quoted};
use super::reading::Reading;
use super::{Parser, ToolOutput};
use crate::model::catalog::ParserInfo;
use crate::model::metric::{MetricInfo, Parsed, Unit};
use report::Report;

/// The parser of `ab`.
pub(super) struct Ab;

const PERCENTILE: &str = "within this time that percentage of the requests was served; with 0.001 ms from `-e /dev/stdout`, otherwise rounded by ab to whole ms; absent when printed as 0";

const METRICS: &[MetricInfo] = &[
    info(
        "requests_per_second",
        "1/s",
        HIGHER,
        "as printed: complete requests over `Time taken for tests`; failed and non-2xx ones count too",
    ),
    info("requests", "1", None, "`Complete requests`"),
    info("errors", "1", LOWER, "`Failed requests`, as ab counts them: with -r one reset connection counts three times"),
    info(
        "non_2xx",
        "1",
        LOWER,
        "`Non-2xx responses`; ab counts them apart from the failed ones, and some in both; 0 when the line is absent",
    ),
    info("errors_connect", "1", LOWER, "failed requests by kind; absent when none failed"),
    info("errors_receive", "1", LOWER, "failed requests by kind; absent when none failed"),
    info(
        "errors_length",
        "1",
        LOWER,
        "failed requests by kind: another length than the first response (none with -l); absent when none failed",
    ),
    info("errors_exceptions", "1", LOWER, "failed requests by kind; absent when none failed"),
    info("errors_write", "1", LOWER, "`Write errors`; 0 when the line is absent"),
    info("duration", "s", LOWER, "`Time taken for tests`; absent when printed as 0.000"),
    info("time_per_request", "s", LOWER, "`Time per request (mean)`: concurrency times duration over requests, in 0.001 ms"),
    info("latency_avg", "s", LOWER, "mean of the row `Total`, in whole ms; absent when printed as 0"),
    info("latency_stdev", "s", LOWER, "standard deviation of the row `Total`, in 0.1 ms; absent with -S and when printed as 0.0"),
    info("latency_min", "s", LOWER, "smallest time of a request; resolution as latency_p50"),
    info("latency_max", "s", LOWER, "largest time of a request; resolution as latency_p50"),
    info("latency_p50", "s", LOWER, PERCENTILE),
    info("latency_p66", "s", LOWER, PERCENTILE),
    info("latency_p75", "s", LOWER, PERCENTILE),
    info("latency_p80", "s", LOWER, PERCENTILE),
    info("latency_p90", "s", LOWER, PERCENTILE),
    info("latency_p95", "s", LOWER, PERCENTILE),
    info("latency_p98", "s", LOWER, PERCENTILE),
    info("latency_p99", "s", LOWER, PERCENTILE),
    info("connect_avg", "s", LOWER, "mean time to connect, in whole ms; absent when printed as 0"),
    info("connect_max", "s", LOWER, "largest time to connect, in whole ms; absent when printed as 0"),
    info("processing_avg", "s", LOWER, "mean time from the connection to the end of the response, in whole ms; absent when printed as 0"),
    info(
        "processing_max",
        "s",
        LOWER,
        "largest time from the connection to the end of the response, in whole ms; absent when printed as 0",
    ),
    info("waiting_avg", "s", LOWER, "mean time from the request to the first byte of the response, in whole ms; absent when printed as 0"),
    info("waiting_max", "s", LOWER, "largest time from the request to the first byte, in whole ms; absent when printed as 0"),
    info("keepalive_requests", "1", None, "`Keep-Alive requests`: responses that kept their connection; absent without -k"),
    info("bytes", "B", None, "`Total transferred`: received, with headers"),
    info("body_bytes", "B", None, "`HTML transferred`: received, without headers"),
    info("bytes_per_second", "B/s", HIGHER, "`Transfer rate` received (its Kbytes are 1024 bytes)"),
];

impl Parser for Ab {
    fn info(&self) -> ParserInfo {
        ParserInfo { name: "ab", about: "ApacheBench: requests per second, latencies, failed and non-2xx requests", metrics: METRICS }
    }

    fn parse(&self, output: &ToolOutput<'_>) -> Parsed {
        let mut reading = Reading::default();
        let text = output.both();
        let mut reports: Vec<Report> =
            pieces(&text, |line| line.starts_with("This is ApacheBench, ")).into_iter().map(Report::read).collect();
        let several = reports.iter().filter(|report| report.is_there()).count() > 1;
        for complaint in reports.iter().flat_map(|report| &report.complaints) {
            reading.fail(quoted(complaint));
        }
        match reports.pop() {
            Some(report) => tell(&report, &mut reading),
            None => reading.fail("no report of ab in the output"),
        }
        if several {
            reading.beware("several reports of ab: the last one counts");
        }
        reading.finish(output)
    }
}

fn tell(report: &Report, reading: &mut Reading) {
    if report.html {
        reading.fail("ab wrote its report in HTML: leave out `-w`");
    } else if !report.is_there() {
        reading.fail("no report of ab in the output");
    } else {
        counts(report, reading);
        times(report, reading);
        sizes(report, reading);
        if !report.is_complete() {
            reading.fail("the report of ab is damaged or cut off");
        } else if report.contradicts_itself() {
            reading.fail("the report of ab contradicts itself: its rate is not its requests over its time, or its times are not in order");
        }
    }
    for warning in &report.warnings {
        reading.beware(quoted(warning));
    }
}

fn counts(report: &Report, reading: &mut Reading) {
    reading.metric_if("requests_per_second", report.rate, Unit::PER_SECOND);
    reading.metric_if("requests", report.complete, Unit::ONE);
    reading.metric_if("errors", report.failed, Unit::ONE);
    // Only the end of the report says that a line is missing because there was nothing to count.
    let or_none = |count: Option<f64>| count.or(report.is_complete().then_some(0.0));
    reading.metric_if("non_2xx", or_none(report.non_2xx), Unit::ONE);
    for (name, count) in ["errors_connect", "errors_receive", "errors_length", "errors_exceptions"].into_iter().zip(&report.kinds) {
        reading.metric(name, *count, Unit::ONE);
    }
    reading.metric_if("errors_write", or_none(report.write_errors), Unit::ONE);
    if report.complete == Some(0.0) {
        reading.fail("no request was completed");
    }
    if let Some(failed) = report.failed.filter(|failed| *failed > 0.0) {
        reading.fail(match report.kinds[..] {
            [_, _, length, _] if length == failed => {
                format!("{failed} failed requests: their length is not that of the first response; where pages differ, add `-l`")
            }
            [connect, receive, length, exceptions] => format!(
                "{failed} failed requests: {connect} connecting, {receive} receiving, {length} by their length, {exceptions} exceptions"
            ),
            _ => format!("{failed} failed requests"),
        });
    }
    if let Some(count) = report.write_errors.filter(|count| *count > 0.0) {
        reading.fail(format!("{count} write errors"));
    }
    if let Some(count) = report.non_2xx.filter(|count| *count > 0.0) {
        reading.fail(format!("{count} responses were not 2xx"));
    }
}

fn times(report: &Report, reading: &mut Reading) {
    reading.metric_if("duration", report.duration.filter(|duration| *duration > 0.0), Unit::SECOND);
    reading.metric_if("time_per_request", report.time_per_request, Unit::SECOND);
    let mut below_resolution = Vec::new();
    for (name, seconds) in report.latencies() {
        if seconds > 0.0 {
            reading.metric(&name, seconds, Unit::SECOND);
        } else {
            below_resolution.push(name);
        }
    }
    for (name, seconds) in report.phases().filter(|(_, seconds)| *seconds > 0.0) {
        reading.metric(&name, seconds, Unit::SECOND);
    }
    if !below_resolution.is_empty() {
        reading.beware(format!("printed as 0, below the resolution, and therefore absent: {}", below_resolution.join(", ")));
    }
    if report.fine.is_empty() && !report.percentiles.is_empty() {
        reading.beware("the percentiles are rounded to whole milliseconds: `-e /dev/stdout` prints them with 0.001 ms");
    }
    if report.fine_is_torn {
        reading.beware("the table of `-e` is torn: the percentiles of the report, in whole milliseconds, count");
    }
}

fn sizes(report: &Report, reading: &mut Reading) {
    reading.metric_if("keepalive_requests", report.keepalive, Unit::ONE);
    reading.metric_if("bytes", report.bytes, Unit::BYTE);
    reading.metric_if("body_bytes", report.body_bytes, Unit::BYTE);
    reading.metric_if("bytes_per_second", report.bytes_per_second, Unit::BYTES_PER_SECOND);
}
