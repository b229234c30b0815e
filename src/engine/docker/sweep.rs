//! What dead runs left on the daemon: found by label, removed, told.

use super::removal::{remove_container, remove_network, remove_volume};
use super::{failed, this_host};
use crate::engine::{EngineError, LABEL_HOST, LABEL_RUN};
use bollard::query_parameters::{ListContainersOptionsBuilder, ListNetworksOptionsBuilder, ListVolumesOptionsBuilder};
use std::collections::HashMap;

/// Removes every container, network and volume with our label whose run is not in `alive`, in this order, because the first hold
/// the others; goes on after a failure and tells it at the end.
pub(super) async fn sweep(client: &bollard::Docker, alive: &[String]) -> Result<Vec<String>, EngineError> {
    let ours: HashMap<&str, Vec<&str>> = [("label", vec![LABEL_RUN])].into();
    let (mut removed, mut left) = (Vec::new(), Vec::new());
    let mut tell = |what: String, result: Result<(), EngineError>| match result {
        Ok(()) => removed.push(what),
        Err(error) => left.push(format!("{what} ({error})")),
    };

    let options = ListContainersOptionsBuilder::default().all(true).filters(&ours).build();
    let containers = client.list_containers(Some(options)).await.map_err(|error| failed("list containers", &error))?;
    for container in containers {
        let Some(run) = dead(container.labels.as_ref(), alive) else { continue };
        let Some(id) = container.id else { continue };
        let name = container.names.and_then(|names| names.into_iter().next()).unwrap_or_else(|| id.clone());
        let what = format!("container `{}` of run `{run}`", name.trim_start_matches('/'));
        tell(what, remove_container(client, &id).await);
    }

    let options = ListNetworksOptionsBuilder::default().filters(&ours).build();
    let networks = client.list_networks(Some(options)).await.map_err(|error| failed("list networks", &error))?;
    for network in networks {
        let Some(run) = dead(network.labels.as_ref(), alive) else { continue };
        let Some(id) = network.id else { continue };
        let name = network.name.unwrap_or_else(|| id.clone());
        tell(format!("network `{name}` of run `{run}`"), remove_network(client, &id, &name).await);
    }

    let options = ListVolumesOptionsBuilder::default().filters(&ours).build();
    let volumes = client.list_volumes(Some(options)).await.map_err(|error| failed("list volumes", &error))?;
    for volume in volumes.volumes.into_iter().flatten() {
        let Some(run) = dead(Some(&volume.labels), alive) else { continue };
        tell(format!("volume `{}` of run `{run}`", volume.name), remove_volume(client, &volume.name).await);
    }

    if left.is_empty() {
        Ok(removed)
    } else {
        Err(EngineError::Call { operation: "clean up".into(), reason: format!("left: {}", left.join(", ")) })
    }
}

/// The run of these labels when it is ours and not alive. The label is checked here again: a daemon that ignores the filter
/// must not make us remove what belongs to others.
///
/// Of runs on other hosts nobody here knows whether they are alive. What bears no host is of a version that had one host only.
fn dead<'a>(labels: Option<&'a HashMap<String, String>>, alive: &[String]) -> Option<&'a str> {
    let run = labels?.get(LABEL_RUN)?;
    let here = labels?.get(LABEL_HOST).is_none_or(|host| host == this_host());
    (here && !alive.contains(run)).then_some(run)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_labelled_and_dead_is_ours_to_remove() {
        let labels = |name: &str, value: &str| Some(HashMap::from([(name.to_owned(), value.to_owned())]));
        let alive = ["now".to_owned()];
        assert_eq!(dead(labels(LABEL_RUN, "old").as_ref(), &alive), Some("old"));
        assert_eq!(dead(labels(LABEL_RUN, "now").as_ref(), &alive), None);
        assert_eq!(dead(labels("other", "old").as_ref(), &alive), None);
        assert_eq!(dead(None, &alive), None);
        let of_host =
            |host: &str| Some(HashMap::from([(LABEL_RUN.to_owned(), "old".to_owned()), (LABEL_HOST.to_owned(), host.to_owned())]));
        assert_eq!(dead(of_host(this_host()).as_ref(), &alive), Some("old"));
        assert_eq!(dead(of_host("another").as_ref(), &alive), None);
    }
}
