//! Removing what the daemon holds for us, and not giving up at once: what is still in use goes a moment later.

use super::{reason, status};
use crate::engine::EngineError;
use bollard::errors::Error;
use bollard::query_parameters::{RemoveContainerOptionsBuilder, RemoveVolumeOptionsBuilder};
use std::time::Duration;

/// Attempts to remove a thing, with growing pauses between them: 3 s in all.
const ATTEMPTS: u32 = 8;
/// The first of these pauses; each is twice the one before.
const FIRST_PAUSE: Duration = Duration::from_millis(25);

/// What is to be removed, by its id, or its name where that is its id.
#[derive(Debug, Clone, Copy)]
enum Thing<'a> {
    Container(&'a str),
    Network(&'a str),
    Volume(&'a str),
}

/// Removes the container `id` by force, with its anonymous volumes; fine when it is already gone.
pub(super) async fn remove_container(client: &bollard::Docker, id: &str) -> Result<(), EngineError> {
    insist(client, Thing::Container(id), &format!("remove container `{id}`")).await
}

/// Removes the network `id`, called `name`; fine when it is already gone.
pub(super) async fn remove_network(client: &bollard::Docker, id: &str, name: &str) -> Result<(), EngineError> {
    insist(client, Thing::Network(id), &format!("remove network `{name}`")).await
}

/// Removes the volume `name`; fine when it is already gone.
pub(super) async fn remove_volume(client: &bollard::Docker, name: &str) -> Result<(), EngineError> {
    insist(client, Thing::Volume(name), &format!("remove volume `{name}`")).await
}

/// Tries until it succeeds or there is nothing, and tells the last failure.
async fn insist(client: &bollard::Docker, thing: Thing<'_>, operation: &str) -> Result<(), EngineError> {
    let mut pause = FIRST_PAUSE;
    let mut last = String::new();
    for number in 0..ATTEMPTS {
        if number > 0 {
            tokio::time::sleep(pause).await;
            pause *= 2;
        }
        match attempt(client, thing).await {
            Ok(()) => return Ok(()),
            Err(error) if status(&error) == Some(404) => return Ok(()),
            Err(error) => last = reason(&error),
        }
    }
    Err(EngineError::Call { operation: operation.to_owned(), reason: last })
}

async fn attempt(client: &bollard::Docker, thing: Thing<'_>) -> Result<(), Error> {
    match thing {
        Thing::Network(id) => client.remove_network(id).await,
        Thing::Volume(name) => client.remove_volume(name, Some(RemoveVolumeOptionsBuilder::default().build())).await,
        Thing::Container(id) => {
            let options = RemoveContainerOptionsBuilder::default().force(true).v(true).build();
            // The daemon answers a removal when it is done: to ask again after one that went well tells nothing.
            match client.remove_container(id, Some(options)).await {
                Err(refused) if status(&refused) != Some(404) => client.inspect_container(id, None).await.err().map_or(Err(refused), Err),
                done => done,
            }
        }
    }
}
