//! Drives a plan over engines: images, then trial after trial, each through its phases, with limits and named failures.
//!
//! One trial at a time; nothing of ours runs beside it except the window's watcher. Every row is in the record before an
//! observer sees it. Teardown is an awaited call on every path, cancellation included.

mod images;
mod preflight;
mod progress;
mod readings;
mod trial;
mod warm_up;

pub use preflight::{Ready, preflight};
pub use progress::Progress;

use crate::engine::namespace::Namespace;
use crate::engine::{Boxed, Engine, EngineError, UnitName};
use crate::model::cgroup::CgroupLayout;
use crate::model::event::{Event, RunStarted, TrialRow};
use crate::model::experiment::PhaseLimits;
use crate::model::facts::HostFacts;
use crate::model::outcome::Outcome;
use crate::model::spec::{EngineSpec, TrialSpec};
use crate::record::{Journal, RecordError, RunFolder};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;
use tokio_util::sync::CancellationToken;

/// Kind of the warning that something of a trial could not be removed, and may have run beside the trials after it.
pub const LEFT_OVER: &str = "left-over";

/// Trials in a row that the engine may fail before the run gives up.
const ENGINE_PATIENCE: u32 = 3;

/// Opens engines: an existing daemon, the host, or a scripted fake.
pub trait EngineSource: Send + Sync {
    /// The engine for containers.
    fn open<'a>(&'a self, spec: &'a EngineSpec) -> Boxed<'a, Result<Arc<dyn Engine>, EngineError>>;
    /// The engine for `on: host`, whose processes start in `namespace`, or in our own.
    ///
    /// # Errors
    /// When this process may not make control groups here.
    fn host(&self, namespace: Option<Arc<Namespace>>) -> Result<Arc<dyn Engine>, EngineError>;
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
    /// Its next attempt, from 1: those that an interrupted run recorded stay what they are.
    pub attempt: u32,
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
    /// Digests of the images that the run had before it was interrupted, by what was asked for; it goes on with those only.
    pub images: Vec<(String, String)>,
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
    /// An interrupted run cannot go on, because what it ran is not there any more.
    #[error(
        "image `{image}` has changed since the run was interrupted ({old} -> {new}): `run --fresh` measures all of it with the new one"
    )]
    ImageChanged {
        /// What was asked for.
        image: String,
        /// Digest of what ran.
        old: String,
        /// Digest of what would run.
        new: String,
    },
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
    ready: &'r Ready,
    images: images::Images,
    cancel: &'r CancellationToken,
}

/// Runs a job on engines that passed the [`preflight()`], to its end or until it is cancelled.
///
/// # Errors
/// When an image cannot be had, the engine is gone, or the record cannot be written.
pub async fn run(
    job: &Job,
    ready: &Ready,
    folder: &RunFolder,
    observer: &mut dyn Observer,
    cancel: &CancellationToken,
) -> Result<Ended, ExecuteError> {
    // Cancelled meanwhile, nothing is started below.
    ready.sweep(None, Some(cancel)).await?;
    let mut log = Log { journal: Journal::open(&folder.journal())?, observer, progress: Progress::new(job) };
    let started = Event::RunStarted(Box::new(RunStarted {
        format: crate::model::event::JOURNAL_FORMAT,
        run: job.run.clone(),
        experiment: job.experiment.clone(),
        digest: job.digest.clone(),
        at: now(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        host: job.host.clone(),
        engines: ready.facts.clone(),
    }));
    log.publish(started)?;
    let prepared = tokio::select! {
        prepared = images::prepare(job, &ready.engines, &mut log) => Some(prepared),
        () = cancel.cancelled() => None,
    };
    let ended = match prepared {
        Some(Ok(images)) => trials(&Shared { job, ready, images, cancel }, folder, &mut log).await,
        Some(Err(error)) => Err(error),
        None => Ok(0),
    };
    // What a failed or abandoned call may have made behind our back: everything of this run is over now.
    settle(job, ready, &mut log).await?;
    let interrupted = cancel.is_cancelled();
    log.publish(match &ended {
        Err(error) => Event::RunInterrupted { at: now(), by: error.to_string() },
        Ok(_) if interrupted => Event::RunInterrupted { at: now(), by: "signal".to_owned() },
        Ok(_) => Event::RunFinished { at: now() },
    })?;
    Ok(Ended { failed: ended?, interrupted })
}

/// The job's trials, one after the other; returns how many failed.
async fn trials(shared: &Shared<'_>, folder: &RunFolder, log: &mut Log<'_>) -> Result<usize, ExecuteError> {
    let (mut failed, mut broken) = (0, 0);
    for scheduled in &shared.job.trials {
        if shared.cancel.is_cancelled() {
            break;
        }
        log.progress.begin(scheduled);
        let Some(row) = attempts(shared, scheduled, folder, log).await? else { break };
        log.progress.finish(scheduled, &row);
        failed += usize::from(row.outcome == Outcome::Failed);
        let reason = row.failure.as_ref().filter(|failure| failure.is_of_the_engine()).map(|failure| failure.reason.clone());
        log.publish(Event::TrialFinished(Box::new(row)))?;
        broken = if reason.is_some() { broken + 1 } else { 0 };
        if let Some(reason) = reason.filter(|_| broken >= ENGINE_PATIENCE) {
            return Err(ExecuteError::EngineGone { trials: broken, reason });
        }
    }
    Ok(failed)
}

/// Removes all of this run between two trials, when nothing of it may be there; what stays is told and recorded.
async fn settle(job: &Job, ready: &Ready, log: &mut Log<'_>) -> Result<(), RecordError> {
    match ready.sweep((!job.keep).then_some(job.run.as_str()), None).await {
        Ok(()) => Ok(()),
        Err(error) => log.publish(Event::Warned { kind: LEFT_OVER.to_owned(), message: error.to_string() }),
    }
}

/// The journal first, then whoever watches.
struct Log<'r> {
    journal: Journal,
    observer: &'r mut dyn Observer,
    progress: Progress,
}

impl Log<'_> {
    fn publish(&mut self, event: Event) -> Result<(), RecordError> {
        self.journal.append(&event)?;
        self.observer.event(&event, &self.progress);
        Ok(())
    }
}

/// Tries a trial until it ends otherwise than by a fault of the engine; none when cancelled.
async fn attempts(
    shared: &Shared<'_>,
    scheduled: &Scheduled,
    folder: &RunFolder,
    log: &mut Log<'_>,
) -> Result<Option<TrialRow>, ExecuteError> {
    let job = shared.job;
    let variant = &job.variants[scheduled.variant];
    for attempt in scheduled.attempt.. {
        log.publish(Event::TrialStarted { trial: scheduled.id.clone(), attempt, at: now() })?;
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
            engine_start: None,
            position: scheduled.position,
            attempt,
            at,
            seconds: clock.elapsed().as_secs_f64(),
            outcome: if measured.failure.is_some() { Outcome::Failed } else { Outcome::Ok },
            taints: measured.taints,
            metrics: if measured.failure.is_some() { Vec::new() } else { measured.metrics },
            attested: measured.attested,
            outputs: Vec::new(),
            problems: measured.problems,
            failure: measured.failure,
        };
        for (unit, output) in &measured.outputs {
            for (stream, captured) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
                if captured.total > 0 {
                    row.outputs.push(crate::record::keep(folder, &label, unit, stream, &captured.bytes, captured.total)?);
                }
            }
        }
        if measured.unsettled {
            settle(job, shared.ready, log).await?;
        }
        if row.is_final(job.limits.attempts) || shared.cancel.is_cancelled() {
            return Ok(Some(row));
        }
        log.publish(Event::TrialFinished(Box::new(row)))?;
    }
    Ok(None)
}

/// UTC, RFC 3339, to the millisecond.
fn now() -> String {
    let now = jiff::Timestamp::now();
    format!("{now:.3}")
}
