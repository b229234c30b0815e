//! What the host did beside computing: waiting, swapping, heating up, complaining.

use super::read;
use super::span::Span;
use crate::measure::samplers::counters::Moment;
use crate::model::hygiene::Reading;

/// So much of a line of the kernel's log says enough.
const LONGEST_LINE: usize = 160;

pub(super) fn readings(span: &Span<'_>) -> Vec<Reading> {
    let waited = |counter: fn(&Moment) -> Option<u64>| Some((span.grown(counter)? as f64 / 1e6 / span.seconds).min(1.0));
    let host = &span.ended.host;
    let governor = host.governors.filter(|(_, all)| *all > 0).map(|(other, all)| f64::from(other) / f64::from(all));
    vec![
        read("memory-pressure", waited(|moment| moment.host.memory_full_us)),
        read("io-pressure", waited(|moment| moment.host.io_full_us)),
        read("governor", governor),
        read("frequency", host.clock_rate.filter(|rate| *rate > 0.0)),
        read("thermal", span.grown(|moment| moment.host.throttles).map(|count| count as f64)),
        read("swap", span.grown(|moment| moment.host.swapped).map(|pages| pages as f64)),
        log(host.complaints.as_deref()),
    ]
}

/// How many lines, and the first of them.
fn log(complaints: Option<&[String]>) -> Reading {
    let reading = read("kernel-log", complaints.map(|lines| lines.len() as f64));
    match complaints.and_then(<[String]>::first) {
        Some(line) => reading.about(line.chars().take(LONGEST_LINE).collect::<String>()),
        None => reading,
    }
}
