//! The text of `oha`, line by line. Columns may have been collapsed.

use super::Report;
use crate::measure::parsers::answers::Answers;
use crate::measure::parsers::constants::pattern;
use crate::measure::parsers::number;
use regex::Regex;
use std::sync::LazyLock;

/// Units of time and how long they are, s: the text has the largest one that the slowest response fills.
const UNITS: [(&str, f64); 8] =
    [("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3), ("sec", 1.0), ("10 sec", 10.0), ("min", 60.0), ("10 min", 600.0), ("hr", 3600.0)];
const SIZES: [&str; 6] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

static SUCCESS: LazyLock<Regex> = LazyLock::new(|| pattern(r"^Success rate:\s+(\d+\.\d\d)%$"));
static TIME: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(Total|Slowest|Fastest|Average):\s+(\d+\.\d{4}) ((?:10 )?[a-z]+)$"));
static RATE: LazyLock<Regex> = LazyLock::new(|| pattern(r"^Requests/sec:\s+(\d+\.\d{4})$"));
static SIZE: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(Total data|Size/sec):\s+(\d+|\d+\.\d+) ([A-Za-z]+)$"));
static PERCENTILE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(10\.00|25\.00|50\.00|75\.00|90\.00|95\.00|99\.00|99\.90|99\.99)% in (\d+\.\d{4}) ((?:10 )?[a-z]+)$"));

impl Report {
    /// Reads a text.
    pub(super) fn of_text(text: &str) -> Self {
        let mut report = Self::default();
        report.answered(Answers::listed(text));
        // With --stats-success-breakdown there are further distributions, of some responses only.
        let mut of_all = false;
        for line in text.lines().map(str::trim) {
            if line.ends_with(':') {
                of_all = line == "Response time distribution:";
            }
            report.line(line, of_all);
        }
        report
    }

    fn line(&mut self, line: &str, of_all: bool) {
        if let Some(found) = SUCCESS.captures(line) {
            self.success_rate = number::shifted(&found[1], -2);
        } else if let Some(found) = TIME.captures(line) {
            let seconds = seconds(&found[2], &found[3]);
            match &found[1] {
                "Total" => {
                    self.duration = seconds.filter(|seconds| *seconds > 0.0);
                    self.rounding = unit(&found[3]).unwrap_or_default() * 0.000_06;
                }
                "Slowest" => self.latencies.set("max", seconds),
                "Fastest" => self.latencies.set("min", seconds),
                _ => self.latencies.set("avg", seconds),
            }
        } else if let Some(found) = RATE.captures(line) {
            self.rate = number::point(&found[1]);
        } else if let Some(found) = SIZE.captures(line) {
            let power = SIZES.iter().position(|size| *size == &found[3]).and_then(|power| i32::try_from(power).ok());
            let bytes = power.and_then(|power| Some(number::point(&found[2])? * 1024f64.powi(power)));
            if &found[1] == "Total data" {
                self.body_bytes = bytes;
            } else {
                self.body_bytes_per_second = bytes;
            }
        } else if let Some(found) = PERCENTILE.captures(line).filter(|_| of_all) {
            let name = found[1].trim_end_matches('0').replace('.', "");
            self.latencies.set(&format!("p{name}"), seconds(&found[2], &found[3]));
        }
    }
}

fn unit(text: &str) -> Option<f64> {
    UNITS.iter().find(|(name, _)| *name == text).map(|(_, seconds)| *seconds)
}

/// `12.3456 ms`
fn seconds(value: &str, text: &str) -> Option<f64> {
    match text {
        "ns" => number::shifted(value, -9),
        "us" => number::shifted(value, -6),
        "ms" => number::shifted(value, -3),
        _ => Some(number::point(value)? * unit(text)?),
    }
}
