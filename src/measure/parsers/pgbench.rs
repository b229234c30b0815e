//! `pgbench` of PostgreSQL 8.4 to 18: the report on standard output.
//!
//! Up to 13 two lines `tps` stand there, including and excluding the time of connecting, and up to 9.5 `latency average:` with a colon;
//! from 14 on there is one line, without the initial connections, or with `-C` including the reconnections. Lines that begin with ` - `
//! are of one script among several and not read; nor is the progress of `-P`.
//! ok: a complete report, at least one transaction, none failed, no client aborted, no error line, and its numbers agree with each other.
//! Without -P, -R or -L `pgbench` takes no latency: its average is computed from clients and time. Several reports in one output: the
//! last counts.

mod report;

use super::constants::{HIGHER, LOWER, info, pattern};
use super::plain_text::pieces;
use super::reading::Reading;
use super::{Parser, ToolOutput};
use crate::model::catalog::ParserInfo;
use crate::model::metric::{MetricInfo, Parsed, Unit};
use regex::Regex;
use report::{Field, Report};
use std::sync::LazyLock;

/// The parser of `pgbench`.
pub(super) struct Pgbench;

const METRICS: &[MetricInfo] = &[
    info(
        "transactions_per_second",
        "1/s",
        HIGHER,
        "`tps`, as printed: without the time of the first connections (up to 13 `excluding connections establishing`); with -C from 14 on including the reconnections",
    ),
    info("transactions", "1", None, "`number of transactions actually processed`, without failed ones"),
    info("errors", "1", LOWER, "`number of failed transactions`, after all their tries; absent up to 14, where the client aborts"),
    info(
        "latency_avg",
        "s",
        LOWER,
        "as printed; measured only with -P, -R or -L, otherwise clients times time over transactions, failed ones too",
    ),
    info("latency_stdev", "s", LOWER, "as printed; only with -P, -R or -L"),
    info("connect_avg", "s", LOWER, "`average connection time`: of each transaction with -C; from 14 on"),
    info("initial_connection_time", "s", LOWER, "until all clients were connected; from 14 on, without -C"),
    info("schedule_lag_avg", "s", LOWER, "how late transactions began under -R; part of their latency"),
    info("schedule_lag_max", "s", LOWER, "how late a transaction began at most under -R"),
    info("transactions_skipped", "1", LOWER, "with -R and -L: not begun, because they were already too late; in no latency"),
    info("transactions_above_limit", "1", LOWER, "with -L: processed, but slower than the limit"),
    info("transactions_retried", "1", LOWER, "tried again after a serialization failure or deadlock; only with --max-tries, from 15 on"),
    info("retries", "1", LOWER, "how often; as transactions_retried"),
];

static COMPLAINT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(?:\S*/)?pgbench: (?:error|fatal): .+|^Run was aborted; the above results are incomplete\.$|^(?:Client|client) \d+ aborted in .+|^Connection to database .+ failed.*|^\S*sh: .*\bpgbench: (?:command )?not found$",
    )
});

impl Parser for Pgbench {
    fn info(&self) -> ParserInfo {
        ParserInfo { name: "pgbench", about: "pgbench: transactions per second, latency, failed transactions", metrics: METRICS }
    }

    fn parse(&self, output: &ToolOutput<'_>) -> Parsed {
        let mut reading = Reading::default();
        let text = output.both();
        reading.complain(&text, &COMPLAINT);
        let parts = pieces(&text, |line| line.starts_with("transaction type: "));
        let reports: Vec<Report> = parts.into_iter().map(Report::read).collect();
        match reports.last().filter(|report| report.is_there()) {
            Some(report) => tell(report, &mut reading),
            None => reading.fail("no report of pgbench in the output (`-i` prints none)"),
        }
        if reports.len() > 1 {
            reading.beware("several reports of pgbench: the last one counts");
        }
        reading.finish(output)
    }
}

fn tell(report: &Report, reading: &mut Reading) {
    if report.contradicts_itself() {
        return reading.fail(
            "the report of pgbench contradicts itself: its transactions, its rate, its latency, its clients and its duration do not fit",
        );
    }
    reading.metric_if("transactions_per_second", report.rate(), Unit::PER_SECOND);
    for (name, field) in [("transactions", Field::Processed), ("errors", Field::Failed)] {
        reading.metric_if(name, report.get(field), Unit::ONE);
    }
    let times = [
        ("latency_avg", Field::LatencyAvg),
        ("latency_stdev", Field::LatencyStdev),
        ("connect_avg", Field::ConnectAvg),
        ("initial_connection_time", Field::Connected),
        ("schedule_lag_avg", Field::LagAvg),
        ("schedule_lag_max", Field::LagMax),
    ];
    for (name, field) in times {
        reading.metric_if(name, report.get(field).filter(|seconds| *seconds > 0.0), Unit::SECOND);
    }
    let counts = [
        ("transactions_skipped", Field::Skipped),
        ("transactions_above_limit", Field::AboveLimit),
        ("transactions_retried", Field::Retried),
        ("retries", Field::Retries),
    ];
    for (name, field) in counts {
        reading.metric_if(name, report.get(field), Unit::ONE);
    }
    judge(report, reading);
}

fn judge(report: &Report, reading: &mut Reading) {
    let above_zero = |field: Field| report.get(field).filter(|count| *count > 0.0);
    let processed = report.get(Field::Processed);
    if processed == Some(0.0) {
        reading.fail("no transaction was completed");
    } else if !report.is_complete() {
        reading.fail("the report of pgbench is damaged or cut off");
    }
    if let (Some(processed), Some(asked)) = (processed, report.get(Field::Asked)) {
        let failed = report.get(Field::Failed).unwrap_or_default();
        let skipped = report.get(Field::Skipped).unwrap_or_default();
        if processed + failed + skipped < asked {
            reading.fail(format!("only {processed} of {asked} transactions were processed: clients aborted"));
        }
    }
    if let Some(failed) = above_zero(Field::Failed) {
        reading.fail(format!("{failed} transactions failed, after all their tries (`--max-tries`)"));
    }
    if let Some(skipped) = above_zero(Field::Skipped) {
        reading.beware(format!(
            "{skipped} transactions were not begun, because they were already above the latency limit: no latency counts them"
        ));
    }
    if let Some(retried) = above_zero(Field::Retried) {
        reading.beware(format!("{retried} transactions were tried again"));
    }
    if let Some((scale, clients)) = report.crowded() {
        reading.beware(format!(
            "the scaling factor {scale} is below the {clients} clients: every transaction updates one of as many rows, and they wait for each other"
        ));
    }
}
