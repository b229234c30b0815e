//! `dd`: GNU, busybox with and without its third line.
//!
//! The rate is bytes over seconds: the printed one has three digits, and its MB is 10^6 in GNU and 2^20 in busybox. Several reports
//! in one output: the last counts (`SIGUSR1` prints interim ones). Progress lines never count: a transfer line belongs to the two
//! `records` lines before it. ok: a complete report, something was copied, and `dd` complained about nothing.

use super::constants::pattern;
use super::plain_text::quoted;
use super::reading::Reading;
use super::{Parser, ToolOutput, number};
use crate::model::catalog::ParserInfo;
use crate::model::metric::{Better, MetricInfo, Parsed, Unit};
use regex::Regex;
use std::sync::LazyLock;

/// The parser of `dd`.
pub(super) struct Dd;

const METRICS: &[MetricInfo] = &[
    MetricInfo {
        name: "bytes_per_second",
        unit: "B/s",
        better: Some(Better::Higher),
        about: "bytes copied over seconds, both as dd prints them; absent when a busybox without that line ran",
    },
    MetricInfo {
        name: "duration",
        unit: "s",
        better: Some(Better::Lower),
        about: "seconds of the copy as dd prints them; absent as above",
    },
    MetricInfo { name: "bytes", unit: "B", better: None, about: "bytes copied; absent as above" },
    MetricInfo { name: "records", unit: "1", better: None, about: "blocks written, full and partial" },
];

static RECORDS: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(\d+)\+(\d+) (\D+)$"));
/// Locales translate the words, not the commas.
static COPIED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(\d+) \S+ (?:\([^()]*\) )?\S+, (\d+(?:[.,]\d+)?(?:e[+-]?\d+)?) (?:s|seconds), (?:(\d+(?:[.,]\d+)?) ?([kMGTPE]?)B|Infinity B|inf B)/s$",
    )
});
static CUT: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\d+ bytes? ?.*$|^\d+ .*\([^()]*i?B\)"));
static COMPLAINT: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(?:.*: |\S*/)?dd: .+$"));

/// One report: what stands in `records` and the transfer line.
#[derive(Debug, Default)]
struct Report {
    written: f64,
    partial_reads: f64,
    transfer: Option<Transfer>,
}

#[derive(Debug)]
struct Transfer {
    bytes: f64,
    seconds: f64,
    /// Whether bytes over seconds is what the rate says: a line that contradicts itself is damaged.
    consistent: bool,
}

impl Parser for Dd {
    fn info(&self) -> ParserInfo {
        ParserInfo { name: "dd", about: "GNU and busybox dd: bytes, seconds and their ratio", metrics: METRICS }
    }

    fn parse(&self, output: &ToolOutput<'_>) -> Parsed {
        let mut reading = Reading::default();
        let text = output.voice(|text| text.lines().any(|line| RECORDS.is_match(line.trim())));
        let (reports, cut) = read(&text, &mut reading);
        match reports.last() {
            Some(report) => tell(report, &mut reading),
            None => reading.fail("no report of dd in the output (with `status=none` it prints nothing)"),
        }
        if cut {
            reading.fail("the last report of dd is damaged or cut off");
        }
        if reports.len() > 1 {
            reading.beware(format!("{} reports of dd: the last one counts", reports.len()));
        }
        reading.finish(output)
    }
}

/// All reports, and whether the last one lacks its second line.
fn read(text: &str, reading: &mut Reading) -> (Vec<Report>, bool) {
    let mut reports: Vec<Report> = Vec::new();
    let mut partial_reads = None;
    for line in text.lines().map(str::trim) {
        if let Some(found) = RECORDS.captures(line) {
            let (Some(full), Some(partial)) = (number::count(&found[1]), number::count(&found[2])) else { continue };
            match (&found[3], partial_reads) {
                ("records in", _) => partial_reads = Some(partial),
                ("records out", _) | (_, Some(_)) => {
                    let partial_reads = partial_reads.take().unwrap_or(0.0);
                    reports.push(Report { written: full + partial, partial_reads, transfer: None });
                }
                (_, None) => partial_reads = Some(partial),
            }
        } else if let Some(found) = COPIED.captures(line) {
            if let Some(report) = reports.last_mut().filter(|report| report.transfer.is_none() && partial_reads.is_none()) {
                report.transfer = transfer(&found);
            }
        } else if CUT.is_match(line) {
            if reports.last().is_some_and(|report| report.transfer.is_none()) {
                reading.fail("the transfer line of dd is damaged or cut off");
            }
        } else if COMPLAINT.is_match(line) {
            if line.to_lowercase().contains("warn") { reading.beware(quoted(line)) } else { reading.fail(quoted(line)) }
        }
    }
    (reports, partial_reads.is_some())
}

fn transfer(found: &regex::Captures<'_>) -> Option<Transfer> {
    let (bytes, seconds) = (number::count(&found[1])?, number::decimal(&found[2])?);
    let prefix = found.get(4).map_or("", |group| group.as_str());
    let power = ["", "k", "M", "G", "T", "P", "E"].iter().position(|known| *known == prefix)?;
    let printed = found.get(3).and_then(|rate| number::decimal(rate.as_str()));
    // Busybox prints microseconds at best: below a millisecond the rate has more digits than the seconds.
    let comparable = printed.filter(|rate| *rate >= 1.0 && seconds >= 0.001);
    let consistent = comparable.is_none_or(|rate| {
        let agrees = |base: f64| (0.9..1.1).contains(&(bytes / seconds / (rate * base.powi(i32::try_from(power).unwrap_or(0)))));
        agrees(1000.0) || agrees(1024.0)
    });
    Some(Transfer { bytes, seconds, consistent })
}

fn tell(report: &Report, reading: &mut Reading) {
    let copied = report.transfer.as_ref().map_or(report.written > 0.0, |transfer| transfer.bytes > 0.0);
    match &report.transfer {
        Some(transfer) => {
            if transfer.bytes > 0.0 {
                reading.metric("bytes_per_second", transfer.bytes / transfer.seconds, Unit::BYTES_PER_SECOND);
            }
            reading.metric("duration", transfer.seconds, Unit::SECOND);
            reading.metric("bytes", transfer.bytes, Unit::BYTE);
            if !transfer.consistent {
                reading.fail("the transfer line of dd contradicts itself: its rate is not its bytes over its seconds");
            }
        }
        None => reading.beware("dd printed no transfer line (some busybox builds do not): bytes and rate are absent"),
    }
    reading.metric("records", report.written, Unit::ONE);
    if reading.is_ok() && !copied {
        reading.fail("dd copied nothing");
    }
    if report.partial_reads > 1.0 {
        reading.beware(format!("{} blocks were read only in part: fewer bytes than bs times count", report.partial_reads));
    }
}
