//! `mysqlslap`.

use super::{Case, assert_covers, check, parse};

const NO_RESULT: &str = "no result of mysqlslap in the output (`--silent` prints none, `--csv=FILE` writes it into the file)";
const SEVERAL: &str = "several results of mysqlslap (of several numbers of clients, or engines): the last one counts";
const ROUGH: &str = "mysqlslap prints whole milliseconds, and all queries took less than 50 of them: duration and rate are rough";
const CUT: &str = "the result of mysqlslap is damaged or cut off";

const fn fine(file: &'static str, metrics: &'static [(&'static str, f64)]) -> Case {
    Case { file, exit: 0, ok: true, problems: &[], metrics }
}

const CASES: &[Case] = &[
    Case {
        exit: 1,
        ok: false,
        problems: &["`mysqlslap: Error when connecting to server: Can't connect to server on '127.0.0.1' (115)`", NO_RESULT, "exit code 1"],
        ..fine("conn_error.txt", &[])
    },
    Case {
        problems: &[SEVERAL],
        ..fine(
            "csv.txt",
            &[
                ("queries_per_second", 400.0 / 0.216),
                ("duration", 0.216),
                ("duration_min", 0.132),
                ("duration_max", 0.301),
                ("queries", 400.0),
            ],
        )
    },
    fine(
        "csv_file.txt",
        &[("queries_per_second", 200.0 / 0.078), ("duration", 0.078), ("duration_min", 0.073), ("duration_max", 0.083), ("queries", 200.0)],
    ),
    Case {
        ok: false,
        problems: &["`mysqlslap: Error when connecting to server: 1049 Unknown database 'mysqlslap'`"],
        ..fine("custom_query.txt", &[("duration", 1.091), ("duration_min", 1.085), ("duration_max", 1.097)])
    },
    Case {
        problems: &[SEVERAL],
        ..fine(
            "multi_concurrency.txt",
            &[
                ("queries_per_second", 400.0 / 0.149),
                ("duration", 0.149),
                ("duration_min", 0.148),
                ("duration_max", 0.15),
                ("queries", 400.0),
            ],
        )
    },
    Case {
        problems: &["printed as 0.000, below the resolution, and therefore absent: duration, duration_min, duration_max"],
        ..fine("mysqlslap_de_DE.txt", &[("queries", 1.0)])
    },
    Case {
        problems: &[ROUGH],
        ..fine(
            "mysqlslap_ja_JP.txt",
            &[("queries_per_second", 1.0 / 0.033), ("duration", 0.033), ("duration_min", 0.033), ("duration_max", 0.033), ("queries", 1.0)],
        )
    },
    Case {
        ok: false,
        problems: &["`mysqlslap: Cannot run query select * from nope.nope ERROR : Table 'nope.nope' doesn't exist`", NO_RESULT],
        ..fine("query_error.txt", &[])
    },
    Case { ok: false, problems: &[NO_RESULT], ..fine("silent.txt", &[]) },
    Case { ok: false, problems: &[NO_RESULT], ..fine("version.txt", &[]) },
];

#[test]
fn saved_outputs_of_mysqlslap() {
    check("mysqlslap", "mysqlslap", CASES);
    assert_covers("mysqlslap", CASES);
}

const BLOCK: &str = "\
Benchmark
\tRunning for engine InnoDB
\tAverage number of seconds to run all queries: 0.200 seconds
\tMinimum number of seconds to run all queries: 0.100 seconds
\tMaximum number of seconds to run all queries: 0.300 seconds
\tNumber of clients running queries: 4
\tAverage number of queries per client: 100

";

#[test]
fn blocks_that_must_not_be_believed() {
    let without = |line: &str| BLOCK.lines().filter(|known| !known.contains(line)).collect::<Vec<_>>().join("\n");
    let contradiction = "the result of mysqlslap contradicts itself: its average is not between its minimum and its maximum";
    let table = [
        (BLOCK.to_owned(), true, None, Some(2000.0)),
        (
            format!("mysqlslap: [Warning] Using a password on the command line interface can be insecure.\n{BLOCK}"),
            true,
            None,
            Some(2000.0),
        ),
        (
            format!(
                "mysqlslap: Deprecated program name. It will be removed in a future release, use '/usr/bin/mariadb-slap' instead\n{BLOCK}"
            ),
            true,
            None,
            Some(2000.0),
        ),
        (
            format!("/usr/bin/mariadb-slap: Error when connecting to server: 1045\n{BLOCK}"),
            false,
            Some("`/usr/bin/mariadb-slap: Error when connecting to server: 1045`"),
            None,
        ),
        (BLOCK.replace("\t", " ").replace("  ", " "), true, None, Some(2000.0)),
        (without("Benchmark"), true, None, Some(2000.0)),
        (without("Average number of seconds"), false, Some(CUT), None),
        (without("Maximum"), false, Some(CUT), None),
        (without("Number of clients"), false, Some(CUT), None),
        (without("queries per client"), false, Some(CUT), None),
        (BLOCK.replace("0.200", "0,200"), false, Some(CUT), None),
        (BLOCK.replace("0.200", "0.400"), false, Some(contradiction), None),
        (
            BLOCK.replace("per client: 100", "per client: 0"),
            true,
            Some("mysqlslap says 0 queries per client: without `--number-of-queries` it does not know how many it ran"),
            None,
        ),
        (format!("{BLOCK}{}", BLOCK.replace("0.200", "0.250")), true, Some(SEVERAL), Some(1600.0)),
        // The last block is cut off: the one before it must not pass for it, nor lend it its lines.
        (format!("{BLOCK}{}", &BLOCK[..BLOCK.find("Maximum").expect("a line")]), false, Some(CUT), None),
        (format!("{BLOCK}InnoDB,mixed,0.100,0.100,0.100,8,100\n"), true, Some(SEVERAL), Some(8000.0)),
        ("bash: line 1: mysqlslap: command not found\n".to_owned(), false, Some("`bash: line 1: mysqlslap: command not found`"), None),
    ];
    for (text, ok, problem, rate) in table {
        let found = parse("mysqlslap", text.as_bytes(), b"", 0);
        assert_eq!(found.ok, ok, "{text}: {found:?}");
        assert_eq!(found.problems.first().map(String::as_str), problem, "{text}");
        let first = found.metrics.first().filter(|metric| metric.name == "queries_per_second");
        assert_eq!(first.map(|metric| metric.value), rate, "{text}: {found:?}");
    }
}
