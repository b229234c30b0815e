//! The text of `autocannon`: two tables, and sentences below them.

use super::Report;
use crate::measure::parsers::constants::pattern;
use crate::measure::parsers::number;
use regex::Regex;
use std::sync::LazyLock;

const LATENCY_HEADING: [&str; 8] = ["Stat", "2.5%", "50%", "97.5%", "99%", "Avg", "Stdev", "Max"];
const RATE_HEADING: [&str; 8] = ["Stat", "1%", "2.5%", "50%", "97.5%", "Avg", "Stdev", "Min"];
const SIZES: [&str; 6] = ["B", "kB", "MB", "GB", "TB", "PB"];

static TOTAL: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(\d+[km]?) requests in (\d+(?:\.\d+)?)s, (\d+(?:\.\d+)?) ([A-Za-z]+) read$"));
static STATUS: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(\d+) 2xx responses, (\d+) non 2xx responses$"));
static ERRORS: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(\d+[km]?) errors \((\d+[km]?) timeouts\)$"));
static MISMATCHES: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(\d+[km]?) requests with mismatched body$"));
/// What begins a sentence above.
static SENTENCE: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\d+[km]? +(?:2xx|errors?|requests?)\b"));

/// The rows of the tables, those that are whole.
#[derive(Debug, Default)]
struct Rows {
    latency: bool,
    rate: bool,
    bytes: bool,
    total: bool,
    /// A sentence does not have its form: nothing may be taken for none.
    torn: bool,
}

impl Report {
    /// Reads a text.
    pub(super) fn of_text(text: &str) -> Self {
        let (mut report, mut rows) = (Self::default(), Rows::default());
        let mut heading: [&str; 8] = [""; 8];
        for line in text.lines().map(str::trim) {
            match cells(line) {
                Some(cells) if cells == LATENCY_HEADING || cells == RATE_HEADING => heading = cells,
                Some(cells) => report.row(heading, cells, &mut rows),
                None => report.sentence(line, &mut rows),
            }
        }
        report.complete = rows.latency && rows.rate && rows.bytes && rows.total && !rows.torn;
        if report.complete {
            report.count_what_was_left_out();
        }
        report
    }

    fn row(&mut self, heading: [&str; 8], cells: [&str; 8], rows: &mut Rows) {
        match (cells[0], heading) {
            ("Latency", LATENCY_HEADING) => {
                let times = cells.map(milliseconds);
                rows.latency = times[1..].iter().all(Option::is_some);
                for (name, seconds) in ["p50", "p975", "p99", "avg", "stdev", "max"].into_iter().zip(&times[2..]) {
                    self.latencies.set(name, *seconds);
                }
            }
            ("Req/Sec", RATE_HEADING) => {
                let rates = cells.map(number::grouped);
                rows.rate = rates[1..].iter().all(Option::is_some);
                (self.rate, self.rate_stdev, self.rate_min) = (rates[5], rates[6], rates[7]);
            }
            ("Bytes/Sec", RATE_HEADING) => {
                let sizes = cells.map(|cell| cell.split_once(' ').and_then(|(value, unit)| bytes(value, unit)));
                rows.bytes = sizes[1..].iter().all(Option::is_some);
                self.bytes_per_second = sizes[5];
            }
            _ => {}
        }
    }

    fn sentence(&mut self, line: &str, rows: &mut Rows) {
        if let Some(found) = TOTAL.captures(line) {
            self.requests = self.count("requests", &found[1]);
            self.duration = number::point(&found[2]);
            self.bytes = bytes(&found[3], &found[4]);
            rows.total = true;
        } else if let Some(found) = STATUS.captures(line) {
            self.non_2xx = number::count(&found[2]);
        } else if let Some(found) = ERRORS.captures(line) {
            self.errors = self.count("errors", &found[1]);
            self.timeouts = self.count("errors_timeout", &found[2]);
        } else if let Some(found) = MISMATCHES.captures(line) {
            self.mismatches = self.count("mismatches", &found[1]);
        } else {
            rows.torn |= SENTENCE.is_match(line);
        }
    }

    /// Lines of what there was none of are left out.
    fn count_what_was_left_out(&mut self) {
        let counts = [
            ("errors", &mut self.errors),
            ("errors_timeout", &mut self.timeouts),
            ("non_2xx", &mut self.non_2xx),
            ("mismatches", &mut self.mismatches),
        ];
        for (name, count) in counts {
            if !self.rounded.iter().any(|(rounded, _)| *rounded == name) {
                count.get_or_insert(0.0);
            }
        }
    }

    /// `4k` is a number of thousands that was rounded.
    fn count(&mut self, name: &'static str, text: &str) -> Option<f64> {
        let count = number::count(text);
        if count.is_none() {
            self.rounded.push((name, text.to_owned()));
        }
        count
    }
}

/// The cells of a row of a table.
fn cells(line: &str) -> Option<[&str; 8]> {
    let cells: Vec<&str> = line.strip_prefix('│')?.strip_suffix('│')?.split('│').map(str::trim).collect();
    cells.try_into().ok()
}

/// `9.69 ms`
fn milliseconds(cell: &str) -> Option<f64> {
    let value = cell.strip_suffix(" ms")?;
    number::grouped(value).and_then(|_| number::shifted(&value.replace(',', ""), -3))
}

/// `356 kB`, of 1000 each.
fn bytes(value: &str, unit: &str) -> Option<f64> {
    let power = SIZES.iter().position(|size| *size == unit).and_then(|power| i32::try_from(power).ok())?;
    number::point(value).and_then(|_| number::shifted(value, 3 * power))
}
