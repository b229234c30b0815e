//! `dd`.

use super::{Case, assert_covers, check, parse};

const NO_TRANSFER: &str = "dd printed no transfer line (some busybox builds do not): bytes and rate are absent";
const NO_REPORT: &str = "no report of dd in the output (with `status=none` it prints nothing)";

const fn fine(file: &'static str, metrics: &'static [(&'static str, f64)]) -> Case {
    Case { file, exit: 0, ok: true, problems: &[], metrics }
}

const CASES: &[Case] = &[
    fine(
        "busybox_alpine_dd_third_line.txt",
        &[("bytes_per_second", 31_457_280.0 / 3.481202), ("duration", 3.481202), ("bytes", 31_457_280.0), ("records", 30.0)],
    ),
    Case { problems: &[NO_TRANSFER], ..fine("busybox_success.txt", &[("records", 100.0)]) },
    fine(
        "dd_de_DE.txt",
        &[("bytes_per_second", 104_857_600.0 / 1.3902), ("duration", 1.3902), ("bytes", 104_857_600.0), ("records", 100.0)],
    ),
    fine(
        "dd_ja_JP.txt",
        &[("bytes_per_second", 104_857_600.0 / 0.850259), ("duration", 0.850259), ("bytes", 104_857_600.0), ("records", 100.0)],
    ),
    Case {
        exit: 1,
        ok: false,
        problems: &["`dd: failed to open '/nonexistent': No such file or directory`", NO_REPORT, "exit code 1"],
        ..fine("gnu_error_enoent.txt", &[])
    },
    Case {
        exit: 1,
        ok: false,
        problems: &["`dd: error writing '/dev/full': No space left on device`", "exit code 1"],
        ..fine("gnu_error_enospc.txt", &[("duration", 0.000544729), ("bytes", 0.0), ("records", 0.0)])
    },
    fine("gnu_partial_records.txt", &[("bytes_per_second", 3.0 / 0.00668401), ("duration", 0.00668401), ("bytes", 3.0), ("records", 1.0)]),
    Case {
        exit: 1,
        ok: false,
        problems: &["`dd: error reading 'standard input': Resource temporarily unavailable`", "exit code 1"],
        ..fine("gnu_short_read_truncated.txt", &[("duration", 6.6018e-05), ("bytes", 0.0), ("records", 0.0)])
    },
    Case { ok: false, problems: &[NO_REPORT], ..fine("gnu_status_none.txt", &[]) },
    fine(
        "gnu_status_progress.txt",
        &[("bytes_per_second", 1_258_291_200.0 / 10.9496), ("duration", 10.9496), ("bytes", 1_258_291_200.0), ("records", 1200.0)],
    ),
    fine(
        "gnu_success.txt",
        &[("bytes_per_second", 104_857_600.0 / 0.964622), ("duration", 0.964622), ("bytes", 104_857_600.0), ("records", 100.0)],
    ),
    fine("gnu_tiny.txt", &[("bytes_per_second", 512.0 / 2.5398e-05), ("duration", 2.5398e-05), ("bytes", 512.0), ("records", 1.0)]),
    fine(
        "seed3_sh_time_bash.txt",
        &[("bytes_per_second", 31_457_280.0 / 0.307663), ("duration", 0.307663), ("bytes", 31_457_280.0), ("records", 30.0)],
    ),
    Case { problems: &[NO_TRANSFER], ..fine("seed3_sh_time_busybox.txt", &[("records", 100.0)]) },
    fine(
        "seed3_sh_time_dash.txt",
        &[("bytes_per_second", 31_457_280.0 / 0.155178), ("duration", 0.155178), ("bytes", 31_457_280.0), ("records", 30.0)],
    ),
];

#[test]
fn saved_outputs_of_dd() {
    check("dd", "dd", CASES);
    assert_covers("dd", CASES);
}

#[test]
fn odd_but_real_forms() {
    let table: &[(&str, bool, &[f64])] = &[
        // SIGUSR1 reports in between: the last counts.
        (
            "1+0 records in\n1+0 records out\n10 bytes copied, 1 s, 0.0 kB/s\n3+0 records in\n3+0 records out\n30 bytes copied, 2 s, 0.0 kB/s\n",
            true,
            &[15.0, 2.0, 30.0, 3.0],
        ),
        (
            "2+0 records in\n2+0 records out\n1000000 bytes (1.0 MB, 977 KiB) copied, 2 s, 500 kB/s\n",
            true,
            &[500_000.0, 2.0, 1_000_000.0, 2.0],
        ),
        // Progress without an end.
        ("1000000 bytes (1.0 MB, 977 KiB) copied, 2 s, 500 kB/s\n", false, &[]),
        (
            "dd: warning: partial read (3 bytes); suggest iflag=fullblock\n0+1 records in\n0+1 records out\n3 bytes copied, 2 s, 0.0 kB/s\n",
            true,
            &[1.5, 2.0, 3.0, 1.0],
        ),
        // The head of the number is lost.
        (
            "100+0 records in\n100+0 records out\n4857600 bytes (105 MB, 100 MiB) copied, 0.964622 s, 109 MB/s\n",
            false,
            &[4_857_600.0 / 0.964622, 0.964622, 4_857_600.0, 100.0],
        ),
        ("100+0 records in\n100+0 records out\n104857600 bytes (105 MB, 100 MiB) copied, 0.9646\n", false, &[100.0]),
        ("100+0 records in\n", false, &[]),
        ("0+0 records in\n0+0 records out\n0 bytes copied, 1.2e-05 s, 0.0 kB/s\n", false, &[1.2e-05, 0.0, 0.0]),
        ("1+0 records in\n1+0 records out\n512 bytes copied, 0 s, Infinity B/s\n", true, &[0.0, 512.0, 1.0]),
        ("sh: 1: dd: not found\n", false, &[]),
    ];
    for (text, ok, values) in table {
        let found = parse("dd", b"", text.as_bytes(), 0);
        assert_eq!(found.ok, *ok, "{text}: {found:?}");
        assert_eq!(found.metrics.iter().map(|metric| metric.value).collect::<Vec<f64>>(), *values, "{text}");
    }
}

#[test]
fn many_partial_reads_are_said() {
    let found = parse("dd", b"", b"0+30 records in\n0+30 records out\n", 0);
    assert_eq!(found.problems, [NO_TRANSFER, "30 blocks were read only in part: fewer bytes than bs times count"]);
}

#[test]
fn endless_complaints_are_cut_and_the_exit_code_is_still_said() {
    let text: String = (0..30_000).map(|n| format!("dd: error {n}\n")).collect();
    let found = parse("dd", b"", text.as_bytes(), 1);
    assert_eq!((found.ok, found.problems.len()), (false, 21));
    assert_eq!((found.problems[0].as_str(), found.problems[20].as_str()), ("`dd: error 0`", "exit code 1"));
}
