//! An existing daemon that speaks Docker's API, found the way the docker command finds it.
//!
//! `endpoint` says where the daemon is, `connect` agrees on an API version and learns what the daemon can do, `facts` tells it and
//! `support` what it cannot; `image` and `build` make images ready, `furnish` makes networks and volumes. `create` and `attach`
//! turn a spec into the daemon's configuration (pure), of which `make` makes a unit with its `files`; `lifecycle` runs it,
//! `inspect` and `exec` look at it while it runs, `neighbours` tells what else does, and `output` reads what it wrote. `removal` removes, and `sweep` finds what dead
//! runs left. Nothing here needs more than podman's Docker API offers, too. It must not know trials, records or the measured
//! window; control groups are [`super::control`]'s.

mod attach;
mod build;
mod connect;
mod context;
mod create;
mod endpoint;
mod exec;
mod facts;
mod files;
mod furnish;
mod image;
mod inspect;
mod lifecycle;
mod make;
mod neighbours;
mod output;
mod removal;
mod support;
mod sweep;

pub use connect::{OLDEST_API, newest_api};
pub use endpoint::{Address, Endpoint, EndpointError, Env, Reader, resolve};
pub use support::unsupported_anywhere as unsupported;

use super::{
    Boxed, Created, Engine, EngineError, Executed, Exit, Furniture, Image, LABEL_EXPERIMENT, LABEL_HOST, LABEL_RUN, LABEL_TRIAL, Output,
    Standing, UnitName,
};
use crate::model::facts::EngineFacts;
use crate::model::spec::{ImageSpec, UnitSpec};
use connect::Abilities;
use lifecycle::Units;
use sha2::Digest;
use std::collections::HashMap;
use std::path::Path;

/// A daemon reached over its API.
pub struct Docker {
    /// For calls that answer soon; the caller puts its own limit around them.
    client: bollard::Docker,
    /// For calls that may rightly take long: waiting, loading, building, pulling.
    patient: bollard::Docker,
    endpoint: Endpoint,
    abilities: Abilities,
    units: Units,
    /// Whether containers get a control group around them that is ours to read and to remove.
    own_groups: bool,
}

impl Docker {
    /// Connects to `host`, or to the daemon that the docker command would use in `env`, and agrees on an API version.
    ///
    /// # Errors
    /// [`EngineError::Unreachable`] when there is none, or none that speaks a version of ours.
    pub async fn connect(host: Option<&str>, env: &Env) -> Result<Self, EngineError> {
        connect::connect(resolve(host, env)?).await
    }

    /// Leaves containers in the groups that the daemon makes by itself: for a process that may not make and remove groups here.
    #[must_use]
    pub fn without_groups(self) -> Self {
        Self { own_groups: false, ..self }
    }

    /// Whether a control group of ours can stand around its containers: they run on this host's kernel, as behind a socket file,
    /// and the daemon itself writes the groups. Systemd takes slices only as parents, which it makes and keeps by itself: our
    /// weights would not reach them and nobody would remove them.
    #[must_use]
    pub fn takes_our_groups(&self) -> bool {
        self.own_groups && matches!(self.endpoint.address, Address::Unix(_))
    }

    /// Makes an image of another daemon ready here, by way of this process.
    ///
    /// # Errors
    /// When either daemon refuses.
    pub async fn take_image(&self, from: &Self, image: &Image) -> Result<Image, EngineError> {
        image::take(self, from, image).await
    }

    /// Removes an image that was made ready; fine when it is already gone.
    ///
    /// # Errors
    /// When the daemon refuses.
    pub async fn forget_image(&self, image: &Image) -> Result<(), EngineError> {
        image::forget(self, image).await
    }

    /// Where the daemon is and how that was found.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }
}

impl Engine for Docker {
    fn facts(&self) -> Boxed<'_, Result<EngineFacts, EngineError>> {
        Box::pin(async { Ok(self.abilities.facts(&self.endpoint)) })
    }

    fn unsupported(&self, spec: &UnitSpec, facts: &EngineFacts) -> Vec<String> {
        support::unsupported(spec, facts, &self.abilities)
    }

    fn furnish<'a>(&'a self, name: &'a UnitName, furniture: Furniture<'a>) -> Boxed<'a, Result<(), EngineError>> {
        Box::pin(furnish::furnish(self, name, furniture))
    }

    fn clear<'a>(&'a self, name: &'a UnitName, furniture: Furniture<'a>) -> Boxed<'a, Result<(), EngineError>> {
        Box::pin(furnish::clear(&self.client, name, furniture))
    }

    fn inspect<'a>(&'a self, unit: &'a Created) -> Boxed<'a, Result<Standing, EngineError>> {
        Box::pin(inspect::inspect(self, unit))
    }

    fn exec<'a>(&'a self, unit: &'a Created, command: &'a [String]) -> Boxed<'a, Result<Executed, EngineError>> {
        Box::pin(exec::exec(self, unit, command))
    }

    fn image<'a>(&'a self, image: &'a ImageSpec, folder: &'a Path) -> Boxed<'a, Result<Image, EngineError>> {
        Box::pin(image::ready(self, image, folder))
    }

    fn create<'a>(&'a self, name: &'a UnitName, spec: &'a UnitSpec, image: Option<&'a Image>) -> Boxed<'a, Result<Created, EngineError>> {
        Box::pin(make::create(self, name, spec, image))
    }

    fn start<'a>(&'a self, unit: &'a Created) -> Boxed<'a, Result<(), EngineError>> {
        Box::pin(lifecycle::start(self, unit))
    }

    fn wait<'a>(&'a self, unit: &'a Created) -> Boxed<'a, Result<(), EngineError>> {
        Box::pin(async move { lifecycle::wait(self, unit).await.map(drop) })
    }

    fn exit<'a>(&'a self, unit: &'a Created) -> Boxed<'a, Result<Exit, EngineError>> {
        Box::pin(lifecycle::exit(self, unit))
    }

    fn output<'a>(&'a self, unit: &'a Created) -> Boxed<'a, Result<Output, EngineError>> {
        Box::pin(output::read(&self.client, &unit.id))
    }

    fn remove<'a>(&'a self, unit: &'a Created) -> Boxed<'a, Result<(), EngineError>> {
        Box::pin(lifecycle::remove(self, unit))
    }

    fn neighbours(&self) -> Boxed<'_, Result<Vec<String>, EngineError>> {
        Box::pin(neighbours::list(&self.client))
    }

    fn sweep<'a>(&'a self, alive: &'a [String]) -> Boxed<'a, Result<Vec<String>, EngineError>> {
        Box::pin(sweep::sweep(&self.client, alive))
    }
}

/// What tells this host from others that use the same daemon: its machine id and its name, which a container has of its own.
fn this_host() -> &'static String {
    static HOST: std::sync::LazyLock<String> = std::sync::LazyLock::new(|| {
        let read = |path| std::fs::read_to_string(path).unwrap_or_default();
        let whole = format!("{}\n{}", read("/etc/machine-id").trim(), read("/proc/sys/kernel/hostname").trim());
        build::short_hex(&sha2::Sha256::digest(whole))
    });
    &HOST
}

/// The labels of everything that is made for a trial.
fn labels(name: &UnitName) -> HashMap<String, String> {
    [(LABEL_RUN, &name.run), (LABEL_EXPERIMENT, &name.experiment), (LABEL_TRIAL, &name.trial), (LABEL_HOST, this_host())]
        .map(|(label, value)| (label.to_owned(), value.clone()))
        .into()
}

/// Wraps the client's error with the operation that met it.
fn failed(operation: impl Into<String>, error: &bollard::errors::Error) -> EngineError {
    EngineError::Call { operation: operation.into(), reason: reason(error) }
}

/// What the daemon said, or what happened on the way to it, with every cause.
fn reason(error: &bollard::errors::Error) -> String {
    use bollard::errors::Error;
    match error {
        Error::DockerResponseServerError { status_code, message } if message.trim().is_empty() => {
            format!("the engine answered {status_code}")
        }
        Error::DockerResponseServerError { status_code, message } => format!("the engine answered {status_code}: {}", message.trim()),
        Error::DockerStreamError { error } => error.trim().to_owned(),
        other => {
            let mut text = other.to_string();
            let mut cause = std::error::Error::source(other);
            while let Some(inner) = cause {
                let more = inner.to_string();
                if !text.ends_with(&more) {
                    text = format!("{text}: {more}");
                }
                cause = inner.source();
            }
            text
        }
    }
}

/// The status with which the daemon refused, when it did.
fn status(error: &bollard::errors::Error) -> Option<u16> {
    match error {
        bollard::errors::Error::DockerResponseServerError { status_code, .. } => Some(*status_code),
        _ => None,
    }
}
