//! `time`.

use super::{Case, assert_covers, assert_metrics, check, fixture, parse};

const NO_REPORT: &str = "no complete `time` report (real, user, sys) in the output";
const PIPELINE: &str = "this `time` covers only the first command of a pipeline, and the output shows one; bash's keyword covers all of it";

const fn fine(file: &'static str, metrics: &'static [(&'static str, f64)]) -> Case {
    Case { file, exit: 0, ok: true, problems: &[], metrics }
}

const CASES: &[Case] = &[
    fine("bash_keyword.txt", &[("real", 0.136), ("user", 0.001), ("sys", 0.0)]),
    fine("bash_time_de_DE.txt", &[("real", 0.128), ("user", 0.002), ("sys", 0.0)]),
    fine("busybox_ash_keyword.txt", &[("real", 0.12), ("user", 0.0), ("sys", 0.0)]),
    fine("busybox_over_minute.txt", &[("real", 61.01), ("user", 0.0), ("sys", 0.0)]),
    fine("busybox_time_applet.txt", &[("real", 0.12), ("user", 0.0), ("sys", 0.0)]),
    fine("busybox_time_p.txt", &[("real", 0.13), ("user", 0.0), ("sys", 0.0)]),
    Case {
        problems: &["busybox prints the resident set in the wrong unit: `max_resident` is absent"],
        ..fine("busybox_time_v.txt", &[("real", 0.12), ("user", 0.0), ("sys", 0.0)])
    },
    fine("cpu_bash_pipeline.txt", &[("real", 3.528), ("user", 0.184), ("sys", 0.456)]),
    Case { problems: &[PIPELINE], ..fine("cpu_busybox_dd_only.txt", &[("real", 3.76), ("user", 0.0), ("sys", 0.37)]) },
    Case {
        exit: 3,
        ok: false,
        problems: &["the timed command failed: `Command exited with non-zero status 3`", "exit code 3"],
        ..fine("gnu_nonzero_exit.txt", &[("real", 0.0), ("user", 0.0), ("sys", 0.0), ("max_resident", 1_658_880.0)])
    },
    fine("gnu_over_minute.txt", &[("real", 61.01), ("user", 0.0), ("sys", 0.0), ("max_resident", 1_822_720.0)]),
    fine("gnu_time_de_DE.txt", &[("real", 0.12), ("user", 0.0), ("sys", 0.0), ("max_resident", 4_341_760.0)]),
    fine("gnu_time_ja_JP.txt", &[("real", 0.21), ("user", 0.0), ("sys", 0.0), ("max_resident", 2_502_656.0)]),
    fine("gnu_usr_bin_time_default.txt", &[("real", 0.13), ("user", 0.0), ("sys", 0.0), ("max_resident", 1_695_744.0)]),
    fine("gnu_usr_bin_time_p.txt", &[("real", 0.13), ("user", 0.0), ("sys", 0.0)]),
    fine("gnu_usr_bin_time_v.txt", &[("real", 0.12), ("user", 0.0), ("sys", 0.0), ("max_resident", 1_683_456.0)]),
    Case {
        exit: 127,
        ok: false,
        problems: &["`time` was not found: this shell has no such keyword and the image no such program", NO_REPORT, "exit code 127"],
        ..fine("not_found_dash.txt", &[])
    },
    fine("pipeline_busybox_times_first_cmd_only.txt", &[("real", 0.12), ("user", 0.0), ("sys", 0.0)]),
    Case {
        problems: &["8 `time` reports: the last one counts"],
        ..fine("seed3_busybox_samples.txt", &[("real", 3.4), ("user", 0.0), ("sys", 3.28)])
    },
    Case {
        exit: 127,
        ok: false,
        problems: &["a command was not found: `/bin/bash: line 1: zsh: command not found`", NO_REPORT, "exit code 127"],
        ..fine("zsh_missing.txt", &[])
    },
];

#[test]
fn saved_outputs_of_time() {
    check("time", "time", CASES);
    assert_covers("time", CASES);
}

#[test]
fn time_stands_among_the_output_of_what_it_timed() {
    let under_dd = [
        // Written so because the lint takes it for 1/pi.
        fine("seed3_sh_time_bash.txt", &[("real", 318.0 / 1000.0), ("user", 0.05), ("sys", 0.088)]),
        Case { problems: &[PIPELINE], ..fine("seed3_sh_time_busybox.txt", &[("real", 1.29), ("user", 0.0), ("sys", 0.32)]) },
        Case {
            problems: &[PIPELINE],
            ..fine("seed3_sh_time_dash.txt", &[("real", 0.15), ("user", 0.0), ("sys", 0.08), ("max_resident", 2_871_296.0)])
        },
    ];
    for case in under_dd {
        let found = parse("time", &fixture("dd", case.file), b"", case.exit);
        assert!(found.ok, "{}", case.file);
        assert_eq!(found.problems, case.problems, "{}", case.file);
        assert_metrics(&found, case.metrics, case.file);
    }
    let around_sysbench = [
        fine("cpu_legacy_syntax_seed3.txt", &[("real", 1.439), ("user", 0.413), ("sys", 0.0)]),
        fine("cpu_verbosity0.txt", &[("real", 0.163), ("user", 0.031), ("sys", 0.0)]),
    ];
    check("time", "sysbench", &around_sysbench);
}

fn verbose(elapsed: &str) -> String {
    format!(
        "\tCommand being timed: \"x\"\n\tUser time (seconds): 0.10\n\tSystem time (seconds): 0.20\n\tElapsed (wall clock) time (h:mm:ss or m:ss): {elapsed}\n\tMaximum resident set size (kbytes): 9\n\tExit status: 0\n"
    )
}

#[test]
fn odd_but_real_forms() {
    let table: &[(&str, bool, Option<f64>)] = &[
        ("real\t1h 1m 01s\nuser\t0m 0.00s\nsys\t0m 0.00s\n", true, Some(3661.0)),
        ("real 61m1.009s\r\nuser 0m0.000s\r\nsys 0m0.000s\r\n", true, Some(3661.009)),
        ("\x1b[1mreal\x1b[0m 0.25\nuser 0.10\nsys 0.05\n", true, Some(0.25)),
        ("0.00user 0.00system 1:01:02elapsed 0%CPU (0avgtext+0avgdata 9maxresident)k\n", true, Some(3662.0)),
        ("0.00user 0.00system 0:00.01elapsed ?%CPU (0avgtext+0avgdata 9maxresident)k\n", true, Some(0.01)),
        (&verbose("0:00.50"), true, Some(0.5)),
        (&verbose("1:02:03"), true, Some(3723.0)),
        (&verbose("0m 0.50s"), true, Some(0.5)),
        (&verbose("nonsense"), false, None),
        (&format!("{}{}", verbose("0:00.50"), verbose("0:00.70").replace("Command being timed", "Comand")), false, Some(0.5)),
        (&verbose("0:00.50").replace("status: 0", "status: 2"), false, Some(0.5)),
        // A pipeline hides these behind exit code 0.
        ("Command terminated by signal 9\n0.00user 0.00system 0:00.01elapsed 0%CPU (0avgtext+0avgdata 9maxresident)k\n", false, Some(0.01)),
        ("time: can't execute 'x': No such file or directory\nreal\t0m 0.00s\nuser\t0m 0.00s\nsys\t0m 0.00s\n", false, Some(0.0)),
        ("bash: line 1: nosuch: command not found\n\nreal\t0m0.001s\nuser\t0m0.001s\nsys\t0m0.000s\n", false, Some(0.001)),
        // Damaged, cut off, or not of `time`.
        ("real\t0m0.136s\nuser\t0m0.001s\n", false, None),
        ("real\t0m0.136s\nsys\t0m0.001s\n", false, None),
        ("real\t0m0.136s\nuser\t0m0.001s\nsys\t0m0.000s\nreal\t0m0.2\n", false, Some(0.136)),
        ("user\t0m0.001s\nsys\t0m0.000s\n", false, None),
        ("real 5\nuser 3\nsys 2\n", false, None),
        ("real nan\nuser nan\nsys nan\n", false, None),
    ];
    for (text, ok, real) in table {
        let found = parse("time", b"", text.as_bytes(), 0);
        assert_eq!(found.ok, *ok, "{text}: {found:?}");
        assert_eq!(found.metrics.first().map(|metric| metric.value), *real, "{text}");
    }
}

#[test]
fn standard_error_wins_over_what_the_program_prints() {
    let found = parse("time", b"real 9.99\nuser 9.99\nsys 9.99\n", b"real 0.10\nuser 0.01\nsys 0.02\n", 0);
    assert_metrics(&found, &[("real", 0.1), ("user", 0.01), ("sys", 0.02)], "both streams");
}
