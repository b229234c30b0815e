//! The record: what was written is read again, torn tails are passed over, damage is told, and runs are joined under the newest design.

mod files;
mod history;
mod journal;
mod results;

use shakedown::model::event::{Attested, Event, JOURNAL_FORMAT, RunStarted, TrialRow};
use shakedown::model::facts::{EngineFacts, HostFacts};
use shakedown::model::metric::{Observation, Unit};
use shakedown::model::outcome::{Failure, FailureKind, Outcome, Phase};
use shakedown::model::plan::{SavedPlan, primer_id};
use shakedown::record::{Journal, RunFolder, Store};

/// Two variants and the A/A copy, three blocks.
const MANIFEST: &str = "\
title: One
matrix: {a: [1, 2]}
workload: {image: tool, command: 'run {{ a }}'}
design: {blocks: 3, seed: 7}
";

fn plan(text: &str) -> SavedPlan {
    crate::plan::saved_plan(text)
}

fn started(at: &str) -> Event {
    Event::RunStarted(Box::new(RunStarted {
        format: JOURNAL_FORMAT,
        run: "0a1b2c".into(),
        experiment: "e".into(),
        digest: "0123456789abcdef".into(),
        at: at.into(),
        version: "0.1.0".into(),
        host: HostFacts { name: "h1".into(), cpus: 2, ..HostFacts::default() },
        engines: vec![EngineFacts { kind: "fake".into(), ..EngineFacts::default() }],
    }))
}

/// A good row of the trial that stands at `index` of a plan.
fn row(plan: &SavedPlan, index: usize, wall: f64) -> TrialRow {
    let [block, position, _, variant] = plan.trials[index];
    let variant = &plan.variants[variant as usize];
    TrialRow {
        engine_start: None,
        trial: format!("b{block}p{position}"),
        variant: variant.id.clone(),
        identity: variant.identity.clone(),
        block,
        position,
        attempt: 1,
        at: "2026-11-30T10:00:00.000Z".into(),
        seconds: wall + 1.0,
        outcome: Outcome::Ok,
        failure: None,
        taints: Vec::new(),
        metrics: vec![Observation::finite("wall", wall, Unit::SECOND).expect("finite")],
        attested: Vec::new(),
        readings: Vec::new(),
        series: None,
        outputs: Vec::new(),
        problems: Vec::new(),
    }
}

/// What was measured before that trial, right after its engine was started.
fn primer(row: TrialRow) -> TrialRow {
    TrialRow { trial: primer_id(&row.trial), outcome: Outcome::Primer, ..row }
}

fn failed(row: TrialRow) -> TrialRow {
    let failure = Some(Failure { phase: Phase::Measure, kind: FailureKind::ExitCode, reason: "exit code 1".into() });
    TrialRow { outcome: Outcome::Failed, failure, metrics: Vec::new(), ..row }
}

/// A row of a trial that ran an image of this digest.
fn imaged(row: TrialRow, digest: &str) -> TrialRow {
    let attested = Attested {
        unit: "workload".into(),
        setting: "image".into(),
        asked: digest.into(),
        found: Some(digest.into()),
        source: "engine".into(),
    };
    TrialRow { attested: vec![attested], ..row }
}

fn finished(row: TrialRow) -> Event {
    Event::TrialFinished(Box::new(row))
}

/// Makes a run with these events after its start.
fn run(store: &Store, name: &str, at: &str, plan: &SavedPlan, events: impl IntoIterator<Item = Event>) -> RunFolder {
    let folder = store.create_run(name, plan).expect("run");
    let mut journal = Journal::open(&folder.journal()).expect("journal");
    std::iter::once(started(at)).chain(events).for_each(|event| journal.append(&event).expect("append"));
    folder
}

/// Good rows of every trial of a plan, and the end of the run.
fn whole(plan: &SavedPlan) -> Vec<Event> {
    let rows = (0..plan.trials.len()).map(|index| finished(row(plan, index, 1.0 + index as f64)));
    rows.chain([Event::RunFinished { at: "2026-11-30T11:00:00.000Z".into() }]).collect()
}
