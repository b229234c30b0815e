//! Making a unit: the container, attached to all of its networks and with its files; or nothing of it.

use super::attach::{endpoint, further_networks};
use super::create::{Placement, body};
use super::removal::remove_container;
use super::{Docker, failed, files, status};
use crate::engine::{Created, EngineError, Image, LABEL_RUN, UnitName};
use crate::model::spec::{ImageSpec, UnitSpec};
use bollard::errors::Error;
use bollard::models::{ContainerCreateBody, NetworkConnectRequest};
use bollard::query_parameters::CreateContainerOptionsBuilder;
use tokio::sync::oneshot;

/// Creates a container. When the caller gives up meanwhile, what the daemon still makes of it is removed.
pub(super) async fn create(docker: &Docker, name: &UnitName, spec: &UnitSpec, image: Option<&Image>) -> Result<Created, EngineError> {
    let container = name.container();
    let image = image.ok_or_else(|| EngineError::Unsupported { what: format!("container `{container}` has no image") })?;
    if let Some(what) = no_command(spec) {
        return Err(EngineError::Unsupported { what });
    }
    let (systemd, podman) = (docker.abilities.systemd(), docker.abilities.podman());
    let placement = if docker.own_groups { Placement::in_our_group(name, podman) } else { Placement::of_the_engine(systemd, podman) };
    let wanted = body(name, spec, &image.reference, &placement);
    let maker = Maker { client: docker.client.clone(), patient: docker.patient.clone(), podman };
    let (owner, unit) = (name.clone(), spec.clone());
    let (answer, made) = oneshot::channel();
    tokio::spawn(async move {
        let result = maker.create(&owner, &unit, wanted).await;
        if let Err(Ok(id)) = answer.send(result) {
            // Nobody is left to tell; the sweep finds it should this fail, too.
            drop(remove_container(&maker.client, &id).await);
        }
    });
    let lost =
        |_| EngineError::Call { operation: format!("create container `{}`", name.container()), reason: "the runtime is ending".into() };
    let id = made.await.map_err(lost)??;
    let program = spec.entrypoint.iter().flatten().chain(&spec.command).next().cloned().unwrap_or_else(|| name.unit.clone());
    docker.units.note(&id, program, spec.container.networks.clone());
    Ok(Created { cgroup: placement.counted(&id), leaf: placement.leaf(&id), id })
}

/// Why there is nothing to run; none when there is something, or when only the image can tell.
pub(super) fn no_command(spec: &UnitSpec) -> Option<String> {
    let none = spec.command.is_empty() && spec.entrypoint.is_none() && matches!(spec.image, Some(ImageSpec::Pack(_)));
    none.then(|| "a packed image has no command of its own: declare `command`".to_owned())
}

/// Makes containers for a caller who may give up meanwhile.
pub(super) struct Maker {
    pub(super) client: bollard::Docker,
    /// For sending files: a folder may be large.
    pub(super) patient: bollard::Docker,
    pub(super) podman: bool,
}

impl Maker {
    /// Creates the container, attached to all of its networks and with its files; nothing of it is left after an error.
    async fn create(&self, name: &UnitName, spec: &UnitSpec, body: ContainerCreateBody) -> Result<String, EngineError> {
        let container = name.container();
        let mut result = create_once(&self.client, &container, body.clone()).await;
        if result.as_ref().is_err_and(is_name_conflict) {
            clear_name(&self.client, &container).await?;
            result = create_once(&self.client, &container, body).await;
        }
        let made = result.map_err(|error| failed(format!("create container `{container}`"), &error))?;
        // The daemon warns when it drops a limit that the kernel does not have; a limit without effect is no result.
        let dropped = made.warnings.iter().find(|warning| warning.contains("discarded"));
        let complete = match dropped {
            Some(warning) => Err(EngineError::Unsupported { what: format!("container `{container}`: {warning}") }),
            None => self.complete(&made.id, name, spec).await,
        };
        if let Err(error) = complete {
            remove_container(&self.client, &made.id).await?;
            return Err(error);
        }
        Ok(made.id)
    }

    async fn complete(&self, id: &str, name: &UnitName, spec: &UnitSpec) -> Result<(), EngineError> {
        for network in further_networks(spec) {
            let request = NetworkConnectRequest { container: id.to_owned(), endpoint_config: Some(endpoint(name)) };
            let joined = self.client.connect_network(network, request).await;
            joined.map_err(|error| failed(format!("connect container `{}` to network `{network}`", name.container()), &error))?;
        }
        files::place(self, id, spec).await
    }
}

async fn create_once(
    client: &bollard::Docker,
    name: &str,
    body: ContainerCreateBody,
) -> Result<bollard::models::ContainerCreateResponse, Error> {
    let options = CreateContainerOptionsBuilder::default().name(name).build();
    client.create_container(Some(options), body).await
}

/// Docker says 409 for it; older podman says 500 and the same words.
fn is_name_conflict(error: &Error) -> bool {
    matches!(error, Error::DockerResponseServerError { status_code, message }
        if *status_code == 409 || (*status_code == 500 && message.contains("already in use")))
}

/// Removes the container that holds `name` when it is one of ours: names hold the run and the trial, so it is a stale one.
async fn clear_name(client: &bollard::Docker, name: &str) -> Result<(), EngineError> {
    let found = match client.inspect_container(name, None).await {
        Err(error) if status(&error) == Some(404) => return Ok(()),
        found => found.map_err(|error| failed(format!("look at container `{name}`"), &error))?,
    };
    let ours = found.config.and_then(|config| config.labels).is_some_and(|labels| labels.contains_key(LABEL_RUN));
    if !ours {
        let reason = "a container of that name exists that is not ours; rename or remove it".into();
        return Err(EngineError::Call { operation: format!("create container `{name}`"), reason });
    }
    remove_container(client, found.id.as_deref().unwrap_or(name)).await
}
