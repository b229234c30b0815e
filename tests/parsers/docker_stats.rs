//! `docker stats`.

use super::{Case, assert_covers, assert_metrics, check, fixture, parse};

const DEAD: &str = "no sample of `dead`, which does not count";
const MIB: f64 = 1_048_576.0;

const CASES: &[Case] = &[
    Case {
        file: "format_json_constructed.txt",
        exit: 0,
        ok: true,
        problems: &[DEAD],
        metrics: &[
            ("cpu_usage", 0.5769),
            ("memory", 1.258 * MIB),
            ("network_received_bytes", 578.0),
            ("network_sent_bytes", 0.0),
            ("block_read_bytes", 1_330_000.0),
            ("block_written_bytes", 0.0),
            ("tasks", 1.0),
            ("containers", 1.0),
        ],
    },
    Case {
        file: "modern_table_constructed.txt",
        exit: 0,
        ok: true,
        problems: &["2 containers: their values are added up", DEAD],
        metrics: &[
            ("cpu_usage", 0.5769 + 2.0112),
            ("memory", 1.258 * MIB + 1.1 * 1024.0 * MIB),
            ("network_received_bytes", 578.0 + 1200.0),
            ("network_sent_bytes", 1_500_000.0),
            ("block_read_bytes", 1_330_000.0 + 12_000_000.0),
            ("block_written_bytes", 4_100_000_000.0),
            ("tasks", 38.0),
            ("containers", 2.0),
        ],
    },
    Case {
        file: "seed3_collapsed_whitespace.txt",
        exit: 0,
        ok: true,
        problems: &["5 containers: their values are added up"],
        metrics: &[
            ("cpu_usage", 0.5769 + 0.5585 + 0.466 + 0.2543 + 0.0976),
            ("memory", (1.258 + 1.25 + 1.262 + 1.262 + 1.328) * MIB),
            ("network_received_bytes", 578.0 + 578.0 + 578.0 + 508.0 + 508.0),
            ("network_sent_bytes", 0.0),
            ("block_read_bytes", 5.0 * 1_330_000.0),
            ("block_written_bytes", 0.0),
            ("containers", 5.0),
        ],
    },
];

#[test]
fn saved_outputs_of_docker_stats() {
    check("docker-stats", "docker-stats", CASES);
    assert_covers("docker-stats", CASES);
}

const HEADER: &str = "CONTAINER ID   NAME   CPU %     MEM USAGE / LIMIT     MEM %     NET I/O       BLOCK I/O     PIDS\n";
const WEB: &str = "0123456789ab   web    50.00%    1MiB / 2MiB   50.00%    1B / 2B   3B / 4B   5\n";
const PENDING: &str = "fedcba987654   --     --        -- / --       --        -- / --   -- / --   --\n";

#[test]
fn odd_but_real_forms() {
    let several = "several tables of docker stats: the last one counts";
    let object = r#"{"BlockIO":"3B / 4B","CPUPerc":"50.00%","Container":"web","ID":"01","MemPerc":"1%","MemUsage":"1MiB / 2MiB","Name":"web","NetIO":"1B / 2B","PIDs":"5"}"#;
    let cut = "a row of docker stats is damaged or cut off: ";
    let table: &[(String, bool, Vec<String>)] = &[
        (format!("{HEADER}{WEB}"), true, vec![]),
        // A screen after the other, as it is drawn on a terminal.
        (format!("\x1b[2J\x1b[H{HEADER}{PENDING}\x1b[2J\x1b[H{HEADER}{WEB}"), true, vec![several.to_owned()]),
        (format!("{HEADER}{WEB}{HEADER}"), true, vec![]),
        (
            format!("{HEADER}{WEB}{HEADER}{WEB}{}", &PENDING[..20]),
            false,
            vec![format!("{cut}`{}`", PENDING[..20].trim()), several.to_owned()],
        ),
        (format!("{object}\n{object}\n"), true, vec![several.to_owned()]),
        (format!("WARNING: no swap limit\n{HEADER}{WEB}"), true, vec!["`WARNING: no swap limit`".to_owned()]),
        (
            format!("{HEADER}{PENDING}"),
            false,
            vec!["no container has a sample".to_owned(), "no sample of `--`, which does not count".to_owned()],
        ),
        (format!("{HEADER}{WEB}{WEB}"), false, vec!["the table of docker stats has a container twice".to_owned()]),
        (format!("{HEADER}{}", WEB.replace("1MiB", "1MB")), false, vec![format!("{cut}`{}`", WEB.replace("1MiB", "1MB").trim())]),
        (
            "Error response from daemon: No such container: web\n".to_owned(),
            false,
            vec!["`Error response from daemon: No such container: web`".to_owned(), "no table of docker stats in the output".to_owned()],
        ),
        (HEADER.to_owned(), false, vec!["the table of docker stats is empty: no container runs".to_owned()]),
        (WEB.to_owned(), false, vec!["no table of docker stats in the output".to_owned()]),
    ];
    for (text, ok, problems) in table {
        let found = parse("docker-stats", text.as_bytes(), b"", 0);
        assert_eq!((found.ok, &found.problems), (*ok, problems), "{text}");
        assert_eq!(found.metrics.is_empty(), !found.ok, "{text}: {found:?}");
    }
}

#[test]
fn a_damaged_row_leaves_no_sum() {
    let text = String::from_utf8(fixture("docker-stats", "seed3_collapsed_whitespace.txt")).expect("text");
    let found = parse("docker-stats", text.replace("46.60%", "46.6x%").as_bytes(), b"", 0);
    assert!(!found.ok, "{found:?}");
    assert_metrics(&found, &[], "a row is lost");
}
