//! `compare`: two records of one experiment, from folders, runs and revisions; thresholds; what people see and what machines read.

use crate::program::{Place, Said};
use serde_json::Value;
use snapbox::{assert_data_eq, file};
use std::fmt::Write;
use std::path::PathBuf;
use std::process::Command;

const PAIR: &str = "\
title: Two levels
matrix: {level: [a, b]}
workload: {on: host, command: 'work {{ level }}', timeout: 5s}
design: {blocks: 6, seed: 7}
";

/// Trials of a take 2 s, those of b as many milliseconds as given; each some milliseconds more, not always the same.
fn script(b: u32) -> String {
    let mut script = String::from("[");
    for (level, base) in [("a", 2000), ("b", b)] {
        for extra in [3, 11, 0, 7, 16, 5, 9, 2, 13, 6, 8, 4] {
            let wall = base + extra;
            write!(script, r#"{{"match": "work {level}", "times": 1, "wait": {{"wall_ms": {wall}}}}}, "#).expect("text");
        }
    }
    script + r#"{"wait": {"wall_ms": 2000}}]"#
}

/// Two records of one experiment, `old/reports/pair` and `reports/pair`, in the second of which b takes 5 % longer.
fn two_records() -> Place {
    let place = Place::with("pair", PAIR);
    assert_eq!(place.fake(&script(3000), &["run", "pair"]).code, 0);
    std::fs::create_dir_all(place.path("old")).expect("folder");
    std::fs::rename(place.path("reports"), place.path("old/reports")).expect("rename");
    assert_eq!(place.fake(&script(3150), &["run", "pair"]).code, 0);
    place
}

fn only_run(place: &Place, reports: &str) -> PathBuf {
    let mut runs = std::fs::read_dir(place.path(&format!("{reports}/pair/runs"))).expect("runs");
    let run = runs.next().expect("a run").expect("entry").path();
    assert!(runs.next().is_none());
    run
}

fn compare(place: &Place, more: &[&str]) -> Said {
    place.run(&[&["compare", "old/reports/pair", "reports/pair"], more].concat())
}

fn json(said: &Said) -> Value {
    serde_json::from_str(&said.stdout).unwrap_or_else(|error| panic!("{error}: {}{}", said.stdout, said.stderr))
}

/// Changes what a record says of its host.
fn replace_in_journal(place: &Place, reports: &str, pattern: &str, with: &str) {
    let journal = only_run(place, reports).join("journal.jsonl");
    let text = std::fs::read_to_string(&journal).expect("journal");
    let pattern = regex::Regex::new(pattern).expect("expression");
    assert!(pattern.is_match(&text), "{pattern}");
    std::fs::write(journal, pattern.replace_all(&text, with).as_ref()).expect("journal");
}

#[test]
fn two_folders_side_by_side() {
    let place = two_records();
    assert_data_eq!(
        compare(&place, &["--fail-if", "wall > +3%", "--fail-if", "wall < 0.9"]).transcript(),
        file!["transcripts/compare.txt"]
    );
    assert_data_eq!(
        compare(&place, &["--format", "markdown", "--fail-if", "wall > +3%"]).transcript(),
        file!["transcripts/compare_markdown.txt"]
    );
    let value = json(&compare(&place, &["--format", "json"]));
    let b = &value["comparisons"][1];
    assert_eq!(
        (&b["kind"], &b["variant"], &b["verdict"], &b["worse"]),
        (&"level".into(), &"level=b".into(), &"different".into(), &true.into())
    );
    let ratio = b["ratio"].as_f64().expect("number");
    assert!((1.045..1.055).contains(&ratio) && b["low"].as_f64() < Some(ratio) && b["high"].as_f64() > Some(ratio), "{b}");
    assert_eq!((&b["n_a"], &b["n_b"], &value["machine"]), (&6.into(), &6.into(), &"same".into()));
}

#[test]
fn a_threshold_is_crossed_by_what_is_different_only() {
    let place = two_records();
    let table: [(&[&str], u8); 8] = [
        (&["wall > +3%"], 1),
        (&["wall > +8%"], 0),
        (&["wall < -3%"], 0),
        (&["wall >= 1.03", "wall < -3%"], 1),
        (&["relative wall > +3%"], 1),
        (&["relative wall < -3%"], 0),
        (&["wall > 0.5"], 1),
        (&["wall < 2"], 1),
    ];
    for (thresholds, code) in table {
        let arguments: Vec<&str> = thresholds.iter().flat_map(|threshold| ["--fail-if", threshold]).collect();
        let said = compare(&place, &arguments);
        assert_eq!(said.code, i32::from(code), "{thresholds:?}: {}", said.stderr);
    }
    // One trial of each has no interval: nothing is known, so nothing is crossed, and nothing is ruled out.
    let single = Place::with("pair", &PAIR.replace("blocks: 6", "blocks: 1"));
    assert_eq!(single.fake(&script(3000), &["run", "pair"]).code, 0);
    std::fs::create_dir_all(single.path("old")).expect("folder");
    std::fs::rename(single.path("reports"), single.path("old/reports")).expect("rename");
    assert_eq!(single.fake(&script(3150), &["run", "pair"]).code, 0);
    let said = compare(&single, &["--fail-if", "wall > +3%"]);
    assert_eq!((said.code, said.stderr.as_str()), (0, "`wall > +3%` is undecided for `level=a`, `level=b`\n"));
    assert_eq!(compare(&single, &["--fail-if", "wall > +3%", "--fail-if-undecided"]).code, 1);
}

#[test]
fn levels_of_two_machines_are_no_ground_to_fail() {
    let place = two_records();
    replace_in_journal(&place, "reports", r#""cpu_model":"[^"]*""#, r#""cpu_model":"Another CPU""#);
    let said = compare(&place, &["--fail-if", "wall > +3%"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    assert!(said.stderr.contains("was not judged: the machines differ"), "{}", said.stderr);
    assert!(said.stdout.contains("\nnote: the machines differ: ") && said.stdout.contains("Another CPU"), "{}", said.stdout);
    assert!(
        said.stdout.ends_with("relative to the baseline is different in 1 of 1 variant, worse in 1: level=b +5.0 %\n"),
        "{}",
        said.stdout
    );
    assert_eq!(compare(&place, &["--fail-if", "wall > +3%", "--fail-if-undecided"]).code, 1);
    assert_eq!(compare(&place, &["--fail-if", "relative wall > +3%"]).code, 1);
}

#[test]
fn mistakes_are_told_together_with_their_places() {
    let place = two_records();
    let said = place.run(&["compare", "reports/pear", "HEAD:reports/pair", "--fail-if", "wall <> 3%", "--fail-if", "wall < -3"]);
    assert_data_eq!(said.transcript(), file!["transcripts/compare_mistakes.txt"]);
    assert_data_eq!(compare(&place, &["--fail-if", "wal < -3%"]).transcript(), file!["transcripts/compare_metric.txt"]);
    place.manifest("other", PAIR);
    assert_eq!(place.fake(&script(3000), &["run", "other"]).code, 0);
    let said = place.run(&["compare", "pair", "other"]);
    assert!(said.code == 2 && said.stderr.contains("`pair` and `other` are two experiments"), "{}", said.stderr);
    std::fs::write(only_run(&place, "reports").join("plan.json"), "{}").expect("damage");
    let said = compare(&place, &[]);
    assert!(said.code == 4 && said.stderr.contains("the record is damaged"), "{}", said.stderr);
    assert_eq!(place.run(&["compare", "experiments", "reports/pair"]).code, 4);
    assert_eq!(place.run(&["compare", "old/reports/pair", "experiments"]).code, 2, "a folder without a record");
}

#[test]
fn runs_are_named_by_their_folder_or_the_beginning_of_their_name() {
    let place = Place::with("pair", PAIR);
    for b in [3000, 3150] {
        assert_eq!(place.fake(&script(b), &["run", "pair", "--fresh"]).code, 0);
    }
    let entries = std::fs::read_dir(place.path("reports/pair/runs")).expect("runs");
    let mut names: Vec<String> = entries.map(|entry| entry.expect("entry").file_name().to_string_lossy().into_owned()).collect();
    let started = |name: &String| {
        std::fs::metadata(place.path(&format!("reports/pair/runs/{name}/plan.json"))).expect("plan").modified().expect("time")
    };
    names.sort_by_key(started);
    let folder = format!("reports/pair/runs/{}", names[0]);
    let ways: [&[&str]; 4] = [
        &["compare", &names[0], &names[1], "--experiment", "pair"],
        &["compare", &folder, &names[1][..names[1].len() - 1]],
        &["compare", &names[0], "reports/pair"],
        &["compare", &names[0], "pair"],
    ];
    for (index, way) in ways.into_iter().enumerate() {
        let value = json(&place.run(&[way, &["--format", "json"]].concat()));
        let ratio = value["comparisons"][1]["ratio"].as_f64().expect("number");
        assert!((1.045..1.055).contains(&ratio), "{index}: the shared run is left out of the whole: {ratio}");
    }
    let common = &names[0][..10];
    let said = place.run(&["compare", common, &names[1], "--experiment", "pair"]);
    assert!(said.code == 2 && said.stderr.contains("is the beginning of 2 runs"), "{}", said.stderr);
    let said = place.run(&["compare", "nothing", &names[1], "--experiment", "pair"]);
    assert!(said.code == 2 && said.stderr.contains("no run of reports/pair begins with `nothing`"), "{}", said.stderr);
    let said = place.run(&["compare", &names[0], &names[1]]);
    assert!(said.code == 2 && said.stderr.contains("`--experiment`"), "{}", said.stderr);
}

fn git(place: &Place, arguments: &[&str]) {
    let names = ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"].map(|name| (name, "somebody"));
    let mut command = Command::new("git");
    command.args(arguments).current_dir(place.path("")).env("GIT_CONFIG_GLOBAL", "/dev/null").envs(names);
    let output = command.output().expect("git");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_record_is_read_as_it_was_committed() {
    if Command::new("git").arg("--version").output().is_err() {
        crate::skipped::skip("there is no git");
        return;
    }
    let place = Place::with("pair", PAIR);
    assert_eq!(place.fake(&script(3000), &["run", "pair"]).code, 0);
    let run = only_run(&place, "reports").file_name().expect("name").to_string_lossy().into_owned();
    git(&place, &["init", "-q"]);
    git(&place, &["add", "."]);
    git(&place, &["commit", "-qm", "one"]);
    git(&place, &["tag", "v1"]);
    // The branch measures anew and keeps the old run beside it; what it runs is another command.
    place.manifest("pair", &PAIR.replace("work {{ level }}", "work {{ level }} harder"));
    assert_eq!(place.fake(&script(3150), &["run", "pair"]).code, 0);
    let ratio = |said: &Said| json(said)["comparisons"][1]["ratio"].as_f64().expect("number");
    for a in
        ["HEAD:reports/pair", "v1:./reports/pair/", &format!("HEAD:reports/pair/runs/{run}"), &format!("HEAD:reports/pair/runs/{run}/")]
    {
        let found = ratio(&place.run(&["compare", a, "reports/pair", "--format", "json"]));
        assert!((1.045..1.055).contains(&found), "{a}: {found}");
    }
    let value = json(&place.run(&["compare", "HEAD:reports/pair", "reports/pair", "--format", "json"]));
    assert_eq!(value["altered"][0]["changes"][0], r#"workload.command: ["work","a"] -> ["work","a","harder"]"#);
    let wrong = [
        ("HEAD:reports/nothing", "git knows no folder `reports/nothing` at the revision `HEAD`"),
        ("nowhere:reports/pair", "git knows no folder `reports/pair` at the revision `nowhere`"),
        ("HEAD:experiments/pair.yaml", "it is not a folder"),
        ("HEAD:experiments", "there is no record in `experiments` at the revision `HEAD`"),
        ("HEAD:../x", "git knows no folder"),
        ("HEAD:", "git knows no folder"),
        (":reports/pair", "git knows no folder"),
        ("--output=stolen:reports/pair", "git knows no folder"),
        ("-h:reports/pair", "git knows no folder"),
        ("--exec=touch stolen:reports/pair", "git knows no folder"),
    ];
    for (a, message) in wrong {
        let said = place.run(&["compare", "--", a, "reports/pair"]);
        assert!(said.code == 2 && said.stderr.contains(message), "{a}: {} {}", said.code, said.stderr);
    }
    assert!(!place.path("stolen").exists());
    let said = crate::program::said(
        &place.command(&["compare", "HEAD:reports/pair", "reports/pair"]).env("PATH", "/nowhere").output().expect("run"),
    );
    assert!(said.code == 3 && said.stderr.contains("`git` cannot be started"), "{}", said.stderr);
}

#[test]
fn hostile_names_stay_names() {
    let level = "=cmd()|<script>alert(1)</script>`**\u{202e}x";
    let manifest = PAIR.replace("[a, b]", &format!("[a, \"{level}\"]")).replace("'work {{ level }}'", "[work, '{{ level }}']");
    let place = Place::with("pair", &manifest);
    let varied = script(3000).replace("work b", "script");
    assert_eq!(place.fake(&varied, &["run", "pair"]).code, 0);
    std::fs::create_dir_all(place.path("old")).expect("folder");
    std::fs::rename(place.path("reports"), place.path("old/reports")).expect("rename");
    assert_eq!(place.fake(&varied.replace("\"wall_ms\": 30", "\"wall_ms\": 33"), &["run", "pair"]).code, 0);
    replace_in_journal(&place, "reports", r#""host":\{"name":"[^"]*""#, r#""host":{"name":"\u001b[31m|<b>""#);
    let table = compare(&place, &["--fail-if", "wall > 3%"]);
    let page = compare(&place, &["--format", "markdown", "--fail-if", "wall > 3%"]);
    for text in [&table.stdout, &table.stderr, &page.stdout, &page.stderr] {
        assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text}");
        assert!(text.contains("⟨U+202E⟩"), "the mark is shown: {text}");
    }
    assert!(!page.stdout.contains("<script>") || page.stdout.contains("`level"), "{}", page.stdout);
    for row in page.stdout.lines().filter(|line| line.starts_with("| ")) {
        let cells = row.replace("\\|", "").matches('|').count();
        assert!([4, 10, 3].contains(&cells), "a bar in a name ends no cell: {row}");
    }
    let outside_code = page.stdout.split('`').step_by(2).collect::<String>();
    assert!(!outside_code.contains("<script>"), "{outside_code}");
}
