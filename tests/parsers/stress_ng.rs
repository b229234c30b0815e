//! `stress-ng`.

use super::{Case, assert_covers, assert_metrics, check, parse};
use shakedown::model::metric::Parsed;

const NO_METRICS: &str = "no metrics of stress-ng in the output: add `--metrics-brief`";
const CUT: &str = "the metrics of stress-ng are damaged or cut off";

const fn fine(file: &'static str, metrics: &'static [(&'static str, f64)]) -> Case {
    Case { file, exit: 0, ok: true, problems: &[], metrics }
}

const CASES: &[Case] = &[
    fine(
        "cpu_metrics.txt",
        &[
            ("bogo_ops_per_second", 494.32),
            ("bogo_ops_per_cpu_second", 1058.41),
            ("bogo_ops", 1006.0),
            ("duration", 2.04),
            ("user", 0.94),
            ("sys", 0.01),
            ("cpu_usage", 0.2335),
            ("max_resident", 3148.0 * 1024.0),
        ],
    ),
    fine(
        "cpu_metrics_brief.txt",
        &[
            ("bogo_ops_per_second", 620.8),
            ("bogo_ops_per_cpu_second", 1656.72),
            ("bogo_ops", 1260.0),
            ("duration", 2.03),
            ("user", 0.75),
            ("sys", 0.01),
        ],
    ),
    Case {
        problems: &[
            "several stressors (cpu, vm, hdd), whose operations are not the same: a sum means nothing and is absent; run each as a workload of its own",
        ],
        ..fine("multi_stressors.txt", &[])
    },
    Case { ok: false, problems: &[NO_METRICS], ..fine("no_metrics.txt", &[]) },
    fine(
        "ops_limit.txt",
        &[
            ("bogo_ops_per_second", 675.37),
            ("bogo_ops_per_cpu_second", 1634.91),
            ("bogo_ops", 200.0),
            ("duration", 0.3),
            ("user", 0.12),
            ("sys", 0.0),
        ],
    ),
    fine(
        "perf_denied.txt",
        &[
            ("bogo_ops_per_second", 704.95),
            ("bogo_ops_per_cpu_second", 1654.04),
            ("bogo_ops", 706.0),
            ("duration", 1.0),
            ("user", 0.41),
            ("sys", 0.01),
        ],
    ),
    fine(
        "stress-ng_de_DE.txt",
        &[
            ("bogo_ops_per_second", 319.89),
            ("bogo_ops_per_cpu_second", 1676.25),
            ("bogo_ops", 321.0),
            ("duration", 1.0),
            ("user", 0.19),
            ("sys", 0.0),
        ],
    ),
    fine(
        "stress-ng_ja_JP.txt",
        &[
            ("bogo_ops_per_second", 465.09),
            ("bogo_ops_per_cpu_second", 1712.75),
            ("bogo_ops", 468.0),
            ("duration", 1.01),
            ("user", 0.27),
            ("sys", 0.0),
        ],
    ),
    Case {
        ok: false,
        problems: &["the stressor `vm` did nothing: 0 operations"],
        ..fine("verify_fail_oom.txt", &[("bogo_ops_per_second", 0.0), ("bogo_ops", 0.0), ("duration", 1.0), ("user", 0.0), ("sys", 0.0)])
    },
    Case {
        problems: &[
            "several stressors (cpu, vm), whose operations are not the same: a sum means nothing and is absent; run each as a workload of its own",
        ],
        ..fine("yaml.txt", &[])
    },
];

#[test]
fn saved_outputs_of_stress_ng() {
    check("stress-ng", "stress-ng", CASES);
    assert_covers("stress-ng", CASES);
}

fn read(text: &str) -> Parsed {
    parse("stress-ng", b"", text.as_bytes(), 0)
}

const LOG: &str = "\
stress-ng: info:  [7] setting to a 2 secs run per stressor
stress-ng: info:  [7] dispatching hogs: 2 cpu
stress-ng: metrc: [7] stressor       bogo ops real time  usr time  sys time   bogo ops/s     bogo ops/s CPU used per       RSS Max
stress-ng: metrc: [7]                           (secs)    (secs)    (secs)   (real time) (usr+sys time) instance (%)          (KB)
stress-ng: metrc: [7] cpu                1000      2.00      0.80      0.20       500.00        1000.00        25.00          4096
stress-ng: info:  [7] skipped: 0
stress-ng: info:  [7] passed: 2: cpu (2)
stress-ng: info:  [7] failed: 0
stress-ng: info:  [7] metrics untrustworthy: 0
stress-ng: info:  [7] successful run completed in 2.01 secs
";
const YAML: &str = "\
---
system-info:
      cpus: 2

metrics:
    - stressor: cpu
      bogo-ops: 1000
      bogo-ops-per-second-usr-sys-time: 1000.123456
      bogo-ops-per-second-real-time: 500.123456
      wall-clock-time: 1.999506
      user-time: 0.799877
      system-time: 0.200000
      cpu-usage-per-instance: 25.004102
      max-rss: 4096

times:
      run-time: 2.010000
...
";

#[test]
fn the_file_takes_the_place_of_the_rounded_numbers() {
    let metrics = &[
        ("bogo_ops_per_second", 500.123456),
        ("bogo_ops_per_cpu_second", 1000.123456),
        ("bogo_ops", 1000.0),
        ("duration", 1.999506),
        ("user", 0.799877),
        ("sys", 0.2),
        ("cpu_usage", 0.25004102),
        ("max_resident", 4_194_304.0),
    ];
    let with_log = parse("stress-ng", YAML.as_bytes(), LOG.as_bytes(), 0);
    for (found, how) in [(with_log, "with its log"), (read(&format!("{LOG}{YAML}")), "behind it"), (read(YAML), "alone")] {
        assert!(found.ok && found.problems.is_empty(), "{how}: {found:?}");
        assert_metrics(&found, metrics, how);
    }
    let differs = "the file of --yaml is damaged, or counts other operations than the log: the rounded numbers of the log count";
    for yaml in [YAML.replace("bogo-ops: 1000", "bogo-ops: 999"), YAML.replace("...\n", ""), YAML.replace("user-time", "use-time")] {
        let found = read(&format!("{LOG}{yaml}"));
        assert_eq!((found.ok, found.metrics[0].value, &found.problems[..]), (true, 500.0, &[differs.to_owned()][..]), "{yaml}");
    }
    for yaml in [YAML.replace("...\n", ""), YAML.replace("user-time", "use-time")] {
        let found = read(&yaml);
        assert_eq!((found.ok, found.metrics.len(), &found.problems[..]), (false, 0, &[CUT.to_owned()][..]), "{yaml}");
    }
}

#[test]
fn rows_of_every_version_are_read() {
    let brief = LOG.replace("        25.00          4096", "");
    let old = brief.replace("metrc", "info ").replace("info : [7]", "info:  [7]");
    let without_memory = LOG.replace("          4096", "");
    for (text, names) in [(brief, 6), (old, 6), (without_memory, 7), (LOG.replace("  ", " ").replace("  ", " "), 8)] {
        let found = read(&text);
        assert_eq!((found.ok, found.problems.len(), found.metrics.len()), (true, 0, names), "{text}: {found:?}");
    }
}

#[test]
fn runs_that_must_not_be_believed() {
    let without = |line: &str| LOG.lines().filter(|known| !known.contains(line)).collect::<Vec<_>>().join("\n");
    let contradiction = "the metrics of stress-ng contradict themselves: a rate is not its operations over its time";
    let unended = "the log of stress-ng does not tell of a successful run: it was interrupted, or is cut off";
    let table = [
        (LOG.to_owned(), true, None),
        (LOG.replace("500.00", "600.00"), false, Some(contradiction)),
        (LOG.replace("1000.00 ", "2000.00 "), false, Some(contradiction)),
        (LOG.replace("500.00", "500.0"), false, Some(CUT)),
        (without("1000 "), false, Some(NO_METRICS)),
        (without("successful run"), false, Some(unended)),
        (without("dispatching"), false, Some(CUT)),
        // One row of two may not pass for the whole.
        (LOG.replace("2 cpu\n", "2 cpu, 1 vm\n"), false, Some("metrics of 1 of 2 stressors only")),
        (LOG.replace("successful run", "unsuccessful run"), false, Some("`unsuccessful run completed in 2.01 secs`")),
        (LOG.replace("failed: 0", "failed: 1: cpu (1)"), false, Some("1 instances of stressors failed")),
        (LOG.replace("skipped: 0", "skipped: 2: cpu (2)"), false, Some("2 instances of stressors were skipped")),
        (
            LOG.replace("untrustworthy: 0", "untrustworthy: 1: cpu (1)"),
            false,
            Some("stress-ng does not trust the metrics of 1 instances itself"),
        ),
        (format!("stress-ng: fail:  [8] cpu: verification failed\n{LOG}"), false, Some("`cpu: verification failed`")),
        (format!("{LOG}stress-ng: info:  [9] dispatching hogs: 2 cpu\n"), false, Some(NO_METRICS)),
        (format!("{LOG}{LOG}"), true, Some("several runs of stress-ng: the last one counts")),
        ("bash: stress-ng: command not found\n".to_owned(), false, Some("`bash: stress-ng: command not found`")),
    ];
    for (text, ok, problem) in table {
        let found = read(&text);
        assert_eq!((found.ok, found.problems.first().map(String::as_str)), (ok, problem), "{text}: {found:?}");
        let unknown = matches!(problem, Some(CUT | NO_METRICS)) || problem == Some(contradiction);
        assert!(!unknown || found.metrics.is_empty(), "{text}: {found:?}");
    }
}
