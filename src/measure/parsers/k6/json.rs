//! The three JSON forms of k6's summary.

use super::summary::Summary;
use crate::measure::parsers::last_json::last_document;
use serde_json::Value;

/// Reads the last summary; none when there is none. `root_group` stands in the forms of before 1.0, `k6Version` in the one since.
pub(super) fn read(text: &str) -> Option<Result<Summary, String>> {
    let runs = text.matches("\"root_group\"").count() + text.matches("\"k6Version\"").count();
    (runs > 0).then(|| document(text).map(|summary| Summary { runs, ..summary }))
}

fn document(text: &str) -> Result<Summary, String> {
    let document = last_document(text)?;
    if document.first_wins.is_some() {
        return Err("the JSON of k6 gives a key two values".to_owned());
    }
    let document = Document(document.value);
    if document.0.get("metrics").is_some_and(Value::is_object) || document.0.pointer("/results/metrics").is_some_and(Value::is_array) {
        Ok(document.summary())
    } else {
        Err("the last JSON document is not a summary of k6".to_owned())
    }
}

struct Document(Value);

impl Document {
    /// The values of a metric: beside each other, under `values`, or in an element of a list.
    fn values(&self, name: &str) -> Option<&Value> {
        if let Some(metrics) = self.0.get("metrics") {
            let metric = metrics.get(name)?;
            return Some(metric.get("values").unwrap_or(metric));
        }
        let lists = ["/results/metrics", "/results/checks/metrics"].into_iter().filter_map(|path| self.0.pointer(path)?.as_array());
        lists.flatten().find(|metric| metric.get("name").and_then(Value::as_str) == Some(name))?.get("values")
    }

    fn summary(&self) -> Summary {
        let number = |name: &str, key: &str| positive(self.values(name)?.get(key));
        let milliseconds = positive(self.0.pointer("/state/testRunDurationMs"));
        let told_duration = milliseconds.map(|value| value / 1e3).or_else(|| positive(self.0.pointer("/config/duration")));
        // The machine-readable form has counts alone.
        let per_second = |count: Option<f64>| Some(count? / told_duration.filter(|seconds| *seconds > 0.0)?);
        let rate = |name: &str| number(name, "rate").or_else(|| per_second(number(name, "count")));
        let mut summary = Summary {
            requests: number("http_reqs", "count"),
            rate: rate("http_reqs"),
            failed: self.values("http_req_failed").and_then(share),
            iterations: number("iterations", "count"),
            iteration_rate: rate("iterations"),
            dropped: number("dropped_iterations", "count"),
            checks_passed: self.values("checks").or_else(|| self.values("checks_succeeded")).and_then(share),
            told_duration,
            bytes: number("data_received", "count"),
            bytes_per_second: rate("data_received"),
            crossed: self.crossed(),
            ..Summary::default()
        };
        summary.take_latencies(|statistic| number("http_req_duration", statistic).map(|milliseconds| milliseconds / 1e3));
        summary
    }

    /// `"p(95)<200": true` in an export says that it was crossed, `{"ok": false}` elsewhere.
    fn crossed(&self) -> Vec<String> {
        let metrics = self.0.get("metrics").and_then(Value::as_object).into_iter().flatten();
        let mut crossed = Vec::new();
        for (name, metric) in metrics {
            for (expression, state) in metric.get("thresholds").and_then(Value::as_object).into_iter().flatten() {
                if state.as_bool().or_else(|| state.get("ok").and_then(Value::as_bool).map(|ok| !ok)) == Some(true) {
                    crossed.push(format!("{name}: {expression}"));
                }
            }
        }
        crossed
    }
}

fn positive(value: Option<&Value>) -> Option<f64> {
    value.and_then(Value::as_f64).filter(|value| *value >= 0.0)
}

/// How many were true, and of how many.
fn share(values: &Value) -> Option<(f64, f64)> {
    let count = |key: &str| values.get(key).and_then(Value::as_u64).map(|count| count as f64);
    match (count("passes"), count("fails")) {
        (Some(passes), Some(fails)) => Some((passes, passes + fails)),
        _ => count("matches").zip(count("total")),
    }
}
