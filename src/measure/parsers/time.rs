//! `time`: the shells' keyword, busybox, and GNU `/usr/bin/time` with `-p` and `-v`.
//!
//! Several blocks in one output: the last counts. A nested or final `time` prints last, a warm-up first; the caution says so.
//! The report stands on standard error; it is looked for on standard output only when it is not there.
//! ok: the last block is complete, and no line says that the timed command failed or was not found.
//! A `time` of a pipeline covers all of it in bash, but only its first command in busybox and GNU `time`: said when the output
//! shows a pipeline.

use super::constants::pattern;
use super::plain_text::quoted;
use super::reading::Reading;
use super::{Parser, ToolOutput, number};
use crate::model::catalog::ParserInfo;
use crate::model::metric::{Better, MetricInfo, Parsed, Unit};
use regex::Regex;
use std::sync::LazyLock;

/// The parser of `time`.
pub(super) struct Time;

const METRICS: &[MetricInfo] = &[
    MetricInfo {
        name: "real",
        unit: "s",
        better: Some(Better::Lower),
        about: "wall time as `time` prints it (resolution 1 ms in bash, 10 ms elsewhere); of the last block when there are several",
    },
    MetricInfo {
        name: "user",
        unit: "s",
        better: Some(Better::Lower),
        about: "user CPU time; of a pipeline only its first command unless bash's keyword timed it",
    },
    MetricInfo { name: "sys", unit: "s", better: Some(Better::Lower), about: "system CPU time; of a pipeline as for `user`" },
    MetricInfo {
        name: "max_resident",
        unit: "B",
        better: Some(Better::Lower),
        about: "largest resident set of one process (GNU time only; time 1.7 prints it four times too large); absent from busybox, which multiplies it by the page size",
    },
];

/// One report of `time`.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Block {
    real: Option<f64>,
    user: Option<f64>,
    sys: Option<f64>,
    max_resident: Option<f64>,
    /// Printed by busybox or GNU time: of a pipeline, only the first command was timed.
    first_command_only: bool,
    /// Has busybox's resident set, which is wrong.
    inflated: bool,
}

static SHELL: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(real|user|sys)[ \t]+(?:(?:(\d+)h ?)?(\d+)m( ?)(\d+(?:[.,]\d+)?)s|(\d+[.,]\d+))$"));
static BEGUN: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(?:real|user|sys)[ \t]+\d|^\d\S*user \d|^Command being timed: "));
static GNU: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(\d+[.,]\d+)user (\d+[.,]\d+)system (?:(\d+):)?(\d+):(\d+(?:[.,]\d+)?)elapsed \S+%CPU \(\d+avgtext\+\d+avgdata (\d+)maxresident\)k$",
    )
});
static VERBOSE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(User time \(seconds\)|System time \(seconds\)|Elapsed \(wall clock\) time \(h:mm:ss or m:ss\)|Maximum resident set size \(kbytes\)|Exit status): (.+)$",
    )
});
static ELAPSED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(?:(?:(\d+):)?(\d+):(\d+(?:[.,]\d+)?)|(?:(\d+)h ?)?(\d+)m ?(\d+(?:[.,]\d+)?)s)$"));
static FAILED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^Command (?:exited with non-zero status|terminated by signal|stopped by signal) \d+$|^(?:\S*/)?time: (?:cannot run|can't execute) ",
    )
});
static NO_TIME: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?:^|: )time: (?:command )?not found$"));
static NOT_FOUND: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\S*sh: (?:(?:line )?\d+: )?.+: (?:command )?not found$"));
/// `md5sum` and its kin of their standard input.
static PIPED: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?m)^[0-9a-f]{32,128}  -$"));

impl Parser for Time {
    fn info(&self) -> ParserInfo {
        ParserInfo { name: "time", about: "the shells' `time` keyword, busybox and GNU time, with -p and -v", metrics: METRICS }
    }

    fn parse(&self, output: &ToolOutput<'_>) -> Parsed {
        let mut reading = Reading::default();
        let text = output.voice(|text| !Report::read(text).blocks.is_empty());
        let report = Report::read(&text);
        report.failures.iter().for_each(|failure| reading.fail(failure.clone()));
        match report.blocks.last() {
            None => reading.fail("no complete `time` report (real, user, sys) in the output"),
            Some(block) => {
                reading.metric_if("real", block.real, Unit::SECOND);
                reading.metric_if("user", block.user, Unit::SECOND);
                reading.metric_if("sys", block.sys, Unit::SECOND);
                reading.metric_if("max_resident", block.max_resident, Unit::BYTE);
                if report.unfinished {
                    reading.fail("the last `time` report is damaged or cut off");
                }
                cautions(&mut reading, block, report.blocks.len(), output);
            }
        }
        reading.finish(output)
    }
}

fn cautions(reading: &mut Reading, block: &Block, blocks: usize, output: &ToolOutput<'_>) {
    if blocks > 1 {
        reading.beware(format!("{blocks} `time` reports: the last one counts"));
    }
    if block.first_command_only && PIPED.is_match(&output.both()) {
        reading
            .beware("this `time` covers only the first command of a pipeline, and the output shows one; bash's keyword covers all of it");
    }
    if block.inflated {
        reading.beware("busybox prints the resident set in the wrong unit: `max_resident` is absent");
    }
}

/// All that `time` said in a text.
#[derive(Debug, Default)]
struct Report {
    blocks: Vec<Block>,
    failures: Vec<String>,
    /// The block that is being read.
    open: Option<Block>,
    /// The last block is a `-v` report whose later lines may follow.
    verbose: bool,
    /// Something begun after the last complete block is not complete.
    unfinished: bool,
}

impl Report {
    fn read(text: &str) -> Self {
        let mut report = Self::default();
        for line in text.lines().map(str::trim) {
            report.line(line);
        }
        report.unfinished |= report.open.is_some();
        report
    }

    fn line(&mut self, line: &str) {
        if let Some(found) = SHELL.captures(line) {
            let part = |at| found.get(at).map_or("", |group| group.as_str());
            let value = if part(6).is_empty() { number::clock(part(2), part(3), part(5)) } else { number::decimal(part(6)) };
            self.shell(part(1), value, part(4) == " ");
        } else if let Some(found) = GNU.captures(line) {
            let part = |at| found.get(at).map_or("", |group| group.as_str());
            self.close(Block {
                real: number::clock(part(3), part(4), part(5)),
                user: number::decimal(part(1)),
                sys: number::decimal(part(2)),
                max_resident: kibibytes(part(6)),
                first_command_only: true,
                inflated: false,
            });
        } else if let Some(found) = VERBOSE.captures(line) {
            self.verbose(&found[1], &found[2]);
        } else if BEGUN.is_match(line) {
            self.unfinished = true;
            self.open = None;
        } else {
            self.trouble(line);
        }
        if line.starts_with("Command being timed: ") {
            self.unfinished = false;
            self.open = Some(Block { first_command_only: true, ..Block::default() });
        }
    }

    /// A line of the three-line form, in its fixed order.
    fn shell(&mut self, word: &str, value: Option<f64>, busybox: bool) {
        match (word, self.open.take()) {
            ("real", _) => self.open = Some(Block { real: value, first_command_only: busybox, ..Block::default() }),
            ("user", Some(block)) if block.user.is_none() => self.open = Some(Block { user: value, ..block }),
            ("sys", Some(block)) if block.user.is_some() => self.close(Block { sys: value, ..block }),
            _ => self.unfinished = true,
        }
    }

    /// A line of the `-v` form.
    fn verbose(&mut self, key: &str, value: &str) {
        let elapsed = ELAPSED.captures(value);
        match (key.split(' ').next(), &mut self.open, self.blocks.last_mut()) {
            (Some("User"), Some(block), _) => block.user = number::decimal(value),
            (Some("System"), Some(block), _) => block.sys = number::decimal(value),
            (Some("Elapsed"), Some(block), _) => {
                let part = |at: usize| elapsed.as_ref().and_then(|found| found.get(at)).map_or("", |group| group.as_str());
                let at = if part(2).is_empty() { 4 } else { 1 };
                let block = Block { real: number::clock(part(at), part(at + 1), part(at + 2)), inflated: at == 4, ..*block };
                self.close(block);
                self.verbose = true;
            }
            // Its heading is lost: these numbers belong to nothing.
            (Some("User" | "System" | "Elapsed"), None, _) => self.unfinished = true,
            (Some("Maximum"), None, Some(block)) if self.verbose && !self.unfinished && !block.inflated => {
                block.max_resident = kibibytes(value)
            }
            (Some("Exit"), ..) if value != "0" => self.failures.push(format!("the timed command ended with exit status {value}")),
            _ => {}
        }
    }

    fn close(&mut self, block: Block) {
        let complete = block.real.is_some() && block.user.is_some() && block.sys.is_some();
        self.open = None;
        self.verbose = false;
        self.unfinished = !complete;
        if complete {
            self.blocks.push(block);
        }
    }

    fn trouble(&mut self, line: &str) {
        if NO_TIME.is_match(line) {
            self.failures.push("`time` was not found: this shell has no such keyword and the image no such program".to_owned());
        } else if NOT_FOUND.is_match(line) {
            self.failures.push(format!("a command was not found: {}", quoted(line)));
        } else if FAILED.is_match(line) {
            self.failures.push(format!("the timed command failed: {}", quoted(line)));
        }
    }
}

fn kibibytes(text: &str) -> Option<f64> {
    number::count(text).map(|value| value * 1024.0)
}
