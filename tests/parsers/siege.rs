//! `siege`.

use super::{Case, assert_covers, assert_metrics, check, fixture, parse};

const NO_REPORT: &str = "no report of siege in the output (with -q and without -j it prints none)";
const ROUGH: &str = "the response time is below 0.1 s, and siege rounds to 10 ms: its times are rough";
const CUT: &str = "the report of siege is damaged or cut off";
const CONTRADICTION: &str = "the report of siege contradicts itself: its rate is not its transactions over its time, its availability not theirs, or its times are not in order";
const MIB: f64 = 1_048_576.0;

const fn fine(file: &'static str, problems: &'static [&'static str], metrics: &'static [(&'static str, f64)]) -> Case {
    Case { file, exit: 0, ok: true, problems, metrics }
}

const CASES: &[Case] = &[
    fine(
        "json.txt",
        &["printed as 0.00, below the resolution, and therefore absent: latency_min, body_bytes", ROUGH],
        &[
            ("requests_per_second", 1176.47),
            ("requests", 200.0),
            ("errors", 0.0),
            ("successful_requests", 200.0),
            ("duration", 0.17),
            ("latency_avg", 0.01),
            ("latency_max", 0.02),
            ("concurrency", 8.76),
            ("body_bytes_per_second", 0.01 * MIB),
        ],
    ),
    Case { ok: false, ..fine("mix.txt", &[NO_REPORT], &[]) },
    Case {
        ok: false,
        ..fine(
            "refused.txt",
            &["`socket: unable to connect sock.c:282: Connection refused`", "no transaction was completed", "4 failed transactions"],
            &[("requests", 0.0), ("errors", 4.0), ("successful_requests", 0.0)],
        )
    },
    fine(
        "success.txt",
        &["printed as 0.00, below the resolution, and therefore absent: latency_min", ROUGH],
        &[
            ("requests_per_second", 1246.88),
            ("requests", 1596.0),
            ("errors", 0.0),
            ("successful_requests", 1596.0),
            ("duration", 1.28),
            ("latency_avg", 0.01),
            ("latency_max", 0.04),
            ("concurrency", 9.05),
            ("body_bytes", 0.02 * MIB),
            ("body_bytes_per_second", 0.01 * MIB),
        ],
    ),
];

#[test]
fn saved_outputs_of_siege() {
    check("siege", "siege", CASES);
    assert_covers("siege", CASES);
}

const REPORT: &str = "\
** SIEGE 4.1.6
** Preparing 10 concurrent users for battle.
The server is now under siege...
Lifting the server siege...
Transactions:\t\t        1000 hits
Availability:\t\t      100.00 %
Elapsed time:\t\t        2.00 secs
Data transferred:\t        3.50 MB
Response time:\t\t        0.25 secs
Transaction rate:\t      500.00 trans/sec
Throughput:\t\t        1.75 MB/sec
Concurrency:\t\t        9.50
Successful transactions:        1000
Failed transactions:\t           0
Longest transaction:\t        0.90 secs
Shortest transaction:\t        0.10 secs
 
";

const METRICS: &[(&str, f64)] = &[
    ("requests_per_second", 500.0),
    ("requests", 1000.0),
    ("errors", 0.0),
    ("successful_requests", 1000.0),
    ("duration", 2.0),
    ("latency_avg", 0.25),
    ("latency_min", 0.1),
    ("latency_max", 0.9),
    ("concurrency", 9.5),
    ("body_bytes", 3.5 * MIB),
    ("body_bytes_per_second", 1.75 * MIB),
];

#[test]
fn forms_that_mean_the_same() {
    let collapsed = REPORT.replace('\t', " ").split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    let coloured = REPORT.replace("siege...\nLifting", "siege...\x1b[0mHTTP/1.1 200     0.00 secs:      11 bytes ==> GET  /\r\nLifting");
    let before_4_1 = REPORT.replace("0.90 secs", "0.90").replace("0.10 secs", "0.10");
    for text in [REPORT.to_owned(), collapsed, coloured, before_4_1, REPORT.replace('.', ",").replace("battle,", "battle.")] {
        let found = parse("siege", b"", text.as_bytes(), 0);
        assert!(found.ok && found.problems.is_empty(), "{text}: {found:?}");
        assert_metrics(&found, METRICS, &text);
    }
}

#[test]
fn reports_that_must_not_be_believed() {
    let without = |line: &str| REPORT.lines().filter(|known| !known.contains(line)).collect::<Vec<_>>().join("\n");
    let failed = REPORT.replace("           0\n", "           8\n").replace("100.00 %", "99.21 %");
    let table = [
        (REPORT.replace("    1000\n", "     990\n"), Some("10 of 1000 transactions were answered with a status of 400 or more")),
        (REPORT.replace("    1000\n", "    1003\n"), None),
        (failed.clone(), Some("8 failed transactions")),
        (failed.replace("99.21", "100.00"), Some(CONTRADICTION)),
        (failed.replace("siege...\nL", "siege...[\x1b[1;33merror\x1b[0m] socket: read error\nL"), Some("`socket: read error`")),
        (REPORT.replace("1000 hits", "100 hits"), Some(CONTRADICTION)),
        (REPORT.replace("0.10 secs", "0.30 secs"), Some(CONTRADICTION)),
        (REPORT.replace("0.90 secs", "0.09 secs"), Some(CONTRADICTION)),
        (without("Failed"), Some(CUT)),
        (without("Shortest"), Some(CUT)),
        (without("Elapsed"), Some(CUT)),
        (REPORT.replace("1.75 MB/sec", "1.75 MB"), Some(CUT)),
        (REPORT.replace("1000 hits", "1000"), Some(CUT)),
        (format!("[fatal] system resources exhausted\n{failed}"), Some("`system resources exhausted`")),
        (format!("{REPORT}{}", &REPORT[..100]), Some("the last run of siege has no report: it was interrupted")),
        ("sh: 1: siege: not found\n".to_owned(), Some("`sh: 1: siege: not found`")),
    ];
    for (text, problem) in table {
        let found = parse("siege", b"", text.as_bytes(), 0);
        assert_eq!(found.ok, problem.is_none(), "{text}: {found:?}");
        assert_eq!(found.problems.first().map(String::as_str), problem, "{text}");
        assert!(problem != Some(CONTRADICTION) || found.metrics.is_empty(), "{found:?}");
    }
}

#[test]
fn what_is_odd_is_said_and_still_ok() {
    let conflict = "CONFIG conflict: selected time and repetition based testing";
    let table = [
        (format!("[error] {conflict}\n[error] {conflict}\n{REPORT}"), format!("`{conflict}`")),
        (REPORT.replace("9.50", "4.90"), "of 10 users only 4.9 had a request under way on average: they pause without -b".to_owned()),
        (
            REPORT.replace("0.25", "0.00").replace("0.10 ", "0.00 "),
            "printed as 0.00, below the resolution, and therefore absent: latency_avg, latency_min".to_owned(),
        ),
        (format!("{REPORT}{REPORT}"), "several reports of siege: the last one counts".to_owned()),
    ];
    for (text, problem) in table {
        let found = parse("siege", b"", text.as_bytes(), 0);
        assert_eq!((found.ok, &found.problems), (true, &vec![problem]), "{text}");
    }
}

#[test]
fn documents_that_must_not_be_believed() {
    let document = String::from_utf8(fixture("siege", "json.txt")).expect("UTF-8");
    let table = [
        (document.replace("\"elapsed_time\"", "\"elapsed\""), CUT),
        (document.replace("        200,\n\t\"av", "        300,\n\t\"av"), CONTRADICTION),
        (document.replace("\"throughput\"", "\"concurrency\""), "the report of siege is damaged: it repeats a key"),
        (document.replace("\"availability\"", "\"ability\""), "the last JSON document is not a report of siege"),
    ];
    for (text, problem) in table {
        let found = parse("siege", text.as_bytes(), b"\n", 0);
        assert_eq!((found.ok, found.problems.first().map(String::as_str)), (false, Some(problem)), "{text}");
    }
    let found = parse("siege", &document.as_bytes()[..document.len() - 3], b"\n", 0);
    assert!(!found.ok && found.metrics.is_empty() && found.problems[0].starts_with("the last JSON document is cut off"), "{found:?}");
}
