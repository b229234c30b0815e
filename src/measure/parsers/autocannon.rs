//! `autocannon` 7 and 8: the JSON of `-j` on standard output, or its tables on standard error.
//!
//! ok: a complete report, at least one response, no error, every response 2xx, none with another body than the expected one, and its
//! numbers agree with each other: `autocannon` exits with 0 when every request timed out. In the text it leaves out the lines of
//! errors and of other responses than 2xx when there are none. Latencies are whole milliseconds, and 0 is below that resolution and
//! therefore absent; so is its smallest one, which is the smallest but 0. The text rounds bytes to three digits and counts of
//! thousands to thousands, which are no counts and therefore absent. Several reports in one output: the last counts.

mod document;
mod tables;

use super::constants::{HIGHER, LOWER, info, pattern};
use super::last_json::last_document;
use super::latencies::Latencies;
use super::plain_text::pieces;
use super::reading::Reading;
use super::{Parser, ToolOutput};
use crate::model::catalog::ParserInfo;
use crate::model::metric::{MetricInfo, Parsed, Unit};
use regex::Regex;
use std::sync::LazyLock;

/// The parser of `autocannon`.
pub(super) struct Autocannon;

const PERCENTILE: &str = "that percentile of the latency of all responses, error pages too, in whole ms; closed loop: a stall counts once per connection, unless with -R; absent when printed as 0";
const SAMPLES: &str = "of the samples of one second";

const METRICS: &[MetricInfo] = &[
    info(
        "requests_per_second",
        "1/s",
        HIGHER,
        "`Req/Sec` on average: the mean of samples of one second, without the rest of a second at the end; error pages too",
    ),
    info("requests", "1", None, "responses; absent in a text that rounds them to thousands"),
    info("errors", "1", LOWER, "requests without a response, timeouts too"),
    info("errors_timeout", "1", LOWER, "requests that timed out; they are among the errors"),
    info("non_2xx", "1", LOWER, "responses of another status than 2xx; in the text 0 when the line is absent"),
    info("mismatches", "1", LOWER, "responses with another body than --expectBody"),
    info("requests_sent", "1", None, "requests that were sent, those too that were still awaited at the end; only from -j"),
    info("duration", "s", LOWER, "how long it really ran, with two decimals"),
    info("latency_avg", "s", LOWER, "mean of the same latencies as latency_p50, with 0.01 ms of whole ms"),
    info("latency_stdev", "s", LOWER, "standard deviation of the same latencies"),
    info("latency_max", "s", LOWER, "largest latency, in whole ms"),
    info("latency_p10", "s", LOWER, PERCENTILE),
    info("latency_p25", "s", LOWER, PERCENTILE),
    info("latency_p50", "s", LOWER, PERCENTILE),
    info("latency_p75", "s", LOWER, PERCENTILE),
    info("latency_p90", "s", LOWER, PERCENTILE),
    info("latency_p975", "s", LOWER, "97.5 %: as latency_p50"),
    info("latency_p99", "s", LOWER, PERCENTILE),
    info("latency_p999", "s", LOWER, PERCENTILE),
    info("latency_p9999", "s", LOWER, PERCENTILE),
    info("requests_per_second_stdev", "1/s", LOWER, SAMPLES),
    info("requests_per_second_min", "1/s", HIGHER, SAMPLES),
    info("requests_per_second_max", "1/s", HIGHER, "of the samples of one second; only from -j"),
    info("bytes", "B", None, "received, headers included; in the text three digits"),
    info("bytes_per_second", "B/s", HIGHER, "mean of samples of one second, headers included; in the text three digits"),
];

/// Below this, whole milliseconds are more than a percent.
const SHORTEST_FINE: f64 = 0.1;
/// By how much the mean of the samples may differ from responses over time.
const SAME_RATE: f64 = 0.05;

/// A report, whatever its form. What is not there is none.
#[derive(Debug, Default)]
struct Report {
    /// 1/s: mean, stdev, min and max of samples of one second.
    rate: Option<f64>,
    rate_stdev: Option<f64>,
    rate_min: Option<f64>,
    rate_max: Option<f64>,
    requests: Option<f64>,
    sent: Option<f64>,
    /// s, with two decimals.
    duration: Option<f64>,
    errors: Option<f64>,
    timeouts: Option<f64>,
    non_2xx: Option<f64>,
    mismatches: Option<f64>,
    latencies: Latencies,
    bytes: Option<f64>,
    /// B/s.
    bytes_per_second: Option<f64>,
    /// Counts that were printed in thousands: their names, and what was printed.
    rounded: Vec<(&'static str, String)>,
    /// Whether everything is there that every report has.
    complete: bool,
    /// Numbers do not agree.
    contradiction: bool,
}

static HEADING: LazyLock<Regex> = LazyLock::new(|| pattern(r"^│ *Stat *│ *2\.5% *│ *50% *│"));
static COMPLAINT: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\S*sh: .*\bautocannon: (?:command )?not found$"));

impl Parser for Autocannon {
    fn info(&self) -> ParserInfo {
        ParserInfo { name: "autocannon", about: "autocannon: requests per second, latencies, errors and bad responses", metrics: METRICS }
    }

    fn parse(&self, output: &ToolOutput<'_>) -> Parsed {
        let mut reading = Reading::default();
        let text = output.both();
        reading.complain(&text, &COMPLAINT);
        let texts = pieces(&text, |line| HEADING.is_match(line));
        let documents = text.matches("\"statusCodeStats\"").count();
        if documents > 0 {
            match last_document(&text).and_then(|found| Report::of_document(&found)) {
                Ok(report) => tell(&report, &mut reading),
                Err(reason) => reading.fail(reason),
            }
        } else if text.lines().any(|line| HEADING.is_match(line.trim())) {
            tell(&texts.last().map(|text| Report::of_text(text)).unwrap_or_default(), &mut reading);
        } else {
            reading.fail("no report of autocannon in the output");
        }
        if documents.max(texts.len()) > 1 {
            reading.beware("several reports of autocannon: the last one counts");
        }
        reading.finish(output)
    }
}

fn tell(report: &Report, reading: &mut Reading) {
    if report.contradiction
        || report.latencies.contradict()
        || report.timeouts.zip(report.errors).is_some_and(|(timeouts, errors)| timeouts > errors)
    {
        return reading.fail("the report of autocannon contradicts itself: its counts do not add up, or its latencies are not in order");
    }
    if !report.complete {
        reading.fail("the report of autocannon is damaged or cut off, or its numbers are those of another locale than C");
    }
    reading.metric_if("requests_per_second", report.rate, Unit::PER_SECOND);
    reading.metric_if("requests", report.requests, Unit::ONE);
    reading.metric_if("errors", report.errors, Unit::ONE);
    reading.metric_if("errors_timeout", report.timeouts, Unit::ONE);
    reading.metric_if("non_2xx", report.non_2xx, Unit::ONE);
    reading.metric_if("mismatches", report.mismatches, Unit::ONE);
    reading.metric_if("requests_sent", report.sent, Unit::ONE);
    judge(report, reading);
    reading.metric_if("duration", report.duration.filter(|duration| *duration > 0.0), Unit::SECOND);
    if report.requests != Some(0.0) {
        report.latencies.tell(reading);
    }
    reading.metric_if("requests_per_second_stdev", report.rate_stdev, Unit::PER_SECOND);
    reading.metric_if("requests_per_second_min", report.rate_min, Unit::PER_SECOND);
    reading.metric_if("requests_per_second_max", report.rate_max, Unit::PER_SECOND);
    reading.metric_if("bytes", report.bytes, Unit::BYTE);
    reading.metric_if("bytes_per_second", report.bytes_per_second, Unit::BYTES_PER_SECOND);
    beware(report, reading);
}

fn judge(report: &Report, reading: &mut Reading) {
    if report.requests == Some(0.0) {
        reading.fail("no request was completed");
    }
    let above_0 = |count: Option<f64>| count.filter(|count| *count > 0.0);
    if let Some(errors) = above_0(report.errors) {
        reading.fail(format!("{errors} errors, {} of them timeouts", report.timeouts.unwrap_or_default()));
    }
    for (name, text) in report.rounded.iter().filter(|(name, _)| *name != "requests") {
        reading.fail(format!("{text} {name}"));
    }
    if let Some(count) = above_0(report.non_2xx) {
        reading.fail(format!("{count} responses were not 2xx"));
    }
    if let Some(count) = above_0(report.mismatches) {
        reading.fail(format!("{count} responses had another body than the expected one"));
    }
}

fn beware(report: &Report, reading: &mut Reading) {
    if report.latencies.get("p50").is_some_and(|median| median > 0.0 && median < SHORTEST_FINE) {
        reading.beware("autocannon's percentiles are whole milliseconds");
    }
    if !report.rounded.is_empty() {
        let counts: Vec<String> = report.rounded.iter().map(|(name, text)| format!("{name} `{text}`")).collect();
        reading
            .beware(format!("printed in thousands, which is no count, and therefore absent: {} (`-j` has all digits)", counts.join(", ")));
    }
    let Some(requests) = report.requests.filter(|requests| *requests > 0.0) else { return };
    report.latencies.beware_of_few(requests, reading);
    if let Some(awaited) = report.sent.map(|sent| sent - requests).filter(|awaited| awaited * 10.0 > requests) {
        reading.beware(format!(
            "{awaited} requests were sent without a response, beside {requests} responses: the latencies lack the longest"
        ));
    }
    if let Some((rate, duration)) = report.rate.zip(report.duration.filter(|duration| *duration > 0.0)) {
        let overall = requests / duration;
        if (rate / overall - 1.0).abs() > SAME_RATE {
            reading.beware(format!(
                "the rate is the mean of samples of one second, {rate}/s, and {requests} responses in {duration} s are {overall:.0}/s: run longer"
            ));
        }
    }
}
