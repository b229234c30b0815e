//! What may take longer than a caller's thread should wait.

use super::child;
use super::sources::{self, Sources};
use super::store::Store;
use super::unit::Unit;
use crate::engine::control::Control;
use crate::engine::{EngineError, Output, UnitName};
use crate::model::spec::UnitSpec;
use crate::model::stack::VolumeSpec;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::oneshot;

/// Up to so many bytes of output are read at once.
const SHORT_OUTPUT: u64 = 64 << 10;

pub(super) fn failed(operation: &str, id: &str, reason: impl ToString) -> EngineError {
    EngineError::Call { operation: format!("{operation} process `{id}`"), reason: reason.to_string() }
}

/// Waits for a child that needs long to prepare itself, on a thread that nobody else waits for. When the caller gives up meanwhile,
/// what comes of it is ended there.
pub(super) async fn slow_answer(process: &Arc<Unit>, control: &Control, store: &Store) -> u64 {
    let (tell, told) = oneshot::channel();
    let (process, control, store) = (Arc::clone(process), control.clone(), store.clone());
    std::thread::spawn(move || {
        if tell.send(process.answer()).is_err() {
            let _ = control.kill(&process.cgroup); // the run's last sweep tries again, and tells
            process.join();
            let _ = control.remove(&process.cgroup);
            let _ = process.own.as_deref().map(|own| store.remove(own));
        }
    });
    told.await.unwrap_or(child::NO_CHILD)
}

/// Reads what a process wrote, away from the async threads when it is much.
pub(super) async fn output_of(process: Arc<Unit>, id: &str) -> Result<Output, EngineError> {
    let (short, id) = (process.output_len() <= SHORT_OUTPUT, id.to_owned());
    let read = move || process.output().map_err(|error| failed("read the output of", &id, error));
    if short { read() } else { blocking(read).await }
}

/// Runs what may block for longer off the async threads.
pub(super) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T, EngineError> + Send + 'static) -> Result<T, EngineError> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(failed("attend", "", error)))
}

/// Makes what a unit has on disk for itself, when it has anything; gives the folder that it lies in.
pub(super) async fn make_sources(store: &Store, id: &str, spec: &UnitSpec) -> Result<Option<PathBuf>, EngineError> {
    if !sources::any(spec) {
        return Ok(None);
    }
    let (store, own, spec) = (store.clone(), store.unit(id), spec.clone());
    blocking(move || {
        let made = Sources { store: &store, own: &own }.make(&spec);
        if made.is_err() {
            let _ = store.remove(&own); // the first error is the one to tell
        }
        made.map(|()| Some(own))
    })
    .await
}

/// Does `work` for every volume of a trial; after a failure for the others, too.
pub(super) async fn each_volume(
    store: &Store,
    name: &UnitName,
    volumes: &[VolumeSpec],
    work: fn(&Store, &UnitName, &VolumeSpec) -> Result<(), EngineError>,
) -> Result<(), EngineError> {
    if volumes.is_empty() {
        return Ok(());
    }
    let (store, name, volumes) = (store.clone(), name.clone(), volumes.to_vec());
    blocking(move || volumes.iter().map(|volume| work(&store, &name, volume)).fold(Ok(()), Result::and)).await
}
