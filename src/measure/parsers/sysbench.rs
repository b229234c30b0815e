//! `sysbench` 1.x, and the forms of 0.4 and 0.5: the final summary of any of its tests, never the interim lines.
//!
//! ok: no `FATAL` or refused option, every test that started has its summary, and rate, events and time agree with each other
//! (interim and final counters have been seen to underflow). `prepare`, `--version` and `--verbosity=0` print no summary: not ok.
//! Latencies are printed with 0.01 ms: `0.00` is below the resolution and therefore absent.

mod summary;

use super::constants::{HIGHER, LOWER, info};
use super::plain_text::{pieces, quoted};
use super::reading::Reading;
use super::{Parser, ToolOutput};
use crate::model::catalog::ParserInfo;
use crate::model::metric::{MetricInfo, Parsed, Unit};
use summary::Summary;

/// The parser of `sysbench`.
pub(super) struct Sysbench;

const PERCENTILE: &str =
    "that percentile of the latency of an event, interpolated by sysbench in a histogram; named after the line, which follows --percentile";

const METRICS: &[MetricInfo] = &[
    info(
        "events_per_second",
        "1/s",
        HIGHER,
        "as printed (cpu: events, oltp: transactions, memory: operations, fileio before 1.0: requests); where no such line exists (fileio, mutex, threads, cpu of 0.4) events over duration",
    ),
    info("duration", "s", LOWER, "`total time`"),
    info("events", "1", None, "`total number of events`"),
    info("latency_avg", "s", LOWER, "mean latency of an event; absent when printed as 0.00"),
    info("latency_min", "s", LOWER, "smallest latency of an event; absent when printed as 0.00"),
    info("latency_max", "s", LOWER, "largest latency of an event"),
    info("latency_p50", "s", LOWER, PERCENTILE),
    info("latency_p75", "s", LOWER, PERCENTILE),
    info("latency_p90", "s", LOWER, PERCENTILE),
    info("latency_p95", "s", LOWER, PERCENTILE),
    info("latency_p99", "s", LOWER, PERCENTILE),
    info("bytes_per_second", "B/s", HIGHER, "memory test, and fileio before 1.0: transferred per second"),
    info("bytes", "B", None, "memory test, and fileio before 1.0: transferred"),
    info("queries_per_second", "1/s", HIGHER, "oltp tests of 1.x"),
    info("queries", "1", None, "oltp tests: queries performed, total"),
    info("errors", "1", LOWER, "oltp tests: ignored errors (deadlocks that were tried again), in 0.4 `deadlocks`"),
    info("reconnects", "1", LOWER, "oltp tests: reconnections"),
    info("reads_per_second", "1/s", HIGHER, "fileio test of 1.x"),
    info("writes_per_second", "1/s", HIGHER, "fileio test of 1.x"),
    info("fsyncs_per_second", "1/s", HIGHER, "fileio test of 1.x"),
    info("read_bytes_per_second", "B/s", HIGHER, "fileio test of 1.x"),
    info("written_bytes_per_second", "B/s", HIGHER, "fileio test of 1.x"),
];

impl Parser for Sysbench {
    fn info(&self) -> ParserInfo {
        ParserInfo { name: "sysbench", about: "sysbench 0.4 to 1.x: cpu, memory, fileio, mutex, threads and oltp tests", metrics: METRICS }
    }

    fn parse(&self, output: &ToolOutput<'_>) -> Parsed {
        let mut reading = Reading::default();
        let text = output.both();
        complaints(&text, &mut reading);
        let runs = pieces(&text, is_banner);
        let mut summaries: Vec<Summary> = runs.iter().map(|run| Summary::read(run)).filter(Summary::is_there).collect();
        if runs.iter().any(|run| started(run) && !Summary::read(run).is_there()) {
            reading.fail("a test started and has no summary: it was interrupted, or the output is cut off");
        }
        let several = summaries.len() > 1;
        match summaries.pop() {
            Some(summary) => tell(&summary, &mut reading),
            None => reading.fail("no summary of sysbench (`total time`): `prepare`, `--version` and `--verbosity=0` print none"),
        }
        if several {
            reading.beware("several summaries of sysbench: the last one counts");
        }
        reading.finish(output)
    }
}

/// The banner `sysbench 1.0.20 ...`.
fn is_banner(line: &str) -> bool {
    line.strip_prefix("sysbench ").is_some_and(|version| version.starts_with(|c: char| c.is_ascii_digit()))
}

fn started(run: &str) -> bool {
    run.lines().any(|line| line.trim() == "Threads started!")
}

fn complaints(text: &str, reading: &mut Reading) {
    let lines = || text.lines().map(str::trim);
    let fatal = |line: &&str| line.starts_with("FATAL: ") || line.starts_with("invalid option: ") || line.ends_with("sysbench: not found");
    if let Some(line) = lines().find(fatal) {
        reading.fail(quoted(line));
    }
    if let Some(line) = lines().find(|line| line.starts_with("ALERT: ") || line.starts_with("WARNING: ")) {
        reading.beware(quoted(line));
    }
}

fn tell(summary: &Summary, reading: &mut Reading) {
    reading.metric_if("events_per_second", summary.rate(), Unit::PER_SECOND);
    reading.metric_if("duration", summary.duration, Unit::SECOND);
    reading.metric_if("events", summary.events, Unit::ONE);
    let mut below_resolution = Vec::new();
    for (name, seconds) in &summary.latencies {
        match seconds {
            0.0 => below_resolution.push(name.as_str()),
            _ => reading.metric(name, *seconds, Unit::SECOND),
        }
    }
    for (name, value, unit) in &summary.others {
        reading.metric(name, *value, unit.clone());
        if matches!(*name, "errors" | "reconnects") && *value > 0.0 {
            reading.beware(format!("{value} {}", if *name == "errors" { "ignored errors" } else { "reconnects" }));
        }
    }
    if summary.events.is_none() || summary.events == Some(0.0) {
        reading.fail("the summary counts no events");
    }
    if summary.contradicts_itself() {
        reading.fail("the summary contradicts itself: its rate is not its events over its time, or its latencies are not in order");
    }
    if !below_resolution.is_empty() {
        reading.beware(format!("printed as 0.00, below the resolution, and therefore absent: {}", below_resolution.join(", ")));
    }
    if summary.before_1_0 {
        reading.beware("written by sysbench 0.4 or 0.5, whose tests differ: not comparable with 1.x");
    }
}
