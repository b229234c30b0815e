//! `sysbench`.

use super::{Case, assert_covers, assert_metrics, check, parse};

const NO_SUMMARY: &str = "no summary of sysbench (`total time`): `prepare`, `--version` and `--verbosity=0` print none";
const OLD: &str = "written by sysbench 0.4 or 0.5, whose tests differ: not comparable with 1.x";
const MIB: f64 = 1_048_576.0;

const fn fine(file: &'static str, metrics: &'static [(&'static str, f64)]) -> Case {
    Case { file, exit: 0, ok: true, problems: &[], metrics }
}

const fn no_summary(file: &'static str) -> Case {
    Case { file, exit: 0, ok: false, problems: &[NO_SUMMARY], metrics: &[] }
}

const CASES: &[Case] = &[
    fine(
        "cpu_2threads.txt",
        &[
            ("events_per_second", 1119.71),
            ("duration", 3.0208),
            ("events", 3383.0),
            ("latency_avg", 0.00178),
            ("latency_min", 0.00022),
            ("latency_max", 0.08832),
            ("latency_p95", 0.0123),
        ],
    ),
    no_summary("cpu_legacy_syntax_seed3.txt"),
    fine(
        "cpu_percentile0.txt",
        &[
            ("events_per_second", 1914.0),
            ("duration", 1.0091),
            ("events", 1933.0),
            ("latency_avg", 0.00052),
            ("latency_min", 0.00022),
            ("latency_max", 0.01231),
        ],
    ),
    fine(
        "cpu_percentile99.txt",
        &[
            ("events_per_second", 1422.84),
            ("duration", 1.0073),
            ("events", 1434.0),
            ("latency_avg", 0.0007),
            ("latency_min", 0.00022),
            ("latency_max", 0.01876),
            ("latency_p99", 0.01124),
        ],
    ),
    no_summary("cpu_verbosity0.txt"),
    no_summary("fileio_prepare.txt"),
    Case {
        problems: &["printed as 0.00, below the resolution, and therefore absent: latency_min"],
        ..fine(
            "fileio_rndrw.txt",
            &[
                ("events_per_second", 6043.0 / 2.04),
                ("duration", 2.04),
                ("events", 6043.0),
                ("latency_avg", 0.00033),
                ("latency_max", 0.04572),
                ("latency_p95", 0.00218),
                ("reads_per_second", 1646.62),
                ("writes_per_second", 1097.75),
                ("fsyncs_per_second", 221.02),
                ("read_bytes_per_second", 25.73 * MIB),
                ("written_bytes_per_second", 17.15 * MIB),
            ],
        )
    },
    Case {
        problems: &["printed as 0.00, below the resolution, and therefore absent: latency_min, latency_p95"],
        ..fine(
            "fileio_seqwr_nofsync.txt",
            &[
                ("events_per_second", 81727.0 / 1.0672),
                ("duration", 1.0672),
                ("events", 81727.0),
                ("latency_avg", 0.00001),
                ("latency_max", 0.04014),
                ("reads_per_second", 0.0),
                ("writes_per_second", 76535.71),
                ("fsyncs_per_second", 7.49),
                ("read_bytes_per_second", 0.0),
                ("written_bytes_per_second", 1195.87 * MIB),
            ],
        )
    },
    Case {
        exit: 124,
        ok: false,
        problems: &["a test started and has no summary: it was interrupted, or the output is cut off", NO_SUMMARY, "exit code 124"],
        ..fine("interrupted.txt", &[])
    },
    Case {
        problems: &["printed as 0.00, below the resolution, and therefore absent: latency_avg, latency_min, latency_p95"],
        ..fine(
            "memory_default.txt",
            &[
                ("events_per_second", 2_527_303.06),
                ("duration", 0.8291),
                ("events", 2_097_152.0),
                ("latency_max", 0.01411),
                ("bytes_per_second", 2468.07 * MIB),
                ("bytes", 2_147_483_648.0),
            ],
        )
    },
    Case {
        problems: &["printed as 0.00, below the resolution, and therefore absent: latency_min, latency_p95"],
        ..fine(
            "memory_rnd_read.txt",
            &[
                ("events_per_second", 321_081.8),
                ("duration", 0.8159),
                ("events", 262_144.0),
                ("latency_avg", 0.00001),
                ("latency_max", 0.03213),
                ("bytes_per_second", 1254.23 * MIB),
                ("bytes", 1_073_741_824.0),
            ],
        )
    },
    fine(
        "mutex.txt",
        &[
            ("events_per_second", 2.0 / 0.1867),
            ("duration", 0.1867),
            ("events", 2.0),
            ("latency_avg", 0.17255),
            ("latency_min", 0.15873),
            ("latency_max", 0.18636),
            ("latency_p95", 0.18654),
        ],
    ),
    Case {
        exit: 1,
        ok: false,
        problems: &["`FATAL: unable to connect to MySQL server on host '127.0.0.1', port 13306, aborting...`", NO_SUMMARY, "exit code 1"],
        ..fine("oltp_auth_error.txt", &[])
    },
    Case {
        exit: 1,
        ok: false,
        problems: &["`FATAL: unable to connect to MySQL server on host '127.0.0.1', port 1, aborting...`", NO_SUMMARY, "exit code 1"],
        ..fine("oltp_conn_refused.txt", &[])
    },
    fine(
        "oltp_point_select.txt",
        &[
            ("events_per_second", 12979.44),
            ("duration", 2.0012),
            ("events", 25981.0),
            ("latency_avg", 0.00031),
            ("latency_min", 0.00003),
            ("latency_max", 0.07248),
            ("latency_p95", 0.00116),
            ("queries", 25981.0),
            ("queries_per_second", 12979.44),
            ("errors", 0.0),
            ("reconnects", 0.0),
        ],
    ),
    no_summary("oltp_prepare.txt"),
    fine(
        "oltp_rate_limited.txt",
        &[
            ("events_per_second", 49.61),
            ("duration", 2.015),
            ("events", 100.0),
            ("latency_avg", 0.00193),
            ("latency_min", 0.00015),
            ("latency_max", 0.01522),
            ("latency_p95", 0.00691),
            ("queries", 100.0),
            ("queries_per_second", 49.61),
            ("errors", 0.0),
            ("reconnects", 0.0),
        ],
    ),
    fine(
        "oltp_read_write.txt",
        &[
            ("events_per_second", 426.74),
            ("duration", 4.0067),
            ("events", 1710.0),
            ("latency_avg", 0.00936),
            ("latency_min", 0.00089),
            ("latency_max", 0.22801),
            ("latency_p95", 0.03372),
            ("queries", 34200.0),
            ("queries_per_second", 8534.82),
            ("errors", 0.0),
            ("reconnects", 0.0),
        ],
    ),
    fine(
        "oltp_read_write_interval.txt",
        &[
            ("events_per_second", 247.01),
            ("duration", 3.0481),
            ("events", 753.0),
            ("latency_avg", 0.01605),
            ("latency_min", 0.00092),
            ("latency_max", 0.14691),
            ("latency_p95", 0.04261),
            ("queries", 15060.0),
            ("queries_per_second", 4940.28),
            ("errors", 0.0),
            ("reconnects", 0.0),
        ],
    ),
    Case {
        problems: &["1070 ignored errors"],
        ..fine(
            "oltp_write_only_contended.txt",
            &[
                ("events_per_second", 519.29),
                ("duration", 3.0518),
                ("events", 1585.0),
                ("latency_avg", 0.01527),
                ("latency_min", 0.00045),
                ("latency_max", 0.27192),
                ("latency_p95", 0.07446),
                ("queries", 11877.0),
                ("queries_per_second", 3891.21),
                ("errors", 1070.0),
                ("reconnects", 0.0),
            ],
        )
    },
    Case {
        problems: &[OLD],
        ..fine(
            "sysbench_0.4.12_cpu.txt",
            &[
                ("events_per_second", 10000.0 / 5.1234),
                ("duration", 5.1234),
                ("events", 10000.0),
                ("latency_avg", 0.00102),
                ("latency_min", 0.00095),
                ("latency_max", 0.00987),
                ("latency_p95", 0.0011),
            ],
        )
    },
    Case {
        problems: &[OLD],
        ..fine(
            "sysbench_0.5_oltp.txt",
            &[
                ("events_per_second", 99.95),
                ("duration", 10.005),
                ("events", 1000.0),
                ("latency_avg", 0.03998),
                ("latency_min", 0.01231),
                ("latency_max", 0.15475),
                ("latency_p95", 0.0612),
                ("queries", 20000.0),
                ("errors", 0.0),
                ("reconnects", 0.0),
            ],
        )
    },
    fine(
        "sysbench_de_DE.txt",
        &[
            ("events_per_second", 565.13),
            ("duration", 1.0043),
            ("events", 568.0),
            ("latency_avg", 0.00176),
            ("latency_min", 0.00022),
            ("latency_max", 0.02608),
            ("latency_p95", 0.00691),
        ],
    ),
    fine(
        "sysbench_ja_JP.txt",
        &[
            ("events_per_second", 802.07),
            ("duration", 1.0119),
            ("events", 812.0),
            ("latency_avg", 0.00121),
            ("latency_min", 0.00022),
            ("latency_max", 0.02262),
            ("latency_p95", 0.00874),
        ],
    ),
    Case {
        exit: 1,
        ok: false,
        problems: &["`invalid option: --bogus=1`", NO_SUMMARY, "exit code 1"],
        ..fine("unknown_option_error.txt", &[])
    },
    no_summary("version.txt"),
];

#[test]
fn saved_outputs_of_sysbench() {
    check("sysbench", "sysbench", CASES);
    assert_covers("sysbench", CASES);
}

const SUMMARY: &str = "General statistics:\n total time: 2.0000s\n total number of events: 100\n";

#[test]
fn summaries_that_must_not_be_believed() {
    let table = [
        (format!("CPU speed:\n events per second: 50.00\n\n{SUMMARY}"), true, Some(50.0)),
        // An underflow, as seen in the field.
        (format!("CPU speed:\n events per second: 18446744073709551615.00\n\n{SUMMARY}"), false, Some(18_446_744_073_709_551_615.0)),
        (format!("CPU speed:\n events per second: -nan\n\n{SUMMARY}"), true, Some(50.0)),
        (format!("{SUMMARY}\nLatency (ms):\n min: 9.00\n avg: 1.00\n max: 10.00\n"), false, Some(50.0)),
        ("General statistics:\n total time: 2.0000s\n total number of events: 0\n".to_owned(), false, Some(0.0)),
        (format!("FATAL: worker threads failed to initialize\n{SUMMARY}"), false, Some(50.0)),
        // The second run was interrupted; then with its summary.
        (format!("sysbench 1.0.20 (x)\nThreads started!\n{SUMMARY}sysbench 1.0.20 (x)\nThreads started!\n"), false, Some(50.0)),
        (format!("sysbench 1.0.20 (x)\n{SUMMARY}sysbench 1.0.20 (x)\n{}", SUMMARY.replace("100", "300")), true, Some(150.0)),
        // Preparation, run and clean-up in one workload.
        (format!("sysbench 1.0.20 (x)\nCreating\nsysbench 1.0.20 (x)\n{SUMMARY}sysbench 1.0.20 (x)\nDropping\n"), true, Some(50.0)),
    ];
    for (text, ok, rate) in table {
        let found = parse("sysbench", text.as_bytes(), b"", 0);
        assert_eq!(found.ok, ok, "{text}: {found:?}");
        assert_eq!(found.metrics.first().filter(|metric| metric.name == "events_per_second").map(|metric| metric.value), rate, "{text}");
    }
}

/// The end of a summary of 0.4.
const OLD_SUMMARY: &str = "Test execution summary:
    total time:                          2.0000s
    total number of events:              1000
    total time taken by event execution: 3.9000
    per-request statistics:
         min:                                  1.00ms
         avg:                                  3.90ms
         max:                                 20.50ms
         approx.  95 percentile:               9.10ms
";
const OLD_OLTP: &str = "OLTP test statistics:
    queries performed:
        read:                            14000
        total:                           20000
    transactions:                        1000   (500.10 per sec.)
    deadlocks:                           3      (1.50 per sec.)
    read/write requests:                 18000  (9001.80 per sec.)
    other operations:                    2000   (1000.20 per sec.)
";
const OLD_FILEIO: &str = "Operations performed:  600 Read, 400 Write, 1280 Other = 2280 Total
Read 9.375Mb  Written 6.25Mb  Total transferred 15.625Mb  (7.8086Mb/sec)
  500.10 Requests/sec executed
";

#[test]
fn the_tests_of_versions_before_1_0_are_read() {
    let times = [("duration", 2.0), ("events", 1000.0)];
    let latencies = [("latency_avg", 0.0039), ("latency_min", 0.001), ("latency_max", 0.0205), ("latency_p95", 0.0091)];
    let large = OLD_FILEIO.replace("15.625Mb", "1.5Gb").replace("7.8086Mb", "768Mb");
    let moved = |per_second: f64, bytes: f64| vec![("bytes_per_second", per_second * MIB), ("bytes", bytes * MIB)];
    let memory = "Operations performed: 1000 (  500.10 ops/sec)\n\n1024.00 MB transferred (512.20 MB/sec)\n";
    let table = [
        (OLD_OLTP, 500.1, vec![("queries", 20000.0), ("errors", 3.0)], Some("3 ignored errors")),
        (memory, 500.1, moved(512.2, 1024.0), None),
        (OLD_FILEIO, 500.1, moved(7.8086, 15.625), None),
        (&large, 500.1, moved(768.0, 1536.0), None),
        ("Doing thread subsystem performance test\n", 500.0, vec![], None),
    ];
    for (test, rate, others, caution) in table {
        let text =
            format!("sysbench 0.4.12:  multi-threaded system evaluation benchmark\n\nThreads started!\nDone.\n\n{test}\n{OLD_SUMMARY}");
        let found = parse("sysbench", text.as_bytes(), b"", 0);
        let expected: Vec<(&str, f64)> = [("events_per_second", rate)].into_iter().chain(times).chain(latencies).chain(others).collect();
        assert_metrics(&found, &expected, test);
        let problems: Vec<String> = caution.into_iter().chain([OLD]).map(str::to_owned).collect();
        assert_eq!((found.ok, found.problems), (true, problems), "{test}");
    }
}

#[test]
fn interim_lines_do_not_count() {
    let absurd = "\
[   1s] threads: 4, tps: 18446744073709551615.00, reads/s: 0.00, writes/s: 0.00, response time: 1.00ms (95%)
[ 2s ] thds: 4 tps: 18446744073709551615.00 qps: 1.00 (r/w/o: 1.00/0.00/0.00) lat (ms,95%): 41.10 err/s: 0.00 reconn/s: 0.00
";
    let found = parse("sysbench", format!("{absurd}{SUMMARY}").as_bytes(), b"", 0);
    assert!(found.ok, "{found:?}");
    assert_metrics(&found, &[("events_per_second", 50.0), ("duration", 2.0), ("events", 100.0)], absurd);
}
