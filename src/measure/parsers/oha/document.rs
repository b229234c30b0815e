//! The JSON of `oha`.

use super::Report;
use crate::measure::parsers::answers::Answers;
use crate::measure::parsers::last_json::Document;
use serde_json::Value;

const PERCENTILES: [(&str, &str); 9] = [
    ("p10", "p10"),
    ("p25", "p25"),
    ("p50", "p50"),
    ("p75", "p75"),
    ("p90", "p90"),
    ("p95", "p95"),
    ("p99", "p99"),
    ("p99.9", "p999"),
    ("p99.99", "p9999"),
];

impl Report {
    /// Reads a document.
    ///
    /// # Errors
    /// It is not of `oha`, repeats a key, or lacks what every report has; without responses latencies are null.
    pub(super) fn of_document(document: &Document) -> Result<Self, String> {
        let value = &document.value;
        let part = |name: &str| value.get(name).filter(|part| part.is_object());
        let (Some(summary), Some(percentiles)) = (part("summary"), part("latencyPercentiles")) else {
            return Err("the last JSON document is not a report of oha".to_owned());
        };
        if document.first_wins.is_some() {
            return Err("the report of oha is damaged: it repeats a key".to_owned());
        }
        let lacks = || "the report of oha is damaged: it lacks `statusCodeDistribution`, `errorDistribution` or `summary`".to_owned();
        let answers = answers(part("statusCodeDistribution"), part("errorDistribution")).ok_or_else(lacks)?;
        if part("responseTimeHistogram").and_then(counted) != Some(answers.responses()) {
            return Err("the report of oha contradicts itself: its histogram does not count its responses".to_owned());
        }
        let mut report = Self {
            rate: number(summary, "requestsPerSec"),
            duration: number(summary, "total").filter(|seconds| *seconds > 0.0),
            success_rate: number(summary, "successRate"),
            body_bytes: number(summary, "totalData"),
            body_bytes_per_second: number(summary, "sizePerSec"),
            ..Self::default()
        };
        report.answered(Some(answers));
        for (key, name) in [("average", "avg"), ("fastest", "min"), ("slowest", "max")] {
            report.latencies.set(name, number(summary, key));
        }
        for (key, name) in PERCENTILES {
            report.latencies.set(name, number(percentiles, key));
        }
        Ok(report)
    }
}

fn answers(statuses: Option<&Value>, errors: Option<&Value>) -> Option<Answers> {
    let mut answers = Answers::default();
    for (status, count) in statuses?.as_object()? {
        let status = status.parse().ok().filter(|code| (100..600).contains(code))?;
        answers.statuses.push((status, count.as_u64()? as f64));
    }
    for (text, count) in errors?.as_object()? {
        answers.errors.push((text.clone(), count.as_u64()? as f64));
    }
    Some(answers)
}

/// What is in the classes of a histogram.
fn counted(histogram: &Value) -> Option<f64> {
    histogram.as_object()?.values().try_fold(0.0, |sum, count| Some(sum + count.as_u64()? as f64))
}

/// A number that cannot be negative.
fn number(object: &Value, name: &str) -> Option<f64> {
    object.get(name).and_then(Value::as_f64).filter(|value| *value >= 0.0)
}
