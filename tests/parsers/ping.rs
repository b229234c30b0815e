//! `ping`.

use super::{Case, assert_covers, check, parse};

const NO_REPORT: &str = "no report of ping in the output";

const fn fine(file: &'static str, metrics: &'static [(&'static str, f64)]) -> Case {
    Case { file, exit: 0, ok: true, problems: &[], metrics }
}

const CASES: &[Case] = &[
    fine(
        "busybox.txt",
        &[
            ("latency_avg", 0.000062),
            ("latency_min", 0.000057),
            ("latency_max", 0.000067),
            ("packets_sent", 3.0),
            ("packets_received", 3.0),
            ("loss", 0.0),
            ("duplicates", 0.0),
        ],
    ),
    Case {
        exit: 124,
        ok: false,
        problems: &["exit code 124"],
        ..fine(
            "deadline_sigint.txt",
            &[
                ("latency_avg", 0.000048),
                ("latency_stdev", 0.000003),
                ("latency_min", 0.000045),
                ("latency_max", 0.000055),
                ("packets_sent", 5.0),
                ("packets_received", 5.0),
                ("loss", 0.0),
                ("duplicates", 0.0),
                ("errors", 0.0),
                ("duration", 0.831),
            ],
        )
    },
    fine(
        "flood_small.txt",
        &[
            ("latency_avg", 0.000005),
            ("latency_stdev", 0.000003),
            ("latency_min", 0.000004),
            ("latency_max", 0.000056),
            ("packets_sent", 200.0),
            ("packets_received", 200.0),
            ("loss", 0.0),
            ("duplicates", 0.0),
            ("errors", 0.0),
            ("duration", 0.002),
        ],
    ),
    Case {
        exit: 1,
        ok: false,
        problems: &["no reply: all 3 packets were lost", "exit code 1"],
        ..fine(
            "loss_100_netns.txt",
            &[("packets_sent", 3.0), ("packets_received", 0.0), ("loss", 1.0), ("duplicates", 0.0), ("errors", 0.0), ("duration", 0.411)],
        )
    },
    Case {
        problems: &["5 of 10 packets were lost: the latencies are those of the others"],
        ..fine(
            "partial_loss_netns.txt",
            &[
                ("latency_avg", 0.000035),
                ("latency_stdev", 0.000001),
                ("latency_min", 0.000034),
                ("latency_max", 0.000038),
                ("packets_sent", 10.0),
                ("packets_received", 5.0),
                ("loss", 0.5),
                ("duplicates", 0.0),
                ("errors", 0.0),
                ("duration", 0.587),
            ],
        )
    },
    fine(
        "ping_de_DE.txt",
        &[
            ("latency_avg", 0.000063),
            ("latency_stdev", 0.000006),
            ("latency_min", 0.000057),
            ("latency_max", 0.00007),
            ("packets_sent", 2.0),
            ("packets_received", 2.0),
            ("loss", 0.0),
            ("duplicates", 0.0),
            ("errors", 0.0),
            ("duration", 0.201),
        ],
    ),
    fine(
        "ping_ja_JP.txt",
        &[
            ("latency_avg", 0.000051),
            ("latency_stdev", 0.000006),
            ("latency_min", 0.000045),
            ("latency_max", 0.000057),
            ("packets_sent", 2.0),
            ("packets_received", 2.0),
            ("loss", 0.0),
            ("duplicates", 0.0),
            ("errors", 0.0),
            ("duration", 0.209),
        ],
    ),
    Case {
        exit: 2,
        ok: false,
        problems: &["`ping: nonexistent.example.invalid: Name or service not known`", NO_REPORT, "exit code 2"],
        ..fine("resolve_fail.txt", &[])
    },
    Case {
        exit: 2,
        ok: false,
        problems: &["`ping: connect: Network is unreachable`", NO_REPORT, "exit code 2"],
        ..fine("unreachable_netns.txt", &[])
    },
];

#[test]
fn saved_outputs_of_ping() {
    check("ping", "ping", CASES);
    assert_covers("ping", CASES);
}

fn replies(times: impl IntoIterator<Item = u32>) -> String {
    let line = |(at, us): (usize, u32)| format!("64 bytes from web (10.0.0.2): icmp_seq={at} ttl=64 time=0.{us:03} ms\n");
    times.into_iter().enumerate().map(line).collect()
}

#[test]
fn odd_but_real_forms() {
    let lost = |count: u32| format!("{count} of 10 packets were lost: the latencies are those of the others");
    let contradiction = "the summary contradicts itself: the loss is not that of its packets, or its times are not in order".to_owned();
    let no_summary = "no summary, so the loss is not known: it was killed, or the output is cut off".to_owned();
    let times = "rtt min/avg/max/mdev = 0.1/0.2/0.3/0.1 ms";
    let table: &[(String, bool, Vec<String>)] = &[
        // Duplicates and errors of iputils.
        (
            format!("10 packets transmitted, 10 received, +3 duplicates, 0% packet loss, time 9ms\n{times}"),
            true,
            vec!["3 replies came twice".to_owned()],
        ),
        (
            format!("10 packets transmitted, 7 received, +1 corrupted, +2 errors, 30% packet loss, time 9ms\n{times}, pipe 2"),
            true,
            vec![lost(3), "2 errors came back instead of replies".to_owned(), "1 replies were corrupted and do not count".to_owned()],
        ),
        (
            "ping: sendmsg: Operation not permitted\n10 packets transmitted, 0 received, +10 errors, 100% packet loss, time 9ms\n"
                .to_owned(),
            false,
            vec![
                "`ping: sendmsg: Operation not permitted`".to_owned(),
                "no reply: all 10 packets were lost".to_owned(),
                "10 errors came back instead of replies".to_owned(),
            ],
        ),
        // busybox and inetutils.
        (
            "10 packets transmitted, 9 packets received, 2 duplicates, 10% packet loss\nround-trip min/avg/max = 0.1/0.2/0.3 ms".to_owned(),
            true,
            vec![lost(1), "2 replies came twice".to_owned()],
        ),
        (
            "10 packets transmitted, 10 packets received, 0% packet loss\nround-trip min/avg/max/stddev = 0.1/0.2/0.3/0.1 ms".to_owned(),
            true,
            vec![],
        ),
        // A percentage is cut by some and not by others.
        (
            format!("3 packets transmitted, 2 received, 33.3333% packet loss, time 9ms\n{times}"),
            true,
            vec!["1 of 3 packets were lost: the latencies are those of the others".to_owned()],
        ),
        (
            format!("3 packets transmitted, 2 received, 33% packet loss, time 9ms\n{times}"),
            true,
            vec!["1 of 3 packets were lost: the latencies are those of the others".to_owned()],
        ),
        // Not to be believed.
        (format!("10 packets transmitted, 5 received, 0% packet loss, time 9ms\n{times}"), false, vec![contradiction.clone(), lost(5)]),
        (format!("5 packets transmitted, 10 received, 0% packet loss, time 9ms\n{times}"), false, vec![contradiction.clone()]),
        (
            format!("10 packets transmitted, 10 received, 0% packet loss, time 9ms\n{}", times.replace("0.2", "0.4")),
            false,
            vec![contradiction],
        ),
        (replies([100, 200]), false, vec![no_summary]),
        ("10 packets transmitted, 10 rec".to_owned(), false, vec![NO_REPORT.to_owned()]),
        (
            format!("10 packets transmitted, 10 received, 0% packet loss, time 9ms\n{}", times.replace("0.1/0.2", "0.000/0.2")),
            true,
            vec!["printed as 0, below the resolution, and therefore absent: latency_min".to_owned()],
        ),
    ];
    for (text, ok, problems) in table {
        let text = format!("--- web ping statistics ---\n{text}");
        let found = parse("ping", text.as_bytes(), b"", 0);
        assert_eq!((found.ok, &found.problems), (*ok, problems), "{text}");
    }
}

#[test]
fn the_lines_give_percentiles_when_all_are_there() {
    let summary =
        |count: usize| format!("--- web ping statistics ---\n{count} packets transmitted, {count} received, 0% packet loss, time 9ms\n");
    let value = |text: String, name: &str| {
        let found = parse("ping", text.as_bytes(), b"", 0);
        found.metrics.iter().find(|metric| metric.name == name).map(|metric| metric.value)
    };
    let hundred = format!("PING web\n{}{}", replies(1..=100), summary(100));
    assert_eq!(value(hundred.clone(), "latency_p50"), Some(0.00005));
    assert_eq!(value(hundred.clone(), "latency_p95"), Some(0.000095));
    assert_eq!(value(hundred.clone(), "latency_p99"), Some(0.000099));
    assert_eq!(value(hundred.replace("time=0.007 ms\n", "time=0.007 ms (DUP!)\n"), "latency_p50"), None);
    let ten = replies(1..=10) + &summary(10);
    assert_eq!((value(ten.clone(), "latency_p50"), value(ten, "latency_p95")), (Some(0.000005), None));
    assert_eq!(value(replies(1..=9) + &summary(9), "latency_p50"), None);
    // Without a summary, what the lines say.
    let killed = replies([100, 200, 600]);
    assert_eq!(value(killed.clone(), "latency_avg"), Some(0.0003));
    assert_eq!((value(killed.clone(), "latency_min"), value(killed.clone(), "latency_max")), (Some(0.0001), Some(0.0006)));
    assert_eq!((value(killed.clone(), "loss"), value(killed, "packets_received")), (None, None));
}

#[test]
fn the_last_of_several_reports_counts() {
    let run = |count: usize| {
        format!(
            "PING web (10.0.0.2) 56(84) bytes of data.\n{}--- web ping statistics ---\n{count} packets transmitted, {count} received, 0% packet loss, time 9ms\nrtt min/avg/max/mdev = 0.1/0.2/0.3/0.1 ms\n",
            replies(1..=10)
        )
    };
    let found = parse("ping", (run(3) + &run(10)).as_bytes(), b"", 0);
    assert_eq!(found.problems, ["several reports of ping: the last one counts"]);
    assert_eq!(found.metrics.iter().find(|metric| metric.name == "packets_sent").map(|metric| metric.value), Some(10.0));
    assert!(found.metrics.iter().any(|metric| metric.name == "latency_p50"), "the lines of the first run do not count: {found:?}");
}
