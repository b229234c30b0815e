//! Before anything is written or started: the engines are reached, asked what they are, and asked whether each variant can run.

use super::stage::{Instance, Source};
use super::{ExecuteError, JobVariant};
use crate::engine::{Engine, EngineError};
use crate::model::facts::EngineFacts;
use crate::model::plan::AA_SUFFIX;
use crate::model::spec::Place;
use crate::record::Alive;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Open engines that can run every variant.
#[derive(Default)]
pub struct Ready {
    pub(super) engines: HashMap<Instance, Arc<dyn Engine>>,
    pub(super) host: Option<Arc<dyn Engine>>,
    source: Option<Source>,
    /// What each engine says of itself, in order of first use.
    pub facts: Vec<EngineFacts>,
}

/// How long a sweep may take; it waits for those of other runs.
const SWEEP_LIMIT: Duration = Duration::from_secs(120);
/// Pause between two tries while another run sweeps.
const SWEEP_PAUSE: Duration = Duration::from_millis(20);

impl Ready {
    /// Where these engines come from.
    pub(super) fn source(&self) -> Result<&Source, EngineError> {
        self.source
            .as_ref()
            .ok_or_else(|| EngineError::Unsupported { what: "there is no preflight without a source of engines".to_owned() })
    }

    /// Removes what is left on these engines of every run that is not alive; of `own`, too, when it is given. What private engines
    /// need between their starts goes only when no run of ours is under way (`over`). Given up when it is cancelled.
    ///
    /// # Errors
    /// When something is left, or when it is not done in time.
    pub(super) async fn sweep(&self, own: Option<&str>, over: bool, cancel: Option<&CancellationToken>) -> Result<(), EngineError> {
        let late = |_| EngineError::Call { operation: "clean up".to_owned(), reason: format!("not done within {SWEEP_LIMIT:?}") };
        let sweep = async { tokio::time::timeout(SWEEP_LIMIT, self.sweep_all(own, over)).await.map_err(late)? };
        match cancel {
            None => sweep.await,
            Some(cancel) => tokio::select! {
                swept = sweep => swept,
                () = cancel.cancelled() => Ok(()),
            },
        }
    }

    /// Names of what runs on the engines that run anyway, and is not ours; nothing of an engine that does not tell.
    pub(super) async fn neighbours(&self) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        for (_, engine) in self.engines.iter().filter(|(instance, _)| instance.engine.private.is_none()) {
            names.extend(engine.neighbours().await.unwrap_or_default());
        }
        names
    }

    /// Ends every private engine; fine for one that is not up.
    ///
    /// # Errors
    /// The first one; the others are ended nevertheless.
    pub(super) async fn down(&self) -> Result<(), EngineError> {
        let mut first = Ok(());
        for engine in self.engines.values() {
            first = first.and(engine.down().await);
        }
        first
    }

    async fn sweep_all(&self, own: Option<&str>, over: bool) -> Result<(), EngineError> {
        let mut first = Ok(());
        let alive = loop {
            // Nothing waits on a thread here, so that giving up leaves nobody behind who still waits.
            match Alive::try_list() {
                Some(alive) => break alive,
                None => tokio::time::sleep(SWEEP_PAUSE).await,
            }
        };
        let spared: Vec<String> = alive.runs.iter().filter(|run| Some(run.as_str()) != own).cloned().collect();
        let anyway = self.engines.iter().filter(|(instance, _)| instance.engine.private.is_none()).map(|(_, engine)| engine);
        for engine in anyway.chain(&self.host) {
            first = first.and(engine.sweep(&spared).await.map(drop));
        }
        if over {
            first = first.and(self.source()?.sweep_private(&spared).map(drop));
        }
        first
    }
}

/// Opens what the variants need and checks that each can run there. Starts, makes and removes nothing.
///
/// # Errors
/// When an engine does not answer; or every reason why a variant cannot run, all at once.
pub async fn preflight(variants: &[JobVariant], source: Source) -> Result<Ready, ExecuteError> {
    let mut ready = Ready::default();
    let mut known: HashMap<Option<Instance>, EngineFacts> = HashMap::new();
    let mut complaints = Vec::new();
    for variant in variants {
        let container = variant.spec.needs_engine().then(|| variant.instance());
        for key in container.clone().map(Some).into_iter().chain(variant.spec.needs_host().then_some(None)) {
            if known.contains_key(&key) {
                continue;
            }
            let engine = match &key {
                Some(instance) => source.open(&instance.engine).await?,
                None => source.host(None)?,
            };
            let facts = engine.facts().await?;
            if !ready.facts.contains(&facts) {
                ready.facts.push(facts.clone());
            }
            known.insert(key.clone(), facts);
            match key {
                Some(instance) => drop(ready.engines.insert(instance, engine)),
                None => ready.host = Some(engine),
            }
        }
        for (_, unit) in variant.spec.units() {
            let key = if unit.place == Place::Container { container.clone() } else { None };
            let engine = key.as_ref().map_or(ready.host.as_ref(), |instance| ready.engines.get(instance));
            for why in engine.map(|engine| engine.unsupported(unit, &known[&key])).unwrap_or_default() {
                let complaint = format!("{}: {why}", variant.id);
                if !complaints.contains(&complaint) && !variant.id.ends_with(AA_SUFFIX) {
                    complaints.push(complaint);
                }
            }
        }
    }
    ready.source = Some(source);
    if complaints.is_empty() { Ok(ready) } else { Err(ExecuteError::Unsupported(complaints)) }
}
