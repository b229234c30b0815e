//! Before anything is written or started: the engines are reached, asked what they are, and asked whether each variant can run.

use super::{EngineSource, ExecuteError, JobVariant};
use crate::engine::{Engine, EngineError};
use crate::model::facts::EngineFacts;
use crate::model::plan::AA_SUFFIX;
use crate::model::spec::{EngineSpec, Place};
use crate::record::Alive;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Open engines that can run every variant.
#[derive(Default)]
pub struct Ready {
    pub(super) engines: HashMap<EngineSpec, Arc<dyn Engine>>,
    pub(super) host: Option<Arc<dyn Engine>>,
    /// What each engine says of itself, in order of first use.
    pub facts: Vec<EngineFacts>,
}

/// How long a sweep may take; it waits for those of other runs.
const SWEEP_LIMIT: Duration = Duration::from_secs(120);
/// Pause between two tries while another run sweeps.
const SWEEP_PAUSE: Duration = Duration::from_millis(20);

impl Ready {
    /// Removes what is left on these engines of every run that is not alive; of `own`, too, when it is given. Given up when it is
    /// cancelled.
    ///
    /// # Errors
    /// When something is left, or when it is not done in time.
    pub(super) async fn sweep(&self, own: Option<&str>, cancel: Option<&CancellationToken>) -> Result<(), EngineError> {
        let late = |_| EngineError::Call { operation: "clean up".to_owned(), reason: format!("not done within {SWEEP_LIMIT:?}") };
        let sweep = async { tokio::time::timeout(SWEEP_LIMIT, self.sweep_all(own)).await.map_err(late)? };
        match cancel {
            None => sweep.await,
            Some(cancel) => tokio::select! {
                swept = sweep => swept,
                () = cancel.cancelled() => Ok(()),
            },
        }
    }

    async fn sweep_all(&self, own: Option<&str>) -> Result<(), EngineError> {
        let mut first = Ok(());
        let alive = loop {
            // Nothing waits on a thread here, so that giving up leaves nobody behind who still waits.
            match Alive::try_list() {
                Some(alive) => break alive,
                None => tokio::time::sleep(SWEEP_PAUSE).await,
            }
        };
        let spared: Vec<String> = alive.runs.iter().filter(|run| Some(run.as_str()) != own).cloned().collect();
        for engine in self.engines.values().chain(&self.host) {
            first = first.and(engine.sweep(&spared).await.map(drop));
        }
        first
    }
}

/// Opens what the variants need and checks that each can run there. Starts, makes and removes nothing.
///
/// # Errors
/// When an engine does not answer; or every reason why a variant cannot run, all at once.
pub async fn preflight(variants: &[JobVariant], source: &dyn EngineSource) -> Result<Ready, ExecuteError> {
    let mut ready = Ready::default();
    let mut known: HashMap<Option<EngineSpec>, EngineFacts> = HashMap::new();
    let mut complaints = Vec::new();
    for variant in variants {
        for workload in &variant.spec.workloads {
            let key = (workload.unit.place == Place::Container).then(|| variant.spec.engine.clone());
            if !known.contains_key(&key) {
                let engine = match &key {
                    Some(spec) => source.open(spec).await?,
                    None => source.host(None)?,
                };
                let facts = engine.facts().await?;
                ready.facts.push(facts.clone());
                known.insert(key.clone(), facts);
                match &key {
                    Some(spec) => drop(ready.engines.insert(spec.clone(), engine)),
                    None => ready.host = Some(engine),
                }
            }
            let engine = key.as_ref().map_or(ready.host.as_ref(), |spec| ready.engines.get(spec));
            for why in engine.map(|engine| engine.unsupported(&workload.unit, &known[&key])).unwrap_or_default() {
                let complaint = format!("{}: {why}", variant.id);
                if !complaints.contains(&complaint) && !variant.id.ends_with(AA_SUFFIX) {
                    complaints.push(complaint);
                }
            }
        }
    }
    if complaints.is_empty() { Ok(ready) } else { Err(ExecuteError::Unsupported(complaints)) }
}
