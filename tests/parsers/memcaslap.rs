//! `memcaslap`.

use super::{Case, assert_covers, check, parse};

const MIB: f64 = 1_048_576.0;
const NO_RESULT: &str = "no result of memcaslap in the output (`Run time: ...`): it could not connect, or was interrupted";

const CASES: &[Case] = &[
    Case { file: "conn_refused.txt", exit: 1, ok: false, problems: &[NO_RESULT, "exit code 1"], metrics: &[] },
    Case {
        file: "exec_20000.txt",
        exit: 0,
        ok: true,
        problems: &[],
        metrics: &[
            ("requests_per_second", 22265.0),
            ("requests", 20000.0),
            ("duration", 0.9),
            ("gets", 18000.0),
            ("sets", 2000.0),
            ("misses", 0.0),
            ("read_bytes", 19_996_000.0),
            ("write_bytes", 3_470_000.0),
            ("bytes_per_second", 24.9 * MIB),
        ],
    },
    Case {
        file: "time_2s.txt",
        exit: 0,
        ok: true,
        problems: &[],
        metrics: &[
            ("requests_per_second", 25582.0),
            ("requests", 53415.0),
            ("duration", 2.1),
            ("gets", 48067.0),
            ("sets", 5348.0),
            ("misses", 0.0),
            ("read_bytes", 53_379_394.0),
            ("write_bytes", 9_273_110.0),
            ("bytes_per_second", 28.6 * MIB),
        ],
    },
];

#[test]
fn saved_outputs_of_memcaslap() {
    check("memcaslap", "memcaslap", CASES);
    assert_covers("memcaslap", CASES);
}

const RESULT: &str = "\
servers: 127.0.0.1:11211
run time: 1s
cmd_get: 900
cmd_set: 100
get_misses: 0
verify_misses: 0
verify_failed: 0
written_bytes: 5000
read_bytes: 6000
object_bytes: 7000

Run time: 1.0s Ops: 1000 TPS: 1000 Net_rate: 0.0M/s
";

#[test]
fn results_that_must_not_be_believed() {
    let contradiction =
        "the result of memcaslap contradicts itself: its rate is not its requests over its time, or they are not its gets and sets";
    let cut = "the result of memcaslap is damaged or cut off: its gets or sets are missing";
    let misses = "7 gets missed, which is less work than a hit: memcached had no room for the keys";
    let table = [
        (RESULT.to_owned(), true, None),
        (RESULT.replace("Ops: 1000", "Ops: 2000"), false, Some(contradiction)),
        (RESULT.replace("TPS: 1000", "TPS: 2000"), false, Some(contradiction)),
        (RESULT.replace("cmd_get: 900", "cmd_get: 800"), false, Some(contradiction)),
        (RESULT.replace("get_misses: 0", "get_misses: 1000"), false, Some(contradiction)),
        (RESULT.replace("cmd_get: 900", "cmd_get: 900x"), false, Some(cut)),
        (RESULT.replace("cmd_set: 100", "cmd_set: 100\ncmd_set: 100"), false, Some(cut)),
        (RESULT.replace("get_misses: 0", "get_misses: 7"), true, Some(misses)),
        (RESULT.replace("verify_failed: 0", "verify_failed: 3"), false, Some("3 gets answered with another value than was set")),
        (RESULT.replace("0.0M/s", "0.0"), false, Some(NO_RESULT)),
        (format!("{RESULT}{RESULT}"), true, Some("several results of memcaslap: the last one counts")),
        // The second run has no result.
        (format!("{RESULT}servers: 127.0.0.1:11211\n"), false, Some(NO_RESULT)),
        (
            RESULT.replace("900", "0").replace("cmd_set: 100", "cmd_set: 0").replace("Ops: 1000 TPS: 1000", "Ops: 0 TPS: 0"),
            false,
            Some("no request was completed"),
        ),
    ];
    for (text, ok, problem) in table {
        let found = parse("memcaslap", text.as_bytes(), b"", 0);
        assert_eq!((found.ok, found.problems.first().map(String::as_str)), (ok, problem), "{text}: {found:?}");
    }
}
