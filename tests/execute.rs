//! The driver over the scripted engine: every phase fails, hangs and is cancelled; every row says so, and nothing is left.

mod bench;
mod meddler;
mod private;
mod services;

use bench::Bench;
use shakedown::engine::EngineError;
use shakedown::execute::{Ended, ExecuteError};
use shakedown::model::event::{Event, TrialRow};
use shakedown::model::outcome::{FailureKind, Outcome, Phase};
use shakedown::record::Store;
use std::time::Duration;

/// One workload, two levels, one block: three trials with the A/A copy.
const ONE: &str = "
matrix: {level: [a, b]}
workload: {image: nginx, command: 'work {{ level }}', timeout: 5s}
design: {blocks: 1}
";
/// Two workloads that start together, no factor: two trials with the A/A copy.
const TWO: &str = "
workloads:
  a: {on: host, command: work a, timeout: 5s}
  b: {on: host, command: work b, timeout: 5s}
design: {blocks: 1}
";

#[tokio::test]
async fn every_phase_has_a_named_failure_with_its_reason_and_no_number() {
    use FailureKind::{ExitCode, Infrastructure, NotStarted, OutOfMemory, Parser, Signal, Timeout};
    use Phase::{Collect, Create, Measure, Start, Teardown};
    // Script for level `b`, what its row says, how often it is tried.
    let cases: &[(&str, Phase, FailureKind, &str, usize)] = &[
        (r#""create_error": "no space""#, Create, Infrastructure, "create `b1p", 2),
        (r#""start_error": "refused""#, Start, Infrastructure, "refused", 2),
        (r#""not_started": "no such file""#, Start, NotStarted, "`work` could not be started: no such file", 1),
        (r#""wait": {"exit": 3}, "stderr": "one\ntwo\n\n""#, Measure, ExitCode, "exit code 3: two", 1),
        (r#""wait": {"exit": 139}"#, Measure, Signal, "ended by signal 11 (exit code 139)", 1),
        (r#""wait": {"exit": 137, "oom": true}"#, Measure, OutOfMemory, "killed by the kernel for memory", 1),
        (r#""wait": {"error": "connection closed"}"#, Measure, Infrastructure, "connection closed", 2),
        (r#""wait": {"hang": true}"#, Measure, Timeout, "not done within 0.02 s", 1),
        (r#""stdout": "nonsense""#, Collect, Parser, "", 1),
        (r#""stdout": "score: 3", "remove_error": "busy""#, Teardown, Infrastructure, "busy", 2),
        (r#""hangs": ["create"]"#, Create, Timeout, "not done within 0.02 s", 2),
        (r#""hangs": ["start"]"#, Start, Timeout, "not done within 0.02 s", 2),
        (r#""hangs": ["output"]"#, Collect, Timeout, "not done within 0.02 s", 2),
        (r#""stdout": "score: 3", "hangs": ["remove"]"#, Teardown, Timeout, "not done within 0.02 s", 2),
    ];
    let text = ONE.replace("timeout: 5s", "timeout: 5s, parse: {regex: {score: 'score: (\\d+)'}}");
    for (rule, phase, kind, reason, tries) in cases {
        let bench = Bench::new(&text, &format!(r#"[{{"match": "work b", {rule}}}, {{"match": "work", "stdout": "score: 7"}}]"#));
        assert_eq!(bench.run().await.expect(rule), Ended { failed: 1, interrupted: false }, "{rule}");
        let rows = bench.rows();
        let failed: Vec<&TrialRow> = rows.iter().filter(|row| row.outcome == Outcome::Failed).collect();
        assert_eq!((rows.len(), failed.len()), (2 + tries, *tries), "{rule}");
        for (index, row) in failed.iter().enumerate() {
            let failure = row.failure.as_ref().expect("failure");
            assert_eq!((row.variant.as_str(), failure.phase, failure.kind), ("level=b", *phase, *kind), "{rule}");
            assert!(failure.reason.contains(reason), "{rule}: {}", failure.reason);
            assert_eq!((row.attempt as usize, row.metrics.len()), (index + 1, 0), "{rule}");
        }
        assert!(
            rows.iter().filter(|row| row.outcome == Outcome::Ok).all(|row| row.metrics[0].name == "score" && row.metrics[0].value == 7.0)
        );
        bench.nothing_is_left(rule);
        assert!(matches!(bench.events().last(), Some(Event::RunFinished { .. })), "{rule}");
    }
}

/// A warm-up of level `b` fails; that of level `a` and of the baseline's copy does not, and leaves no trace in their rows.
#[tokio::test]
async fn a_warm_up_runs_first_and_is_thrown_away_and_its_failure_is_the_trial_s() {
    let text = ONE.replace("timeout: 5s", "warmup: {command: 'warm {{ level }}'}");
    let cases: &[(&str, FailureKind, &str, usize)] = &[
        (r#""wait": {"exit": 4}, "stderr": "cold""#, FailureKind::ExitCode, "`workload-warmup`: exit code 4: cold", 1),
        (r#""create_error": "no space""#, FailureKind::Infrastructure, "no space", 2),
        (r#""start_error": "refused""#, FailureKind::Infrastructure, "refused", 2),
        (r#""not_started": "no such file""#, FailureKind::NotStarted, "no such file", 1),
        (r#""hangs": ["start"]"#, FailureKind::Timeout, "not done within 0.02 s", 1),
    ];
    for (rule, kind, reason, tries) in cases {
        let bench = Bench::new(&text, &format!(r#"[{{"match": "warm b", {rule}}}]"#));
        assert_eq!(bench.run().await.expect(rule), Ended { failed: 1, interrupted: false }, "{rule}");
        let rows = bench.rows();
        let failed: Vec<&TrialRow> = rows.iter().filter(|row| row.outcome == Outcome::Failed).collect();
        assert_eq!((rows.len(), failed.len()), (2 + tries, *tries), "{rule}");
        for row in failed {
            let failure = row.failure.as_ref().expect("failure");
            assert_eq!((row.variant.as_str(), failure.phase, failure.kind), ("level=b", Phase::WarmUp, *kind), "{rule}");
            assert!(failure.reason.contains(reason), "{rule}: {}", failure.reason);
        }
        let calls: Vec<String> = bench.fake.calls();
        assert!(!calls.iter().any(|call| call.starts_with("create") && call.contains("b1p") && call.ends_with("work b")), "{calls:?}");
        assert!(rows.iter().filter(|row| row.outcome == Outcome::Ok).all(|row| row.outputs.is_empty() && row.metrics.len() == 1), "{rule}");
        bench.nothing_is_left(rule);
    }
}

#[tokio::test]
async fn what_a_failed_teardown_left_is_gone_before_the_next_trial() {
    let bench = Bench::new(ONE, r#"[{"match": "work b", "remove_error": "busy"}]"#);
    bench.run().await.expect("run");
    let calls = bench.fake.calls();
    for (at, _) in calls.iter().enumerate().filter(|(at, call)| call.starts_with("remove") && calls[at - 1].starts_with("output")) {
        let trial_of = |call: &str| call.split([' ', '/']).nth(1).map(str::to_owned);
        let failed = bench.rows().iter().any(|row| row.failure.is_some() && Some(&row.trial) == trial_of(&calls[at]).as_ref());
        if failed {
            assert_eq!(calls[at + 1], "sweep", "{calls:?}");
        }
    }
    assert_eq!(calls.iter().filter(|call| *call == "sweep").count(), 4, "at the start, after both attempts, at the end: {calls:?}");
}

#[tokio::test]
async fn a_fault_of_the_engine_is_tried_again_and_superseded() {
    let bench = Bench::new(ONE, r#"[{"match": "work b", "times": 1, "create_error": "no space"}]"#);
    assert_eq!(bench.run().await.expect("run"), Ended { failed: 0, interrupted: false });
    let of_b: Vec<_> = bench.rows().into_iter().filter(|row| row.variant == "level=b").map(|row| (row.attempt, row.outcome)).collect();
    assert_eq!(of_b, [(1, Outcome::Failed), (2, Outcome::Ok)]);
    assert!(bench.fake.calls().iter().any(|call| call.starts_with("create b1p") && call.contains("a2/")), "an attempt has its own name");
    let loaded = shakedown::record::load(&Store::new(bench.folder.path(), "e")).expect("load");
    let results = shakedown::record::results(&Store::new(bench.folder.path(), "e"), "e", loaded).expect("results");
    let superseded: Vec<_> = results.rows.iter().filter(|row| row.superseded).map(|row| (row.row.attempt, row.row.outcome)).collect();
    assert_eq!(superseded, [(1, Outcome::Failed)]);
}

#[tokio::test]
async fn three_broken_trials_in_a_row_stop_the_run_and_it_can_go_on() {
    for script in [r#"[{"create_error": "the daemon is gone"}]"#, r#"[{"hangs": ["create"]}]"#] {
        let bench = Bench::with_blocks(ONE, 3, script);
        let error = bench.run().await.expect_err("the engine is gone");
        assert!(matches!(error, ExecuteError::EngineGone { trials: 3, .. }), "{error}");
        assert_eq!(bench.rows().len(), 6, "three trials, two attempts each");
        assert!(matches!(bench.events().last(), Some(Event::RunInterrupted { .. })));
        bench.nothing_is_left(script);
        let bench = bench.mended("[]");
        assert_eq!(bench.run().await.expect("run"), Ended { failed: 0, interrupted: false });
        assert_eq!(bench.rows().len(), 6 + 6);
    }
    // Failures of the command itself say nothing of the engine.
    let bench = Bench::with_blocks(ONE, 3, r#"[{"wait": {"exit": 1}}]"#);
    assert_eq!(bench.run().await.expect("run"), Ended { failed: 9, interrupted: false });
}

#[tokio::test]
async fn cancelled_in_any_phase_the_trial_is_no_row_and_nothing_is_left() {
    // The second trial is cancelled (its image: before the first). When its exit is known already, it counts.
    for (call, rows) in [("image", 0), ("create", 1), ("start", 1), ("wait", 1), ("output", 2), ("remove", 2)] {
        let mut bench = Bench::new(ONE, "[]");
        bench.changes.cancel_at = Some((call, if call == "image" { 1 } else { 2 }));
        let ended = bench.run().await.expect(call);
        assert_eq!(ended, Ended { failed: 0, interrupted: true }, "{call}");
        assert_eq!(bench.failures(), vec![None; rows], "{call}");
        assert!(matches!(bench.events().last(), Some(Event::RunInterrupted { .. })), "{call}");
        bench.nothing_is_left(call);
        let bench = bench.mended("[]");
        assert_eq!(bench.run().await.expect(call), Ended { failed: 0, interrupted: false });
        let mut trials: Vec<String> = bench.rows().into_iter().map(|row| row.trial).collect();
        trials.sort();
        assert_eq!(trials, ["b1p1", "b1p2", "b1p3"], "{call}");
    }
}

#[tokio::test]
async fn of_several_workloads_one_failure_fails_the_trial_and_all_are_removed() {
    let cases = [
        (r#""create_error": "no space""#, "create `b1p1"),
        (r#""not_started": "no such file""#, "could not be started"),
        (r#""wait": {"exit": 2}"#, "`b`: exit code 2"),
        (r#""wait": {"hang": true}"#, "not done within 0.02 s"),
    ];
    for (rule, reason) in cases {
        let bench = Bench::new(TWO, &format!(r#"[{{"match": "work b", {rule}}}]"#));
        assert_eq!(bench.run().await.expect(rule).failed, 2, "{rule}");
        let rows = bench.rows();
        let failure = rows[0].failure.as_ref().expect("failure");
        assert!(failure.reason.contains(reason), "{rule}: {}", failure.reason);
        assert!(rows.iter().all(|row| row.metrics.is_empty()), "{rule}");
        bench.nothing_is_left(rule);
    }
    let bench = Bench::new(TWO, r#"[{"match": "work b", "wait": {"wall_ms": 1500}}]"#);
    assert_eq!(bench.run().await.expect("run").failed, 0);
    let walls: Vec<_> = bench.rows()[0].metrics.iter().map(|metric| (metric.name.clone(), metric.value)).collect();
    assert_eq!(walls, [("a.wall".to_owned(), 0.1), ("b.wall".to_owned(), 1.5)]);
    let short = |ms: u64| bench.rows()[0].is_too_short(Duration::from_millis(ms));
    assert!(short(101) && !short(100), "the shortest window counts");
    let calls = bench.fake.calls();
    let at = |text: &str| calls.iter().position(|call| call == text).expect(text);
    assert!(at("create b1p1/b") < at("start b1p1/a") && at("start b1p1/b") < at("output b1p1/a"), "{calls:?}");
    assert!(at("wait b1p1/b") < at("exit b1p1/a"), "nothing is asked while another still runs: {calls:?}");
}

#[tokio::test]
async fn another_image_than_asked_fails_the_trial() {
    let mut bench = Bench::new(ONE, "[]");
    bench.changes.image = Some("sha256:other".to_owned());
    assert_eq!(bench.run().await.expect("run").failed, 3);
    assert_eq!(bench.failures()[0], Some((Phase::Attest, FailureKind::Attestation)));
    let reason = bench.rows()[0].failure.clone().expect("failure").reason;
    assert!(reason.contains("asked for image = fake:") && reason.contains("sha256:other"), "{reason}");
    assert!(bench.rows().iter().all(|row| row.metrics.is_empty()));
}

#[tokio::test]
async fn a_run_goes_on_with_the_images_that_it_had() {
    let mut bench = Bench::new(ONE, "[]");
    bench.job.images = vec![("nginx".to_owned(), "sha256:old".to_owned())];
    let error = bench.run().await.expect_err("another image");
    assert!(matches!(&error, ExecuteError::ImageChanged { image, old, .. } if image == "nginx" && old == "sha256:old"), "{error}");
    assert_eq!(bench.rows(), []);
    bench.nothing_is_left("image");
    let mut bench = Bench::new(ONE, "[]");
    assert_eq!(bench.run().await.expect("run").failed, 0);
    let image = |event| if let Event::ImageReady { image, digest, .. } = event { Some((image, digest)) } else { None };
    bench.job.images = bench.events().into_iter().filter_map(image).collect();
    assert_eq!((bench.job.images.len(), bench.run().await.expect("again").failed), (1, 0));
}

#[tokio::test]
async fn a_window_below_the_limit_is_too_short_and_counts() {
    for (ms, short) in [(999.0, true), (1000.0, false)] {
        let bench = Bench::new(ONE, &format!(r#"[{{"wait": {{"wall_ms": {ms}}}}}]"#));
        assert_eq!(bench.run().await.expect("run").failed, 0);
        assert!(
            bench.rows().iter().all(|row| row.is_too_short(Duration::from_secs(1)) == short && row.metrics[0].value == ms / 1000.0),
            "{ms}"
        );
    }
}

#[tokio::test]
async fn a_limit_that_was_never_seen_is_a_taint_and_a_problem() {
    let bench = Bench::new(&ONE.replace("timeout: 5s", "timeout: 5s, cpus: 0.5"), r#"[{"wait": {"wall_ms": 2000}}]"#);
    assert_eq!(bench.run().await.expect("run").failed, 0);
    for row in bench.rows() {
        assert_eq!((row.taints.as_slice(), row.attested[0].found.as_ref()), (["unattested".to_owned()].as_slice(), None));
        assert!(row.problems[0].contains("asked for cpu.quota = 50000 per 100000 us"), "{:?}", row.problems);
    }
}

#[tokio::test]
async fn host_processes_are_never_kept() {
    let mut bench = Bench::new(TWO, "[]");
    bench.job.keep = true;
    crate::alive::hold(&bench.job.run);
    assert_eq!(bench.run().await.expect("run").failed, 0);
    bench.nothing_is_left("what they left behind would run beside the next trial");
}

#[tokio::test]
async fn kept_units_are_ended_ones_only() {
    let mut bench = Bench::new(ONE, r#"[{"match": "work b", "wait": {"hang": true}}]"#);
    bench.job.keep = true;
    // Somebody alive: the sweep at the end spares what was kept on purpose.
    crate::alive::hold(&bench.job.run);
    bench.run().await.expect("run");
    let hung = bench.rows().into_iter().find(|row| row.failure.is_some()).expect("a timeout").trial;
    let live = bench.fake.live();
    assert_eq!(live.len(), 2, "{live:?}");
    assert!(live.iter().all(|unit| !unit.starts_with(&hung)), "what timed out would run beside the next trial: {live:?}");
}

#[tokio::test]
async fn the_preflight_gives_every_complaint_and_touches_nothing() {
    let script = r#"[{"match": "work a", "unsupported": "no a here"}, {"match": "work b", "unsupported": "no b here"}]"#;
    let bench = Bench::new(ONE, script);
    let Err(ExecuteError::Unsupported(complaints)) = bench.run().await else { panic!("it cannot run") };
    assert_eq!(complaints, ["level=a: no a here", "level=b: no b here"], "the hidden copy complains with its original");
    assert_eq!(bench.fake.calls(), Vec::<String>::new());
    assert_eq!(bench.events(), []);
    let bench = Bench::new(ONE, r#"[{"match": "nginx", "image_error": "no such image"}]"#);
    let error = bench.run().await.expect_err("no image");
    assert!(matches!(error, ExecuteError::Engine(EngineError::Image { .. })), "{error}");
    assert_eq!(bench.rows(), []);
    assert!(matches!(bench.events().last(), Some(Event::RunInterrupted { .. })));
}
