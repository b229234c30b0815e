//! Engines: what hosts a unit (a container, or a process of the host), behind one small trait.
//!
//! An engine creates, starts, waits for, reads and removes units; it knows nothing of experiments, files of records or
//! statistics. Every engine passes the same conformance suite (`tests/engine_conformance.rs`). Adding one: a folder here
//! and a line in the suite.
//!
//! The order of calls is fixed: [`Engine::up`], then [`Engine::image`] before any trial; then for each trial [`Engine::furnish`],
//! [`Engine::create`] of every unit, [`Engine::start`] together, [`Engine::wait`] for all, then [`Engine::exit`] and
//! [`Engine::output`] of each, and [`Engine::remove`] and [`Engine::clear`] on every path. An engine that was started for us may go
//! [`Engine::down`] and up again between trials.

pub mod control;
pub mod docker;
pub mod dockerd;
pub mod fake;
pub mod grouped;
pub mod namespace;
pub mod native;
pub mod once;
pub mod pack;

use crate::model::facts::EngineFacts;
use crate::model::spec::{ImageSpec, UnitSpec};
use crate::model::stack::{NetworkSpec, PortSpec, VolumeSpec};
use namespace::Namespace;
use std::future::Future;
use std::net::IpAddr;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;

/// A boxed future: the trait is used as an object.
pub type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Label with the run's id; nothing without it is ever touched.
pub const LABEL_RUN: &str = "shakedown.run";
/// Label with the experiment's name.
pub const LABEL_EXPERIMENT: &str = "shakedown.experiment";
/// Label with the host whose leases say whether the run is alive: several hosts may use one daemon.
pub const LABEL_HOST: &str = "shakedown.host";
/// Label with the trial's id.
pub const LABEL_TRIAL: &str = "shakedown.trial";

/// An engine failed, or cannot do what is asked.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// There is no engine to talk to.
    #[error("no engine at `{endpoint}` ({found_by}): {reason}")]
    Unreachable {
        /// Where we looked.
        endpoint: String,
        /// Why there.
        found_by: String,
        /// What happened.
        reason: String,
    },
    /// This engine or host cannot do it at all; known before any trial.
    #[error("{what}")]
    Unsupported {
        /// What, and what to do instead.
        what: String,
    },
    /// An image could not be had.
    #[error("image `{image}`: {reason}")]
    Image {
        /// As declared.
        image: String,
        /// What happened.
        reason: String,
    },
    /// The unit's own program could not be started; trying again will not help.
    #[error("`{program}` could not be started: {reason}")]
    NotStarted {
        /// The program.
        program: String,
        /// What happened.
        reason: String,
    },
    /// A call failed; trying again may help.
    #[error("{operation}: {reason}")]
    Call {
        /// The operation, such as "create container `x`".
        operation: String,
        /// What happened.
        reason: String,
    },
}

/// Who a unit belongs to, and what to call it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitName {
    /// The run's id.
    pub run: String,
    /// The experiment's name.
    pub experiment: String,
    /// The trial's id, with the attempt when it is not the first.
    pub trial: String,
    /// The workload's or service's name.
    pub unit: String,
}

impl UnitName {
    /// A name for the engine that no other run, trial or unit has.
    #[must_use]
    pub fn container(&self) -> String {
        format!("shakedown-{}-{}-{}", self.run, self.trial, self.unit)
    }

    /// The cgroup parent of this unit below each hierarchy: `shakedown/<run>/<trial>-<unit>`. The units of a trial are
    /// siblings, so that they share CPU by their weights.
    #[must_use]
    pub fn cgroup(&self) -> String {
        format!("shakedown/{}/{}-{}", self.run, self.trial, self.unit)
    }

    /// The engine's name of a network of this trial.
    #[must_use]
    pub fn network(&self, name: &str) -> String {
        format!("shakedown-{}-{}-net-{name}", self.run, self.trial)
    }

    /// The engine's name of a volume of this trial, or of its whole run.
    #[must_use]
    pub fn volume(&self, name: &str, keep: bool) -> String {
        if keep { format!("shakedown-{}-vol-{name}", self.run) } else { format!("shakedown-{}-{}-vol-{name}", self.run, self.trial) }
    }
}

/// An image that is ready to run on an engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// What to give to the engine when creating a container.
    pub reference: String,
    /// Digest of the image's configuration: what ran.
    pub digest: String,
}

/// A created unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Created {
    /// The engine's handle.
    pub id: String,
    /// Our cgroup around it, relative to each hierarchy's root, whose hierarchical counters outlive the unit.
    pub cgroup: String,
    /// The cgroup with the unit's own limits; it exists from just before the start until the exit.
    pub leaf: String,
}

/// What a trial's units stand in. Its names are those of the manifest; the engine makes its own of them with
/// [`UnitName::network`] and [`UnitName::volume`].
#[derive(Debug, Clone, Copy, Default)]
pub struct Furniture<'s> {
    /// Networks.
    pub networks: &'s [NetworkSpec],
    /// Volumes; paths are absolute.
    pub volumes: &'s [VolumeSpec],
}

/// A unit that runs, as its engine sees it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Standing {
    /// Its addresses, that of the first network first; empty when it shares the namespace of its engine or has none.
    pub addresses: Vec<IpAddr>,
    /// The ports that it publishes, with those of the host as they became.
    pub ports: Vec<PortSpec>,
    /// A process of it in this host's numbers; none where they cannot be known.
    pub pid: Option<u32>,
    /// Digest of the image that it runs, as the engine tells it; none for a host process.
    pub image: Option<String>,
    /// What the engine says of its settings: `network_mode`, `storage_driver`, `mount TARGET` (`volume`, `bind`, `tmpfs`).
    pub settings: Vec<(String, String)>,
}

/// A command that ran inside a unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Executed {
    /// Exit code.
    pub code: i64,
    /// What it wrote.
    pub output: Output,
}

/// How a unit ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exit {
    /// Exit code; 128 + n after signal n.
    pub code: i64,
    /// The signal that ended it, where the engine knows; none when it ended by itself, or when the engine tells a code only.
    pub signal: Option<i32>,
    /// Whether the kernel killed it for memory.
    pub oom: bool,
    /// Digest of the image that it ran from, as the engine says afterwards; none for a host process.
    pub image: Option<String>,
    /// The engine's start stamp in nanoseconds of an arbitrary clock.
    pub started_ns: i128,
    /// Its finish stamp on the same clock.
    pub finished_ns: i128,
    /// Whether that clock is the time of day, which may be set meanwhile.
    pub time_of_day: bool,
}

/// What a unit wrote, raw.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Output {
    /// Standard output.
    pub stdout: Captured,
    /// Standard error.
    pub stderr: Captured,
}

/// One captured stream.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Captured {
    /// The bytes kept.
    pub bytes: Vec<u8>,
    /// Bytes written in all; more than kept when the cap was reached.
    pub total: u64,
}

/// Most bytes kept of a stream: its first half and its last half of this.
pub const OUTPUT_CAP: usize = 16 << 20;

/// What hosts units.
pub trait Engine: Send + Sync {
    /// Says what this engine is.
    ///
    /// # Errors
    /// When it does not answer.
    fn facts(&self) -> Boxed<'_, Result<EngineFacts, EngineError>>;

    /// Says why `spec` cannot run here; empty when it can. Called before the first trial.
    fn unsupported(&self, spec: &UnitSpec, facts: &EngineFacts) -> Vec<String>;

    /// Starts what was made for us only, a private daemon, for the run `run`; does nothing where it is up, and for an engine that
    /// runs anyway.
    ///
    /// # Errors
    /// When it does not come up, or is not set as asked.
    fn up<'a>(&'a self, run: &'a str) -> Boxed<'a, Result<(), EngineError>> {
        let _ = run;
        Box::pin(async { Ok(()) })
    }

    /// Ends what [`Engine::up`] started, with everything in it. Images that were made ready are there again after the next `up`,
    /// and nothing else is.
    ///
    /// # Errors
    /// When something is left.
    fn down(&self) -> Boxed<'_, Result<(), EngineError>> {
        Box::pin(async { Ok(()) })
    }

    /// The network namespace in which published ports and the addresses of containers can be reached, where that is not ours.
    fn namespace(&self) -> Option<Arc<Namespace>> {
        None
    }

    /// The control group of the engine's own processes, where it has one of ours.
    fn own_group(&self) -> Option<String> {
        None
    }

    /// Makes the networks and volumes of a trial; a volume to `keep` that is there already stays as it is. After an error the
    /// caller clears.
    ///
    /// # Errors
    /// When the engine refuses, or has no such thing.
    fn furnish<'a>(&'a self, name: &'a UnitName, furniture: Furniture<'a>) -> Boxed<'a, Result<(), EngineError>> {
        let _ = name;
        let what = furniture.networks.first().map(|network| format!("network `{}`", network.name));
        let what = what.or_else(|| furniture.volumes.first().map(|volume| format!("volume `{}`", volume.name)));
        Box::pin(async move {
            match what {
                None => Ok(()),
                Some(what) => Err(EngineError::Unsupported { what: format!("{what}: this engine makes none") }),
            }
        })
    }

    /// Removes what [`Engine::furnish`] made for this trial; what is kept for the run stays. Fine when it is not there.
    ///
    /// # Errors
    /// When something is left.
    fn clear<'a>(&'a self, name: &'a UnitName, furniture: Furniture<'a>) -> Boxed<'a, Result<(), EngineError>> {
        let _ = (name, furniture);
        Box::pin(async { Ok(()) })
    }

    /// Looks at a unit that was started and has not ended.
    ///
    /// # Errors
    /// When it cannot be learned.
    fn inspect<'a>(&'a self, unit: &'a Created) -> Boxed<'a, Result<Standing, EngineError>> {
        let _ = unit;
        Box::pin(async { Ok(Standing::default()) })
    }

    /// Runs a command inside a unit that runs, to its end.
    ///
    /// # Errors
    /// When it cannot be executed there.
    fn exec<'a>(&'a self, unit: &'a Created, command: &'a [String]) -> Boxed<'a, Result<Executed, EngineError>> {
        let _ = command;
        let what = format!("`{}`: this engine runs no command inside a unit", unit.id);
        Box::pin(async { Err(EngineError::Unsupported { what }) })
    }

    /// Makes an image ready: packs, builds, loads, or pulls it if absent. Relative paths are relative to `folder`.
    ///
    /// # Errors
    /// When it cannot be had.
    fn image<'a>(&'a self, image: &'a ImageSpec, folder: &'a Path) -> Boxed<'a, Result<Image, EngineError>>;

    /// Creates a unit with its files and does not start it. After an error nothing of it is left.
    ///
    /// # Errors
    /// When the engine refuses.
    fn create<'a>(&'a self, name: &'a UnitName, spec: &'a UnitSpec, image: Option<&'a Image>) -> Boxed<'a, Result<Created, EngineError>>;

    /// Starts a created unit.
    ///
    /// # Errors
    /// [`EngineError::NotStarted`] when its program cannot be executed.
    fn start<'a>(&'a self, unit: &'a Created) -> Boxed<'a, Result<(), EngineError>>;

    /// Waits until a started unit has ended; no engine call is made between start and exit, nor by this after it.
    ///
    /// # Errors
    /// When the exit cannot be learned: never taken for an exit code of 0.
    fn wait<'a>(&'a self, unit: &'a Created) -> Boxed<'a, Result<(), EngineError>>;

    /// Reads how a unit ended that was waited for. Apart from the wait, so that nothing is asked while other units still run.
    ///
    /// # Errors
    /// When it cannot be learned, or when what the engine says does not fit together.
    fn exit<'a>(&'a self, unit: &'a Created) -> Boxed<'a, Result<Exit, EngineError>>;

    /// Fetches what a unit wrote, so far when it still runs.
    ///
    /// # Errors
    /// When it cannot be read.
    fn output<'a>(&'a self, unit: &'a Created) -> Boxed<'a, Result<Output, EngineError>>;

    /// Ends a unit with everything that it started, and removes it; fine when it is already gone.
    ///
    /// # Errors
    /// When something is left.
    fn remove<'a>(&'a self, unit: &'a Created) -> Boxed<'a, Result<(), EngineError>>;

    /// Names of what runs here now and is not ours: it competes with every trial. Nothing for an engine that hosts nothing else.
    ///
    /// # Errors
    /// When it cannot be learned.
    fn neighbours(&self) -> Boxed<'_, Result<Vec<String>, EngineError>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    /// Finds and removes what dead runs left: everything with our label whose run is not in `alive`. Returns what was removed.
    ///
    /// # Errors
    /// When something is left.
    fn sweep<'a>(&'a self, alive: &'a [String]) -> Boxed<'a, Result<Vec<String>, EngineError>>;
}
