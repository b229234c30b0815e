//! The JSON of `iperf3 --json`: only the sums at its end.

use super::report::{Datagrams, Direction, Report, Side};
use serde_json::Value;

/// Reads a document.
///
/// # Errors
/// It is not of iperf3.
pub(super) fn read(document: &Value) -> Result<Report, String> {
    let end = document.get("end").filter(|_| document.get("start").is_some());
    let error = document.get("error").and_then(Value::as_str).map(str::to_owned);
    if end.is_none() && error.is_none() {
        return Err("the last JSON document is not a report of iperf3 (it has no `end`)".to_owned());
    }
    let end = end.unwrap_or(&Value::Null);
    let cpus = |name: &str| number(end.get("cpu_utilization_percent")?, name).map(|percent| percent / 100.0);
    Ok(Report {
        forward: direction(end, "").unwrap_or_default(),
        reverse: direction(end, "_bidir_reverse"),
        round_trips: round_trips(end.get("streams")),
        cpus: ["host_total", "remote_total"].map(cpus),
        error,
        rounded: false,
        complete: true,
    })
}

/// The sums of a direction; none when there are none. Of UDP there is also a `sum`, which mixes the sender's rate with the
/// receiver's losses: it is not read.
fn direction(end: &Value, suffix: &str) -> Option<Direction> {
    let [sent, received] = ["sum_sent", "sum_received"].map(|name| end.get(format!("{name}{suffix}")));
    sent.or(received)?;
    Some(Direction {
        sent: sent.and_then(side),
        received: received.and_then(side),
        retransmits: sent.and_then(|sent| number(sent, "retransmits")),
        datagrams: received.and_then(datagrams),
    })
}

fn side(sum: &Value) -> Option<Side> {
    let seconds = number(sum, "seconds").filter(|seconds| *seconds > 0.0)?;
    Some(Side { bytes: number(sum, "bytes")?, seconds, bytes_per_second: number(sum, "bits_per_second")? / 8.0 })
}

fn datagrams(sum: &Value) -> Option<Datagrams> {
    Some(Datagrams {
        jitter: number(sum, "jitter_ms")? / 1e3,
        lost: number(sum, "lost_packets")?,
        all: number(sum, "packets")?,
        lost_percent: number(sum, "lost_percent")?,
    })
}

/// Over all streams, the mean only of a single one. A receiver knows none and writes 0.
fn round_trips(streams: Option<&Value>) -> [Option<f64>; 3] {
    let senders: Vec<&Value> = streams.and_then(Value::as_array).into_iter().flatten().filter_map(|stream| stream.get("sender")).collect();
    let seconds = |sender: &&Value, name: &str| number(sender, name).filter(|us| *us > 0.0).map(|us| us / 1e6);
    let all = |name: &str| senders.iter().map(|sender| seconds(sender, name)).collect::<Option<Vec<f64>>>().unwrap_or_default();
    let mean = all("mean_rtt").into_iter().next().filter(|_| senders.len() == 1);
    [all("min_rtt").into_iter().reduce(f64::min), mean, all("max_rtt").into_iter().reduce(f64::max)]
}

/// A number that cannot be negative.
fn number(object: &Value, name: &str) -> Option<f64> {
    object.get(name).and_then(Value::as_f64).filter(|value| *value >= 0.0)
}
