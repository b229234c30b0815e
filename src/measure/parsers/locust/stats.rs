//! What every form of locust's report says of all requests together.

use crate::measure::parsers::plain_text::quoted;

/// The row `Aggregated`, or what stands for it.
#[derive(Debug, Default)]
pub(super) struct Stats {
    pub requests: f64,
    pub failures: f64,
    /// 1/s.
    pub rate: Option<f64>,
    /// Names of metrics and seconds, in the order of the dictionary.
    pub latencies: Vec<(&'static str, f64)>,
    pub body_bytes: Option<f64>,
    /// Failures by kind, ready to be told.
    pub kinds: Vec<String>,
    /// Why it is not to be believed.
    pub contradiction: Option<&'static str>,
    /// How many reports of this form there are.
    pub runs: usize,
}

/// The percentiles that locust prints, and what they are called here.
pub(super) const PERCENTILES: [(&str, &str); 10] = [
    ("50%", "latency_p50"),
    ("66%", "latency_p66"),
    ("75%", "latency_p75"),
    ("80%", "latency_p80"),
    ("90%", "latency_p90"),
    ("95%", "latency_p95"),
    ("98%", "latency_p98"),
    ("99%", "latency_p99"),
    ("99.9%", "latency_p999"),
    ("99.99%", "latency_p9999"),
];

impl Stats {
    /// The response time under that name, s.
    pub(super) fn latency(&self, name: &str) -> Option<f64> {
        self.latencies.iter().find(|(known, _)| *known == name).map(|(_, seconds)| *seconds)
    }

    /// Looks whether failures and response times can be as they are. `resolution` is the step of mean and extremes, s.
    pub(super) fn check(&mut self, resolution: f64) {
        let above = |low: Option<f64>, high: Option<f64>| low.zip(high).is_some_and(|(low, high)| low > high + resolution);
        let (avg, min, max) = (self.latency("latency_avg"), self.latency("latency_min"), self.latency("latency_max"));
        let percentiles: Vec<f64> = PERCENTILES.iter().filter_map(|(_, name)| self.latency(name)).collect();
        let disordered = percentiles.windows(2).any(|pair| pair[0] > pair[1]);
        if self.failures > self.requests {
            self.contradiction = Some("more requests failed than were made");
        } else if above(min, avg) || above(avg, max) || disordered {
            self.contradiction = Some("its response times are not in order");
        }
    }
}

/// One kind of failure as it is told.
pub(super) fn kind(occurrences: &str, what: &str) -> String {
    format!("{occurrences} times {}", quoted(what))
}
