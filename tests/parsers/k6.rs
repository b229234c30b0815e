//! `k6`. Every output is CONSTRUCTED: k6 is in no package registry, so its documented forms are written with invented numbers.

use super::{Case, assert_covers, assert_metrics, check, fixture, parse};
use serde_json::{Value, json};

const fn fine(file: &'static str, metrics: &'static [(&'static str, f64)]) -> Case {
    Case { file, exit: 0, ok: true, problems: &[], metrics }
}

const ROUNDED: &str = "read from the text summary, which is rounded: print the file of `--summary-export` too";

const CASES: &[Case] = &[
    Case {
        exit: 99,
        ok: false,
        problems: &["3 of 600 requests failed", "3 of 600 checks failed", "a threshold was crossed: `http_req_failed: rate<0.001`"],
        ..fine(
            "handle_summary_constructed.txt",
            &[
                ("requests_per_second", 20.0),
                ("requests", 600.0),
                ("errors", 3.0),
                ("duration", 30.0),
                ("latency_avg", 0.0315),
                ("latency_min", 0.00925),
                ("latency_max", 0.4105),
                ("latency_p50", 0.028125),
                ("latency_p90", 0.05275),
                ("latency_p95", 0.0615),
                ("bytes", 150000.0),
                ("bytes_per_second", 5000.0),
                ("iterations_per_second", 20.0),
                ("iterations", 600.0),
                ("checks", 600.0),
                ("checks_failed", 3.0),
                ("thresholds_crossed", 1.0),
            ],
        )
    },
    fine(
        "machine_readable_constructed.txt",
        &[
            ("requests_per_second", 5000.0 / 12.5),
            ("requests", 5000.0),
            ("errors", 0.0),
            ("duration", 12.5),
            ("latency_avg", 0.00225),
            ("latency_min", 0.000625),
            ("latency_max", 0.0335),
            ("latency_p50", 0.001875),
            ("latency_p90", 0.003125),
            ("latency_p95", 0.0045),
            ("bytes", 1250000.0),
            ("bytes_per_second", 1250000.0 / 12.5),
            ("iterations_per_second", 5000.0 / 12.5),
            ("iterations", 5000.0),
            ("checks", 5000.0),
            ("checks_failed", 0.0),
        ],
    ),
    Case {
        exit: 107,
        ok: false,
        problems: &[
            "no summary of k6 in the output, neither JSON nor text",
            "`\"SyntaxError: file:///home/user/script.js: Unexpected token, expected \\\";\\\" (3:10)\" hint=\"script exception\"`",
            "exit code 107",
        ],
        ..fine("script_error_constructed.txt", &[])
    },
    Case {
        problems: &["41 iterations were dropped, because no VU was free: the rate that was asked for was not reached"],
        ..fine(
            "summary_export_constructed.txt",
            &[
                ("requests_per_second", 200.0),
                ("requests", 4010.0),
                ("errors", 0.0),
                ("duration", 4010.0 / 200.0),
                ("latency_avg", 0.008125),
                ("latency_min", 0.00075),
                ("latency_max", 0.09525),
                ("latency_p50", 0.0065),
                ("latency_p90", 0.0155),
                ("latency_p95", 0.02125),
                ("latency_p99", 0.0485),
                ("latency_p999", 0.090125),
                ("bytes", 962400.0),
                ("bytes_per_second", 48000.0),
                ("iterations_per_second", 100.0),
                ("iterations", 2005.0),
                ("dropped_iterations", 41.0),
                ("checks", 4010.0),
                ("checks_failed", 0.0),
            ],
        )
    },
    Case {
        exit: 99,
        problems: &["a threshold was crossed: `http_req_duration: p(95)<200`"],
        ..fine(
            "summary_export_crossed_constructed.txt",
            &[
                ("requests_per_second", 15.0),
                ("requests", 150.0),
                ("errors", 0.0),
                ("duration", 150.0 / 15.0),
                ("latency_avg", 0.2405),
                ("latency_min", 0.12025),
                ("latency_max", 0.912125),
                ("latency_p50", 0.22075),
                ("latency_p90", 0.3805),
                ("latency_p95", 0.45025),
                ("bytes", 12000.0),
                ("bytes_per_second", 1200.0),
                ("iterations_per_second", 15.0),
                ("iterations", 150.0),
                ("thresholds_crossed", 1.0),
            ],
        )
    },
    Case {
        problems: &[ROUNDED],
        ..fine(
            "text_compact_constructed.txt",
            &[
                ("requests_per_second", 800.796813),
                ("requests", 8040.0),
                ("errors", 0.0),
                ("duration", 8040.0 / 800.796813),
                ("latency_avg", 0.0125),
                ("latency_min", 0.0008125),
                ("latency_max", 1.14),
                ("latency_p50", 0.01025),
                ("latency_p90", 0.03075),
                ("latency_p95", 0.04125),
                ("bytes", 6_600_000.0),
                ("bytes_per_second", 657_000.0),
                ("iterations_per_second", 400.398406),
                ("iterations", 4020.0),
                ("checks", 8040.0),
                ("checks_failed", 0.0),
            ],
        )
    },
    Case {
        exit: 99,
        problems: &["a threshold was crossed: `http_req_duration: p(95)<20`", ROUNDED],
        ..fine(
            "text_full_crossed_constructed.txt",
            &[
                ("requests_per_second", 20.0),
                ("requests", 1200.0),
                ("errors", 0.0),
                ("duration", 1200.0 / 20.0),
                ("latency_avg", 0.0125),
                ("latency_min", 0.0008125),
                ("latency_max", 62.0),
                ("latency_p50", 0.01025),
                ("latency_p90", 0.03075),
                ("latency_p95", 0.04125),
                ("latency_p99", 2.5),
                ("bytes", 900_000.0),
                ("bytes_per_second", 15_000.0),
                ("iterations_per_second", 10.0),
                ("iterations", 600.0),
                ("thresholds_crossed", 1.0),
            ],
        )
    },
    Case {
        exit: 99,
        ok: false,
        problems: &["500 of 5000 requests failed", "500 of 10000 checks failed", "a threshold was crossed: `http_req_failed`", ROUNDED],
        ..fine(
            "text_legacy_constructed.txt",
            &[
                ("requests_per_second", 119.047619),
                ("requests", 5000.0),
                ("errors", 500.0),
                ("duration", 5000.0 / 119.047619),
                ("latency_avg", 0.00604),
                ("latency_min", 0.000000841),
                ("latency_max", 0.0505),
                ("latency_p50", 0.00584),
                ("latency_p90", 0.00908),
                ("latency_p95", 0.00912),
                ("bytes", 1_300_000.0),
                ("bytes_per_second", 31_000.0),
                ("iterations_per_second", 119.047619),
                ("iterations", 5000.0),
                ("checks", 10_000.0),
                ("checks_failed", 500.0),
                ("thresholds_crossed", 1.0),
            ],
        )
    },
    Case {
        ok: false,
        problems: &[
            "2 of 2 requests failed",
            "2 of 2 checks failed",
            "0, which is no latency, and therefore absent: latency_avg, latency_min, latency_max, latency_p50, latency_p90, latency_p95",
            ROUNDED,
            "`\"Request Failed\" error=\"Get \\\"http://127.0.0.1:1/\\\": dial tcp 127.0.0.1:1: connect: connection refused\"`",
        ],
        ..fine(
            "text_refused_constructed.txt",
            &[
                ("requests_per_second", 125.0),
                ("requests", 2.0),
                ("errors", 2.0),
                ("duration", 2.0 / 125.0),
                ("bytes", 0.0),
                ("bytes_per_second", 0.0),
                ("iterations_per_second", 125.0),
                ("iterations", 2.0),
                ("checks", 2.0),
                ("checks_failed", 2.0),
            ],
        )
    },
];

#[test]
fn saved_outputs_of_k6() {
    check("k6", "k6", CASES);
    assert_covers("k6", CASES);
}

fn text(file: &str) -> String {
    String::from_utf8(fixture("k6", file)).expect("text")
}

/// The document of a saved output after a change.
fn changed(file: &str, change: fn(&mut Value)) -> String {
    let mut document: Value = serde_json::from_str(&text(file)).expect("JSON");
    change(&mut document);
    serde_json::to_string(&document).expect("JSON")
}

fn assert_first_problems(table: impl IntoIterator<Item = (String, Option<&'static str>)>) {
    for (text, problem) in table {
        let found = parse("k6", text.as_bytes(), b"", 0);
        let first = found.problems.first().map(String::as_str).unwrap_or_default();
        assert!(found.ok == problem.is_none() && (found.ok || first.starts_with(problem.unwrap_or_default())), "{text}: {found:?}");
    }
}

const RATES: &str = "the summary of k6 contradicts itself: its rates are not its counts over one time";
const PARTS: &str = "the summary of k6 contradicts itself: its failed requests are not a part of its requests";
const ORDER: &str = "the summary of k6 contradicts itself: its latencies are not in order";
const NO_ITERATION: &str = "the summary has no iterations: none was run to its end, or it is cut off";

#[test]
fn documents_that_must_not_be_believed() {
    let export = |change| changed("summary_export_constructed.txt", change);
    let machine = |change| changed("machine_readable_constructed.txt", change);
    let whole = export(|_| ());
    assert_first_problems([
        (whole.clone(), None),
        (format!("{whole}\n{{\"level\":\"info\",\"msg\":\"done\",\"time\":\"x\"}}\n"), None),
        (export(|d| d["metrics"]["http_reqs"]["rate"] = json!(20)), Some(RATES)),
        (export(|d| d["metrics"]["iterations"]["count"] = json!(4010)), Some(RATES)),
        (export(|d| d["metrics"]["http_req_failed"]["fails"] = json!(4011)), Some(PARTS)),
        (export(|d| d["metrics"]["http_req_duration"]["med"] = json!(16)), Some(ORDER)),
        (export(|d| d["metrics"]["http_req_duration"]["max"] = json!(7)), Some(ORDER)),
        (export(|d| d["metrics"]["iterations"] = Value::Null), Some(NO_ITERATION)),
        (export(|d| d["metrics"]["checks"] = json!({"passes": 0, "fails": 4010, "value": 0})), Some("4010 of 4010 checks failed")),
        (export(|d| d["metrics"]["http_req_failed"] = json!({"passes": 4010, "fails": 0})), Some("4010 of 4010 requests failed")),
        (export(|d| d["metrics"] = json!(3)), Some("the last JSON document is not a summary of k6")),
        (whole[..whole.len() - 9].to_owned(), Some("the last JSON document is ")),
        (format!("{whole}\n{}", &whole[..whole.len() / 2]), Some("the last JSON document is ")),
        (whole.replacen("\"root_group\"", "\"metrics\":{},\"root_group\"", 1), Some("the JSON of k6 gives a key two values")),
        (machine(|d| d["results"]["metrics"] = json!([])), Some(NO_ITERATION)),
        (
            machine(|d| d["results"]["checks"]["metrics"][2]["values"]["total"] = json!(4000)),
            Some("the summary of k6 contradicts itself: its passed checks are not a part of its checks"),
        ),
        (changed("handle_summary_constructed.txt", |d| d["state"]["testRunDurationMs"] = json!(3000)), Some("3 of 600 requests failed")),
    ]);
}

#[test]
fn texts_that_must_not_be_believed() {
    let whole = text("text_compact_constructed.txt");
    let old = text("text_legacy_constructed.txt");
    assert_first_problems([
        (whole.clone(), None),
        (whole.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" "), None),
        (whole[..whole.find("EXECUTION").expect("a section")].to_owned(), Some(NO_ITERATION)),
        (whole.replace("800.796813/s", "80.796813/s"), Some(RATES)),
        (whole.replace("0.00% 0 out of 8040\n    http", "0.00% 0 out of 8041\n    http"), Some(PARTS)),
        (whole.replace("max=1.14s p(90)=30", "max=1.14ms p(90)=30"), Some(ORDER)),
        (whole.replace("    iterations....", "    iterations: "), Some(NO_ITERATION)),
        (format!("time=\"x\" level=error msg=\"Uncaught oops\" executor=a\n{whole}"), Some("`\"Uncaught oops\" executor=a`")),
        (format!("ERRO[0001] oops                    source=x\n{whole}"), Some("`oops source=x`")),
        (format!("ERRO[0001] oops   source=console\n{whole}"), None),
        (old.clone(), Some("500 of 5000 requests failed")),
        ("running (10.0s), 0/1 VUs, 1 complete and 0 interrupted iterations\n".to_owned(), Some("no summary of k6 in the output")),
    ]);
}

#[test]
fn json_counts_before_text_and_a_threshold_is_told_by_the_exit_code_alone() {
    let machine = text("machine_readable_constructed.txt");
    let both = format!("{}{machine}", text("text_compact_constructed.txt"));
    assert_metrics(&parse("k6", both.as_bytes(), b"", 0), CASES[1].metrics, "text and JSON");
    let found = parse("k6", machine.as_bytes(), b"", 99);
    let reason = "a threshold was crossed; this summary does not say which one";
    assert_eq!((found.ok, &found.problems[..]), (true, &[reason.to_owned()][..]));
    assert_metrics(&found, CASES[1].metrics, "with exit code 99");
}

#[test]
fn the_last_of_several_summaries_counts() {
    let several = "several summaries of k6: the last one counts";
    for (file, from, to, value) in [
        ("summary_export_constructed.txt", "\"rate\": 200\n", "\"rate\": 201\n", 201.0),
        ("text_compact_constructed.txt", "8040  800.796813/s", "8040  801.796813/s", 801.796813),
        ("text_legacy_constructed.txt", "5000   119.047619/s\n     iteration_d", "5000   119.147619/s\n     iteration_d", 119.147619),
    ] {
        let whole = text(file);
        let found = parse("k6", format!("{whole}{}", whole.replace(from, to)).as_bytes(), b"", 0);
        assert_eq!((found.metrics[0].value, found.problems.contains(&several.to_owned())), (value, true), "{file}: {found:?}");
    }
}

#[test]
fn what_an_earlier_run_crossed_is_forgotten() {
    let old = text("text_legacy_constructed.txt");
    let fine = old.replace("✗ http_req_failed", "✓ http_req_failed").replace("10.00% ✓ 500         ✗ 4500", "0.00% ✓ 0 ✗ 5000");
    let fine = fine.replace("95.00% ✓ 9500        ✗ 500", "100.00% ✓ 10000 ✗ 0").replace("level=error", "level=info");
    let crossed = text("text_full_crossed_constructed.txt").replace("level=error", "level=info");
    let compact = text("text_compact_constructed.txt");
    for (earlier, last) in [(&old.replace("level=error", "level=info"), &fine), (&crossed, &compact)] {
        let found = parse("k6", format!("{earlier}{last}").as_bytes(), b"", 0);
        assert!(found.ok && found.problems.contains(&"several summaries of k6: the last one counts".to_owned()), "{found:?}");
    }
}

#[test]
fn requests_that_nobody_judged_are_said() {
    let judged = changed("summary_export_constructed.txt", |d| d["metrics"]["http_req_failed"]["fails"] = json!(4000));
    let untold = changed("summary_export_constructed.txt", |d| d["metrics"]["http_req_failed"] = Value::Null);
    for (text, caution) in [
        (judged, "of 4010 requests only 4000 were judged by `http_req_failed`: the script left the others out"),
        (untold, "the summary does not tell how many requests failed (`http_req_failed`)"),
    ] {
        let found = parse("k6", text.as_bytes(), b"", 0);
        assert!(found.ok && found.problems.contains(&caution.to_owned()), "{found:?}");
    }
}

#[test]
fn every_unit_of_time_is_read() {
    let times = [("1h2m3s", 3723.0), ("1m2.5s", 62.5), ("0.07s", 0.07), ("12.50ms", 0.0125), ("7µs", 7e-6), ("7us", 7e-6), ("8ns", 8e-9)];
    for (text, seconds) in times {
        let text = format!("http_req_duration...: avg={text} min=x max= med={text}m\nhttp_reqs...: 1 1/s\niterations...: 1 1/s\n");
        let found = parse("k6", text.as_bytes(), b"", 0);
        let latencies: Vec<_> =
            found.metrics.iter().filter(|metric| metric.name.starts_with("latency")).map(|metric| metric.value).collect();
        assert_eq!(latencies, [seconds], "{text}");
    }
}
