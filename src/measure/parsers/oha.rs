//! `oha` 1.x: the JSON of `--output-format json`, or its text.
//!
//! ok: a complete report, at least one response, no request without one, no response of 400 or more, and its numbers agree with each
//! other: `oha` exits with 0 when every connection was refused, and its success rate calls every response a success, `503` too.
//! Requests that `-z` cut off at the end are no errors, but `oha` counts them in its rate: here the rate is responses over time.
//! Latencies are those of all responses. The text has a unit that follows the slowest of them, and `inf` and `NaN` without any.
//! Several reports in one output: the last counts. `--output-format csv` is not read: it lists responses alone.

mod document;
mod summary;

use super::answers::Answers;
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

/// The parser of `oha`.
pub(super) struct Oha;

const PERCENTILE: &str = "that percentile of the latency of all responses, error pages too; closed loop: a stall counts once per connection, unless with -q and --latency-correction";

const METRICS: &[MetricInfo] = &[
    info(
        "requests_per_second",
        "1/s",
        HIGHER,
        "responses over duration, error pages too; without the errors and the requests cut off that `requestsPerSec` counts as well",
    ),
    info("requests", "1", None, "responses, of whatever status"),
    info("errors", "1", LOWER, "requests without a response, except those that -z cut off"),
    info("non_2xx_3xx", "1", LOWER, "responses of status 400 and more, or below 200"),
    info("requests_cut_off", "1", None, "`aborted due to deadline`: still awaited when -z ended; at most the number of connections"),
    info("duration", "s", LOWER, "`total`: how long it really ran"),
    info("latency_avg", "s", LOWER, "mean of the same latencies as latency_p50"),
    info("latency_min", "s", LOWER, "smallest latency"),
    info("latency_max", "s", LOWER, "largest latency"),
    info("latency_p10", "s", LOWER, PERCENTILE),
    info("latency_p25", "s", LOWER, PERCENTILE),
    info("latency_p50", "s", LOWER, PERCENTILE),
    info("latency_p75", "s", LOWER, PERCENTILE),
    info("latency_p90", "s", LOWER, PERCENTILE),
    info("latency_p95", "s", LOWER, PERCENTILE),
    info("latency_p99", "s", LOWER, PERCENTILE),
    info("latency_p999", "s", LOWER, PERCENTILE),
    info("latency_p9999", "s", LOWER, PERCENTILE),
    info("body_bytes", "B", None, "`totalData`: received, without headers; in the text two decimals of the printed unit"),
    info("body_bytes_per_second", "B/s", HIGHER, "`sizePerSec`, without headers; in the text two decimals of the printed unit"),
];

/// What `oha` calls a request that was still awaited when the time of `-z` was over.
const CUT_OFF: &str = "aborted due to deadline";

/// A report, whatever its form. What is not there is none.
#[derive(Debug, Default)]
struct Report {
    /// 1/s, as printed: of responses, errors and requests cut off.
    rate: Option<f64>,
    /// s.
    duration: Option<f64>,
    /// How far `duration` may be off by its rounding, s.
    rounding: f64,
    /// Of the requests that were not cut off, the share that got a response.
    success_rate: Option<f64>,
    latencies: Latencies,
    body_bytes: Option<f64>,
    body_bytes_per_second: Option<f64>,
    /// None unless the whole list is there.
    answers: Option<Answers>,
    cut_off: f64,
}

static TEXT: LazyLock<Regex> = LazyLock::new(|| pattern(r"^Success rate:\s"));
static TABLE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?m)^request-start,DNS,DNS\+dialup,Response-delay,request-duration,bytes,status$"));
static COMPLAINT: LazyLock<Regex> = LazyLock::new(|| pattern(r"^[Ee]rror: .+|^\S*sh: .*\boha: (?:command )?not found$"));

impl Parser for Oha {
    fn info(&self) -> ParserInfo {
        ParserInfo { name: "oha", about: "oha: requests per second, latencies, errors and bad responses", metrics: METRICS }
    }

    fn parse(&self, output: &ToolOutput<'_>) -> Parsed {
        let mut reading = Reading::default();
        let text = output.both();
        reading.complain(&text, &COMPLAINT);
        let texts = pieces(&text, |line| TEXT.is_match(line));
        if text.contains("\"latencyPercentiles\"") || text.contains("\"successRate\"") {
            match last_document(&text).and_then(|found| Report::of_document(&found)) {
                Ok(report) => tell(&report, &mut reading),
                Err(reason) => reading.fail(reason),
            }
        } else if text.lines().any(|line| TEXT.is_match(line.trim())) {
            tell(&texts.last().map(|text| Report::of_text(text)).unwrap_or_default(), &mut reading);
        } else if TABLE.is_match(&text) {
            reading.fail("oha wrote a table of its responses: use `--output-format json`");
        } else {
            reading.fail("no report of oha in the output (`--output-format quiet` prints none)");
        }
        if texts.len() > 1 || text.matches("\"latencyPercentiles\"").count() > 1 {
            reading.beware("several reports of oha: the last one counts");
        }
        reading.finish(output)
    }
}

impl Report {
    /// Takes the requests that were cut off out of the errors.
    fn answered(&mut self, answers: Option<Answers>) {
        self.answers = answers.map(|mut answers| {
            let (cut_off, errors) = answers.errors.into_iter().partition(|(text, _)| text == CUT_OFF);
            answers.errors = errors;
            self.cut_off = cut_off.iter().fold(0.0, |sum, (_, count): &(String, f64)| sum + count);
            answers
        });
    }

    /// The answers of a report that is whole.
    fn complete(&self) -> Option<(&Answers, f64)> {
        self.answers.as_ref().zip(self.duration).filter(|_| self.rate.is_some())
    }

    fn contradicts_itself(&self) -> bool {
        let Some((answers, duration)) = self.complete() else { return self.latencies.contradict() };
        let (responses, rate) = (answers.responses(), self.rate.unwrap_or_default());
        let ended = responses + answers.errors();
        let tolerance = 0.1 + rate * self.rounding + duration * 0.000_06;
        (rate * duration - ended - self.cut_off).abs() > tolerance
            // In the text it is a percentage with two decimals.
            || self.success_rate.is_some_and(|share| (share * ended - responses).abs() > 0.1 + ended * 0.000_06)
            || self.latencies.contradict()
    }
}

fn tell(report: &Report, reading: &mut Reading) {
    if report.contradicts_itself() {
        return reading.fail("the report of oha contradicts itself: its rate is not its requests over its time, its success rate not theirs, or its latencies are not in order");
    }
    let complete = report.complete();
    if let Some((answers, duration)) = complete {
        reading.metric("requests_per_second", answers.responses() / duration, Unit::PER_SECOND);
        answers.count(reading);
        reading.metric("requests_cut_off", report.cut_off, Unit::ONE);
        answers.judge(reading);
    } else {
        reading.fail("the report of oha is damaged or cut off");
    }
    reading.metric_if("duration", report.duration, Unit::SECOND);
    report.latencies.tell(reading);
    reading.metric_if("body_bytes", report.body_bytes, Unit::BYTE);
    reading.metric_if("body_bytes_per_second", report.body_bytes_per_second, Unit::BYTES_PER_SECOND);
    if let Some((answers, _)) = complete {
        let responses = answers.responses();
        report.latencies.beware_of_few(responses, reading);
        if responses > 0.0 && report.cut_off * 10.0 > responses {
            let cut_off = report.cut_off;
            reading.beware(format!(
                "{cut_off} requests were cut off at the end, beside {responses} responses: the latencies lack the longest"
            ));
        }
    }
}
