//! Host processes as units: the same command with the same limits, and no container around it.

use super::{Boxed, Created, Engine, EngineError, Exit, Image, Output, UnitName};
use crate::model::facts::EngineFacts;
use crate::model::spec::{ImageSpec, UnitSpec};
use std::path::Path;

/// Runs units as processes of this host.
#[derive(Debug)]
pub struct NativeEngine {}

impl NativeEngine {
    /// The engine of this host.
    ///
    /// # Errors
    /// When this host cannot give processes a cgroup of their own.
    pub fn new() -> Result<Self, EngineError> {
        Err(missing())
    }
}

fn missing() -> EngineError {
    EngineError::Unsupported { what: "host processes are not supported yet".to_owned() }
}

impl Engine for NativeEngine {
    fn facts(&self) -> Boxed<'_, Result<EngineFacts, EngineError>> {
        Box::pin(async { Err(missing()) })
    }

    fn unsupported(&self, _spec: &UnitSpec, _facts: &EngineFacts) -> Vec<String> {
        vec![missing().to_string()]
    }

    fn image<'a>(&'a self, _image: &'a ImageSpec, _folder: &'a Path) -> Boxed<'a, Result<Image, EngineError>> {
        Box::pin(async { Err(missing()) })
    }

    fn create<'a>(&'a self, _: &'a UnitName, _: &'a UnitSpec, _: Option<&'a Image>) -> Boxed<'a, Result<Created, EngineError>> {
        Box::pin(async { Err(missing()) })
    }

    fn start<'a>(&'a self, _unit: &'a Created) -> Boxed<'a, Result<(), EngineError>> {
        Box::pin(async { Err(missing()) })
    }

    fn wait<'a>(&'a self, _unit: &'a Created) -> Boxed<'a, Result<Exit, EngineError>> {
        Box::pin(async { Err(missing()) })
    }

    fn output<'a>(&'a self, _unit: &'a Created) -> Boxed<'a, Result<Output, EngineError>> {
        Box::pin(async { Err(missing()) })
    }

    fn remove<'a>(&'a self, _unit: &'a Created) -> Boxed<'a, Result<(), EngineError>> {
        Box::pin(async { Ok(()) })
    }

    fn sweep<'a>(&'a self, _alive: &'a [String]) -> Boxed<'a, Result<Vec<String>, EngineError>> {
        Box::pin(async { Ok(Vec::new()) })
    }
}
