//! What `ping` and its kin print: packets and round-trip times of a summary, and a line for every reply.

use super::constants::{HIGHER, LOWER, info, pattern};
use super::number;
use super::plain_text::quoted;
use super::reading::Reading;
use crate::model::metric::{MetricInfo, Unit};
use regex::Regex;
use std::sync::LazyLock;

const PERCENTILE: &str = "that percentile (nearest rank) of the round-trip times in the lines of the replies; absent when a line is missing and of too few replies";

/// What they all yield, the main metric first.
pub(super) const AVG: MetricInfo =
    info("latency_avg", "s", LOWER, "mean round-trip time of the replies; without a summary of the lines that are there");
pub(super) const MIN: MetricInfo = info("latency_min", "s", LOWER, "smallest round-trip time; absent when printed as 0");
pub(super) const MAX: MetricInfo = info("latency_max", "s", LOWER, "largest round-trip time");
pub(super) const P50: MetricInfo = info("latency_p50", "s", LOWER, PERCENTILE);
pub(super) const P95: MetricInfo = info("latency_p95", "s", LOWER, PERCENTILE);
pub(super) const P99: MetricInfo = info("latency_p99", "s", LOWER, PERCENTILE);
pub(super) const SENT: MetricInfo = info("packets_sent", "1", None, "packets transmitted");
pub(super) const RECEIVED: MetricInfo = info("packets_received", "1", HIGHER, "replies received");
pub(super) const LOSS: MetricInfo =
    info("loss", "1", LOWER, "packets without a reply over packets sent, from both counts: the printed percentage is cut");

/// Percentiles, and how many replies each needs at least.
const PERCENTILES: [(&str, usize, usize); 3] = [("latency_p50", 50, 10), ("latency_p95", 95, 20), ("latency_p99", 99, 100)];

static PACKETS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(\d+) packets transmitted, (\d+) (?:packets )?received,((?: \+?\d+ (?:duplicates|corrupted|errors),)*) (-?\d+(?:\.\d+)?)% packet loss(?:, time (\d+)ms)?$",
    )
});
static EXTRA: LazyLock<Regex> = LazyLock::new(|| pattern(r"(\d+) (duplicates|corrupted|errors),"));
static TIMES: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(?:rtt|round-trip) min/avg/max(?:/(?:mdev|stddev))? = (\d+\.\d+)/(\d+\.\d+)/(\d+\.\d+)(?:/(\d+\.\d+))? ms(?:, pipe \d+)?(?:,? ipg/ewma \d+\.\d+/\d+\.\d+ ms)?$",
    )
});

/// The line of packets.
#[derive(Debug, Default)]
pub(super) struct Packets {
    pub sent: f64,
    pub received: f64,
    /// None when nothing is said of any.
    pub duplicates: Option<f64>,
    pub errors: Option<f64>,
    pub corrupted: Option<f64>,
    /// As printed, %.
    loss_percent: f64,
    /// s; iputils alone tells it.
    pub duration: Option<f64>,
}

/// A summary, and the lines before it.
#[derive(Debug)]
pub(super) struct RoundTrips {
    /// How the line over a summary of this tool ends; without it none is read.
    heading: &'static str,
    headed: bool,
    pub packets: Option<Packets>,
    /// Summaries seen.
    pub summaries: usize,
    /// Smallest, mean, largest and standard deviation, s.
    times: Option<[Option<f64>; 4]>,
    /// Round-trip times of the lines, as printed, in s.
    pub replies: Vec<f64>,
}

impl RoundTrips {
    /// Tells the lines in which the tool complains. Beside replies they are no reason: a packet that could not be sent is a lost one.
    pub(super) fn complain(&self, text: &str, complaint: &Regex, reading: &mut Reading) {
        for line in text.lines().map(str::trim).filter(|line| complaint.is_match(line)) {
            if self.received() > 0.0 { reading.beware(quoted(line)) } else { reading.fail(quoted(line)) }
        }
    }

    /// Nothing so far; `heading` is how the line over a summary ends.
    pub(super) fn under(heading: &'static str) -> Self {
        Self { heading, headed: false, packets: None, summaries: 0, times: None, replies: Vec::new() }
    }

    /// Takes a line when it is one of the summary.
    pub(super) fn take(&mut self, line: &str) {
        if line.starts_with("--- ") && line.ends_with(self.heading) {
            self.headed = true;
        } else if let Some(found) = PACKETS.captures(line).filter(|_| self.headed) {
            let extra =
                |kind: &str| EXTRA.captures_iter(&found[3]).find(|extra| &extra[2] == kind).and_then(|extra| number::count(&extra[1]));
            let (Some(sent), Some(received)) = (number::count(&found[1]), number::count(&found[2])) else { return };
            self.summaries += 1;
            self.times = None;
            self.packets = Some(Packets {
                sent,
                received,
                duplicates: extra("duplicates"),
                errors: extra("errors"),
                corrupted: extra("corrupted"),
                loss_percent: found[4].parse().unwrap_or(f64::NAN),
                duration: found.get(5).and_then(|time| number::shifted(time.as_str(), -3)),
            });
        } else if let Some(found) = TIMES.captures(line).filter(|_| self.packets.is_some()) {
            let seconds = |at: usize| found.get(at).and_then(|text| number::shifted(text.as_str(), -3));
            self.times = Some([1, 2, 3, 4].map(seconds));
        }
    }

    /// Whether anything is there.
    pub(super) fn is_there(&self) -> bool {
        self.packets.is_some() || !self.replies.is_empty()
    }

    /// Replies; none without a summary.
    pub(super) fn received(&self) -> f64 {
        self.packets.as_ref().map_or(0.0, |packets| packets.received)
    }

    /// Whether every reply has its line.
    pub(super) fn has_every_line(&self) -> bool {
        self.packets.as_ref().is_some_and(|packets| self.replies.len() as f64 == packets.received)
    }

    /// Tells what all tools of this kind have in common. `counts_duplicates`: more replies than packets are then possible.
    pub(super) fn tell(&self, counts_duplicates: bool, reading: &mut Reading) {
        self.latencies(reading);
        let Some(packets) = &self.packets else {
            return reading.fail("no summary, so the loss is not known: it was killed, or the output is cut off");
        };
        reading.metric("packets_sent", packets.sent, Unit::ONE);
        reading.metric("packets_received", packets.received, Unit::ONE);
        let lost = packets.sent - packets.received;
        if lost >= 0.0 && packets.sent > 0.0 {
            reading.metric("loss", lost / packets.sent, Unit::ONE);
        }
        if packets.received == 0.0 {
            reading.fail(format!("no reply: all {} packets were lost", packets.sent));
        } else if lost > 0.0 {
            reading.beware(format!("{lost} of {} packets were lost: the latencies are those of the others", packets.sent));
        } else if lost < 0.0 && counts_duplicates {
            reading.beware("more replies than packets: some came twice, and how many were lost is not known");
        }
        let agrees = ((lost / packets.sent) * 100.0 - packets.loss_percent).abs() <= 1.0;
        if !agrees || lost < 0.0 && !counts_duplicates || self.is_disordered() {
            reading.fail("the summary contradicts itself: the loss is not that of its packets, or its times are not in order");
        }
    }

    /// The summary's times; without a summary those of the lines.
    fn latencies(&self, reading: &mut Reading) {
        let computed = || {
            let count = self.replies.len() as f64;
            let replies = || self.replies.iter().copied();
            let min = replies().reduce(f64::min);
            // What is below the resolution cannot be part of a mean.
            let avg = min.filter(|min| *min > 0.0).map(|_| replies().sum::<f64>() / count);
            [min, avg, replies().reduce(f64::max), None]
        };
        let times = if self.packets.is_some() { self.times.filter(|_| self.received() > 0.0).unwrap_or_default() } else { computed() };
        let [min, avg, max, stdev] = times;
        let mut zeros = Vec::new();
        for (name, seconds) in [("latency_avg", avg), ("latency_stdev", stdev), ("latency_min", min), ("latency_max", max)] {
            match seconds {
                Some(0.0) if name != "latency_stdev" => zeros.push(name),
                // Of one reply there is no deviation.
                Some(_) if name == "latency_stdev" && self.received() < 2.0 => {}
                _ => reading.metric_if(name, seconds, Unit::SECOND),
            }
        }
        if !zeros.is_empty() {
            reading.beware(format!("printed as 0, below the resolution, and therefore absent: {}", zeros.join(", ")));
        }
        if self.has_every_line() {
            let mut replies = self.replies.clone();
            replies.sort_by(f64::total_cmp);
            for (name, percent, fewest) in PERCENTILES {
                let rank = (replies.len() * percent).div_ceil(100);
                let value = replies.get(rank.saturating_sub(1)).copied().filter(|value| replies.len() >= fewest && *value > 0.0);
                reading.metric_if(name, value, Unit::SECOND);
            }
        }
    }

    fn is_disordered(&self) -> bool {
        let [min, avg, max, _] = self.times.unwrap_or_default();
        let disordered = |low: Option<f64>, high: Option<f64>| low.zip(high).is_some_and(|(low, high)| low > high);
        disordered(min, avg) || disordered(avg, max)
    }
}
