//! The benchmarker of ISUCON 14: lines of Go's `slog`, of which one tells the result:
//! `level=INFO msg=結果 pass=true スコア=1137 種別エラー数=map[26:1]`. The map has the errors by code, in quotes when there are several.
//!
//! ok: a result that passes. Unless it was started with `--fail-on-error`, the benchmarker ends with exit code 0 whatever happened, also
//! when `initialize` failed and there is no result at all. Errors that it counts and still passes (up to 200) are told only.
//! Several runs in one output: the last counts, and without a result there is none.

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

/// The parser of the benchmarker of ISUCON 14.
pub(super) struct Isucon14;

const METRICS: &[MetricInfo] = &[
    info("score", "1", HIGHER, "`スコア`: points of the run; printed too when it failed"),
    info("errors", "1", LOWER, "errors of all codes that the benchmarker counted (`種別エラー数`), mere warnings among them"),
];

static RESULT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"^(?:time=\S+\s+)?(?:level=INFO\s+)?(?:msg=)?結果\s+pass=(true|false)\s+スコア=(\d+)\s+種別エラー数=(?:map\[(\d+:\d+)?\]|"map\[(\d+:\d+(?: \d+:\d+)+)\]")$"#,
    )
});
static ERROR: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(?:time=\S+\s+)?level=ERROR\s+(?:source=\S+\s+)?(msg=.+)$"));

/// What the result says.
struct Outcome<'a> {
    pass: bool,
    score: f64,
    /// As printed, `code:count` each; empty when there were none.
    errors: &'a str,
}

impl Parser for Isucon14 {
    fn info(&self) -> ParserInfo {
        ParserInfo { name: "isucon14", about: "benchmarker of ISUCON 14: score and errors", metrics: METRICS }
    }

    fn parse(&self, output: &ToolOutput<'_>) -> Parsed {
        let mut reading = Reading::default();
        let text = output.both();
        let parts = pieces(&text, |line| line.contains("msg=負荷走行を開始します"));
        let last = parts.last().copied().unwrap_or_default();
        let outcome = last.lines().rev().find_map(|line| Outcome::read(line.trim()));
        if let Some(outcome) = &outcome {
            outcome.tell(&mut reading);
        }
        let passed = outcome.as_ref().is_some_and(|outcome| outcome.pass);
        for found in last.lines().filter_map(|line| ERROR.captures(line.trim())) {
            if passed { reading.beware(quoted(&found[1])) } else { reading.fail(quoted(&found[1])) }
        }
        if outcome.is_none() {
            no_result(&mut reading, last, "the benchmarker of ISUCON 14", "no line `msg=結果`");
        }
        if parts.len() > 1 {
            reading.beware("several runs of the benchmarker: the last one counts");
        }
        reading.finish(output)
    }
}

impl<'a> Outcome<'a> {
    fn read(line: &'a str) -> Option<Self> {
        let found = RESULT.captures(line)?;
        let errors = found.get(3).or(found.get(4)).map_or("", |errors| errors.as_str());
        Some(Self { pass: &found[1] == "true", score: number::count(&found[2])?, errors })
    }

    /// Errors of all codes; none when a count is too large to be one.
    fn count(&self) -> Option<f64> {
        let mut counts = self.errors.split_whitespace().map(|error| error.split_once(':').and_then(|(_, count)| number::count(count)));
        counts.try_fold(0.0, |sum, count| Some(sum + count?))
    }

    fn tell(&self, reading: &mut Reading) {
        reading.metric("score", self.score, Unit::ONE);
        let errors = self.count();
        reading.metric_if("errors", errors, Unit::ONE);
        if !self.pass {
            reading.fail("the benchmarker says that the run failed (`pass=false`): its score does not count");
        }
        if let Some(errors) = errors.filter(|errors| *errors > 0.0) {
            reading.beware(format!("the benchmarker counted {errors} errors (code:count): {}", self.errors));
        }
    }
}
