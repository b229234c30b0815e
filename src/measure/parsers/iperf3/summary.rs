//! The text of `iperf3` without `--json`: only the lines at its end that are marked `sender` and `receiver`.

use super::report::{Datagrams, Direction, Report, Side};
use crate::measure::parsers::constants::pattern;
use crate::measure::parsers::number;
use regex::{Captures, Regex};
use std::sync::LazyLock;

static ROW: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^\[ *(?P<stream>SUM|\d+)\](?:\[(?P<role>TX|RX)-C\])? +0\.00-(?P<seconds>\d+\.\d\d) +sec +(?P<bytes>\d+(?:\.\d+)?) +(?P<bytes_prefix>[KMGT]?)Bytes +(?P<rate>\d+(?:\.\d+)?) +(?P<rate_prefix>[KMGT]?)(?P<rate_unit>bits|Bytes)/sec(?: +(?P<jitter>\d+\.\d{3}) ms +(?P<lost>\d+)/(?P<all>\d+) \((?P<percent>\d+(?:\.\d+)?(?:e[-+]\d+)?)%\)| +(?P<retransmits>\d+))? +(?P<side>sender|receiver)$",
    )
});

/// The lines of one end of a direction.
#[derive(Debug, Default)]
struct Lines<'a> {
    sum: Option<Captures<'a>>,
    streams: Vec<Captures<'a>>,
}

impl<'a> Lines<'a> {
    fn add(&mut self, row: Captures<'a>) {
        if &row["stream"] == "SUM" { self.sum = Some(row) } else { self.streams.push(row) }
    }

    /// The line of all streams; of several without their sum there is none.
    fn all(&self) -> Option<&Captures<'a>> {
        match (&self.sum, &self.streams[..]) {
            (Some(sum), _) => Some(sum),
            (None, [stream]) => Some(stream),
            _ => None,
        }
    }
}

/// Reads the text of one report; none when nothing of it is there.
pub(super) fn read(text: &str) -> Option<Report> {
    let mut lines: [Lines<'_>; 4] = Default::default();
    let mut complete = false;
    for line in text.lines().map(str::trim) {
        complete |= line == "iperf Done.";
        if let Some(row) = ROW.captures(line) {
            let back = row.name("role").is_some_and(|role| role.as_str() == "RX");
            let at = usize::from(back) * 2 + usize::from(&row["side"] == "receiver");
            lines[at].add(row);
        }
    }
    let [sent, received, reverse_sent, reverse_received] = lines.map(|lines| lines.all().map(Row::read));
    let there = |sent: Option<Row>, received: Option<Row>| (sent.is_some() || received.is_some()).then(|| direction(sent, received));
    let (forward, reverse) = (there(sent, received), there(reverse_sent, reverse_received));
    if forward.is_none() && reverse.is_none() {
        return None;
    }
    Some(Report { forward: forward.unwrap_or_default(), reverse, rounded: true, complete, ..Report::default() })
}

/// A line, in base units.
#[derive(Debug)]
struct Row {
    side: Option<Side>,
    retransmits: Option<f64>,
    datagrams: Option<Datagrams>,
}

fn direction(sent: Option<Row>, received: Option<Row>) -> Direction {
    let retransmits = sent.as_ref().and_then(|row| row.retransmits);
    // What the sender's line says of losses is always 0.
    let datagrams = received.as_ref().and_then(|row| row.datagrams);
    Direction { sent: sent.and_then(|row| row.side), received: received.and_then(|row| row.side), retransmits, datagrams }
}

impl Row {
    fn read(row: &Captures<'_>) -> Self {
        let part = |name: &str| row.name(name).map(|part| part.as_str());
        Self { side: side(row), retransmits: part("retransmits").and_then(number::count), datagrams: datagrams(row) }
    }
}

/// Bytes are of 1024 each, bits of 1000.
fn side(row: &Captures<'_>) -> Option<Side> {
    let power = |name: &str| ["", "K", "M", "G", "T"].iter().position(|known| *known == &row[name]).and_then(|at| i32::try_from(at).ok());
    let bytes = |value: &str, prefix: &str| Some(number::point(&row[value])? * 1024f64.powi(power(prefix)?));
    let bytes_per_second = match &row["rate_unit"] {
        "bits" => number::shifted(&row["rate"], 3 * power("rate_prefix")?)? / 8.0,
        _ => bytes("rate", "rate_prefix")?,
    };
    let seconds = number::point(&row["seconds"]).filter(|seconds| *seconds > 0.0)?;
    Some(Side { bytes: bytes("bytes", "bytes_prefix")?, seconds, bytes_per_second })
}

fn datagrams(row: &Captures<'_>) -> Option<Datagrams> {
    let part = |name: &str| row.name(name).map(|part| part.as_str());
    Some(Datagrams {
        jitter: number::shifted(part("jitter")?, -3)?,
        lost: number::count(part("lost")?)?,
        all: number::count(part("all")?)?,
        lost_percent: number::point(part("percent")?)?,
    })
}
