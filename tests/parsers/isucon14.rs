//! The benchmarker of ISUCON 14. Every output is CONSTRUCTED in the published form of its lines, with invented numbers.

use super::{Case, assert_covers, check, parse};

const fn fine(file: &'static str, metrics: &'static [(&'static str, f64)]) -> Case {
    Case { file, exit: 0, ok: true, problems: &[], metrics }
}

const FAILED: &str = "the benchmarker says that the run failed (`pass=false`): its score does not count";

const CASES: &[Case] = &[
    Case {
        ok: false,
        problems: &[
            FAILED,
            "`msg=クリティカルエラーが発生しました error=発生しているエラーが多すぎます`",
            "the benchmarker counted 201 errors (code:count): 1:100 2:3 14:98",
        ],
        ..fine("failed_constructed.txt", &[("score", 3120.0), ("errors", 201.0)])
    },
    Case {
        ok: false,
        problems: &[
            "`msg=initializeに失敗しました error=\"Post \\\"http://localhost:8080/api/initialize\\\": context deadline exceeded\"`",
            "no result of the benchmarker of ISUCON 14 in the output (no line `msg=結果`); its last line is `time=08:00:30.014 level=INFO msg=負荷走行が終了しました`",
        ],
        ..fine("initialize_failed_constructed.txt", &[])
    },
    fine("isucon14_contestant_log_constructed.txt", &[("score", 1137.0), ("errors", 0.0)]),
    Case {
        problems: &["the benchmarker counted 1 errors (code:count): 26:1", "several runs of the benchmarker: the last one counts"],
        ..fine("warned_constructed.txt", &[("score", 1304.0), ("errors", 1.0)])
    },
];

#[test]
fn saved_outputs_of_isucon14() {
    check("isucon14", "isucon14", CASES);
    assert_covers("isucon14", CASES);
}

#[test]
fn only_a_whole_line_is_a_result() {
    let line = "time=15:05:10.122 level=INFO msg=結果 pass=true スコア=1137 種別エラー数=map[]";
    let none = "no result of the benchmarker of ISUCON 14";
    let table = [
        (line.to_owned(), None),
        ("結果  pass=true\tスコア=1137 種別エラー数=map[26:1]".to_owned(), None),
        (line.replace("pass=true", "pass=false"), Some(FAILED)),
        (line.replace("map[]", "map["), Some(none)),
        (line.replace("map[]", "map[1:2 3:4]"), Some(none)),
        (line.replace("map[]", "map[1:]"), Some(none)),
        (line.replace("1137", "-1137"), Some(none)),
        (line.replace("1137", ""), Some(none)),
        (format!("{line}\ntime=15:06:00.000 level=INFO msg=負荷走行を開始します\n"), Some(none)),
    ];
    for (text, problem) in table {
        let text = format!("msg=負荷走行を開始します\n{text}\n");
        let found = parse("isucon14", text.as_bytes(), b"", 0);
        let first = found.problems.first().map(String::as_str).unwrap_or_default();
        assert!(found.ok || first.starts_with(problem.unwrap_or_default()), "{text}: {found:?}");
        assert_eq!((found.ok, found.metrics.len()), (problem.is_none(), if problem == Some(none) { 0 } else { 2 }), "{text}: {found:?}");
    }
}
