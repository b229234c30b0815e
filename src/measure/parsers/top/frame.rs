//! One frame of `top -b`, line by line.

use crate::measure::parsers::constants::pattern;
use crate::measure::parsers::number;
use regex::{Captures, Regex};
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// What a frame says. What is not there is none.
#[derive(Debug, Default)]
pub(super) struct Frame {
    /// It has its first line.
    pub headed: bool,
    /// Of busybox, whose `%CPU` is of all CPUs.
    pub busybox: bool,
    /// Its tasks are threads (`-H`), each with the resident set of its process.
    pub threads: bool,
    /// Over 1, 5 and 15 minutes.
    pub load: Option<[f64; 3]>,
    /// All, and the running ones.
    pub tasks: Option<[f64; 2]>,
    /// Shares of all CPUs, with their names.
    pub shares: Vec<(&'static str, f64)>,
    /// Names and bytes.
    pub memory: Vec<(&'static str, f64)>,
    pub rows: Vec<Row>,
    /// A row that does not have its form.
    pub damaged: Option<String>,
    /// A line that a frame has once stands in it twice, or its numbers do not add up.
    pub contradicts_itself: bool,
    /// Process numbers in the table.
    listed: BTreeSet<u64>,
    /// The line over the table was seen, and the table is not over.
    in_table: bool,
    has_table: bool,
}

/// A task of the table.
#[derive(Debug)]
pub(super) struct Row {
    /// CPUs.
    pub cpu_usage: f64,
    pub resident: f64,
}

const DECIMAL: &str = r"(\d+(?:[.,]\d+)?)";
/// As procps names its shares.
const PROCPS: [(&str, &str); 8] = [
    ("us", "cpu_user"),
    ("sy", "cpu_system"),
    ("ni", "cpu_nice"),
    ("id", "cpu_idle"),
    ("wa", "cpu_iowait"),
    ("hi", "cpu_irq"),
    ("si", "cpu_softirq"),
    ("st", "cpu_steal"),
];
const BUSYBOX: [(&str, &str); 7] = [
    ("usr", "cpu_user"),
    ("sys", "cpu_system"),
    ("nic", "cpu_nice"),
    ("idle", "cpu_idle"),
    ("io", "cpu_iowait"),
    ("irq", "cpu_irq"),
    ("sirq", "cpu_softirq"),
];
/// How far the shares of procps may be from 100 %, each having one decimal; busybox cuts off the decimals.
const ROUNDING: [f64; 2] = [0.01, 0.08];

static LOAD: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&format!(
        r"^(?:top - .+ load average: {DECIMAL}, {DECIMAL}, {DECIMAL}|Load average: {DECIMAL} {DECIMAL} {DECIMAL} \d+/\d+ \d+)$"
    ))
});
static TASKS: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(?:Tasks|Threads): +(\d+) total, +(\d+) running, +(\d+) sleeping, +(\d+) stopped, +(\d+) zombie$"));
static SHARES: LazyLock<Regex> = LazyLock::new(|| {
    let parts = PROCPS.map(|(label, _)| format!(" *{DECIMAL} {label}"));
    pattern(&format!(r"^%Cpu\(s\):{}$", parts.join(",")))
});
static BUSYBOX_SHARES: LazyLock<Regex> = LazyLock::new(|| {
    let parts = BUSYBOX.map(|(label, _)| format!(" +{DECIMAL}% {label}"));
    pattern(&format!("^CPU:{}$", parts.concat()))
});
static MEMORY: LazyLock<Regex> =
    LazyLock::new(|| pattern(&format!(r"^([KMGT])iB Mem *: +{DECIMAL} total, +{DECIMAL} free, +{DECIMAL} used, +{DECIMAL} buff/cache$")));
static AVAILABLE: LazyLock<Regex> =
    LazyLock::new(|| pattern(&format!(r"^([KMGT])iB Swap *: +{DECIMAL} total, +{DECIMAL} free, +{DECIMAL} used\. +{DECIMAL} avail Mem$")));
static BUSYBOX_MEMORY: LazyLock<Regex> = LazyLock::new(|| pattern(r"^Mem: (\d+)K used, (\d+)K free, \d+K shrd, \d+K buff, \d+K cached$"));
static COLUMNS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"^PID +(?:USER +PR +NI +VIRT +RES +SHR +S +%CPU +%MEM +TIME\+|PPID +USER +STAT +VSZ +%VSZ +(?:CPU +)?%CPU) +COMMAND$")
});
static ROW: LazyLock<Regex> = LazyLock::new(|| {
    let size = r"\d+(?:[.,]\d+)?[kmgtp]?";
    pattern(&format!(
        r"^(\d+) +\S+ +(?:rt|-?\d+) +-?\d+ +{size} +({size}) +{size} +[A-Zt] +{DECIMAL} +{DECIMAL} +(?:\d+:)?\d+:\d\d(?:[.,]\d\d)? +\S.*$"
    ))
});

impl Frame {
    /// Whether a line is the first of a frame.
    pub(super) fn begins(line: &str) -> bool {
        line.starts_with("top - ") || BUSYBOX_MEMORY.is_match(line)
    }

    pub(super) fn read(text: &str) -> Self {
        let mut frame = Self::default();
        for line in text.lines().map(str::trim) {
            frame.headed |= Self::begins(line);
            frame.line(line);
        }
        frame.contradicts_itself |= frame.does_not_add_up();
        frame
    }

    /// Whether everything is there that a frame has; only the table when it has no head.
    pub(super) fn is_full(&self) -> bool {
        let memory = self.memory.iter().any(|(name, _)| *name == "memory_used");
        let head = self.load.is_some() && !self.shares.is_empty() && memory && (self.busybox || self.tasks.is_some());
        self.has_table && (head || !self.headed && !self.rows.is_empty())
    }

    fn line(&mut self, line: &str) {
        if self.in_table && line.starts_with(|c: char| c.is_ascii_digit()) {
            return self.row(line);
        }
        self.in_table = false;
        if COLUMNS.is_match(line) {
            self.contradicts_itself |= self.has_table;
            self.busybox |= line.contains("VSZ");
            (self.in_table, self.has_table) = (true, true);
        } else if let Some(found) = LOAD.captures(line) {
            self.contradicts_itself |= self.load.is_some();
            let values: Vec<f64> = found.iter().skip(1).flatten().filter_map(|text| number::decimal(text.as_str())).collect();
            self.load = values.try_into().ok();
        } else if let Some(found) = TASKS.captures(line) {
            let counts: Vec<f64> = (1..=5).filter_map(|at| number::count(&found[at])).collect();
            self.contradicts_itself |= self.tasks.is_some() || counts[1..].iter().sum::<f64>() != counts[0];
            self.tasks = Some([counts[0], counts[1]]);
            self.threads = line.starts_with("Threads");
        } else if let Some(found) = SHARES.captures(line) {
            self.shares(&found, &PROCPS);
        } else if let Some(found) = BUSYBOX_SHARES.captures(line) {
            self.shares(&found, &BUSYBOX);
        } else if let Some(found) = MEMORY.captures(line) {
            self.contradicts_itself |= !self.memory.is_empty();
            let amounts = ["memory_total", "memory_free", "memory_used", "memory_buff_cache"].into_iter().zip(2..);
            self.memory = amounts.filter_map(|(name, at)| Some((name, scaled(&found[at], &found[1])?))).collect();
        } else if let Some(found) = AVAILABLE.captures(line) {
            self.contradicts_itself |= self.memory.iter().any(|(name, _)| *name == "memory_available");
            self.memory.extend(scaled(&found[5], &found[1]).map(|bytes| ("memory_available", bytes)));
        } else if let Some(found) = BUSYBOX_MEMORY.captures(line) {
            let amounts = ["memory_used", "memory_free"].into_iter().zip(1..);
            self.memory = amounts.filter_map(|(name, at)| Some((name, scaled(&found[at], "K")?))).collect();
        }
    }

    fn shares(&mut self, found: &Captures<'_>, names: &[(&str, &'static str)]) {
        self.contradicts_itself |= !self.shares.is_empty();
        let share = |at: usize| number::shifted(&found[at], -2);
        self.shares = names.iter().zip(1..).filter_map(|((_, name), at)| Some((*name, share(at)?))).collect();
    }

    /// Of busybox nothing is taken from the rows: its columns grow together.
    fn row(&mut self, line: &str) {
        if self.busybox {
            return;
        }
        let read = |found: Captures<'_>| {
            let (digits, unit) = found[2].split_at(found[2].find(|c: char| c.is_ascii_lowercase()).unwrap_or(found[2].len()));
            let unit = if unit.is_empty() { "K".to_owned() } else { unit.to_uppercase() };
            let (resident, cpu_usage) = (scaled(digits, &unit)?, number::shifted(&found[3], -2)?);
            Some((found[1].parse().ok()?, Row { cpu_usage, resident }))
        };
        match ROW.captures(line).and_then(read) {
            Some((pid, row)) if self.listed.insert(pid) => self.rows.push(row),
            // A web page repeats rows, top does not.
            Some(_) => self.contradicts_itself |= self.headed,
            None => self.damaged = Some(line.to_owned()),
        }
    }

    fn does_not_add_up(&self) -> bool {
        let sum: f64 = self.shares.iter().map(|(_, share)| share).sum();
        let shares = !self.shares.is_empty() && (sum - 1.0).abs() > ROUNDING[usize::from(self.busybox)];
        let total = self.memory.iter().find(|(name, _)| *name == "memory_total").map(|(_, bytes)| *bytes);
        let memory = total.is_some_and(|total| self.memory.iter().any(|(_, bytes)| *bytes > total));
        let rows = self.tasks.is_some_and(|[all, _]| (self.rows.len() as f64) > all);
        shares || memory || rows
    }
}

/// A number of a unit of 1024 each, in bytes; decimals are those of the locale.
fn scaled(digits: &str, unit: &str) -> Option<f64> {
    let power = ["K", "M", "G", "T", "P"].iter().position(|known| *known == unit)?;
    Some(number::decimal(digits)? * 1024f64.powi(i32::try_from(power).ok()? + 1))
}
