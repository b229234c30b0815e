//! `pgbench`.

use super::{Case, assert_covers, assert_metrics, check, parse};

const NO_REPORT: &str = "no report of pgbench in the output (`-i` prints none)";
const SCALE: &str =
    "the scaling factor 2 is below the 4 clients: every transaction updates one of as many rows, and they wait for each other";

const fn fine(file: &'static str, metrics: &'static [(&'static str, f64)]) -> Case {
    Case { file, exit: 0, ok: true, problems: &[], metrics }
}

const CASES: &[Case] = &[
    Case {
        exit: 1,
        ok: false,
        problems: &[
            "`pgbench: error: connection to server at \"127.0.0.1\", port 1 failed: Connection refused`",
            "`pgbench: error: could not create connection for setup`",
            NO_REPORT,
            "exit code 1",
        ],
        ..fine("conn_refused.txt", &[])
    },
    fine(
        "connect_each_C.txt",
        &[
            ("transactions_per_second", 42.519529),
            ("transactions", 43.0),
            ("errors", 0.0),
            ("latency_avg", 0.047037),
            ("connect_avg", 0.023328),
        ],
    ),
    Case { ok: false, problems: &[NO_REPORT], ..fine("init.txt", &[]) },
    Case {
        exit: 1,
        ok: false,
        problems: &[
            "`pgbench: error: could not count number of branches: ERROR:  relation \"pgbench_branches\" does not exist`",
            NO_REPORT,
            "exit code 1",
        ],
        ..fine("not_initialised.txt", &[])
    },
    fine(
        "prepared.txt",
        &[
            ("transactions_per_second", 7273.501683),
            ("transactions", 7104.0),
            ("errors", 0.0),
            ("latency_avg", 0.000275),
            ("initial_connection_time", 0.027722),
        ],
    ),
    Case {
        problems: &[SCALE],
        ..fine(
            "progress.txt",
            &[
                ("transactions_per_second", 215.36877),
                ("transactions", 634.0),
                ("errors", 0.0),
                ("latency_avg", 0.018389),
                ("latency_stdev", 0.012258),
                ("initial_connection_time", 0.097549),
            ],
        )
    },
    fine(
        "progress_latency_r.txt",
        &[
            ("transactions_per_second", 174.296629),
            ("transactions", 353.0),
            ("errors", 0.0),
            ("latency_avg", 0.011475),
            ("initial_connection_time", 0.008173),
        ],
    ),
    Case {
        problems: &["48 transactions were not begun, because they were already above the latency limit: no latency counts them"],
        ..fine(
            "rate_limited_latency_limit.txt",
            &[
                ("transactions_per_second", 71.754172),
                ("transactions", 142.0),
                ("errors", 0.0),
                ("latency_avg", 0.015832),
                ("latency_stdev", 0.020973),
                ("initial_connection_time", 0.026006),
                ("schedule_lag_avg", 0.003992),
                ("schedule_lag_max", 0.167114),
                ("transactions_skipped", 48.0),
                ("transactions_above_limit", 114.0),
            ],
        )
    },
    fine(
        "select_only.txt",
        &[
            ("transactions_per_second", 5013.92362),
            ("transactions", 9883.0),
            ("errors", 0.0),
            ("latency_avg", 0.000798),
            ("initial_connection_time", 0.029165),
        ],
    ),
    Case {
        ok: false,
        problems: &["1914 transactions failed, after all their tries (`--max-tries`)"],
        ..fine(
            "serialization_failures.txt",
            &[
                ("transactions_per_second", 235.321986),
                ("transactions", 453.0),
                ("errors", 1914.0),
                ("latency_avg", 0.006506),
                ("initial_connection_time", 0.103668),
            ],
        )
    },
    Case {
        problems: &[SCALE],
        ..fine(
            "tpcb_default.txt",
            &[
                ("transactions_per_second", 260.481642),
                ("transactions", 783.0),
                ("errors", 0.0),
                ("latency_avg", 0.015356),
                ("initial_connection_time", 0.022833),
            ],
        )
    },
    fine(
        "transactions_fixed.txt",
        &[
            ("transactions_per_second", 158.527847),
            ("transactions", 200.0),
            ("errors", 0.0),
            ("latency_avg", 0.012616),
            ("initial_connection_time", 0.036209),
        ],
    ),
];

#[test]
fn saved_outputs_of_pgbench() {
    check("pgbench", "pgbench", CASES);
    assert_covers("pgbench", CASES);
}

/// As 10 to 13 write it.
const OLD: &str = "\
starting vacuum...end.
transaction type: <builtin: TPC-B (sort of)>
scaling factor: 10
query mode: simple
number of clients: 2
number of threads: 1
duration: 2 s
number of transactions actually processed: 400
latency average = 10.050 ms
tps = 199.000000 (including connections establishing)
tps = 199.500000 (excluding connections establishing)
";

#[test]
fn reports_of_older_versions_are_read() {
    let rates = &[("transactions_per_second", 199.5), ("transactions", 400.0), ("latency_avg", 0.01005)];
    assert_metrics(&parse("pgbench", OLD.as_bytes(), b"", 0), rates, "13");
    let older = OLD.replace("latency average =", "latency average:").replace("<builtin: TPC-B (sort of)>", "TPC-B (sort of)");
    assert_metrics(&parse("pgbench", older.as_bytes(), b"", 0), rates, "9.5");
    let oldest = older.replace("latency average: 10.050 ms\n", "");
    assert_metrics(&parse("pgbench", oldest.as_bytes(), b"", 0), &rates[..2], "9.3");
    let limited = OLD.replace(
        "latency average",
        "number of transactions skipped: 4 (1.000 %)\nnumber of transactions above the 50.0 ms latency limit: 7/400 (1.750 %)\nlatency average",
    );
    let found = parse("pgbench", limited.as_bytes(), b"", 0);
    assert_metrics(&found, &[rates[0], rates[1], rates[2], ("transactions_skipped", 4.0), ("transactions_above_limit", 7.0)], "9.6");
}

#[test]
fn reports_that_must_not_be_believed() {
    let contradiction =
        "the report of pgbench contradicts itself: its transactions, its rate, its latency, its clients and its duration do not fit";
    let cut = "the report of pgbench is damaged or cut off";
    let scale = "the scaling factor 1 is below the 2 clients: every transaction updates one of as many rows, and they wait for each other";
    let without = |line: &str| OLD.lines().filter(|known| !known.contains(line)).collect::<Vec<_>>().join("\n");
    let nothing = "transaction type: a.sql\nnumber of clients: 2\nduration: 2 s\nnumber of transactions actually processed: 0\nnumber of failed transactions: 0 (NaN%)\n";
    let several = concat!(
        "SQL script 1: a.sql\n - weight: 1 (targets 50.0% of total)\n",
        " - 200 transactions (50.0% of total, tps = 99.000000)\n - latency average = 1.000 ms\n"
    );
    let table = [
        (OLD.to_owned(), true, None),
        (format!("{OLD}{several}"), true, None),
        (OLD.replace("factor: 10", "factor: 1"), true, Some(scale)),
        (OLD.replace("factor: 10", "factor: 1").replace("TPC-B (sort of)", "select only"), true, None),
        (OLD.replace("processed: 400", "processed: 40"), false, Some(contradiction)),
        (OLD.replace("10.050 ms", "100.500 ms"), false, Some(contradiction)),
        (OLD.replace("199.000000", "299.000000"), false, Some(contradiction)),
        (OLD.replace("199.500000", "inf"), false, Some(cut)),
        (OLD.replace("10.050 ms", "10,050 ms"), false, Some(cut)),
        (OLD.replace("duration: 2 s", "number of transactions per client: 200").replace("d: 400", "d: 400/400"), true, None),
        (
            OLD.replace("duration: 2 s", "number of transactions per client: 500").replace("d: 400", "d: 400/1000"),
            false,
            Some("only 400 of 1000 transactions were processed: clients aborted"),
        ),
        (
            format!("{OLD}Run was aborted; the above results are incomplete.\n"),
            false,
            Some("`Run was aborted; the above results are incomplete.`"),
        ),
        (without("excluding"), false, Some(cut)),
        (without("clients"), false, Some(cut)),
        (without("processed"), false, Some(cut)),
        (nothing.to_owned(), false, Some("no transaction was completed")),
        (
            OLD.replace("latency average", "number of transactions retried: 5 (1.250%)\ntotal number of retries: 9\nlatency average"),
            true,
            Some("5 transactions were tried again"),
        ),
        (format!("{OLD}{OLD}"), true, Some("several reports of pgbench: the last one counts")),
        (format!("{OLD}transaction type: <builtin: select only>\nscaling factor: 1\n"), false, Some(NO_REPORT)),
    ];
    for (text, ok, problem) in table {
        let found = parse("pgbench", text.as_bytes(), b"", 0);
        assert_eq!((found.ok, found.problems.first().map(String::as_str)), (ok, problem), "{text}: {found:?}");
    }
}
