//! A number of blocks that is found while they are measured: when it is looked, when it ends, and that it stays ended.

use crate::program::{Place, Said};
use shakedown::model::event::{Enough, Event, Looked};
use shakedown::model::outcome::Outcome;
use snapbox::{assert_data_eq, file};

fn manifest(adaptive: &str) -> String {
    format!(
        "title: Two levels\nmatrix: {{level: [a, b]}}\nworkload: {{on: host, command: 'work {{{{ level }}}}', timeout: 5s}}\n\
         design: {{adaptive: {adaptive}, seed: 7}}\n"
    )
}

/// Trials of `b` take 5 % less and 5 % more than those of `a`, in turn: half of the interval of a ratio is 3.7 % wide after 8 blocks, 2.7 % after
/// 12, 2.3 % after 16 and 1.8 % after 24.
fn noisy() -> String {
    let rule = |block: u32| {
        format!(r#"{{"match": "work b", "times": 1, "wait": {{"wall_ms": {}}}}}"#, if block.is_multiple_of(2) { 1900 } else { 2100 })
    };
    let rules: Vec<String> = (0..40).map(rule).collect();
    format!(r#"[{}, {{"wait": {{"wall_ms": 2000}}}}]"#, rules.join(", "))
}

fn run(place: &Place, adaptive: &str, script: &str) -> Said {
    place.manifest("pair", &manifest(adaptive));
    let said = place.fake(script, &["run", "pair"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    said
}

/// The looks of all runs, by the blocks that they saw.
fn looks(place: &Place) -> Vec<Looked> {
    let events = place.journals("pair").concat().into_iter();
    let mut found: Vec<Looked> = events.filter_map(|event| if let Event::Looked(looked) = event { Some(looked) } else { None }).collect();
    found.sort_by_key(|looked| looked.blocks);
    found
}

fn told(looks: &[Looked]) -> Vec<(u32, Option<Enough>)> {
    looks.iter().map(|looked| (looked.blocks, looked.enough)).collect()
}

#[test]
fn a_run_ends_at_the_first_look_that_is_narrow_enough_and_stays_ended() {
    let place = Place::new();
    place.manifest("pair", &manifest("{target: 3%}"));
    let plan = place.run(&["plan", "pair"]).stdout;
    assert!(plan.contains("as many blocks as give intervals of ± 3 %: looks after 8, 12, 16, 24 and 32 of them"), "{plan}");
    let said = run(&place, "{target: 3%}", &noisy());
    assert!(said.stderr.contains("look after 8 blocks: intervals of ± 3.7"), "{}", said.stderr);
    assert_eq!(told(&looks(&place)), [(8, None), (12, Some(Enough::Narrow))]);
    assert_eq!(place.rows("pair").len(), 3 * 12);
    assert!(run(&place, "{target: 3%}", &noisy()).stderr.contains("up to date"));
    let status = || place.run(&["status", "pair"]).stdout;
    assert!(status().contains("complete"), "{}", status());
    place.manifest("pair", &manifest("{target: 2%}"));
    assert!(status().contains("12 of 32"), "{}", status());
    assert!(run(&place, "{target: 4%}", &noisy()).stderr.contains("up to date"), "what is narrow enough for less stays so");
    run(&place, "{target: 2%}", &noisy());
    assert_eq!(told(&looks(&place)[2..]), [(16, None), (24, Some(Enough::Narrow))], "a narrower target goes on from what is there");
    assert_eq!(place.rows("pair").len(), 3 * 24);
    assert!(run(&place, "{target: 2%}", &noisy()).stderr.contains("up to date"));
    let page = std::fs::read_to_string(place.path("reports/pair/README.md")).expect("the page");
    assert!(page.contains("Adaptive: stopped at look 4 of 5") && page.contains("must be at most 0.035"), "{page}");
    assert!(page.contains(": 12 blocks, seed 7."), "{page}");
}

#[test]
fn a_level_that_comes_later_gets_the_blocks_that_were_enough() {
    let place = Place::new();
    run(&place, "{target: 3%}", &noisy());
    place.manifest("pair", &manifest("{target: 3%}").replace("[a, b]", "[a, b, c]"));
    assert_eq!(place.fake(&noisy(), &["run", "pair"]).code, 0);
    let of = |level: &str| place.rows("pair").iter().filter(|row| row.variant == format!("level={level}")).count();
    assert_eq!((of("a"), of("b"), of("c")), (24, 12, 12), "the baseline is measured again beside it");
}

#[test]
fn what_never_gets_narrow_ends_at_the_last_look() {
    let place = Place::new();
    run(&place, "{target: 0.1%}", &noisy());
    let all = looks(&place);
    assert_eq!(all.iter().map(|looked| looked.blocks).collect::<Vec<_>>(), [8, 12, 16, 24, 32]);
    assert_eq!(all[4].enough, Some(Enough::Last));
    assert!(run(&place, "{target: 0.1%}", &noisy()).stderr.contains("up to date"));
}

#[test]
fn time_that_is_over_ends_a_run_after_its_block_and_more_time_goes_on() {
    let place = Place::new();
    run(&place, "{target: 0.1%, budget: 1ms}", &noisy());
    assert_eq!(told(&looks(&place)), [(0, Some(Enough::Budget))], "one block gives no spread");
    assert_eq!(place.rows("pair").len(), 3);
    assert!(run(&place, "{target: 0.1%, budget: 1ms}", &noisy()).stderr.contains("up to date"));
    run(&place, "{target: 0.1%}", &noisy());
    assert_eq!(place.rows("pair").len(), 3 * 32);
}

#[test]
fn a_number_of_blocks_that_is_asked_for_is_not_found() {
    let place = Place::new();
    place.manifest("pair", &manifest("{target: 3%}"));
    assert_eq!(place.fake(&noisy(), &["run", "pair", "--quick"]).code, 0);
    assert_eq!((looks(&place).len(), place.rows("pair").len()), (0, 3 * 5));
    assert_eq!(place.fake(&noisy(), &["run", "pair", "--blocks", "9"]).code, 0);
    assert_eq!((looks(&place).len(), place.rows("pair").len()), (0, 3 * 9));
}

#[test]
fn a_failed_trial_puts_the_look_off() {
    let place = Place::new();
    let failing = noisy().replacen(r#"{"wall_ms": 1900}"#, r#"{"exit": 3}"#, 1);
    place.manifest("pair", &manifest("{target: 3%}"));
    assert_eq!(place.fake(&failing, &["run", "pair"]).code, 1);
    assert_eq!(looks(&place)[0].blocks, 8);
    let rows = place.rows("pair");
    let good = |row: &&shakedown::model::event::TrialRow| row.outcome == Outcome::Ok && row.variant == "level=b";
    assert_eq!(rows.iter().filter(good).count(), 12);
    assert_eq!(rows.iter().filter(|row| row.variant == "level=b").count(), 13);
}

#[test]
fn mistakes_are_told_with_their_places() {
    let place = Place::new();
    place.manifest(
        "pair",
        "matrix: {level: [a, b]}\nworkload: {on: host, command: work}\n\
         design: {blocks: 5, adaptive: {target: 0%, budget: 0s, looks: 3}, correction: bonferroni, variance: equal}\n",
    );
    let said = place.run(&["check", "pair"]);
    assert_data_eq!(said.transcript(), file!["transcripts/adaptive_mistakes.txt"]);
}
