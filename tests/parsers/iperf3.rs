//! `iperf3`.

use super::{Case, assert_covers, assert_metrics, check, fixture, parse};

const THREE_DIGITS: &str = "the text of iperf3 has three digits: `--json` is exact";
const CUT: &str = "the report of iperf3 is cut off (`iperf Done.` is missing)";
const NO_REPORT: &str = "no report of iperf3 in the output";
const INTERRUPTED: &str = "interrupt - the client has terminated";
const BUSY: &str = "the server is busy running a test. try again later";
const MIB: f64 = 1_048_576.0;
const GIB: f64 = 1_073_741_824.0;

const fn fine(file: &'static str, metrics: &'static [(&'static str, f64)]) -> Case {
    Case { file, exit: 0, ok: true, problems: &[], metrics }
}

const fn text(file: &'static str, metrics: &'static [(&'static str, f64)]) -> Case {
    Case { problems: &[THREE_DIGITS], ..fine(file, metrics) }
}

const CASES: &[Case] = &[
    Case {
        exit: 124,
        ok: false,
        problems: &["`interrupt - the client has terminated`", "exit code 124"],
        ..fine(
            "interrupted_json.txt",
            &[
                ("sent_bytes_per_second", 4083158923.216333 / 8.0),
                ("sent_bytes", 509739008.0),
                ("retransmits", 23.0),
                ("rtt_min", 0.000302),
                ("rtt_avg", 0.000302),
                ("rtt_max", 0.000302),
                ("local_cpu_usage", 0.13603410458144152),
            ],
        )
    },
    text(
        "iperf3_ja_JP.txt",
        &[
            ("received_bytes_per_second", 4.48e9 / 8.0),
            ("sent_bytes_per_second", 4.51e9 / 8.0),
            ("received_bytes", 537.0 * MIB),
            ("sent_bytes", 538.0 * MIB),
            ("duration", 1.0),
            ("retransmits", 0.0),
        ],
    ),
    fine(
        "json_bidir.txt",
        &[
            ("received_bytes_per_second", 2447936458.2791567 / 8.0),
            ("sent_bytes_per_second", 2501845701.5020776 / 8.0),
            ("received_bytes", 311820288.0),
            ("sent_bytes", 313131008.0),
            ("duration", 1.019047),
            ("retransmits", 3.0),
            ("rtt_min", 0.000014),
            ("rtt_max", 0.001308),
            ("local_cpu_usage", 0.14479026506090217),
            ("remote_cpu_usage", 0.13509742196822208),
            ("reverse_received_bytes_per_second", 2357386475.7955227 / 8.0),
            ("reverse_sent_bytes_per_second", 2429586449.3448386 / 8.0),
            ("reverse_received_bytes", 300285952.0),
            ("reverse_sent_bytes", 304087040.0),
            ("reverse_duration", 1.019047),
            ("reverse_retransmits", 6.0),
        ],
    ),
    Case { ok: false, problems: &["`the server is busy running a test. try again later`"], ..fine("json_error_busy.txt", &[]) },
    Case { ok: false, problems: &["`unable to connect to server: Connection refused`"], ..fine("json_error_refused.txt", &[]) },
    fine(
        "json_parallel.txt",
        &[
            ("received_bytes_per_second", 5575735793.99756 / 8.0),
            ("sent_bytes_per_second", 5616710243.6066 / 8.0),
            ("received_bytes", 701235200.0),
            ("sent_bytes", 703856640.0),
            ("duration", 1.006124),
            ("retransmits", 1.0),
            ("rtt_min", 0.00203),
            ("rtt_max", 0.002055),
            ("local_cpu_usage", 0.1900219423726621),
            ("remote_cpu_usage", 0.0946542018176469),
        ],
    ),
    Case {
        problems: &["the iperf3 at the other end used a whole CPU, which may be what limits the rate"],
        ..fine(
            "json_reverse.txt",
            &[
                ("received_bytes_per_second", 12617370151.381975 / 8.0),
                ("sent_bytes_per_second", 12614246458.728209 / 8.0),
                ("received_bytes", 1577254859.0),
                ("sent_bytes", 1578106880.0),
                ("duration", 1.000053),
                ("retransmits", 10.0),
                ("local_cpu_usage", 0.354942038742052),
                ("remote_cpu_usage", 0.9873244080327706),
            ],
        )
    },
    fine(
        "json_tcp.txt",
        &[
            ("received_bytes_per_second", 5395994598.910552 / 8.0),
            ("sent_bytes_per_second", 5421685949.030004 / 8.0),
            ("received_bytes", 1359216640.0),
            ("sent_bytes", 1360527360.0),
            ("duration", 2.015149),
            ("retransmits", 0.0),
            ("rtt_min", 0.001166),
            ("rtt_avg", 0.001395),
            ("rtt_max", 0.001625),
            ("local_cpu_usage", 0.18533776138030808),
            ("remote_cpu_usage", 0.11594509992298346),
        ],
    ),
    Case {
        problems: &[
            "1757 of 222653 datagrams were lost: more was sent than received",
            "this iperf3 used a whole CPU, which may be what limits the rate",
        ],
        ..fine(
            "json_udp_loss.txt",
            &[
                ("received_bytes_per_second", 2473824924.8813853 / 8.0),
                ("sent_bytes_per_second", 2493663726.725466 / 8.0),
                ("received_bytes", 309254400.0),
                ("sent_bytes", 311714200.0),
                ("duration", 1.000085),
                ("packets", 222653.0),
                ("packets_lost", 1757.0),
                ("loss", 1757.0 / 222653.0),
                ("jitter", 0.005021146274770316 / 1e3),
                ("local_cpu_usage", 0.9980844672980497),
                ("remote_cpu_usage", 0.4682344541957598),
            ],
        )
    },
    text(
        "text_bidir_parallel.txt",
        &[
            ("received_bytes_per_second", 14.2e9 / 8.0),
            ("sent_bytes_per_second", 14.2e9 / 8.0),
            ("received_bytes", 1.65 * GIB),
            ("sent_bytes", 1.65 * GIB),
            ("duration", 1.0),
            ("retransmits", 6.0),
            ("reverse_received_bytes_per_second", 1.42e9 / 8.0),
            ("reverse_sent_bytes_per_second", 1.49e9 / 8.0),
            ("reverse_received_bytes", 169.0 * MIB),
            ("reverse_sent_bytes", 178.0 * MIB),
            ("reverse_duration", 1.0),
            ("reverse_retransmits", 0.0),
        ],
    ),
    Case {
        exit: 1,
        ok: false,
        problems: &["`iperf3: error - the server is busy running a test. try again later`", NO_REPORT, "exit code 1"],
        ..fine("text_error_busy.txt", &[])
    },
    Case {
        exit: 1,
        ok: false,
        problems: &["`iperf3: error - unable to connect to server: Connection refused`", NO_REPORT, "exit code 1"],
        ..fine("text_error_refused.txt", &[])
    },
    text(
        "text_format_K.txt",
        &[
            ("received_bytes_per_second", 1_881_481.0 * 1024.0),
            ("sent_bytes_per_second", 1_881_559.0 * 1024.0),
            ("received_bytes", 1.79 * GIB),
            ("sent_bytes", 1.79 * GIB),
            ("duration", 1.0),
            ("retransmits", 15.0),
        ],
    ),
    Case {
        exit: 124,
        ok: false,
        problems: &[
            "`iperf3: interrupt - the client has terminated`",
            "the report of iperf3 does not say what was received",
            CUT,
            "exit code 124",
            THREE_DIGITS,
        ],
        ..fine("text_interrupted.txt", &[("sent_bytes_per_second", 11.7e9 / 8.0), ("sent_bytes", 1.36 * GIB), ("retransmits", 9.0)])
    },
    text(
        "text_parallel.txt",
        &[
            ("received_bytes_per_second", 4.24e9 / 8.0),
            ("sent_bytes_per_second", 4.28e9 / 8.0),
            ("received_bytes", 1020.0 * MIB),
            ("sent_bytes", 1021.0 * MIB),
            ("duration", 2.02),
            ("retransmits", 11.0),
        ],
    ),
    text(
        "text_reverse_format_m.txt",
        &[
            ("received_bytes_per_second", 4130e6 / 8.0),
            ("sent_bytes_per_second", 4121e6 / 8.0),
            ("received_bytes", 985.0 * MIB),
            ("sent_bytes", 985.0 * MIB),
            ("duration", 2.0),
            ("retransmits", 2.0),
        ],
    ),
    text(
        "text_tcp.txt",
        &[
            ("received_bytes_per_second", 4.6e9 / 8.0),
            ("sent_bytes_per_second", 4.66e9 / 8.0),
            ("received_bytes", 1.07 * GIB),
            ("sent_bytes", 1.08 * GIB),
            ("duration", 2.01),
            ("retransmits", 7.0),
        ],
    ),
    Case {
        problems: &["23609 of 40008 datagrams were lost: more was sent than received", THREE_DIGITS],
        ..fine(
            "text_udp_loss.txt",
            &[
                ("received_bytes_per_second", 184e6 / 8.0),
                ("sent_bytes_per_second", 449e6 / 8.0),
                ("received_bytes", 21.9 * MIB),
                ("sent_bytes", 53.6 * MIB),
                ("duration", 1.0),
                ("packets", 40008.0),
                ("packets_lost", 23609.0),
                ("loss", 23609.0 / 40008.0),
                ("jitter", 0.000009),
            ],
        )
    },
];

#[test]
fn saved_outputs_of_iperf3() {
    check("iperf3", "iperf3", CASES);
    assert_covers("iperf3", CASES);
}

fn document(end: &str, rest: &str) -> String {
    format!("{{\n\t\"start\": {{}},\n\t\"intervals\": [],\n\t\"end\": {{{end}}}{rest}\n}}\n")
}

const SENT: &str = r#""sum_sent": {"seconds": 1, "bytes": 1000, "bits_per_second": 8000, "retransmits": 2}"#;
const RECEIVED: &str = r#""sum_received": {"seconds": 2, "bytes": 900, "bits_per_second": 3600}"#;

/// A text, the first problem, and the metrics.
type Row<'a> = (String, Option<&'a str>, &'a [(&'a str, f64)]);

#[test]
fn documents_that_must_not_be_believed() {
    let whole = document(&format!("{SENT},{RECEIVED}"), "");
    let twice = document(&format!("{SENT},{RECEIVED},{}", RECEIVED.replace("900", "800")), "");
    let datagrams =
        |lost: &str, percent: &str| format!(r#", "jitter_ms": 1.5, "lost_packets": {lost}, "packets": 10, "lost_percent": {percent}}}"#);
    let udp = |lost: &str, percent: &str| whole.replace("3600}", &format!("3600{}", datagrams(lost, percent)));
    let contradiction = "the report of iperf3 contradicts itself: a rate is not its bytes over its time, or more was lost than sent";
    let unknown = "the report of iperf3 does not say what was received";
    let table: &[Row<'_>] = &[
        (
            whole.clone(),
            None,
            &[
                ("received_bytes_per_second", 450.0),
                ("sent_bytes_per_second", 1000.0),
                ("received_bytes", 900.0),
                ("sent_bytes", 1000.0),
                ("duration", 2.0),
                ("retransmits", 2.0),
            ],
        ),
        // UDP of which nothing arrived, as iperf3 writes it.
        (
            whole.replace("900, \"bits_per_second\": 3600", "0, \"bits_per_second\": -nan"),
            Some(unknown),
            &[("sent_bytes_per_second", 1000.0), ("sent_bytes", 1000.0), ("retransmits", 2.0)],
        ),
        (
            whole.replace("900, \"bits_per_second\": 3600", "0, \"bits_per_second\": 0"),
            Some("nothing was received"),
            &[
                ("received_bytes_per_second", 0.0),
                ("sent_bytes_per_second", 1000.0),
                ("received_bytes", 0.0),
                ("sent_bytes", 1000.0),
                ("duration", 2.0),
                ("retransmits", 2.0),
            ],
        ),
        (twice, Some("the report of iperf3 repeats a key: which value counts cannot be known"), &[]),
        (document("", ""), Some(unknown), &[]),
        (document("", ", \"error\": \"no route\""), Some("`no route`"), &[]),
        ("{\"error\": \"bad parameter\"}".to_owned(), Some("`bad parameter`"), &[]),
        (
            whole[..whole.len() - 4].to_owned(),
            Some("the last JSON document is cut off: EOF while parsing an object at line 4 column 163"),
            &[],
        ),
        ("{\"start\": 1}".to_owned(), Some("the last JSON document is not a report of iperf3 (it has no `end`)"), &[]),
        (String::new(), Some("no report of iperf3 in the output"), &[]),
    ];
    for (text, problem, metrics) in table {
        let found = parse("iperf3", text.as_bytes(), b"", 0);
        assert_eq!(found.ok, problem.is_none(), "{text}: {found:?}");
        assert_eq!(found.problems.first().map(String::as_str), *problem, "{text}");
        assert_metrics(&found, metrics, text);
    }
    for text in [whole.replace("900", "9000"), udp("11", "110"), udp("3", "59")] {
        let found = parse("iperf3", text.as_bytes(), b"", 0);
        assert!(!found.ok && found.problems.contains(&contradiction.to_owned()), "{text}: {found:?}");
    }
    assert!(parse("iperf3", udp("3", "30").as_bytes(), b"", 0).ok);
}

#[test]
fn the_last_of_several_reports_counts() {
    let whole = document(&format!("{SENT},{RECEIVED}"), "");
    let busy = document("", &format!(", \"error\": \"{BUSY}\""));
    assert!(!parse("iperf3", format!("{whole}{busy}").as_bytes(), b"", 0).ok);
    assert!(parse("iperf3", format!("{busy}{whole}").as_bytes(), b"", 0).ok);
    let text = [fixture("iperf3", "text_tcp.txt"), fixture("iperf3", "text_udp_loss.txt")].concat();
    let found = parse("iperf3", &text, b"", 0);
    assert_eq!((found.ok, found.metrics[0].value), (true, 23e6));
    assert!(found.problems.contains(&"several reports of iperf3: the last one counts".to_owned()), "{found:?}");
    let stopped = [fixture("iperf3", "text_tcp.txt"), format!("iperf3: {INTERRUPTED}\n").into_bytes()].concat();
    assert!(!parse("iperf3", &stopped, b"", 0).ok);
}

#[test]
fn several_streams_without_their_sum_are_no_total() {
    let text = String::from_utf8(fixture("iperf3", "text_parallel.txt")).expect("text");
    let without: String = text.lines().filter(|line| !line.starts_with("[SUM]")).fold(String::new(), |all, line| all + line + "\n");
    let found = parse("iperf3", without.as_bytes(), b"", 0);
    assert_eq!((found.ok, found.metrics.len()), (false, 0), "{found:?}");
    let collapsed = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>().join("\n");
    assert_eq!(parse("iperf3", collapsed.as_bytes(), b"", 0), parse("iperf3", text.as_bytes(), b"", 0));
}
