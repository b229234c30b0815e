//! `wrk`.

use super::{Case, assert_covers, assert_metrics, check, parse};

const NO_REPORT: &str = "no report of wrk in the output (killed by another signal than SIGINT it prints none)";
const KIB: f64 = 1024.0;

const fn fine(file: &'static str, metrics: &'static [(&'static str, f64)]) -> Case {
    Case { file, exit: 0, ok: true, problems: &[], metrics }
}

const CASES: &[Case] = &[
    fine(
        "big_body_GB.txt",
        &[
            ("requests_per_second", 7178.02),
            ("requests", 14680.0),
            ("errors", 0.0),
            ("errors_connect", 0.0),
            ("errors_read", 0.0),
            ("errors_write", 0.0),
            ("errors_timeout", 0.0),
            ("non_2xx_3xx", 0.0),
            ("duration", 2.05),
            ("latency_avg", 0.00339),
            ("latency_stdev", 0.00434),
            ("latency_max", 0.03368),
            ("latency_p50", 0.0017),
            ("latency_p75", 0.00446),
            ("latency_p90", 0.00805),
            ("latency_p99", 0.02198),
            ("thread_requests_per_second_avg", 3640.0),
            ("thread_requests_per_second_stdev", 1200.0),
            ("thread_requests_per_second_max", 7530.0),
            ("bytes", 1.4 * KIB * KIB * KIB),
            ("bytes_per_second", 702.65 * KIB * KIB),
        ],
    ),
    Case {
        exit: 1,
        ok: false,
        problems: &["`unable to resolve nonexistent.example.invalid:http Name or service not known`", NO_REPORT, "exit code 1"],
        ..fine("dns_fail.txt", &[])
    },
    Case {
        ok: false,
        problems: &["no request was completed"],
        ..fine(
            "hang_no_response.txt",
            &[
                ("requests_per_second", 0.0),
                ("requests", 0.0),
                ("errors", 0.0),
                ("errors_connect", 0.0),
                ("errors_read", 0.0),
                ("errors_write", 0.0),
                ("errors_timeout", 0.0),
                ("non_2xx_3xx", 0.0),
                ("duration", 1.0),
                ("thread_requests_per_second_avg", 0.0),
                ("thread_requests_per_second_stdev", 0.0),
                ("thread_requests_per_second_max", 0.0),
                ("bytes", 0.0),
                ("bytes_per_second", 0.0),
            ],
        )
    },
    Case {
        exit: 124,
        ok: false,
        problems: &["exit code 124"],
        ..fine(
            "interrupted_sigint.txt",
            &[
                ("requests_per_second", 38.55),
                ("requests", 79.0),
                ("errors", 0.0),
                ("errors_connect", 0.0),
                ("errors_read", 0.0),
                ("errors_write", 0.0),
                ("errors_timeout", 0.0),
                ("non_2xx_3xx", 0.0),
                ("duration", 2.05),
                ("latency_avg", 0.02602),
                ("latency_stdev", 0.00859),
                ("latency_max", 0.06948),
                ("latency_p50", 0.02287),
                ("latency_p75", 0.02739),
                ("latency_p90", 0.04069),
                ("latency_p99", 0.06948),
                ("thread_requests_per_second_avg", 38.6),
                ("thread_requests_per_second_stdev", 8.0),
                ("thread_requests_per_second_max", 50.0),
                ("bytes", 8.72 * KIB),
                ("bytes_per_second", 4.25 * KIB),
            ],
        )
    },
    Case { exit: 137, ok: false, problems: &[NO_REPORT, "exit code 137"], ..fine("killed_no_output.txt", &[]) },
    fine(
        "lua_done_json.txt",
        &[
            ("requests_per_second", 13814.0 / 1.004265),
            ("requests", 13814.0),
            ("errors", 0.0),
            ("errors_connect", 0.0),
            ("errors_read", 0.0),
            ("errors_write", 0.0),
            ("errors_timeout", 0.0),
            ("non_2xx_3xx", 0.0),
            ("duration", 1.004265),
            ("latency_avg", 0.00197088),
            ("latency_stdev", 0.00243906),
            ("latency_min", 0.000081),
            ("latency_max", 0.022206),
            ("latency_p50", 0.000832),
            ("latency_p90", 0.004758),
            ("latency_p99", 0.011818),
            ("latency_p999", 0.02162),
            ("thread_requests_per_second_avg", 6930.0),
            ("thread_requests_per_second_stdev", 1540.0),
            ("thread_requests_per_second_max", 10160.0),
            ("bytes", 3398479.0),
            ("bytes_per_second", 3398479.0 / 1.004265),
        ],
    ),
    Case {
        ok: false,
        problems: &["17615 responses were neither 2xx nor 3xx"],
        ..fine(
            "non2xx_404.txt",
            &[
                ("requests_per_second", 17317.08),
                ("requests", 17615.0),
                ("errors", 0.0),
                ("errors_connect", 0.0),
                ("errors_read", 0.0),
                ("errors_write", 0.0),
                ("errors_timeout", 0.0),
                ("non_2xx_3xx", 17615.0),
                ("duration", 1.02),
                ("latency_avg", 0.01143),
                ("latency_stdev", 0.03226),
                ("latency_max", 0.18073),
                ("latency_p50", 0.000619),
                ("latency_p75", 0.00356),
                ("latency_p90", 0.02244),
                ("latency_p99", 0.15878),
                ("thread_requests_per_second_avg", 9510.0),
                ("thread_requests_per_second_stdev", 6360.0),
                ("thread_requests_per_second_max", 24300.0),
                ("bytes", 5.17 * KIB * KIB),
                ("bytes_per_second", 5.09 * KIB * KIB),
            ],
        )
    },
    Case {
        ok: false,
        problems: &["2246 responses were neither 2xx nor 3xx"],
        ..fine(
            "non2xx_mix503.txt",
            &[
                ("requests_per_second", 22297.80),
                ("requests", 22461.0),
                ("errors", 0.0),
                ("errors_connect", 0.0),
                ("errors_read", 0.0),
                ("errors_write", 0.0),
                ("errors_timeout", 0.0),
                ("non_2xx_3xx", 2246.0),
                ("duration", 1.01),
                ("latency_avg", 0.00139),
                ("latency_stdev", 0.00169),
                ("latency_max", 0.01298),
                ("thread_requests_per_second_avg", 11230.0),
                ("thread_requests_per_second_stdev", 3820.0),
                ("thread_requests_per_second_max", 16310.0),
                ("bytes", 2.44 * KIB * KIB),
                ("bytes_per_second", 2.42 * KIB * KIB),
            ],
        )
    },
    fine(
        "one_thread_header_singular.txt",
        &[
            ("requests_per_second", 4771.81),
            ("requests", 4883.0),
            ("errors", 0.0),
            ("errors_connect", 0.0),
            ("errors_read", 0.0),
            ("errors_write", 0.0),
            ("errors_timeout", 0.0),
            ("non_2xx_3xx", 0.0),
            ("duration", 1.02),
            ("latency_avg", 0.0016),
            ("latency_stdev", 0.00322),
            ("latency_max", 0.03),
            ("thread_requests_per_second_avg", 4870.0),
            ("thread_requests_per_second_stdev", 2450.0),
            ("thread_requests_per_second_max", 8750.0),
            ("bytes", 1.15 * KIB * KIB),
            ("bytes_per_second", 1.12 * KIB * KIB),
        ],
    ),
    Case {
        ok: false,
        problems: &["27897 responses were neither 2xx nor 3xx"],
        ..fine(
            "rate_limited_503.txt",
            &[
                ("requests_per_second", 13970.57),
                ("requests", 28525.0),
                ("errors", 0.0),
                ("errors_connect", 0.0),
                ("errors_read", 0.0),
                ("errors_write", 0.0),
                ("errors_timeout", 0.0),
                ("non_2xx_3xx", 27897.0),
                ("duration", 2.04),
                ("latency_avg", 0.00215),
                ("latency_stdev", 0.0037),
                ("latency_max", 0.03621),
                ("latency_p50", 0.000215),
                ("latency_p75", 0.00286),
                ("latency_p90", 0.0063),
                ("latency_p99", 0.01817),
                ("thread_requests_per_second_avg", 14120.0),
                ("thread_requests_per_second_stdev", 3260.0),
                ("thread_requests_per_second_max", 20290.0),
                ("bytes", 10.1 * KIB * KIB),
                ("bytes_per_second", 4.95 * KIB * KIB),
            ],
        )
    },
    Case {
        ok: false,
        problems: &["746 socket errors: 0 connecting, 746 reading, 0 writing, 0 timed out"],
        ..fine(
            "rst.txt",
            &[
                ("requests_per_second", 4390.50),
                ("requests", 4476.0),
                ("errors", 746.0),
                ("errors_connect", 0.0),
                ("errors_read", 746.0),
                ("errors_write", 0.0),
                ("errors_timeout", 0.0),
                ("non_2xx_3xx", 0.0),
                ("duration", 1.02),
                ("latency_avg", 0.0025),
                ("latency_stdev", 0.00325),
                ("latency_max", 0.03467),
                ("latency_p50", 0.00087),
                ("latency_p75", 0.00369),
                ("latency_p90", 0.00631),
                ("latency_p99", 0.01625),
                ("thread_requests_per_second_avg", 4450.0),
                ("thread_requests_per_second_stdev", 1890.0),
                ("thread_requests_per_second_max", 7090.0),
                ("bytes", 493.93 * KIB),
                ("bytes_per_second", 484.5 * KIB),
            ],
        )
    },
    fine(
        "seconds_unit.txt",
        &[
            ("requests_per_second", 1.99),
            ("requests", 8.0),
            ("errors", 0.0),
            ("errors_connect", 0.0),
            ("errors_read", 0.0),
            ("errors_write", 0.0),
            ("errors_timeout", 0.0),
            ("non_2xx_3xx", 0.0),
            ("duration", 4.02),
            ("latency_avg", 1.5),
            ("latency_stdev", 0.00148),
            ("latency_max", 1.5),
            ("latency_p50", 1.5),
            ("latency_p75", 1.5),
            ("latency_p90", 1.5),
            ("latency_p99", 1.5),
            ("thread_requests_per_second_avg", 2.0),
            ("thread_requests_per_second_stdev", 0.0),
            ("thread_requests_per_second_max", 2.0),
            ("bytes", 0.88 * KIB),
            ("bytes_per_second", 224.78),
        ],
    ),
    fine(
        "single_conn_us.txt",
        &[
            ("requests_per_second", 9470.27),
            ("requests", 9582.0),
            ("errors", 0.0),
            ("errors_connect", 0.0),
            ("errors_read", 0.0),
            ("errors_write", 0.0),
            ("errors_timeout", 0.0),
            ("non_2xx_3xx", 0.0),
            ("duration", 1.01),
            ("latency_avg", 0.00083001),
            ("latency_stdev", 0.00159),
            ("latency_max", 0.01476),
            ("latency_p50", 0.000053),
            ("latency_p75", 0.00101),
            ("latency_p90", 0.00287),
            ("latency_p99", 0.00742),
            ("thread_requests_per_second_avg", 9570.0),
            ("thread_requests_per_second_stdev", 3490.0),
            ("thread_requests_per_second_max", 18200.0),
            ("bytes", 2.25 * KIB * KIB),
            ("bytes_per_second", 2.22 * KIB * KIB),
        ],
    ),
    Case {
        exit: 1,
        ok: false,
        problems: &["`unable to connect to 127.0.0.1:1 Connection refused`", NO_REPORT, "exit code 1"],
        ..fine("socket_errors_connect_refused.txt", &[])
    },
    Case {
        ok: false,
        problems: &["2377 socket errors: 0 connecting, 2377 reading, 0 writing, 0 timed out"],
        ..fine(
            "socket_errors_read.txt",
            &[
                ("requests_per_second", 14131.25),
                ("requests", 14265.0),
                ("errors", 2377.0),
                ("errors_connect", 0.0),
                ("errors_read", 2377.0),
                ("errors_write", 0.0),
                ("errors_timeout", 0.0),
                ("non_2xx_3xx", 0.0),
                ("duration", 1.01),
                ("latency_avg", 0.00135),
                ("latency_stdev", 0.00131),
                ("latency_max", 0.01046),
                ("latency_p50", 0.000799),
                ("latency_p75", 0.00164),
                ("latency_p90", 0.00316),
                ("latency_p99", 0.00621),
                ("thread_requests_per_second_avg", 7140.0),
                ("thread_requests_per_second_stdev", 748.95),
                ("thread_requests_per_second_max", 8380.0),
                ("bytes", 1.54 * KIB * KIB),
                ("bytes_per_second", 1.52 * KIB * KIB),
            ],
        )
    },
    Case {
        ok: false,
        problems: &[
            "22 socket errors: 0 connecting, 0 reading, 0 writing, 22 timed out",
            "the latencies of responses later than --timeout were dropped: all latencies are too low",
        ],
        ..fine(
            "socket_errors_timeout_late.txt",
            &[
                ("requests_per_second", 34.78),
                ("requests", 140.0),
                ("errors", 22.0),
                ("errors_connect", 0.0),
                ("errors_read", 0.0),
                ("errors_write", 0.0),
                ("errors_timeout", 22.0),
                ("non_2xx_3xx", 0.0),
                ("duration", 4.03),
                ("latency_avg", 0.01691),
                ("latency_stdev", 0.00805),
                ("latency_max", 0.03595),
                ("latency_p50", 0.01265),
                ("latency_p75", 0.02103),
                ("latency_p90", 0.03164),
                ("latency_p99", 0.03595),
                ("thread_requests_per_second_avg", 102.82),
                ("thread_requests_per_second_stdev", 81.4),
                ("thread_requests_per_second_max", 222.0),
                ("bytes", 15.45 * KIB),
                ("bytes_per_second", 3.84 * KIB),
            ],
        )
    },
    fine(
        "success_latency.txt",
        &[
            ("requests_per_second", 21131.50),
            ("requests", 42795.0),
            ("errors", 0.0),
            ("errors_connect", 0.0),
            ("errors_read", 0.0),
            ("errors_write", 0.0),
            ("errors_timeout", 0.0),
            ("non_2xx_3xx", 0.0),
            ("duration", 2.03),
            ("latency_avg", 0.00308),
            ("latency_stdev", 0.00339),
            ("latency_max", 0.02135),
            ("latency_p50", 0.00176),
            ("latency_p75", 0.00462),
            ("latency_p90", 0.00787),
            ("latency_p99", 0.01424),
            ("thread_requests_per_second_avg", 10680.0),
            ("thread_requests_per_second_stdev", 1270.0),
            ("thread_requests_per_second_max", 13550.0),
            ("bytes", 10.04 * KIB * KIB),
            ("bytes_per_second", 4.96 * KIB * KIB),
        ],
    ),
    Case {
        exit: 1,
        ok: false,
        problems: &["`number of connections must be >= threads`", NO_REPORT, "exit code 1"],
        ..fine("usage_error.txt", &[])
    },
    fine(
        "wrk_ja_JP.txt",
        &[
            ("requests_per_second", 3668.36),
            ("requests", 3693.0),
            ("errors", 0.0),
            ("errors_connect", 0.0),
            ("errors_read", 0.0),
            ("errors_write", 0.0),
            ("errors_timeout", 0.0),
            ("non_2xx_3xx", 0.0),
            ("duration", 1.01),
            ("latency_avg", 0.00169),
            ("latency_stdev", 0.00278),
            ("latency_max", 0.02096),
            ("thread_requests_per_second_avg", 3690.0),
            ("thread_requests_per_second_stdev", 439.85),
            ("thread_requests_per_second_max", 4150.0),
            ("bytes", 0.87 * KIB * KIB),
            ("bytes_per_second", 0.86 * KIB * KIB),
        ],
    ),
];

#[test]
fn saved_outputs_of_wrk() {
    check("wrk", "wrk", CASES);
    assert_covers("wrk", CASES);
}

const REPORT: &str = "\
Running 1s test @ http://127.0.0.1/
  2 threads and 20 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.97ms    2.44ms  22.21ms   88.54%
    Req/Sec     6.93k     1.54k   10.16k    60.00%
  Latency Distribution
     50%    1.00ms
     75%    2.00ms
     90%    3.00ms
     99%   20.00ms
  1000 requests in 2.00s, 3.24MB read
Requests/sec:    500.00
Transfer/sec:      1.62MB
";

#[test]
fn reports_that_must_not_be_believed() {
    let cut = "the report of wrk is damaged or cut off";
    let contradiction =
        "the report of wrk contradicts itself: its rate is not its requests over its time, or its latencies are not in order";
    let without = |line: &str| REPORT.lines().filter(|known| !known.contains(line)).collect::<Vec<_>>().join("\n");
    let hang = REPORT.lines().filter(|line| !line.contains('%')).collect::<Vec<_>>().join("\n");
    let hang =
        hang.replace("1000 requests in 2.00s, 3.24MB", "0 requests in 2.00s, 0.00B").replace("500.00", "0.00").replace("1.62MB", "0.00B");
    let table = [
        (REPORT.to_owned(), None),
        (REPORT.replace("1000 requests", "100 requests"), Some(contradiction)),
        (REPORT.replace("75%    2.00ms", "75%    2.00s"), Some(contradiction)),
        (REPORT.replace("22.21ms", "22.21us"), Some(contradiction)),
        (without("Transfer/sec"), Some(cut)),
        (without("requests in"), Some(cut)),
        (REPORT.replace("Requests/sec:    500.00", "Requests/sec:    500.0"), Some(cut)),
        (REPORT.replace("1.62MB", "1.62M"), Some(cut)),
        (REPORT.replace("Requests/sec", "  Socket errors: connect 0, read 2x, write 0, timeout 0\nRequests/sec"), Some(cut)),
        (REPORT.replace("Requests/sec", "  Non-2xx or 3xx responses: \nRequests/sec"), Some(cut)),
        (hang, Some("no request was completed")),
        ("bash: line 1: wrk: command not found\n".to_owned(), Some("`bash: line 1: wrk: command not found`")),
        (
            "PANIC: unprotected error in call to Lua API (x.lua:1: oops)\n".to_owned(),
            Some("`PANIC: unprotected error in call to Lua API (x.lua:1: oops)`"),
        ),
    ];
    for (text, problem) in table {
        let found = parse("wrk", text.as_bytes(), b"", 0);
        assert_eq!(found.ok, problem.is_none(), "{text}: {found:?}");
        assert_eq!(found.problems.first().map(String::as_str), problem, "{text}");
    }
}

#[test]
fn a_cut_report_does_not_say_that_nothing_failed() {
    let cut = &REPORT[..REPORT.find("Requests/sec").expect("the rate")];
    let found = parse("wrk", cut.as_bytes(), b"", 0);
    assert!(
        !found.ok && found.metrics.iter().all(|metric| !metric.name.starts_with("errors") && metric.name != "non_2xx_3xx"),
        "{found:?}"
    );
}

#[test]
fn latencies_that_are_none_are_absent_and_said() {
    let zeros = "printed as 0 beside requests, which is no latency, and therefore absent: ";
    let unreadable = "printed without a number and its unit, and therefore absent: ";
    let table = [
        (("50%    1.00ms", "50%    0.00us"), format!("{zeros}latency_p50"), "latency_p50"),
        (("1.97ms    2.44ms", "-nan    2.44ms"), format!("{unreadable}latency_avg `-nan`"), "latency_avg"),
        (("1.97ms    2.44ms", "1.97ms    2440"), format!("{unreadable}latency_stdev `2440`"), "latency_stdev"),
        (("22.21ms", "22.21xs"), format!("{unreadable}latency_max `22.21xs`"), "latency_max"),
    ];
    for ((old, new), problem, absent) in table {
        let found = parse("wrk", REPORT.replace(old, new).as_bytes(), b"", 0);
        assert_eq!((found.ok, &found.problems), (true, &vec![problem]), "{new}");
        assert!(found.metrics.iter().all(|metric| metric.name != absent) && found.metrics[0].value == 500.0, "{found:?}");
    }
}

#[test]
fn every_unit_is_read() {
    let text = REPORT.replace("22.21ms", "1.05m").replace("2.44ms", "0.87s").replace("99%   20.00ms", "99%    0.01h");
    let found = parse("wrk", text.replace("6.93k", "1.25M").replace("3.24MB", "1.00GB").replace("1.62MB", "512.00MB").as_bytes(), b"", 0);
    let value = |name: &str| found.metrics.iter().find(|metric| metric.name == name).map(|metric| metric.value);
    assert!(found.ok, "{found:?}");
    assert_eq!((value("latency_max"), value("latency_stdev"), value("latency_p99")), (Some(63.0), Some(0.87), Some(36.0)));
    assert_eq!((value("thread_requests_per_second_avg"), value("bytes")), (Some(1_250_000.0), Some(1_073_741_824.0)));
}

#[test]
fn the_json_of_done_counts_only_with_its_report() {
    let json = r#"JSON {"requests":1000,"duration_us":2001000,"bytes":5,"latency_us":{"p99":19001,"p999":21000}}"#;
    let first = |text: &str| parse("wrk", text.as_bytes(), b"", 0);
    let refined = first(&format!("{REPORT}{json}\n"));
    assert!(refined.ok && refined.problems.is_empty(), "{refined:?}");
    assert_eq!(refined.metrics[0].value, 1000.0 / 2.001);
    let p99 = |found: &shakedown::model::metric::Parsed| {
        found.metrics.iter().find(|metric| metric.name == "latency_p99").map(|metric| metric.value)
    };
    assert_eq!(p99(&refined), Some(0.019001));
    for (json, reason) in [
        (json.replace("1000,", "999,"), "it counts other requests than the report"),
        (json.replace("duration_us", "duration"), "it lacks `requests`, `duration_us` or `latency_us`"),
        (json[..json.len() - 3].to_owned(), "the last JSON document is cut off: EOF while parsing an object at line 1 column 86"),
    ] {
        let found = first(&format!("{REPORT}{json}"));
        assert!(found.ok && p99(&found) == Some(0.02), "{found:?}");
        assert_eq!(found.problems, [format!("the JSON of done() does not count: {reason}")]);
    }
    assert_metrics(&first(json), &[], "JSON alone");
}

#[test]
fn the_last_of_several_reports_counts() {
    let found = parse("wrk", format!("{REPORT}{}", REPORT.replace("500.00", "501.00")).as_bytes(), b"", 0);
    assert_eq!((found.ok, found.metrics[0].value), (true, 501.0));
    assert_eq!(found.problems, ["several reports of wrk: the last one counts"]);
}
