//! Extraction that a manifest declares.

use super::assert_metrics;
use shakedown::measure::parsers::{ToolOutput, check, run};
use shakedown::model::metric::{Parsed, Unit};
use shakedown::model::spec::{Extraction, ParseSpec, Pick, Stream};

fn extraction(name: &str, pattern: &str, pick: Pick) -> Extraction {
    Extraction {
        name: name.to_owned(),
        pattern: pattern.to_owned(),
        from: Stream::Stdout,
        pick,
        unit: Unit::custom("points"),
        better: None,
    }
}

fn score(kind: fn(Vec<Extraction>) -> ParseSpec, pattern: &str, pick: Pick, text: &str) -> Parsed {
    run(&kind(vec![extraction("score", pattern, pick)]), &ToolOutput { stdout: text.as_bytes(), stderr: b"", exit_code: Some(0) })
}

/// A value, or a part of the only problem.
type Expected = Result<f64, &'static str>;

fn assert_table(kind: fn(Vec<Extraction>) -> ParseSpec, table: &[(&str, Pick, &str, Expected)]) {
    for (pattern, pick, text, expected) in table {
        let found = score(kind, pattern, *pick, text);
        let context = format!("{pattern} {pick:?} in {text}");
        match expected {
            Ok(value) => {
                assert!(found.ok, "{context}: {found:?}");
                assert_metrics(&found, &[("score", *value)], &context);
                assert_eq!(found.metrics[0].unit.symbol(), "points");
            }
            Err(reason) => {
                assert!(!found.ok && found.metrics.is_empty(), "{context}: {found:?}");
                assert!(found.problems.len() == 1 && found.problems[0].starts_with("metric `score`: "), "{context}: {found:?}");
                assert!(found.problems[0].contains(reason), "{context}: {found:?}");
            }
        }
    }
}

#[test]
fn regular_expressions() {
    let scores = "score: 10\nscore: 30\r\nscore: 20\n";
    assert_table(
        ParseSpec::Regex,
        &[
            (r"^score:\s*(\d+)$", Pick::First, scores, Ok(10.0)),
            (r"^score:\s*(\d+)$", Pick::Last, scores, Ok(20.0)),
            (r"^score:\s*(\d+)$", Pick::Median, scores, Ok(20.0)),
            (r"^score:\s*(\d+)$", Pick::Mean, scores, Ok(20.0)),
            (r"^score:\s*(\d+)$", Pick::Sum, scores, Ok(60.0)),
            (r"^score:\s*(\d+)$", Pick::Min, scores, Ok(10.0)),
            (r"^score:\s*(\d+)$", Pick::Max, scores, Ok(30.0)),
            (r"^score:", Pick::Count, scores, Ok(3.0)),
            (r"^error", Pick::Count, scores, Ok(0.0)),
            (r"(\d+)", Pick::Median, "1 2 4 8", Ok(3.0)),
            (r"\d+", Pick::First, "whole 12 match", Ok(12.0)),
            (r"a=(\d+)|b=(\d+)", Pick::Last, "a=1 b=2", Ok(2.0)),
            (r"v=(\S+)", Pick::First, "v=12,5", Ok(12.5)),
            (r"v=(\S+)", Pick::First, "\x1b[32mv=-1.5e3\x1b[0m", Ok(-1500.0)),
            (r"v=(\S+)", Pick::First, "v=1,234", Err("`1,234` is no number (thousands separators are not guessed)")),
            (r"v=(\S+)", Pick::First, "v=-nan", Err("`-nan` is no number")),
            (r"v=(\S+)", Pick::Mean, "v=1 v=x", Err("`x` is no number")),
            (r"v=(\S+)", Pick::Sum, "v=1e308 v=1e308", Err("too large")),
            (r"v=(\d+)", Pick::First, "nothing here", Err("`v=(\\d+)` matches nothing in the output")),
        ],
    );
}

#[test]
fn json_paths() {
    let isucon =
        "12:00 start\n{\"pass\":true,\"score\":100}\n12:01 {retry}\n{\"pass\":true,\"score\":\"250\",\"messages\":[\"遅い }\"]}\nbye\n";
    assert_table(
        ParseSpec::Json,
        &[
            ("$.score", Pick::First, isucon, Ok(250.0)),
            ("$.jobs[*].iops", Pick::Sum, "note: x\n{\"jobs\": [{\"iops\": 1.5}, {\"iops\": 2}]}\nJobs: 1 (f=1)", Ok(3.5)),
            ("$.jobs[?@.ok == true].iops", Pick::First, "{\"jobs\": [{\"ok\": false, \"iops\": 1}, {\"ok\": true, \"iops\": 2}]}", Ok(2.0)),
            ("$.jobs[*]", Pick::Count, "{\"jobs\": [1, 2]}", Ok(2.0)),
            ("$.score", Pick::First, "{\"score\": -nan, \"b\": 1}", Err("`null` is no number")),
            ("$.pass", Pick::First, isucon, Err("`true` is no number")),
            ("$.points", Pick::First, isucon, Err("`$.points` matches nothing")),
            ("$.score", Pick::First, "{\"score\": 1}\n{\"score\": 2, \"x\": {\"score\": 3}", Err("cut off")),
            ("$.sum.a", Pick::First, "{\"sum\": {\"a\": 1}, \"b\": 5, \"sum\": {\"a\": 2}}", Err("meets a repeated key")),
            ("$.b", Pick::First, "{\"sum\": {\"a\": 1}, \"b\": 5, \"sum\": {\"a\": 2}}", Ok(5.0)),
            ("$.score", Pick::Count, "no document", Err("no JSON document")),
        ],
    );
}

#[test]
fn csv_columns() {
    let redis = "WARNING: the option is old, use another\n\"test\",\"rps\",\"p99\"\n\"LPUSH, small\",\"1000.5\",\"\"\n\"GET\",\"3000\",\"0.5\"\n\ndone\n";
    assert_table(
        ParseSpec::Csv,
        &[
            ("rps", Pick::First, redis, Ok(1000.5)),
            ("rps", Pick::Max, redis, Ok(3000.0)),
            ("rps", Pick::Count, redis, Ok(2.0)),
            ("p99", Pick::Last, redis, Ok(0.5)),
            ("p99", Pick::First, redis, Err("`` is no number")),
            ("test", Pick::First, redis, Err("`LPUSH, small` is no number")),
            ("p50", Pick::First, redis, Err("no header of a CSV table names the column `p50`")),
            ("rps", Pick::First, "test,rps\n", Err("`rps` matches nothing")),
        ],
    );
}

#[test]
fn streams_exit_codes_and_several_metrics() {
    let mut extractions =
        vec![extraction("a", r"a=(\d+)", Pick::First), extraction("b", r"b=(\d+)", Pick::First), extraction("c", "c", Pick::First)];
    extractions[1].from = Stream::Stderr;
    extractions[2].from = Stream::Both;
    let output = ToolOutput { stdout: b"a=1 b=9", stderr: b"a=8 b=2", exit_code: Some(3) };
    let found = run(&ParseSpec::Regex(extractions), &output);
    assert!(!found.ok);
    assert_metrics(&found, &[("a", 1.0), ("b", 2.0)], "streams");
    assert_eq!(found.problems, ["metric `c`: `c` matches nothing in the output", "exit code 3"]);
}

#[test]
fn what_can_never_work_is_refused_at_plan_time() {
    let table = [
        (ParseSpec::Regex(vec![extraction("score", r"score: (\d+)", Pick::First)]), None),
        (ParseSpec::Regex(vec![extraction("lines", "^$", Pick::Count)]), None),
        (
            ParseSpec::Regex(vec![extraction("score", r"(\d+", Pick::First)]),
            Some("metric `score`: `(\\d+` is no regular expression: unclosed group"),
        ),
        (
            ParseSpec::Regex(vec![extraction("score", r"\d*", Pick::First)]),
            Some("metric `score`: the expression `\\d*` also matches the empty text"),
        ),
        (ParseSpec::Regex(vec![extraction("score", r"(\w{1000}){1000}", Pick::First)]), Some("exceeds size limit")),
        (ParseSpec::Json(vec![extraction("score", "$.jobs[0].iops", Pick::First)]), None),
        (ParseSpec::Json(vec![extraction("score", "jobs[", Pick::First)]), Some("metric `score`: `jobs[` is no JSONPath: ")),
        (ParseSpec::Csv(vec![extraction("score", "rps", Pick::First)]), None),
        (ParseSpec::Csv(vec![extraction("score", " ", Pick::First)]), Some("metric `score`: the column has no name")),
    ];
    for (spec, expected) in table {
        match (check(&spec), expected) {
            (Ok(()), None) => {}
            (Err(reason), Some(part)) => assert!(reason.contains(part), "{reason}"),
            (found, _) => panic!("{spec:?}: {found:?}"),
        }
    }
}
