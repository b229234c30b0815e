//! `siege` 4: the report that it writes at its end on standard error, or with `-j` as JSON on standard output.
//!
//! ok: a complete report, at least one transaction, none that failed, none answered with an error (`siege` counts `404` among the
//! transactions and not among the failed ones: only `Successful transactions` lacks it), and its numbers agree with each other.
//! `siege` exits with 0 when every connection was refused. Its clock ticks every 10 ms and all its numbers have two decimals:
//! `0.00` beside transactions is below the resolution and therefore absent. With `-q` and without `-j` it prints nothing.
//! Several reports in one output: the last counts.

mod report;

use super::constants::{HIGHER, LOWER, info, pattern};
use super::last_json::last_document;
use super::plain_text::{pieces, quoted};
use super::reading::Reading;
use super::{Parser, ToolOutput};
use crate::model::catalog::ParserInfo;
use crate::model::metric::{MetricInfo, Parsed};
use regex::Regex;
use report::Report;
use std::sync::LazyLock;

/// The parser of `siege`.
pub(super) struct Siege;

const METRICS: &[MetricInfo] = &[
    info("requests_per_second", "1/s", HIGHER, "`Transaction rate`: transactions over the time, error pages below 500 too"),
    info("requests", "1", None, "`Transactions`: requests that were answered with a status below 500"),
    info("errors", "1", LOWER, "`Failed transactions`: without a response, or answered with 500 and more"),
    info(
        "successful_requests",
        "1",
        None,
        "`Successful transactions`: answered with a status below 400; those of -t may exceed `requests`",
    ),
    info("duration", "s", LOWER, "`Elapsed time`, in 10 ms; absent when printed as 0.00"),
    info(
        "latency_avg",
        "s",
        LOWER,
        "`Response time`: mean, in 10 ms; absent when printed as 0.00; closed loop: a stall counts once per user",
    ),
    info("latency_min", "s", LOWER, "`Shortest transaction`, in 10 ms; absent when printed as 0.00"),
    info("latency_max", "s", LOWER, "`Longest transaction`, in 10 ms; absent when printed as 0.00"),
    info("concurrency", "1", None, "mean number of requests under way: the sum of their times over the time"),
    info("body_bytes", "B", None, "`Data transferred`: received, without headers, with two decimals of MiB; absent when printed as 0.00"),
    info("body_bytes_per_second", "B/s", HIGHER, "`Throughput`, as body_bytes"),
];

/// Below this, a tick of 10 ms is more than a tenth.
const SHORTEST_FINE: f64 = 0.1;

/// `siege` colours the word, and writes the first complaint behind its banner.
static COMPLAINT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"\[(?:error|fatal)\] (.+)$|^siege aborted due to excessive socket failure.*|^\S*sh: .*\bsiege: (?:command )?not found$")
});
static USERS: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\*\* Preparing (\d+) concurrent users for battle\.$"));

impl Parser for Siege {
    fn info(&self) -> ParserInfo {
        ParserInfo { name: "siege", about: "siege: transactions per second, response times, failed transactions", metrics: METRICS }
    }

    fn parse(&self, output: &ToolOutput<'_>) -> Parsed {
        let mut reading = Reading::default();
        let text = output.both();
        let texts = pieces(&text, |line| line.starts_with("Transactions:"));
        let documents = text.matches("\"transactions\"").count();
        let report = match documents {
            _ if begins_again(texts.last()) => Err("the last run of siege has no report: it was interrupted".to_owned()),
            0 => Ok(texts.last().map(|text| Report::of_text(text)).filter(Report::is_there)),
            _ => last_document(&text).and_then(|found| Report::of_document(&found).map(Some)),
        };
        let worked = matches!(&report, Ok(Some(report)) if report.failed == Some(0.0));
        complaints(&text, worked, &mut reading);
        match report {
            Ok(Some(report)) => {
                tell(&report, &mut reading);
                beware_of_idle_users(&report, &text, &mut reading);
            }
            Ok(None) => reading.fail("no report of siege in the output (with -q and without -j it prints none)"),
            Err(reason) => reading.fail(reason),
        }
        if documents > 1 || texts.len() > 1 {
            reading.beware("several reports of siege: the last one counts");
        }
        reading.finish(output)
    }
}

/// Whether a banner follows the report.
fn begins_again(text: Option<&&str>) -> bool {
    let lines = text.into_iter().flat_map(|text| text.lines()).map(str::trim);
    lines.skip_while(|line| !line.starts_with("Transactions:")).any(|line| USERS.is_match(line))
}

/// Some complaints are of the configuration, and the siege goes on: beside a report without failures they are no reason.
fn complaints(text: &str, worked: bool, reading: &mut Reading) {
    let mut told: Vec<&str> = Vec::new();
    for found in text.lines().filter_map(|line| COMPLAINT.captures(line.trim())) {
        let Some(complaint) = found.get(1).or(found.get(0)).map(|text| text.as_str()).filter(|text| !told.contains(text)) else {
            continue;
        };
        told.push(complaint);
        if worked { reading.beware(quoted(complaint)) } else { reading.fail(quoted(complaint)) }
    }
}

fn tell(report: &Report, reading: &mut Reading) {
    if report.contradicts_itself() {
        return reading.fail("the report of siege contradicts itself: its rate is not its transactions over its time, its availability not theirs, or its times are not in order");
    }
    if !report.is_complete() {
        reading.fail("the report of siege is damaged or cut off");
    }
    let mut below_resolution = Vec::new();
    for (name, value, unit) in report.metrics() {
        match value {
            Some(0.0) if !matches!(name, "requests" | "errors" | "successful_requests") => below_resolution.push(name),
            value => reading.metric_if(name, value, unit),
        }
    }
    if report.transactions == Some(0.0) {
        reading.fail("no transaction was completed");
    } else if !below_resolution.is_empty() {
        reading.beware(format!("printed as 0.00, below the resolution, and therefore absent: {}", below_resolution.join(", ")));
    }
    if let Some(failed) = report.failed.filter(|failed| *failed > 0.0) {
        reading.fail(format!("{failed} failed transactions"));
    }
    if let Some((transactions, successful)) = report.transactions.zip(report.successful).filter(|(all, successful)| successful < all) {
        let others = transactions - successful;
        reading.fail(format!("{others} of {transactions} transactions were answered with a status of 400 or more"));
    }
    if report.response_time.is_some_and(|seconds| seconds > 0.0 && seconds < SHORTEST_FINE) {
        reading.beware("the response time is below 0.1 s, and siege rounds to 10 ms: its times are rough");
    }
}

/// Users that pause, as they do without `-b`, or that one processor cannot serve.
fn beware_of_idle_users(report: &Report, text: &str, reading: &mut Reading) {
    let users = text.lines().filter_map(|line| USERS.captures(line.trim())?[1].parse::<f64>().ok()).next_back();
    let Some((users, concurrency)) = users.zip(report.concurrency).filter(|_| report.is_complete() && !report.contradicts_itself()) else {
        return;
    };
    if concurrency > 0.0 && concurrency < users / 2.0 {
        reading.beware(format!("of {users} users only {concurrency} had a request under way on average: they pause without -b"));
    }
}
