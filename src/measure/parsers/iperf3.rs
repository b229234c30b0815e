//! `iperf3` 3: the JSON of `--json`, or its text.
//!
//! What was received counts, not what was sent: the sender of UDP counts datagrams that never arrive, and the sender of TCP what
//! still stands in its buffers. A document that repeats a key (`--bidir` of some versions does so with the sums) is refused when the
//! readings of it differ. Several reports in one output: the last counts.
//! ok: no `error` (with `--json` iperf3 exits 0 after any failure), both ends told their sums, bytes were received, and the numbers
//! agree with each other. Loss of datagrams is a measurement and no failure.

mod document;
mod report;
mod summary;

use super::constants::{HIGHER, LOWER, info, pattern};
use super::last_json::last_document;
use super::plain_text::{pieces, quoted};
use super::reading::Reading;
use super::{Parser, ToolOutput};
use crate::model::catalog::ParserInfo;
use crate::model::metric::{MetricInfo, Parsed, Unit};
use regex::Regex;
use report::Report;
use std::sync::LazyLock;

/// The parser of `iperf3`.
pub(super) struct Iperf3;

/// From here on a process that has one thread may be what limits the rate.
const WHOLE_CPU: f64 = 0.95;

const ROUND_TRIP: &str = "smoothed round-trip time of the sending kernel under load, read once per interval: not that of an idle network; over all streams; TCP with JSON";
const REVERSE: &str = "the same from the server to the client; only with --bidir";

const METRICS: &[MetricInfo] = &[
    info(
        "received_bytes_per_second",
        "B/s",
        HIGHER,
        "what the receiver got over its time, all streams; exact with --json, else three digits",
    ),
    info("sent_bytes_per_second", "B/s", HIGHER, "what the sender handed to its kernel over its time, all streams"),
    info("received_bytes", "B", None, "received, all streams, headers not included"),
    info("sent_bytes", "B", None, "sent, all streams, headers not included"),
    info("duration", "s", None, "time that the receiver took"),
    info("retransmits", "1", LOWER, "TCP segments sent again, as the sending kernel counts them"),
    info("packets", "1", None, "UDP: datagrams that the receiver expected, by their sequence numbers"),
    info("packets_lost", "1", LOWER, "UDP: those of them that did not arrive"),
    info("loss", "1", LOWER, "UDP: packets_lost over packets"),
    info("jitter", "s", LOWER, "UDP: smoothed variation of the transit time (RFC 1889) when the test ended"),
    info("rtt_min", "s", LOWER, ROUND_TRIP),
    info("rtt_avg", "s", LOWER, "as rtt_min; absent with several streams"),
    info("rtt_max", "s", LOWER, ROUND_TRIP),
    info("local_cpu_usage", "1", LOWER, "CPUs that this iperf3 used: CPU time over the time of the test; JSON"),
    info("remote_cpu_usage", "1", LOWER, "CPUs that the iperf3 at the other end used; JSON"),
    info("reverse_received_bytes_per_second", "B/s", HIGHER, REVERSE),
    info("reverse_sent_bytes_per_second", "B/s", HIGHER, REVERSE),
    info("reverse_received_bytes", "B", None, REVERSE),
    info("reverse_sent_bytes", "B", None, REVERSE),
    info("reverse_duration", "s", None, REVERSE),
    info("reverse_retransmits", "1", LOWER, REVERSE),
    info("reverse_packets", "1", None, REVERSE),
    info("reverse_packets_lost", "1", LOWER, REVERSE),
    info("reverse_loss", "1", LOWER, REVERSE),
    info("reverse_jitter", "s", LOWER, REVERSE),
];

static COMPLAINT: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(?:\S*/)?iperf3: (?:error|interrupt) - .+|^\S*sh: .*\biperf3: (?:command )?not found$"));
static WARNING: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(?:iperf3: )?(?:warning|WARNING): .+"));

impl Parser for Iperf3 {
    fn info(&self) -> ParserInfo {
        ParserInfo { name: "iperf3", about: "iperf3's JSON or text: bytes per second, retransmits, lost datagrams", metrics: METRICS }
    }

    fn parse(&self, output: &ToolOutput<'_>) -> Parsed {
        let mut reading = Reading::default();
        let text = output.both();
        for line in text.lines().map(str::trim) {
            if COMPLAINT.is_match(line) {
                reading.fail(quoted(line));
            } else if WARNING.is_match(line) {
                reading.beware(quoted(line));
            }
        }
        match read(&text, &mut reading) {
            Ok(report) => tell(&report.without_unknown(), &mut reading),
            Err(reason) => reading.fail(reason),
        }
        reading.finish(output)
    }
}

fn read(text: &str, reading: &mut Reading) -> Result<Report, String> {
    if ["\"start\":", "\"end\":", "\"error\":"].iter().any(|key| text.contains(key)) {
        let found = last_document(text)?;
        let report = document::read(&found.value)?;
        return match found.first_wins {
            Some(other) if document::read(&other).as_ref() != Ok(&report) => {
                Err("the report of iperf3 repeats a key: which value counts cannot be known".to_owned())
            }
            _ => Ok(report),
        };
    }
    let parts = pieces(text, |line| line.starts_with("Connecting to host "));
    if parts.len() > 1 {
        reading.beware("several reports of iperf3: the last one counts");
    }
    parts.last().and_then(|part| summary::read(part)).ok_or_else(|| "no report of iperf3 in the output".to_owned())
}

fn tell(report: &Report, reading: &mut Reading) {
    if let Some(error) = &report.error {
        reading.fail(quoted(error));
    }
    for (prefix, _) in report.directions() {
        direction(prefix, report, reading);
    }
    if report.contradicts_itself() {
        reading.fail("the report of iperf3 contradicts itself: a rate is not its bytes over its time, or more was lost than sent");
    }
    if !report.complete {
        reading.fail("the report of iperf3 is cut off (`iperf Done.` is missing)");
    }
    if report.rounded {
        reading.beware("the text of iperf3 has three digits: `--json` is exact");
    }
    for (whose, cpus) in ["this iperf3", "the iperf3 at the other end"].into_iter().zip(report.cpus) {
        if cpus.is_some_and(|cpus| cpus >= WHOLE_CPU) {
            reading.beware(format!("{whose} used a whole CPU, which may be what limits the rate"));
        }
    }
}

fn direction(prefix: &str, report: &Report, reading: &mut Reading) {
    let Some((_, direction)) = report.directions().find(|(name, _)| *name == prefix) else { return };
    let mut metric = |name: &str, value: Option<f64>, unit: Unit| reading.metric_if(&format!("{prefix}{name}"), value, unit);
    let (sent, received, datagrams) = (direction.sent, direction.received, direction.datagrams);
    metric("received_bytes_per_second", received.map(|side| side.bytes_per_second), Unit::BYTES_PER_SECOND);
    metric("sent_bytes_per_second", sent.map(|side| side.bytes_per_second), Unit::BYTES_PER_SECOND);
    metric("received_bytes", received.map(|side| side.bytes), Unit::BYTE);
    metric("sent_bytes", sent.map(|side| side.bytes), Unit::BYTE);
    metric("duration", received.map(|side| side.seconds), Unit::SECOND);
    metric("retransmits", direction.retransmits, Unit::ONE);
    metric("packets", datagrams.map(|datagrams| datagrams.all), Unit::ONE);
    metric("packets_lost", datagrams.map(|datagrams| datagrams.lost), Unit::ONE);
    metric("loss", datagrams.map(|datagrams| datagrams.lost / datagrams.all), Unit::ONE);
    metric("jitter", datagrams.map(|datagrams| datagrams.jitter), Unit::SECOND);
    if prefix.is_empty() {
        for (name, seconds) in ["rtt_min", "rtt_avg", "rtt_max"].into_iter().zip(report.round_trips) {
            metric(name, seconds, Unit::SECOND);
        }
        for (name, cpus) in ["local_cpu_usage", "remote_cpu_usage"].into_iter().zip(report.cpus) {
            metric(name, cpus, Unit::ONE);
        }
    }
    match received {
        _ if report.error.is_some() => {}
        Some(side) if side.bytes == 0.0 => reading.fail("nothing was received"),
        None => reading.fail("the report of iperf3 does not say what was received"),
        Some(_) => {}
    }
    if let Some(datagrams) = datagrams.filter(|datagrams| datagrams.lost > 0.0) {
        reading.beware(format!("{} of {} datagrams were lost: more was sent than received", datagrams.lost, datagrams.all));
    }
}
