//! Engines for tests of the driver: the scripted one, which besides cancels, answers otherwise and notes what it was given.

use super::bench::Changes;
use shakedown::engine::fake::FakeEngine;
use shakedown::engine::namespace::Namespace;
use shakedown::engine::{Boxed, Created, Engine, EngineError, Executed, Exit, Furniture, Image, Output, Standing, UnitName};
use shakedown::execute::EngineSource;
use shakedown::model::facts::EngineFacts;
use shakedown::model::spec::{EngineSpec, ImageSpec, UnitSpec};
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use tokio_util::sync::CancellationToken;

/// What engines of one run share, and what a test asks afterwards.
#[derive(Clone, Default)]
pub(super) struct Notes {
    /// How often each call was made.
    counts: Arc<Mutex<HashMap<&'static str, usize>>>,
    /// Each unit as it was created.
    made: Arc<Mutex<HashMap<String, UnitSpec>>>,
    /// Starts and ends of private engines, the units that were created on them, and sweeps.
    log: Arc<Mutex<Vec<String>>>,
}

impl Notes {
    pub(super) fn made(&self, unit: &str) -> UnitSpec {
        self.made.lock().expect("notes")[unit].clone()
    }

    pub(super) fn log(&self) -> Vec<String> {
        self.log.lock().expect("notes").clone()
    }

    fn note(&self, what: String) {
        self.log.lock().expect("notes").push(what);
    }
}

/// The scripted engine with what a test changes of it.
#[derive(Clone)]
pub(super) struct Meddler {
    pub(super) fake: FakeEngine,
    pub(super) token: CancellationToken,
    pub(super) changes: Changes,
    pub(super) notes: Notes,
    /// Its name, when it is started for the run.
    private: Option<Arc<Private>>,
}

struct Private {
    label: String,
    up: Mutex<bool>,
    /// How often it was to come up.
    starts: Mutex<usize>,
}

impl Meddler {
    pub(super) fn new(fake: FakeEngine, token: CancellationToken, changes: Changes, notes: Notes) -> Self {
        Self { fake, token, changes, notes, private: None }
    }

    /// Told before each call.
    fn called(&self, call: &'static str) {
        let mut counts = self.notes.counts.lock().expect("notes");
        let count = counts.entry(call).or_default();
        *count += 1;
        if self.changes.cancel_at == Some((call, *count)) {
            self.token.cancel();
        }
    }

    /// Whether `call UNIT` was made in the trial of `unit`.
    fn happened(&self, unit: &Created, call: &str) -> bool {
        let trial = unit.id.split('/').next().unwrap_or_default();
        let (verb, other) = call.split_once(' ').expect("a call and a unit");
        self.fake.calls().contains(&format!("{verb} {trial}/{other}"))
    }

    /// Writes what a kernel would have counted for every unit of the run.
    fn count(&self, name: &str, usage_usec: u64) {
        let Some(root) = &self.changes.counters else { return };
        let group = root.join(name);
        std::fs::create_dir_all(&group).expect("group");
        std::fs::write(group.join("cpu.stat"), format!("usage_usec {usage_usec}\n")).expect("counter");
        std::fs::write(group.join("memory.peak"), "4096\n").expect("counter");
    }
}

impl Engine for Meddler {
    fn facts(&self) -> Boxed<'_, Result<EngineFacts, EngineError>> {
        self.fake.facts()
    }
    fn unsupported(&self, spec: &UnitSpec, facts: &EngineFacts) -> Vec<String> {
        self.fake.unsupported(spec, facts)
    }
    fn up<'a>(&'a self, _run: &'a str) -> Boxed<'a, Result<(), EngineError>> {
        Box::pin(async move {
            let Some(private) = &self.private else { return Ok(()) };
            self.called("up");
            self.notes.note(format!("up {}", private.label));
            let starts = {
                let mut starts = private.starts.lock().expect("engine");
                *starts += 1;
                *starts
            };
            if self.changes.broken_starts.is_some_and(|(first, last)| (first..=last).contains(&starts)) {
                return Err(EngineError::Call { operation: "start the daemon".into(), reason: "no space for it".into() });
            }
            assert!(!std::mem::replace(&mut *private.up.lock().expect("engine"), true), "{} is up", private.label);
            Ok(())
        })
    }
    fn down(&self) -> Boxed<'_, Result<(), EngineError>> {
        Box::pin(async move {
            if let Some(private) = &self.private
                && std::mem::take(&mut *private.up.lock().expect("engine"))
            {
                self.notes.note(format!("down {}", private.label));
            }
            Ok(())
        })
    }
    fn furnish<'a>(&'a self, name: &'a UnitName, furniture: Furniture<'a>) -> Boxed<'a, Result<(), EngineError>> {
        self.called("furnish");
        self.fake.furnish(name, furniture)
    }
    fn clear<'a>(&'a self, name: &'a UnitName, furniture: Furniture<'a>) -> Boxed<'a, Result<(), EngineError>> {
        self.called("clear");
        self.fake.clear(name, furniture)
    }
    fn inspect<'a>(&'a self, unit: &'a Created) -> Boxed<'a, Result<Standing, EngineError>> {
        self.called("inspect");
        self.fake.inspect(unit)
    }
    fn exec<'a>(&'a self, unit: &'a Created, command: &'a [String]) -> Boxed<'a, Result<Executed, EngineError>> {
        self.called("exec");
        Box::pin(async move {
            let text = command.join(" ");
            let done = self.fake.exec(unit, command).await?;
            let shut = self.changes.gates.iter().any(|(looked, call)| *looked == text && !self.happened(unit, call));
            Ok(if shut { Executed { code: 1, ..done } } else { done })
        })
    }
    fn image<'a>(&'a self, image: &'a ImageSpec, folder: &'a Path) -> Boxed<'a, Result<Image, EngineError>> {
        self.called("image");
        self.fake.image(image, folder)
    }
    fn create<'a>(&'a self, name: &'a UnitName, spec: &'a UnitSpec, image: Option<&'a Image>) -> Boxed<'a, Result<Created, EngineError>> {
        self.called("create");
        self.notes.made.lock().expect("notes").insert(format!("{}/{}", name.trial, name.unit), spec.clone());
        if let Some(private) = &self.private {
            assert!(*private.up.lock().expect("engine"), "{} is down", private.label);
            self.notes.note(format!("create {}/{} on {}", name.trial, name.unit, private.label));
        }
        self.count(&name.cgroup(), 1_000_000);
        self.fake.create(name, spec, image)
    }
    fn start<'a>(&'a self, unit: &'a Created) -> Boxed<'a, Result<(), EngineError>> {
        self.called("start");
        self.fake.start(unit)
    }
    fn wait<'a>(&'a self, unit: &'a Created) -> Boxed<'a, Result<(), EngineError>> {
        Box::pin(async move {
            self.called("wait");
            if self.token.is_cancelled() {
                // Whoever waits sees the cancellation before an exit that is known at once.
                tokio::task::yield_now().await;
                if self.changes.cancel_at.is_some_and(|(at, _)| at == "wait") {
                    std::future::pending::<()>().await;
                }
            }
            if let Some((name, call)) = self.changes.ends_after
                && unit.id.ends_with(&format!("/{name}"))
                && self.happened(unit, call)
            {
                return Ok(());
            }
            if let Some(before) = unit.cgroup.strip_suffix("workload") {
                let trial = unit.id.trim_end_matches("workload");
                let units: Vec<String> = self.notes.made.lock().expect("notes").keys().cloned().collect();
                let others = units.iter().filter_map(|name| name.strip_prefix(trial));
                others.for_each(|other| self.count(&format!("{before}{other}"), 3_000_000));
            }
            self.fake.wait(unit).await
        })
    }
    fn exit<'a>(&'a self, unit: &'a Created) -> Boxed<'a, Result<Exit, EngineError>> {
        Box::pin(async move {
            let exit = self.fake.exit(unit).await?;
            Ok(Exit { image: self.changes.image.clone().or(exit.image), ..exit })
        })
    }
    fn output<'a>(&'a self, unit: &'a Created) -> Boxed<'a, Result<Output, EngineError>> {
        self.called("output");
        self.fake.output(unit)
    }
    fn remove<'a>(&'a self, unit: &'a Created) -> Boxed<'a, Result<(), EngineError>> {
        self.called("remove");
        self.fake.remove(unit)
    }
    fn sweep<'a>(&'a self, alive: &'a [String]) -> Boxed<'a, Result<Vec<String>, EngineError>> {
        self.fake.sweep(alive)
    }
}

/// Opens the one scripted engine; private ones share its script and are told apart by a label.
pub(super) struct One {
    pub(super) engine: Meddler,
    opened: Mutex<usize>,
}

impl One {
    pub(super) fn new(engine: Meddler) -> Self {
        Self { engine, opened: Mutex::default() }
    }
}

impl EngineSource for One {
    fn open<'a>(&'a self, spec: &'a EngineSpec) -> Boxed<'a, Result<Arc<dyn Engine>, EngineError>> {
        Box::pin(async {
            let mut opened = self.opened.lock().expect("engines");
            *opened += 1;
            let private = spec.private.as_ref().map(|private| Private {
                label: format!("{opened} userland_proxy={}", private.userland_proxy),
                up: Mutex::default(),
                starts: Mutex::default(),
            });
            Ok(Arc::new(Meddler { private: private.map(Arc::new), ..self.engine.clone() }) as Arc<dyn Engine>)
        })
    }
    fn host(&self, _namespace: Option<Arc<Namespace>>) -> Result<Arc<dyn Engine>, EngineError> {
        Ok(Arc::new(self.engine.clone()))
    }
    fn sweep_private(&self, _alive: &[String]) -> Result<Vec<String>, EngineError> {
        self.engine.notes.note("sweep_private".to_owned());
        Ok(Vec::new())
    }
}
