//! `oha`.

use super::{Case, assert_covers, assert_metrics, check, fixture, parse};

const NO_REPORT: &str = "no report of oha in the output (`--output-format quiet` prints none)";
const CUT: &str = "the report of oha is damaged or cut off";
const CONTRADICTION: &str = "the report of oha contradicts itself: its rate is not its requests over its time, its success rate not theirs, or its latencies are not in order";
const KIB: f64 = 1024.0;

const fn fine(file: &'static str, problems: &'static [&'static str], metrics: &'static [(&'static str, f64)]) -> Case {
    Case { file, exit: 0, ok: true, problems, metrics }
}

const CASES: &[Case] = &[
    Case { ok: false, ..fine("csv.txt", &["oha wrote a table of its responses: use `--output-format json`"], &[]) },
    fine(
        "json.txt",
        &[],
        &[
            ("requests_per_second", 25646.0 / 2.005126099),
            ("requests", 25646.0),
            ("errors", 0.0),
            ("non_2xx_3xx", 0.0),
            ("requests_cut_off", 20.0),
            ("duration", 2.005126099),
            ("latency_avg", 0.00154529937323559),
            ("latency_min", 0.000085617),
            ("latency_max", 0.018509697),
            ("latency_p10", 0.000224994),
            ("latency_p25", 0.000360426),
            ("latency_p50", 0.000537739),
            ("latency_p75", 0.001369856),
            ("latency_p90", 0.00449501),
            ("latency_p95", 0.00680307),
            ("latency_p99", 0.011413331),
            ("latency_p999", 0.015973167),
            ("latency_p9999", 0.017266379),
            ("body_bytes", 282106.0),
            ("body_bytes_per_second", 140692.39841857945),
        ],
    ),
    Case {
        ok: false,
        ..fine(
            "json_refused.txt",
            &["no request was completed", "20 requests got no response (`Connection refused (os error 111)`)"],
            &[
                ("requests_per_second", 0.0),
                ("requests", 0.0),
                ("errors", 20.0),
                ("non_2xx_3xx", 0.0),
                ("requests_cut_off", 0.0),
                ("duration", 0.00140258),
                ("body_bytes", 0.0),
                ("body_bytes_per_second", 0.0),
            ],
        )
    },
    Case {
        ok: false,
        ..fine(
            "json_reset.txt",
            &[
                "43 requests got no response (`connection error`)",
                "257 responses are too few for latency_p999, latency_p9999: less than one of them lies beyond",
            ],
            &[
                ("requests_per_second", 257.0 / 0.053645141),
                ("requests", 257.0),
                ("errors", 43.0),
                ("non_2xx_3xx", 0.0),
                ("requests_cut_off", 0.0),
                ("duration", 0.053645141),
                ("latency_avg", 0.0015610370817120628),
                ("latency_min", 0.000125377),
                ("latency_max", 0.010570729),
                ("latency_p10", 0.000237183),
                ("latency_p25", 0.000349329),
                ("latency_p50", 0.000624248),
                ("latency_p75", 0.001517224),
                ("latency_p90", 0.00461566),
                ("latency_p95", 0.006990638),
                ("latency_p99", 0.009125521),
                ("latency_p999", 0.010570729),
                ("latency_p9999", 0.010570729),
                ("body_bytes", 2827.0),
                ("body_bytes_per_second", 52698.15583111246),
            ],
        )
    },
    Case {
        ok: false,
        ..fine(
            "json_timeouts.txt",
            &[
                "4 requests got no response (`timeout`)",
                "36 responses are too few for latency_p99, latency_p999, latency_p9999: less than one of them lies beyond",
            ],
            &[
                ("requests_per_second", 36.0 / 1.007920812),
                ("requests", 36.0),
                ("errors", 4.0),
                ("non_2xx_3xx", 0.0),
                ("requests_cut_off", 0.0),
                ("duration", 1.007920812),
                ("latency_avg", 0.002153661361111112),
                ("latency_min", 0.000189442),
                ("latency_max", 0.005420525),
                ("latency_p10", 0.00020858),
                ("latency_p25", 0.00026918),
                ("latency_p50", 0.000794661),
                ("latency_p75", 0.004968513),
                ("latency_p90", 0.005354938),
                ("latency_p95", 0.005370991),
                ("latency_p99", 0.005420525),
                ("latency_p999", 0.005420525),
                ("latency_p9999", 0.005420525),
                ("body_bytes", 396.0),
                ("body_bytes_per_second", 392.888007951958),
            ],
        )
    },
    fine(
        "qps_latency_correction.txt",
        &["99 responses are too few for latency_p99, latency_p999, latency_p9999: less than one of them lies beyond"],
        &[
            ("requests_per_second", 99.0 / 2.006072535),
            ("requests", 99.0),
            ("errors", 0.0),
            ("non_2xx_3xx", 0.0),
            ("requests_cut_off", 1.0),
            ("duration", 2.006072535),
            ("latency_avg", 0.0241175871010101),
            ("latency_min", 0.020613433),
            ("latency_max", 0.041207127),
            ("latency_p10", 0.020908982),
            ("latency_p25", 0.021261106),
            ("latency_p50", 0.021526169),
            ("latency_p75", 0.024901546),
            ("latency_p90", 0.032859622),
            ("latency_p95", 0.034768649),
            ("latency_p99", 0.041207127),
            ("latency_p999", 0.041207127),
            ("latency_p9999", 0.041207127),
            ("body_bytes", 1089.0),
            ("body_bytes_per_second", 542.8517568533483),
        ],
    ),
    Case { ok: false, ..fine("quiet.txt", &[NO_REPORT], &[]) },
    Case {
        ok: false,
        ..fine(
            "text_refused.txt",
            &["no request was completed", "20 requests got no response (`Connection refused (os error 111)`)"],
            &[
                ("requests_per_second", 0.0),
                ("requests", 0.0),
                ("errors", 20.0),
                ("non_2xx_3xx", 0.0),
                ("requests_cut_off", 0.0),
                ("duration", 0.005671398),
                ("body_bytes", 0.0),
                ("body_bytes_per_second", 0.0),
            ],
        )
    },
];

#[test]
fn saved_outputs_of_oha() {
    check("oha", "oha", CASES);
    assert_covers("oha", CASES);
}

const TEXT: &str = "\
Summary:
  Success rate:\t100.00%
  Total:\t2000.5000 ms
  Slowest:\t80.2500 ms
  Fastest:\t1.5000 ms
  Average:\t12.7500 ms
  Requests/sec:\t509.8725

  Total data:\t10.74 KiB
  Size/request:\t11 B
  Size/sec:\t5.37 KiB

Response time histogram:
   1.500 ms [1]   |
  80.250 ms [999] |■■■

Response time distribution:
  50.00% in 12.0000 ms
  99.00% in 60.0000 ms
  99.90% in 80.0000 ms

Response time distribution (2xx only):
  50.00% in 11.0000 ms

Details (average, fastest, slowest):
  DNS+dialup:\t0.2000 ms, 0.1000 ms, 0.6000 ms

Status code distribution:
  [200] 1000 responses

Error distribution:
  [20] aborted due to deadline
";

#[test]
fn a_text_is_read_in_its_unit() {
    let common = |unit: f64| {
        vec![
            ("requests_per_second", 1000.0 / (2000.5 * unit)),
            ("requests", 1000.0),
            ("errors", 0.0),
            ("non_2xx_3xx", 0.0),
            ("requests_cut_off", 20.0),
            ("duration", 2000.5 * unit),
            ("latency_avg", 12.75 * unit),
            ("latency_min", 1.5 * unit),
            ("latency_max", 80.25 * unit),
            ("latency_p50", 12.0 * unit),
            ("latency_p99", 60.0 * unit),
            ("latency_p999", 80.0 * unit),
            ("body_bytes", 10.74 * KIB),
            ("body_bytes_per_second", 5.37 * KIB),
        ]
    };
    for (unit, seconds) in
        [("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3), ("sec", 1.0), ("10 sec", 10.0), ("min", 60.0), ("10 min", 600.0), ("hr", 3600.0)]
    {
        let rate = format!("{:.4}", 1020.0 / (2000.5 * seconds));
        let text = TEXT.replace(" ms\n", &format!(" {unit}\n")).replace("509.8725", &rate);
        let found = parse("oha", text.as_bytes(), b"", 0);
        assert!(found.ok && found.problems.is_empty(), "{unit}: {found:?}");
        assert_metrics(&found, &common(seconds), unit);
    }
}

#[test]
fn texts_that_must_not_be_believed() {
    let without = |line: &str| TEXT.lines().filter(|known| !known.contains(line)).collect::<Vec<_>>().join("\n");
    let table = [
        (TEXT.replace("[200] 1000", "[503] 1000"), Some("1000 responses were neither 2xx nor 3xx (status 503)")),
        (TEXT.replace("aborted due to deadline", "timeout"), Some(CONTRADICTION)),
        (TEXT.replace("100.00%", "98.04%").replace("aborted due to deadline", "timeout"), Some("20 requests got no response (`timeout`)")),
        (TEXT.replace("[200] 1000", "[200] 900"), Some(CONTRADICTION)),
        (TEXT.replace("50.00% in 12", "50.00% in 62"), Some(CONTRADICTION)),
        (TEXT.replace("Fastest:\t1.5", "Fastest:\t13.5"), Some(CONTRADICTION)),
        (without("[20]"), Some(CONTRADICTION)),
        (without("[200]"), Some(CONTRADICTION)),
        (without("Status code"), Some(CUT)),
        (without("Total:"), Some(CUT)),
        (TEXT.replace("2000.5000 ms", "2000.5000 xs"), Some(CUT)),
        (without("Requests/sec"), Some(CUT)),
        ("error: unexpected argument '--foo' found\n".to_owned(), Some("`error: unexpected argument '--foo' found`")),
        ("bash: oha: command not found\n".to_owned(), Some("`bash: oha: command not found`")),
    ];
    for (text, problem) in table {
        let found = parse("oha", text.as_bytes(), b"", 0);
        assert_eq!(found.ok, problem.is_none(), "{text}: {found:?}");
        assert_eq!(found.problems.first().map(String::as_str), problem, "{text}");
        assert!(problem != Some(CONTRADICTION) || found.metrics.is_empty(), "{found:?}");
    }
}

#[test]
fn documents_that_must_not_be_believed() {
    let document = String::from_utf8(fixture("oha", "json.txt")).expect("UTF-8");
    let histogram = "the report of oha contradicts itself: its histogram does not count its responses";
    let lacks = "the report of oha is damaged: it lacks `statusCodeDistribution`, `errorDistribution` or `summary`";
    let table = [
        (document.replace("\"aborted due to deadline\": 20", "\"aborted due to deadline\": 2"), CONTRADICTION),
        (document.replace("\"total\": 2.0", "\"total\": 3.0"), CONTRADICTION),
        (document.replace("\"p99\": 0.0", "\"p99\": 0.9"), CONTRADICTION),
        (document.replace("\"200\": 25646", "\"200\": 25645"), histogram),
        (document.replace("\"200\": 25646", "\"200\": 25646.5"), lacks),
        (document.replace("\"200\"", "\"2000\""), lacks),
        (document.replace("\"errorDistribution\"", "\"error\""), lacks),
        (document.replace("\"total\"", "\"totals\""), CUT),
        (document.replace("\"total\":", "\"fastest\":"), "the report of oha is damaged: it repeats a key"),
        (document.replace("\"summary\"", "\"sum\""), "the last JSON document is not a report of oha"),
        (document.replace("\"200\"", "\"503\""), "25646 responses were neither 2xx nor 3xx (status 503)"),
    ];
    for (text, problem) in table {
        let found = parse("oha", text.as_bytes(), b"", 0);
        assert_eq!((found.ok, found.problems.first().map(String::as_str)), (false, Some(problem)));
    }
    let found = parse("oha", &document.as_bytes()[..document.len() - 2], b"", 0);
    assert!(!found.ok && found.metrics.is_empty() && found.problems[0].starts_with("the last JSON document is cut off"), "{found:?}");
}

#[test]
fn what_was_cut_off_at_the_end_is_said() {
    let text = TEXT.replace("[20] ab", "[200] ab").replace("509.8725", "599.8500");
    let found = parse("oha", text.as_bytes(), b"", 0);
    assert!(found.ok && (found.metrics[0].value - 1000.0 / 2.0005).abs() < 1e-9, "{found:?}");
    assert_eq!(found.problems, ["200 requests were cut off at the end, beside 1000 responses: the latencies lack the longest"]);
}

#[test]
fn the_last_of_several_reports_counts() {
    let other = TEXT.replace("1000", "1020").replace("[20]", "[0]");
    let found = parse("oha", format!("{TEXT}{other}").as_bytes(), b"", 0);
    assert_eq!((found.ok, found.metrics[1].value), (true, 1020.0));
    assert_eq!(found.problems, ["several reports of oha: the last one counts"]);
}
