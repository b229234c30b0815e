//! `autocannon`.

use super::{Case, assert_covers, assert_metrics, check, fixture, parse};

const WHOLE: &str = "autocannon's percentiles are whole milliseconds";
const CUT: &str = "the report of autocannon is damaged or cut off, or its numbers are those of another locale than C";
const CONTRADICTION: &str = "the report of autocannon contradicts itself: its counts do not add up, or its latencies are not in order";
const THOUSANDS: &str = "printed in thousands, which is no count, and therefore absent: requests `4k` (`-j` has all digits)";

const fn fine(file: &'static str, problems: &'static [&'static str], metrics: &'static [(&'static str, f64)]) -> Case {
    Case { file, exit: 0, ok: true, problems, metrics }
}

const CASES: &[Case] = &[
    fine(
        "json.txt",
        &[
            WHOLE,
            "4013 responses are too few for latency_p9999: less than one of them lies beyond",
            "the rate is the mean of samples of one second, 2007/s, and 4013 responses in 2.19 s are 1832/s: run longer",
        ],
        &[
            ("requests_per_second", 2007.0),
            ("requests", 4013.0),
            ("errors", 0.0),
            ("errors_timeout", 0.0),
            ("non_2xx", 0.0),
            ("mismatches", 0.0),
            ("requests_sent", 4033.0),
            ("duration", 2.19),
            ("latency_avg", 0.00985),
            ("latency_stdev", 0.01371),
            ("latency_max", 0.189),
            ("latency_p10", 0.002),
            ("latency_p25", 0.003),
            ("latency_p50", 0.006),
            ("latency_p75", 0.013),
            ("latency_p90", 0.021),
            ("latency_p975", 0.035),
            ("latency_p99", 0.064),
            ("latency_p999", 0.186),
            ("latency_p9999", 0.189),
            ("requests_per_second_stdev", 640.0),
            ("requests_per_second_min", 1367.0),
            ("requests_per_second_max", 2646.0),
            ("bytes", 987198.0),
            ("bytes_per_second", 493632.0),
        ],
    ),
    Case {
        ok: false,
        ..fine(
            "json_mix503.txt",
            &[
                "216 responses were not 2xx",
                "printed as 0, below the resolution, and therefore absent: latency_p10, latency_p25",
                WHOLE,
                "2161 responses are too few for latency_p9999: less than one of them lies beyond",
                "the rate is the mean of samples of one second, 2161/s, and 2161 responses in 1.07 s are 2020/s: run longer",
            ],
            &[
                ("requests_per_second", 2161.0),
                ("requests", 2161.0),
                ("errors", 0.0),
                ("errors_timeout", 0.0),
                ("non_2xx", 216.0),
                ("mismatches", 0.0),
                ("requests_sent", 2171.0),
                ("duration", 1.07),
                ("latency_avg", 0.0042),
                ("latency_stdev", 0.00749),
                ("latency_max", 0.075),
                ("latency_p50", 0.002),
                ("latency_p75", 0.005),
                ("latency_p90", 0.010),
                ("latency_p975", 0.022),
                ("latency_p99", 0.048),
                ("latency_p999", 0.069),
                ("latency_p9999", 0.075),
                ("requests_per_second_stdev", 0.0),
                ("requests_per_second_min", 2161.0),
                ("requests_per_second_max", 2161.0),
                ("bytes", 245705.0),
                ("bytes_per_second", 245696.0),
            ],
        )
    },
    Case {
        ok: false,
        ..fine(
            "json_timeouts.txt",
            &["no request was completed", "13 errors, 13 of them timeouts"],
            &[
                ("requests_per_second", 0.0),
                ("requests", 0.0),
                ("errors", 13.0),
                ("errors_timeout", 13.0),
                ("non_2xx", 0.0),
                ("mismatches", 0.0),
                ("requests_sent", 18.0),
                ("duration", 3.12),
                ("requests_per_second_stdev", 0.0),
                ("requests_per_second_min", 0.0),
                ("requests_per_second_max", 0.0),
                ("bytes", 0.0),
                ("bytes_per_second", 0.0),
            ],
        )
    },
    fine(
        "text.txt",
        &[WHOLE, THOUSANDS],
        &[
            ("requests_per_second", 2035.5),
            ("errors", 0.0),
            ("errors_timeout", 0.0),
            ("non_2xx", 0.0),
            ("mismatches", 0.0),
            ("duration", 2.16),
            ("latency_avg", 0.00969),
            ("latency_stdev", 0.01101),
            ("latency_max", 0.124),
            ("latency_p50", 0.007),
            ("latency_p975", 0.038),
            ("latency_p99", 0.050),
            ("requests_per_second_stdev", 589.5),
            ("requests_per_second_min", 1446.0),
            ("bytes", 1_000_000.0),
            ("bytes_per_second", 501_000.0),
        ],
    ),
];

#[test]
fn saved_outputs_of_autocannon() {
    check("autocannon", "autocannon", CASES);
    assert_covers("autocannon", CASES);
}

fn saved(file: &str) -> String {
    String::from_utf8(fixture("autocannon", file)).expect("UTF-8")
}

#[test]
fn texts_that_must_not_be_believed() {
    let text = saved("text.txt");
    let without = |line: &str| text.lines().filter(|known| !known.contains(line)).collect::<Vec<_>>().join("\n");
    let small = text.replace("4k requests", "900 requests");
    let table = [
        (format!("{small}13 errors (4 timeouts)\n"), "13 errors, 4 of them timeouts"),
        (format!("{small}13 errors (14 timeouts)\n"), CONTRADICTION),
        (format!("{small}13k errors (4 timeouts)\n"), "13k errors"),
        (format!("{small}1k errors (1k timeouts)\n"), "1k errors"),
        (format!("{small}13 errors (4 time"), CUT),
        (format!("{small}7 requests with mismatched body\n"), "7 responses had another body than the expected one"),
        (small.replace("900 req", "890 2xx responses, 10 non 2xx responses\n900 req"), "10 responses were not 2xx"),
        (small.replace("900 req", "890 2xx responses, 1\n900 req"), CUT),
        (small.replace("900 req", "0 req"), "no request was completed"),
        (without("Latency"), CUT),
        (without("Req/Sec"), CUT),
        (without("Bytes/Sec"), CUT),
        (without("requests in"), CUT),
        (without("97.5%  │ Avg"), CUT),
        (text.replace("2,035.5", "2.035,5"), CUT),
        (text.replace("1,446", "1.446"), CUT),
        (text.replace("1 MB read", "1 MB rea"), CUT),
        (text.replace("│ 50 ms", "│ 5 ms"), CONTRADICTION),
        (text.replace("124 ms", "9 ms"), CONTRADICTION),
        ("sh: 1: autocannon: not found\n".to_owned(), "`sh: 1: autocannon: not found`"),
    ];
    for (text, problem) in table {
        let found = parse("autocannon", b"", text.as_bytes(), 0);
        assert_eq!((found.ok, found.problems.first().map(String::as_str)), (false, Some(problem)), "{text}");
        assert!(problem != CONTRADICTION || found.metrics.is_empty(), "{found:?}");
    }
}

#[test]
fn a_rounded_count_is_no_count() {
    let found = parse("autocannon", b"", format!("{}13k errors (4 timeouts)\n", saved("text.txt")).as_bytes(), 0);
    let value = |name: &str| found.metrics.iter().find(|metric| metric.name == name).map(|metric| metric.value);
    assert_eq!((value("requests"), value("errors"), value("errors_timeout")), (None, None, Some(4.0)));
    assert_eq!(
        found.problems.last().map(String::as_str),
        Some("printed in thousands, which is no count, and therefore absent: requests `4k`, errors `13k` (`-j` has all digits)")
    );
}

#[test]
fn colours_and_collapsed_columns_are_no_hindrance() {
    let expected = CASES.iter().find(|case| case.file == "text.txt").expect("a case").metrics;
    let text = saved("text.txt");
    let coloured = text.replace("Latency │", "\x1b[1mLatency\x1b[22m │").replace("Stat", "\x1b[36mStat\x1b[39m");
    let collapsed = text.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    for text in [coloured, collapsed, text.replace('\n', "\r\n"), format!("Running 2s test @ http://127.0.0.1/\n20 connections\n\n{text}")]
    {
        assert_metrics(&parse("autocannon", text.as_bytes(), b"", 0), expected, &text);
    }
}

#[test]
fn documents_that_must_not_be_believed() {
    let document = saved("json.txt");
    let table = [
        (document.replace("\"2xx\":4013", "\"2xx\":401"), CONTRADICTION),
        (document.replace("\"non2xx\":0", "\"non2xx\":3"), CONTRADICTION),
        (document.replace("\"timeouts\":0", "\"timeouts\":3"), CONTRADICTION),
        (document.replace("\"p50\":6,", "\"p50\":60,"), CONTRADICTION),
        (document.replace("\"max\":189", "\"max\":9"), CONTRADICTION),
        (document.replace("\"mismatches\":0", "\"mismatches\":2"), "2 responses had another body than the expected one"),
        (document.replace("\"errors\":0", "\"errors\":2"), "2 errors, 0 of them timeouts"),
        (document.replace("\"errors\":0", "\"error\":0"), CUT),
        (document.replace("\"duration\":", "\"samples\":"), "the report of autocannon is damaged: it repeats a key"),
        (document.replace("\"latency\":", "\"late\":"), "the last JSON document is not a report of autocannon"),
    ];
    for (text, problem) in table {
        let found = parse("autocannon", text.as_bytes(), b"", 0);
        assert_eq!((found.ok, found.problems.first().map(String::as_str)), (false, Some(problem)), "{text}");
        assert!(problem != CONTRADICTION || found.metrics.is_empty(), "{found:?}");
    }
    let found = parse("autocannon", &document.as_bytes()[..document.len() - 3], b"", 0);
    assert!(!found.ok && found.metrics.is_empty() && found.problems[0].starts_with("the last JSON document is cut off"), "{found:?}");
}

#[test]
fn what_was_still_awaited_is_said() {
    let document = saved("json.txt").replace("\"sent\":4033", "\"sent\":5013");
    let found = parse("autocannon", document.as_bytes(), b"", 0);
    let awaited = "1000 requests were sent without a response, beside 4013 responses: the latencies lack the longest";
    assert!(found.ok && found.problems.iter().any(|problem| problem == awaited), "{found:?}");
}

#[test]
fn the_last_of_several_reports_counts() {
    let several = "several reports of autocannon: the last one counts";
    for (file, old, new, rate) in [("text.txt", "2,035.5", "2,036", 2036.0), ("json.txt", "\"average\":2007,", "\"average\":2008,", 2008.0)]
    {
        let text = saved(file);
        let found = parse("autocannon", format!("{text}{}", text.replace(old, new)).as_bytes(), b"", 0);
        assert_eq!((found.ok, found.metrics[0].value), (true, rate), "{file}");
        assert_eq!(found.problems.last().map(String::as_str), Some(several), "{file}");
    }
}
