//! One host process from its fork to its end.

use super::attendants::{Attendants, Attended};
use super::child::{self, Line, NO_CHILD, Preparation, READY, Stage, View};
use super::fresh::Fresh;
use super::setting::{self, Setting};
use super::sources::{self, Sources};
use super::store::Store;
use super::{capture, files, scratch};
use crate::engine::namespace::Namespace;
use crate::engine::{EngineError, Output, UnitName};
use crate::model::spec::UnitSpec;
use std::fs::File;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::watch;

/// How far a process has come.
#[derive(Debug, Clone)]
pub(super) enum Progress {
    /// Forked, and waiting for the start.
    Waiting,
    /// Executing; the process by its number.
    Running { pid: u32 },
    /// It could not be executed, or not even prepared.
    NotStarted(Arc<io::Error>),
    /// Ended and reaped.
    Ended { status: ExitStatus, started_ns: u64, finished_ns: u64 },
    /// Its end cannot be learned.
    Lost(Arc<io::Error>),
}

/// A host process: a unit's own, or a command run beside it.
#[derive(Debug)]
pub(super) struct Unit {
    pub program: String,
    pub cgroup: String,
    /// What it has on disk for itself.
    pub own: Option<PathBuf>,
    pub mounts: Vec<Mounted>,
    pub setting: Arc<Setting>,
    pub line: Arc<Line>,
    progress: watch::Receiver<Progress>,
    stdout: File,
    stderr: File,
    attended: Attended,
    /// Whether it sees another view of the host's files than we.
    pub private: bool,
    scratch: Mutex<Option<tempfile::TempDir>>,
}

/// What was mounted for a unit.
#[derive(Debug)]
pub(super) struct Mounted {
    /// As the spec has it.
    pub target: PathBuf,
    /// Where it is: the target, unless that leads through links.
    pub point: PathBuf,
    /// What engines call it.
    pub kind: &'static str,
}

/// What an engine gives every process.
#[derive(Debug, Clone, Copy)]
pub(super) struct Surroundings<'e> {
    pub fresh: Fresh,
    pub attendants: &'e Attendants,
    /// The network namespace to start in; none is ours.
    pub namespace: Option<&'e Arc<Namespace>>,
    pub store: &'e Store,
}

impl Unit {
    /// Forks a process that prepares itself and then waits for [`Unit::start`]. Its cgroup exists and stays the caller's, who
    /// must take the process's answer ([`Unit::answer`]) and hear it ([`Unit::hear`]) before anything else.
    pub(super) fn fork(
        name: &UnitName,
        spec: &UnitSpec,
        around: Surroundings<'_>,
        cgroup: String,
        entries: &[PathBuf],
    ) -> Result<Self, EngineError> {
        let call = |error: io::Error| EngineError::Call { operation: format!("create process `{}`", name.unit), reason: error.to_string() };
        let words: Vec<&String> = spec.entrypoint.iter().flatten().chain(&spec.command).collect();
        let scratch = scratch::make(name, spec).map_err(call)?;
        let own = sources::any(spec).then(|| around.store.unit(&name.container()));
        let (view, mounts) = view(spec, around.store, own.as_deref(), scratch.as_ref())?;
        let setting = Arc::new(Setting::new(spec, around.fresh, around.namespace.cloned(), entries)?);
        let launched = Self::launch(&words, setting, view, around.attendants, cgroup).map_err(call)?;
        let unit = launched.ok_or_else(|| EngineError::Unsupported { what: format!("`{}` has no command", name.unit) })?;
        Ok(Self { own, mounts, private: scratch.is_some(), scratch: Mutex::new(scratch), ..unit })
    }

    /// Forks; none without a program.
    pub(super) fn launch(
        words: &[&String],
        setting: Arc<Setting>,
        view: View,
        attendants: &Attendants,
        cgroup: String,
    ) -> io::Result<Option<Self>> {
        let Some((program, arguments)) = words.split_first() else { return Ok(None) };
        let (stdout, stderr) = (capture::stream()?, capture::stream()?);
        let line = Arc::new(Line::new()?);
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env_clear()
            .envs(setting.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(stdout.try_clone()?)
            .stderr(stderr.try_clone()?);
        let parent = rustix::process::getpid();
        let preparation = Preparation { setting: Arc::clone(&setting), view, line: Arc::clone(&line), parent };
        let (tell, progress) = watch::channel(Progress::Waiting);
        let attended = attendants.attend(move || attend(command, preparation, &tell))?;
        let (program, scratch) = ((*program).clone(), Mutex::default());
        Ok(Some(Self {
            program,
            cgroup,
            own: None,
            mounts: Vec::new(),
            setting,
            line,
            progress,
            stdout,
            stderr,
            attended,
            private: false,
            scratch,
        }))
    }

    /// The child's answer, once: ready, or what failed. None when it has not come for so long.
    pub(super) fn answer_within(&self, patience: Duration) -> Option<u64> {
        child::take_within(&self.line.ready, patience).unwrap_or(Some(NO_CHILD))
    }

    /// The same, and waits for it.
    pub(super) fn answer(&self) -> u64 {
        child::take(&self.line.ready).unwrap_or(NO_CHILD)
    }

    /// Hears what the child answered: fine when it waits for the start.
    pub(super) fn hear(&self, answer: u64, name: &UnitName) -> Result<(), EngineError> {
        // The child has mounted on it and left it: the host keeps an empty folder for about a millisecond.
        drop(self.scratch.lock().unwrap_or_else(PoisonError::into_inner).take());
        if answer == READY {
            return Ok(());
        }
        self.join();
        let reason = match &*self.progress.borrow() {
            Progress::NotStarted(error) => error.to_string(),
            other => format!("{other:?}"),
        };
        Err(self.refusal(answer, &name.unit, &reason))
    }

    /// Why the child could not prepare itself, in words.
    pub(super) fn refusal(&self, answer: u64, name: &str, reason: &str) -> EngineError {
        let stage = |stage: Stage| answer % NO_CHILD == stage as u64;
        let not_started = |reason| EngineError::NotStarted { program: self.program.clone(), reason };
        if stage(Stage::Folder) {
            return not_started(format!("working_dir `{}`: {reason}", self.setting.folder.to_string_lossy()));
        }
        if stage(Stage::User)
            && let Some(identity) = &self.setting.identity
        {
            return not_started(format!("user {}, group {}: {reason}", identity.uid.as_raw(), identity.gid.as_raw()));
        }
        let what = if stage(Stage::Files) {
            "place the files of"
        } else if stage(Stage::Cgroup) {
            "enter the control groups of"
        } else {
            "create"
        };
        EngineError::Call { operation: format!("{what} process `{name}`"), reason: reason.to_owned() }
    }

    /// Lets the child go, and waits until it executes.
    pub(super) async fn start(&self) -> Result<(), EngineError> {
        let call = |reason: String| EngineError::Call { operation: format!("start `{}`", self.program), reason };
        if !matches!(*self.progress.borrow(), Progress::Waiting) {
            return Err(call("it was started before".to_owned()));
        }
        child::signal(&self.line.release, 1).map_err(|error| call(error.to_string()))?;
        match self.reach(|progress| !matches!(progress, Progress::Waiting)).await {
            Progress::NotStarted(error) => Err(EngineError::NotStarted { program: self.program.clone(), reason: error.to_string() }),
            _ => Ok(()),
        }
    }

    /// How far it has come, for whoever outlives this.
    pub(super) fn news(&self) -> watch::Receiver<Progress> {
        self.progress.clone()
    }

    pub(super) fn progress(&self) -> Progress {
        self.progress.borrow().clone()
    }

    /// Waits until the process has ended; the last progress when it never will.
    pub(super) async fn ended(&self) -> Progress {
        self.reach(|progress| !matches!(progress, Progress::Waiting | Progress::Running { .. })).await
    }

    async fn reach(&self, far: impl FnMut(&Progress) -> bool) -> Progress {
        let mut progress = self.progress.clone();
        let reached = progress.wait_for(far).await.map(|progress| progress.clone());
        reached.unwrap_or_else(|_| Progress::Lost(Arc::new(io::Error::other("its thread has given up"))))
    }

    pub(super) fn has_started(&self) -> bool {
        !matches!(*self.progress.borrow(), Progress::Waiting | Progress::NotStarted(_))
    }

    /// Whether the process is gone and reaped.
    pub(super) fn is_over(&self) -> bool {
        !matches!(*self.progress.borrow(), Progress::Waiting | Progress::Running { .. })
    }

    /// Bytes written so far to the longer of the two streams.
    pub(super) fn output_len(&self) -> u64 {
        [&self.stdout, &self.stderr].map(|file| file.metadata().map_or(0, |found| found.len())).into_iter().max().unwrap_or(0)
    }

    pub(super) fn output(&self) -> io::Result<Output> {
        Ok(Output { stdout: capture::read(&self.stdout)?, stderr: capture::read(&self.stderr)? })
    }

    /// Waits until the process is reaped; only after it was killed or has ended.
    pub(super) fn join(&self) {
        self.attended.join(); // a panic there has ended its process's story all the same
    }
}

/// The life of one process, on a thread that does nothing else meanwhile: the fork, the wait for the exec, the wait for the end.
fn attend(mut command: Command, preparation: Preparation, tell: &watch::Sender<Progress>) {
    let line = Arc::clone(&preparation.line);
    #[expect(unsafe_code, reason = "what happens between fork and exec is unsafe by nature")]
    // SAFETY: `prepare` makes system calls on memory that is ready before the fork; it neither allocates nor takes a lock.
    unsafe {
        command.pre_exec(move || child::prepare(&preparation).map_err(io::Error::from));
    }
    match command.spawn() {
        Ok(mut process) => {
            // Killed before its start, it has no stamp, and "spawned" says only that it is gone.
            let started_ns = child::take(&line.stamp);
            if started_ns.is_ok() {
                tell.send_replace(Progress::Running { pid: process.id() });
            }
            let ended = process.wait();
            let finished_ns = child::now_ns();
            tell.send_replace(match (ended, started_ns) {
                (Ok(status), Ok(started_ns)) => Progress::Ended { status, started_ns, finished_ns },
                (Ok(_), Err(error)) => Progress::NotStarted(Arc::new(error.into())),
                (Err(error), _) => Progress::Lost(Arc::new(error)),
            });
        }
        Err(error) => {
            tell.send_replace(Progress::NotStarted(Arc::new(error)));
        }
    }
    let _ = child::signal(&line.ready, NO_CHILD); // nobody may be waiting any more
}

/// What the unit is to see, and what is mounted for it.
fn view(
    spec: &UnitSpec,
    store: &Store,
    own: Option<&Path>,
    scratch: Option<&tempfile::TempDir>,
) -> Result<(View, Vec<Mounted>), EngineError> {
    let Some(scratch) = scratch else { return Ok((View::Host, Vec::new())) };
    let unsupported = |what| EngineError::Unsupported { what };
    let sources = Sources { store, own: own.unwrap_or(Path::new("")) };
    let placements = sources.placements(spec).map_err(unsupported)?;
    let plan = files::plan(&placements, &files::ThisHost).map_err(unsupported)?;
    // Mounts are placed first.
    let mounted = spec.volumes.iter().zip(plan.points);
    let mounts = mounted.map(|(mount, point)| Mounted { target: mount.target.clone(), point, kind: sources::kind(mount) }).collect();
    Ok((View::Own(setting::text(scratch.path())?, plan.steps), mounts))
}

/// The exit code as a shell tells it: 128 + n after signal n.
pub(super) fn code(status: ExitStatus) -> Option<i64> {
    status.code().or_else(|| status.signal().map(|signal| 128 + signal)).map(i64::from)
}
