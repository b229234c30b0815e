//! The benchmarker of ISUCON 4. Every output is CONSTRUCTED in the published form of its lines, with invented numbers.

use super::{Case, assert_covers, check, parse};

const fn fine(file: &'static str, metrics: &'static [(&'static str, f64)]) -> Case {
    Case { file, exit: 0, ok: true, problems: &[], metrics }
}

const CASES: &[Case] = &[
    Case {
        exit: 137,
        ok: false,
        problems: &[
            "no result of the benchmarker of ISUCON 4 in the output (no line `type:score`); its last line is `10:15:40 type:fail\treason:Connection timeout\tmethod:POST\turi:/login`",
            "exit code 137",
        ],
        ..fine("cut_off_constructed.txt", &[])
    },
    Case {
        ok: false,
        problems: &[
            "no step succeeded, 15212 failed, the first with `reason:Get http://localhost/: dial tcp 127.0.0.1:80: connection refused method:GET uri:/`",
        ],
        ..fine("everything_failed_constructed.txt", &[("score", 0.0), ("successes", 0.0), ("errors", 15212.0)])
    },
    Case {
        exit: 1,
        ok: false,
        problems: &["`reason:init script failed log:exit status 1 message:Do not run benchmark`", "exit code 1"],
        ..fine("init_failed_constructed.txt", &[])
    },
    Case {
        exit: 1,
        ok: false,
        problems: &[
            "`reason:Missmatch banned IPs message:Report checking is failed. Do not send score.`",
            "exit code 1",
            "2 steps failed, the first with `reason:Connection timeout method:POST uri:/login`",
        ],
        ..fine(
            "isucon4_fail_constructed.txt",
            &[("score", 1131.0), ("successes", 5210.0), ("errors", 2.0), ("banned_ips", 12.0), ("locked_users", 2561.0)],
        )
    },
    fine(
        "pass_constructed.txt",
        &[("score", 38452.0), ("successes", 178000.0), ("errors", 0.0), ("banned_ips", 731.0), ("locked_users", 5324.0)],
    ),
    Case {
        problems: &[
            "1 steps failed, the first with `reason:Response code should be 200, got 500 method:GET uri:/`",
            "several runs of the benchmarker: the last one counts",
        ],
        ..fine(
            "two_runs_blanks_constructed.txt",
            &[("score", 910.0), ("successes", 4210.0), ("errors", 1.0), ("banned_ips", 9.0), ("locked_users", 2511.0)],
        )
    },
];

#[test]
fn saved_outputs_of_isucon4() {
    check("isucon4", "isucon4", CASES);
    assert_covers("isucon4", CASES);
}

#[test]
fn runs_that_must_not_be_believed() {
    let failed = "`reason:EOF message:Report checking is failed. Do not send score.`";
    let table = [
        ("type:score\tsuccess:10\tfail:0\tscore:2\n", None),
        ("04:03:18 type:score\tsuccess:10\tfail:10\tscore:2\n", None),
        ("04:03:18 type:score\tsuccess:10\tfail:11\tscore:2\n", Some("11 steps failed, and only 10 succeeded")),
        (
            "type:fail\treason:EOF\tmessage:Report checking is failed. Do not send score.\ntype:score\tsuccess:10\tfail:0\tscore:2\n",
            Some(failed),
        ),
        ("type:score\tsuccess:10\tfail:0\tscore:2x\n", Some("no result of the benchmarker of ISUCON 4")),
        ("type:score\tsuccess:10\tfail:\tscore:2\n", Some("no result of the benchmarker of ISUCON 4")),
        // An earlier run does not stand in for the last one.
        (
            "type:score\tsuccess:1\tfail:0\tscore:2\ntype:info\tmessage:launch benchmarker\n",
            Some("no result of the benchmarker of ISUCON 4"),
        ),
    ];
    for (text, problem) in table {
        let text = format!("type:info\tmessage:launch benchmarker\n{text}");
        let found = parse("isucon4", text.as_bytes(), b"", 0);
        let first = found.problems.first().map(String::as_str).unwrap_or_default();
        assert!(found.ok == problem.is_none() && first.starts_with(problem.unwrap_or_default()), "{text}: {found:?}");
    }
}

#[test]
fn a_score_that_could_not_be_sent_is_still_a_score() {
    let text = "type:fail\tmessage: Score sending failed\treason:timeout\n1:02:03 type:score success:10 fail:0 score:2\n";
    let found = parse("isucon4", text.as_bytes(), b"", 0);
    assert_eq!((found.ok, &found.problems[..]), (true, &["`message: Score sending failed reason:timeout`".to_owned()][..]));
}
