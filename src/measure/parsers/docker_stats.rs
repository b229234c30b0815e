//! `docker stats`: its table, or with `--format '{{json .}}'` one JSON object per container.
//!
//! Of several containers the values are added up: give `docker stats` the names of those that are meant. A container that has no
//! sample (`--`, or nothing but zeros after its exit) does not count, and is said. Fields are taken as a row has them, however wide
//! the gaps are. Without `--no-stream` tables follow each other: the last complete one counts.
//! ok: at least one container with a sample, every row has its form, and docker complained about nothing.

mod row;

use super::constants::{HIGHER, LOWER, info, pattern};
use super::plain_text::quoted;
use super::reading::Reading;
use super::{Parser, ToolOutput};
use crate::model::catalog::ParserInfo;
use crate::model::metric::{MetricInfo, Parsed, Unit};
use regex::Regex;
use row::{Row, Sample};
use std::sync::LazyLock;

/// The parser of `docker stats`.
pub(super) struct DockerStats;

const METRICS: &[MetricInfo] = &[
    info("cpu_usage", "1", LOWER, "CPUs in use between the last two samples, 1 s apart (`CPU %`; 1 is one CPU)"),
    info("memory", "B", LOWER, "memory in use without inactive page cache, four digits"),
    info("network_received_bytes", "B", None, "received since the start of the container, three digits; 0 with the host's network"),
    info("network_sent_bytes", "B", None, "sent since the start of the container, three digits; 0 with the host's network"),
    info("block_read_bytes", "B", None, "read from block devices since the start of the container, three digits"),
    info("block_written_bytes", "B", None, "written to block devices since the start of the container, three digits"),
    info("tasks", "1", None, "processes and threads; absent when a running container has 0: the engine does not count them"),
    info("containers", "1", HIGHER, "containers with a sample"),
];

static COMPLAINT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(?:Error response from daemon: |error during connect: |[Cc]annot connect to the Docker daemon|permission denied while trying to connect |failed to connect to the docker API |(?:\S*/)?docker: ).*$|^\S*sh: .*\bdocker: (?:command )?not found$",
    )
});

impl Parser for DockerStats {
    fn info(&self) -> ParserInfo {
        ParserInfo { name: "docker-stats", about: "docker stats: CPUs, memory and I/O of containers", metrics: METRICS }
    }

    fn parse(&self, output: &ToolOutput<'_>) -> Parsed {
        let mut reading = Reading::default();
        let text = output.both();
        let mut tables = Tables::default();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            if COMPLAINT.is_match(line) {
                reading.fail(quoted(line));
            } else if line.starts_with("WARNING: ") {
                reading.beware(quoted(line));
            } else {
                tables.line(line);
            }
        }
        if tables.last.is_empty() && tables.unreadable.is_empty() {
            reading.fail(match tables.headed {
                true => "the table of docker stats is empty: no container runs",
                false => "no table of docker stats in the output",
            });
        } else {
            tell(&tables, &mut reading);
        }
        reading.finish(output)
    }
}

/// The rows of the last table.
#[derive(Debug, Default)]
struct Tables {
    /// Tables before it.
    earlier: usize,
    /// A header came, so what follows are rows.
    headed: bool,
    /// The next row is the first of another table.
    begun: bool,
    last: Vec<Row>,
    unreadable: Vec<String>,
}

impl Tables {
    fn line(&mut self, line: &str) {
        let fields: Vec<&str> = line.split_whitespace().collect();
        if fields.join(" ") == row::HEADER {
            // A header without rows is a screen that was only begun: the table before it counts.
            (self.headed, self.begun) = (true, true);
            return;
        }
        let row = if line.starts_with('{') { Row::of_object(line) } else { Row::of_fields(&fields).filter(|_| self.headed) };
        match row {
            Some(row) => {
                // A stream of objects has no header: a container that comes again begins the next table.
                self.begun |= !self.headed && self.last.iter().any(|known| known.id == row.id);
                self.begin();
                self.last.push(row);
            }
            None if self.headed || line.starts_with('{') => {
                self.begin();
                self.unreadable.push(quoted(line));
            }
            None => {}
        }
    }

    fn begin(&mut self) {
        if std::mem::take(&mut self.begun) && !self.last.is_empty() {
            self.earlier += 1;
            self.last.clear();
            self.unreadable.clear();
        }
    }
}

fn tell(tables: &Tables, reading: &mut Reading) {
    let samples: Vec<&Sample> = tables.last.iter().filter_map(|row| row.sample.as_ref()).collect();
    for line in &tables.unreadable {
        reading.fail(format!("a row of docker stats is damaged or cut off: {line}"));
    }
    let mut names: Vec<&str> = tables.last.iter().map(|row| &*row.id).collect();
    names.sort_unstable();
    if names.windows(2).any(|pair| pair[0] == pair[1]) {
        return reading.fail("the table of docker stats has a container twice");
    }
    if tables.unreadable.is_empty() && samples.is_empty() {
        reading.fail("no container has a sample");
    } else if tables.unreadable.is_empty() {
        let sum = |of: fn(&Sample) -> f64| samples.iter().map(|sample| of(sample)).sum();
        reading.metric("cpu_usage", sum(|sample| sample.cpu_usage), Unit::ONE);
        reading.metric("memory", sum(|sample| sample.memory), Unit::BYTE);
        reading.metric("network_received_bytes", sum(|sample| sample.network[0]), Unit::BYTE);
        reading.metric("network_sent_bytes", sum(|sample| sample.network[1]), Unit::BYTE);
        reading.metric("block_read_bytes", sum(|sample| sample.block[0]), Unit::BYTE);
        reading.metric("block_written_bytes", sum(|sample| sample.block[1]), Unit::BYTE);
        if samples.iter().all(|sample| sample.tasks > 0.0) {
            reading.metric("tasks", sum(|sample| sample.tasks), Unit::ONE);
        }
        reading.metric("containers", samples.len() as f64, Unit::ONE);
    }
    if samples.len() > 1 {
        reading.beware(format!("{} containers: their values are added up", samples.len()));
    }
    let silent = tables.last.iter().filter(|row| row.sample.is_none());
    for row in silent {
        reading.beware(format!("no sample of {}, which does not count", quoted(&row.name)));
    }
    if tables.earlier > 0 {
        reading.beware("several tables of docker stats: the last one counts");
    }
}
