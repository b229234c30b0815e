//! The engines that trials run on, up or not: those that run anyway, and private ones, which are started for some trials in a row
//! and ended before others need the machine to themselves.

use super::sight::Sight;
use super::{EngineSource, JobVariant, Ready};
use crate::engine::namespace::Namespace;
use crate::engine::{Engine, EngineError};
use crate::model::spec::{EngineSpec, Place};
use std::collections::HashMap;
use std::sync::Arc;

/// One engine of a plan. The A/A copy of the baseline may have one of its own that is set the same.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Instance {
    /// How it is set.
    pub engine: EngineSpec,
    /// Whether it is the copy's own.
    pub copy: bool,
}

/// What one trial runs on.
pub(super) struct Stage {
    containers: Option<Arc<dyn Engine>>,
    host: Option<Arc<dyn Engine>>,
    namespace: Option<Arc<Namespace>>,
    sight: Option<Sight>,
}

impl Stage {
    /// The engine of a place; the preflight has opened it.
    pub(super) fn engine(&self, place: Place) -> &dyn Engine {
        match place {
            Place::Container => self.containers.as_deref().expect("the preflight opened the engine"),
            Place::Host => self.host.as_deref().expect("the preflight opened the host"),
        }
    }

    /// What can be seen of the engine of the containers.
    pub(super) fn sight(&self) -> Option<&Sight> {
        self.sight.as_ref()
    }

    /// The network namespace of a private engine.
    pub(super) fn namespace(&self) -> Option<Arc<Namespace>> {
        self.namespace.clone()
    }
}

/// The stages of a run.
#[derive(Default)]
pub(super) struct Stages {
    /// Private engines that are up, with the number of their start.
    up: HashMap<Instance, (u32, Arc<Stage>)>,
    /// Those that run anyway.
    anyway: HashMap<Instance, Arc<Stage>>,
}

/// Whether an engine is a Docker daemon of this host.
async fn is_local_docker(engine: &dyn Engine) -> bool {
    engine.facts().await.is_ok_and(|facts| facts.kind == "docker" && !facts.is_remote())
}

impl Stages {
    /// Brings nothing up for an engine that runs anyway. The stage of a variant, brought up when it is not; whether it was just started.
    ///
    /// # Errors
    /// When it does not come up.
    pub(super) async fn reach(
        &mut self,
        ready: &Ready,
        run: &str,
        variant: &JobVariant,
        start: Option<u32>,
    ) -> Result<(Arc<Stage>, bool), EngineError> {
        let instance = variant.instance();
        let engine = ready.engines.get(&instance);
        let (Some(start), Some(engine), true) = (start, engine, instance.engine.private.is_some()) else {
            let stage = match self.anyway.get(&instance) {
                Some(stage) => Arc::clone(stage),
                None => {
                    let sight = match engine {
                        Some(engine) if is_local_docker(&**engine).await => Sight::of(&**engine, None),
                        _ => None,
                    };
                    let stage = Arc::new(Stage { containers: engine.cloned(), host: ready.host.clone(), namespace: None, sight });
                    self.anyway.insert(instance, Arc::clone(&stage));
                    stage
                }
            };
            return Ok((stage, false));
        };
        match self.up.get(&instance) {
            Some((number, stage)) if *number == start => return Ok((Arc::clone(stage), false)),
            Some(_) => self.leave(ready, &instance).await?,
            None => {}
        }
        engine.up(run).await?;
        let namespace = engine.namespace();
        // The next variant on it may need the host even if this one does not.
        let host = match &ready.host {
            Some(_) => ready.source().and_then(|source| source.host(namespace.clone())).map(Some),
            None => Ok(None),
        };
        let host = match host {
            Ok(host) => host,
            Err(error) => return engine.down().await.and(Err(error)),
        };
        let stage = Arc::new(Stage {
            sight: Sight::of(&**engine, instance.engine.private.as_ref()),
            containers: Some(Arc::clone(engine)),
            host,
            namespace,
        });
        self.up.insert(instance, (start, Arc::clone(&stage)));
        Ok((stage, true))
    }

    /// Ends a private engine; fine when it is not up.
    ///
    /// # Errors
    /// When something of it is left.
    pub(super) async fn leave(&mut self, ready: &Ready, instance: &Instance) -> Result<(), EngineError> {
        if self.up.remove(instance).is_none() {
            return Ok(());
        }
        match ready.engines.get(instance) {
            Some(engine) => engine.down().await,
            None => Ok(()),
        }
    }

    /// The private engines that are up, with the number of their start.
    pub(super) fn up(&self) -> impl Iterator<Item = (&Instance, u32)> {
        self.up.iter().map(|(instance, (start, _))| (instance, *start))
    }

    /// Ends every private engine that is up.
    ///
    /// # Errors
    /// The first one; the others are ended nevertheless.
    pub(super) async fn leave_all(&mut self, ready: &Ready) -> Result<(), EngineError> {
        let mut first = Ok(());
        for instance in self.up.keys().cloned().collect::<Vec<_>>() {
            first = first.and(self.leave(ready, &instance).await);
        }
        first
    }
}

/// Where engines come from, kept for processes of the host that run beside a private one.
pub type Source = Arc<dyn EngineSource>;
