//! `hey` 0.1: its summary, or with `-o csv` the table of its requests.
//!
//! ok: a complete report, at least one response, no request without one (`Error distribution`), no response of 400 or more, and its
//! numbers agree with each other: `hey` exits with 0 when every connection was refused, and counts those requests in its rate.
//! It leaves out the list of errors when there are none, and with `-o csv` even when there are some. Times are printed with 0.1 ms:
//! `0.0000` is below the resolution and therefore absent. A percentile that `hey` did not reach is printed as `0% in 0.0000 secs`.
//! The lines of `Details` do not count: their fastest and slowest are those of whole requests. Several reports: the last counts.

mod summary;
mod table;

use super::constants::{HIGHER, LOWER, info, pattern};
use super::plain_text::pieces;
use super::reading::Reading;
use super::{Parser, ToolOutput};
use crate::model::catalog::ParserInfo;
use crate::model::metric::{MetricInfo, Parsed, Unit};
use regex::Regex;
use std::sync::LazyLock;
use summary::Summary;
use table::Table;

/// The parser of `hey`.
pub(super) struct Hey;

const PERCENTILE: &str = "that percentile of the latency of all responses, error pages too, in 0.1 ms; closed loop: a stall counts once per worker; from -o csv by nearest rank, absent when fewer than one response is slower";

const METRICS: &[MetricInfo] = &[
    info("requests_per_second", "1/s", HIGHER, "as printed: over `Total`, requests that failed too; from -o csv responses over duration"),
    info("requests", "1", None, "responses, of whatever status"),
    info("errors", "1", LOWER, "requests without a response; 0 when the list is absent, absent with -o csv"),
    info("non_2xx_3xx", "1", LOWER, "responses of status 400 and more, or below 200"),
    info("duration", "s", LOWER, "`Total`; from -o csv until the last response ended"),
    info("latency_avg", "s", LOWER, "mean of the same latencies as latency_p50"),
    info("latency_min", "s", LOWER, "smallest latency; absent when printed as 0.0000"),
    info("latency_max", "s", LOWER, "largest latency"),
    info("latency_p10", "s", LOWER, PERCENTILE),
    info("latency_p25", "s", LOWER, PERCENTILE),
    info("latency_p50", "s", LOWER, PERCENTILE),
    info("latency_p75", "s", LOWER, PERCENTILE),
    info("latency_p90", "s", LOWER, PERCENTILE),
    info("latency_p95", "s", LOWER, PERCENTILE),
    info("latency_p99", "s", LOWER, PERCENTILE),
    info("body_bytes", "B", None, "`Total data`: received, without headers; absent with -o csv"),
];

/// The most results that hey keeps; the others are in its rate alone.
const MOST_KEPT: f64 = 1_000_000.0;
/// Below this, 0.1 ms is more than a tenth.
const SHORTEST_FINE: f64 = 0.001;

static COMPLAINT: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^-[nc](?: and -c)? cannot be .+|^Usage: hey \[options\.\.\.\] .+|^\S*sh: .*\bhey: (?:command )?not found$"));

impl Parser for Hey {
    fn info(&self) -> ParserInfo {
        ParserInfo { name: "hey", about: "hey: requests per second, latencies, errors and bad responses", metrics: METRICS }
    }

    fn parse(&self, output: &ToolOutput<'_>) -> Parsed {
        let mut reading = Reading::default();
        let text = output.both();
        reading.complain(&text, &COMPLAINT);
        let begins = |line: &str| line == "Summary:" || line == table::HEADER;
        let reports: Vec<&str> = pieces(&text, begins).into_iter().filter(|piece| piece.lines().any(|line| begins(line.trim()))).collect();
        match reports.last() {
            Some(report) if report.lines().any(|line| line.trim() == table::HEADER) => tell_table(&Table::read(report), &mut reading),
            Some(report) => tell(&Summary::read(report), &mut reading),
            None => reading.fail("no report of hey in the output"),
        }
        if reports.len() > 1 {
            reading.beware("several reports of hey: the last one counts");
        }
        reading.finish(output)
    }
}

fn tell(summary: &Summary, reading: &mut Reading) {
    let answers = match &summary.answers {
        _ if summary.contradicts_itself() => {
            return reading.fail(
                "the report of hey contradicts itself: its rate is not its requests over its time, or its latencies are not in order",
            );
        }
        answers => answers.as_ref().filter(|_| summary.is_complete()),
    };
    reading.metric_if("requests_per_second", summary.rate, Unit::PER_SECOND);
    if let Some(answers) = answers {
        if summary.kept_not_all() {
            reading.metric("errors", answers.errors(), Unit::ONE);
        } else {
            answers.count(reading);
        }
        answers.judge(reading);
    } else {
        reading.fail("the report of hey is damaged or cut off");
    }
    reading.metric_if("duration", summary.duration.filter(|duration| *duration > 0.0), Unit::SECOND);
    let responses = summary.responses();
    if responses != Some(0.0) {
        summary.latencies.tell(reading);
    }
    reading.metric_if("body_bytes", summary.body_bytes, Unit::BYTE);
    if summary.unreached_percentiles > 0 && responses != Some(0.0) {
        reading.beware(format!("too few responses for {} of the percentiles: hey prints them as `0%`", summary.unreached_percentiles));
    }
    if let Some(responses) = responses {
        summary.latencies.beware_of_few(responses, reading);
    }
    beware_of_rounding(summary.latencies.get("p50"), reading);
    if summary.kept_not_all() {
        beware_of_kept(reading);
    }
}

fn tell_table(table: &Table, reading: &mut Reading) {
    let responses = table.responses();
    if table.torn {
        return reading.fail("the table of hey is damaged or cut off");
    }
    if responses == 0.0 {
        return reading.fail("no request was completed");
    }
    reading.metric_if("requests_per_second", table.duration().map(|duration| responses / duration), Unit::PER_SECOND);
    reading.metric("requests", responses, Unit::ONE);
    reading.metric("non_2xx_3xx", table.answers.bad(), Unit::ONE);
    table.answers.judge(reading);
    reading.metric_if("duration", table.duration(), Unit::SECOND);
    let latencies = table.latencies();
    latencies.tell(reading);
    reading.beware("`-o csv` lists only requests that got a response: how many got none is not known");
    beware_of_rounding(latencies.get("p50"), reading);
    if responses == MOST_KEPT {
        beware_of_kept(reading);
    }
}

fn beware_of_rounding(median: Option<f64>, reading: &mut Reading) {
    if median.is_some_and(|median| median < SHORTEST_FINE) {
        reading.beware("the median is below 1 ms, and hey rounds to 0.1 ms: its latencies are rough");
    }
}

fn beware_of_kept(reading: &mut Reading) {
    reading.beware(format!("hey keeps the first {MOST_KEPT} responses: statuses and latencies are those of them"));
}
