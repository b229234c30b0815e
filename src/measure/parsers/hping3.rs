//! `hping3`: the summary, which stands on standard error, and the lines of the replies on standard output.
//!
//! In a merged output the summary may stand before the lines. Times have a resolution of 0.1 ms; without a reply they are printed
//! as 0.0.
//! ok: a summary that agrees with itself, at least one reply, and no probe with SYN was refused: a closed port answers too
//! (`flags=RA`), with 0 % loss and exit code 0. Several runs in one output: the last summary counts.

use super::constants::{LOWER, info, pattern};
use super::reading::Reading;
use super::round_trips::{AVG, LOSS, MAX, MIN, P50, P95, P99, RECEIVED, RoundTrips, SENT};
use super::{Parser, ToolOutput, number};
use crate::model::catalog::ParserInfo;
use crate::model::metric::{MetricInfo, Parsed, Unit};
use regex::Regex;
use std::sync::LazyLock;

/// The parser of `hping3`.
pub(super) struct Hping3;

const METRICS: &[MetricInfo] = &[
    AVG,
    MIN,
    MAX,
    P50,
    P95,
    P99,
    SENT,
    RECEIVED,
    LOSS,
    info(
        "errors",
        "1",
        LOWER,
        "with SYN (-S): replies that refuse the connection (RST); absent when the lines of the replies are not all there (-q)",
    ),
];

static HEADER: LazyLock<Regex> = LazyLock::new(|| pattern(r"^HPING \S+ \(\S+ \S+\): (.+) set, \d+ headers \+ \d+ data bytes$"));
static REPLY: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^len=\d+ ip=\S+ ttl=\d+ (?:DF )?id=[-+]?\d+ (?:(?:tos|iplen)=\S+ )*(?:sport=\d+ (?:flags=([A-Z]*) )?)?(?:icmp_)?seq=\d+ (?:win=\d+ )?rtt=(\d+\.\d+) ms$",
    )
});
static COMPLAINT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^\[\w+\] .+|^Unable to resolve .+|^ICMP .+ from ip=.+|^[Ww]arning: .+|^(?:\S*/)?hping3: .+|^\S*sh: .*\bhping3: (?:command )?not found$",
    )
});

/// What the lines say beside their times.
#[derive(Debug, Default)]
struct Lines {
    /// The probes are SYN segments.
    syn: bool,
    /// Flags of the replies that have the reset.
    refusals: Vec<String>,
}

impl Parser for Hping3 {
    fn info(&self) -> ParserInfo {
        ParserInfo { name: "hping3", about: "hping3: round-trip times, loss and refusals of single packets", metrics: METRICS }
    }

    fn parse(&self, output: &ToolOutput<'_>) -> Parsed {
        let mut reading = Reading::default();
        let text = output.both();
        let (mut found, mut lines) = (RoundTrips::under(" hping statistic ---"), Lines::default());
        for line in text.lines().map(str::trim) {
            if let Some(reply) = REPLY.captures(line) {
                found.replies.extend(number::shifted(&reply[2], -3));
                lines.refusals.extend(reply.get(1).map(|flags| flags.as_str().to_owned()).filter(|flags| flags.contains('R')));
            } else if let Some(header) = HEADER.captures(line) {
                lines.syn = &header[1] == "S";
            } else {
                found.take(line);
            }
        }
        found.complain(&text, &COMPLAINT, &mut reading);
        if found.is_there() {
            found.tell(true, &mut reading);
            refusals(&found, &lines, &mut reading);
        } else {
            reading.fail("no report of hping3 in the output");
        }
        if found.summaries > 1 {
            reading.beware("several reports of hping3: the last summary counts");
        }
        reading.finish(output)
    }
}

fn refusals(found: &RoundTrips, lines: &Lines, reading: &mut Reading) {
    if !lines.syn || found.received() == 0.0 {
        return;
    }
    let refused = lines.refusals.len();
    if found.has_every_line() {
        reading.metric("errors", refused as f64, Unit::ONE);
    } else {
        reading.beware("the lines of the replies are not all there: whether the port is open (`flags=SA`) cannot be told");
    }
    if let Some(flags) = lines.refusals.last() {
        reading.fail(format!("{refused} replies refuse the connection (`flags={flags}`): the port is closed"));
    }
}
