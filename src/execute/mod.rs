//! Drives a plan over engines: images, then trial after trial, each through its phases, with limits and named failures.
//!
//! One trial at a time; nothing of ours runs beside it except the window's watcher and the sampler. Every row is in the record before an
//! observer sees it. Teardown is an awaited call on every path, cancellation included.

mod aside;
mod collect;
mod gate;
mod images;
mod names;
mod preflight;
mod probe;
mod progress;
mod readings;
mod schedule;
mod services;
mod sight;
mod stage;
mod surroundings;
mod trial;

pub use preflight::{Ready, preflight};
pub use progress::Progress;
pub use stage::{Instance, Source};

use crate::engine::namespace::Namespace;
use crate::engine::{Boxed, Engine, EngineError, control};
use crate::measure::samplers::Counters;
use crate::model::cgroup::CgroupLayout;
use crate::model::event::{Event, Looked, RunStarted};
use crate::model::experiment::PhaseLimits;
use crate::model::facts::HostFacts;
use crate::model::hygiene::Thresholds;
use crate::model::observe::Observe;
use crate::model::spec::{EngineSpec, TrialSpec};
use crate::record::{Journal, RecordError, RunFolder};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio_util::sync::CancellationToken;

/// Kind of the warning that something of a trial could not be removed, and may have run beside the trials after it.
pub const LEFT_OVER: &str = "left-over";

/// Kind of the warning that containers of others run on an engine of the plan.
pub const NEIGHBOURS: &str = "neighbours";
/// So many of them are named; the rest is counted.
const MOST_NAMED: usize = 5;

/// Opens engines: an existing daemon, the host, or a scripted fake.
pub trait EngineSource: Send + Sync {
    /// The engine for containers.
    fn open<'a>(&'a self, spec: &'a EngineSpec) -> Boxed<'a, Result<Arc<dyn Engine>, EngineError>>;
    /// The engine for `on: host`, whose processes start in `namespace`, or in our own.
    ///
    /// # Errors
    /// When this process may not make control groups here.
    fn host(&self, namespace: Option<Arc<Namespace>>) -> Result<Arc<dyn Engine>, EngineError>;
    /// Removes what private engines of dead runs left on this host: those whose run is not in `alive`. Returns what was removed.
    ///
    /// # Errors
    /// When something is left.
    fn sweep_private(&self, alive: &[String]) -> Result<Vec<String>, EngineError>;
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
    /// Which start of its private engine hosts it; none on an engine that runs anyway.
    pub engine_start: Option<u32>,
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
    /// Whether its engine is its own though another variant's is set the same: the A/A copy's, where engines are compared.
    pub copy: bool,
    /// Seconds of an earlier trial of it, for the time left.
    pub seconds: Option<f64>,
}

impl JobVariant {
    /// The engine that it runs on.
    #[must_use]
    pub fn instance(&self) -> Instance {
        Instance { engine: self.spec.engine.clone(), copy: self.copy }
    }
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
    /// What is observed while a trial runs.
    pub observe: Observe,
    /// From where on the host is not quiet.
    pub hygiene: Thresholds,
}

/// Sees what happens, after it is in the record.
pub trait Observer: Send {
    /// Something happened.
    fn event(&mut self, event: &Event, progress: &Progress);

    /// Asked after the last trial of each block, whose row is in the record: what a look at the spread shows, when it is time for one.
    fn look(&mut self) -> Option<Looked>;
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
    /// The kernel's files, open for the whole run.
    counters: Mutex<Counters>,
    gate: Mutex<gate::Gate>,
}

impl<'r> Shared<'r> {
    fn new(job: &'r Job, ready: &'r Ready, images: images::Images, cancel: &'r CancellationToken) -> Self {
        let counters = Counters::open(&job.layout, &format!("{}/{}", control::TOP, job.run));
        Self { job, ready, images, cancel, counters: Mutex::new(counters), gate: Mutex::default() }
    }

    fn gate(&self) -> MutexGuard<'_, gate::Gate> {
        self.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn counters(&self) -> MutexGuard<'_, Counters> {
        self.counters.lock().unwrap_or_else(PoisonError::into_inner)
    }
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
    ready.sweep(None, true, Some(cancel)).await?;
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
    if let Some(message) = neighbours(ready).await {
        log.publish(Event::Warned { kind: NEIGHBOURS.to_owned(), message })?;
    }
    let ended = match images::prepare(job, ready, &mut log, cancel).await {
        Ok(Some(images)) => schedule::trials(&Shared::new(job, ready, images, cancel), folder, &mut log).await,
        Ok(None) => Ok(0),
        Err(error) => Err(error),
    };
    // What a failed or abandoned call may have made behind our back: everything of this run is over now.
    let down = ready.down().await;
    let left = down.and(ready.sweep((!job.keep).then_some(job.run.as_str()), true, None).await);
    log.left_over(left)?;
    let interrupted = cancel.is_cancelled();
    log.publish(match &ended {
        Err(error) => Event::RunInterrupted { at: now(), by: error.to_string() },
        Ok(_) if interrupted => Event::RunInterrupted { at: now(), by: "signal".to_owned() },
        Ok(_) => Event::RunFinished { at: now() },
    })?;
    Ok(Ended { failed: ended?, interrupted })
}

/// Says who else is on the engines.
async fn neighbours(ready: &Ready) -> Option<String> {
    let names = ready.neighbours().await;
    let shown: Vec<String> = names.iter().take(MOST_NAMED).map(|name| format!("`{name}`")).collect();
    let more = if names.len() > shown.len() { format!(" and {} more", names.len() - shown.len()) } else { String::new() };
    (!shown.is_empty()).then(|| {
        let containers = if names.len() == 1 { "another container runs" } else { "other containers run" };
        let shown = shown.join(", ");
        format!("{containers} on the engine: {shown}{more}; what they do disturbs the trials (`foreign-cpu` tells how much): stop them while measuring")
    })
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

    /// Tells and records what could not be removed.
    fn left_over(&mut self, removed: Result<(), EngineError>) -> Result<(), RecordError> {
        match removed {
            Ok(()) => Ok(()),
            Err(error) => self.publish(Event::Warned { kind: LEFT_OVER.to_owned(), message: error.to_string() }),
        }
    }
}

/// UTC, RFC 3339, to the millisecond.
fn now() -> String {
    let now = jiff::Timestamp::now();
    format!("{now:.3}")
}
