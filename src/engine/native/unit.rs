//! One host process from its fork to its end.

use super::attendants::{Attendants, Attended};
use super::child::{self, Line, NO_CHILD, Preparation, READY, Stage};
use super::fresh::Fresh;
use super::{capture, files, user};
use crate::engine::namespace::Namespace;
use crate::engine::{EngineError, Output, UnitName};
use crate::model::spec::UnitSpec;
use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::watch;

/// `PATH` when the spec declares none: the one that container engines give.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// How far a process has come.
#[derive(Debug, Clone)]
pub(super) enum Progress {
    /// Forked, and waiting for the start.
    Waiting,
    /// Executing.
    Running,
    /// It could not be executed, or not even prepared.
    NotStarted(Arc<io::Error>),
    /// Ended and reaped.
    Ended { status: ExitStatus, started_ns: u64, finished_ns: u64 },
    /// Its end cannot be learned.
    Lost(Arc<io::Error>),
}

/// A host process.
#[derive(Debug)]
pub(super) struct Unit {
    pub program: String,
    pub cgroup: String,
    line: Arc<Line>,
    progress: watch::Receiver<Progress>,
    stdout: File,
    stderr: File,
    attended: Attended,
    scratch: Mutex<Option<tempfile::TempDir>>,
}

/// What an engine gives every process.
#[derive(Debug, Clone, Copy)]
pub(super) struct Surroundings<'e> {
    pub fresh: Fresh,
    pub attendants: &'e Attendants,
    /// The network namespace to start in; none is ours.
    pub namespace: Option<&'e Arc<Namespace>>,
}

/// The host's account files.
#[derive(Debug, Default)]
pub(super) struct Accounts {
    pub passwd: String,
    pub group: String,
}

impl Accounts {
    pub(super) fn read() -> Self {
        let text = |path| std::fs::read_to_string(path).unwrap_or_default();
        Self { passwd: text("/etc/passwd"), group: text("/etc/group") }
    }
}

impl Unit {
    /// Forks a process that prepares itself and then waits for [`Unit::start`]. Its cgroup exists and stays the caller's, who
    /// must take the process's answer ([`Unit::answer`]) and hear it ([`Unit::hear`]) before anything else.
    pub(super) fn fork(
        name: &UnitName,
        spec: &UnitSpec,
        around: Surroundings<'_>,
        cgroup: String,
        entries: Vec<PathBuf>,
    ) -> Result<Self, EngineError> {
        let call = |error: io::Error| EngineError::Call { operation: format!("create process `{}`", name.unit), reason: error.to_string() };
        let words: Vec<&String> = spec.entrypoint.iter().flatten().chain(&spec.command).collect();
        let Some((program, arguments)) = words.split_first() else {
            return Err(EngineError::Unsupported { what: format!("`{}` has no command", name.unit) });
        };
        let (stdout, stderr) = (capture::stream().map_err(call)?, capture::stream().map_err(call)?);
        let line = Arc::new(Line::new().map_err(|error| call(error.into()))?);
        let scratch = scratch(name, spec).map_err(call)?;
        let preparation = preparation(spec, around, scratch.as_ref(), entries, Arc::clone(&line))?;
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env_clear()
            .envs(environment(spec))
            .stdin(Stdio::null())
            .stdout(stdout.try_clone().map_err(call)?)
            .stderr(stderr.try_clone().map_err(call)?);
        let (tell, progress) = watch::channel(Progress::Waiting);
        let attended = around.attendants.attend(move || attend(command, preparation, &tell)).map_err(call)?;
        let scratch = Mutex::new(scratch);
        Ok(Self { program: (*program).clone(), cgroup, line, progress, stdout, stderr, attended, scratch })
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
    pub(super) fn hear(&self, answer: u64, name: &UnitName, spec: &UnitSpec) -> Result<(), EngineError> {
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
        let stage = |stage: Stage| answer % NO_CHILD == stage as u64;
        let not_started = |reason| Err(EngineError::NotStarted { program: self.program.clone(), reason });
        if stage(Stage::Folder) {
            return not_started(format!("working_dir `{}`: {reason}", spec.working_dir.as_deref().unwrap_or("/")));
        }
        if stage(Stage::User) {
            return not_started(format!("user `{}`: {reason}", spec.user.as_deref().unwrap_or("root")));
        }
        let what = if stage(Stage::Files) {
            "place the files of"
        } else if stage(Stage::Cgroup) {
            "enter the control groups of"
        } else {
            "create"
        };
        Err(EngineError::Call { operation: format!("{what} process `{}`", name.unit), reason })
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

    pub(super) fn progress(&self) -> Progress {
        self.progress.borrow().clone()
    }

    /// Waits until the process has ended; the last progress when it never will.
    pub(super) async fn ended(&self) -> Progress {
        self.reach(|progress| !matches!(progress, Progress::Waiting | Progress::Running)).await
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
        !matches!(*self.progress.borrow(), Progress::Waiting | Progress::Running)
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
                tell.send_replace(Progress::Running);
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

/// An empty folder to mount the scratch on; only with files.
fn scratch(name: &UnitName, spec: &UnitSpec) -> io::Result<Option<tempfile::TempDir>> {
    if spec.files.is_empty() {
        return Ok(None);
    }
    tempfile::Builder::new().prefix(&format!("{}{}-", super::SCRATCH, name.run)).tempdir().map(Some)
}

fn preparation(
    spec: &UnitSpec,
    around: Surroundings<'_>,
    scratch: Option<&tempfile::TempDir>,
    entries: Vec<PathBuf>,
    line: Arc<Line>,
) -> Result<Preparation, EngineError> {
    let unsupported = |what| EngineError::Unsupported { what };
    let text = |bytes: &[u8]| CString::new(bytes).map_err(|_| unsupported("a path contains a zero byte".to_owned()));
    let files = match scratch {
        None => None,
        Some(scratch) => {
            let steps = files::plan(&spec.files, &files::ThisHost).map_err(unsupported)?;
            Some((text(scratch.path().as_os_str().as_bytes())?, steps))
        }
    };
    let identity = match &spec.user {
        None => None,
        Some(user) => {
            let accounts = Accounts::read();
            Some(user::resolve(user, &accounts.passwd, &accounts.group).map_err(unsupported)?)
        }
    };
    let cgroups = entries.iter().map(|path| text(path.as_os_str().as_bytes())).collect::<Result<_, _>>()?;
    let folder = text(spec.working_dir.as_deref().unwrap_or("/").as_bytes())?;
    let (fresh, namespace) = (around.fresh, around.namespace.cloned());
    Ok(Preparation { fresh, namespace, files, cgroups, identity, folder, line, parent: rustix::process::getpid() })
}

/// What the spec declares, over `PATH`, `LC_ALL=C` and `HOME`: nothing of the caller's own environment.
fn environment(spec: &UnitSpec) -> Vec<(String, String)> {
    let home = spec.user.as_ref().map_or("/root".to_owned(), |user| user::home(user, &Accounts::read().passwd).to_owned());
    let mut variables = vec![("PATH".to_owned(), PATH.to_owned()), ("LC_ALL".to_owned(), "C".to_owned()), ("HOME".to_owned(), home)];
    variables.extend(spec.environment.iter().cloned());
    variables
}

/// The exit code as a shell tells it: 128 + n after signal n.
pub(super) fn code(status: ExitStatus) -> Option<i64> {
    status.code().or_else(|| status.signal().map(|signal| 128 + signal)).map(i64::from)
}
