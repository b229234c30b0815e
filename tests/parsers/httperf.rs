//! `httperf`.

use super::{Case, assert_covers, check, fixture, parse};

const CUT: &str = "the report of httperf is damaged or cut off";
const CONTRADICTION: &str = "the report of httperf contradicts itself: a rate is not its count over its time, a total not the sum of its parts, or its times are not in order";

const fn fine(file: &'static str, problems: &'static [&'static str], metrics: &'static [(&'static str, f64)]) -> Case {
    Case { file, exit: 0, ok: true, problems, metrics }
}

const CASES: &[Case] = &[
    Case {
        ok: false,
        ..fine(
            "errors.txt",
            &["no request was completed", "20 errors: 20 refused"],
            &[
                ("requests_per_second", 0.0),
                ("requests", 0.0),
                ("errors", 20.0),
                ("errors_timeout", 0.0),
                ("errors_socket_timeout", 0.0),
                ("errors_refused", 20.0),
                ("errors_reset", 0.0),
                ("errors_fd_unavailable", 0.0),
                ("errors_address_unavailable", 0.0),
                ("errors_file_table_full", 0.0),
                ("errors_other", 0.0),
                ("non_2xx_3xx", 0.0),
                ("requests_sent", 0.0),
                ("connections", 20.0),
                ("connections_per_second", 52.5),
                ("connections_max", 1.0),
                ("duration", 0.381),
            ],
        )
    },
    fine(
        "success.txt",
        &["printed as 0.0, below the resolution, and therefore absent: transfer_avg"],
        &[
            ("requests_per_second", 200.0),
            ("requests", 500.0),
            ("errors", 0.0),
            ("errors_timeout", 0.0),
            ("errors_socket_timeout", 0.0),
            ("errors_refused", 0.0),
            ("errors_reset", 0.0),
            ("errors_fd_unavailable", 0.0),
            ("errors_address_unavailable", 0.0),
            ("errors_file_table_full", 0.0),
            ("errors_other", 0.0),
            ("non_2xx_3xx", 0.0),
            ("requests_sent", 500.0),
            ("connections", 500.0),
            ("connections_per_second", 200.0),
            ("connections_max", 7.0),
            ("duration", 2.5),
            ("latency_avg", 0.0051),
            ("waiting_avg", 0.0051),
            ("connect_avg", 0.0004),
            ("connection_time_avg", 0.0055),
            ("connection_time_stdev", 0.0059),
            ("connection_time_min", 0.0001),
            ("connection_time_max", 0.033),
            ("connection_time_p50", 0.0025),
            ("reply_bytes_avg", 246.0),
        ],
    ),
    Case {
        ok: false,
        ..fine(
            "timeout.txt",
            &[
                "no request was completed",
                "5 of 5 requests got no reply",
                "5 errors: 5 timed out",
                "asked for 10 connections per second and made 3.5: the client fell behind, or the last ones took long",
            ],
            &[
                ("requests_per_second", 0.0),
                ("requests", 0.0),
                ("errors", 5.0),
                ("errors_timeout", 5.0),
                ("errors_socket_timeout", 0.0),
                ("errors_refused", 0.0),
                ("errors_reset", 0.0),
                ("errors_fd_unavailable", 0.0),
                ("errors_address_unavailable", 0.0),
                ("errors_file_table_full", 0.0),
                ("errors_other", 0.0),
                ("non_2xx_3xx", 0.0),
                ("requests_sent", 5.0),
                ("connections", 5.0),
                ("connections_per_second", 3.5),
                ("connections_max", 5.0),
                ("duration", 1.42),
                ("connect_avg", 0.0014),
            ],
        )
    },
];

#[test]
fn saved_outputs_of_httperf() {
    check("httperf", "httperf", CASES);
    assert_covers("httperf", CASES);
}

fn success() -> String {
    String::from_utf8(fixture("httperf", "success.txt")).expect("UTF-8")
}

#[test]
fn reports_that_must_not_be_believed() {
    let report = success();
    let without = |line: &str| report.lines().filter(|known| !known.contains(line)).collect::<Vec<_>>().join("\n");
    let errors = "total 0 client-timo 0 socket-timo 0 connrefused 0 connreset 0";
    let table = [
        (report.replace("2xx=500 3xx=0 4xx=0", "2xx=480 3xx=10 4xx=10"), "10 replies were neither 2xx nor 3xx: 10 were 4xx, 0 5xx"),
        (report.replace("replies 500", "replies 480").replace("2xx=500", "2xx=480"), "20 of 500 requests got no reply"),
        (report.replace(errors, "total 3 client-timo 1 socket-timo 0 connrefused 0 connreset 2"), "3 errors: 1 timed out, 2 reset"),
        (report.replace(errors, "total 3 client-timo 1 socket-timo 0 connrefused 0 connreset 1"), CONTRADICTION),
        (report.replace("fd-unavail 0", "fd-unavail 4").replace("total 0", "total 4"), "4 errors: 4 without a file descriptor"),
        (report.replace("2xx=500", "2xx=50"), CONTRADICTION),
        (report.replace("connections 500", "connections 50"), CONTRADICTION),
        (report.replace("requests 500", "requests 5000"), CONTRADICTION),
        (report.replace("avg 5.5", "avg 55.5"), CONTRADICTION),
        (without("Connection rate"), CUT),
        (without("Connection time [ms]: connect"), CUT),
        (without("Request rate"), CUT),
        (without("Reply time"), CUT),
        (without("Reply status"), CUT),
        (without("Errors: fd"), CUT),
        (without("Total:"), CUT),
        (report.replace("response 5.1", "response 5,1"), CUT),
        (
            "httperf: connection failed with unexpected error 99\n".to_owned() + &report,
            "`httperf: connection failed with unexpected error 99`",
        ),
        ("bash: line 1: httperf: command not found\n".to_owned(), "`bash: line 1: httperf: command not found`"),
    ];
    for (text, problem) in table {
        let found = parse("httperf", text.as_bytes(), b"", 0);
        assert_eq!((found.ok, found.problems.first().map(String::as_str)), (false, Some(problem)), "{text}");
        assert!(problem != CONTRADICTION || found.metrics.is_empty(), "{found:?}");
    }
}

#[test]
fn what_is_missing_is_absent() {
    let report = success();
    let value = |text: &str, name: &str| {
        let found = parse("httperf", text.as_bytes(), b"", 0);
        assert!(found.ok, "{found:?}");
        found.metrics.iter().find(|metric| metric.name == name).map(|metric| metric.value)
    };
    assert_eq!(value(&report.replace("stddev 5.9", "stddev -nan"), "connection_time_stdev"), None);
    let sampled = report.replace("min 0.0 avg 0.0 max 0.0 stddev 0.0 (0 samples)", "min 190.0 avg 199.8 max 204.0 stddev nan (3 samples)");
    assert_eq!(value(&sampled, "requests_per_second_min"), Some(190.0));
    assert_eq!(value(&sampled, "requests_per_second_max"), Some(204.0));
    assert_eq!(value(&sampled, "requests_per_second_stdev"), None);
    assert_eq!(value(&report.replace("transfer 0.0", "transfer 1.2"), "latency_avg"), Some(0.0063));
}

#[test]
fn a_rate_that_was_not_reached_is_said() {
    let slow = "asked for 300 connections per second and made 200: the client fell behind, or the last ones took long";
    let said = |text: String| parse("httperf", text.as_bytes(), b"", 0).problems.last().cloned().unwrap_or_default();
    assert_eq!(said(success().replace("--rate=200", "--rate=300")), slow);
    assert_ne!(said(success().replace("--rate=200", "--rate=300 --wsess=1,1,0")), slow, "the rate of sessions");
}

#[test]
fn the_last_of_several_reports_counts() {
    let other = success().replace("test-duration 2.500", "test-duration 2.501");
    let found = parse("httperf", format!("{}{other}", success()).as_bytes(), b"", 0);
    assert_eq!((found.ok, found.metrics[0].value), (true, 500.0 / 2.501));
    assert_eq!(found.problems.last().map(String::as_str), Some("several reports of httperf: the last one counts"));
    let found = parse("httperf", format!("{}{}", success(), &other[..400]).as_bytes(), b"", 0);
    assert_eq!((found.ok, found.problems.first().map(String::as_str)), (false, Some(CUT)));
    let found = parse("httperf", format!("{}{}", success(), &other[..300]).as_bytes(), b"", 0);
    assert!(!found.ok && found.metrics.is_empty(), "{found:?}");
    assert_eq!(found.problems, ["the last run of httperf has no report: it was interrupted"]);
}
