//! The JSON of `autocannon -j`.

use super::Report;
use crate::measure::parsers::last_json::Document;
use crate::measure::parsers::latencies::Latencies;
use serde_json::Value;

/// Keys and names. `min` is the smallest latency but 0, and therefore not the smallest.
const LATENCIES: [(&str, &str); 12] = [
    ("average", "avg"),
    ("stddev", "stdev"),
    ("max", "max"),
    ("p10", "p10"),
    ("p25", "p25"),
    ("p50", "p50"),
    ("p75", "p75"),
    ("p90", "p90"),
    ("p97_5", "p975"),
    ("p99", "p99"),
    ("p99_9", "p999"),
    ("p99_99", "p9999"),
];

impl Report {
    /// Reads a document.
    ///
    /// # Errors
    /// It is not of `autocannon`, or repeats a key.
    pub(super) fn of_document(document: &Document) -> Result<Self, String> {
        let value = &document.value;
        let part = |name: &str| value.get(name).filter(|part| part.is_object());
        let (Some(latency), Some(requests), Some(throughput)) = (part("latency"), part("requests"), part("throughput")) else {
            return Err("the last JSON document is not a report of autocannon".to_owned());
        };
        if document.first_wins.is_some() {
            return Err("the report of autocannon is damaged: it repeats a key".to_owned());
        }
        let mut report = Self {
            rate: number(requests, "average"),
            rate_stdev: number(requests, "stddev"),
            rate_min: number(requests, "min"),
            rate_max: number(requests, "max"),
            requests: number(requests, "total"),
            sent: number(requests, "sent"),
            duration: number(value, "duration"),
            errors: number(value, "errors"),
            timeouts: number(value, "timeouts"),
            non_2xx: number(value, "non2xx"),
            mismatches: number(value, "mismatches"),
            latencies: latencies(latency),
            bytes: number(throughput, "total"),
            bytes_per_second: number(throughput, "average"),
            ..Self::default()
        };
        let by_class = ["1xx", "2xx", "3xx", "4xx", "5xx"].map(|class| number(value, class));
        let needed = [report.rate, report.requests, report.duration, report.errors, report.timeouts, report.non_2xx, report.mismatches];
        report.complete = needed.iter().chain(&by_class).all(Option::is_some);
        report.contradiction = report.complete && !adds_up(&report, by_class.map(Option::unwrap_or_default));
        Ok(report)
    }
}

fn latencies(latency: &Value) -> Latencies {
    let mut latencies = Latencies::default();
    for (key, name) in LATENCIES {
        latencies.set(name, number(latency, key).map(|milliseconds| milliseconds / 1e3));
    }
    latencies
}

/// Every response has a class; those that come while it stops may be missing among the requests.
fn adds_up(report: &Report, by_class: [f64; 5]) -> bool {
    let responses = by_class.iter().fold(0.0, |sum, count| sum + count);
    let (requests, non_2xx) = (report.requests.unwrap_or_default(), report.non_2xx.unwrap_or_default());
    (responses - requests).abs() <= responses * 0.01 + 1.0 && responses - by_class[1] == non_2xx
}

/// A number that cannot be negative.
fn number(object: &Value, name: &str) -> Option<f64> {
    object.get(name).and_then(Value::as_f64).filter(|value| *value >= 0.0)
}
