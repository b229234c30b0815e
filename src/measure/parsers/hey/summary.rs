//! One summary of `hey`, line by line. Columns may have been collapsed.

use super::MOST_KEPT;
use crate::measure::parsers::answers::Answers;
use crate::measure::parsers::constants::pattern;
use crate::measure::parsers::latencies::Latencies;
use crate::measure::parsers::number;
use regex::Regex;
use std::sync::LazyLock;

/// What a summary says. What is not there is none.
#[derive(Debug, Default)]
pub(super) struct Summary {
    /// 1/s, of responses and errors.
    pub rate: Option<f64>,
    /// s, with 0.0001 s.
    pub duration: Option<f64>,
    pub latencies: Latencies,
    pub body_bytes: Option<f64>,
    /// None unless the whole list was printed.
    pub answers: Option<Answers>,
    /// Percentiles that too few responses have, so that their very name is printed as 0.
    pub unreached_percentiles: usize,
    /// `Slowest`, `Fastest` and `Average`, whatever their values.
    bounds: usize,
}

static TIME: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(Total|Slowest|Fastest|Average):\s+(\d+\.\d{4}|NaN) secs$"));
static RATE: LazyLock<Regex> = LazyLock::new(|| pattern(r"^Requests/sec:\s+(\d+\.\d{4})$"));
static BYTES: LazyLock<Regex> = LazyLock::new(|| pattern(r"^Total data:\s+(\d+) bytes$"));
static PERCENTILE: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(10|25|50|75|90|95|99)% in (\d+\.\d{4}) secs$"));

impl Summary {
    pub(super) fn read(text: &str) -> Self {
        let mut summary = Self { answers: Answers::listed(text), ..Self::default() };
        for line in text.lines().map(str::trim) {
            summary.line(line);
        }
        if summary.kept_not_all() {
            // It is the sum of all over the number of those that were kept.
            summary.latencies.set("avg", None);
        }
        summary
    }

    /// Whether everything is there that every summary has.
    pub(super) fn is_complete(&self) -> bool {
        self.rate.is_some() && self.duration.is_some() && self.bounds == 3 && self.answers.is_some()
    }

    /// How many responses there were, where that is known.
    pub(super) fn responses(&self) -> Option<f64> {
        self.answers.as_ref().map(Answers::responses)
    }

    /// Whether there were more responses than `hey` keeps.
    pub(super) fn kept_not_all(&self) -> bool {
        self.responses() == Some(MOST_KEPT) && self.surplus().is_some_and(|(surplus, tolerance)| surplus > tolerance)
    }

    /// The rate counts every request; the time is printed with 0.0001 s.
    pub(super) fn contradicts_itself(&self) -> bool {
        let counted = self.surplus().is_some_and(|(surplus, tolerance)| surplus.abs() > tolerance);
        counted && !self.kept_not_all() || self.latencies.contradict()
    }

    /// Requests that the rate counts and the lists do not, and how many of them rounding explains.
    fn surplus(&self) -> Option<(f64, f64)> {
        let (rate, duration, answers) = (self.rate?, self.duration?, self.answers.as_ref()?);
        Some((rate * duration - answers.responses() - answers.errors(), 0.1 + rate * 0.000_06 + duration * 0.000_06))
    }

    fn line(&mut self, line: &str) {
        if let Some(found) = TIME.captures(line) {
            let seconds = number::point(&found[2]);
            match &found[1] {
                "Total" => self.duration = seconds,
                "Slowest" => self.latencies.set("max", seconds),
                "Fastest" => self.latencies.set("min", seconds),
                _ => self.latencies.set("avg", seconds),
            }
            self.bounds += usize::from(&found[1] != "Total");
        } else if let Some(found) = RATE.captures(line) {
            self.rate = number::point(&found[1]);
        } else if let Some(found) = BYTES.captures(line) {
            self.body_bytes = number::count(&found[1]);
        } else if let Some(found) = PERCENTILE.captures(line) {
            self.latencies.set(&format!("p{}", &found[1]), number::point(&found[2]));
        } else if line == "0% in 0.0000 secs" {
            self.unreached_percentiles += 1;
        }
    }
}
