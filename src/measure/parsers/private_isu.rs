//! The benchmarker of `private-isu`: one JSON line at its end, with `pass`, `score`, `success`, `fail` and `messages`.
//!
//! ok: the last JSON document is a result, it passes, and more requests succeeded than failed. A run passes, with exit code 0, however
//! many requests fail after the first checks: they cost points, and the score never goes below 0. So some failures are told and a
//! score of 0 is a number, but a run of failures is none. A run that does not pass ends with exit code 2 and its line is read all the
//! same. Several results in one output: the last counts.

use super::constants::{HIGHER, LOWER, info};
use super::isucon_result::{IsuconResult, no_result, results_in};
use super::reading::Reading;
use super::{Parser, ToolOutput};
use crate::model::catalog::ParserInfo;
use crate::model::metric::{MetricInfo, Parsed, Unit};

/// The parser of `private-isu`.
pub(super) struct PrivateIsu;

const METRICS: &[MetricInfo] = &[
    info("score", "1", HIGHER, "points of the run, never below 0; printed too when it failed"),
    info("successes", "1", HIGHER, "`success`: right responses; a POST counts twice"),
    info("errors", "1", LOWER, "`fail`: wrong responses, exceptions and time-outs"),
];

impl Parser for PrivateIsu {
    fn info(&self) -> ParserInfo {
        ParserInfo { name: "private-isu", about: "benchmarker of private-isu: score, successes and failures", metrics: METRICS }
    }

    fn parse(&self, output: &ToolOutput<'_>) -> Parsed {
        let mut reading = Reading::default();
        let text = output.both();
        match IsuconResult::last(&text) {
            Ok(result) => tell(&result, &mut reading),
            Err(reason) => no_result(&mut reading, &text, "the benchmarker of private-isu", &reason),
        }
        if results_in(&text) > 1 {
            reading.beware("several results: the last one counts");
        }
        reading.finish(output)
    }
}

fn tell(result: &IsuconResult, reading: &mut Reading) {
    result.tell(reading, |_| false);
    let (successes, errors) = (result.count("success"), result.count("fail"));
    reading.metric_if("successes", successes, Unit::ONE);
    reading.metric_if("errors", errors, Unit::ONE);
    let (Some(successes), Some(errors)) = (successes, errors) else {
        reading.fail("the result is damaged: it lacks `success` or `fail`");
        return;
    };
    if !result.pass {
        return;
    }
    if successes == 0.0 {
        reading.fail("no request succeeded");
    } else if errors > successes {
        reading.fail(format!("{errors} requests failed and only {successes} succeeded"));
    } else if errors > 0.0 {
        reading.beware(format!("{errors} requests failed: each costs points, and the benchmarker passes the run all the same"));
    }
    if result.score == 0.0 && errors > 0.0 {
        reading.beware("the score is 0, and the benchmarker cuts it off there: it does not tell how bad the run was");
    }
}
