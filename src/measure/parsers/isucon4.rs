//! The benchmarker of the qualifier of ISUCON 4: LTSV lines behind a clock, of which the last is
//! `type:score<TAB>success:N<TAB>fail:N<TAB>score:N`. Tabs may have become blanks.
//!
//! ok: a score, the check of `/report` did not fail, and more steps succeeded than failed. The score is printed after a failed
//! check too (exit code 1); then it is no score. Failed steps cost nothing but the points that they did not earn, so some are told only.
//! Several runs in one output: the last counts, and without a score there is none.

use super::constants::{HIGHER, LOWER, info, pattern};
use super::isucon_result::no_result;
use super::number;
use super::plain_text::{pieces, quoted};
use super::reading::Reading;
use super::{Parser, ToolOutput};
use crate::model::catalog::ParserInfo;
use crate::model::metric::{MetricInfo, Parsed, Unit};
use regex::Regex;
use std::sync::LazyLock;

/// The parser of the benchmarker of ISUCON 4.
pub(super) struct Isucon4;

const METRICS: &[MetricInfo] = &[
    info("score", "1", HIGHER, "points of all workers, each rounded up; printed too when the check of /report failed"),
    info("successes", "1", HIGHER, "`success`: pages and assets that were right"),
    info("errors", "1", LOWER, "`fail`: steps that went wrong or took more than their limit"),
    info("banned_ips", "1", None, "addresses that had to be banned at the end; grows with the work done"),
    info("locked_users", "1", None, "users that had to be locked at the end; grows with the work done"),
];

static LINE: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(?:\d{1,2}:\d\d:\d\d\s+)?type:(score|report|fail)\s+(.+)$"));
static SCORE: LazyLock<Regex> = LazyLock::new(|| pattern(r"^success:(\d+)\s+fail:(\d+)\s+score:(\d+)$"));
static REPORT: LazyLock<Regex> = LazyLock::new(|| pattern(r"^count:(banned ips|locked users)\s+value:(\d+)$"));

/// What the lines of one run say.
#[derive(Debug, Default)]
struct Run {
    /// Successes, failures, score.
    score: Option<[f64; 3]>,
    banned_ips: Option<f64>,
    locked_users: Option<f64>,
    /// What ends a run without a score that counts.
    fatal: Vec<String>,
    /// What has nothing to do with the measurement.
    other: Vec<String>,
    /// The first failed step.
    first_failure: Option<String>,
}

impl Parser for Isucon4 {
    fn info(&self) -> ParserInfo {
        ParserInfo { name: "isucon4", about: "benchmarker of the ISUCON 4 qualifier: score, successes and failures", metrics: METRICS }
    }

    fn parse(&self, output: &ToolOutput<'_>) -> Parsed {
        let mut reading = Reading::default();
        let text = output.both();
        let parts = pieces(&text, |line| line.contains("message:launch benchmarker"));
        let last = parts.last().copied().unwrap_or_default();
        let run = Run::read(last);
        run.tell(&mut reading);
        if run.score.is_none() && reading.is_ok() {
            no_result(&mut reading, last, "the benchmarker of ISUCON 4", "no line `type:score`");
        }
        if parts.len() > 1 {
            reading.beware("several runs of the benchmarker: the last one counts");
        }
        reading.finish(output)
    }
}

impl Run {
    fn read(text: &str) -> Self {
        let mut run = Self::default();
        for found in text.lines().filter_map(|line| LINE.captures(line.trim())) {
            let rest = &found[2];
            match &found[1] {
                "score" => {
                    let counts = SCORE.captures(rest).map(|found| [1, 2, 3].map(|at| number::count(&found[at])));
                    if let Some([Some(successes), Some(errors), Some(score)]) = counts {
                        run.score = Some([successes, errors, score]);
                    }
                }
                "report" => match REPORT.captures(rest) {
                    Some(found) if &found[1] == "banned ips" => run.banned_ips = number::count(&found[2]),
                    Some(found) => run.locked_users = number::count(&found[2]),
                    None => {}
                },
                _ => run.failure(&rest.split_whitespace().collect::<Vec<_>>().join(" ")),
            }
        }
        run
    }

    fn failure(&mut self, text: &str) {
        if text.contains("message:Report checking is failed") || text.contains("message:Do not run benchmark") {
            self.fatal.push(quoted(text));
        } else if text.contains("Score sending failed") {
            self.other.push(quoted(text));
        } else if self.first_failure.is_none() {
            self.first_failure = Some(quoted(text));
        }
    }

    fn tell(&self, reading: &mut Reading) {
        self.fatal.iter().for_each(|reason| reading.fail(reason));
        self.other.iter().for_each(|caution| reading.beware(caution));
        if let Some([successes, errors, score]) = self.score {
            reading.metric("score", score, Unit::ONE);
            reading.metric("successes", successes, Unit::ONE);
            reading.metric("errors", errors, Unit::ONE);
            let first = self.first_failure.as_ref().map(|line| format!(", the first with {line}")).unwrap_or_default();
            if successes == 0.0 {
                reading.fail(format!("no step succeeded, {errors} failed{first}"));
            } else if errors > successes {
                reading.fail(format!("{errors} steps failed{first}, and only {successes} succeeded"));
            } else if errors > 0.0 {
                reading.beware(format!("{errors} steps failed{first}"));
            }
        }
        reading.metric_if("banned_ips", self.banned_ips, Unit::ONE);
        reading.metric_if("locked_users", self.locked_users, Unit::ONE);
    }
}
