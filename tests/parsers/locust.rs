//! `locust`.

use super::{Case, assert_covers, assert_metrics, check, fixture, parse};
use serde_json::{Value, json};

const fn fine(file: &'static str, metrics: &'static [(&'static str, f64)]) -> Case {
    Case { file, exit: 0, ok: true, problems: &[], metrics }
}

const ROUNDED: &str = "read from the tables of locust, in whole milliseconds: `--csv` and `--json` have more digits";

const CASES: &[Case] = &[
    Case {
        problems: &["495 requests are too few for latency_p999, latency_p9999: less than one of them lies beyond"],
        ..fine(
            "headless_csv.txt",
            &[
                ("requests_per_second", 164.71227837572906),
                ("requests", 495.0),
                ("errors", 0.0),
                ("latency_avg", 0.023584048232326246),
                ("latency_min", 0.001643473000058293),
                ("latency_max", 0.23116300699985004),
                ("latency_p50", 0.019),
                ("latency_p66", 0.027),
                ("latency_p75", 0.032),
                ("latency_p80", 0.034),
                ("latency_p90", 0.045),
                ("latency_p95", 0.051),
                ("latency_p98", 0.062),
                ("latency_p99", 0.071),
                ("latency_p999", 0.23),
                ("latency_p9999", 0.23),
            ],
        )
    },
    Case {
        exit: 1,
        ok: false,
        problems: &[
            "31 of 233 requests failed",
            "20 times `GET /rst: ConnectionResetError(104, 'Connection reset by peer')`",
            "11 times `GET /mix: HTTPError('503 Server Error: Service Unavailable for url: /mix')`",
            "exit code 1",
            "233 requests are too few for latency_p999, latency_p9999: less than one of them lies beyond",
            ROUNDED,
        ],
        ..fine(
            "headless_errors.txt",
            &[
                ("requests_per_second", 98.10),
                ("requests", 233.0),
                ("errors", 31.0),
                ("latency_avg", 0.016),
                ("latency_min", 0.001),
                ("latency_max", 0.170),
                ("latency_p50", 0.012),
                ("latency_p66", 0.016),
                ("latency_p75", 0.017),
                ("latency_p80", 0.020),
                ("latency_p90", 0.029),
                ("latency_p95", 0.042),
                ("latency_p98", 0.130),
                ("latency_p99", 0.130),
                ("latency_p999", 0.170),
                ("latency_p9999", 0.170),
            ],
        )
    },
    Case {
        problems: &["136 requests are too few for latency_p999, latency_p9999: less than one of them lies beyond"],
        ..fine(
            "headless_json.txt",
            &[
                ("requests_per_second", (105.0 + 31.0) / (1796049345.2213893 - 1796049343.6071193)),
                ("requests", 105.0 + 31.0),
                ("errors", 0.0),
                ("latency_avg", (2.845044328997801 + 1.359392507000166) / 136.0),
                ("latency_min", 0.002352265000126863),
                ("latency_max", 0.2422739690000526),
                ("latency_p50", 0.020),
                ("latency_p66", 0.027),
                ("latency_p75", 0.032),
                ("latency_p80", 0.038),
                ("latency_p90", 0.046),
                ("latency_p95", 0.160),
                ("latency_p98", 0.190),
                ("latency_p99", 0.200),
                ("latency_p999", 0.240),
                ("latency_p9999", 0.240),
                ("body_bytes", 1155.0 + 341.0),
            ],
        )
    },
    Case {
        problems: &["384 requests are too few for latency_p999, latency_p9999: less than one of them lies beyond", ROUNDED],
        ..fine(
            "headless_success.txt",
            &[
                ("requests_per_second", 115.60),
                ("requests", 384.0),
                ("errors", 0.0),
                ("latency_avg", 0.042),
                ("latency_min", 0.002),
                ("latency_max", 0.216),
                ("latency_p50", 0.038),
                ("latency_p66", 0.048),
                ("latency_p75", 0.057),
                ("latency_p80", 0.061),
                ("latency_p90", 0.072),
                ("latency_p95", 0.083),
                ("latency_p98", 0.110),
                ("latency_p99", 0.180),
                ("latency_p999", 0.220),
                ("latency_p9999", 0.220),
            ],
        )
    },
    Case {
        exit: 1,
        ok: false,
        problems: &[
            "36 of 36 requests failed",
            "28 times `GET /: ConnectionRefusedError(111, 'Connection refused')`",
            "8 times `GET /mid: ConnectionRefusedError(111, 'Connection refused')`",
            "exit code 1",
            "printed as 0, below the resolution, and therefore absent: latency_min",
            "36 requests are too few for latency_p98, latency_p99, latency_p999, latency_p9999: less than one of them lies beyond",
            ROUNDED,
        ],
        ..fine(
            "refused.txt",
            &[
                ("requests_per_second", 40.42),
                ("requests", 36.0),
                ("errors", 36.0),
                ("latency_avg", 0.010),
                ("latency_max", 0.161),
                ("latency_p50", 0.005),
                ("latency_p66", 0.007),
                ("latency_p75", 0.008),
                ("latency_p80", 0.010),
                ("latency_p90", 0.014),
                ("latency_p95", 0.050),
                ("latency_p98", 0.160),
                ("latency_p99", 0.160),
                ("latency_p999", 0.160),
                ("latency_p9999", 0.160),
            ],
        )
    },
];

#[test]
fn saved_outputs_of_locust() {
    check("locust", "locust", CASES);
    assert_covers("locust", CASES);
}

fn text(file: &str) -> String {
    String::from_utf8(fixture("locust", file)).expect("text")
}

/// Parses each text and compares the first problem, or that there is no failure.
fn assert_first_problems(table: impl IntoIterator<Item = (String, Option<&'static str>)>) {
    for (text, problem) in table {
        let found = parse("locust", text.as_bytes(), b"", 0);
        let first = found.problems.first().map(String::as_str).unwrap_or_default();
        assert!(found.ok == problem.is_none() && first.starts_with(problem.unwrap_or_default()), "{text}: {found:?}");
    }
}

#[test]
fn tables_that_must_not_be_believed() {
    let whole = text("headless_success.txt");
    let unfinished = "the tables of locust are damaged, cut off, or those of an unfinished run";
    let sum = "the report of locust contradicts itself: its row `Aggregated` is not the sum of the others";
    let failures = "the report of locust contradicts itself: its failures are not the part, or the rate, that it prints";
    let order = "the report of locust contradicts itself: its response times are not in order";
    let end = whole.find("Response time percentiles").expect("percentiles");
    let begin = whole.find("Type  ").expect("a table");
    let counts = &whole[begin..end];
    assert_first_problems([
        (whole.clone(), None),
        // Tables alone, with collapsed blanks, and behind those that were printed while it ran.
        (whole[begin..].split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" "), None),
        (format!("{counts}{}", &whole[begin..]), None),
        (whole[..end].to_owned(), Some(unfinished)),
        (format!("{}{counts}", &whole[begin..]), Some(unfinished)),
        (format!("{}{}", &whole[begin..], &counts[..200]), Some(unfinished)),
        (whole.replace(" 220    384", " 220    383"), Some(unfinished)),
        (whole.replace(" 220    220    220    384", " 220    220    384"), Some(unfinished)),
        (whole.replace("297     0(0.00%)", "298     0(0.00%)"), Some(sum)),
        (whole.replace("384     0(0.00%)", "384     0(0.10%)"), Some(failures)),
        (whole.replace("115.60        0.00", "115.60        0.20"), Some(failures)),
        (whole.replace("42       2     216     38", "42      44     216     38"), Some(order)),
        (whole.replace("42       2     216     38", "42       2     216    380"), Some(order)),
        (whole.replace("38     48     57     61     72", "38     58     57     61     72"), Some(order)),
        (whole.replace("Shutting down (exit code 0)", "x"), Some("locust did not reach its end: there is no line `Shutting down`")),
        (
            whole.replace("INFO/locust.main: --run-time", "ERROR/locust.user.task: --run-time"),
            Some("`--run-time limit reached, shutting down`"),
        ),
        ("locust: error: unrecognized arguments: --jsn\n".to_owned(), Some("`locust: error: unrecognized arguments: --jsn`")),
        ("Could not find 'locustfile.py'. Ensure the path is correct.\n".to_owned(), Some("`Could not find 'locustfile.py'.")),
        ("bash: line 1: locust: command not found\n".to_owned(), Some("`bash: line 1: locust: command not found`")),
        ("hello\n".to_owned(), Some("no report of locust in the output: neither CSV, nor JSON, nor its tables")),
    ]);
}

#[test]
fn a_run_without_requests_is_not_ok() {
    let head = "Type     Name       # reqs      # fails |    Avg     Min     Max    Med |   req/s  failures/s\n--------|--------\n";
    let none = format!("{head}         Aggregated       0     0(0.00%) |      0       0       0      0 |    0.00        0.00\n");
    let csv = "Type,Name,Request Count,Failure Count,Requests/s,50%\n,Aggregated,0,0,0.0,N/A\n";
    for text in ["[]\n", &none, csv] {
        let found = parse("locust", text.as_bytes(), b"", 1);
        assert_eq!((found.ok, found.problems[0].as_str()), (false, "no request was made"), "{text}");
        assert!(found.metrics.iter().all(|metric| metric.value == 0.0 && !metric.name.starts_with("latency")), "{found:?}");
    }
}

#[test]
fn a_csv_that_must_not_be_believed() {
    let whole = text("headless_csv.txt");
    let sum = "the report of locust contradicts itself: its row `Aggregated` is not the sum of the others";
    let missing = "the CSV of locust is damaged or cut off: its row `Aggregated` is missing";
    let aggregated = whole.lines().find(|line| line.starts_with(",Aggregated")).expect("the row");
    let failed = whole.replace(",372,0,", ",372,3,").replace(",495,0,", ",495,3,");
    let failed = failed.replace("Last Seen", "Last Seen\r\nGET,/,\"HTTPError('503 Server Error', '')\",3,1,2");
    assert_first_problems([
        (whole.clone(), None),
        (whole.replace("GET,/,372,", "GET,/,371,"), Some(sum)),
        (whole.replace(aggregated, ""), Some(missing)),
        (whole.replace(aggregated, &aggregated[..aggregated.len() - 4]), Some(missing)),
        (
            whole.replace(",Aggregated,495,", ",Aggregated,x,"),
            Some("the CSV of locust is damaged or cut off: its row `Aggregated` has no counts"),
        ),
        (whole.replace(",19,23.58", ",19,0.58"), Some("the report of locust contradicts itself: its response times are not in order")),
        (failed.clone(), Some("3 of 495 requests failed")),
    ]);
    let found = parse("locust", failed.as_bytes(), b"", 1);
    assert_eq!(found.problems[1], "3 times `GET /: HTTPError('503 Server Error', '')`");
}

#[test]
fn a_json_that_must_not_be_believed() {
    let changed = |change: fn(&mut Value)| {
        let mut document: Value = serde_json::from_str(&text("headless_json.txt")).expect("JSON");
        change(&mut document[0]);
        serde_json::to_string_pretty(&document).expect("JSON")
    };
    let damaged = "the JSON of locust is damaged: counts are missing, or do not add up";
    let whole = changed(|_| ());
    assert_first_problems([
        (whole.clone(), None),
        (changed(|entry| entry["num_requests"] = json!(106)), Some(damaged)),
        (changed(|entry| entry["response_times"]["170"] = json!(2)), Some(damaged)),
        (changed(|entry| entry["response_times"]["17x"] = json!(0)), Some(damaged)),
        (changed(|entry| entry["num_reqs_per_sec"]["1796049344"] = json!(66)), Some(damaged)),
        (changed(|entry| entry["num_failures"] = json!(1)), Some(damaged)),
        (changed(|entry| entry["total_response_time"] = Value::Null), Some(damaged)),
        (changed(|entry| entry["total_response_time"] = json!(9e9)), Some("the report of locust contradicts itself")),
        (whole[..whole.len() / 2].to_owned(), Some("the last JSON document is cut off")),
        (whole.replacen("\"name\"", "\"name\": \"\", \"name\"", 1), Some("the JSON of locust gives a key two values")),
        ("{\"num_requests\": 1}\n".to_owned(), Some("the last JSON document is not an array of locust's")),
        (
            changed(|entry| {
                entry["num_failures"] = json!(2);
                entry["num_fail_per_sec"] = json!({"1796049344": 2});
            }),
            Some("2 of 136 requests failed"),
        ),
    ]);
}

#[test]
fn a_json_counts_before_the_tables_and_must_agree_with_them() {
    let (json, tables) = (text("headless_json.txt"), text("headless_success.txt"));
    let found = parse("locust", json.as_bytes(), tables.as_bytes(), 0);
    let contradiction = "the forms in which locust reports contradict each other: their requests differ";
    assert_eq!((found.ok, found.problems[0].as_str(), found.metrics[1].value), (false, contradiction, 136.0));
    let log = &tables[..tables.find("Type  ").expect("a table")];
    assert_metrics(&parse("locust", json.as_bytes(), log.as_bytes(), 0), CASES[2].metrics, "with the log on standard error");
}

#[test]
fn what_is_odd_is_said_and_still_ok() {
    let whole =
        text("headless_success.txt").replace("All users spawned", "x").replace("INFO/locust.main: --run", "WARNING/locust.main: --run");
    let found = parse("locust", format!("{whole}{whole}").as_bytes(), b"", 0);
    assert!(found.ok, "{found:?}");
    let expected = [
        "`--run-time limit reached, shutting down`",
        "not all users were there before the end: `Ramping to 10 users at a rate of 10.00 per second`",
        "384 requests are too few for latency_p999, latency_p9999: less than one of them lies beyond",
        ROUNDED,
        "several runs of locust: the last one counts",
    ];
    assert_eq!(found.problems, expected);
}
