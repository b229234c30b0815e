//! A container engine on this host, with a control group of ours around every container.
//!
//! A container's own cgroup is gone the moment it exits; the hierarchical counters of the group around it stay until we remove it.

use super::control::{Control, Runs};
use super::namespace::Namespace;
use super::{Boxed, Created, Engine, EngineError, Executed, Exit, Furniture, Image, Output, Standing, UnitName};
use crate::model::facts::EngineFacts;
use crate::model::spec::{ImageSpec, UnitSpec};
use std::path::Path;
use std::sync::Arc;

/// Wraps an engine whose containers run on this host's kernel.
pub struct Grouped<E> {
    inner: E,
    control: Control,
    runs: Runs,
}

impl<E: Engine> Grouped<E> {
    /// Makes and removes groups with `control` around the containers of `inner`.
    pub fn new(inner: E, control: Control) -> Self {
        Self { inner, runs: Runs::new(control.clone()), control }
    }

    /// The engine without the groups.
    pub fn inner(&self) -> &E {
        &self.inner
    }

    async fn control(&self, work: impl FnOnce(&Control) -> Result<(), EngineError> + Send + 'static) -> Result<(), EngineError> {
        let control = self.control.clone();
        tokio::task::spawn_blocking(move || work(&control))
            .await
            .unwrap_or_else(|error| Err(EngineError::Call { operation: "control group".to_owned(), reason: error.to_string() }))
    }

    /// The run's own group waits for its next trial.
    async fn remove_group(&self, path: String) -> Result<(), EngineError> {
        let run = path.rsplit_once('/').map_or(String::new(), |(run, _)| run.to_owned());
        self.control(move |control| Ok(control.remove_within(&path, &run)?)).await
    }
}

impl<E: Engine> Engine for Grouped<E> {
    fn facts(&self) -> Boxed<'_, Result<EngineFacts, EngineError>> {
        self.inner.facts()
    }

    fn unsupported(&self, spec: &UnitSpec, facts: &EngineFacts) -> Vec<String> {
        self.inner.unsupported(spec, facts)
    }

    fn up<'a>(&'a self, run: &'a str) -> Boxed<'a, Result<(), EngineError>> {
        self.inner.up(run)
    }

    fn down(&self) -> Boxed<'_, Result<(), EngineError>> {
        self.inner.down()
    }

    fn namespace(&self) -> Option<Arc<Namespace>> {
        self.inner.namespace()
    }

    fn own_group(&self) -> Option<String> {
        self.inner.own_group()
    }

    fn furnish<'a>(&'a self, name: &'a UnitName, furniture: Furniture<'a>) -> Boxed<'a, Result<(), EngineError>> {
        self.inner.furnish(name, furniture)
    }

    fn clear<'a>(&'a self, name: &'a UnitName, furniture: Furniture<'a>) -> Boxed<'a, Result<(), EngineError>> {
        self.inner.clear(name, furniture)
    }

    fn inspect<'a>(&'a self, unit: &'a Created) -> Boxed<'a, Result<Standing, EngineError>> {
        self.inner.inspect(unit)
    }

    fn exec<'a>(&'a self, unit: &'a Created, command: &'a [String]) -> Boxed<'a, Result<Executed, EngineError>> {
        self.inner.exec(unit, command)
    }

    fn image<'a>(&'a self, image: &'a ImageSpec, folder: &'a Path) -> Boxed<'a, Result<Image, EngineError>> {
        self.inner.image(image, folder)
    }

    fn create<'a>(&'a self, name: &'a UnitName, spec: &'a UnitSpec, image: Option<&'a Image>) -> Boxed<'a, Result<Created, EngineError>> {
        Box::pin(async move {
            self.runs.note(&name.run);
            let (path, shares) = (name.cgroup(), spec.limits.cpu_shares);
            self.control(move |control| Ok(control.weight_parent(&path, shares)?)).await?;
            match self.inner.create(name, spec, image).await {
                Ok(created) => Ok(created),
                Err(error) => {
                    // The first error is the one to tell; the next sweep tries the removal again.
                    let _ = self.remove_group(name.cgroup()).await;
                    Err(error)
                }
            }
        })
    }

    fn start<'a>(&'a self, unit: &'a Created) -> Boxed<'a, Result<(), EngineError>> {
        self.inner.start(unit)
    }

    fn wait<'a>(&'a self, unit: &'a Created) -> Boxed<'a, Result<(), EngineError>> {
        self.inner.wait(unit)
    }

    fn exit<'a>(&'a self, unit: &'a Created) -> Boxed<'a, Result<Exit, EngineError>> {
        self.inner.exit(unit)
    }

    fn output<'a>(&'a self, unit: &'a Created) -> Boxed<'a, Result<Output, EngineError>> {
        self.inner.output(unit)
    }

    fn remove<'a>(&'a self, unit: &'a Created) -> Boxed<'a, Result<(), EngineError>> {
        Box::pin(async move {
            self.inner.remove(unit).await?;
            self.remove_group(unit.cgroup.clone()).await
        })
    }

    fn neighbours(&self) -> Boxed<'_, Result<Vec<String>, EngineError>> {
        self.inner.neighbours()
    }

    fn sweep<'a>(&'a self, alive: &'a [String]) -> Boxed<'a, Result<Vec<String>, EngineError>> {
        Box::pin(async move {
            let mut removed = self.inner.sweep(alive).await?;
            let (control, alive) = (self.control.clone(), alive.to_vec());
            let groups = tokio::task::spawn_blocking(move || control.sweep(super::control::TOP, &alive)).await;
            match groups {
                Ok(groups) => removed.extend(groups?),
                Err(error) => return Err(EngineError::Call { operation: "control groups".to_owned(), reason: error.to_string() }),
            }
            Ok(removed)
        })
    }
}
