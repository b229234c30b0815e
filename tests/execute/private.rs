//! Engines that are started for the run: when they go up and down, what is thrown away after a start, and what a failure costs.

use super::bench::Bench;
use shakedown::execute::{Ended, ExecuteError};
use shakedown::model::outcome::{FailureKind, Outcome, Phase};

/// Two engines, and one of its own for the A/A copy.
const TWO: &str = "
matrix: {proxy: [true, false]}
engine: {userland_proxy: '{{ proxy }}'}
workload: {image: x, command: 'work {{ proxy }}'}
design: {blocks: 2}
";
/// One engine and nothing to compare it with: a start serves all trials.
const ONE: &str = "
engine: {userland_proxy: false}
workload: {image: x, command: work}
design: {blocks: 2}
";

/// The trials that ran between each start of an engine and its end, by the engine's label; without starts for images only.
fn lives(log: &[String]) -> Vec<(String, Vec<String>)> {
    let mut lives: Vec<(String, Vec<String>, bool)> = Vec::new();
    for line in log {
        if let Some(label) = line.strip_prefix("up ") {
            lives.push((label.to_owned(), Vec::new(), true));
        } else if let Some(label) = line.strip_prefix("down ") {
            lives.iter_mut().find(|(known, _, up)| known == label && *up).expect("it was up").2 = false;
        } else if let Some((unit, label)) = line.strip_prefix("create ").and_then(|rest| rest.split_once(" on ")) {
            let life = lives.iter_mut().find(|(known, _, up)| known == label && *up).expect("it is up");
            life.1.push(unit.trim_end_matches("/workload").to_owned());
        }
    }
    assert!(lives.iter().all(|(_, _, up)| !up), "{log:#?}");
    lives.into_iter().map(|(label, trials, _)| (label, trials)).filter(|(_, trials)| !trials.is_empty()).collect()
}

#[tokio::test]
async fn an_engine_starts_once_per_super_block_and_its_first_measurement_is_thrown_away() {
    for (starts, trials) in [(1, 2), (2, 1)] {
        let bench = Bench::new(&TWO.replace("blocks: 2", &format!("blocks: 2, engine_starts: {starts}")), "[]");
        assert_eq!(bench.run().await.expect("run"), Ended { failed: 0, interrupted: false });
        let log = bench.notes.log();
        let lives = lives(&log);
        assert_eq!(lives.len(), 3 * starts, "the copy has an engine of its own: {log:#?}");
        for (label, ran) in &lives {
            let primer = format!("{}-primer", ran[1]);
            assert_eq!((ran.len(), &ran[0]), (1 + trials, &primer), "{label}: {log:#?}");
        }
        let primers = |outcome| bench.rows().into_iter().filter(move |row| row.outcome == outcome).collect::<Vec<_>>();
        assert_eq!((primers(Outcome::Primer).len(), primers(Outcome::Ok).len()), (3 * starts, 6));
        assert!(primers(Outcome::Primer).iter().all(|row| row.trial.ends_with("-primer") && row.metrics.len() == 1));
        assert!(primers(Outcome::Ok).iter().all(|row| row.engine_start.is_some_and(|start| start as usize <= starts)));
        assert_eq!(log.first().map(String::as_str), Some("sweep_private"));
        assert_eq!(log.last().map(String::as_str), Some("sweep_private"));
        assert_eq!(log.iter().filter(|line| *line == "sweep_private").count(), 2, "{log:#?}");
        bench.nothing_is_left("engines");
    }
}

#[tokio::test]
async fn an_engine_is_down_before_trials_that_do_not_need_it() {
    let bench = Bench::new(&TWO.replace("blocks: 2", "blocks: 2, engine_starts: 2"), "[]");
    bench.run().await.expect("run");
    let mut up: Vec<String> = Vec::new();
    for line in bench.notes.log() {
        match line.split_once(' ') {
            Some(("up", label)) => up.push(label.to_owned()),
            Some(("down", label)) => up.retain(|known| known != label),
            _ => {}
        }
        assert!(up.len() <= 1, "{up:?} while {line}");
    }
}

#[tokio::test]
async fn an_engine_that_does_not_come_up_fails_its_trials_and_then_the_run() {
    let mut bench = Bench::new(ONE, "[]");
    bench.changes.broken_starts = Some((2, 2));
    assert_eq!(bench.run().await.expect("the second try works"), Ended { failed: 0, interrupted: false });
    let rows: Vec<_> = bench.rows().into_iter().map(|row| (row.trial, row.attempt, row.outcome)).collect();
    let first = rows[0].0.clone();
    assert_eq!(rows[..2], [(first.clone(), 1, Outcome::Failed), (format!("{first}-primer"), 2, Outcome::Primer)]);
    assert_eq!((rows[2].clone(), rows.len()), ((first, 2, Outcome::Ok), 2 + 4));
    let failure = bench.rows()[0].failure.clone().expect("failure");
    assert_eq!((failure.phase, failure.kind), (Phase::Engine, FailureKind::Infrastructure));
    assert_eq!(failure.reason, "start the daemon: no space for it");

    let mut bench = Bench::new(ONE, "[]");
    bench.changes.broken_starts = Some((2, usize::MAX));
    let error = bench.run().await.expect_err("it never comes up");
    assert!(matches!(&error, ExecuteError::EngineGone { trials: 3, reason } if reason.contains("no space for it")), "{error}");
    assert_eq!(bench.failures(), vec![Some((Phase::Engine, FailureKind::Infrastructure)); 6], "three trials, two attempts each");
    let log = bench.notes.log();
    assert_eq!(log.iter().filter(|line| line.starts_with("up ")).count(), 1 + 6, "{log:#?}");

    let mut bench = Bench::new(ONE, "[]");
    bench.changes.broken_starts = Some((1, 1));
    let error = bench.run().await.expect_err("its images cannot be made ready");
    assert!(matches!(error, ExecuteError::Engine(_)) && bench.rows().is_empty(), "{error}");
}

#[tokio::test]
async fn an_engine_that_fails_a_trial_ends_and_the_next_attempt_has_a_fresh_one() {
    let broken = r#"{"match": "work", "times": 1, "create_error": "the daemon is gone"}"#;
    // In the first trial after a good primer; or in the primer itself.
    for (rules, primers, attempts) in [
        (format!(r#"[{{"match": "work", "times": 1}}, {broken}]"#), 2, [(1, Outcome::Failed), (2, Outcome::Ok)]),
        (format!("[{broken}]"), 2, [(1, Outcome::Failed), (2, Outcome::Ok)]),
    ] {
        let bench = Bench::new(ONE, &rules);
        assert_eq!(bench.run().await.expect("run"), Ended { failed: 0, interrupted: false });
        let rows = bench.rows();
        let first: Vec<_> =
            rows.iter().filter(|row| row.trial == rows[1].trial || row.trial == rows[1].trial.trim_end_matches("-primer")).collect();
        let first: Vec<_> = first.into_iter().filter(|row| !row.is_primer()).map(|row| (row.attempt, row.outcome)).collect();
        assert_eq!(first, attempts, "{rules}");
        assert_eq!(rows.iter().filter(|row| row.is_primer()).count(), primers, "{rules}");
        let log = bench.notes.log();
        assert_eq!(lives(&log).len(), 2, "{log:#?}");
        bench.nothing_is_left(&rules);
    }
}

#[tokio::test]
async fn cancelled_while_an_engine_starts_or_is_primed_it_goes_down() {
    for (call, number) in [("up", 1), ("create", 1), ("wait", 1), ("create", 2), ("remove", 1)] {
        let mut bench = Bench::new(ONE, "[]");
        bench.changes.cancel_at = Some((call, number));
        assert_eq!(bench.run().await.expect(call), Ended { failed: 0, interrupted: true }, "{call} {number}");
        assert!(bench.rows().iter().all(|row| row.is_primer()), "{call} {number}");
        lives(&bench.notes.log());
        bench.nothing_is_left(call);
    }
}

/// A private engine that serves all blocks is up while trials of another one run, one of which leaves something behind.
#[tokio::test]
async fn what_a_failed_trial_left_goes_even_while_a_private_engine_is_up() {
    let text = "
matrix: {kind: {any: {}, own: {engine: {userland_proxy: false}}}}
workload: {image: x, command: 'work {{ kind }}'}
design: {blocks: 3, engine_starts: 1, seed: 1}
";
    // Those of the first block are good; then the private engine is up.
    let rules = r#"[{"match": "work any", "times": 2}, {"match": "work any", "times": 2, "remove_error": "busy"}]"#;
    let bench = Bench::new(text, rules);
    assert_eq!(bench.run().await.expect("run"), Ended { failed: 1, interrupted: false });
    let log = bench.notes.log();
    let lives = lives(&log);
    assert!(lives.len() > 1, "it was up meanwhile, and started anew: {log:#?}");
    let calls = bench.fake.calls();
    let failed: Vec<String> = bench.rows().iter().filter(|row| row.failure.is_some()).map(|row| row.trial.clone()).collect();
    assert!(!failed.is_empty());
    let removed = |call: &str| call.strip_prefix("remove ").is_some_and(|unit| failed.iter().any(|trial| unit.starts_with(trial)));
    let first = calls.iter().position(|call| removed(call)).expect("a failed removal");
    assert_eq!(calls[first + 1], "sweep", "{calls:#?}");
    bench.nothing_is_left("mixed");
}

/// What comes first on an engine may need the host less than what follows.
#[tokio::test]
async fn an_engine_that_starts_with_a_container_alone_serves_host_processes_too() {
    let text = "
matrix: {where: {inside: {workload: {image: x}}, outside: {workload: {on: host}}}}
engine: {userland_proxy: false}
workload: {command: 'work {{ where }}'}
design: {blocks: 4, engine_starts: 4}
";
    let bench = Bench::new(text, "[]");
    assert_eq!(bench.run().await.expect("run"), Ended { failed: 0, interrupted: false }, "{:#?}", bench.rows());
    let primers: Vec<String> = bench.rows().into_iter().filter(|row| row.is_primer()).map(|row| row.variant).collect();
    assert!(primers.iter().any(|variant| variant.starts_with("where=inside")), "{primers:?}");
    bench.nothing_is_left("both");
}
