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

/// Reads the last summary; none when there is none.
pub(super) fn read(text: &str) -> Option<Summary> {
    let (mut summary, mut section, mut metric, mut runs) = (Summary::default(), Section::None, "", 0);
    for line in text.lines().map(str::trim) {
        match line.strip_prefix("█ ").map(str::trim) {
            Some("THRESHOLDS") => (summary, section) = (Summary::default(), Section::Thresholds),
            Some("TOTAL RESULTS") => {
                if section != Section::Thresholds {
                    summary = Summary::default();
                }
                section = Section::Total;
                runs += 1;
            }
            Some(_) if section != Section::None => section = Section::Part,
            _ => match section {
                Section::Part => {}
                Section::Thresholds => match CROSSED.captures(line) {
                    Some(found) => summary.crossed.push(format!("{metric}: {}", &found[1])),
                    None if METRIC.is_match(line) => metric = line,
                    None => {}
                },
                Section::None | Section::Total => {
                    if let Some(found) = LINE.captures(line) {
                        // One list after another, without a title between them.
                        if section == Section::None && &found[2] == "iterations" {
                            runs += 1;
                        }
                        if found.get(1).is_some_and(|mark| mark.as_str() == "✗") {
                            summary.crossed.push(found[2].to_owned());
                        }
                        summary.take(&found[2], found[3].trim());
                    }
                }
            },
        }
    }
    (runs > 0 || summary.requests.is_some()).then_some(Summary { runs, ..summary })
}

impl Summary {
    fn take(&mut self, name: &str, values: &str) {
        match name {
            "http_reqs" => (self.requests, self.rate) = count(values),
            "iterations" => (self.iterations, self.iteration_rate) = count(values),
            "dropped_iterations" => self.dropped = count(values).0,
            "data_received" => (self.bytes, self.bytes_per_second) = data(values),
            "http_req_failed" => self.failed = share(values),
            "checks" => self.checks_failed = share(values).map(|(passed, of)| (of - passed, of)),
            "checks_failed" => self.checks_failed = share(values),
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
