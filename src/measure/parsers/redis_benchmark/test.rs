//! The tests of one output of `redis-benchmark`, in any of its forms.

use crate::measure::parsers::constants::pattern;
use crate::measure::parsers::csv_table::{self, Table};
use crate::measure::parsers::number;
use regex::Regex;
use std::sync::LazyLock;

/// What the output says of one test. What is not there is none.
#[derive(Debug, Default)]
pub(super) struct Test {
    /// Such as `SET`, or a command as it was given.
    pub name: String,
    /// 1/s.
    pub rate: Option<f64>,
    pub requests: Option<f64>,
    /// s, with 0.01 s.
    pub duration: Option<f64>,
    /// Names and seconds, in the order of the dictionary.
    pub latencies: Vec<(&'static str, f64)>,
}

/// Every test of an output.
#[derive(Debug, Default)]
pub(super) struct Tests {
    pub results: Vec<Test>,
    /// A test began and has no result, or a result does not have its form.
    pub torn: bool,
    /// The test whose report is being read.
    open: Option<Test>,
    /// The heading of its latencies was the line before.
    heading: bool,
    /// Its rate has the form of 6.2, which latencies follow.
    awaits_latencies: bool,
}

/// The words of the summary, the columns of `--csv`, and what they are called here; in the order of the dictionary.
const LATENCIES: [(&str, &str, &str); 6] = [
    ("avg", "avg_latency_ms", "latency_avg"),
    ("min", "min_latency_ms", "latency_min"),
    ("max", "max_latency_ms", "latency_max"),
    ("p50", "p50_latency_ms", "latency_p50"),
    ("p95", "p95_latency_ms", "latency_p95"),
    ("p99", "p99_latency_ms", "latency_p99"),
];
const SUMMARY: [&str; 6] = ["avg", "min", "p50", "p95", "p99", "max"];

static BEGIN: LazyLock<Regex> = LazyLock::new(|| pattern(r"^====== (.+) ======$"));
static PROGRESS: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(.+): rps=\S+ \(overall: \S+\)"));
static COMPLETED: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(\d+) requests completed in (\d+\.\d\d) seconds$"));
static RATE: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(?:throughput summary: +)?(\d+\.\d\d) requests per second$"));
static QUIET: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(.+): (\d+\.\d\d) requests per second(?:, p50=(\d+\.\d{3}) msec)?$"));
static OLD_ROW: LazyLock<Regex> = LazyLock::new(|| pattern(r#"^"([^"]+)","(\d+\.\d\d)"$"#));
static MILLISECONDS: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\d+\.\d{3}$"));

impl Tests {
    pub(super) fn read(text: &str) -> Self {
        let mut tests = Self::default();
        match csv_table::table(text, "rps") {
            Some(table) => tests.table(&table),
            None => text.lines().map(str::trim).for_each(|line| tests.line(line)),
        }
        tests.torn |= tests.open.is_some() || tests.awaits_latencies;
        tests
    }

    /// Every row that is quoted must be whole: cut off, the test before it would pass for the last one.
    fn table(&mut self, table: &Table<'_>) {
        let (names, rates) = (table.column("test"), table.column("rps"));
        for row in &table.rows {
            let field = |at: Option<usize>| at.and_then(|at| row.get(at)).unwrap_or_default().trim();
            let latency = |(_, column, name): (&str, &str, &'static str)| Some((name, milliseconds(field(table.column(column)))?));
            let latencies = LATENCIES.into_iter().filter_map(latency).collect();
            let rate = number::point(field(rates));
            self.torn |= rate.is_none();
            self.results.push(Test { name: field(names).to_owned(), rate, latencies, ..Test::default() });
        }
        let quoted = table.text.lines().skip(1).filter(|line| line.trim_start().starts_with('"')).count();
        self.torn |= quoted != table.rows.len();
    }

    fn line(&mut self, line: &str) {
        let heading = std::mem::take(&mut self.heading);
        if let Some(found) = BEGIN.captures(line) {
            self.begin(&found[1]);
        } else if let Some(found) = PROGRESS.captures(line) {
            if self.open.as_ref().is_none_or(|open| open.name != found[1]) {
                self.begin(&found[1]);
            }
        } else if let Some(found) = COMPLETED.captures(line) {
            if let Some(open) = &mut self.open {
                open.requests = number::count(&found[1]);
                open.duration = number::point(&found[2]);
            }
        } else if let Some(found) = RATE.captures(line) {
            match self.open.take() {
                Some(open) if open.requests.is_some() => self.results.push(Test { rate: number::point(&found[1]), ..open }),
                _ => self.torn = true,
            }
            self.awaits_latencies = line.starts_with("throughput");
        } else if let Some(found) = QUIET.captures(line) {
            self.torn |= self.open.take().is_some_and(|open| open.name != found[1]);
            let p50 = found.get(3).and_then(|text| milliseconds(text.as_str()));
            let latencies = p50.map(|seconds| ("latency_p50", seconds)).into_iter().collect();
            self.results.push(Test { name: found[1].to_owned(), rate: number::point(&found[2]), latencies, ..Test::default() });
        } else if let Some(found) = OLD_ROW.captures(line) {
            self.results.push(Test { name: found[1].to_owned(), rate: number::point(&found[2]), ..Test::default() });
        } else if heading {
            self.latencies(line);
        } else {
            self.heading = line.split_whitespace().eq(SUMMARY);
            self.torn |= line.starts_with("throughput summary") || line.starts_with('"');
        }
    }

    /// Progress comes before the title of the report and names the same test.
    fn begin(&mut self, name: &str) {
        self.torn |= self.awaits_latencies || self.open.as_ref().is_some_and(|open| open.name != name || open.requests.is_some());
        self.open = Some(Test { name: name.to_owned(), ..Test::default() });
    }

    /// The line below the words of the summary; all of it, or it is torn.
    fn latencies(&mut self, line: &str) {
        self.awaits_latencies = false;
        let values: Vec<Option<f64>> = line.split_whitespace().map(milliseconds).collect();
        let Some(test) = self.results.last_mut().filter(|test| test.latencies.is_empty() && values.len() == SUMMARY.len()) else {
            self.torn = true;
            return;
        };
        let value = |word: &str| SUMMARY.iter().position(|known| *known == word).and_then(|at| values[at]);
        test.latencies = LATENCIES.into_iter().filter_map(|(word, _, name)| Some((name, value(word)?))).collect();
    }
}

impl Test {
    /// The time is printed with two decimals; the latencies have an order.
    pub(super) fn contradicts_itself(&self) -> bool {
        let rate = match (self.rate.filter(|rate| *rate > 0.0), self.requests, self.duration) {
            (Some(rate), Some(requests), Some(duration)) => (requests / rate - duration).abs() > 0.02 + duration * 0.01,
            _ => false,
        };
        let latency = |name: &str| self.latencies.iter().find(|(known, _)| *known == name).map(|(_, seconds)| *seconds);
        let disordered = |names: [&str; 3]| {
            let found: Vec<f64> = names.into_iter().filter_map(latency).collect();
            found.windows(2).any(|pair| pair[0] > pair[1])
        };
        rate || disordered(["latency_min", "latency_avg", "latency_max"]) || disordered(["latency_p50", "latency_p95", "latency_p99"])
    }
}

/// `0.319`
fn milliseconds(text: &str) -> Option<f64> {
    if MILLISECONDS.is_match(text) { number::shifted(text, -3) } else { None }
}
