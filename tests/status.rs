//! `status`: what records have of what manifests ask for, told without an engine and without writing anything.

use crate::program::Place;
use serde_json::Value;
use snapbox::{assert_data_eq, file};
use std::collections::BTreeMap;

const PAIR: &str = "\
title: Two levels
matrix: {level: [a, b]}
workload: {on: host, command: 'work {{ level }}', timeout: 5s}
design: {blocks: 2, seed: 7}
";
/// Every trial takes two virtual seconds.
const CALM: &str = r#"[{"wait": {"wall_ms": 2000}}]"#;

/// The state, the report and the first reason of each experiment.
fn told(place: &Place) -> BTreeMap<String, [String; 3]> {
    let said = place.run(&["status", "--format", "json"]);
    let value: Value = serde_json::from_str(&said.stdout).unwrap_or_else(|error| panic!("{error}: {}", said.stdout));
    let one = |value: &Value| {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let why = value["reasons"].get(0).map_or_else(|| text(&value["problem"]), |first| text(&first["reason"]));
        (text(&value["experiment"]), [text(&value["state"]), text(&value["report"]), why])
    };
    value["experiments"].as_array().expect("list").iter().map(one).collect()
}

#[test]
fn an_experiment_from_none_to_complete() {
    let place = Place::with("pair", PAIR);
    assert_data_eq!(place.run(&["status"]).transcript(), file!["transcripts/status_none.txt"]);
    assert!(!place.path("reports").exists(), "nothing is written");
    assert_eq!(place.fake(CALM, &["run", "pair", "--blocks", "1"]).code, 0);
    assert_data_eq!(place.run(&["status"]).transcript(), file!["transcripts/status_partial.txt"]);
    assert_eq!(place.fake(CALM, &["run", "pair"]).code, 0);
    assert_data_eq!(place.run(&["status"]).transcript(), file!["transcripts/status_complete.txt"]);
    place.manifest("pair", &PAIR.replace("work {{ level }}", "play {{ level }}").replace("[a, b]", "[a, b, c]"));
    assert_data_eq!(place.run(&["status"]).transcript(), file!["transcripts/status_stale.txt"]);
    assert_eq!(place.run(&["status", "--allow", "stale,report"]).code, 0);
    assert_eq!(place.run(&["status", "--allow", "partial"]).code, 1);
}

#[test]
fn reports_are_looked_at_and_what_only_the_manifest_shows_is_told() {
    let place = Place::with("pair", PAIR);
    assert_eq!(place.fake(CALM, &["run", "pair"]).code, 0);
    let report = |place: &Place| told(place)["pair"][1].clone();
    assert_eq!(report(&place), "current");
    place.write("reports/pair/trials.csv", "edited");
    assert_eq!((report(&place).as_str(), place.run(&["status", "pair"]).code), ("outdated", 1));
    assert_eq!(place.run(&["status", "pair", "--allow", "report"]).code, 0);
    let said = place.run(&["status", "pair"]);
    assert!(said.stdout.contains("`report` would change trials.csv"), "{}", said.stdout);
    assert!(said.stderr.contains("`shakedown report pair`"), "{}", said.stderr);
    std::fs::remove_file(place.path("reports/pair/README.md")).expect("page");
    assert_eq!(report(&place), "missing");
    assert_eq!(place.run(&["report", "pair"]).code, 0);
    place.manifest("pair", &PAIR.replace("Two levels", "Another title"));
    assert_eq!(report(&place), "behind");
    assert_eq!(place.fake(CALM, &["run", "pair"]).code, 0);
    assert_eq!(report(&place), "current");
}

#[test]
fn failures_orphans_damage_and_mistakes_stand_beside_what_is_fine() {
    let place = Place::with("fine", PAIR);
    assert_eq!(place.fake(CALM, &["run", "fine"]).code, 0);
    for name in ["failing", "gone", "hurt"] {
        place.manifest(name, PAIR);
        let script = if name == "failing" {
            r#"[{"match": "work b", "wait": {"exit": 3}, "stderr": "boom"}, {"wait": {"wall_ms": 2000}}]"#
        } else {
            CALM
        };
        place.fake(script, &["run", name]);
    }
    std::fs::remove_file(place.path("experiments/gone.yaml")).expect("manifest");
    let run = std::fs::read_dir(place.path("reports/hurt/runs")).expect("runs").next().expect("a run").expect("entry").path();
    std::fs::write(run.join("plan.json"), "{}").expect("damage");
    place.manifest("wrong", include_str!("manifests/bad/three_mistakes.yaml"));
    let said = place.run(&["status"]);
    assert_data_eq!(said.transcript(), file!["transcripts/status_mixed.txt"]);
    let csv = place.run(&["status", "--format", "csv"]);
    assert_eq!((csv.code, csv.stdout.lines().count()), (4, 6));
    assert!(
        csv.stdout.lines().all(|line| !line.is_empty()) && csv.stdout.contains("\nfine,complete,2,2,0,0,0,0,,,current,\n"),
        "{}",
        csv.stdout
    );
    std::fs::remove_dir_all(place.path("reports/hurt")).expect("record");
    assert_eq!(place.run(&["status"]).code, 2);
    std::fs::remove_file(place.path("experiments/wrong.yaml")).expect("manifest");
    assert_eq!(place.run(&["status"]).code, 1);
    assert_eq!(place.run(&["status", "--allow", "none,failing,orphan"]).code, 0);
    assert_eq!(place.run(&["status", "fine"]).code, 0, "what is not asked for does not count");
}

/// The record speaks for the machine that it was made on: a checkout in CI has another one.
#[test]
fn it_says_the_same_on_another_machine() {
    let place = Place::with("pair", PAIR);
    assert_eq!(place.fake(CALM, &["run", "pair"]).code, 0);
    let run = std::fs::read_dir(place.path("reports/pair/runs")).expect("runs").next().expect("a run").expect("entry").path();
    let journal = std::fs::read_to_string(run.join("journal.jsonl")).expect("journal");
    let kernel = regex::Regex::new(r#""kernel":"[^"]*""#).expect("expression");
    std::fs::write(run.join("journal.jsonl"), kernel.replace_all(&journal, r#""kernel":"9.9""#).as_ref()).expect("journal");
    assert_eq!(place.run(&["report", "pair"]).code, 0);
    assert_eq!(told(&place)["pair"], ["complete", "current", ""]);
    let plan = place.run(&["plan", "pair"]).stdout;
    assert!(plan.contains("measured under other circumstances"), "here it would be measured again: {plan}");
}

#[test]
fn three_wrong_words_are_told_together_and_hostile_names_are_shown() {
    let place = Place::with("pair", PAIR);
    assert_data_eq!(place.run(&["status", "pear", "peer", "nowhere/x.yaml"]).transcript(), file!["transcripts/status_unknown.txt"]);
    assert_eq!(place.fake(CALM, &["run", "pair"]).code, 0);
    let hostile = "=cmd()\u{1b}[31m\u{202e}<b>|\n\"x";
    std::fs::rename(place.path("reports/pair"), place.path(&format!("reports/{hostile}"))).expect("rename");
    let table = place.run(&["status"]);
    assert!(table.stdout.contains("=cmd()⟨U+001B⟩[31m⟨U+202E⟩<b>| \"x"), "{}", table.stdout);
    assert!(![&table.stdout, &table.stderr].iter().any(|text| text.contains(['\u{1b}', '\u{202e}'])), "{}", table.stderr);
    let json: Value = serde_json::from_str(&place.run(&["status", "--format", "json"]).stdout).expect("JSON");
    assert_eq!(json["experiments"][0]["experiment"], hostile);
    let csv = place.run(&["status", "--format", "csv"]).stdout;
    assert!(csv.contains("\n\"'=cmd()"), "{csv}");
}
