//! `top`.

use super::{Case, assert_covers, check, fixture, parse};

const ONE_FRAME: &str = "only one frame: it does not cover an interval, so its CPU shares are absent; `-n 2` prints one that does";
const NO_FRAME: &str = "no full frame of `top -b` in the output";
const KIB: f64 = 1024.0;
const MIB: f64 = 1_048_576.0;
const GIB: f64 = 1_073_741_824.0;

const fn fine(file: &'static str, metrics: &'static [(&'static str, f64)]) -> Case {
    Case { file, exit: 0, ok: true, problems: &[], metrics }
}

const CASES: &[Case] = &[
    Case {
        problems: &["only 13 of 134 tasks are listed", ONE_FRAME],
        ..fine(
            "batch_1_first_sample_trap.txt",
            &[
                (
                    "listed_resident",
                    (498740.0 + 297784.0 + 188896.0 + 47428.0 + 6080.0 + 4984.0 + 5936.0 + 222556.0 + 240520.0 + 19340.0) * KIB,
                ),
                ("listed_tasks", 13.0),
                ("load_1", 10.74),
                ("load_5", 9.65),
                ("load_15", 6.23),
                ("tasks", 134.0),
                ("tasks_running", 7.0),
                ("memory_total", 24105.6 * MIB),
                ("memory_free", 17238.6 * MIB),
                ("memory_used", 2189.7 * MIB),
                ("memory_buff_cache", 5050.3 * MIB),
                ("memory_available", 21915.9 * MIB),
            ],
        )
    },
    Case {
        problems: &[ONE_FRAME],
        ..fine(
            "busybox.txt",
            &[("load_1", 10.76), ("load_5", 9.67), ("load_15", 6.26), ("memory_used", 7119604.0 * KIB), ("memory_free", 17564492.0 * KIB)],
        )
    },
    fine(
        "pid_filter.txt",
        &[
            ("listed_cpu_usage", 0.0),
            ("listed_resident", 3036.0 * KIB),
            ("listed_tasks", 1.0),
            ("cpu_user", 0.137),
            ("cpu_system", 0.086),
            ("cpu_nice", 0.764),
            ("cpu_idle", 0.004),
            ("cpu_iowait", 0.0),
            ("cpu_irq", 0.0),
            ("cpu_softirq", 0.009),
            ("cpu_steal", 0.0),
            ("load_1", 10.76),
            ("load_5", 9.67),
            ("load_15", 6.26),
            ("tasks", 1.0),
            ("tasks_running", 0.0),
            ("memory_total", 24105.6 * MIB),
            ("memory_free", 17247.8 * MIB),
            ("memory_used", 2189.4 * MIB),
            ("memory_buff_cache", 5041.4 * MIB),
            ("memory_available", 21916.2 * MIB),
        ],
    ),
    Case { ok: false, problems: &[NO_FRAME], ..fine("ps_snapshot.txt", &[]) },
    Case {
        problems: &["only 8 of 137 tasks are listed", ONE_FRAME],
        ..fine(
            "scaled_units.txt",
            &[
                ("listed_resident", (184.3 + 544.1 + 290.8 + 186.4 + 134.6 + 4.9 + 5.8 + 6.0) * MIB),
                ("listed_tasks", 8.0),
                ("load_1", 10.76),
                ("load_5", 9.67),
                ("load_15", 6.26),
                ("tasks", 137.0),
                ("tasks_running", 7.0),
                ("memory_total", 23.5 * GIB),
                ("memory_free", 16.8 * GIB),
                ("memory_used", 2.2 * GIB),
                ("memory_buff_cache", 4.9 * GIB),
                ("memory_available", 21.3 * GIB),
            ],
        )
    },
    Case {
        problems: &["the table has no head: all but the listed tasks is absent, and which frame it is cannot be told"],
        ..fine(
            "seed1_top_2.txt",
            &[("listed_cpu_usage", 0.771 + 0.705 + 0.239), ("listed_resident", (118476.0 + 63928.0 + 3952.0) * KIB), ("listed_tasks", 3.0)],
        )
    },
    Case {
        problems: &["only 5 of 152 tasks are listed", ONE_FRAME],
        ..fine(
            "top_ja_JP.txt",
            &[
                ("listed_resident", (87244.0 + 606292.0 + 195712.0 + 57708.0 + 14096.0) * KIB),
                ("listed_tasks", 5.0),
                ("load_1", 10.78),
                ("load_5", 10.09),
                ("load_15", 7.11),
                ("tasks", 152.0),
                ("tasks_running", 5.0),
                ("memory_total", 24105.6 * MIB),
                ("memory_free", 16799.9 * MIB),
                ("memory_used", 2235.8 * MIB),
                ("memory_buff_cache", 5445.1 * MIB),
                ("memory_available", 21869.8 * MIB),
            ],
        )
    },
    fine(
        "wide_full_cmd.txt",
        &[
            ("listed_cpu_usage", 2.0),
            // Added up by awk.
            ("listed_resident", 1933896.0 * KIB),
            ("listed_tasks", 137.0),
            ("cpu_user", 0.145),
            ("cpu_system", 0.534),
            ("cpu_nice", 0.321),
            ("cpu_idle", 0.0),
            ("cpu_iowait", 0.0),
            ("cpu_irq", 0.0),
            ("cpu_softirq", 0.0),
            ("cpu_steal", 0.0),
            ("load_1", 10.63),
            ("load_5", 10.03),
            ("load_15", 6.71),
            ("tasks", 137.0),
            ("tasks_running", 6.0),
            ("memory_total", 24105.6 * MIB),
            ("memory_free", 16984.0 * MIB),
            ("memory_used", 1883.3 * MIB),
            ("memory_buff_cache", 5612.7 * MIB),
            ("memory_available", 22222.2 * MIB),
        ],
    ),
];

#[test]
fn saved_outputs_of_top() {
    check("top", "top", CASES);
    assert_covers("top", CASES);
}

fn frames() -> String {
    String::from_utf8(fixture("top", "pid_filter.txt")).expect("text")
}

#[test]
fn frames_that_must_not_be_believed() {
    let contradiction = "the frame of top contradicts itself: a line stands in it twice, or its numbers do not add up";
    let text = frames();
    let second = text.rfind("top - ").expect("the second frame");
    let row = text.lines().last().expect("a row").to_owned();
    let table: &[(String, bool, &[&str])] = &[
        (text.clone(), true, &[]),
        (text.replace("76.4 ni", "7.4 ni"), false, &[contradiction]),
        (text.replace("1 sleeping", "2 sleeping"), false, &[contradiction]),
        (text.replace("2189.4 used", "92189.4 used"), false, &[contradiction]),
        (format!("{text}{row}"), false, &[contradiction]),
        (format!("{text}{}", row.replace("27620", "27621")), false, &[contradiction]),
        // Without the first line of the second frame, its lines stand in the first one.
        (format!("{}{}", &text[..second], &text[text[second..].find('\n').expect("a line") + second..]), false, &[contradiction]),
        (
            text[..text.len() - 12].to_owned(),
            false,
            &["a row of top is damaged or cut off: `27620 root      20   0   11408   3036   1956 S   0.0   0.0   0:`"],
        ),
        (text[..second + 200].to_owned(), true, &[ONE_FRAME, "the last frame is cut off: one before it counts"]),
        (text[..second].to_owned(), true, &[ONE_FRAME]),
        (text[..200].to_owned(), false, &[NO_FRAME]),
        ("top: unknown option 'x'\n".to_owned(), false, &["`top: unknown option 'x'`", NO_FRAME]),
    ];
    for (text, ok, problems) in table {
        let found = parse("top", text.as_bytes(), b"", 0);
        assert_eq!((found.ok, found.problems.iter().map(String::as_str).collect::<Vec<_>>()), (*ok, problems.to_vec()), "{text}");
    }
}

#[test]
fn the_decimals_of_a_locale_and_the_gaps_of_a_web_page_are_read() {
    let expected = parse("top", frames().as_bytes(), b"", 0);
    let comma = |line: &str| match line.contains(" Swap") {
        true => line.replace('.', ",").replace("used,", "used."),
        false => line.replace('.', ","),
    };
    let commas: String = frames().lines().fold(String::new(), |all, line| all + &comma(line) + "\n");
    assert_eq!(parse("top", commas.as_bytes(), b"", 0), expected);
    let collapsed: String =
        frames().lines().fold(String::new(), |all, line| all + &line.split_whitespace().collect::<Vec<_>>().join(" ") + "\n");
    assert_eq!(parse("top", collapsed.as_bytes(), b"", 0), expected);
}

#[test]
fn the_second_frame_of_busybox_covers_an_interval() {
    let frame = fixture("top", "busybox.txt");
    let found = parse("top", &[&frame[..], b"\n", &frame].concat(), b"", 0);
    let value = |name: &str| found.metrics.iter().find(|metric| metric.name == name).map(|metric| metric.value);
    assert!(found.ok && found.problems.is_empty(), "{found:?}");
    let names = ["cpu_user", "cpu_system", "cpu_nice", "cpu_idle", "cpu_softirq", "listed_cpu_usage"];
    assert_eq!(names.map(value), [Some(0.14), Some(0.19), Some(0.61), Some(0.0), Some(0.04), None]);
}

#[test]
fn threads_have_no_memory_of_their_own() {
    let found = parse("top", frames().replace("Tasks:", "Threads:").as_bytes(), b"", 0);
    let names: Vec<&str> = found.metrics.iter().take(3).map(|metric| metric.name.as_str()).collect();
    assert_eq!((found.ok, names), (true, vec!["listed_cpu_usage", "listed_tasks", "cpu_user"]), "{found:?}");
}
