//! `hping3`.

use super::{Case, assert_covers, assert_metrics, check, fixture, parse};

const NO_REPORT: &str = "no report of hping3 in the output";
const NO_LINES: &str = "the lines of the replies are not all there: whether the port is open (`flags=SA`) cannot be told";

const fn fine(file: &'static str, metrics: &'static [(&'static str, f64)]) -> Case {
    Case { file, exit: 0, ok: true, problems: &[], metrics }
}

const CASES: &[Case] = &[
    fine(
        "icmp.txt",
        &[
            ("latency_avg", 0.0006),
            ("latency_min", 0.0003),
            ("latency_max", 0.001),
            ("packets_sent", 3.0),
            ("packets_received", 3.0),
            ("loss", 0.0),
        ],
    ),
    Case {
        exit: 1,
        ok: false,
        problems: &["no reply: all 3 packets were lost", "exit code 1"],
        ..fine("loss_100_netns.txt", &[("packets_sent", 3.0), ("packets_received", 0.0), ("loss", 1.0)])
    },
    Case {
        ok: false,
        problems: &[
            "6 replies refuse the connection (`flags=RA`): the port is closed",
            "2 of 8 packets were lost: the latencies are those of the others",
        ],
        ..fine(
            "loss_netns.txt",
            &[
                ("latency_avg", 0.0012),
                ("latency_min", 0.0004),
                ("latency_max", 0.0039),
                ("packets_sent", 8.0),
                ("packets_received", 6.0),
                ("loss", 0.25),
                ("errors", 6.0),
            ],
        )
    },
    Case {
        exit: 1,
        ok: false,
        problems: &["`[main] can't open raw socket`", "`[open_sockraw] socket(): Operation not permitted`", NO_REPORT, "exit code 1"],
        ..fine("no_root.txt", &[])
    },
    Case {
        problems: &[NO_LINES],
        ..fine(
            "quiet.txt",
            &[
                ("latency_avg", 0.0034),
                ("latency_min", 0.0001),
                ("latency_max", 0.0078),
                ("packets_sent", 3.0),
                ("packets_received", 3.0),
                ("loss", 0.0),
            ],
        )
    },
    Case {
        exit: 1,
        ok: false,
        problems: &["`Unable to resolve 'nonexistent.example.invalid'`", NO_REPORT, "exit code 1"],
        ..fine("resolve_fail.txt", &[])
    },
    Case {
        ok: false,
        problems: &["3 replies refuse the connection (`flags=RA`): the port is closed"],
        ..fine(
            "syn_closed_port.txt",
            &[
                ("latency_avg", 0.0009),
                ("latency_min", 0.0008),
                ("latency_max", 0.0011),
                ("packets_sent", 3.0),
                ("packets_received", 3.0),
                ("loss", 0.0),
                ("errors", 3.0),
            ],
        )
    },
    fine(
        "syn_fast_i_u10000.txt",
        &[
            ("latency_avg", 0.0005),
            ("latency_min", 0.0001),
            ("latency_max", 0.001),
            ("latency_p50", 0.0005),
            ("packets_sent", 10.0),
            ("packets_received", 10.0),
            ("loss", 0.0),
            ("errors", 0.0),
        ],
    ),
    fine(
        "syn_hostname.txt",
        &[
            ("latency_avg", 0.0007),
            ("latency_min", 0.0007),
            ("latency_max", 0.0008),
            ("packets_sent", 2.0),
            ("packets_received", 2.0),
            ("loss", 0.0),
            ("errors", 0.0),
        ],
    ),
    fine(
        "syn_open_port.txt",
        &[
            ("latency_avg", 0.0021),
            ("latency_min", 0.0001),
            ("latency_max", 0.0083),
            ("packets_sent", 5.0),
            ("packets_received", 5.0),
            ("loss", 0.0),
            ("errors", 0.0),
        ],
    ),
];

#[test]
fn saved_outputs_of_hping3() {
    check("hping3", "hping3", CASES);
    assert_covers("hping3", CASES);
}

/// The saved outputs are both streams in the order in which they arrived.
#[test]
fn the_streams_may_be_apart() {
    for case in CASES {
        let text = String::from_utf8(fixture("hping3", case.file)).expect("text");
        let (stdout, stderr): (Vec<&str>, Vec<&str>) =
            text.lines().partition(|line| line.starts_with("len=") || line.starts_with("HPING ") || line.starts_with("[main]"));
        let found = parse("hping3", stdout.join("\n").as_bytes(), stderr.join("\n").as_bytes(), case.exit);
        assert_eq!(
            (found.ok, &found.problems[..]),
            (case.ok, &case.problems.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>()[..])
        );
        assert_metrics(&found, case.metrics, case.file);
    }
}

const REPLY: &str = "len=44 ip=10.0.0.2 ttl=64 DF id=0 sport=80 flags=SA seq=0 win=65495 rtt=0.4 ms\n";

#[test]
fn the_summary_of_ping_is_not_of_hping3() {
    let found = parse("hping3", &fixture("ping", "busybox.txt"), b"", 0);
    assert_eq!((found.ok, &found.problems[..]), (false, &[NO_REPORT.to_owned()][..]));
}

#[test]
fn odd_but_real_forms() {
    let header = "HPING web (eth0 10.0.0.2): S set, 40 headers + 0 data bytes\n";
    let summary = |sent: u32, received: u32, loss: i32| {
        format!(
            "--- web hping statistic ---\n{sent} packets transmitted, {received} packets received, {loss}% packet loss\nround-trip min/avg/max = 0.4/0.4/0.4 ms\n"
        )
    };
    let contradiction = "the summary contradicts itself: the loss is not that of its packets, or its times are not in order";
    let no_summary = "no summary, so the loss is not known: it was killed, or the output is cut off";
    let some = ["0.4/0.4/0.4", "0.0/0.1/0.4"];
    let table: &[(String, bool, &[&str])] = &[
        (format!("{header}{REPLY}{}", summary(1, 1, 0)), true, &[]),
        // It cuts the percentage of what came, not of what was lost.
        (summary(7, 3, 58), true, &["4 of 7 packets were lost: the latencies are those of the others"]),
        (summary(2, 3, -50), true, &["more replies than packets: some came twice, and how many were lost is not known"]),
        (summary(2, 1, 0), false, &[contradiction, "1 of 2 packets were lost: the latencies are those of the others"]),
        (summary(1, 1, 0).replace(some[0], some[1]), true, &["printed as 0, below the resolution, and therefore absent: latency_min"]),
        (format!("{header}{REPLY}"), false, &[no_summary]),
        (format!("{header}{REPLY}{REPLY}{}", summary(1, 1, 0)), true, &[NO_LINES]),
        // A host answers an ACK with RST: that is no refusal.
        (format!("{}{}{}", header.replace("S set", "A set"), REPLY.replace("SA", "R"), summary(1, 1, 0)), true, &[]),
        (
            format!(
                "[main] memlockall(): Operation not supported\nWarning: can't disable memory paging!\n{header}{REPLY}{}",
                summary(1, 1, 0)
            ),
            true,
            &["`[main] memlockall(): Operation not supported`", "`Warning: can't disable memory paging!`"],
        ),
        (
            format!("ICMP Host Unreachable from ip=10.0.0.1\n{}", summary(1, 0, 100)),
            false,
            &["`ICMP Host Unreachable from ip=10.0.0.1`", "no reply: all 1 packets were lost"],
        ),
        (format!("{}{}", summary(2, 2, 0), summary(3, 3, 0)), true, &["several reports of hping3: the last summary counts"]),
        ("sh: 1: hping3: not found\n".to_owned(), false, &["`sh: 1: hping3: not found`", NO_REPORT]),
    ];
    for (text, ok, problems) in table {
        let found = parse("hping3", text.as_bytes(), b"", 0);
        assert_eq!(
            (found.ok, &found.problems[..]),
            (*ok, &problems.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>()[..]),
            "{text}"
        );
    }
}
