//! The journal: round trips, torn tails, damage, newer forms.

use super::{MANIFEST, failed, finished, plan, row, started};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use shakedown::model::event::{Attested, Event, OutputRecord};
use shakedown::model::metric::{Observation, Unit};
use shakedown::record::{Journal, RecordError, Store, load, read_journal};

/// One of each event, every optional part given at least once.
fn every_event() -> Vec<Event> {
    let plan = plan(MANIFEST);
    let mut full = failed(row(&plan, 1, 0.1));
    full.taints = vec!["too-short".into()];
    full.problems = vec!["two\nlines and a \"quote\"".into()];
    let attested = |found: Option<&str>| Attested {
        unit: "a".into(),
        setting: "cpu.quota".into(),
        asked: "1".into(),
        found: found.map(str::to_owned),
        source: "/sys/é".into(),
    };
    full.attested = vec![attested(Some("2")), attested(None)];
    let output = OutputRecord {
        unit: "a".into(),
        stream: "stdout".into(),
        bytes: 9,
        text: Some("x\u{0}\r\n\u{2028}".into()),
        file: None,
        truncated: false,
    };
    full.outputs = vec![output.clone(), OutputRecord { text: None, file: Some("raw/b1p1.a.stdout.gz".into()), truncated: true, ..output }];
    let presented = plan.presented();
    vec![
        started("2026-11-30T10:00:00.000Z"),
        Event::ImageReady { image: "tool".into(), digest: "sha256:00".into(), seconds: 1.5 },
        Event::TrialStarted { trial: "b1p1".into(), attempt: 1, at: "2026-11-30T10:00:01.000Z".into() },
        finished(row(&plan, 0, 0.25)),
        finished(full),
        Event::Warned { kind: "neighbour".into(), message: "another container runs".into() },
        Event::Presented(Box::new(presented)),
        Event::RunInterrupted { at: "2026-11-30T10:00:02.000Z".into(), by: "SIGINT".into() },
        Event::RunFinished { at: "2026-11-30T10:00:03.000Z".into() },
    ]
}

#[test]
fn every_event_is_read_as_it_was_written() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("journal.jsonl");
    let events = every_event();
    let mut journal = Journal::open(&path).expect("journal");
    events.iter().for_each(|event| journal.append(event).expect("append"));
    let text = std::fs::read_to_string(&path).expect("text");
    assert_eq!(text.lines().count(), events.len(), "one line each");
    let mut read = read_journal(&path).expect("read");
    // The place in the manifest is not recorded, nor is a time-out, which changes no result.
    let mut expected = events;
    for event in read.iter_mut().chain(&mut expected) {
        if let Event::Presented(presented) = event {
            presented.presentation.metrics.iter_mut().for_each(|metric| metric.span = Default::default());
            let workloads = presented.variants.iter_mut().flat_map(|variant| &mut variant.spec.workloads);
            workloads.for_each(|workload| workload.timeout = Default::default());
        }
    }
    assert_eq!(read, expected);
}

#[test]
fn numbers_keep_their_last_bit() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("journal.jsonl");
    let plan = plan(MANIFEST);
    let numbers = prop::collection::vec(prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO, 40);
    TestRunner::deterministic()
        .run(&numbers, |numbers| {
            std::fs::remove_file(&path).ok();
            let mut one = row(&plan, 0, 1.0);
            one.metrics = numbers.iter().filter_map(|number| Observation::finite("x", *number, Unit::ONE)).collect();
            Journal::open(&path).expect("journal").append(&finished(one)).expect("append");
            let events = read_journal(&path).expect("read");
            let [Event::TrialFinished(read)] = &events[..] else { panic!("{events:?}") };
            let bits: Vec<u64> = read.metrics.iter().map(|metric| metric.value.to_bits()).collect();
            prop_assert_eq!(bits, numbers.iter().map(|number| number.to_bits()).collect::<Vec<_>>());
            Ok(())
        })
        .expect("numbers");
}

#[test]
fn every_prefix_of_a_record_loads() {
    let folder = tempfile::tempdir().expect("folder");
    let store = Store::new(folder.path(), "e");
    let plan = plan(MANIFEST);
    let rows = (0..plan.trials.len()).map(|index| finished(row(&plan, index, 1.0)));
    let run = super::run(&store, "r1", "2026-11-30T10:00:00.000Z", &plan, rows);
    let bytes = std::fs::read(run.journal()).expect("bytes");
    let ends: Vec<usize> = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1).collect();
    assert_eq!(ends.len(), 1 + plan.trials.len());
    for cut in 0..=bytes.len() {
        std::fs::write(run.journal(), &bytes[..cut]).expect("write");
        let loaded = load(&store).unwrap_or_else(|error| panic!("{cut} bytes: {error}"));
        let lines = ends.iter().filter(|end| **end <= cut).count();
        let run = &loaded.runs[0];
        assert_eq!((run.started.is_some(), run.rows.len(), run.finished), (lines > 0, lines.saturating_sub(1), false), "{cut} bytes");
    }
    std::fs::remove_file(run.journal()).expect("remove");
    assert!(load(&store).expect("a plan alone").runs[0].started.is_none());
}

#[test]
fn going_on_after_a_torn_tail_cuts_it() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("journal.jsonl");
    let plan = plan(MANIFEST);
    let lines = [started("2026-11-30T10:00:00.000Z"), finished(row(&plan, 0, 1.0)), finished(row(&plan, 1, 2.0))];
    let mut journal = Journal::open(&path).expect("journal");
    lines[..2].iter().for_each(|event| journal.append(event).expect("append"));
    drop(journal);
    let whole = std::fs::read(&path).expect("bytes");
    let long = [b'x'; 9000];
    for tail in
        [&b""[..], &long, b"{", b"{\"event\":\"trial-fin", b"\0\0\0\0", "{\"é".as_bytes(), b"{\"event\":\"run-finished\",\"at\":\"x\"}"]
    {
        std::fs::write(&path, [&whole[..], tail].concat()).expect("write");
        let mut journal = Journal::open(&path).expect("journal");
        assert_eq!(std::fs::read(&path).expect("bytes"), whole, "{tail:?}");
        journal.append(&lines[2]).expect("append");
        assert_eq!(read_journal(&path).expect("read"), lines, "{tail:?}");
    }
    std::fs::write(&path, &whole[..10]).expect("write");
    Journal::open(&path).expect("journal").append(&lines[0]).expect("append");
    assert_eq!(read_journal(&path).expect("read"), lines[..1]);
}

#[test]
fn damage_in_the_middle_is_told_with_its_line() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("journal.jsonl");
    let plan = plan(MANIFEST);
    let mut journal = Journal::open(&path).expect("journal");
    journal.append(&started("2026-11-30T10:00:00.000Z")).expect("append");
    (0..3).for_each(|index| journal.append(&finished(row(&plan, index, 1.0))).expect("append"));
    let text = std::fs::read_to_string(&path).expect("text");
    let lines: Vec<&str> = text.lines().collect();
    for broken in ["{\"event\":\"trial-finished\"}", "garbage", "{\"event\":\"no-such-event\"}", "[]", "{\"event\":"] {
        let damaged = [lines[0], lines[1], broken, lines[3], ""].join("\n");
        std::fs::write(&path, damaged).expect("write");
        let error = read_journal(&path).expect_err(broken);
        assert!(matches!(&error, RecordError::Damaged { line: 3, .. }), "{broken}: {error}");
        assert!(error.to_string().starts_with(&format!("{}:3: the record is damaged: ", path.display())), "{error}");
    }
}

#[test]
fn newer_forms_are_refused_with_their_version() {
    let folder = tempfile::tempdir().expect("folder");
    let store = Store::new(folder.path(), "e");
    let run = super::run(&store, "r1", "2026-11-30T10:00:00.000Z", &plan(MANIFEST), []);
    let journal = std::fs::read_to_string(run.journal()).expect("journal");
    let saved = std::fs::read_to_string(run.path().join("plan.json")).expect("plan");
    let refused = |journal: &str, saved: &str| {
        std::fs::write(run.journal(), journal).expect("write");
        std::fs::write(run.path().join("plan.json"), saved).expect("write");
        let error = load(&store).expect_err("newer");
        assert!(matches!(error, RecordError::TooNew { found: 2, known: 1, .. }), "{error:?}");
        assert!(error.to_string().contains("written in form 2; this version reads up to 1: update shakedown"), "{error}");
    };
    refused(&journal.replacen("\"format\":1", "\"format\":2", 1), &saved);
    refused("{\"event\":\"run-began\",\"format\":2}\n", &saved);
    refused(&journal, &saved.replacen("\"format\": 1", "\"format\": 2", 1));
    refused(&journal, "{\"format\": 2, \"experiments\": [\"e\"]}");
    std::fs::write(run.path().join("plan.json"), "{\n\"format\": 1,\n\"experiment\": 5}").expect("write");
    let error = load(&store).expect_err("damaged");
    assert!(matches!(&error, RecordError::Damaged { path, line: 3, .. } if path.ends_with("plan.json")), "{error:?}");
}

#[test]
fn a_long_journal_loads() {
    let folder = tempfile::tempdir().expect("folder");
    let store = Store::new(folder.path(), "e");
    let plan = plan(&MANIFEST.replace("[1, 2]", "[1, 2, 3]").replace("blocks: 3", "blocks: 5000"));
    assert_eq!(plan.trials.len(), 20_000);
    let run = store.create_run("r1", &plan).expect("run");
    let mut text = serde_json::to_string(&started("2026-11-30T10:00:00.000Z")).expect("event");
    for index in 0..plan.trials.len() {
        text.push('\n');
        text.push_str(&serde_json::to_string(&finished(row(&plan, index, index as f64 + 1.0))).expect("event"));
    }
    std::fs::write(run.journal(), text + "\n").expect("journal");
    let results = shakedown::record::results(&store, "e", load(&store).expect("load")).expect("results");
    assert_eq!(results.rows.len(), 20_000);
    assert!(results.rows.iter().all(|row| row.variant.is_some() && !row.superseded));
    let last = results.rows.last().expect("row");
    assert_eq!((last.row.trial.as_str(), last.row.metrics[0].value), ("b5000p4", 20_000.0));
}
