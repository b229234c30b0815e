//! Host processes as units: the same command with the same limits, and no container around it.
//!
//! A process is forked when its unit is created, and waits, fully prepared, for the start: nothing but the exec lies between
//! the release and the start stamp, so several units start together. It has a cgroup and a session of its own, no standard
//! input, `/` as its folder unless `working_dir` says otherwise, umask 022, no core files, and of the environment only `PATH`,
//! `LC_ALL=C`, the user's `HOME` and what the spec declares. It may use every CPU that its limits leave it, is not nice and no
//! likelier than others to be killed for memory, whatever we are; resource limits other than that of core files are ours. It sees the host's files, with those of the spec laid over them.
//! It dies with us; what it left behind is found again by its cgroup.

mod attendants;
mod capture;
mod child;
mod files;
mod fresh;
mod support;
mod unit;
mod user;

use super::control::{self, Control, Runs, TOP};
use super::namespace::Namespace;
use super::{Boxed, Created, Engine, EngineError, Exit, Image, Output, UnitName};
use crate::model::facts::EngineFacts;
use crate::model::spec::{ImageSpec, UnitSpec};
use attendants::Attendants;
use fresh::Fresh;
use std::collections::HashMap;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;
use unit::{Accounts, Progress, Surroundings, Unit};

/// Beginning of the names of the folders that the scratch is mounted on, in the folder for temporary files.
const SCRATCH: &str = "shakedown-files-";

/// So long a fresh process may take to prepare itself on the caller's thread; usually it needs a millisecond.
const READY_SOON: Duration = Duration::from_millis(10);

/// Up to so many bytes of output are read at once.
const SHORT_OUTPUT: u64 = 64 << 10;

/// Runs units as processes of this host.
#[derive(Debug)]
pub struct NativeEngine {
    control: Control,
    fresh: Fresh,
    attendants: Attendants,
    units: Mutex<HashMap<String, Arc<Unit>>>,
    runs: Runs,
    /// The network namespace that units start in; none is ours.
    namespace: Option<Arc<Namespace>>,
}

impl NativeEngine {
    /// The engine of this host.
    ///
    /// # Errors
    /// When this host cannot give processes a cgroup of their own.
    pub fn new() -> Result<Self, EngineError> {
        let unsupported = |what: String| EngineError::Unsupported { what };
        let layout = control::layout().map_err(|error| unsupported(format!("control groups: {error}")))?;
        let Some(root) = layout.dir("cpu", "") else {
            return Err(unsupported("this host mounts no `cpu` control group: host processes cannot be limited or measured".to_owned()));
        };
        if let Err(error) = rustix::fs::access(&root, rustix::fs::Access::WRITE_OK) {
            let reason = format!("control groups below {} may not be made ({error}): run as root, or delegate them", root.display());
            return Err(unsupported(reason));
        }
        let control = Control::new(layout);
        Ok(Self {
            runs: Runs::new(control.clone()),
            control,
            fresh: Fresh::now(),
            attendants: Attendants::default(),
            units: Mutex::default(),
            namespace: None,
        })
    }

    /// The same, but its units start in another network namespace: that of a private daemon beside whose containers they run.
    #[must_use]
    pub fn within(self, namespace: Option<Arc<Namespace>>) -> Self {
        Self { namespace, ..self }
    }

    fn units(&self) -> MutexGuard<'_, HashMap<String, Arc<Unit>>> {
        self.units.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn surroundings(&self) -> Surroundings<'_> {
        Surroundings { fresh: self.fresh, attendants: &self.attendants, namespace: self.namespace.as_ref() }
    }

    fn unit(&self, created: &Created, operation: &str) -> Result<Arc<Unit>, EngineError> {
        self.units().get(&created.id).cloned().ok_or_else(|| failed(operation, &created.id, "there is no such process"))
    }
}

fn failed(operation: &str, id: &str, reason: impl ToString) -> EngineError {
    EngineError::Call { operation: format!("{operation} process `{id}`"), reason: reason.to_string() }
}

/// Waits for a child that needs long to prepare itself, on a thread that nobody else waits for. When the caller gives up meanwhile,
/// what comes of it is ended there.
async fn slow_answer(process: &Arc<Unit>, control: &Control) -> u64 {
    let (tell, told) = oneshot::channel();
    let (process, control) = (Arc::clone(process), control.clone());
    std::thread::spawn(move || {
        if tell.send(process.answer()).is_err() {
            let _ = control.kill(&process.cgroup); // the run's last sweep tries again, and tells
            process.join();
            let _ = control.remove(&process.cgroup);
        }
    });
    told.await.unwrap_or(child::NO_CHILD)
}

/// Runs what may block for longer off the async threads.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T, EngineError> + Send + 'static) -> Result<T, EngineError> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(failed("attend", "", error)))
}

impl Engine for NativeEngine {
    fn facts(&self) -> Boxed<'_, Result<EngineFacts, EngineError>> {
        Box::pin(async {
            let memory = rustix::system::sysinfo();
            Ok(EngineFacts {
                kind: "native".to_owned(),
                cgroup_driver: "cgroupfs".to_owned(),
                cpus: self.fresh.count,
                memory_bytes: memory.totalram as u64 * u64::from(memory.mem_unit),
                ..EngineFacts::default()
            })
        })
    }

    fn unsupported(&self, spec: &UnitSpec, facts: &EngineFacts) -> Vec<String> {
        let accounts = if spec.user.is_some() { Accounts::read() } else { Accounts::default() };
        let mut reasons = support::unsupported(spec, facts, &accounts.passwd, &accounts.group);
        reasons.extend(self.control.missing(&spec.limits));
        reasons.extend(files::plan(&spec.files, &files::ThisHost).err());
        reasons
    }

    /// The files of a pack are the host's own and stand where they are; the digest is empty, for nothing is made.
    fn image<'a>(&'a self, image: &'a ImageSpec, _folder: &'a Path) -> Boxed<'a, Result<Image, EngineError>> {
        Box::pin(async move {
            match support::no_image(image) {
                None => Ok(Image { reference: "host".to_owned(), digest: String::new() }),
                Some(what) => Err(EngineError::Unsupported { what }),
            }
        })
    }

    fn create<'a>(&'a self, name: &'a UnitName, spec: &'a UnitSpec, _image: Option<&'a Image>) -> Boxed<'a, Result<Created, EngineError>> {
        Box::pin(async move {
            let created = Created { id: name.container(), cgroup: name.cgroup(), leaf: name.cgroup() };
            if self.units().contains_key(&created.id) {
                return Err(failed("create", &created.id, "it exists already"));
            }
            // Done here and now, a millisecond on this thread: every hand-over costs more than it on a busy machine.
            self.runs.note(&name.run);
            self.control.create(&created.cgroup, &spec.limits)?;
            let entries = self.control.entries(&created.cgroup, &spec.limits);
            let undo = |_: &EngineError| {
                let _ = self.control.remove(&created.cgroup); // the first error is the one to tell
            };
            let process = Arc::new(Unit::fork(name, spec, self.surroundings(), created.cgroup.clone(), entries).inspect_err(undo)?);
            let answer = match process.answer_within(READY_SOON) {
                Some(answer) => answer,
                None => slow_answer(&process, &self.control).await,
            };
            process.hear(answer, name, spec).inspect_err(undo)?;
            self.units().insert(created.id.clone(), process);
            Ok(created)
        })
    }

    fn start<'a>(&'a self, unit: &'a Created) -> Boxed<'a, Result<(), EngineError>> {
        Box::pin(async move { self.unit(unit, "start")?.start().await })
    }

    fn wait<'a>(&'a self, unit: &'a Created) -> Boxed<'a, Result<(), EngineError>> {
        Box::pin(async move {
            let process = self.unit(unit, "wait for")?;
            if !process.has_started() {
                return Err(failed("wait for", &unit.id, "it was not started"));
            }
            match process.ended().await {
                // Whoever removes a unit takes it out of the list first: its end is then our doing and no result.
                Progress::Ended { .. } => self.unit(unit, "wait for").map(drop),
                Progress::Lost(error) | Progress::NotStarted(error) => Err(failed("wait for", &unit.id, error)),
                Progress::Waiting | Progress::Running => Err(failed("wait for", &unit.id, "it has not ended")),
            }
        })
    }

    fn exit<'a>(&'a self, unit: &'a Created) -> Boxed<'a, Result<Exit, EngineError>> {
        Box::pin(async move {
            let process = self.unit(unit, "read the exit of")?;
            let Progress::Ended { status, started_ns, finished_ns } = process.progress() else {
                return Err(failed("read the exit of", &unit.id, "it has not ended"));
            };
            let code = unit::code(status).ok_or_else(|| failed("read the exit of", &unit.id, "it has no exit code"))?;
            let (started_ns, finished_ns) = (started_ns.into(), finished_ns.into());
            let oom = self.control.oom_killed(&process.cgroup);
            Ok(Exit { code, signal: status.signal(), oom, image: None, started_ns, finished_ns, time_of_day: false })
        })
    }

    fn output<'a>(&'a self, unit: &'a Created) -> Boxed<'a, Result<Output, EngineError>> {
        Box::pin(async move {
            let (process, id) = (self.unit(unit, "read the output of")?, unit.id.clone());
            if process.output_len() <= SHORT_OUTPUT {
                return process.output().map_err(|error| failed("read the output of", &id, error));
            }
            blocking(move || process.output().map_err(|error| failed("read the output of", &id, error))).await
        })
    }

    fn remove<'a>(&'a self, unit: &'a Created) -> Boxed<'a, Result<(), EngineError>> {
        Box::pin(async move {
            let process = self.units().remove(&unit.id);
            let over = process.as_ref().is_none_or(|process| process.is_over());
            if over {
                // Its thread has told the end and has nothing more to do.
                process.as_ref().inspect(|process| process.join());
                if self.control.remove_idle(&unit.cgroup) {
                    return Ok(());
                }
            }
            let (control, cgroup) = (self.control.clone(), unit.cgroup.clone());
            blocking(move || {
                control.kill(&cgroup)?;
                process.inspect(|process| process.join());
                // The run's own folder waits for its next trial; it goes with the engine.
                let run = cgroup.splitn(3, '/').take(2).collect::<Vec<_>>().join("/");
                Ok(control.remove_within(&cgroup, &run)?)
            })
            .await
        })
    }

    fn sweep<'a>(&'a self, alive: &'a [String]) -> Boxed<'a, Result<Vec<String>, EngineError>> {
        Box::pin(async move {
            let (control, alive) = (self.control.clone(), alive.to_vec());
            blocking(move || {
                let mut removed: Vec<String> =
                    control.sweep(TOP, &alive)?.into_iter().map(|path| format!("control group {path}")).collect();
                removed.extend(super::dockerd::sweep_host(&alive)?);
                removed.extend(sweep_scratch(&std::env::temp_dir(), &alive));
                Ok(removed)
            })
            .await
        })
    }
}

/// Removes the empty folders that a run leaves when it dies in the moment between making and mounting one.
fn sweep_scratch(temporary: &Path, alive: &[String]) -> Vec<String> {
    let entries = std::fs::read_dir(temporary).into_iter().flatten().flatten();
    let dead = entries.filter(|entry| {
        let name = entry.file_name();
        let run = name.to_str().and_then(|name| name.strip_prefix(SCRATCH));
        run.is_some_and(|run| !alive.iter().any(|alive| run.strip_prefix(alive.as_str()).is_some_and(|rest| rest.starts_with('-'))))
    });
    dead.filter(|entry| std::fs::remove_dir(entry.path()).is_ok()).map(|entry| format!("folder {}", entry.path().display())).collect()
}
