//! Transcripts of the program: arguments in; standard output, standard error and exit code out. No daemon is needed.
//!
//! `SNAPSHOTS=overwrite cargo test cli` writes the transcripts anew; read the difference before committing it.

use crate::program::{Place, left, said, signal};
use rustix::process::Signal;
use serde_json::Value;
use shakedown::model::event::Event;
use snapbox::{assert_data_eq, file};
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Stdio};

const PAIR: &str = "\
title: Two levels
matrix: {level: [a, b]}
workload: {on: host, command: 'work {{ level }}', timeout: 5s}
design: {blocks: 2, seed: 7}
";
/// Every trial takes two virtual seconds.
const CALM: &str = r#"[{"wait": {"wall_ms": 2000}}]"#;

#[test]
fn the_help_lists_the_exit_codes_and_every_command() {
    let said = Place::new().run(&["--help"]);
    assert_eq!((said.code, said.stderr.as_str()), (0, ""));
    for line in
        ["  0    everything", "  1    some trials", "  2    usage", "  3    the machine", "  4    the record", "  130  stopped by SIGINT"]
    {
        assert!(said.stdout.contains(line), "{line}\n{}", said.stdout);
    }
    for command in ["check", "plan", "run", "report", "compare", "status", "parse", "doctor", "clean"] {
        assert!(said.stdout.contains(&format!("\n  {command} ")), "{command}");
        assert_eq!(Place::new().run(&[command, "--help"]).code, 0);
    }
    for wrong in [vec![], vec!["runn"], vec!["run"], vec!["plan", "x", "--format", "xml"], vec!["run", "x", "--blocks", "0"]] {
        let said = Place::new().run(&wrong);
        assert_eq!((said.code, said.stdout.as_str()), (2, ""), "{wrong:?}");
        assert!(!said.stderr.is_empty());
    }
}

#[test]
fn a_run_from_check_to_report() {
    let place = Place::with("pair", PAIR);
    assert_data_eq!(place.run(&["check", "pair"]).transcript(), file!["transcripts/check.txt"]);
    assert_data_eq!(place.run(&["plan", "pair"]).transcript(), file!["transcripts/plan.txt"]);
    assert_data_eq!(place.fake(CALM, &["run", "pair"]).transcript(), file!["transcripts/run.txt"]);
    assert_data_eq!(place.fake(CALM, &["run", "pair"]).transcript(), file!["transcripts/run_again.txt"]);
    assert_data_eq!(place.run(&["report", "pair"]).transcript(), file!["transcripts/report.txt"]);
    assert_data_eq!(place.run(&["report", "--check"]).transcript(), file!["transcripts/report_check.txt"]);
    assert_eq!(place.rows("pair").len(), 6);
}

/// The files of a report beside its runs, those that end so.
fn made(place: &Place, end: &str) -> Vec<String> {
    let entries = std::fs::read_dir(place.path("reports/pair")).expect("report").map(|entry| entry.expect("entry").file_name());
    let mut names: Vec<String> = entries.filter_map(|name| name.into_string().ok()).filter(|name| name.ends_with(end)).collect();
    names.sort();
    names
}

#[test]
fn other_charts_run_nothing_again_and_are_drawn() {
    let place = Place::with("pair", PAIR);
    assert_eq!(place.fake(CALM, &["run", "pair"]).code, 0);
    assert_eq!(made(&place, ".png"), ["wall-effects.png", "wall-trials.png"]);
    place.manifest(
        "pair",
        &format!("{PAIR}charts:\n- {{kind: bars, svg: true, title: Bars}}\n- {{kind: line, x: level}}\n- {{kind: cpu}}\n"),
    );
    let said = place.run(&["check", "pair"]);
    assert!(
        said.code == 2 && said.stderr.contains("a line goes over a factor of numbers, and `level` has the level `a`"),
        "{}",
        said.stderr
    );
    place.manifest("pair", &format!("{PAIR}charts:\n- {{kind: bars, svg: true, title: Bars}}\n- {{kind: cpu}}\n"));
    let said = place.fake(CALM, &["run", "pair"]);
    assert!(said.code == 0 && said.stderr.contains("up to date"), "{}", said.stderr);
    assert_eq!(place.rows("pair").len(), 6, "nothing ran");
    let said = place.run(&["report", "pair"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    assert!(said.stderr.contains("warning: pair: the declared chart `cpu` is missing: no trial tells it"), "{}", said.stderr);
    assert_eq!((made(&place, ".png"), made(&place, ".svg")), (vec!["wall-bars.png".to_owned()], vec!["wall-bars.svg".to_owned()]));
    place.manifest("pair", &format!("{PAIR}charts: [{{kind: trials}}]\n"));
    assert_eq!(place.fake(CALM, &["run", "pair"]).code, 0);
    assert_eq!((made(&place, ".png").len(), made(&place, ".svg").len()), (1, 0));
    assert_eq!(place.run(&["report", "pair", "--svg"]).code, 0);
    assert_eq!(made(&place, ".svg"), ["wall-trials.svg"]);
    assert_eq!((place.run(&["report", "pair", "--svg", "--check"]).code, place.run(&["report", "pair", "--check"]).code), (0, 1));
}

/// Some show in the text, some only when templates are filled in and the set-up is resolved: a person sees all of them at once.
#[test]
fn mistakes_of_reading_and_of_planning_are_told_together() {
    let text = "matrix:\n  cpus: [1, 2]\nexclude:\n  - {cpu: 1}\nworkload:\n  image: x\n  command: \"run {{ cpuz }}\"\n  cpus: \"{{ cpus }}\"\n  \
                timeout: 20\n  parse: tme\nmetrics:\n  ratio: {expr: \"wall /\"}\ndesign: {block: 3}\n";
    let said = Place::with("bad", text).run(&["check", "bad", "--format", "json"]);
    assert_eq!(said.code, 2, "{}", said.stdout);
    let found: Vec<(u64, String)> = said
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("json"))
        .map(|problem| (problem["line"].as_u64().expect("line"), problem["message"].as_str().expect("message").to_owned()))
        .collect();
    let lines: Vec<u64> = found.iter().map(|(line, _)| *line).collect();
    assert_eq!(lines, [4, 7, 9, 10, 12, 13], "{found:?}");
    for (index, part) in ["factor `cpu`", "name `cpuz`", "`timeout`", "parser `tme`", "`wall /`", "key `block`"].iter().enumerate() {
        assert!(found[index].1.contains(part), "{found:?}");
    }
}

#[test]
fn mistakes_are_told_all_at_once_with_their_places() {
    let place = Place::with("bad", include_str!("manifests/bad/three_mistakes.yaml"));
    place.manifest("pair", PAIR);
    place.manifest("none", "matrix: {level: [a]}\nexclude:\n  - {level: a}\nworkload: {on: host, command: work}\n");
    place.write("experiments/bytes.yaml", b"title: \xff\xfe\n");
    assert_data_eq!(place.run(&["check", "bad"]).transcript(), file!["transcripts/three_mistakes.txt"]);
    assert_data_eq!(place.run(&["run", "none"]).transcript(), file!["transcripts/nothing_left.txt"]);
    assert_data_eq!(place.run(&["run", "pear"]).transcript(), file!["transcripts/unknown_experiment.txt"]);
    assert_data_eq!(place.run(&["report", "pair"]).transcript(), file!["transcripts/no_record.txt"]);
    assert_data_eq!(place.run(&["plan", "bytes"]).transcript(), file!["transcripts/not_utf8.txt"]);
    assert_data_eq!(
        place.run(&["run", "pair", "--only", "levl=a", "--only", "level=c"]).transcript(),
        file!["transcripts/only_unknown.txt"]
    );
    let json = place.run(&["check", "bad", "--format", "json"]);
    let lines: Vec<Value> = json.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let places: Vec<_> = lines.iter().map(|line| (line["line"].as_u64(), line["column"].as_u64())).collect();
    assert_eq!((json.code, json.stderr.as_str()), (2, ""));
    assert_eq!(places, [(Some(5), Some(6)), (Some(7), Some(3)), (Some(9), Some(12))]);
    assert!(!place.path("reports").exists(), "whoever makes a mistake gets no folder for it");
}

#[test]
fn plans_are_data() {
    let place = Place::with("pair", PAIR);
    let json = place.run(&["plan", "pair", "--format", "json"]);
    assert_eq!((json.code, json.stderr.as_str()), (0, ""));
    let plan: Value = serde_json::from_str(&json.stdout).expect("JSON");
    let keys = |value: &Value| {
        let mut keys: Vec<String> = value.as_object().expect("object").keys().cloned().collect();
        keys.sort();
        keys.join(" ")
    };
    assert_eq!(keys(&plan), "digest experiment factors seed trials variants");
    assert_eq!(keys(&plan["variants"][0]), "id levels reason");
    assert_eq!(keys(&plan["trials"][0]), "batch block id position variant");
    let ids: Vec<_> = plan["variants"].as_array().expect("list").iter().map(|variant| variant["id"].as_str().expect("id")).collect();
    assert_eq!(ids, ["level=a", "level=b", "level=a#aa"]);
    let csv = place.run(&["plan", "pair", "--format", "csv"]);
    assert_eq!(csv.stdout.lines().next(), Some("trial,variant,block,position,batch"));
    assert_eq!(csv.stdout.lines().count(), 7);
    for (line, trial) in csv.stdout.lines().skip(1).zip(plan["trials"].as_array().expect("list")) {
        assert!(line.starts_with(&format!("{},{},", trial["id"].as_str().expect("id"), trial["variant"].as_str().expect("variant"))));
    }
    assert_eq!(place.run(&["plan", "pair", "--format", "csv"]).stdout, csv.stdout, "the same plan twice");
    let quick = place.run(&["plan", "pair", "--quick", "--format", "csv"]).stdout;
    assert_eq!(quick.lines().count(), 1 + 5 * 3);
    let only = place.run(&["plan", "pair", "--blocks", "1", "--only", "level=b", "--format", "csv"]).stdout;
    assert_eq!(only.lines().count(), 1 + 3, "with the baseline and its copy");
}

#[test]
fn a_closed_pipe_is_quiet_and_a_full_disk_is_not() {
    let place =
        Place::with("pair", &PAIR.replace("[a, b]", &format!("[{}]", (0..900).map(|n| n.to_string()).collect::<Vec<_>>().join(","))));
    let mut child =
        place.command(&["plan", "pair", "--format", "csv"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("spawn");
    let mut line = String::new();
    BufReader::with_capacity(64, child.stdout.take().expect("stdout")).read_line(&mut line).expect("line");
    assert_eq!(line, "trial,variant,block,position,batch\n");
    let ended = said(&child.wait_with_output().expect("end"));
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("/dev/full");
    let ended = said(&place.command(&["plan", "pair", "--format", "csv"]).stdout(full).output().expect("run"));
    assert_eq!(ended.code, 4);
    assert!(ended.stderr.contains("standard output"), "{}", ended.stderr);
}

#[test]
fn a_run_ends_well_when_nobody_reads_what_it_says() {
    let place = Place::with("pair", PAIR);
    place.write("script.json", CALM);
    let mut command = place.command(&["run", "pair", "--engine", "fake:script.json"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("spawn");
    drop(child.stderr.take());
    assert_eq!(child.wait().expect("end").code(), Some(0));
    assert_eq!(place.rows("pair").len(), 6);
}

#[test]
fn colour_is_for_who_wants_it() {
    let place = Place::new();
    let escape = "\u{1b}[";
    assert!(!place.run(&["run", "x"]).stderr.contains(escape), "no terminal");
    assert!(place.run(&["--color", "always", "run", "x"]).stderr.contains(escape));
    assert!(!place.run(&["run", "x", "--color", "never"]).stderr.contains(escape));
    let forced = |name: &str, value: &str| said(&place.command(&["run", "x"]).env(name, value).output().expect("run")).stderr;
    assert!(forced("CLICOLOR_FORCE", "1").contains(escape));
    let both = said(&place.command(&["run", "x"]).env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1").output().expect("run")).stderr;
    assert!(!both.contains(escape));
}

#[test]
fn events_for_machines_are_json_and_stdout_is_data() {
    let place = Place::with("pair", PAIR);
    for round in 0..2 {
        let said = place.fake(CALM, &["run", "pair", "--log-format", "json"]);
        assert_eq!(said.code, 0);
        let parsed = said.stderr.lines().map(|line| serde_json::from_str::<Value>(line).unwrap_or_else(|error| panic!("{error}: {line}")));
        let kinds: Vec<String> = parsed.map(|value| value["event"].as_str().expect("event").to_owned()).collect();
        let trials = ["trial-started", "trial-finished"].repeat(6);
        // The answers in plain words are notes, of the second round after the one that nothing was to be done.
        let answers = vec!["note"; 2];
        let expected = if round == 0 { [vec!["run-started"], trials, vec!["run-finished"], answers].concat() } else { vec!["note"; 3] };
        assert_eq!(kinds, expected);
        assert!(said.stdout.lines().all(|line| place.path(line).is_file()), "paths that were written: {}", said.stdout);
    }
    place.manifest("pair", "workload: {}\n");
    let said = place.fake(CALM, &["run", "pair", "--log-format", "json"]);
    assert!(said.code == 2 && said.stderr.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()), "{}", said.stderr);
}

#[test]
fn a_failed_trial_is_a_row_without_numbers_and_is_tried_by_the_next_run() {
    let place = Place::with("pair", PAIR);
    let said = place.fake(r#"[{"match": "work b", "wait": {"exit": 3}, "stderr": "boom"}, {"wait": {"wall_ms": 2000}}]"#, &["run", "pair"]);
    assert_data_eq!(said.transcript(), file!["transcripts/run_failed.txt"]);
    let csv = std::fs::read_to_string(place.path("reports/pair/trials.csv")).expect("trials.csv");
    let failed: Vec<&str> = csv.lines().filter(|line| line.contains("boom")).collect();
    assert_eq!(failed.len(), 2);
    assert!(failed.iter().all(|line| line.contains(",failed,measure,") && line.ends_with(",,b,")), "{failed:?}");
    for name in ["summary.csv", "effects.csv"] {
        let text = std::fs::read_to_string(place.path(&format!("reports/pair/{name}"))).expect(name);
        assert!(!text.lines().any(|line| line.starts_with("level=b,") && line.contains("wall,s,1")), "{name}:\n{text}");
    }
    let plan = place.run(&["plan", "pair"]).stdout;
    assert!(plan.contains("exit code 3: boom"), "{plan}");
    let said = place.fake(CALM, &["run", "pair"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    let good = place.rows("pair").iter().filter(|row| row.variant == "level=b" && row.failure.is_none()).count();
    assert_eq!(good, 2);
}

#[test]
fn going_on_after_failures_still_says_that_there_were_some() {
    let place = Place::with("pair", &PAIR.replace("blocks: 2", "blocks: 3"));
    let said = place.fake(r#"[{"create_error": "the daemon is gone"}]"#, &["run", "pair"]);
    assert_eq!(said.code, 3, "{}", said.stderr);
    assert!(said.stderr.contains("the engine failed 3 trials in a row") && said.stderr.contains("the daemon is gone"), "{}", said.stderr);
    let said = place.fake(CALM, &["run", "pair"]);
    assert!(said.stderr.contains("3 of 9 trials are there") && said.stderr.contains("3 of 9 trials failed"), "{}", said.stderr);
    assert_eq!(said.code, 1);
    assert_eq!(place.fake(CALM, &["run", "pair"]).code, 0);
    assert!(place.fake(CALM, &["run", "pair"]).stderr.contains("up to date"));
}

/// Cuts the journal of the only run after some rows, as a power cut does.
fn cut(place: &Place, rows: usize) -> std::path::PathBuf {
    let runs = std::fs::read_dir(place.path("reports/pair/runs")).expect("runs");
    let [folder] = &runs.map(|entry| entry.expect("entry").path()).collect::<Vec<_>>()[..] else { panic!("one run") };
    let path = folder.join("journal.jsonl");
    let text = std::fs::read_to_string(&path).expect("journal");
    let finished: Vec<usize> = text.match_indices("{\"event\":\"trial-finished\"").map(|(at, _)| at).collect();
    let end = text[finished[rows - 1]..].find('\n').expect("line") + finished[rows - 1] + 1;
    std::fs::write(&path, &text[..end]).expect("journal");
    path
}

#[test]
fn going_on_with_a_part_runs_the_rest_after_it() {
    let place = Place::with("pair", &PAIR.replace("[a, b]", "[a, b, c]"));
    assert_eq!(place.fake(CALM, &["run", "pair", "--only", "level=b"]).code, 0);
    cut(&place, 4);
    place.manifest("pair", &PAIR.replace("[a, b]", "[a, b, c]").replace("Two levels", "Another title"));
    let said = place.fake(CALM, &["run", "pair"]);
    assert!(said.code == 0 && said.stderr.contains("4 of 6 trials are there"), "{}", said.stderr);
    let rows: Vec<usize> = place.journals("pair").iter().map(|events| count(events)).collect();
    assert_eq!(rows.iter().sum::<usize>(), 6 + 6, "the part, then `c` beside the baseline and its copy: {rows:?}");
    let titled = |events: &Vec<Event>| {
        events.iter().any(|event| matches!(event, Event::Presented(now) if now.presentation.title == "Another title"))
    };
    assert_eq!(place.journals("pair").iter().filter(|events| titled(events)).count(), 1, "the run that went on follows the manifest");
    assert!(place.fake(CALM, &["run", "pair"]).stderr.contains("up to date"));
}

#[test]
fn an_interrupted_run_does_not_go_on_with_another_engine() {
    let place = Place::with("pair", PAIR);
    assert_eq!(place.fake(CALM, &["run", "pair"]).code, 0);
    let path = cut(&place, 4);
    let text = std::fs::read_to_string(&path).expect("journal");
    std::fs::write(&path, text.replacen("\"storage_driver\":\"\"", "\"storage_driver\":\"vfs\"", 1)).expect("journal");
    let said = place.fake(CALM, &["run", "pair"]);
    assert!(said.code == 0 && said.stderr.contains("stays unfinished (fake storage driver: vfs -> )"), "{}", said.stderr);
    assert_eq!(place.journals("pair").iter().map(|events| count(events)).sum::<usize>(), 4 + 6, "all of it again");
    let page = std::fs::read_to_string(place.path("reports/pair/README.md")).expect("page");
    assert!(page.contains("was measured on another engine"), "{page}");
    assert!(place.fake(CALM, &["run", "pair"]).stderr.contains("up to date"));
}

fn count(events: &[Event]) -> usize {
    events.iter().filter(|event| matches!(event, Event::TrialFinished(_))).count()
}

#[test]
fn an_attempt_that_the_engine_failed_is_no_end_of_a_trial() {
    let place = Place::with("pair", PAIR);
    assert_eq!(place.fake(r#"[{"create_error": "busy", "times": 1}, {"wait": {"wall_ms": 2000}}]"#, &["run", "pair"]).code, 0);
    assert_eq!(place.rows("pair").len(), 6 + 1);
    cut(&place, 1);
    let said = place.fake(CALM, &["run", "pair"]);
    assert!(said.code == 0 && said.stderr.contains("0 of 6 trials are there"), "{}", said.stderr);
    let rows = place.rows("pair");
    let of_first: Vec<_> = rows.iter().filter(|row| row.trial == rows[0].trial).map(|row| (row.attempt, row.failure.is_none())).collect();
    assert_eq!((of_first, rows.len()), (vec![(1, false), (2, true)], 7));
}

#[test]
fn a_lost_trial_of_the_baseline_is_made_good_with_what_stood_beside_it() {
    let place = Place::with("pair", PAIR);
    // The first trial is one of the copy, the second one of the baseline.
    let script = r#"[{"match": "work a", "times": 1, "wait": {"wall_ms": 2000}}, {"match": "work a", "times": 1, "wait": {"exit": 3}},
        {"wait": {"wall_ms": 2000}}]"#;
    assert_eq!(place.fake(script, &["run", "pair"]).code, 1);
    assert_eq!(place.rows("pair").iter().find(|row| row.failure.is_some()).map(|row| row.variant.as_str()), Some("level=a"));
    assert_eq!((place.fake(CALM, &["run", "pair"]).code, place.rows("pair").len()), (0, 6 + 3));
    assert!(place.fake(CALM, &["run", "pair"]).stderr.contains("up to date"));
}

#[test]
fn the_report_follows_what_runs_nothing() {
    let text = |levels: &str, price: u32| {
        PAIR.replace("[a, b]", levels).replace(
            "design:",
            &format!("vars: {{price: {price}}}\nmetrics: {{wall: {{better: lower}}, cost: {{expr: wall * price}}}}\ndesign:"),
        )
    };
    let place = Place::with("pair", &text("[a, b, c]", 10));
    assert_eq!(place.fake(CALM, &["run", "pair"]).code, 0);
    let read = |name: &str| std::fs::read_to_string(place.path(&format!("reports/pair/{name}"))).expect(name);
    assert!(read("trials.csv").contains(",20") && read("factors.csv").contains(",c,"));
    place.manifest("pair", &text("[a, b]", 400));
    let said = place.fake(CALM, &["run", "pair"]);
    assert!(said.stderr.contains("up to date"), "{}", said.stderr);
    assert!(read("trials.csv").contains(",800") && !read("factors.csv").contains(",c,"), "{}", read("trials.csv"));
    let events = place.journals("pair").concat().len();
    assert_eq!(place.fake(CALM, &["run", "pair"]).code, 0);
    assert_eq!(place.journals("pair").concat().len(), events, "nothing changed, nothing is written");
}

#[test]
fn what_to_run_can_be_chosen() {
    let place = Place::with("pair", PAIR);
    let run = |arguments: &[&str]| {
        let before = place.rows("pair").len();
        let said = place.fake(CALM, &[&["run", "pair"], arguments].concat());
        assert_eq!(said.code, 0, "{arguments:?}: {}", said.stderr);
        place.rows("pair").len() - before
    };
    assert_eq!(run(&["--blocks", "1", "--only", "level=b"]), 3);
    assert_eq!(run(&["--blocks", "1"]), 0);
    assert_eq!(run(&[]), 3, "one more block of each, and the copy");
    assert_eq!(run(&[]), 0);
    assert_eq!(run(&["--quick"]), 9, "up to five blocks");
    assert_eq!(run(&["--fresh"]), 6);
    place.manifest("pair", &PAIR.replace("Two levels", "Another title"));
    let page = |place: &Place| std::fs::read_to_string(place.path("reports/pair/README.md")).expect("page");
    assert!(page(&place).contains("Two levels"));
    assert_eq!(run(&[]), 0, "a title runs nothing");
    assert!(page(&place).contains("Another title"));
}

#[test]
fn no_image_no_engine_no_host() {
    let place = Place::with("box", "workload: {image: nginx, command: work, timeout: 5s}\ndesign: {blocks: 1, seed: 7}\n");
    let said = place.run(&["run", "box", "--engine", "unix:///nowhere/engine.sock"]);
    assert_data_eq!(said.transcript(), file!["transcripts/no_daemon.txt"]);
    assert!(!place.path("reports").exists(), "nothing was begun");
    assert_data_eq!(
        place.run(&["plan", "box", "--preflight", "--engine", "unix:///nowhere/engine.sock"]).transcript(),
        file!["transcripts/preflight_no_daemon.txt"]
    );
    let said = place.fake(r#"[{"match": "nginx", "image_error": "no such image"}]"#, &["run", "box"]);
    assert_eq!(said.code, 3);
    assert!(said.stderr.contains("no such image"), "{}", said.stderr);
    assert_eq!(place.rows("box"), []);
    place.manifest("pair", PAIR);
    let script = r#"[{"match": "work a", "unsupported": "no a here"}, {"match": "work b", "unsupported": "no b here"}]"#;
    let said = place.fake(script, &["plan", "pair", "--preflight"]);
    assert_eq!(said.code, 3);
    assert!(said.stderr.contains("level=a: no a here") && said.stderr.contains("level=b: no b here"), "{}", said.stderr);
    let said = place.fake("[]", &["plan", "pair", "--preflight"]);
    assert_eq!((said.code, said.stderr.as_str()), (0, "pair: every variant can run here (fake)\n"));
    assert!(!place.path("reports/pair").exists());
}

#[test]
fn a_report_needs_the_record_only() {
    let place = Place::with("pair", PAIR);
    assert_eq!(place.fake(CALM, &["run", "pair"]).code, 0);
    let files = ["trials.csv", "summary.csv", "effects.csv", "factors.csv", "metrics.csv", "README.md", "index.html", "wall-trials.png"];
    let bytes = || files.map(|name| std::fs::read(place.path(&format!("reports/pair/{name}"))).expect(name));
    let first = bytes();
    std::fs::remove_dir_all(place.path("experiments")).expect("remove the manifest");
    for name in files {
        std::fs::write(place.path(&format!("reports/pair/{name}")), "edited").expect("edit");
        let said = place.run(&["report", "--check", "pair"]);
        assert!(said.code == 1 && said.stderr.contains(name), "{}", said.stderr);
        assert_eq!(place.run(&["report", "pair"]).code, 0);
        assert_eq!(place.run(&["report", "--check"]).code, 0);
    }
    assert!(bytes() == first, "the same record gives the same bytes");
    let elsewhere = Place::new();
    let reports = place.path("reports").display().to_string();
    assert_eq!(elsewhere.run(&["report", "--check", "pair", "--reports", &reports]).code, 0);
    let manifest = place.path("experiments/pair.yaml").display().to_string();
    assert_eq!(elsewhere.run(&["report", "--check", &manifest]).code, 0, "a manifest's reports are beside its folder");
}

#[test]
fn a_persons_own_templates_make_the_pages() {
    let place = Place::with("pair", PAIR);
    assert_eq!(place.fake(CALM, &["run", "pair"]).code, 0);
    let read = |name: &str| std::fs::read_to_string(place.path(&format!("reports/pair/{name}"))).expect(name);
    let built_in = read("README.md");
    place.write("templates/report.html.j2", "<title>{{ title }}</title>\n<style>{% include \"report.css\" %}</style>\n");
    assert_eq!(place.run(&["report"]).code, 0);
    assert!(read("index.html").starts_with("<title>Two levels</title>\n<style>:root {"), "{}", read("index.html"));
    assert_eq!(read("README.md"), built_in, "the other page is left alone");
    place.write("templates/report.md.j2", "# {{ title }}\n{{ tilte }}\n");
    let said = place.run(&["report"]);
    assert_eq!(said.code, 4);
    assert!(said.stderr.contains("the template `report.md.j2` cannot be rendered, line 2: undefined value"), "{}", said.stderr);
    std::fs::write(place.path("templates/report.md.j2"), [0xff, 0xfe]).expect("template");
    let said = place.run(&["report"]);
    assert_eq!(said.code, 4);
    assert!(said.stderr.contains("read ") && said.stderr.contains("templates/report.md.j2"), "{}", said.stderr);
    assert_eq!(read("README.md"), built_in, "nothing was written");
}

#[test]
fn what_an_earlier_report_left_is_removed_and_a_persons_files_stay() {
    let place = Place::with("pair", PAIR);
    assert_eq!(place.fake(CALM, &["run", "pair"]).code, 0);
    let persons = ["sketch.png", "notes.csv", "notes.md", "side-effects.png", "wall-by-hand.svg"];
    for name in ["wall-by-gone.png", "wall-by-gone.svg"].iter().chain(&persons) {
        place.write(&format!("reports/pair/{name}"), "text");
    }
    let page = std::fs::read_to_string(place.path("reports/pair/README.md")).expect("the page");
    place.write("reports/pair/README.md", format!("{page}\n![of another day](wall-by-gone.png)\n"));
    let said = place.run(&["report", "--check"]);
    assert_eq!(said.code, 1);
    assert!(said.stderr.contains("would change README.md and remove wall-by-gone.png, wall-by-gone.svg\n"), "{}", said.stderr);
    assert!(place.run(&["report"]).stderr.starts_with("removed reports/pair/wall-by-gone.png"));
    assert_eq!(place.run(&["report", "--check"]).code, 0);
    let there = |name: &str| place.path(&format!("reports/pair/{name}")).exists();
    assert!(!there("wall-by-gone.png") && !there("wall-by-gone.svg") && persons.iter().all(|name| there(name)));
}

#[test]
fn no_record_at_all_is_said() {
    let place = Place::new();
    std::fs::create_dir(place.path("reports")).expect("folder");
    for arguments in [vec!["report"], vec!["report", "--check"]] {
        let said = place.run(&arguments);
        assert!(said.code == 2 && said.stderr.contains("there is no record below reports"), "{}", said.stderr);
    }
}

#[test]
fn warnings_are_json_too() {
    let text = format!("{PAIR}exclude: [{{level: c}}, {{level: c}}]\n").replace("[a, b]", "[a, b, c]");
    let place = Place::with("pair", &text);
    let said = place.run(&["check", "pair", "--format", "json"]);
    let lines: Vec<Value> = said.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!((said.code, said.stderr.as_str(), lines.len()), (0, "", 1), "{}", said.stdout);
    assert_eq!(lines[0]["severity"], "warning");
}

#[test]
fn clean_fails_when_the_engine_that_it_is_given_does_not_answer() {
    let place = Place::new();
    let said = place.run(&["clean", "--engine", "unix:///nowhere/engine.sock"]);
    assert_eq!(said.code, 3);
    assert!(!said.stderr.contains("nothing was left"), "{}", said.stderr);
    let named = place.command(&["clean"]).env("SHAKEDOWN_ENGINE", "unix:///nowhere/engine.sock").output().expect("run");
    assert_eq!(named.status.code(), Some(3));
    let said = place.fake("[]", &["clean"]);
    assert_eq!((said.code, said.stderr.as_str()), (0, "nothing was left\n"));
}

#[test]
fn a_record_that_cannot_be_written_is_exit_code_four() {
    let place = Place::with("pair", PAIR);
    place.write("file", "not a folder");
    let said = place.fake(CALM, &["run", "pair", "--reports", "file"]);
    assert_eq!(said.code, 4, "{}", said.stderr);
    assert!(said.stderr.contains("file/pair"), "{}", said.stderr);
}

#[test]
fn a_name_may_have_dots() {
    let place = Place::with("v1.2", PAIR);
    assert_eq!(place.fake(CALM, &["run", "v1.2"]).code, 0);
    assert_eq!(place.run(&["report", "v1.2", "--check"]).code, 0);
}

#[test]
fn parse_prints_what_an_output_holds() {
    let place = Place::new();
    place.write("out.txt", "");
    place.write("err.txt", "real 1.50\nuser 1.25\nsys 0.25\n");
    let said = place.run(&["parse", "time", "out.txt", "--stderr", "err.txt", "--exit-code", "0"]);
    let value: Value = serde_json::from_str(&said.stdout).expect("JSON");
    assert_eq!(
        (said.code, &value["ok"], &value["metrics"][0]["name"], &value["metrics"][0]["value"]),
        (0, &true.into(), &"real".into(), &1.5.into())
    );
    let said = place.run(&["parse", "time", "out.txt"]);
    assert_eq!(said.code, 1);
    let said = place.run(&["parse", "tiem", "out.txt"]);
    assert!(said.code == 2 && said.stderr.contains("did you mean `time`?"), "{}", said.stderr);
    assert_eq!(place.run(&["parse", "time", "absent.txt"]).code, 2);
}

/// Starts a run whose events are read until `wanted` comes.
/// Starts the program and reads its events up to the first that has `wanted`.
pub fn until(place: &Place, arguments: &[&str], wanted: &str) -> (Child, BufReader<std::process::ChildStderr>) {
    let mut command = place.command(&[arguments, &["--log-format", "json"]].concat());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("spawn");
    let mut events = BufReader::new(child.stderr.take().expect("stderr"));
    let mut line = String::new();
    while !line.contains(wanted) {
        line.clear();
        assert!(events.read_line(&mut line).expect("line") > 0, "it ended before `{wanted}`");
    }
    (child, events)
}

/// All that is still to come.
pub fn rest(mut events: impl Read) -> String {
    let mut text = String::new();
    events.read_to_string(&mut text).expect("UTF-8");
    text
}

#[test]
fn one_process_at_a_time_runs_an_experiment() {
    let place = Place::with("pair", PAIR);
    place.write("hang.json", r#"[{"wait": {"hang": true}}]"#);
    let (mut child, events) = until(&place, &["run", "pair", "--engine", "fake:hang.json"], "trial-started");
    let said = place.fake(CALM, &["run", "pair"]);
    signal(&child, Signal::INT);
    assert!(rest(events).contains("run-interrupted"));
    assert_eq!(child.wait().expect("end").code(), Some(130));
    assert_eq!(said.code, 3);
    assert!(said.stderr.contains("`pair` is being run by another process"), "{}", said.stderr);
    assert_eq!(place.fake(CALM, &["run", "pair"]).code, 0);
    assert_eq!(place.rows("pair").len(), 6);
}

#[test]
fn the_second_signal_ends_the_process_at_once() {
    let place = Place::with("pair", PAIR);
    for (step, first, second, code) in [("create", Signal::INT, Signal::INT, 130), ("remove", Signal::TERM, Signal::TERM, 143)] {
        place.write("hang.json", format!(r#"[{{"hangs": ["{step}"], "wait": {{"hang": true}}}}]"#));
        let (mut child, mut events) = until(&place, &["run", "pair", "--engine", "fake:hang.json"], "trial-started");
        signal(&child, first);
        let mut line = String::new();
        events.read_line(&mut line).expect("line");
        assert!(line.contains("once more to stop at once"), "{line}");
        signal(&child, second);
        let said = rest(events);
        assert!(said.contains("stopped at once"), "{said}");
        assert_eq!(child.wait().expect("end").code(), Some(code), "{step}");
    }
    assert_eq!(place.rows("pair"), []);
    assert_eq!(place.fake(CALM, &["run", "pair"]).code, 0);
}

#[test]
fn signals_end_a_host_process_and_leave_nothing() {
    let tag = format!("shakedown-signal-{}", std::process::id());
    let manifest = format!("workload: {{on: host, command: [/bin/sh, -c, 'sleep 30; : {tag}'], timeout: 50s}}\ndesign: {{blocks: 1}}\n");
    let place = Place::with("host", &manifest);
    let said = place.run(&["plan", "host", "--preflight"]);
    if said.code == 3 {
        crate::skipped::skip(&said.stderr);
        return;
    }
    for (sent, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 143)] {
        let (mut child, events) = until(&place, &["run", "host"], "trial-started");
        signal(&child, sent);
        let said = rest(events);
        assert_eq!(child.wait().expect("end").code(), Some(code), "{said}");
        assert!(said.contains("run-interrupted"), "{said}");
        assert_eq!(left(&place.run_ids("host"), &tag), Vec::<String>::new());
    }
    assert_eq!(place.rows("host"), []);
    place.manifest("host", &manifest.replace("sleep 30", "sleep 0"));
    assert_eq!(place.run(&["run", "host"]).code, 0);
}

/// What is committed below `reports/` is what the committed records give, to the byte.
#[test]
fn committed_reports_are_those_of_their_records() {
    let said = std::process::Command::new(env!("CARGO_BIN_EXE_shakedown"))
        .args(["report", "--check"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("report");
    assert_eq!(said.status.code(), Some(0), "{}", String::from_utf8_lossy(&said.stderr));
    let experiments = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/reports")).expect("reports").count();
    assert!(experiments >= 10, "{experiments} experiments are reported");
    assert_eq!(String::from_utf8_lossy(&said.stderr).lines().count(), experiments);
}
