//! One report of `ab`, line by line. Blank lines and columns may have been collapsed, as web pages do.

use crate::measure::parsers::constants::pattern;
use crate::measure::parsers::number;
use regex::Regex;
use std::sync::LazyLock;

/// A row of the table `Connection Times`, s.
#[derive(Debug, Clone, Copy)]
struct Row {
    min: f64,
    avg: f64,
    /// Absent with -S.
    stdev: Option<f64>,
    max: f64,
}

/// What a report says. What is not there is none.
#[derive(Debug, Default)]
pub(super) struct Report {
    pub complete: Option<f64>,
    pub failed: Option<f64>,
    /// Connect, receive, length, exceptions; empty when none failed.
    pub kinds: Vec<f64>,
    pub write_errors: Option<f64>,
    pub non_2xx: Option<f64>,
    pub keepalive: Option<f64>,
    /// s, with 0.001 s.
    pub duration: Option<f64>,
    /// 1/s.
    pub rate: Option<f64>,
    /// s.
    pub time_per_request: Option<f64>,
    pub bytes: Option<f64>,
    pub body_bytes: Option<f64>,
    pub bytes_per_second: Option<f64>,
    /// Percentage and seconds, in whole ms.
    pub percentiles: Vec<(u32, f64)>,
    /// Percentage and seconds of `-e`, from 0 to 100 (or 99); empty without.
    pub fine: Vec<(u32, f64)>,
    /// `-e` was written, and rows of it are missing.
    pub fine_is_torn: bool,
    /// Written with -w.
    pub html: bool,
    /// Lines that say why `ab` gave up.
    pub complaints: Vec<String>,
    /// Lines that say that the numbers are not to be trusted.
    pub warnings: Vec<String>,
    rows: Vec<(&'static str, Row)>,
    /// The heading of the percentiles was printed.
    percentiles_begun: bool,
    /// A line of errors does not have its form: nothing may be taken for none.
    torn: bool,
}

const PHASES: [&str; 3] = ["connect", "processing", "waiting"];
const PERCENTAGES: [u32; 8] = [50, 66, 75, 80, 90, 95, 98, 99];
const FINE_HEADING: &str = "Percentage served,Time in ms";

static FIELD: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^([A-Z][A-Za-z0-9 -]+): +(?:(\d+)(?: bytes)?|(\d+\.\d+) (?:seconds|\[#/sec\] \(mean\)|\[ms\] \(mean\)|\[Kbytes/sec\] received))$",
    )
});
static KINDS: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\(Connect: (\d+), Receive: (\d+), Length: (\d+), Exceptions: (\d+)\)$"));
static ROW: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(Connect|Processing|Waiting|Total): +(\d+) +(\d+)(?: +(\d+\.\d) +\d+)? +(\d+)$"));
static PERCENTILE: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(\d{1,3})% +(\d+)(?: \(longest request\))?$"));
static FINE: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(\d{1,3}),(\d+\.\d{3})$"));
/// A library call that failed; it stands behind `(be patient)...`.
static CALL: LazyLock<Regex> = LazyLock::new(|| pattern(r"\bapr_\w+(?:\(\))?: .+ \(\d+\)$"));
static COMPLAINT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(?:\S*/)?ab: .+$|^Total of \d+ requests completed$|^Test aborted after \d+ failures$|^\S*sh: .*\bab: (?:command )?not found$",
    )
});

impl Report {
    pub(super) fn read(text: &str) -> Self {
        let mut report = Self::default();
        for line in text.lines().map(str::trim) {
            report.line(line);
        }
        report.keep_whole_table();
        report
    }

    /// Whether there is a report at all.
    pub(super) fn is_there(&self) -> bool {
        self.complete.is_some() || self.rate.is_some() || !self.rows.is_empty() || !self.percentiles.is_empty()
    }

    /// Whether everything is there that every report has. Without a complete request there are no times.
    pub(super) fn is_complete(&self) -> bool {
        let counts = [self.complete, self.failed, self.duration, self.bytes, self.rate, self.bytes_per_second];
        let times = self.complete == Some(0.0) || self.row("total").is_some() && self.time_per_request.is_some();
        // A quotation may lack a line of the percentiles, but a heading without any was cut.
        !self.torn && counts.iter().all(Option::is_some) && times && self.percentiles_begun != self.percentiles.is_empty()
    }

    /// Rate, requests and time are printed with few digits: they differ by a rounding, not by a twentieth.
    pub(super) fn contradicts_itself(&self) -> bool {
        let rate = match (self.rate.filter(|rate| *rate > 0.0), self.complete, self.duration) {
            (Some(rate), Some(complete), Some(duration)) => (complete / rate - duration).abs() > 0.001 + duration * 0.05,
            _ => false,
        };
        let disordered = |table: &[(u32, f64)]| table.windows(2).any(|pair| pair[0].0 >= pair[1].0 || pair[0].1 > pair[1].1);
        let row = |row: &Row| row.min > row.avg || row.avg > row.max;
        rate || disordered(&self.percentiles) || disordered(&self.fine) || self.rows.iter().any(|(_, times)| row(times))
    }

    /// Names and seconds of the whole request, as finely as they were printed.
    pub(super) fn latencies(&self) -> Vec<(String, f64)> {
        let at =
            |table: &[(u32, f64)], wanted: u32| table.iter().find(|(percentage, _)| *percentage == wanted).map(|(_, seconds)| *seconds);
        let total = self.row("total");
        let whole = |percentage| at(&self.percentiles, percentage);
        let fine = |percentage| at(&self.fine, percentage);
        let mut found = vec![
            ("latency_avg".to_owned(), total.map(|row| row.avg)),
            ("latency_stdev".to_owned(), total.and_then(|row| row.stdev)),
            ("latency_min".to_owned(), fine(0).or(total.map(|row| row.min))),
            ("latency_max".to_owned(), fine(100).or(total.map(|row| row.max)).or(whole(100))),
        ];
        found.extend(PERCENTAGES.map(|percentage| (format!("latency_p{percentage}"), fine(percentage).or(whole(percentage)))));
        found.into_iter().filter_map(|(name, seconds)| Some((name, seconds?))).collect()
    }

    /// Names and seconds of the parts of a request.
    pub(super) fn phases(&self) -> impl Iterator<Item = (String, f64)> {
        PHASES
            .into_iter()
            .filter_map(|phase| self.row(phase).map(|row| (phase, row)))
            .flat_map(|(phase, row)| [(format!("{phase}_avg"), row.avg), (format!("{phase}_max"), row.max)])
    }

    fn row(&self, name: &str) -> Option<Row> {
        self.rows.iter().find(|(known, _)| *known == name).map(|(_, row)| *row)
    }

    fn line(&mut self, line: &str) {
        if let Some(found) = FIELD.captures(line) {
            let count = found.get(2).and_then(|text| number::count(text.as_str()));
            self.field(&found[1], count, found.get(3).map_or("", |text| text.as_str()), line);
        } else if let Some(found) = KINDS.captures(line) {
            self.kinds = (1..=4).filter_map(|at| number::count(&found[at])).collect();
        } else if let Some(found) = ROW.captures(line) {
            self.table_row(&found);
        } else if let Some(found) = PERCENTILE.captures(line).filter(|_| self.percentiles_begun) {
            self.percentiles.extend(found[1].parse().ok().zip(number::shifted(&found[2], -3)));
        } else if let Some(found) = FINE.captures(line).filter(|_| self.fine_is_torn) {
            self.fine.extend(found[1].parse().ok().zip(number::shifted(&found[2], -3)));
        } else if line.ends_with(FINE_HEADING) {
            // Until its last row is there.
            self.fine_is_torn = true;
            self.fine.clear();
        } else if line.starts_with("Percentage of the requests served") {
            self.percentiles_begun = true;
        } else if line.starts_with("<tr ><th colspan=2") && line.contains("Complete requests:") {
            self.html = true;
        } else if let Some(found) = CALL.find(line) {
            self.complaints.push(found.as_str().to_owned());
        } else if COMPLAINT.is_match(line) {
            self.complaints.push(line.to_owned());
        } else if line.starts_with("WARNING: The median and mean") || line.starts_with("ERROR: The median and mean") {
            self.warnings.push(line.to_owned());
        } else if ["(Connect:", "Write errors", "Non-2xx"].iter().any(|start| line.starts_with(start)) {
            self.torn = true;
        }
    }

    /// A line `key: value`; each key with its own unit, and the last one counts: -v prints bodies before the report.
    fn field(&mut self, key: &str, count: Option<f64>, decimal: &str, line: &str) {
        let decimals = |unit: &str| if line.ends_with(unit) { number::point(decimal) } else { None };
        let bytes = || count.filter(|_| line.ends_with(" bytes"));
        match key {
            "Complete requests" => self.complete = count,
            "Failed requests" => self.failed = count,
            "Write errors" => self.write_errors = count,
            "Non-2xx responses" => self.non_2xx = count,
            "Keep-Alive requests" => self.keepalive = count,
            "Total transferred" => self.bytes = bytes(),
            "HTML transferred" => self.body_bytes = bytes(),
            "Time taken for tests" => self.duration = decimals(" seconds"),
            "Requests per second" => self.rate = decimals("[#/sec] (mean)"),
            "Time per request" => self.time_per_request = decimals("[ms] (mean)").and_then(|_| number::shifted(decimal, -3)),
            "Transfer rate" => self.bytes_per_second = decimals("[Kbytes/sec] received").map(|kibibytes| kibibytes * 1024.0),
            _ => {}
        }
    }

    fn table_row(&mut self, found: &regex::Captures<'_>) {
        let name = match &found[1] {
            "Connect" => PHASES[0],
            "Processing" => PHASES[1],
            "Waiting" => PHASES[2],
            _ => "total",
        };
        let seconds = |at: usize| found.get(at).and_then(|text| number::shifted(text.as_str(), -3));
        if let (Some(min), Some(avg), Some(max)) = (seconds(2), seconds(3), seconds(5)) {
            self.rows.retain(|(known, _)| *known != name);
            self.rows.push((name, Row { min, avg, stdev: seconds(4), max }));
        }
    }

    /// Of `-e` all rows count or none: older versions end at 99.
    fn keep_whole_table(&mut self) {
        let whole = self.fine.len() >= 100 && self.fine.iter().zip(0..).all(|((percentage, _), row)| *percentage == row);
        self.fine_is_torn &= !whole;
        if !whole {
            self.fine.clear();
        }
    }
}
