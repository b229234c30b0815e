//! The benchmarker of ISUCON 13: the JSON of `--result-path` (`pass`, `score`, `messages`, `language`, `resolved_count`), which it
//! also prints when the run failed, and its log, where a run that passed ends with `スコア: N`.
//!
//! ok: a result that passes, or in its absence the score in the log, which is written after the last check only. A failed run has
//! `pass` false and score 0, and ends with exit code 0 all the same. JSON and log together must agree.
//! Several runs in one output: the last counts, and without a result there is none.

use super::constants::{HIGHER, LOWER, info, pattern};
use super::isucon_result::{IsuconResult, no_result, results_in};
use super::number;
use super::plain_text::pieces;
use super::reading::Reading;
use super::{Parser, ToolOutput};
use crate::model::catalog::ParserInfo;
use crate::model::metric::{MetricInfo, Parsed, Unit};
use regex::Regex;
use std::sync::LazyLock;

/// The parser of the benchmarker of ISUCON 13.
pub(super) struct Isucon13;

const METRICS: &[MetricInfo] = &[
    info("score", "1", HIGHER, "sum of the tips (`score`, `スコア`); 0 when the run failed"),
    info(
        "dns_resolutions",
        "1",
        HIGHER,
        "names that the benchmarker resolved (`resolved_count`, `名前解決成功数`); absent when the run failed",
    ),
    info("errors_dns", "1", LOWER, "names that it could not resolve (`名前解決失敗数`); only from the log"),
    info("viewers", "1", HIGHER, "viewers who saw a stream to its end; only from the log"),
    info("duration", "s", LOWER, "how long the load ran (`ベンチマーク走行時間`); only from the log"),
];

/// A line of zap's console encoder: time, level, logger, where in the code, text.
static LINE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"^\d{4}-\d\d-\d\dT\S+\s+(?:info|warn|error)\s+(?:staff-logger|isupipe-benchmarker)\s+(?:\S+\.go:\d+\s+)?(.+)$")
});
static COUNT: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(スコア|名前解決成功数|名前解決失敗数): (\d+)$"));
static VIEWERS: LazyLock<Regex> = LazyLock::new(|| pattern(r#"^配信を最後まで視聴できた視聴者数\s+\{"viewers": (\d+)\}$"#));
static DURATION: LazyLock<Regex> = LazyLock::new(|| pattern(r"^ベンチマーク走行時間: (?:(\d+)m)?(\d+(?:\.\d+)?)s$"));
/// Messages that tell a count and no trouble.
static DULL: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(?:名前解決成功数|売上:) \d+$"));

/// What the log says.
#[derive(Debug, Default)]
struct Log {
    score: Option<f64>,
    resolutions: Option<f64>,
    errors_dns: Option<f64>,
    viewers: Option<f64>,
    duration: Option<f64>,
}

impl Parser for Isucon13 {
    fn info(&self) -> ParserInfo {
        ParserInfo { name: "isucon13", about: "benchmarker of ISUCON 13: score, resolved names and viewers", metrics: METRICS }
    }

    fn parse(&self, output: &ToolOutput<'_>) -> Parsed {
        let mut reading = Reading::default();
        let text = output.both();
        let parts = pieces(&text, |line| line.ends_with("webappの初期化を行います"));
        let last = parts.last().copied().unwrap_or_default();
        let log = Log::read(last);
        // The log has small JSON objects of its own.
        let rest: Vec<&str> = last.lines().filter(|line| !LINE.is_match(line.trim())).collect();
        let rest = rest.join("\n");
        let mut resolutions = log.resolutions;
        match (IsuconResult::last(&rest), log.score) {
            (Ok(result), score) => {
                result.tell(&mut reading, |message| DULL.is_match(message));
                resolutions = resolutions.or(result.count("resolved_count").filter(|_| result.pass));
                if score.is_some_and(|score| result.pass && score != result.score) {
                    reading.fail("the result and the log contradict each other: their scores differ");
                }
            }
            (Err(_), Some(score)) if results_in(&rest) == 0 => reading.metric("score", score, Unit::ONE),
            (Err(reason), _) => no_result(&mut reading, last, "the benchmarker of ISUCON 13", &reason),
        }
        reading.metric_if("dns_resolutions", resolutions, Unit::ONE);
        reading.metric_if("errors_dns", log.errors_dns, Unit::ONE);
        reading.metric_if("viewers", log.viewers, Unit::ONE);
        reading.metric_if("duration", log.duration, Unit::SECOND);
        if parts.len() > 1 || results_in(&rest) > 1 {
            reading.beware("several runs of the benchmarker: the last one counts");
        }
        reading.finish(output)
    }
}

impl Log {
    fn read(text: &str) -> Self {
        let mut log = Self::default();
        for found in text.lines().filter_map(|line| LINE.captures(line.trim())) {
            let line = &found[1];
            if let Some(found) = COUNT.captures(line) {
                let count = number::count(&found[2]);
                match &found[1] {
                    "スコア" => log.score = count,
                    "名前解決成功数" => log.resolutions = count,
                    _ => log.errors_dns = count,
                }
            } else if let Some(found) = VIEWERS.captures(line) {
                log.viewers = number::count(&found[1]);
            } else if let Some(found) = DURATION.captures(line) {
                log.duration = number::clock("", found.get(1).map_or("", |minutes| minutes.as_str()), &found[2]);
            }
        }
        log
    }
}
