//! Host processes as units: the same command with the same limits, and no container around it.
//!
//! A process is forked when its unit is created, and waits, fully prepared, for the start: nothing but the exec lies between
//! the release and the start stamp, so several units start together. It has a cgroup and a session of its own, no standard
//! input, `/` as its folder unless `working_dir` says otherwise, umask 022, no core files, and of the environment only `PATH`,
//! `LC_ALL=C`, the user's `HOME` and what the spec declares. It sees the host's files, with those of the spec laid over them.
//! It dies with us; what it left behind is found again by its cgroup.

mod capture;
mod child;
mod files;
mod support;
mod unit;
mod user;

use super::control::{self, Control, TOP};
use super::{Boxed, Created, Engine, EngineError, Exit, Image, Output, UnitName};
use crate::model::facts::EngineFacts;
use crate::model::spec::{ImageSpec, UnitSpec};
use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use unit::{Accounts, Progress, Unit};

/// Beginning of the names of the folders that the scratch is mounted on, in the folder for temporary files.
const SCRATCH: &str = "shakedown-files-";

/// Up to so many bytes of output are read at once.
const SHORT_OUTPUT: u64 = 64 << 10;

/// Runs units as processes of this host.
#[derive(Debug)]
pub struct NativeEngine {
    control: Control,
    units: Mutex<HashMap<String, Arc<Unit>>>,
    runs: Mutex<BTreeSet<String>>,
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
        Ok(Self { control: Control::new(layout), units: Mutex::default(), runs: Mutex::default() })
    }

    fn units(&self) -> MutexGuard<'_, HashMap<String, Arc<Unit>>> {
        self.units.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn unit(&self, created: &Created, operation: &str) -> Result<Arc<Unit>, EngineError> {
        self.units().get(&created.id).cloned().ok_or_else(|| failed(operation, &created.id, "there is no such process"))
    }
}

impl Drop for NativeEngine {
    /// Removes the runs' own folders when nothing is in them; what is still there waits for a sweep.
    fn drop(&mut self) {
        for run in self.runs.get_mut().unwrap_or_else(PoisonError::into_inner).iter() {
            self.control.remove_empty(&format!("{TOP}/{run}"));
        }
    }
}

fn failed(operation: &str, id: &str, reason: impl ToString) -> EngineError {
    EngineError::Call { operation: format!("{operation} process `{id}`"), reason: reason.to_string() }
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
                cpus: std::thread::available_parallelism().map_or(1, |cpus| u32::try_from(cpus.get()).unwrap_or(u32::MAX)),
                memory_bytes: memory.totalram as u64 * u64::from(memory.mem_unit),
                ..EngineFacts::default()
            })
        })
    }

    fn unsupported(&self, spec: &UnitSpec, facts: &EngineFacts) -> Vec<String> {
        let accounts = if spec.user.is_some() { Accounts::read() } else { Accounts::default() };
        support::unsupported(spec, facts, &accounts.passwd, &accounts.group)
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
            // Done here and now, a millisecond on this thread: every hand-over costs more than it on a busy machine, and what
            // never waits cannot be cancelled halfway.
            self.runs.lock().unwrap_or_else(PoisonError::into_inner).insert(name.run.clone());
            self.control.create(&created.cgroup, &spec.limits)?;
            let entries = self.control.entries(&created.cgroup, &spec.limits);
            let process = Unit::fork(name, spec, created.cgroup.clone(), entries).inspect_err(|_| {
                let _ = self.control.remove(&created.cgroup); // the first error is the one to tell
            })?;
            self.units().insert(created.id.clone(), Arc::new(process));
            Ok(created)
        })
    }

    fn start<'a>(&'a self, unit: &'a Created) -> Boxed<'a, Result<(), EngineError>> {
        Box::pin(async move { self.unit(unit, "start")?.start().await })
    }

    fn wait<'a>(&'a self, unit: &'a Created) -> Boxed<'a, Result<Exit, EngineError>> {
        Box::pin(async move {
            let process = self.unit(unit, "wait for")?;
            if !process.has_started() {
                return Err(failed("wait for", &unit.id, "it was not started"));
            }
            match process.ended().await {
                Progress::Ended { status, started_ns, finished_ns } => {
                    // Whoever removes a unit takes it out of the list first: its end is then our doing and no result.
                    self.unit(unit, "wait for")?;
                    let code = unit::code(status).ok_or_else(|| failed("wait for", &unit.id, "it has no exit code"))?;
                    let oom = self.control.oom_killed(&process.cgroup);
                    Ok(Exit { code, oom, image: None, started_ns: started_ns.into(), finished_ns: finished_ns.into() })
                }
                Progress::Lost(error) | Progress::NotStarted(error) => Err(failed("wait for", &unit.id, error)),
                Progress::Waiting | Progress::Running => Err(failed("wait for", &unit.id, "it has not ended")),
            }
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
            let (control, cgroup) = (self.control.clone(), unit.cgroup.clone());
            let over = process.as_ref().is_none_or(|process| process.is_over());
            let end = move || {
                if !over {
                    control.kill(&cgroup)?;
                }
                if let Some(process) = process {
                    process.join();
                }
                // The run's own folder waits for its next trial; it goes with the engine.
                let run = cgroup.splitn(3, '/').take(2).collect::<Vec<_>>().join("/");
                Ok(control.remove_within(&cgroup, &run)?)
            };
            if over { end() } else { blocking(end).await }
        })
    }

    fn sweep<'a>(&'a self, alive: &'a [String]) -> Boxed<'a, Result<Vec<String>, EngineError>> {
        Box::pin(async move {
            let (control, alive) = (self.control.clone(), alive.to_vec());
            blocking(move || {
                let mut removed: Vec<String> =
                    control.sweep(TOP, &alive)?.into_iter().map(|path| format!("control group {path}")).collect();
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
