//! `redis-benchmark`.

use super::{Case, assert_covers, check, parse};
use shakedown::model::metric::Parsed;

const NO_RESULT: &str = "no result of redis-benchmark in the output";
const CUT: &str = "a result of redis-benchmark is damaged or cut off";

const fn fine(file: &'static str, metrics: &'static [(&'static str, f64)]) -> Case {
    Case { file, exit: 0, ok: true, problems: &[], metrics }
}

const CASES: &[Case] = &[
    Case {
        exit: -9,
        ok: false,
        problems: &[
            "`Could not connect to Redis at 127.0.0.1:1: Connection refused`",
            NO_RESULT,
            "exit code -9",
            "`WARNING: Could not fetch server CONFIG`",
        ],
        ..fine("conn_refused.txt", &[])
    },
    Case {
        problems: &["several tests (SET, GET, INCR): the last one counts"],
        ..fine(
            "csv.txt",
            &[
                ("requests_per_second", 20080.32),
                ("latency_avg", 0.00077),
                ("latency_min", 0.000048),
                ("latency_max", 0.009839),
                ("latency_p50", 0.000287),
                ("latency_p95", 0.004135),
                ("latency_p99", 0.006847),
            ],
        )
    },
    fine(
        "custom_command.txt",
        &[
            ("requests_per_second", 13812.16),
            ("latency_avg", 0.000583),
            ("latency_min", 0.000032),
            ("latency_max", 0.024303),
            ("latency_p50", 0.000087),
            ("latency_p95", 0.003775),
            ("latency_p99", 0.011863),
        ],
    ),
    Case {
        problems: &["several tests (SET, GET): the last one counts"],
        ..fine(
            "pipeline_csv.txt",
            &[
                ("requests_per_second", 450_450.44),
                ("latency_avg", 0.001453),
                ("latency_min", 0.0004),
                ("latency_max", 0.006879),
                ("latency_p50", 0.001367),
                ("latency_p95", 0.002295),
                ("latency_p99", 0.005751),
            ],
        )
    },
    fine(
        "precision.txt",
        &[
            ("requests_per_second", 9140.77),
            ("requests", 5000.0),
            ("duration", 0.55),
            ("latency_avg", 0.0018),
            ("latency_min", 0.000048),
            ("latency_max", 0.030751),
            ("latency_p50", 0.000319),
            ("latency_p95", 0.008031),
            ("latency_p99", 0.025119),
        ],
    ),
    fine("quiet_no_tty_progress.txt", &[("requests_per_second", 29555.19), ("latency_p50", 0.000367)]),
    fine(
        "threads.txt",
        &[
            ("requests_per_second", 10899.18),
            ("requests", 20000.0),
            ("duration", 1.84),
            ("latency_avg", 0.001151),
            ("latency_min", 0.000024),
            ("latency_max", 0.054975),
            ("latency_p50", 0.000087),
            ("latency_p95", 0.006575),
            ("latency_p99", 0.028271),
        ],
    ),
];

#[test]
fn saved_outputs_of_redis_benchmark() {
    check("redis-benchmark", "redis-benchmark", CASES);
    assert_covers("redis-benchmark", CASES);
}

const HEADER: &str =
    concat!(r#""test","rps","avg_latency_ms","min_latency_ms","p50_latency_ms","p95_latency_ms","p99_latency_ms","max_latency_ms""#, "\n");
const ROW: &str = concat!(r#""SET, a","1000.00","2.000","1.000","2.000","3.000","4.000","5.000""#, "\n");
const REPORT: &str = "\
GET: rps=0.0 (overall: -nan) avg_msec=-nan (overall: -nan)\r          \r====== GET ======
  1000 requests completed in 0.50 seconds
  50 parallel clients

Summary:
  throughput summary: 2000.00 requests per second
  latency summary (msec):
          avg       min       p50       p95       p99       max
        2.000     1.000     2.000     3.000     4.000     5.000

";
const OLD_REPORT: &str = "\
====== PING_INLINE ======
  1000 requests completed in 0.50 seconds
  50 parallel clients
  3 bytes payload
  keep alive: 1

99.90% <= 1 milliseconds
100.00% <= 1 milliseconds
2000.00 requests per second

";

fn read(text: &str) -> Parsed {
    parse("redis-benchmark", text.as_bytes(), b"", 0)
}

#[test]
fn every_version_is_read() {
    let table = [
        (format!("{HEADER}{ROW}"), "requests_per_second latency_avg latency_min latency_max latency_p50 latency_p95 latency_p99", 1000.0),
        // A warning before the header; fewer columns, in another order.
        (
            "WARNING: -x is deprecated, use -y\n\"test\",\"p50_latency_ms\",\"rps\"\n\"GET\",\"2.000\",\"1000.00\"\n".to_owned(),
            "requests_per_second latency_p50",
            1000.0,
        ),
        ("\"SET\",\"8932.56\"\n\"LPUSH (needed to benchmark LRANGE)\",\"9000.00\"\n".to_owned(), "requests_per_second", 9000.0),
        ("SET: 89285.71 requests per second\nGET: 90000.00 requests per second\n\n".to_owned(), "requests_per_second", 90000.0),
        (OLD_REPORT.to_owned(), "requests_per_second requests duration", 2000.0),
        (
            REPORT.to_owned(),
            "requests_per_second requests duration latency_avg latency_min latency_max latency_p50 latency_p95 latency_p99",
            2000.0,
        ),
    ];
    for (text, names, rate) in table {
        let found = read(&text);
        assert!(found.ok, "{text}: {found:?}");
        let found_names: Vec<&str> = found.metrics.iter().map(|metric| metric.name.as_str()).collect();
        assert_eq!((found_names.join(" "), found.metrics[0].value), (names.to_owned(), rate), "{text}");
    }
}

#[test]
fn results_that_must_not_be_believed() {
    let contradiction =
        "the result of redis-benchmark contradicts itself: its rate is not its requests over its time, or its latencies are not in order";
    let fewer = "fewer than 1000 requests: their 99th percentile is one of the slowest ten";
    let table = [
        (HEADER.to_owned(), false, Some(NO_RESULT)),
        (format!("{HEADER}Error from server: WRONGTYPE\n"), false, Some("`Error from server: WRONGTYPE`")),
        (format!("{HEADER}{ROW}\"GET\",\"1000"), false, Some(CUT)),
        (format!("{HEADER}{}", ROW.replace("1000.00", "-nan")), false, Some(CUT)),
        (format!("{HEADER}{}", ROW.replace("1000.00", "0.00")), false, Some("no request was completed")),
        (format!("{HEADER}{}", ROW.replace("5.000", "1.500")), false, Some(contradiction)),
        (format!("{HEADER}{ROW}{ROW}"), true, Some("several tests (SET, a, SET, a): the last one counts")),
        (
            format!("{HEADER}{}", ROW.replace("\"1.000\"", "\"0.000\"")),
            true,
            Some("printed as 0.000, below the resolution, and therefore absent: latency_min"),
        ),
        (REPORT.replace("1000 requests", "2000 requests"), false, Some(contradiction)),
        (REPORT.replace("5.000\n", "5.0"), true, None),
        (REPORT.replace("     5.000", ""), false, Some(CUT)),
        (REPORT[..REPORT.find("  latency summary").expect("a line")].to_owned(), false, Some(CUT)),
        (REPORT[..REPORT.find("Summary").expect("a line")].to_owned(), false, Some(CUT)),
        (format!("{REPORT}SET: rps=9.0 (overall: 9.0) avg_msec=1.0 (overall: 1.0)\r"), false, Some(CUT)),
        (OLD_REPORT.replace("2000.00 requests", "2000,00 requests"), false, Some(CUT)),
        (REPORT.replace("1000 requests", "100 requests").replace("0.50 s", "0.05 s"), true, Some(fewer)),
        ("sh: 1: redis-benchmark: not found\n".to_owned(), false, Some("`sh: 1: redis-benchmark: not found`")),
    ];
    for (text, ok, problem) in table {
        let found = read(&text);
        assert_eq!((found.ok, found.problems.first().map(String::as_str)), (ok, problem), "{text}: {found:?}");
        assert!(found.metrics.is_empty() || problem != Some(CUT) && problem != Some(contradiction), "{text}: {found:?}");
    }
}
