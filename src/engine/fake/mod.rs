//! A scripted engine: it plays back what a script says of each command, starts nothing and never sleeps.
//!
//! The whole program can be tested behind it, failures in every phase included. Stamps are virtual. The script is a JSON
//! list of [`Rule`]s; the first rule whose `match` occurs in a unit's command (words joined by blanks) and that is not used
//! up decides at the unit's creation; without one the command ends at once with exit code 0 and no output. A command inside a unit
//! follows the rules like a unit's. Networks and volumes are names that units must find and that trials must clear.

mod script;
mod stack;

pub use script::{Rule, ScriptError, Seen, Step, Wait};

use super::{Boxed, Captured, Created, Engine, EngineError, Executed, Exit, Furniture, Image, Output, Standing, UnitName};
use crate::model::facts::EngineFacts;
use crate::model::spec::{ImageSpec, UnitSpec};
use stack::Stock;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// The scripted engine; clones share one state, so that a test keeps one to ask afterwards.
#[derive(Debug, Clone)]
pub struct FakeEngine {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    rules: Vec<(Rule, usize)>,
    units: BTreeMap<String, Unit>,
    /// How many units there were.
    made: u8,
    stock: Stock,
    calls: Vec<String>,
    clock_ns: i128,
}

#[derive(Debug, Clone)]
struct Unit {
    run: String,
    program: String,
    rule: Rule,
    standing: Standing,
    started_ns: Option<i128>,
    removed: Arc<Notify>,
}

impl FakeEngine {
    /// An engine that follows `script`, a JSON list of [`Rule`]s.
    ///
    /// # Errors
    /// When the script is not of that form.
    pub fn from_json(script: &str) -> Result<Self, ScriptError> {
        let rules = script::parse(script)?.into_iter().map(|rule| (rule, 0)).collect();
        Ok(Self { state: Arc::new(Mutex::new(State { rules, ..State::default() })) })
    }

    /// Every call so far, such as `create t1/web`, in order.
    #[must_use]
    pub fn calls(&self) -> Vec<String> {
        self.state().calls.clone()
    }

    /// The ids of all units that were created and not removed, then the names of networks and volumes that are there.
    #[must_use]
    pub fn live(&self) -> Vec<String> {
        let state = self.state();
        state.units.keys().chain(state.stock.names()).cloned().collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Unit {
    /// Its virtual stamps of start and finish.
    fn stamps(&self, created: &Created) -> Result<(i128, i128), EngineError> {
        let started_ns = self.started_ns.ok_or_else(|| failed("wait for", &created.id, "it was not started"))?;
        Ok((started_ns, started_ns + (self.rule.wait.wall_ms * 1e6).round() as i128))
    }
}

impl State {
    /// The first rule for `text` that is not used up and that `applies`, counted as used.
    fn rule(&mut self, text: &str, applies: impl Fn(&Rule) -> bool) -> Option<Rule> {
        let (rule, used) = self
            .rules
            .iter_mut()
            .find(|(rule, used)| text.contains(&rule.matching) && rule.times.is_none_or(|times| *used < times) && applies(rule))?;
        *used += 1;
        Some(rule.clone())
    }

    /// Notes a call and finds its unit.
    fn unit(&mut self, operation: &str, created: &Created) -> Result<&mut Unit, EngineError> {
        self.calls.push(format!("{operation} {}", created.id));
        self.known(created)
    }

    fn known(&mut self, created: &Created) -> Result<&mut Unit, EngineError> {
        self.units.get_mut(&created.id).ok_or_else(|| failed("find", &created.id, "no such unit"))
    }
}

fn captured(text: &str) -> Captured {
    Captured { total: text.len() as u64, bytes: text.as_bytes().to_vec() }
}

fn failed(operation: &str, id: &str, reason: &str) -> EngineError {
    EngineError::Call { operation: format!("{operation} `{id}`"), reason: reason.to_owned() }
}

impl Engine for FakeEngine {
    fn facts(&self) -> Boxed<'_, Result<EngineFacts, EngineError>> {
        Box::pin(async { Ok(EngineFacts { kind: "fake".to_owned(), cpus: 2, memory_bytes: 4 << 30, ..EngineFacts::default() }) })
    }

    fn unsupported(&self, spec: &UnitSpec, _facts: &EngineFacts) -> Vec<String> {
        let text = spec.command.join(" ");
        self.state().rule(&text, |rule| rule.unsupported.is_some()).and_then(|rule| rule.unsupported).into_iter().collect()
    }

    fn furnish<'a>(&'a self, name: &'a UnitName, furniture: Furniture<'a>) -> Boxed<'a, Result<(), EngineError>> {
        Box::pin(async move {
            let rule = self.state().rule_of_furniture("furnish", name, furniture);
            rule.pause(Step::Furnish).await;
            self.state().stock.make(name, furniture);
            rule.furnish_error.map_or(Ok(()), |reason| Err(failed("furnish", &name.trial, &reason)))
        })
    }

    fn clear<'a>(&'a self, name: &'a UnitName, furniture: Furniture<'a>) -> Boxed<'a, Result<(), EngineError>> {
        Box::pin(async move {
            let rule = self.state().rule_of_furniture("clear", name, furniture);
            rule.pause(Step::Clear).await;
            if let Some(reason) = rule.clear_error {
                return Err(failed("clear", &name.trial, &reason));
            }
            self.state().stock.remove(name, furniture);
            Ok(())
        })
    }

    fn inspect<'a>(&'a self, unit: &'a Created) -> Boxed<'a, Result<Standing, EngineError>> {
        Box::pin(async move {
            let known = self.state().unit("inspect", unit)?.clone();
            known.rule.pause(Step::Inspect).await;
            known.rule.inspect_error.map_or(Ok(known.standing), |reason| Err(failed("inspect", &unit.id, &reason)))
        })
    }

    fn exec<'a>(&'a self, unit: &'a Created, command: &'a [String]) -> Boxed<'a, Result<Executed, EngineError>> {
        Box::pin(async move {
            let text = command.join(" ");
            let (rule, removed) = {
                let mut state = self.state();
                state.calls.push(format!("exec {} {text}", unit.id));
                let known = state.known(unit)?.clone();
                known.stamps(unit)?;
                (state.rule(&text, Rule::is_of_units).unwrap_or_default(), known.removed)
            };
            if rule.wait.hang {
                removed.notified().await;
                return Err(failed("exec in", &unit.id, "it was removed"));
            }
            if let Some(reason) = rule.not_started {
                return Err(EngineError::NotStarted { program: command.first().cloned().unwrap_or_default(), reason });
            }
            if let Some(reason) = rule.start_error.or(rule.wait.error) {
                return Err(failed("exec in", &unit.id, &reason));
            }
            let output = Output { stdout: captured(&rule.stdout), stderr: captured(&rule.stderr) };
            Ok(Executed { code: rule.wait.exit, output })
        })
    }

    fn image<'a>(&'a self, image: &'a ImageSpec, _folder: &'a Path) -> Boxed<'a, Result<Image, EngineError>> {
        Box::pin(async move {
            let text = serde_json::to_string(image).unwrap_or_default();
            let mut state = self.state();
            state.calls.push(format!("image {text}"));
            match state.rule(&text, |rule| rule.image_error.is_some()).and_then(|rule| rule.image_error) {
                Some(reason) => Err(EngineError::Image { image: text, reason }),
                None => Ok(Image { digest: format!("fake:{text}"), reference: text }),
            }
        })
    }

    fn create<'a>(&'a self, name: &'a UnitName, spec: &'a UnitSpec, image: Option<&'a Image>) -> Boxed<'a, Result<Created, EngineError>> {
        Box::pin(async move {
            let id = format!("{}/{}", name.trial, name.unit);
            let words: Vec<&str> = spec.entrypoint.iter().flatten().chain(&spec.command).map(String::as_str).collect();
            let rule = {
                let mut state = self.state();
                state.calls.push(format!("create {id}"));
                state.rule(&words.join(" "), Rule::is_of_units).unwrap_or_default()
            };
            rule.pause(Step::Create).await;
            let mut state = self.state();
            if let Some(reason) = &rule.create_error {
                return Err(failed("create", &id, reason));
            }
            if state.units.contains_key(&id) {
                return Err(failed("create", &id, "it exists already"));
            }
            if let Some(missing) = state.stock.missing(spec) {
                return Err(failed("create", &id, &missing));
            }
            state.made = state.made.saturating_add(1);
            let standing = stack::standing(spec, &rule.standing, state.made);
            let standing = Standing { image: image.map(|image| image.digest.clone()), ..standing };
            let program = words.first().copied().unwrap_or_default().to_owned();
            let unit = Unit { run: name.run.clone(), program, rule, standing, started_ns: None, removed: Arc::default() };
            state.units.insert(id.clone(), unit);
            // No kernel ever limits it: what is asked of one stays unobserved, as behind an engine on another machine.
            Ok(Created { leaf: format!("{}/scripted", name.cgroup()), cgroup: name.cgroup(), id })
        })
    }

    fn start<'a>(&'a self, unit: &'a Created) -> Boxed<'a, Result<(), EngineError>> {
        Box::pin(async move {
            let rule = self.state().unit("start", unit)?.rule.clone();
            rule.pause(Step::Start).await;
            let mut state = self.state();
            state.clock_ns += 1_000_000;
            let now = state.clock_ns;
            let known = state.known(unit)?;
            if let Some(reason) = &known.rule.start_error {
                return Err(failed("start", &unit.id, reason));
            }
            if let Some(reason) = &known.rule.not_started {
                return Err(EngineError::NotStarted { program: known.program.clone(), reason: reason.clone() });
            }
            known.started_ns = Some(now);
            Ok(())
        })
    }

    fn wait<'a>(&'a self, unit: &'a Created) -> Boxed<'a, Result<(), EngineError>> {
        Box::pin(async move {
            let known = self.state().unit("wait", unit)?.clone();
            let (_, finished_ns) = known.stamps(unit)?;
            let wait = &known.rule.wait;
            if wait.hang {
                known.removed.notified().await;
                return Err(failed("wait for", &unit.id, "it was removed"));
            }
            if let Some(reason) = &wait.error {
                return Err(failed("wait for", &unit.id, reason));
            }
            let mut state = self.state();
            state.clock_ns = state.clock_ns.max(finished_ns);
            Ok(())
        })
    }

    fn exit<'a>(&'a self, unit: &'a Created) -> Boxed<'a, Result<Exit, EngineError>> {
        Box::pin(async move {
            let known = self.state().unit("exit", unit)?.clone();
            let (started_ns, finished_ns) = known.stamps(unit)?;
            let wait = &known.rule.wait;
            let image = known.standing.image.clone();
            Ok(Exit { code: wait.exit, signal: None, oom: wait.oom, image, started_ns, finished_ns, time_of_day: false })
        })
    }

    fn output<'a>(&'a self, unit: &'a Created) -> Boxed<'a, Result<Output, EngineError>> {
        Box::pin(async move {
            let rule = self.state().unit("output", unit)?.rule.clone();
            rule.pause(Step::Output).await;
            Ok(Output { stdout: captured(&rule.stdout), stderr: captured(&rule.stderr) })
        })
    }

    fn remove<'a>(&'a self, unit: &'a Created) -> Boxed<'a, Result<(), EngineError>> {
        Box::pin(async move {
            let Some(rule) = self.state().unit("remove", unit).ok().map(|unit| unit.rule.clone()) else { return Ok(()) };
            rule.pause(Step::Remove).await;
            let mut state = self.state();
            let Ok(known) = state.known(unit) else { return Ok(()) };
            if let Some(reason) = &known.rule.remove_error {
                return Err(failed("remove", &unit.id, reason));
            }
            known.removed.notify_one();
            state.units.remove(&unit.id);
            Ok(())
        })
    }

    fn sweep<'a>(&'a self, alive: &'a [String]) -> Boxed<'a, Result<Vec<String>, EngineError>> {
        Box::pin(async move {
            let mut state = self.state();
            state.calls.push("sweep".to_owned());
            let dead: Vec<String> = state.units.iter().filter(|(_, unit)| !alive.contains(&unit.run)).map(|(id, _)| id.clone()).collect();
            for id in &dead {
                if let Some(unit) = state.units.remove(id) {
                    unit.removed.notify_one();
                }
            }
            Ok(dead.into_iter().chain(state.stock.sweep(alive)).collect())
        })
    }
}
