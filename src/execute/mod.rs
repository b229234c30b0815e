//! Drives a plan over engines: images, then trial after trial, each through its phases, with limits and named failures.
//!
//! One trial at a time; nothing of ours runs beside it except the window's watcher. Every row is in the record before an
//! observer sees it. Teardown is an awaited call on every path, cancellation included.

mod images;
mod progress;
mod readings;
mod trial;

pub use progress::Progress;

use crate::engine::{Boxed, Engine, EngineError, UnitName};
use crate::model::cgroup::CgroupLayout;
use crate::model::event::{Event, RunStarted, TrialRow};
use crate::model::experiment::{Design, PhaseLimits};
use crate::model::facts::{EngineFacts, HostFacts};
use crate::model::outcome::{FailureKind, Outcome};
use crate::model::spec::{EngineSpec, Place, TrialSpec};
use crate::record::{Journal, RecordError, RunFolder};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;
use tokio_util::sync::CancellationToken;

/// Trials in a row that the engine may fail before the run gives up.
const ENGINE_PATIENCE: u32 = 3;

/// Opens engines: an existing daemon, the host, or a scripted fake.
pub trait EngineSource: Send + Sync {
    /// The engine for containers.
    fn open<'a>(&'a self, spec: &'a EngineSpec) -> Boxed<'a, Result<Arc<dyn Engine>, EngineError>>;
    /// The engine for `on: host`.
    ///
    /// # Errors
    /// When this process may not make control groups here.
    fn host(&self) -> Result<Arc<dyn Engine>, EngineError>;
}

/// One trial that is to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scheduled {
    /// Its id.
    pub id: String,
    /// Index into [`Job::variants`].
    pub variant: usize,
    /// Block, from 1.
    pub block: u32,
    /// Position, from 1.
    pub position: u32,
}

/// A variant that has trials to run.
#[derive(Debug, Clone)]
pub struct JobVariant {
    /// Its id.
    pub id: String,
    /// Digest of what it runs.
    pub identity: String,
    /// What it runs.
    pub spec: TrialSpec,
    /// Seconds of an earlier trial of it, for the time left.
    pub seconds: Option<f64>,
}

/// Everything that a run needs.
pub struct Job {
    /// The run's short id, in labels and cgroups.
    pub run: String,
    /// The experiment's name.
    pub experiment: String,
    /// Digest of the plan.
    pub digest: String,
    /// Folder against which paths of images are relative.
    pub folder: PathBuf,
    /// The variants.
    pub variants: Vec<JobVariant>,
    /// The trials in order.
    pub trials: Vec<Scheduled>,
    /// Limits of the phases.
    pub limits: PhaseLimits,
    /// The protocol.
    pub design: Design,
    /// The host.
    pub host: HostFacts,
    /// Where its control groups are.
    pub layout: CgroupLayout,
    /// Whether ended containers stay for debugging.
    pub keep: bool,
}

/// Sees what happens, after it is in the record.
pub trait Observer: Send {
    /// Something happened.
    fn event(&mut self, event: &Event, progress: &Progress);
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended {
    /// Trials that failed.
    pub failed: usize,
    /// Whether it was stopped before its end.
    pub interrupted: bool,
}

/// A run could not start, or could not go on.
#[derive(Debug, thiserror::Error)]
pub enum ExecuteError {
    /// The engine or the host cannot do it.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// Several things that this engine or host cannot honour; known before the first trial.
    #[error("this engine or host cannot run the plan:\n  {}", .0.join("\n  "))]
    Unsupported(Vec<String>),
    /// The engine failed again and again.
    #[error("the engine failed {trials} trials in a row, the last with: {reason}; what is finished is kept, `run` goes on from here")]
    EngineGone {
        /// How many.
        trials: u32,
        /// The last failure.
        reason: String,
    },
    /// The record could not be written.
    #[error(transparent)]
    Record(#[from] RecordError),
}

/// What trials share.
struct Shared<'r> {
    job: &'r Job,
    engines: HashMap<EngineSpec, Arc<dyn Engine>>,
    host: Option<Arc<dyn Engine>>,
    images: images::Images,
    cancel: &'r CancellationToken,
}

/// Runs a job to its end, or until it is cancelled.
///
/// # Errors
/// When the plan cannot run here, the engine is gone, or the record cannot be written.
pub async fn run(
    job: &Job,
    source: &dyn EngineSource,
    folder: &RunFolder,
    observer: &mut dyn Observer,
    cancel: &CancellationToken,
) -> Result<Ended, ExecuteError> {
    let Opened { engines, host, facts } = open_engines(job, source).await?;
    let mut journal = Journal::open(&folder.journal())?;
    let mut progress = Progress::new(job);
    let started = Event::RunStarted(Box::new(RunStarted {
        format: crate::model::event::JOURNAL_FORMAT,
        run: job.run.clone(),
        experiment: job.experiment.clone(),
        digest: job.digest.clone(),
        at: now(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        host: job.host.clone(),
        engines: facts,
    }));
    publish(&mut journal, observer, &progress, started)?;
    let (images, ready) = images::prepare(job, &engines).await?;
    for event in ready {
        publish(&mut journal, observer, &progress, event)?;
    }
    let shared = Shared { job, engines, host, images, cancel };
    let mut failed = 0;
    let mut broken = 0;
    for scheduled in &job.trials {
        if cancel.is_cancelled() {
            break;
        }
        progress.begin(scheduled);
        let Some(row) = attempts(&shared, scheduled, folder, &mut journal, observer, &progress).await? else { break };
        progress.finish(scheduled, &row);
        failed += usize::from(row.outcome == Outcome::Failed);
        let infrastructure = row.failure.as_ref().filter(|f| f.kind == FailureKind::Infrastructure).map(|f| f.reason.clone());
        publish(&mut journal, observer, &progress, Event::TrialFinished(Box::new(row)))?;
        broken = if infrastructure.is_some() { broken + 1 } else { 0 };
        if let Some(reason) = infrastructure.filter(|_| broken >= ENGINE_PATIENCE) {
            publish(&mut journal, observer, &progress, Event::RunInterrupted { at: now(), by: reason.clone() })?;
            return Err(ExecuteError::EngineGone { trials: broken, reason });
        }
    }
    if failed > 0 || cancel.is_cancelled() {
        // What a failed call may have made behind our back: everything of this run is over now.
        let alive: Vec<String> = crate::record::alive_runs().into_iter().filter(|run| *run != job.run || job.keep).collect();
        for engine in shared.engines.values().chain(&shared.host) {
            engine.sweep(&alive).await?;
        }
    }
    let interrupted = cancel.is_cancelled();
    let last = if interrupted { Event::RunInterrupted { at: now(), by: "signal".to_owned() } } else { Event::RunFinished { at: now() } };
    publish(&mut journal, observer, &progress, last)?;
    Ok(Ended { failed, interrupted })
}

fn publish(journal: &mut Journal, observer: &mut dyn Observer, progress: &Progress, event: Event) -> Result<(), RecordError> {
    journal.append(&event)?;
    observer.event(&event, progress);
    Ok(())
}

/// What the job's variants need.
#[derive(Default)]
struct Opened {
    engines: HashMap<EngineSpec, Arc<dyn Engine>>,
    host: Option<Arc<dyn Engine>>,
    facts: Vec<EngineFacts>,
}

/// Opens what the job's variants need, checks that each can run there, and removes what dead runs left.
async fn open_engines(job: &Job, source: &dyn EngineSource) -> Result<Opened, ExecuteError> {
    let mut opened = Opened::default();
    let mut known: HashMap<Option<EngineSpec>, EngineFacts> = HashMap::new();
    let mut complaints = Vec::new();
    for variant in &job.variants {
        for workload in &variant.spec.workloads {
            let key = (workload.unit.place == Place::Container).then(|| variant.spec.engine.clone());
            if !known.contains_key(&key) {
                let engine = match &key {
                    Some(spec) => source.open(spec).await?,
                    None => source.host()?,
                };
                let facts = engine.facts().await?;
                opened.facts.push(facts.clone());
                known.insert(key.clone(), facts);
                match &key {
                    Some(spec) => drop(opened.engines.insert(spec.clone(), engine)),
                    None => opened.host = Some(engine),
                }
            }
            let engine = key.as_ref().map_or(opened.host.as_ref(), |spec| opened.engines.get(spec));
            for why in engine.map(|engine| engine.unsupported(&workload.unit, &known[&key])).unwrap_or_default() {
                let complaint = format!("{}: {why}", variant.id);
                if !complaints.contains(&complaint) && !variant.id.ends_with(crate::model::plan::AA_SUFFIX) {
                    complaints.push(complaint);
                }
            }
        }
    }
    if !complaints.is_empty() {
        return Err(ExecuteError::Unsupported(complaints));
    }
    let alive = crate::record::alive_runs();
    for engine in opened.engines.values().chain(&opened.host) {
        engine.sweep(&alive).await?;
    }
    Ok(opened)
}

/// Tries a trial until it ends otherwise than by a fault of the engine; none when cancelled.
async fn attempts(
    shared: &Shared<'_>,
    scheduled: &Scheduled,
    folder: &RunFolder,
    journal: &mut Journal,
    observer: &mut dyn Observer,
    progress: &Progress,
) -> Result<Option<TrialRow>, ExecuteError> {
    let job = shared.job;
    let variant = &job.variants[scheduled.variant];
    for attempt in 1.. {
        publish(journal, observer, progress, Event::TrialStarted { trial: scheduled.id.clone(), attempt, at: now() })?;
        let label = if attempt == 1 { scheduled.id.clone() } else { format!("{}a{attempt}", scheduled.id) };
        let name = UnitName { run: job.run.clone(), experiment: job.experiment.clone(), trial: label.clone(), unit: String::new() };
        let at = now();
        let clock = Instant::now();
        let Some(measured) = trial::run(shared, &variant.spec, &name).await else { return Ok(None) };
        let mut row = TrialRow {
            trial: scheduled.id.clone(),
            variant: variant.id.clone(),
            identity: variant.identity.clone(),
            block: scheduled.block,
            position: scheduled.position,
            attempt,
            at,
            seconds: clock.elapsed().as_secs_f64(),
            outcome: if measured.failure.is_some() { Outcome::Failed } else { Outcome::Ok },
            taints: Vec::new(),
            metrics: if measured.failure.is_some() { Vec::new() } else { measured.metrics },
            attested: measured.attested,
            outputs: Vec::new(),
            problems: measured.problems,
            failure: measured.failure,
        };
        readings::taint(&mut row, &job.design);
        for (unit, output) in &measured.outputs {
            for (stream, captured) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
                if captured.total > 0 {
                    row.outputs.push(crate::record::keep(folder, &label, unit, stream, &captured.bytes, captured.total)?);
                }
            }
        }
        let again = row.failure.as_ref().is_some_and(|f| f.kind == FailureKind::Infrastructure) && attempt < job.limits.attempts;
        if !again || shared.cancel.is_cancelled() {
            return Ok(Some(row));
        }
        publish(journal, observer, progress, Event::TrialFinished(Box::new(row)))?;
    }
    Ok(None)
}

/// UTC, RFC 3339, to the millisecond.
fn now() -> String {
    let now = jiff::Timestamp::now();
    format!("{now:.3}")
}
