//! Host processes as units: the same command with the same limits, and no container around it.
//!
//! A process is forked when its unit is created, and waits, fully prepared, for the start: nothing but the exec lies between
//! the release and the start stamp, so several units start together. It has a cgroup and a session of its own, no standard
//! input, `/` as its folder unless `working_dir` says otherwise, umask 022, no core files, and of the environment only `PATH`,
//! `LC_ALL=C`, the user's `HOME` and what the spec declares. It may use every CPU that its limits leave it, is not nice and no
//! likelier than others to be killed for memory, whatever we are; resource limits other than that of core files are ours. It sees the
//! host's files, with the files and volumes of the spec laid over them. It dies with us; what it left behind is found again by its
//! cgroup.
//!
//! In the network namespace of a private daemon (see [`NativeEngine::within`]) `/sys` is still the host's: `/proc/net` tells of that
//! namespace, `/sys/class/net` does not. A service of the host listens in the namespace of its engine, and has no address of its own.
//!
//! A command run inside a unit ([`Engine::exec`]) is a process like it, in the unit's control group: what it uses counts as the
//! unit's. It is ended when nobody waits for it any more, and with the unit at the latest.

mod attendants;
mod beside;
mod capture;
mod child;
mod copy;
mod files;
mod fresh;
mod patience;
mod scratch;
mod setting;
mod sources;
mod standing;
mod store;
mod support;
mod unit;
mod user;

use super::control::{self, Control, Runs, TOP};
use super::namespace::Namespace;
use super::{Boxed, Created, Engine, EngineError, Executed, Exit, Furniture, Image, Output, Standing, UnitName};
use crate::model::facts::EngineFacts;
use crate::model::spec::{ImageSpec, UnitSpec};
use attendants::Attendants;
use fresh::Fresh;
use patience::{blocking, failed, output_of, slow_answer};
use setting::Accounts;
use sources::Sources;
use std::collections::HashMap;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use store::{STORE, Store};
use unit::{Progress, Surroundings, Unit};

/// So long a fresh process may take to prepare itself on the caller's thread; usually it needs a millisecond.
const READY_SOON: Duration = Duration::from_millis(10);

/// Runs units as processes of this host.
#[derive(Debug)]
pub struct NativeEngine {
    control: Control,
    fresh: Fresh,
    attendants: Attendants,
    store: Store,
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
            store: Store::at(STORE),
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
        Surroundings { fresh: self.fresh, attendants: &self.attendants, namespace: self.namespace.as_ref(), store: &self.store }
    }

    fn unit(&self, created: &Created, operation: &str) -> Result<Arc<Unit>, EngineError> {
        self.units().get(&created.id).cloned().ok_or_else(|| failed(operation, &created.id, "there is no such process"))
    }
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
        // Nothing of the unit's own is there yet: what lies in it is taken as missing.
        let (store, own) = (&self.store, &self.store.unit("-"));
        let planned = Sources { store, own }.placements(spec).and_then(|placements| files::plan(&placements, &files::ThisHost));
        reasons.extend(planned.err());
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
            let own = patience::make_sources(&self.store, &created.id, spec).await?;
            // Done here and now, a millisecond on this thread: every hand-over costs more than it on a busy machine.
            self.runs.note(&name.run);
            let undo = |_: &EngineError| {
                let _ = self.control.remove(&created.cgroup); // the first error is the one to tell
                let _ = own.as_deref().map(|own| self.store.remove(own));
            };
            self.control.create(&created.cgroup, &spec.limits).map_err(EngineError::from).inspect_err(undo)?;
            let entries = self.control.entries(&created.cgroup, &spec.limits);
            let process = Arc::new(Unit::fork(name, spec, self.surroundings(), created.cgroup.clone(), &entries).inspect_err(undo)?);
            let answer = match process.answer_within(READY_SOON) {
                Some(answer) => answer,
                None => slow_answer(&process, &self.control, &self.store).await,
            };
            process.hear(answer, name).inspect_err(undo)?;
            self.units().insert(created.id.clone(), process);
            Ok(created)
        })
    }

    fn furnish<'a>(&'a self, name: &'a UnitName, furniture: Furniture<'a>) -> Boxed<'a, Result<(), EngineError>> {
        Box::pin(async move {
            if let Some(network) = furniture.networks.first() {
                let what = format!("network `{}` needs a container: a host process is in the network of its engine", network.name);
                return Err(EngineError::Unsupported { what });
            }
            patience::each_volume(&self.store, name, furniture.volumes, Store::furnish).await
        })
    }

    fn clear<'a>(&'a self, name: &'a UnitName, furniture: Furniture<'a>) -> Boxed<'a, Result<(), EngineError>> {
        Box::pin(patience::each_volume(&self.store, name, furniture.volumes, Store::clear))
    }

    fn inspect<'a>(&'a self, unit: &'a Created) -> Boxed<'a, Result<Standing, EngineError>> {
        Box::pin(async move {
            let process = self.unit(unit, "inspect")?;
            standing::of(&process, self.namespace.as_deref()).map_err(|error| failed("inspect", &unit.id, error))
        })
    }

    fn exec<'a>(&'a self, unit: &'a Created, command: &'a [String]) -> Boxed<'a, Result<Executed, EngineError>> {
        Box::pin(async move {
            let process = self.unit(unit, "run a command in")?;
            let is_ours = |pid| self.control.members(&process.cgroup).contains(&pid);
            let (code, inside) = process.run_beside(command, &self.attendants, is_ours).await?;
            Ok(Executed { code, output: output_of(Arc::new(inside), &unit.id).await? })
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
                Progress::Waiting | Progress::Running { .. } => Err(failed("wait for", &unit.id, "it has not ended")),
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
            let process = self.unit(unit, "read the output of")?;
            output_of(process, &unit.id).await
        })
    }

    fn remove<'a>(&'a self, unit: &'a Created) -> Boxed<'a, Result<(), EngineError>> {
        Box::pin(async move {
            let process = self.units().remove(&unit.id);
            let over = process.as_ref().is_none_or(|process| process.is_over());
            if over {
                // Its thread has told the end and has nothing more to do.
                process.as_ref().inspect(|process| process.join());
                if self.control.remove_idle(&unit.cgroup) && process.as_ref().is_none_or(|process| process.own.is_none()) {
                    return Ok(());
                }
            }
            let (control, store, id, cgroup) = (self.control.clone(), self.store.clone(), unit.id.clone(), unit.cgroup.clone());
            blocking(move || {
                control.kill(&cgroup)?;
                process.as_ref().inspect(|process| process.join());
                // The run's own folder waits for its next trial; it goes with the engine.
                let run = cgroup.splitn(3, '/').take(2).collect::<Vec<_>>().join("/");
                control.remove_within(&cgroup, &run)?;
                let own = process.as_ref().and_then(|process| process.own.as_deref());
                own.map_or(Ok(()), |own| store.remove(own).map_err(|error| failed("remove the folders of", &id, error)))
            })
            .await
        })
    }

    fn sweep<'a>(&'a self, alive: &'a [String]) -> Boxed<'a, Result<Vec<String>, EngineError>> {
        Box::pin(async move {
            let (control, store, alive) = (self.control.clone(), self.store.clone(), alive.to_vec());
            blocking(move || {
                let mut removed = control.sweep(TOP, &alive)?;
                removed.extend(store.sweep(&alive)?);
                removed.extend(scratch::sweep(&std::env::temp_dir(), &alive));
                Ok(removed)
            })
            .await
        })
    }
}
