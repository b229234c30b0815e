//! The text of k6's summary, line by line.

use super::summary::Summary;
use crate::measure::parsers::constants::pattern;
use crate::measure::parsers::number;
use regex::Regex;
use std::sync::LazyLock;

/// `✗ http_req_duration..............: avg=14.56ms min=10.25ms`
static LINE: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(?:([✓✗])\s+)?(\{ .+ \}|[a-z_0-9]+)\.{3,}:\s+(.+)$"));
static COUNT: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(\d+)\s+(\d+(?:\.\d+)?)/s$"));
static DATA: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(\d+(?:\.\d+)?) ([kMGTPE]?)B\s+(\d+(?:\.\d+)?) ([kMGTPE]?)B/s$"));
/// Until 0.49 `✓ 45 ✗ 5`, since then `45 out of 50`.
static SHARE: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\d+\.\d\d%\s+(?:✓\s+(\d+)\s+✗\s+(\d+)|(\d+) out of (\d+))$"));
static CLOCK: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(?:(?:(\d+)h)?(\d+)m)?(\d+(?:\.\d+)?)s$"));
static SMALL: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(\d+(?:\.\d+)?)(ms|[µμu]s|ns)$"));
/// `✗ 'p(95)<1500' p(95)=1.6s`, below the name of its metric.
static CROSSED: LazyLock<Regex> = LazyLock::new(|| pattern(r"^✗ '(.+)' \S+=.+$"));
static METRIC: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(?:[a-z_0-9]+(?:\{.+\})?|\{.+\})$"));

/// Where a line stands. Before 1.0 there are no sections but titles of groups, which mean nothing.
#[derive(Default, Clone, Copy, PartialEq)]
enum Section {
    #[default]
    None,
    Thresholds,
    Total,
    /// Of a group or a scenario.
    Part,
}

/// What is read so far.
#[derive(Default)]
struct Reader<'a> {
    summary: Summary,
    section: Section,
    /// The metric whose thresholds are being read.
    metric: &'a str,
    /// The metrics of the list of before 1.0 that is being read.
    listed: Vec<&'a str>,
    runs: usize,
}

/// Reads the last summary; none when there is none.
pub(super) fn read(text: &str) -> Option<Summary> {
    let mut reader = Reader::default();
    text.lines().for_each(|line| reader.line(line.trim()));
    let Reader { summary, runs, section, .. } = reader;
    let is_there = section != Section::None || summary.requests.is_some() || summary.iterations.is_some();
    is_there.then_some(Summary { runs, ..summary })
}

impl<'a> Reader<'a> {
    fn line(&mut self, line: &'a str) {
        match (line.strip_prefix("█ ").map(str::trim), self.section) {
            (Some("THRESHOLDS"), _) => (self.summary, self.section) = (Summary::default(), Section::Thresholds),
            (Some("TOTAL RESULTS"), before) => {
                if before != Section::Thresholds {
                    self.summary = Summary::default();
                }
                (self.section, self.runs) = (Section::Total, self.runs + 1);
            }
            (Some(_), Section::None) | (None, Section::Part) => {}
            (Some(_), _) => self.section = Section::Part,
            (None, Section::Thresholds) => match CROSSED.captures(line) {
                Some(found) => self.summary.crossed.push(format!("{}: {}", self.metric, &found[1])),
                None if METRIC.is_match(line) => self.metric = line,
                None => {}
            },
            (None, Section::None | Section::Total) => self.metric_line(line),
        }
    }

    fn metric_line(&mut self, line: &'a str) {
        let Some(found) = LINE.captures(line) else { return };
        let part = |at: usize| found.get(at).map_or("", |part| part.as_str());
        let (mark, name, values) = (part(1), part(2), part(3));
        if self.section == Section::None && !name.starts_with('{') {
            // Lists follow each other without a title, and a list names a metric once.
            if self.listed.is_empty() || self.listed.contains(&name) {
                (self.summary, self.listed, self.runs) = (Summary::default(), Vec::new(), self.runs + 1);
            }
            self.listed.push(name);
        }
        if mark == "✗" {
            self.summary.crossed.push(name.to_owned());
        }
        self.summary.take(name, values.trim());
    }
}

impl Summary {
    fn take(&mut self, name: &str, values: &str) {
        match name {
            "http_reqs" => (self.requests, self.rate) = count(values),
            "iterations" => (self.iterations, self.iteration_rate) = count(values),
            "dropped_iterations" => self.dropped = count(values).0,
            "data_received" => (self.bytes, self.bytes_per_second) = data(values),
            "http_req_failed" => self.failed = share(values),
            "checks" | "checks_succeeded" => self.checks_passed = share(values),
            "http_req_duration" => {
                self.take_latencies(|statistic| {
                    let found = values.split_whitespace().find_map(|pair| pair.strip_prefix(statistic)?.strip_prefix('='));
                    found.and_then(seconds)
                });
            }
            _ => {}
        }
    }
}

fn count(text: &str) -> (Option<f64>, Option<f64>) {
    match COUNT.captures(text) {
        Some(found) => (number::count(&found[1]), number::point(&found[2])),
        None => (None, None),
    }
}

/// `6.6 GB 55 MB/s`, of 1000 each.
fn data(text: &str) -> (Option<f64>, Option<f64>) {
    let bytes = |value: &str, prefix: &str| {
        let power = ["", "k", "M", "G", "T", "P", "E"].iter().position(|known| *known == prefix)?;
        number::shifted(value, 3 * i32::try_from(power).ok()?)
    };
    match DATA.captures(text) {
        Some(found) => (bytes(&found[1], &found[2]), bytes(&found[3], &found[4])),
        None => (None, None),
    }
}

/// How many were true, and of how many.
fn share(text: &str) -> Option<(f64, f64)> {
    let found = SHARE.captures(text)?;
    let count = |at: usize| found.get(at).and_then(|count| number::count(count.as_str()));
    match (count(1), count(2)) {
        (Some(passes), Some(fails)) => Some((passes, passes + fails)),
        _ => count(3).zip(count(4)),
    }
}

/// `1m30s`, `1.14s`, `148.21ms`, `7µs`, `8ns`.
fn seconds(text: &str) -> Option<f64> {
    if let Some(found) = SMALL.captures(text) {
        let exponent = match &found[2] {
            "ms" => -3,
            "ns" => -9,
            _ => -6,
        };
        return number::shifted(&found[1], exponent);
    }
    let found = CLOCK.captures(text)?;
    let part = |at: usize| found.get(at).map_or("", |part| part.as_str());
    number::clock(part(1), part(2), part(3))
}
