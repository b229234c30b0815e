//! The table of `hey -o csv`: a row for each response, in no particular order.

use crate::measure::parsers::answers::Answers;
use crate::measure::parsers::constants::pattern;
use crate::measure::parsers::latencies::Latencies;
use crate::measure::parsers::number;
use regex::Regex;
use std::sync::LazyLock;

/// The first line. Versions before 0.1.4 have no `status-code`, by which alone bad responses are noticed: theirs is not read.
pub(super) const HEADER: &str = "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset";

const PERCENTILES: [(&str, f64); 7] =
    [("p10", 0.1), ("p25", 0.25), ("p50", 0.5), ("p75", 0.75), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99)];

static ROW: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(\d+\.\d{4}),(?:\d+\.\d{4},){5}([1-5]\d\d),(\d+\.\d{4})$"));

/// What the rows say.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub answers: Answers,
    /// A row does not have its form.
    pub torn: bool,
    /// s, ascending.
    times: Vec<f64>,
    /// When the last response ended, s after the start.
    end: f64,
}

impl Table {
    pub(super) fn read(text: &str) -> Self {
        let mut table = Self::default();
        for line in text.lines().map(str::trim).skip_while(|line| *line != HEADER).skip(1) {
            if !table.row(line) {
                table.torn |= line.contains(',');
            }
        }
        // Every row ends its line: a number that does not may have lost digits.
        table.torn |= !text.ends_with('\n');
        table.times.sort_by(f64::total_cmp);
        table
    }

    /// Responses.
    pub(super) fn responses(&self) -> f64 {
        self.answers.responses()
    }

    /// s; none when it is below the resolution.
    pub(super) fn duration(&self) -> Option<f64> {
        Some(self.end).filter(|end| *end > 0.0)
    }

    /// The mean, its bounds, and those percentiles that at least one response is slower than.
    pub(super) fn latencies(&self) -> Latencies {
        let mut latencies = Latencies::default();
        let responses = self.responses();
        latencies.set("avg", Some(self.times.iter().sum::<f64>() / responses));
        latencies.set("min", self.times.first().copied());
        latencies.set("max", self.times.last().copied());
        for (name, share) in PERCENTILES {
            let rank = (responses * share).ceil();
            let slower = self.times.iter().skip(rank as usize).len();
            latencies.set(name, self.times.get((rank as usize).saturating_sub(1)).copied().filter(|_| slower > 0));
        }
        latencies
    }

    fn row(&mut self, line: &str) -> bool {
        let Some(found) = ROW.captures(line) else { return false };
        let (Some(time), Ok(status), Some(offset)) = (number::point(&found[1]), found[2].parse(), number::point(&found[3])) else {
            return false;
        };
        self.times.push(time);
        self.end = self.end.max(offset + time);
        match self.answers.statuses.iter_mut().find(|(known, _)| *known == status) {
            Some((_, count)) => *count += 1.0,
            None => self.answers.statuses.push((status, 1.0)),
        }
        true
    }
}
