//! `k6`: the JSON of its summary, or in its absence the text that it prints at its end.
//!
//! Three JSON forms: that of `--summary-export` (values beside each other), that which `handleSummary(data)` gets (values under
//! `values`), and with `--new-machine-readable-summary` a list of metrics with `config` and `metadata`. The text has two: until 0.57
//! one list of metrics, since 1.0 sections (`TOTAL RESULTS`), of which those of groups and scenarios repeat a part and are not read.
//! The text is rounded, so JSON counts when it is there.
//!
//! ok: at least one iteration, no failed request, no failed check, no line of the level `error`, and numbers that agree with each
//! other. k6 ends with exit code 0 when every request and every check failed. With exit code 99 a threshold was crossed, which is an
//! answer and no failure: the numbers are complete and count, and the threshold is told. In `--summary-export` a threshold that is
//! `true` was crossed.
//! Several summaries in one output: the last counts.

mod json;
mod log;
mod summary;
mod text;

use super::constants::{HIGHER, LOWER, info};
use super::few_samples::beware_of_few;
use super::plain_text::quoted;
use super::reading::Reading;
use super::{Parser, ToolOutput};
use crate::model::catalog::ParserInfo;
use crate::model::metric::{MetricInfo, Parsed, Unit};
use summary::Summary;

/// The parser of `k6`.
pub(super) struct K6;

/// Exit code of a run that crossed a threshold.
const THRESHOLD_CROSSED: i64 = 99;

const LATENCY: &str =
    "of `http_req_duration`, sending, waiting and receiving without connecting, of all responses, failed ones too; absent when 0";
const PERCENTILE: &str = "that percentile of the times of latency_avg, when `summaryTrendStats` asks for it; unless an arrival-rate executor drives the test, a stall counts once per VU";

const METRICS: &[MetricInfo] = &[
    info("requests_per_second", "1/s", HIGHER, "`http_reqs`: requests, failed ones too, over the duration"),
    info("requests", "1", None, "`http_reqs`: HTTP requests, failed ones too"),
    info("errors", "1", LOWER, "requests for which `http_req_failed` is true: no response, or an unexpected status"),
    info(
        "duration",
        "s",
        LOWER,
        "how long the test ran, with set-up and tear-down; where the summary does not say it, requests (or iterations) over their rate",
    ),
    info("latency_avg", "s", LOWER, LATENCY),
    info("latency_min", "s", LOWER, LATENCY),
    info("latency_max", "s", LOWER, LATENCY),
    info("latency_p50", "s", LOWER, "median of the times of latency_avg"),
    info("latency_p75", "s", LOWER, PERCENTILE),
    info("latency_p90", "s", LOWER, PERCENTILE),
    info("latency_p95", "s", LOWER, PERCENTILE),
    info("latency_p99", "s", LOWER, PERCENTILE),
    info("latency_p999", "s", LOWER, PERCENTILE),
    info("latency_p9999", "s", LOWER, PERCENTILE),
    info("bytes", "B", None, "`data_received`; two digits in the text"),
    info("bytes_per_second", "B/s", HIGHER, "`data_received` over the duration; two digits in the text"),
    info("iterations_per_second", "1/s", HIGHER, "`iterations` over the duration"),
    info("iterations", "1", None, "how often the script's function was run to its end"),
    info("dropped_iterations", "1", LOWER, "iterations that did not start in time: no VU was free; absent when there were none"),
    info("checks", "1", None, "`check()` results; absent when the script has none"),
    info("checks_failed", "1", LOWER, "`check()` results that were false"),
    info("thresholds_crossed", "1", LOWER, "thresholds that were crossed; absent when none was, or when the summary does not say which"),
];

impl Parser for K6 {
    fn info(&self) -> ParserInfo {
        ParserInfo { name: "k6", about: "k6: requests per second, latencies, failed requests, checks and thresholds", metrics: METRICS }
    }

    fn parse(&self, output: &ToolOutput<'_>) -> Parsed {
        let mut reading = Reading::default();
        let (log, rest) = log::apart(&output.both());
        let json = json::read(&rest);
        let is_text = json.is_none();
        let summary = json.or_else(|| text::read(&rest).map(Ok));
        let crossed = summary.as_ref().is_some_and(|summary| summary.as_ref().is_ok_and(|summary| !summary.crossed.is_empty()));
        match summary {
            Some(Ok(summary)) => {
                tell(&summary, &mut reading);
                if output.exit_code == Some(THRESHOLD_CROSSED) && !crossed {
                    reading.beware("a threshold was crossed; this summary does not say which one");
                }
                if is_text {
                    reading.beware("read from the text summary, which is rounded: print the file of `--summary-export` too");
                }
            }
            Some(Err(reason)) => reading.fail(reason),
            None => reading.fail("no summary of k6 in the output, neither JSON nor text"),
        }
        let is_answer = output.exit_code.is_some_and(|code| self.is_answer(code));
        log.tell(&mut reading, crossed || is_answer);
        reading.finish(&ToolOutput { exit_code: output.exit_code.filter(|_| !is_answer), ..*output })
    }

    fn is_answer(&self, exit_code: i64) -> bool {
        exit_code == THRESHOLD_CROSSED
    }
}

fn tell(summary: &Summary, reading: &mut Reading) {
    metrics(summary, reading);
    for threshold in &summary.crossed {
        reading.beware(format!("a threshold was crossed: {}", quoted(threshold)));
    }
    if summary.iterations.is_none_or(|count| count == 0.0) {
        reading.fail("the summary has no iterations: none was run to its end, or it is cut off");
    }
    if let Some((failed, of)) = summary.failed.filter(|(failed, _)| *failed > 0.0) {
        reading.fail(format!("{failed} of {of} requests failed"));
    }
    if let Some((failed, of)) = summary.checks_failed().filter(|(failed, _)| *failed > 0.0) {
        reading.fail(format!("{failed} of {of} checks failed"));
    }
    if let Some(reason) = summary.contradiction() {
        reading.fail(format!("the summary of k6 contradicts itself: {reason}"));
    }
    match (summary.requests, summary.failed) {
        (Some(_), None) => reading.beware("the summary does not tell how many requests failed (`http_req_failed`)"),
        (Some(requests), Some((_, of))) if of < requests => {
            reading.beware(format!("of {requests} requests only {of} were judged by `http_req_failed`: the script left the others out"));
        }
        _ => {}
    }
    if let Some(dropped) = summary.dropped.filter(|dropped| *dropped > 0.0) {
        reading.beware(format!("{dropped} iterations were dropped, because no VU was free: the rate that was asked for was not reached"));
    }
    let zeros: Vec<&str> = summary.latencies.iter().filter(|(_, seconds)| *seconds == 0.0).map(|(name, _)| *name).collect();
    if !zeros.is_empty() {
        reading.beware(format!("0, which is no latency, and therefore absent: {}", zeros.join(", ")));
    }
    if let Some(requests) = summary.requests {
        let names = summary.latencies.iter().filter(|(_, seconds)| *seconds > 0.0).map(|(name, _)| *name);
        beware_of_few(reading, requests, "requests", names);
    }
    if summary.runs > 1 {
        reading.beware("several summaries of k6: the last one counts");
    }
}

fn metrics(summary: &Summary, reading: &mut Reading) {
    reading.metric_if("requests_per_second", summary.rate, Unit::PER_SECOND);
    reading.metric_if("requests", summary.requests, Unit::ONE);
    reading.metric_if("errors", summary.failed.map(|(failed, _)| failed), Unit::ONE);
    reading.metric_if("duration", summary.duration(), Unit::SECOND);
    for (name, seconds) in summary.latencies.iter().filter(|(_, seconds)| *seconds > 0.0) {
        reading.metric(name, *seconds, Unit::SECOND);
    }
    reading.metric_if("bytes", summary.bytes, Unit::BYTE);
    reading.metric_if("bytes_per_second", summary.bytes_per_second, Unit::BYTES_PER_SECOND);
    reading.metric_if("iterations_per_second", summary.iteration_rate, Unit::PER_SECOND);
    reading.metric_if("iterations", summary.iterations, Unit::ONE);
    reading.metric_if("dropped_iterations", summary.dropped, Unit::ONE);
    reading.metric_if("checks", summary.checks_failed().map(|(_, of)| of), Unit::ONE);
    reading.metric_if("checks_failed", summary.checks_failed().map(|(failed, _)| failed), Unit::ONE);
    reading.metric_if("thresholds_crossed", Some(summary.crossed.len() as f64).filter(|crossed| *crossed > 0.0), Unit::ONE);
}
