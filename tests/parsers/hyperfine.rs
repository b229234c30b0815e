//! `hyperfine`.

use super::{Case, assert_covers, assert_metrics, check, fixture, parse};

const ROUNDED: &str = "the text of hyperfine is rounded: `--export-json` is exact";
const NO_RESULT: &str = "the last benchmark of hyperfine has no result: it failed, or the output is cut off";

const fn fine(file: &'static str, metrics: &'static [(&'static str, f64)]) -> Case {
    Case { file, exit: 0, ok: true, problems: &[], metrics }
}

const fn text(file: &'static str, metrics: &'static [(&'static str, f64)]) -> Case {
    Case { problems: &[ROUNDED], ..fine(file, metrics) }
}

const CASES: &[Case] = &[
    fine(
        "csv_export.txt",
        &[
            ("real_avg", 0.0245191112),
            ("real_stdev", 0.002709097020415788),
            ("real_min", 0.02128427),
            ("real_max", 0.028586242),
            ("real_p50", 0.02373398),
            ("user", 0.0008692),
            ("sys", 0.0002416),
        ],
    ),
    Case {
        exit: 1,
        ok: false,
        problems: &[
            "`Error: Command terminated with non-zero exit code: 3. Use the '-i'/'--ignore-failure' option if you want to ignore this. Alternatively, use the '--show-output' ...`",
            NO_RESULT,
            "exit code 1",
        ],
        ..fine("fail.txt", &[])
    },
    text(
        "hyperfine_de_DE.txt",
        &[
            ("real_avg", 0.0273),
            ("real_stdev", 0.0118),
            ("real_min", 0.018),
            ("real_max", 0.0405),
            ("user", 0.0011),
            ("sys", 0.0),
            ("runs", 3.0),
        ],
    ),
    text(
        "hyperfine_ja_JP.txt",
        &[
            ("real_avg", 0.0142),
            ("real_stdev", 0.0026),
            ("real_min", 0.0114),
            ("real_max", 0.0166),
            ("user", 0.0011),
            ("sys", 0.0),
            ("runs", 3.0),
        ],
    ),
    Case {
        ok: false,
        problems: &[
            "`Warning: Ignoring non-zero exit code.`",
            "3 of 3 runs did not end with exit code 0",
            "`Warning: Command took less than 5 ms to complete. Note that the results might be inaccurate because hyperfine can not calibrate the shell startup time much more...`",
            "printed as 0, which is no time, and therefore absent: real_avg, real_min, real_max, real_p50",
        ],
        ..fine("ignore_failure.txt", &[("user", 0.0), ("sys", 0.0), ("runs", 3.0), ("errors", 3.0)])
    },
    fine(
        "json_export.txt",
        &[
            ("real_avg", 0.0241187504),
            ("real_stdev", 0.0027707940953488955),
            ("real_min", 0.021219194),
            ("real_max", 0.027347391000000002),
            ("real_p50", 0.024836238),
            ("user", 0.001069),
            ("sys", 0.0),
            ("runs", 5.0),
            ("errors", 0.0),
        ],
    ),
    text(
        "json_one_run.txt",
        &[
            ("real_avg", 0.0261),
            ("real_stdev", 0.0033),
            ("real_min", 0.0237),
            ("real_max", 0.0284),
            ("user", 0.001),
            ("sys", 0.0),
            ("runs", 2.0),
        ],
    ),
    fine(
        "json_single.txt",
        &[
            ("real_avg", 0.025116332),
            ("real_min", 0.025116332),
            ("real_max", 0.025116332),
            ("real_p50", 0.025116332),
            ("user", 0.001355),
            ("sys", 0.0),
            ("runs", 1.0),
            ("errors", 0.0),
        ],
    ),
    Case {
        ok: false,
        problems: &["hyperfine wrote its report as Markdown, which is rounded: use `--export-json`"],
        ..fine("md_export_params.txt", &[])
    },
    Case {
        problems: &[ROUNDED, "2 commands were timed: the last one counts"],
        ..fine(
            "text.txt",
            &[
                ("real_avg", 0.0339),
                ("real_stdev", 0.0022),
                ("real_min", 0.0318),
                ("real_max", 0.0389),
                ("user", 0.0011),
                ("sys", 0.0001),
                ("runs", 10.0),
            ],
        )
    },
    text(
        "text_one_run.txt",
        &[("real_avg", 0.0236), ("real_min", 0.0236), ("real_max", 0.0236), ("user", 0.0017), ("sys", 0.0), ("runs", 1.0)],
    ),
    text(
        "text_seconds.txt",
        &[
            ("real_avg", 1.105),
            ("real_stdev", 0.005),
            ("real_min", 1.102),
            ("real_max", 1.108),
            ("user", 0.001),
            ("sys", 0.0),
            ("runs", 2.0),
        ],
    ),
];

#[test]
fn saved_outputs_of_hyperfine() {
    check("hyperfine", "hyperfine", CASES);
    assert_covers("hyperfine", CASES);
}

const JSON: &str = r#"{"results": [{"command": "x", "mean": 2.0, "stddev": 1.0, "median": 2.0, "user": 0.5, "system": 0.25, "min": 1.0, "max": 3.0,
"times": [1.0, 3.0], "exit_codes": [0, 0]}]}"#;

#[test]
fn reports_that_must_not_be_believed() {
    let contradiction = "the report of hyperfine contradicts itself: its mean or its extremes are not those of its runs";
    let table = [
        (JSON.to_owned(), None),
        (JSON.replace("\"mean\": 2.0", "\"mean\": 2.5"), Some(contradiction)),
        (JSON.replace("\"max\": 3.0", "\"max\": 4.0"), Some(contradiction)),
        (JSON.replace("[1.0, 3.0]", "[1.0, 1.5, 3.0]"), Some(contradiction)),
        (JSON.replace("[1.0, 3.0]", "[1.0, null, 3.0]"), Some(contradiction)),
        (JSON.replace("\"median\": 2.0", "\"median\": 0.5"), Some(contradiction)),
        (JSON.replace("[0, 0]", "[0, null]"), Some("1 of 2 runs did not end with exit code 0")),
        (JSON.replace("\"mean\": 2.0", "\"mean\": null"), Some("a result of hyperfine has no `mean`")),
        (JSON.replace("results", "result"), Some("no report of hyperfine in the output")),
        (r#"{"results": []}"#.to_owned(), Some("the last JSON document is not a report of hyperfine, or has no results")),
        (format!("{JSON}\nBenchmark 1: x\nError: oops"), Some("`Error: oops`")),
        ("Benchmark 1: x\n  Time (mean ± σ):      26.1 ms ±   3.3 ms    [User: 1.0 ms, System: 0.0".to_owned(), Some(NO_RESULT)),
        ("sh: 1: hyperfine: not found\n".to_owned(), Some("`sh: 1: hyperfine: not found`")),
    ];
    for (text, problem) in table {
        let found = parse("hyperfine", text.as_bytes(), b"", 0);
        assert_eq!(found.ok, problem.is_none(), "{text}: {found:?}");
        assert_eq!(found.problems.first().map(String::as_str), problem, "{text}");
    }
    let cut = parse("hyperfine", &JSON.as_bytes()[..JSON.len() - 4], b"", 0);
    assert!(!cut.ok && cut.metrics.is_empty() && cut.problems[0].contains("cut off"), "{cut:?}");
}

#[test]
fn the_json_wins_over_the_text_and_the_last_command_counts() {
    let text = fixture("hyperfine", "text.txt");
    let found = parse("hyperfine", &[&text, JSON.as_bytes()].concat(), b"", 0);
    assert_eq!((found.ok, found.metrics[0].value, found.problems.len()), (true, 2.0, 0), "{found:?}");
    let parameters =
        "command,mean,stddev,median,user,system,min,max,parameter_t\nsleep 1,1,,1,0.5,0.25,1,1,1\n\"sleep 2, x\",2,0.5,2,0,0,1.5,2.5,2\n";
    let found = parse("hyperfine", parameters.as_bytes(), b"", 0);
    assert_eq!(found.problems, ["2 commands were timed: the last one counts"]);
    let expected =
        [("real_avg", 2.0), ("real_stdev", 0.5), ("real_min", 1.5), ("real_max", 2.5), ("real_p50", 2.0), ("user", 0.0), ("sys", 0.0)];
    assert_metrics(&found, &expected, parameters);
}

#[test]
fn microseconds_are_read_and_a_zero_is_no_time() {
    let text = "Benchmark 1: x\n  Time (mean ± σ):     250.5 µs ±  10.5 µs    [User: 0.0 µs, System: 0.0 µs]\n  Range (min … max):     0.0 µs … 300.5 µs    12 runs\n";
    let found = parse("hyperfine", text.as_bytes(), b"", 0);
    assert_eq!(found.problems, ["printed as 0, which is no time, and therefore absent: real_min", ROUNDED]);
    let expected =
        [("real_avg", 0.0002505), ("real_stdev", 0.0000105), ("real_max", 0.0003005), ("user", 0.0), ("sys", 0.0), ("runs", 12.0)];
    assert_metrics(&found, &expected, text);
}
