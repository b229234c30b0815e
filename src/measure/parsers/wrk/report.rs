//! One report of `wrk`, line by line, and the JSON of a `done()` behind it.

use crate::measure::parsers::constants::pattern;
use crate::measure::parsers::{last_json, number};
use regex::Regex;
use serde_json::Value;
use std::sync::LazyLock;

/// Socket errors by kind.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Socket {
    pub connect: f64,
    pub read: f64,
    pub write: f64,
    pub timeout: f64,
}

/// What a report says. What is not there is none.
#[derive(Debug, Default)]
pub(super) struct Report {
    pub requests: Option<f64>,
    /// s.
    pub duration: Option<f64>,
    pub bytes: Option<f64>,
    /// 1/s.
    pub rate: Option<f64>,
    pub bytes_per_second: Option<f64>,
    pub socket: Option<Socket>,
    /// Responses with status 400 or more.
    pub bad_status: Option<f64>,
    /// Names and seconds, in the order of the dictionary.
    pub latencies: Vec<(String, f64)>,
    /// Mean, standard deviation and maximum of a thread, 1/s.
    pub thread_rates: [Option<f64>; 3],
    /// Latencies that were printed in no known form, with what was printed.
    pub unreadable: Vec<String>,
    /// Why a JSON document that looks like ours is not used.
    pub no_json: Option<String>,
    in_distribution: bool,
    /// A line of errors does not have its form: nothing may be taken for none.
    torn: bool,
}

const ORDER: [&str; 10] = ["avg", "stdev", "min", "max", "p50", "p75", "p90", "p95", "p99", "p999"];

static ROW: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(Latency|Req/Sec) +(\S+) +(\S+) +(\S+) +\S+%$"));
static PERCENTILE: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(50|75|90|99)% +(\S+)$"));
static SUMMARY: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(\d+) requests in (\S+), (\S+) read$"));
static SOCKET: LazyLock<Regex> = LazyLock::new(|| pattern(r"^Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)$"));
static STATUS: LazyLock<Regex> = LazyLock::new(|| pattern(r"^Non-2xx or 3xx responses: (\d+)$"));
static RATE: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(Requests|Transfer)/sec: +(\S+)$"));
static AMOUNT: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(\d+\.\d\d)([A-Za-z]*)$"));

impl Report {
    pub(super) fn read(text: &str) -> Self {
        let mut report = Self::default();
        for line in text.lines().map(str::trim) {
            report.line(line);
        }
        if text.contains("\"latency_us\"") {
            match last_json::last_document(text) {
                Ok(document) => report.refine(&document.value),
                Err(reason) => report.no_json = Some(reason),
            }
        }
        let place = |name: &str| ORDER.iter().position(|known| name.ends_with(&format!("_{known}"))).unwrap_or(ORDER.len());
        report.latencies.sort_by_key(|(name, _)| place(name));
        report
    }

    /// Whether there is a report at all.
    pub(super) fn is_there(&self) -> bool {
        self.requests.is_some() || self.rate.is_some() || self.latency("latency_max").is_some()
    }

    /// Whether everything is there that every report has, its last line included.
    pub(super) fn is_complete(&self) -> bool {
        !self.torn && [self.requests, self.duration, self.rate, self.bytes, self.bytes_per_second].iter().all(Option::is_some)
    }

    /// The time is printed with two decimals, of a minute too: rate, requests and time differ by that, not by a tenth.
    pub(super) fn contradicts_itself(&self) -> bool {
        let rate = match (self.rate.filter(|rate| *rate > 0.0), self.requests, self.duration) {
            (Some(rate), Some(requests), Some(duration)) => (requests / rate - duration).abs() > 0.02 + duration * 0.1,
            _ => false,
        };
        let percentiles: Vec<f64> =
            self.latencies.iter().filter(|(name, _)| name.starts_with("latency_p")).map(|(_, value)| *value).collect();
        let disordered = percentiles.windows(2).any(|pair| pair[0] > pair[1]);
        rate || disordered || self.latency("latency_avg").zip(self.latency("latency_max")).is_some_and(|(avg, max)| avg > max)
    }

    fn latency(&self, name: &str) -> Option<f64> {
        self.latencies.iter().find(|(known, _)| known == name).map(|(_, seconds)| *seconds)
    }

    fn line(&mut self, line: &str) {
        if let Some(found) = ROW.captures(line) {
            match &found[1] {
                "Latency" => ["avg", "stdev", "max"].into_iter().zip(2..).for_each(|(name, at)| self.add_latency(name, &found[at])),
                _ => self.thread_rates = [2, 3, 4].map(|at| rate(&found[at])),
            }
        } else if line == "Latency Distribution" {
            self.in_distribution = true;
        } else if let Some(found) = PERCENTILE.captures(line).filter(|_| self.in_distribution) {
            self.add_latency(&format!("p{}", &found[1]), &found[2]);
        } else if let Some(found) = SUMMARY.captures(line) {
            self.requests = number::count(&found[1]);
            self.duration = seconds(&found[2]);
            self.bytes = bytes(&found[3]);
        } else if let Some(found) = SOCKET.captures(line) {
            let count = |at: usize| number::count(&found[at]);
            self.socket = match (count(1), count(2), count(3), count(4)) {
                (Some(connect), Some(read), Some(write), Some(timeout)) => Some(Socket { connect, read, write, timeout }),
                _ => None,
            };
        } else if let Some(found) = STATUS.captures(line) {
            self.bad_status = number::count(&found[1]);
        } else if let Some(found) = RATE.captures(line) {
            match &found[1] {
                "Requests" => self.rate = amount(&found[2]).filter(|(_, unit)| unit.is_empty()).and_then(|(value, _)| number::point(value)),
                _ => self.bytes_per_second = bytes(&found[2]),
            }
        } else if line.starts_with("Socket errors") || line.starts_with("Non-2xx") {
            self.torn = true;
        }
    }

    fn add_latency(&mut self, name: &str, text: &str) {
        let name = format!("latency_{name}");
        match seconds(text) {
            Some(seconds) => self.set_latency(name, seconds),
            None => self.unreadable.push(format!("{name} `{text}`")),
        }
    }

    fn set_latency(&mut self, name: String, seconds: f64) {
        self.latencies.retain(|(known, _)| *known != name);
        self.latencies.push((name, seconds));
    }

    /// Takes the exact numbers in place of the printed ones.
    fn refine(&mut self, json: &Value) {
        let field = |object: &Value, name: &str| object.get(name).and_then(Value::as_f64).filter(|value| *value >= 0.0);
        let (Some(requests), Some(microseconds), Some(latencies)) =
            (field(json, "requests"), field(json, "duration_us"), json.get("latency_us"))
        else {
            self.no_json = Some("it lacks `requests`, `duration_us` or `latency_us`".to_owned());
            return;
        };
        if self.requests != Some(requests) {
            self.no_json = Some("it counts other requests than the report".to_owned());
            return;
        }
        if microseconds > 0.0 {
            let duration = microseconds / 1e6;
            self.duration = Some(duration);
            self.rate = Some(requests / duration);
            if let Some(bytes) = field(json, "bytes") {
                (self.bytes, self.bytes_per_second) = (Some(bytes), Some(bytes / duration));
            }
        }
        for name in ORDER {
            let key = if name == "avg" { "mean" } else { name };
            if let Some(microseconds) = field(latencies, key) {
                self.set_latency(format!("latency_{name}"), microseconds / 1e6);
            }
        }
    }
}

/// A number with two decimals, and the unit behind it.
fn amount(text: &str) -> Option<(&str, &str)> {
    let found = AMOUNT.captures(text)?;
    Some((found.get(1)?.as_str(), found.get(2)?.as_str()))
}

/// `1.50s`
fn seconds(text: &str) -> Option<f64> {
    let (value, unit) = amount(text)?;
    match unit {
        "us" => number::shifted(value, -6),
        "ms" => number::shifted(value, -3),
        "s" => number::point(value),
        "m" => number::point(value).map(|minutes| minutes * 60.0),
        "h" => number::point(value).map(|hours| hours * 3600.0),
        _ => None,
    }
}

/// `4.96MB`, of 1024 each.
fn bytes(text: &str) -> Option<f64> {
    let (value, unit) = amount(text)?;
    let power = ["B", "KB", "MB", "GB", "TB", "PB"].iter().position(|known| *known == unit)?;
    number::point(value).map(|value| value * 1024f64.powi(i32::try_from(power).unwrap_or(0)))
}

/// `10.68k`, of 1000 each.
fn rate(text: &str) -> Option<f64> {
    let (value, unit) = amount(text)?;
    let power = ["", "k", "M", "G", "T", "P"].iter().position(|known| *known == unit)?;
    number::shifted(value, 3 * i32::try_from(power).unwrap_or(0))
}
