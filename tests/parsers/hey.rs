//! `hey`.

use super::{Case, assert_covers, check, parse};

const TOO_FEW: &str = "too few responses for 1 of the percentiles: hey prints them as `0%`";
const ROUGH: &str = "the median is below 1 ms, and hey rounds to 0.1 ms: its latencies are rough";
const NO_MIN: &str = "printed as 0, below the resolution, and therefore absent: latency_min";
const CUT: &str = "the report of hey is damaged or cut off";
const CONTRADICTION: &str =
    "the report of hey contradicts itself: its rate is not its requests over its time, or its latencies are not in order";

const fn fine(file: &'static str, problems: &'static [&'static str], metrics: &'static [(&'static str, f64)]) -> Case {
    Case { file, exit: 0, ok: true, problems, metrics }
}

const CASES: &[Case] = &[
    Case {
        ok: false,
        ..fine(
            "conn_refused.txt",
            &[
                "no request was completed",
                "20 requests got no response (`Get \"http://127.0.0.1:1/\": dial tcp 127.0.0.1:1: connect: connection refused`)",
            ],
            &[("requests_per_second", 6425.4221), ("requests", 0.0), ("errors", 20.0), ("non_2xx_3xx", 0.0), ("duration", 0.0031)],
        )
    },
    fine(
        "csv.txt",
        &["`-o csv` lists only requests that got a response: how many got none is not known"],
        &[
            ("requests_per_second", 50.0 / 0.0435),
            ("requests", 50.0),
            ("non_2xx_3xx", 0.0),
            ("duration", 0.0435),
            ("latency_avg", 0.1714 / 50.0),
            ("latency_min", 0.0001),
            ("latency_max", 0.0158),
            ("latency_p10", 0.0002),
            ("latency_p25", 0.0004),
            ("latency_p50", 0.0036),
            ("latency_p75", 0.0043),
            ("latency_p90", 0.0051),
            ("latency_p95", 0.0120),
        ],
    ),
    fine(
        "duration.txt",
        &[NO_MIN],
        &[
            ("requests_per_second", 6468.1197),
            ("requests", 12987.0),
            ("errors", 0.0),
            ("non_2xx_3xx", 0.0),
            ("duration", 2.0078),
            ("latency_avg", 0.0030),
            ("latency_max", 0.1116),
            ("latency_p10", 0.0002),
            ("latency_p25", 0.0004),
            ("latency_p50", 0.0010),
            ("latency_p75", 0.0029),
            ("latency_p90", 0.0081),
            ("latency_p95", 0.0118),
            ("latency_p99", 0.0303),
            ("body_bytes", 142857.0),
        ],
    ),
    Case {
        ok: false,
        ..fine(
            "non2xx.txt",
            &["50 responses were neither 2xx nor 3xx (status 503)"],
            &[
                ("requests_per_second", 2086.9150),
                ("requests", 500.0),
                ("errors", 0.0),
                ("non_2xx_3xx", 50.0),
                ("duration", 0.2396),
                ("latency_avg", 0.0047),
                ("latency_min", 0.0001),
                ("latency_max", 0.0323),
                ("latency_p10", 0.0003),
                ("latency_p25", 0.0008),
                ("latency_p50", 0.0021),
                ("latency_p75", 0.0052),
                ("latency_p90", 0.0134),
                ("latency_p95", 0.0167),
                ("latency_p99", 0.0314),
                ("body_bytes", 5050.0),
            ],
        )
    },
    fine(
        "rate_q.txt",
        &[TOO_FEW, ROUGH],
        &[
            ("requests_per_second", 39.7227),
            ("requests", 80.0),
            ("errors", 0.0),
            ("non_2xx_3xx", 0.0),
            ("duration", 2.0140),
            ("latency_avg", 0.0015),
            ("latency_min", 0.0003),
            ("latency_max", 0.0209),
            ("latency_p10", 0.0004),
            ("latency_p25", 0.0004),
            ("latency_p50", 0.0005),
            ("latency_p75", 0.0007),
            ("latency_p90", 0.0029),
            ("latency_p95", 0.0127),
            ("body_bytes", 880.0),
        ],
    ),
    Case {
        ok: false,
        ..fine(
            "reset_errors.txt",
            &[
                "1 requests got no response (`Get \"http://127.0.0.1:18081/rst\": read tcp 127.0.0.1:58284->127.0.0.1:18081: read: connection reset by peer`)",
            ],
            &[
                ("requests_per_second", 1135.9403),
                ("requests", 199.0),
                ("errors", 1.0),
                ("non_2xx_3xx", 0.0),
                ("duration", 0.1761),
                ("latency_avg", 0.0071),
                ("latency_min", 0.0004),
                ("latency_max", 0.0274),
                ("latency_p10", 0.0015),
                ("latency_p25", 0.0023),
                ("latency_p50", 0.0052),
                ("latency_p75", 0.0122),
                ("latency_p90", 0.0155),
                ("latency_p95", 0.0168),
                ("latency_p99", 0.0274),
                ("body_bytes", 2189.0),
            ],
        )
    },
    fine(
        "slow.txt",
        &[TOO_FEW],
        &[
            ("requests_per_second", 31.6758),
            ("requests", 30.0),
            ("errors", 0.0),
            ("non_2xx_3xx", 0.0),
            ("duration", 0.9471),
            ("latency_avg", 0.3153),
            ("latency_min", 0.3048),
            ("latency_max", 0.3324),
            ("latency_p10", 0.3050),
            ("latency_p25", 0.3053),
            ("latency_p50", 0.3088),
            ("latency_p75", 0.3318),
            ("latency_p90", 0.3321),
            ("latency_p95", 0.3324),
            ("body_bytes", 330.0),
        ],
    ),
    fine(
        "success.txt",
        &[NO_MIN],
        &[
            ("requests_per_second", 5582.2856),
            ("requests", 5000.0),
            ("errors", 0.0),
            ("non_2xx_3xx", 0.0),
            ("duration", 0.8957),
            ("latency_avg", 0.0033),
            ("latency_max", 0.0527),
            ("latency_p10", 0.0002),
            ("latency_p25", 0.0004),
            ("latency_p50", 0.0010),
            ("latency_p75", 0.0035),
            ("latency_p90", 0.0093),
            ("latency_p95", 0.0140),
            ("latency_p99", 0.0278),
            ("body_bytes", 55000.0),
        ],
    ),
    Case {
        ok: false,
        ..fine(
            "timeouts.txt",
            &[
                "4 requests got no response (`Get \"http://127.0.0.1:18081/hang\": context deadline exceeded (Client.Timeout exceeded while awaiting headers)`)",
                TOO_FEW,
                ROUGH,
            ],
            &[
                ("requests_per_second", 19.9146),
                ("requests", 36.0),
                ("errors", 4.0),
                ("non_2xx_3xx", 0.0),
                ("duration", 2.0086),
                ("latency_avg", 0.0017),
                ("latency_min", 0.0001),
                ("latency_max", 0.0355),
                ("latency_p10", 0.0001),
                ("latency_p25", 0.0003),
                ("latency_p50", 0.0004),
                ("latency_p75", 0.0006),
                ("latency_p90", 0.0044),
                ("latency_p95", 0.0355),
                ("body_bytes", 396.0),
            ],
        )
    },
];

#[test]
fn saved_outputs_of_hey() {
    check("hey", "hey", CASES);
    assert_covers("hey", CASES);
}

const REPORT: &str = "
Summary:
  Total:\t2.0000 secs
  Slowest:\t0.3000 secs
  Fastest:\t0.1000 secs
  Average:\t0.2000 secs
  Requests/sec:\t500.0000

Latency distribution:
  50% in 0.2000 secs
  99% in 0.3000 secs

Status code distribution:
  [200]\t1000 responses



";

fn with_error(report: &str) -> String {
    report.replace("[200]\t1000", "[200]\t998").trim_end().to_owned() + "\n\nError distribution:\n  [2]\tEOF\n"
}

#[test]
fn reports_that_must_not_be_believed() {
    let without = |line: &str| REPORT.lines().filter(|known| !known.contains(line)).collect::<Vec<_>>().join("\n");
    let table = [
        (REPORT.to_owned(), None),
        (REPORT.replace('\t', " "), None),
        (REPORT.replace("[200]\t1000", "[200]\t100"), Some(CONTRADICTION)),
        (REPORT.replace("50% in 0.2", "50% in 0.9"), Some(CONTRADICTION)),
        (REPORT.replace("Slowest:\t0.3", "Slowest:\t0.1"), Some(CONTRADICTION)),
        (without("Average"), Some(CUT)),
        (without("Total"), Some(CUT)),
        (without("Requests/sec"), Some(CUT)),
        (without("Status code"), Some(CUT)),
        (without("[200]"), Some(CONTRADICTION)),
        (REPORT.replace("1000 responses", "1000 respons"), Some(CUT)),
        (REPORT.replace("Requests/sec:\t500.0000", "Requests/sec:\t500.00"), Some(CUT)),
        (with_error(REPORT), Some("2 requests got no response (`EOF`)")),
        (with_error(REPORT).replace("  [2]\tEOF\n", ""), Some(CONTRADICTION)),
        ("sh: 1: hey: not found\n".to_owned(), Some("`sh: 1: hey: not found`")),
        ("-n cannot be less than -c.\n\nUsage: hey [options...] <url>\n".to_owned(), Some("`-n cannot be less than -c.`")),
    ];
    for (text, problem) in table {
        let found = parse("hey", text.as_bytes(), b"", 0);
        assert_eq!(found.ok, problem.is_none(), "{text}: {found:?}");
        assert_eq!(found.problems.first().map(String::as_str), problem, "{text}");
        assert!(problem != Some(CONTRADICTION) || found.metrics.is_empty(), "{found:?}");
    }
}

#[test]
fn a_cut_report_does_not_say_that_nothing_failed() {
    let cut = &REPORT[..REPORT.find("Status code").expect("the list")];
    let found = parse("hey", cut.as_bytes(), b"", 0);
    assert!(!found.ok && found.metrics.iter().all(|metric| !["requests", "errors", "non_2xx_3xx"].contains(&metric.name.as_str())));
    assert_eq!(found.metrics.last().map(|metric| (metric.name.as_str(), metric.value)), Some(("latency_p99", 0.3)));
}

#[test]
fn more_responses_than_hey_keeps_are_not_taken_for_all() {
    let text = REPORT.replace("[200]\t1000 ", "[200]\t1000000 ").replace("500.0000", "1000000.0000");
    let found = parse("hey", text.as_bytes(), b"", 0);
    assert!(found.ok && found.metrics.iter().all(|metric| !["requests", "non_2xx_3xx", "latency_avg"].contains(&metric.name.as_str())));
    assert_eq!(found.problems, ["hey keeps the first 1000000 responses: statuses and latencies are those of them"]);
}

#[test]
fn the_last_of_several_reports_counts() {
    let other = REPORT.replace("500.0000", "501.0000").replace("1000 ", "1002 ");
    let found = parse("hey", format!("{REPORT}{other}").as_bytes(), b"", 0);
    assert_eq!((found.ok, found.metrics[0].value), (true, 501.0));
    assert_eq!(found.problems, ["several reports of hey: the last one counts"]);
}

const HEADER: &str = "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset\n";

#[test]
fn a_table_is_read_in_full_or_not_at_all() {
    let row = |status: u32| format!("0.0200,0.0100,0.0000,0.0001,0.0090,0.0001,{status},0.5000\n");
    let torn = "the table of hey is damaged or cut off";
    let table = [
        (format!("{HEADER}{}", row(200)), None),
        (
            format!("{HEADER}{}{}{}", row(200), row(503), row(404)),
            Some("2 responses were neither 2xx nor 3xx (1 status 503, 1 status 404)"),
        ),
        (HEADER.to_owned(), Some("no request was completed")),
        (format!("{HEADER}{}", row(200).trim_end()), Some(torn)),
        (format!("{HEADER}{}", row(200).replace("0.0001", "NaN")), Some(torn)),
        (format!("{HEADER}{}{}", row(200), &row(200)[7..]), Some(torn)),
        (row(200), Some("no report of hey in the output")),
    ];
    for (text, problem) in table {
        let found = parse("hey", text.as_bytes(), b"", 0);
        assert_eq!(found.ok, problem.is_none(), "{text}: {found:?}");
        if let Some(problem) = problem {
            assert_eq!(found.problems[0], problem, "{text}");
        }
    }
}

#[test]
fn percentiles_of_a_table_need_a_slower_response() {
    let rows: String =
        (1..=100).map(|at| format!("{:.4},0.0000,0.0000,0.0000,0.0000,0.0000,200,0.0000\n", f64::from(at) / 100.0)).collect();
    let found = parse("hey", format!("{HEADER}{rows}").as_bytes(), b"", 0);
    let value = |name: &str| found.metrics.iter().find(|metric| metric.name == name).map(|metric| metric.value);
    assert_eq!((value("latency_p50"), value("latency_p99"), value("latency_max")), (Some(0.5), Some(0.99), Some(1.0)));
    let found = parse("hey", format!("{HEADER}{}", &rows[..rows.find("1.0000").expect("the last row")]).as_bytes(), b"", 0);
    let value = |name: &str| found.metrics.iter().find(|metric| metric.name == name).map(|metric| metric.value);
    assert_eq!((value("latency_p95"), value("latency_p99")), (Some(0.95), None));
}
