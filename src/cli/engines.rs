//! Which engine a spec means: the daemon that docker would use, a private one, the host, or a scripted fake.

use crate::engine::control::{self, Control};
use crate::engine::docker::{Docker, Env};
use crate::engine::dockerd::{self, Daemons, Private};
use crate::engine::fake::FakeEngine;
use crate::engine::grouped::Grouped;
use crate::engine::namespace::Namespace;
use crate::engine::native::NativeEngine;
use crate::engine::{Boxed, Engine, EngineError};
use crate::execute::EngineSource;
use crate::model::spec::EngineSpec;
use std::sync::Arc;

/// `--engine fake:FILE` replaces every engine by a scripted one: for fault injection in tests, hence not in the help.
const FAKE: &str = "fake:";

/// Whether an address given on the command line is that of a scripted engine.
pub fn is_scripted(given: Option<&str>) -> bool {
    given.is_some_and(|text| text.starts_with(FAKE))
}

/// The engines of this process.
pub struct Engines {
    given: Option<String>,
    fake: Option<Arc<FakeEngine>>,
    daemons: Arc<Daemons>,
}

impl Engines {
    /// Engines for an address given on the command line, if any.
    ///
    /// # Errors
    /// When a fake's script cannot be read.
    pub fn new(given: Option<&str>) -> Result<Self, EngineError> {
        let fake = match given.and_then(|text| text.strip_prefix(FAKE)) {
            None => None,
            Some(path) => {
                let unreadable =
                    |reason: String| EngineError::Unreachable { endpoint: path.to_owned(), found_by: "--engine".to_owned(), reason };
                let script = fs_err::read_to_string(path).map_err(|e| unreadable(e.to_string()))?;
                Some(Arc::new(FakeEngine::from_json(&script).map_err(|e| unreadable(e.to_string()))?))
            }
        };
        let daemons = Daemons::new(given.map(str::to_owned));
        Ok(Self { given: given.map(str::to_owned), fake, daemons })
    }

    /// The same, for a look only: no program that a manifest names is executed.
    #[must_use]
    pub fn only_looking(self) -> Self {
        Self { daemons: Daemons::to_look_at(), ..self }
    }
}

impl EngineSource for Engines {
    fn open<'a>(&'a self, spec: &'a EngineSpec) -> Boxed<'a, Result<Arc<dyn Engine>, EngineError>> {
        Box::pin(async move {
            if let Some(fake) = &self.fake {
                return Ok(Arc::clone(fake) as Arc<dyn Engine>);
            }
            if let Some(private) = &spec.private {
                return Ok(Arc::new(Private::new(private.clone(), Arc::clone(&self.daemons))) as Arc<dyn Engine>);
            }
            let host = spec.host.as_deref().or(self.given.as_deref());
            let docker = Docker::connect(host, &Env::of_process()).await.map_err(|error| match error {
                EngineError::Unreachable { endpoint, reason, .. } if spec.host.is_none() && self.given.is_some() => {
                    EngineError::Unreachable { endpoint, found_by: "--engine".to_owned(), reason }
                }
                other => other,
            })?;
            let layout = control::layout().unwrap_or_default();
            Ok(if docker.takes_our_groups() && control::may_make_groups(&layout) {
                Arc::new(Grouped::new(docker, Control::new(layout)))
            } else {
                Arc::new(docker.without_groups())
            })
        })
    }

    fn host(&self, namespace: Option<Arc<Namespace>>) -> Result<Arc<dyn Engine>, EngineError> {
        match &self.fake {
            Some(fake) => Ok(Arc::clone(fake) as Arc<dyn Engine>),
            None => Ok(Arc::new(NativeEngine::new()?.within(namespace))),
        }
    }

    fn sweep_private(&self, alive: &[String]) -> Result<Vec<String>, EngineError> {
        match &self.fake {
            Some(_) => Ok(Vec::new()),
            None => {
                // Groups first: what is left of a daemon's containers is in them, and nobody else may be there to look.
                let groups = control::layout().map(|layout| Control::new(layout).sweep(control::TOP, alive));
                let mut removed = groups.ok().transpose()?.unwrap_or_default();
                removed.extend(dockerd::sweep_host(alive)?);
                Ok(removed)
            }
        }
    }
}
