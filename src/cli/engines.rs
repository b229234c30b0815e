//! Which engine a spec means: the daemon that docker would use, the host, or a scripted fake.

use crate::engine::control::Control;
use crate::engine::docker::Docker;
use crate::engine::fake::FakeEngine;
use crate::engine::native::Native;
use crate::engine::{Boxed, Engine, EngineError};
use crate::execute::EngineSource;
use crate::model::cgroup::CgroupLayout;
use crate::model::spec::EngineSpec;
use std::sync::Arc;

/// `--engine fake:FILE` replaces every engine by a scripted one: for fault injection in tests, hence not in the help.
const FAKE: &str = "fake:";

/// The engines of this process.
pub struct Engines {
    given: Option<String>,
    layout: CgroupLayout,
    fake: Option<Arc<FakeEngine>>,
}

impl Engines {
    /// Engines for an address given on the command line, if any.
    ///
    /// # Errors
    /// When a fake's script cannot be read.
    pub fn new(given: Option<&str>, layout: CgroupLayout) -> Result<Self, EngineError> {
        let fake = match given.and_then(|text| text.strip_prefix(FAKE)) {
            None => None,
            Some(path) => {
                let unreadable = |reason: String| EngineError::Unreachable { endpoint: path.to_owned(), found_by: "--engine".to_owned(), reason };
                let script = fs_err::read_to_string(path).map_err(|e| unreadable(e.to_string()))?;
                Some(Arc::new(FakeEngine::from_json(&script).map_err(|e| unreadable(e.to_string()))?))
            }
        };
        Ok(Self { given: given.map(str::to_owned), layout, fake })
    }

    fn control(&self) -> Control {
        Control::new(self.layout.clone())
    }
}

impl EngineSource for Engines {
    fn open<'a>(&'a self, spec: &'a EngineSpec) -> Boxed<'a, Result<Arc<dyn Engine>, EngineError>> {
        Box::pin(async move {
            if let Some(fake) = &self.fake {
                return Ok(Arc::clone(fake) as Arc<dyn Engine>);
            }
            let host = spec.host.as_deref().or(self.given.as_deref());
            Ok(Arc::new(Docker::connect(host, self.control()).await?) as Arc<dyn Engine>)
        })
    }

    fn host(&self) -> Arc<dyn Engine> {
        match &self.fake {
            Some(fake) => Arc::clone(fake) as Arc<dyn Engine>,
            None => Arc::new(Native::new(self.control())),
        }
    }
}
