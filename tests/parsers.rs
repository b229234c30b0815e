//! Every saved output of every tool with what it must yield, taken from the file by eye; declared extraction; and damage.

mod ab;
mod autocannon;
mod baseline;
mod damage;
mod dd;
mod declared;
mod docker_stats;
mod fio;
mod hey;
mod hping3;
mod httperf;
mod hyperfine;
mod iperf3;
mod isucon13;
mod isucon14;
mod isucon4;
mod k6;
mod locust;
mod memcaslap;
mod memcslap;
mod mysqlslap;
mod oha;
mod pgbench;
mod ping;
mod private_isu;
mod redis_benchmark;
mod registry;
mod siege;
mod stress_ng;
mod sysbench;
mod time;
mod top;
mod wrk;

use shakedown::measure::parsers::{ToolOutput, find};
use shakedown::model::metric::Parsed;

/// What one saved output must yield.
struct Case {
    file: &'static str,
    exit: i64,
    ok: bool,
    /// All of them, in order.
    problems: &'static [&'static str],
    /// All of them, in order.
    metrics: &'static [(&'static str, f64)],
}

fn folder(tool: &str) -> String {
    format!("{}/tests/fixtures/parsers/{tool}", env!("CARGO_MANIFEST_DIR"))
}

fn fixture(tool: &str, file: &str) -> Vec<u8> {
    let path = format!("{}/{file}", folder(tool));
    std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn exists(tool: &str, file: &str) -> bool {
    std::path::Path::new(&format!("{}/{file}", folder(tool))).exists()
}

/// The names of the saved outputs of a tool, without those that hold standard error alone.
fn fixtures(tool: &str) -> Vec<String> {
    let entries = std::fs::read_dir(folder(tool)).expect("fixtures");
    let names = entries.map(|entry| entry.expect("entry").file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| !name.ends_with(".stderr.txt")).collect();
    names.sort();
    names
}

fn parse(parser: &str, stdout: &[u8], stderr: &[u8], exit: i64) -> Parsed {
    find(parser).expect("a known parser").parse(&ToolOutput { stdout, stderr, exit_code: Some(exit) })
}

fn assert_metrics(found: &Parsed, expected: &[(&str, f64)], context: &str) {
    let names: Vec<&str> = found.metrics.iter().map(|metric| metric.name.as_str()).collect();
    let expected_names: Vec<&str> = expected.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, expected_names, "{context}");
    for (metric, (name, value)) in found.metrics.iter().zip(expected) {
        let tolerance = value.abs() * 1e-12;
        assert!((metric.value - value).abs() <= tolerance, "{context}: {name} is {} and not {value}", metric.value);
    }
}

/// Checks the table, that it names every saved output of `folder`, and that standard error alone yields the same metrics.
fn check(parser: &str, folder: &str, cases: &[Case]) {
    for case in cases {
        let merged = fixture(folder, case.file);
        let found = parse(parser, &merged, b"", case.exit);
        assert_eq!(found.problems, case.problems, "{}", case.file);
        assert_eq!(found.ok, case.ok, "{}", case.file);
        assert_metrics(&found, case.metrics, case.file);
        let apart = case.file.replace(".txt", ".stderr.txt");
        let stderr = if exists(folder, &apart) { fixture(folder, &apart) } else { merged };
        let apart = parse(parser, b"", &stderr, case.exit);
        assert_eq!((apart.ok, &apart.metrics), (found.ok, &found.metrics), "{} as standard error", case.file);
    }
}

fn assert_covers(folder: &str, cases: &[Case]) {
    let mut named: Vec<&str> = cases.iter().map(|case| case.file).collect();
    named.sort_unstable();
    assert_eq!(named, fixtures(folder), "every saved output of {folder} has its expectation");
}
