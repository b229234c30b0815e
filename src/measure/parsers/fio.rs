//! `fio` 3: the JSON of `--output-format=json` or `json+`, with notes, text or interim documents around it.
//!
//! The last document counts; when it is cut off or damaged there is none, because what stands before it is an interim report.
//! Rates are summed over jobs that ran at the same time: those of one group. Over several groups they are absent, because a document does
//! not say whether the next one waited (`stonewall`).
//! ok: a complete document, no job with an error, no signal, bytes were moved, and the numbers agree with each other.
//! The text form is rounded to three digits and is not read.

mod document;
mod metrics;

use super::constants::pattern;
use super::last_json::last_document;
use super::plain_text::quoted;
use super::reading::Reading;
use super::{Parser, ToolOutput};
use crate::model::catalog::ParserInfo;
use crate::model::metric::{Parsed, Unit};
use document::{Document, Io, Job, Latency};
use metrics::METRICS;
use regex::Regex;
use std::sync::LazyLock;

/// The parser of `fio`.
pub(super) struct Fio;

/// Below this, fio's whole milliseconds are more than 1 % of the time that a rate is taken over.
const SHORTEST_FINE: f64 = 0.1;

static TEXT: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?m)^\s*(?:fio-\d+\.\d+\S*$|\d;fio-\d+\.|.+: \(groupid=\d+, jobs=\d+\): err= ?\d)"));
static COMPLAINT: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(?:\S*/)?fio: .+$|^\S*sh: .*\bfio: (?:command )?not found$"));

impl Parser for Fio {
    fn info(&self) -> ParserInfo {
        ParserInfo {
            name: "fio",
            about: "fio's JSON: I/O operations and bytes per second, latencies of reads, writes and fsync",
            metrics: METRICS,
        }
    }

    fn parse(&self, output: &ToolOutput<'_>) -> Parsed {
        let mut reading = Reading::default();
        let text = output.both();
        let document = last_document(&text).and_then(|found| Document::read(&found.value));
        let worked = document.as_ref().is_ok_and(|document| document.jobs.iter().all(|job| job.errors() == 0.0));
        let mut told: Vec<&str> = Vec::new();
        for line in text.lines().map(str::trim) {
            let complaint = COMPLAINT.is_match(line);
            if !(complaint || line.starts_with("note: ")) || told.contains(&line) {
                continue;
            }
            told.push(line);
            // Beside a job that worked it is no reason, such as a preallocation that the file system does not have.
            if complaint && (!worked || line.contains("terminating on signal")) {
                reading.fail(quoted(line))
            } else {
                reading.beware(quoted(line))
            }
        }
        match document {
            Ok(document) => tell(&document, &mut reading),
            Err(_) if !text.contains("\"fio version\"") && TEXT.is_match(&text) => {
                reading.fail("fio wrote its report as text: add `--output-format=json`")
            }
            Err(reason) if text.contains("\"fio version\"") => reading.fail(reason),
            Err(_) => reading.fail("no report of fio in the output"),
        }
        reading.finish(output)
    }
}

fn tell(document: &Document, reading: &mut Reading) {
    let jobs = &document.jobs;
    for job in jobs {
        if job.error != 0.0 {
            reading.fail(format!("job {} ended with error {}", quoted(&job.name), job.error));
        } else if job.errors() > 0.0 {
            reading.fail(format!("job {} went on after {} I/O errors", quoted(&job.name), job.errors()));
        }
        if let Some((asked, reached)) = job.too_shallow {
            let name = quoted(&job.name);
            reading.beware(format!(
                "job {name} asked for {asked} requests in flight and had fewer: the highest class that fio counted is {reached}"
            ));
        }
    }
    let ios = || jobs.iter().flat_map(|job| job.directions.iter().flatten());
    let active: Vec<&Job> = jobs.iter().filter(|job| job.directions.iter().any(Option::is_some)).collect();
    if !ios().any(|io| io.bytes > 0.0) {
        reading.fail("fio moved no bytes: nothing was read or written");
    }
    if document.contradicts_itself() {
        reading
            .fail("the report of fio contradicts itself: a rate is not its requests or bytes over its time, or latencies are not in order");
    }
    if one_after_another(&active) {
        reading.beware("the jobs are of several groups, which may have run one after another (stonewall): a sum of their rates means nothing and is absent");
    } else if !active.is_empty() {
        reading.metric("iops", ios().map(|io| io.iops).sum(), Unit::PER_SECOND);
        reading.metric("bandwidth", ios().map(|io| io.bandwidth).sum(), Unit::BYTES_PER_SECOND);
    }
    if !active.is_empty() {
        reading.metric("requests", ios().map(|io| io.requests).sum(), Unit::ONE);
        reading.metric("bytes", ios().map(|io| io.bytes).sum(), Unit::BYTE);
    }
    reading.metric("errors", jobs.iter().map(Job::errors).sum(), Unit::ONE);
    let duration = ios().map(|io| io.duration).fold(0.0, f64::max);
    if duration > 0.0 {
        reading.metric("duration", duration, Unit::SECOND);
    }
    if ios().any(|io| io.duration < SHORTEST_FINE) && reading.is_ok() {
        reading.beware("fio counts whole milliseconds, and a job was shorter than 100 of them: its rates are rough");
    }
    for (at, name) in ["read", "write"].into_iter().enumerate() {
        let doing: Vec<(&Job, &Io)> = jobs.iter().filter_map(|job| Some((job, job.directions[at].as_ref()?))).collect();
        direction(name, &doing, reading);
    }
    let fsyncs: Vec<&Latency> = jobs.iter().filter_map(|job| job.fsync.as_ref()).collect();
    if !fsyncs.is_empty() {
        reading.metric("fsyncs", fsyncs.iter().map(|latency| latency.count).sum(), Unit::ONE);
    }
    latencies("fsync", &fsyncs, reading);
}

/// Whether one of the jobs may have waited for another.
fn one_after_another(jobs: &[&Job]) -> bool {
    jobs.iter().skip(1).any(|job| job.waits || job.group != jobs[0].group)
}

fn direction(name: &str, doing: &[(&Job, &Io)], reading: &mut Reading) {
    let Some((_, first)) = doing.first() else { return };
    let sum = |of: fn(&Io) -> f64| doing.iter().map(|(_, io)| of(io)).sum();
    let jobs: Vec<&Job> = doing.iter().map(|(job, _)| *job).collect();
    if !one_after_another(&jobs) {
        reading.metric(&format!("{name}_iops"), sum(|io| io.iops), Unit::PER_SECOND);
        reading.metric(&format!("{name}_bandwidth"), sum(|io| io.bandwidth), Unit::BYTES_PER_SECOND);
    }
    reading.metric(&format!("{name}_requests"), sum(|io| io.requests), Unit::ONE);
    reading.metric(&format!("{name}_bytes"), sum(|io| io.bytes), Unit::BYTE);
    if first.latency.is_none() && first.bytes > 0.0 {
        reading.beware(format!("no completion latencies of {name}s (`clat_ns`): fio before 3.0, or --disable_clat"));
    }
    latencies(name, &doing.iter().filter_map(|(_, io)| io.latency.as_ref()).collect::<Vec<_>>(), reading);
}

fn latencies(name: &str, found: &[&Latency], reading: &mut Reading) {
    let Some(latency) = Latency::merged(found) else { return };
    let mut metric = |part: &str, seconds: f64| reading.metric(&format!("{name}_latency_{part}"), seconds, Unit::SECOND);
    metric("avg", latency.avg);
    if found.len() == 1 {
        metric("stdev", latency.stdev);
    }
    metric("min", latency.min);
    metric("max", latency.max);
    for (percentile, seconds) in &latency.percentiles {
        metric(percentile, *seconds);
    }
    if found.len() > 1 && !latency.percentiles.is_empty() {
        reading.beware(format!(
            "{} jobs: the percentiles of {name} are those of the worst one; jobs of one group are merged by `--group_reporting`",
            found.len()
        ));
    }
}
