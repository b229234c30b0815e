//! The benchmarker of private-isu. `private_isu_readme.txt` is the sample of its README; every other output is CONSTRUCTED in the same form.

use super::{Case, assert_covers, check, parse};

const fn fine(file: &'static str, metrics: &'static [(&'static str, f64)]) -> Case {
    Case { file, exit: 0, ok: true, problems: &[], metrics }
}

const FAILED: &str = "the benchmarker says that the run failed (`pass` is false): its score does not count";

const CASES: &[Case] = &[
    Case {
        ok: false,
        problems: &[
            "2210 requests failed and only 14 succeeded",
            "`リクエストに失敗しました (GET /)`",
            "the score is 0, and the benchmarker cuts it off there: it does not tell how bad the run was",
        ],
        ..fine("everything_failed_constructed.txt", &[("score", 0.0), ("successes", 14.0), ("errors", 2210.0)])
    },
    Case {
        exit: 2,
        ok: false,
        problems: &[FAILED, "`ユーザー名が表示されていません (GET /@mary)`", "exit code 2"],
        ..fine("failed_with_points_constructed.txt", &[("score", 12345.0), ("successes", 8123.0), ("errors", 3.0)])
    },
    Case {
        problems: &[
            "`リクエストがタイムアウトしました (GET /)`",
            "`静的ファイルが正しくありません (GET /css/style.css)`",
            "31 requests failed: each costs points, and the benchmarker passes the run all the same",
        ],
        ..fine("failures_passed_constructed.txt", &[("score", 2105.0), ("successes", 2394.0), ("errors", 31.0)])
    },
    Case {
        problems: &["several results: the last one counts"],
        ..fine("logs_and_two_results_constructed.txt", &[("score", 1702.0), ("successes", 1421.0), ("errors", 0.0)])
    },
    Case {
        exit: 2,
        ok: false,
        problems: &[
            "no result of the benchmarker of private-isu in the output (no JSON document in the output); its last line is `exit status 2`",
            "exit code 2",
        ],
        ..fine("panicked_constructed.txt", &[])
    },
    Case {
        exit: 2,
        ok: false,
        problems: &[FAILED, "`初期化リクエストに失敗しました`", "exit code 2"],
        ..fine("private_isu_init_fail_constructed.txt", &[("score", 0.0), ("successes", 0.0), ("errors", 1.0)])
    },
    fine("private_isu_readme.txt", &[("score", 1710.0), ("successes", 1434.0), ("errors", 0.0)]),
    Case {
        problems: &[
            "`リクエストがタイムアウトしました (GET /)`",
            "95 requests failed: each costs points, and the benchmarker passes the run all the same",
            "the score is 0, and the benchmarker cuts it off there: it does not tell how bad the run was",
        ],
        ..fine("score_zero_constructed.txt", &[("score", 0.0), ("successes", 210.0), ("errors", 95.0)])
    },
];

#[test]
fn saved_outputs_of_private_isu() {
    check("private-isu", "private-isu", CASES);
    assert_covers("private-isu", CASES);
}

#[test]
fn results_that_must_not_be_believed() {
    let line = r#"{"pass":true,"score":1710,"success":1434,"fail":0,"messages":[]}"#;
    let no = "no result of the benchmarker of private-isu in the output";
    let table = [
        (line.to_owned(), String::new()),
        (line.replace("1710", "0"), String::new()),
        (line.replace("1434", "0"), "no request succeeded".to_owned()),
        (line.replace("\"fail\":0,", ""), "the result is damaged: it lacks `success` or `fail`".to_owned()),
        (line.replace("1710", "17.5"), format!("{no} (the last JSON document has no `pass` (true or false) and `score` (a whole number))")),
        (line.replace("1710", "-3"), format!("{no} (the last JSON document has no `pass`")),
        (line.replace("true", "\"true\""), format!("{no} (the last JSON document has no `pass`")),
        (line.replace("\"fail\"", "\"score\":3,\"fail\""), format!("{no} (the last JSON document gives a key two values)")),
        // An earlier result does not stand in for the last one.
        (format!("{line}\n{}", &line[..30]), format!("{no} (the last JSON document is cut off")),
    ];
    for (text, problem) in table {
        let found = parse("private-isu", text.as_bytes(), b"", 0);
        let first = found.problems.first().map(String::as_str).unwrap_or_default();
        assert!(found.ok == problem.is_empty() && first.starts_with(&problem), "{text}: {found:?}");
    }
}
