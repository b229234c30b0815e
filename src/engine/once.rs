//! A unit from its creation to its removal, for whoever only wants to know how it ends.

use super::{Engine, EngineError, Exit, Image, UnitName};
use crate::model::spec::UnitSpec;

/// Runs a unit to its end, however long that takes, and removes it on every path.
///
/// # Errors
/// When it cannot be created or started, its end cannot be learned, or something of it is left; the first of these.
pub async fn once<E: Engine + ?Sized>(engine: &E, name: &UnitName, spec: &UnitSpec, image: Option<&Image>) -> Result<Exit, EngineError> {
    let created = engine.create(name, spec, image).await?;
    let ran = async {
        engine.start(&created).await?;
        engine.wait(&created).await?;
        engine.exit(&created).await
    };
    let ended = ran.await;
    let removed = engine.remove(&created).await;
    let exit = ended?;
    removed.map(|()| exit)
}
