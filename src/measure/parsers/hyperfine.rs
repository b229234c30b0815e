//! `hyperfine` 1: the JSON of `--export-json`, the table of `--export-csv`, or its text.
//!
//! Write the export to a file and print it: before 1.16 `--export-json -` makes a file of the name `-`. The JSON wins over the
//! table, the table over the text, which is rounded (and of which the Markdown export has too little to be read). Several commands
//! in one output: the last counts.
//! ok: a result, every run ended with exit code 0 (`-i` goes on after others), no error, and the numbers agree with each other.
//! A time of 0 is none: of a command shorter than the start of a shell hyperfine takes that start off.

mod report;

use super::constants::{HIGHER, LOWER, info, pattern};
use super::last_json::last_document;
use super::plain_text::{pieces, quoted};
use super::reading::Reading;
use super::{Parser, ToolOutput};
use crate::model::catalog::ParserInfo;
use crate::model::metric::{MetricInfo, Parsed, Unit};
use regex::Regex;
use report::Timing;
use std::sync::LazyLock;

/// The parser of `hyperfine`.
pub(super) struct Hyperfine;

const METRICS: &[MetricInfo] = &[
    info("real_avg", "s", LOWER, "mean wall time of the runs, less the time that an empty shell takes unless -N; absent when printed as 0"),
    info("real_stdev", "s", LOWER, "standard deviation of the wall times; absent for a single run"),
    info("real_min", "s", LOWER, "smallest wall time; absent when printed as 0"),
    info("real_max", "s", LOWER, "largest wall time; absent when printed as 0"),
    info("real_p50", "s", LOWER, "median wall time; absent from the text, and when printed as 0"),
    info("user", "s", LOWER, "mean user CPU time of a run"),
    info("sys", "s", LOWER, "mean system CPU time of a run"),
    info("runs", "1", HIGHER, "runs without those of --warmup; absent from the table"),
    info("errors", "1", LOWER, "runs that did not end with exit code 0; only in the JSON"),
];

static COMPLAINT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(?:\[hyperfine\] )?Error: .+|^error: .+|^Warning: Ignoring non-zero exit code\.$|^(?:\S*/)?hyperfine: .+|^\S*sh: .*\bhyperfine: (?:command )?not found$",
    )
});
static OTHER_FORM: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?m)^\| Command \| Mean \[(?:ms|s|µs)\] \|"));
static BENCHMARK: LazyLock<Regex> = LazyLock::new(|| pattern(r"^Benchmark (?:#\d+|\d+): "));

impl Parser for Hyperfine {
    fn info(&self) -> ParserInfo {
        ParserInfo { name: "hyperfine", about: "hyperfine's JSON, CSV or text: wall and CPU times of a command", metrics: METRICS }
    }

    fn parse(&self, output: &ToolOutput<'_>) -> Parsed {
        let mut reading = Reading::default();
        let text = output.both();
        for line in text.lines().map(str::trim) {
            if COMPLAINT.is_match(line) {
                reading.fail(quoted(line));
            } else if line.starts_with("Warning: ") {
                reading.beware(quoted(line));
            }
        }
        match timings(&text) {
            Ok(timings) => {
                if let Some(timing) = timings.last() {
                    tell(timing, &mut reading);
                }
                if timings.len() > 1 {
                    reading.beware(format!("{} commands were timed: the last one counts", timings.len()));
                }
            }
            Err(reason) => reading.fail(reason),
        }
        reading.finish(output)
    }
}

/// One for every command, at least one.
fn timings(text: &str) -> Result<Vec<Timing>, String> {
    if text.contains("\"results\":") {
        return Timing::of_document(&last_document(text)?.value);
    }
    let mut timings = Timing::of_table(text);
    if timings.is_empty() {
        let parts = pieces(text, |line| BENCHMARK.is_match(line));
        timings = parts.iter().filter_map(|part| Timing::of_text(part)).collect();
        let begun = |part: &str| part.lines().any(|line| BENCHMARK.is_match(line.trim()));
        if parts.last().is_some_and(|last| begun(last) && Timing::of_text(last).is_none()) {
            return Err("the last benchmark of hyperfine has no result: it failed, or the output is cut off".to_owned());
        }
    }
    match timings.is_empty() {
        false => Ok(timings),
        true if OTHER_FORM.is_match(text) => {
            Err("hyperfine wrote its report as Markdown, which is rounded: use `--export-json`".to_owned())
        }
        true => Err("no report of hyperfine in the output".to_owned()),
    }
}

fn tell(timing: &Timing, reading: &mut Reading) {
    let mut zeros = Vec::new();
    let times = [
        ("real_avg", timing.avg),
        ("real_stdev", timing.stdev.filter(|_| timing.avg > Some(0.0))),
        ("real_min", timing.min),
        ("real_max", timing.max),
        ("real_p50", timing.median),
    ];
    for (name, seconds) in times {
        match seconds {
            Some(0.0) if name != "real_stdev" => zeros.push(name),
            _ => reading.metric_if(name, seconds, Unit::SECOND),
        }
    }
    reading.metric_if("user", timing.user, Unit::SECOND);
    reading.metric_if("sys", timing.sys, Unit::SECOND);
    reading.metric_if("runs", timing.runs, Unit::ONE);
    reading.metric_if("errors", timing.failed, Unit::ONE);
    if let (Some(failed), Some(runs)) = (timing.failed.filter(|failed| *failed > 0.0), timing.runs) {
        reading.fail(format!("{failed} of {runs} runs did not end with exit code 0"));
    }
    if timing.contradicts_itself() {
        reading.fail("the report of hyperfine contradicts itself: its mean or its extremes are not those of its runs");
    }
    if !zeros.is_empty() {
        reading.beware(format!("printed as 0, which is no time, and therefore absent: {}", zeros.join(", ")));
    }
    if timing.rounded {
        reading.beware("the text of hyperfine is rounded: `--export-json` is exact");
    }
}
