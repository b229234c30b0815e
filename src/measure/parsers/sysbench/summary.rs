//! The final summary of one run of sysbench, line by line: `key: value` under headings that changed with the versions.

use crate::measure::parsers::constants::pattern;
use crate::measure::parsers::number;
use crate::model::metric::Unit;
use regex::Regex;
use std::sync::LazyLock;

/// What a summary says.
#[derive(Debug, Default)]
pub(super) struct Summary {
    /// `total time`, s.
    pub duration: Option<f64>,
    /// `total number of events`.
    pub events: Option<f64>,
    /// Names and seconds, in the order of the dictionary.
    pub latencies: Vec<(String, f64)>,
    /// What only some tests print.
    pub others: Vec<(&'static str, f64, Unit)>,
    /// Written by 0.4 or 0.5.
    pub before_1_0: bool,
    printed_rate: Option<f64>,
    section: Section,
}

/// The headings whose lines mean nothing without them.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
enum Section {
    #[default]
    Other,
    /// Lines without a unit are milliseconds.
    Latency,
    Queries,
}

/// `1710   (426.74 per sec.)`
static COUNT_AND_RATE: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(\d+) +\( *(\d+\.\d+) (?:per second|per sec\.|ops/sec)\)$"));
/// `2048.00 MiB transferred (2468.07 MiB/sec)`; 0.4 and 0.5 write MB and mean the same.
static TRANSFERRED: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(\d+\.\d+) Mi?B transferred \((\d+\.\d+) Mi?B/sec\)$"));
/// fileio before 1.0: `Read 9.375Mb  Written 6.25Mb  Total transferred 15.625Mb  (7.8086Mb/sec)`, of 1024 each.
static MOVED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^Read \S+b +Written \S+b +Total transferred (\d+(?:\.\d+)?)([KMGT]?)b +\((\d+(?:\.\d+)?)([KMGT]?)b/sec\)$"));
/// fileio before 1.0.
static EXECUTED: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(\d+\.\d+) Requests/sec executed$"));
static PERCENTILE: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(?:approx\. +)?(\d{1,3})(?:st|nd|rd|th)? percentile$"));
static MILLISECONDS: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(\d+\.\d+)(ms|s)?$"));

const MEBIBYTE: f64 = 1_048_576.0;

impl Summary {
    pub(super) fn read(text: &str) -> Self {
        let mut summary = Self { before_1_0: text.starts_with("sysbench 0."), ..Self::default() };
        for line in text.lines().map(str::trim).filter(|line| !line.starts_with('[')) {
            if let Some(found) = TRANSFERRED.captures(line) {
                summary.other("bytes_per_second", number::point(&found[2]).map(|value| value * MEBIBYTE), Unit::BYTES_PER_SECOND);
                summary.other("bytes", number::point(&found[1]).map(|value| value * MEBIBYTE), Unit::BYTE);
            } else if let Some(found) = MOVED.captures(line) {
                summary.other("bytes_per_second", bytes(&found[3], &found[4]), Unit::BYTES_PER_SECOND);
                summary.other("bytes", bytes(&found[1], &found[2]), Unit::BYTE);
            } else if let Some(found) = EXECUTED.captures(line) {
                summary.printed_rate = number::point(&found[1]);
            } else if let Some((key, value)) = line.split_once(':') {
                summary.line(key, value.trim());
            }
        }
        let order = ["latency_avg", "latency_min", "latency_max"];
        summary.latencies.sort_by_key(|(name, _)| order.iter().position(|known| known == name).unwrap_or(order.len()));
        summary
    }

    /// Whether there is a summary at all.
    pub(super) fn is_there(&self) -> bool {
        self.duration.is_some()
    }

    /// Events per second: as printed, else events over time.
    pub(super) fn rate(&self) -> Option<f64> {
        let computed = || Some(self.events? / self.duration.filter(|duration| *duration > 0.0)?);
        self.printed_rate.or_else(computed)
    }

    /// The printed rate is taken over the time of the threads, not the total: they differ by a start and an end, not by half.
    pub(super) fn contradicts_itself(&self) -> bool {
        let seconds = self.duration.filter(|duration| *duration >= 0.05);
        let rate = match (self.printed_rate, self.events, seconds) {
            (Some(printed), Some(events), Some(seconds)) => !(0.5..2.0).contains(&(printed * seconds / events)),
            _ => false,
        };
        let latency = |name: &str| self.latencies.iter().find(|(known, _)| known == name).map(|(_, value)| *value);
        let wrong = |low: Option<f64>, high: Option<f64>| low.zip(high).is_some_and(|(low, high)| low > high);
        let (avg, min, max) = (latency("latency_avg"), latency("latency_min"), latency("latency_max"));
        rate || wrong(min, avg) || wrong(avg, max)
    }

    fn line(&mut self, key: &str, value: &str) {
        if value.is_empty() {
            self.before_1_0 |= matches!(key, "response time" | "per-request statistics" | "Test execution summary");
            self.section = match key {
                "Latency (ms)" | "response time" | "per-request statistics" => Section::Latency,
                "queries performed" => Section::Queries,
                _ => Section::Other,
            };
            return;
        }
        let count_and_rate = COUNT_AND_RATE.captures(value);
        let rate = count_and_rate.as_ref().and_then(|found| number::point(&found[2]));
        let count = count_and_rate.as_ref().and_then(|found| number::count(&found[1]));
        match key {
            "total time" | "time elapsed" => self.duration = value.strip_suffix('s').and_then(number::point),
            "total number of events" => self.events = number::count(value),
            "events per second" | "events/s (eps)" => self.printed_rate = number::point(value),
            "transactions" | "Total operations" | "Operations performed" => self.printed_rate = rate,
            "queries" => self.other("queries_per_second", rate, Unit::PER_SECOND),
            "total" if self.section == Section::Queries => self.other("queries", number::count(value), Unit::ONE),
            "ignored errors" | "deadlocks" => self.other("errors", count, Unit::ONE),
            "reconnects" => self.other("reconnects", count, Unit::ONE),
            "reads/s" => self.other("reads_per_second", number::point(value), Unit::PER_SECOND),
            "writes/s" => self.other("writes_per_second", number::point(value), Unit::PER_SECOND),
            "fsyncs/s" => self.other("fsyncs_per_second", number::point(value), Unit::PER_SECOND),
            "read, MiB/s" => self.other("read_bytes_per_second", mebibytes(value), Unit::BYTES_PER_SECOND),
            "written, MiB/s" => self.other("written_bytes_per_second", mebibytes(value), Unit::BYTES_PER_SECOND),
            _ if self.section == Section::Latency => self.latency(key, value),
            _ => {}
        }
    }

    fn latency(&mut self, key: &str, value: &str) {
        let name = match (key, PERCENTILE.captures(key)) {
            ("min" | "avg" | "max", _) => format!("latency_{key}"),
            (_, Some(found)) => format!("latency_p{}", &found[1]),
            _ => return,
        };
        let Some(found) = MILLISECONDS.captures(value) else { return };
        let exponent = if found.get(2).is_some_and(|unit| unit.as_str() == "s") { 0 } else { -3 };
        if let Some(seconds) = number::shifted(&found[1], exponent) {
            self.latencies.retain(|(known, _)| *known != name);
            self.latencies.push((name, seconds));
        }
    }

    fn other(&mut self, name: &'static str, value: Option<f64>, unit: Unit) {
        if let Some(value) = value {
            self.others.retain(|(known, ..)| *known != name);
            self.others.push((name, value, unit));
        }
    }
}

fn mebibytes(text: &str) -> Option<f64> {
    number::point(text).map(|value| value * MEBIBYTE)
}

/// `1.5` and `G`.
fn bytes(text: &str, prefix: &str) -> Option<f64> {
    let power = ["", "K", "M", "G", "T"].iter().position(|known| *known == prefix)?;
    number::point(text).map(|value| value * 1024f64.powi(i32::try_from(power).unwrap_or(0)))
}
