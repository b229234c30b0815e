//! The benchmarker of ISUCON 13. Every output is CONSTRUCTED in the published form of its lines, with invented numbers.

use super::{Case, assert_covers, check, fixture, parse};

const fn fine(file: &'static str, metrics: &'static [(&'static str, f64)]) -> Case {
    Case { file, exit: 0, ok: true, problems: &[], metrics }
}

const LOG: &[(&str, f64)] =
    &[("score", 18993.0), ("dns_resolutions", 15102.0), ("errors_dns", 27.0), ("viewers", 118.0), ("duration", 60.754321987)];

const CASES: &[Case] = &[
    Case {
        ok: false,
        problems: &[
            "no result of the benchmarker of ISUCON 13 in the output (no JSON document in the output); its last line is `2024-05-04T03:21:10.155Z\tinfo\tstaff-logger\tbench/bench.go:260\tベンチマーク走行時間: 1m0.754321987s`",
        ],
        ..fine("cut_off_constructed.txt", &[("duration", 60.754321987)])
    },
    fine("log_and_result_constructed.txt", LOG),
    fine("log_constructed.txt", LOG),
    Case {
        ok: false,
        problems: &[
            "the benchmarker says that the run failed (`pass` is false): its score does not count",
            "`整合性チェックに失敗しました`",
            "`[GET /api/tag] 期待するステータスコード 200 に対して 502 が返りました`",
        ],
        ..fine("pretest_failed_constructed.txt", &[("score", 0.0)])
    },
    Case {
        problems: &["`[一般エラー] ライブ配信予約の取得が遅れました`"],
        ..fine("result_file_constructed.txt", &[("score", 21840.0), ("dns_resolutions", 18442.0)])
    },
];

#[test]
fn saved_outputs_of_isucon13() {
    check("isucon13", "isucon13", CASES);
    assert_covers("isucon13", CASES);
}

#[test]
fn runs_that_must_not_be_believed() {
    let log = String::from_utf8(fixture("isucon13", "log_constructed.txt")).expect("text");
    let begin = "2024-05-04T03:30:00.121Z\tinfo\tisupipe-benchmarker\twebappの初期化を行います\n";
    let failure = "{\"pass\":false,\"score\":0,\"messages\":null,\"language\":\"\",\"resolved_count\":0}\n";
    let says = "the benchmarker says that the run failed (`pass` is false): its score does not count";
    let table = [
        (log.clone(), None),
        (format!("{log}{begin}{failure}"), Some(says)),
        (format!("{log}{failure}"), Some(says)),
        (format!("{log}{{\"pass\":true,\"score\":1}}\n"), Some("the result and the log contradict each other: their scores differ")),
        (
            format!("{log}{{\"pass\":true,\"sco"),
            Some("no result of the benchmarker of ISUCON 13 in the output (the last JSON document is cut off"),
        ),
        // An earlier run does not stand in for the last one.
        (format!("{log}{begin}"), Some("no result of the benchmarker of ISUCON 13 in the output (no JSON document in the output)")),
        (log.replace("スコア: ", "スコア: -"), Some("no result of the benchmarker of ISUCON 13")),
    ];
    for (text, problem) in table {
        let found = parse("isucon13", text.as_bytes(), b"", 0);
        let first = found.problems.first().map(String::as_str).unwrap_or_default();
        assert!(found.ok == problem.is_none() && first.starts_with(problem.unwrap_or_default()), "{text}: {found:?}");
    }
}

#[test]
fn the_last_of_several_runs_counts() {
    let log = String::from_utf8(fixture("isucon13", "log_constructed.txt")).expect("text");
    let found = parse("isucon13", format!("{log}{}", log.replace("スコア: 18993", "スコア: 19001")).as_bytes(), b"", 0);
    assert_eq!((found.ok, found.metrics[0].value), (true, 19001.0));
    assert_eq!(found.problems, ["several runs of the benchmarker: the last one counts"]);
}
