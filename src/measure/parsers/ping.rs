//! `ping` of iputils, busybox and inetutils: the summary, and the lines of the replies.
//!
//! At 100 % loss iputils prints no line of times; `-f` adds `ipg/ewma` to it, `-q` leaves out the lines of the replies.
//! ok: a summary that agrees with itself, and at least one reply. Loss, duplicates and errors such as an unreachable host are
//! measurements and no failure as long as something came back: said. Several runs in one output: the last counts.

use super::constants::{LOWER, info, pattern};
use super::plain_text::pieces;
use super::reading::Reading;
use super::round_trips::{AVG, LOSS, MAX, MIN, P50, P95, P99, RECEIVED, RoundTrips, SENT};
use super::{Parser, ToolOutput, number};
use crate::model::catalog::ParserInfo;
use crate::model::metric::{MetricInfo, Parsed, Unit};
use regex::Regex;
use std::sync::LazyLock;

/// The parser of `ping`.
pub(super) struct Ping;

const METRICS: &[MetricInfo] = &[
    AVG,
    info("latency_stdev", "s", LOWER, "standard deviation of the round-trip times (iputils calls it mdev); absent from busybox"),
    MIN,
    MAX,
    P50,
    P95,
    P99,
    SENT,
    RECEIVED,
    LOSS,
    info("duplicates", "1", LOWER, "replies that came again; 0 when the summary mentions none"),
    info("errors", "1", LOWER, "ICMP errors, such as an unreachable host; 0 when iputils mentions none, absent from others"),
    info("duration", "s", None, "time of the whole, in whole ms (iputils)"),
];

static REPLY: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\d+ bytes from \S.*: (?:icmp_)?seq=\d+ ttl=\d+ time=(\d+(?:\.\d+)?) ms$"));
static COMPLAINT: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(?:\S*/)?ping[46]?: .+|^WARNING: .+|^\S*sh: .*\bping: (?:command )?not found$"));

impl Parser for Ping {
    fn info(&self) -> ParserInfo {
        ParserInfo { name: "ping", about: "ping of iputils, busybox and inetutils: round-trip times and loss", metrics: METRICS }
    }

    fn parse(&self, output: &ToolOutput<'_>) -> Parsed {
        let mut reading = Reading::default();
        let text = output.both();
        let parts = pieces(&text, |line| line.starts_with("PING "));
        let mut found = RoundTrips::under(" ping statistics ---");
        for line in parts.last().into_iter().flat_map(|part| part.lines()).map(str::trim) {
            if let Some(reply) = REPLY.captures(line) {
                found.replies.extend(number::shifted(&reply[1], -3));
            } else {
                found.take(line);
            }
        }
        found.complain(&text, &COMPLAINT, &mut reading);
        if found.is_there() {
            found.tell(false, &mut reading);
            extras(&found, &mut reading);
        } else {
            reading.fail("no report of ping in the output");
        }
        if parts.len() > 1 || found.summaries > 1 {
            reading.beware("several reports of ping: the last one counts");
        }
        reading.finish(output)
    }
}

fn extras(found: &RoundTrips, reading: &mut Reading) {
    let Some(packets) = &found.packets else { return };
    let duplicates = packets.duplicates.unwrap_or_default();
    reading.metric("duplicates", duplicates, Unit::ONE);
    // Only iputils knows errors, and only iputils tells the time.
    let errors = packets.errors.or(packets.duration.map(|_| 0.0));
    reading.metric_if("errors", errors, Unit::ONE);
    reading.metric_if("duration", packets.duration.filter(|duration| *duration > 0.0), Unit::SECOND);
    for (count, what) in [(duplicates, "replies came twice"), (errors.unwrap_or_default(), "errors came back instead of replies")] {
        if count > 0.0 {
            reading.beware(format!("{count} {what}"));
        }
    }
    if let Some(corrupted) = packets.corrupted.filter(|corrupted| *corrupted > 0.0) {
        reading.beware(format!("{corrupted} replies were corrupted and do not count"));
    }
}
