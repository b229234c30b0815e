//! The tables that locust prints: counts and rates, then percentiles, then errors by kind. Only the first also while it runs.

use super::stats::{PERCENTILES, Stats, kind};
use crate::measure::parsers::constants::pattern;
use crate::measure::parsers::number;
use regex::Regex;
use std::sync::LazyLock;

/// `GET /mix 113 11(9.73%) | 18 1 170 13 | 47.58 4.63`: name, requests, failures, their part, mean, min, max, median, rates.
static ROW: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"^(\S.*?)\s+(\d+)\s+(\d+)\((\d+\.\d\d)%\)\s*\|\s*(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s*\|\s*(\d+\.\d\d)\s+(\d+\.\d\d)$")
});
static OCCURRENCES: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(\d+)\s+(\S.*)$"));

/// What is read so far.
#[derive(Default)]
struct Tables {
    /// Of the rows of the table that is being read.
    requests: f64,
    failures: f64,
    /// Whether a table of counts has begun, and not ended.
    is_open: bool,
    /// The last whole table of counts.
    stats: Option<Stats>,
    /// The columns of the table of percentiles that is being read.
    columns: Vec<String>,
    /// Whether the percentiles of `stats` are there.
    has_percentiles: bool,
    in_errors: bool,
    damaged: bool,
}

/// Reads the tables; none when there are none.
pub(super) fn read(text: &str) -> Option<Result<Stats, String>> {
    let mut tables = Tables::default();
    for line in text.lines().map(str::trim) {
        tables.line(line);
    }
    match tables.stats {
        Some(stats) if (tables.has_percentiles || stats.requests == 0.0) && !tables.damaged && !tables.is_open => Some(Ok(stats)),
        None if !tables.is_open => None,
        _ => Some(Err("the tables of locust are damaged, cut off, or those of an unfinished run".to_owned())),
    }
}

impl Tables {
    fn line(&mut self, line: &str) {
        if line.contains("# reqs") && line.contains("# fails") {
            (self.requests, self.failures, self.is_open, self.in_errors) = (0.0, 0.0, true, false);
        } else if line.starts_with("Type") && line.contains("50%") && line.ends_with("# reqs") {
            self.columns = line.split_whitespace().filter(|column| column.ends_with('%')).map(str::to_owned).collect();
        } else if line == "Error report" {
            self.in_errors = true;
        } else if let Some(found) = ROW.captures(line) {
            self.row(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map(|at| &found[at]));
        } else if let Some(row) = line.strip_prefix("Aggregated") {
            self.percentiles(&row.split_whitespace().collect::<Vec<_>>());
        } else if line.is_empty() {
            self.in_errors = false;
        } else if let Some(found) = OCCURRENCES.captures(line).filter(|_| self.in_errors) {
            self.stats.iter_mut().for_each(|stats| stats.kinds.push(kind(&found[1], &found[2])));
        }
    }

    fn row(&mut self, fields: &[&str; 10]) {
        let [name, requests, failures, part, avg, min, max, median, rate, failure_rate] = fields;
        let numbers = [requests, failures].map(|text| number::count(text));
        let rates = [part, rate, failure_rate].map(|text| number::point(text));
        let ([Some(requests), Some(failures)], [Some(part), Some(rate), Some(failure_rate)]) = (numbers, rates) else { return };
        if *name != "Aggregated" {
            (self.requests, self.failures, self.is_open) = (self.requests + requests, self.failures + failures, true);
            return;
        }
        let seconds = |text: &str| number::shifted(text, -3);
        let latencies = [("latency_avg", avg), ("latency_min", min), ("latency_max", max)];
        let latencies = latencies.into_iter().filter_map(|(name, text)| Some((name, seconds(text)?))).collect();
        let mut stats = Stats { requests, failures, rate: Some(rate), latencies, runs: 1, ..Stats::default() };
        stats.check(0.001);
        let failed = if requests > 0.0 { failures / requests } else { 0.0 };
        if (self.requests, self.failures) != (requests, failures) {
            stats.contradiction = Some("its row `Aggregated` is not the sum of the others");
        } else if (failed * 100.0 - part).abs() > 0.006 || (failed * rate - failure_rate).abs() > 0.011 {
            stats.contradiction = Some("its failures are not the part, or the rate, that it prints");
        } else if median.parse::<f64>().is_ok_and(|median| median / 1e3 > stats.latency("latency_max").unwrap_or(f64::INFINITY) + 0.005) {
            stats.contradiction = Some("its response times are not in order");
        }
        *self = Self { stats: Some(stats), ..Self::default() };
    }

    /// Takes the row of percentiles that ends the table of `columns`.
    fn percentiles(&mut self, fields: &[&str]) {
        let Some(stats) = &mut self.stats else { return };
        let Some((requests, fields)) = fields.split_last().filter(|(_, fields)| fields.len() == self.columns.len() && !fields.is_empty())
        else {
            self.damaged = true;
            return;
        };
        self.has_percentiles = number::count(requests) == Some(stats.requests);
        for (percent, name) in PERCENTILES {
            let mut found = self.columns.iter().zip(fields).filter(|(column, _)| *column == percent);
            if let (Some((_, text)), None) = (found.next(), found.next()) {
                stats.latencies.extend(number::count(text).and_then(|_| number::shifted(text, -3)).map(|seconds| (name, seconds)));
            }
        }
        stats.check(0.001);
    }
}
