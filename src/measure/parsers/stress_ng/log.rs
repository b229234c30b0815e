//! One run of `stress-ng`: its log, line by line, and the file of `--yaml` among or behind them.

use crate::measure::parsers::constants::pattern;
use crate::measure::parsers::number;
use regex::{Captures, Regex};
use std::sync::LazyLock;

/// The metrics of one stressor.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Row {
    pub stressor: String,
    pub operations: f64,
    /// s.
    pub duration: f64,
    /// CPU time, s.
    pub user: f64,
    pub system: f64,
    /// Operations over `duration`, 1/s.
    pub per_second: f64,
    /// Operations over `user` and `system`, 1/s.
    pub per_cpu_second: f64,
    /// CPUs of an instance.
    pub cpu_usage: Option<f64>,
    /// B.
    pub max_resident: Option<f64>,
}

/// What a run says.
#[derive(Debug, Default)]
pub(super) struct Log {
    /// As finely as they were printed.
    pub rows: Vec<Row>,
    /// Stressors that were dispatched.
    pub dispatched: Option<usize>,
    yaml: Yaml,
    /// Instances; absent before 0.15.07.
    pub failed: Option<f64>,
    pub skipped: Option<f64>,
    pub untrustworthy: Option<f64>,
    /// `successful run completed`, or the end of the file when there is no log.
    pub ended: bool,
    /// A row of the log, or of the file when there is no log, does not have its form.
    pub torn: bool,
    /// There is a file and it does not fit to the log.
    pub yaml_differs: bool,
    /// There is a log.
    pub begun: bool,
    /// The headings of the rows were there, and no other line of the log since.
    in_rows: bool,
}

/// The file of `--yaml`.
#[derive(Debug, Default)]
struct Yaml {
    /// Keys and values of each entry of `metrics`.
    stressors: Vec<Vec<(String, String)>>,
    in_metrics: bool,
    /// Its `...` was there.
    ended: bool,
}

/// A line of the log: its level, and what it says.
static LINE: LazyLock<Regex> = LazyLock::new(|| pattern(r"^stress-ng: +([a-z]+): +\[\d+\] +(.*)$"));
static ROW: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"^([a-z][a-z0-9-]*) +(\d+) +(\d+\.\d\d) +(\d+\.\d\d) +(\d+\.\d\d) +(\d+\.\d\d) +(\d+\.\d\d)(?: +(\d+\.\d\d))?(?: +(\d+))?$")
});
static OUTCOME: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(failed|skipped|metrics untrustworthy): (\d+)(?:: .+)?$"));
static YAML: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(- )?([a-z-]+): +(\S+)$"));
static SECTION: LazyLock<Regex> = LazyLock::new(|| pattern(r"^([a-z-]+):$"));
static COMPLAINT: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^\S*sh: .*\bstress-ng: (?:command )?not found$|^stress-ng: (?:unrecognized|invalid) option .+"));

/// Before the stressors and their instances: `1 cpu, 1 vm`.
const DISPATCHING: &str = "dispatching hogs: ";

/// Whether a line begins a run.
pub(super) fn begins(line: &str) -> bool {
    LINE.captures(line).is_some_and(|found| found[2].starts_with(DISPATCHING))
}

/// What a line complains of.
pub(super) fn complaint(line: &str) -> Option<&str> {
    let line = line.trim();
    let (level, said) = match LINE.captures(line) {
        Some(found) => (found.get(1)?.as_str(), found.get(2)?.as_str()),
        None => return COMPLAINT.is_match(line).then_some(line),
    };
    // `warn` is also said of what does not matter, such as a governor of the CPU.
    (matches!(level, "fail" | "error") || said.starts_with("unsuccessful run completed")).then_some(said)
}

impl Log {
    pub(super) fn read(text: &str) -> Self {
        let mut log = Self::default();
        for line in text.lines().map(str::trim) {
            match LINE.captures(line) {
                Some(found) => log.line(&found[1], &found[2]),
                None => log.yaml.line(line),
            }
        }
        log.compare();
        log
    }

    /// Whether stress-ng said anything.
    pub(super) fn is_there(&self) -> bool {
        self.begun || !self.rows.is_empty() || self.torn
    }

    fn line(&mut self, level: &str, said: &str) {
        self.begun = true;
        if let Some(hogs) = said.strip_prefix(DISPATCHING) {
            self.dispatched = Some(hogs.split(',').count());
        }
        let is_heading = said.starts_with("stressor ") && said.contains(" bogo ops ");
        if is_heading || (self.in_rows && said.starts_with('(')) {
            self.in_rows = true;
        } else if let Some(row) = ROW.captures(said).filter(|_| self.in_rows).and_then(|found| Row::read(&found)) {
            self.rows.push(row);
        } else {
            // From 0.14 on everything that is a metric has this level, and other metrics follow after a heading.
            self.torn |= self.in_rows && level == "metrc" && !said.starts_with("miscellaneous metrics");
            self.in_rows = false;
        }
        if let Some(found) = OUTCOME.captures(said) {
            let count = number::count(&found[2]);
            match &found[1] {
                "failed" => self.failed = count,
                "skipped" => self.skipped = count,
                _ => self.untrustworthy = count,
            }
        }
        self.ended |= said.starts_with("successful run completed in ");
    }

    /// Takes the numbers of the file in place of the printed ones when it is whole and of the same run.
    fn compare(&mut self) {
        if self.yaml.stressors.is_empty() {
            return;
        }
        let fine: Option<Vec<Row>> = self.yaml.stressors.iter().map(|fields| Row::from_yaml(fields)).collect();
        let fine = fine.filter(|_| self.yaml.ended);
        let same = |row: &Row, other: &Row| row.stressor == other.stressor && row.operations == other.operations;
        match fine {
            Some(fine) if self.rows.is_empty() && !self.begun => (self.rows, self.ended) = (fine, true),
            Some(fine) if self.rows.len() == fine.len() && self.rows.iter().zip(&fine).all(|(row, fine)| same(row, fine)) => {
                self.rows = fine
            }
            Some(fine) if self.rows.is_empty() && !self.torn => self.rows = fine,
            None if self.rows.is_empty() => self.torn = true,
            _ => self.yaml_differs = true,
        }
    }
}

impl Yaml {
    fn line(&mut self, line: &str) {
        if line == "..." {
            self.ended = true;
        } else if let Some(section) = SECTION.captures(line) {
            self.in_metrics = &section[1] == "metrics";
        } else if let Some(found) = YAML.captures(line).filter(|_| self.in_metrics) {
            let (key, value) = (found[2].to_owned(), found[3].to_owned());
            match self.stressors.last_mut() {
                _ if found.get(1).is_some() => self.stressors.push(vec![(key, value)]),
                Some(fields) => fields.push((key, value)),
                None => {}
            }
        }
    }
}

impl Row {
    fn read(found: &Captures<'_>) -> Option<Self> {
        let decimal = |at: usize| number::point(&found[at]);
        let optional = |at: usize| found.get(at).map(|text| text.as_str());
        Some(Self {
            stressor: found[1].to_owned(),
            operations: number::count(&found[2])?,
            duration: decimal(3)?,
            user: decimal(4)?,
            system: decimal(5)?,
            per_second: decimal(6)?,
            per_cpu_second: decimal(7)?,
            cpu_usage: optional(8).and_then(ratio),
            max_resident: optional(9).and_then(bytes),
        })
    }

    /// An entry of `metrics`; every field once, or it is none.
    fn from_yaml(fields: &[(String, String)]) -> Option<Self> {
        let text = |key: &str| {
            let mut values = fields.iter().filter(|(known, _)| known == key).map(|(_, value)| value.as_str());
            values.next().filter(|_| values.next().is_none())
        };
        let decimal = |key: &str| text(key).and_then(number::point);
        Some(Self {
            stressor: text("stressor")?.to_owned(),
            operations: text("bogo-ops").and_then(number::count)?,
            duration: decimal("wall-clock-time")?,
            user: decimal("user-time")?,
            system: decimal("system-time")?,
            per_second: decimal("bogo-ops-per-second-real-time")?,
            per_cpu_second: decimal("bogo-ops-per-second-usr-sys-time")?,
            cpu_usage: text("cpu-usage-per-instance").and_then(ratio),
            max_resident: text("max-rss").and_then(bytes),
        })
    }

    /// Times are printed with 0.01 s: rates differ by that, and by a little for the times of many instances.
    pub(super) fn contradicts_itself(&self) -> bool {
        let wrong = |rate: f64, seconds: f64| rate > 0.0 && (self.operations / rate - seconds).abs() > 0.02 + seconds * 0.05;
        wrong(self.per_second, self.duration) || wrong(self.per_cpu_second, self.user + self.system)
    }
}

/// `23.35`, a percentage.
fn ratio(percent: &str) -> Option<f64> {
    number::point(percent).and_then(|_| number::shifted(percent, -2))
}

/// `3148`, of 1024 bytes each.
fn bytes(kibibytes: &str) -> Option<f64> {
    number::count(kibibytes).map(|kibibytes| kibibytes * 1024.0)
}
