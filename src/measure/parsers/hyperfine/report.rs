//! One timed command of `hyperfine`, from each form that it writes.

use crate::measure::parsers::constants::pattern;
use crate::measure::parsers::{csv_table, number};
use regex::{Captures, Regex};
use serde_json::Value;
use std::sync::LazyLock;

/// What is said of one command; times in s. What is not there is none.
#[derive(Debug, Default, Clone, PartialEq)]
pub(super) struct Timing {
    pub avg: Option<f64>,
    /// None for a single run.
    pub stdev: Option<f64>,
    pub min: Option<f64>,
    pub max: Option<f64>,
    pub median: Option<f64>,
    pub user: Option<f64>,
    pub sys: Option<f64>,
    pub runs: Option<f64>,
    /// Runs that did not end with exit code 0.
    pub failed: Option<f64>,
    /// Whether the numbers are rounded to 0.1 ms or 1 ms.
    pub rounded: bool,
    /// Every run, where it is told.
    times: Vec<f64>,
}

const UNIT: &str = r"(?:ms|s|µs)";

static MEAN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&format!(
        r"^Time \((?:mean ± σ|abs ≡)\): +(\d+\.\d+ {UNIT})(?: ± +(\d+\.\d+ {UNIT}))? +\[User: (\d+\.\d+ {UNIT}), System: (\d+\.\d+ {UNIT})\]$"
    ))
});
static RANGE: LazyLock<Regex> =
    LazyLock::new(|| pattern(&format!(r"^Range \(min … max\): +(\d+\.\d+ {UNIT}) … +(\d+\.\d+ {UNIT}) +(\d+) runs$")));

impl Timing {
    /// Reads the text of one benchmark; none when it has no result.
    pub(super) fn of_text(text: &str) -> Option<Self> {
        let mut timing = Self { rounded: true, ..Self::default() };
        for line in text.lines().map(str::trim) {
            let part = |found: &Captures<'_>, at: usize| found.get(at).and_then(|part| seconds(part.as_str()));
            if let Some(found) = MEAN.captures(line) {
                let single = line.starts_with("Time (abs");
                timing.avg = part(&found, 1);
                timing.stdev = part(&found, 2);
                (timing.user, timing.sys) = (part(&found, 3), part(&found, 4));
                if single {
                    // What is printed is the one run there was.
                    (timing.min, timing.max, timing.runs) = (timing.avg, timing.avg, Some(1.0));
                }
            } else if let Some(found) = RANGE.captures(line) {
                (timing.min, timing.max) = (part(&found, 1), part(&found, 2));
                timing.runs = number::count(&found[3]);
            }
        }
        timing.avg.is_some().then_some(timing)
    }

    /// Reads every entry of `results`.
    ///
    /// # Errors
    /// The document is not of hyperfine, or an entry lacks its mean.
    pub(super) fn of_document(document: &Value) -> Result<Vec<Self>, String> {
        let results = document.get("results").and_then(Value::as_array).filter(|results| !results.is_empty());
        let results = results.ok_or("the last JSON document is not a report of hyperfine, or has no results")?;
        results.iter().map(|result| Self::of_result(result).ok_or_else(|| "a result of hyperfine has no `mean`".to_owned())).collect()
    }

    fn of_result(result: &Value) -> Option<Self> {
        let field = |name: &str| result.get(name).and_then(Value::as_f64).filter(|value| *value >= 0.0);
        let times = result.get("times").and_then(Value::as_array);
        let codes = result.get("exit_codes").and_then(Value::as_array);
        Some(Self {
            avg: Some(field("mean")?),
            stdev: field("stddev"),
            min: field("min"),
            max: field("max"),
            median: field("median"),
            user: field("user"),
            sys: field("system"),
            runs: times.map(|times| times.len() as f64),
            // Of a run that a signal ended the code is null.
            failed: codes.map(|codes| codes.iter().filter(|code| code.as_i64() != Some(0)).count() as f64),
            rounded: false,
            times: times.into_iter().flatten().map(|time| time.as_f64().unwrap_or(f64::NAN)).collect(),
        })
    }

    /// Reads the rows of `--export-csv`; none where a column is missing.
    pub(super) fn of_table(text: &str) -> Vec<Self> {
        let column = |name: &str| csv_table::column(text, name).unwrap_or_default();
        let columns = ["mean", "stddev", "median", "user", "system", "min", "max"].map(column);
        let rows = columns[0].len();
        if columns.iter().any(|column| column.len() != rows) {
            return Vec::new();
        }
        let row = |at: usize| {
            let [avg, stdev, median, user, sys, min, max] = [0, 1, 2, 3, 4, 5, 6].map(|column| number::point(&columns[column][at]));
            Self { avg, stdev, min, max, median, user, sys, ..Self::default() }
        };
        (0..rows).map(row).filter(|timing| timing.avg.is_some()).collect()
    }

    /// The mean lies between the extremes, and where every run is told they are the mean and the extremes of these.
    pub(super) fn contradicts_itself(&self) -> bool {
        let disordered = |low: Option<f64>, high: Option<f64>| low.zip(high).is_some_and(|(low, high)| low > high);
        let differs = |told: Option<f64>, computed: f64| told.is_some_and(|told| (told - computed).abs() > 1e-9 + computed * 1e-6);
        let untrue = !self.times.is_empty() && {
            let times = || self.times.iter().copied();
            differs(self.avg, times().sum::<f64>() / self.times.len() as f64)
                || differs(self.min, times().fold(f64::INFINITY, f64::min))
                || differs(self.max, times().fold(0.0, f64::max))
                || times().any(f64::is_nan)
        };
        let [min, max] = [self.min, self.max];
        untrue || disordered(min, self.avg) || disordered(self.avg, max) || disordered(min, self.median) || disordered(self.median, max)
    }
}

fn seconds(text: &str) -> Option<f64> {
    let (value, unit) = text.split_once(' ')?;
    number::shifted(
        value,
        match unit {
            "s" => 0,
            "ms" => -3,
            _ => -6,
        },
    )
}
