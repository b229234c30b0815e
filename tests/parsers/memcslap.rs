//! `memcslap`.

use super::{Case, assert_covers, check, parse};

const CASES: &[Case] = &[
    Case {
        file: "conn_refused.txt",
        exit: 0,
        ok: false,
        problems: &[
            "`CONNECTION FAILURE(Connection refused),  host: 127.0.0.1:1 -> ./src/libmemcached/io.cc:145`",
            "no key was set or found",
            "printed as 0.000, below the resolution, and therefore absent: duration",
        ],
        // 10 keys for each of 2 threads, and none was set.
        metrics: &[("requests", 0.0), ("errors", 20.0)],
    },
    Case {
        file: "get_test.txt",
        exit: 0,
        ok: true,
        problems: &[],
        metrics: &[("requests_per_second", 8000.0 / 0.538), ("requests", 8000.0), ("errors", 0.0), ("duration", 0.538)],
    },
    Case {
        file: "set_test.txt",
        exit: 0,
        ok: true,
        problems: &[],
        metrics: &[("requests_per_second", 8000.0 / 0.388), ("requests", 8000.0), ("errors", 0.0), ("duration", 0.388)],
    },
];

#[test]
fn saved_outputs_of_memcslap() {
    check("memcslap", "memcslap", CASES);
    assert_covers("memcslap", CASES);
}

const RESULT: &str = "\
Time to generate        100 test keys:                0.001 seconds.
Time to start             2 threads:                  0.001 seconds.
--------------------------------------------------------------------
Time to set             200 keys by    2 threads:     0.100 seconds.
--------------------------------------------------------------------
Time total:                                           0.102 seconds.
";

#[test]
fn results_that_must_not_be_believed() {
    let without = |line: &str| RESULT.lines().filter(|known| !known.contains(line)).collect::<Vec<_>>().join("\n");
    let none = "no result of memcslap in the output (`Time to set ... keys by ... threads`)";
    let table = [
        (RESULT.to_owned(), true, None),
        (RESULT.replace("200 keys", "150 keys"), false, Some("only 150 of 200 keys were set or found")),
        (RESULT.replace("to set ", "to mget").replace("200 keys", "150 keys"), true, None),
        (
            RESULT.replace("200 keys", "300 keys"),
            false,
            Some("the result of memcslap contradicts itself: more keys than were made for its threads"),
        ),
        (without("generate"), false, Some("the result of memcslap is damaged or cut off: `Time to generate` is missing")),
        (without("total"), false, Some("the result of memcslap is damaged or cut off: `Time total` is missing")),
        (without("keys by"), false, Some(none)),
        (
            RESULT.replace("0.100", "0.010"),
            true,
            Some("memcslap prints whole milliseconds, and the test took less than 50 of them: duration and rate are rough"),
        ),
        (format!("{RESULT}{RESULT}"), true, Some("several results of memcslap: the last one counts")),
        (format!("{RESULT}Fatal error for key 'a': (0x55) SERVER ERROR, out of memory\n"), false, Some("`SERVER ERROR, out of memory`")),
        ("memcslap: unrecognized option '--x'\n".to_owned(), false, Some("`memcslap: unrecognized option '--x'`")),
    ];
    for (text, ok, problem) in table {
        let found = parse("memcslap", text.as_bytes(), b"", 0);
        assert_eq!((found.ok, found.problems.first().map(String::as_str)), (ok, problem), "{text}: {found:?}");
    }
}
