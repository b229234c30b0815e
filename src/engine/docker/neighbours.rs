//! What else runs on the daemon: containers without our label.

use super::failed;
use crate::engine::{EngineError, LABEL_RUN};
use bollard::models::ContainerSummary;
use bollard::query_parameters::ListContainersOptionsBuilder;

/// Names of the running containers of others, in order.
pub(super) async fn list(client: &bollard::Docker) -> Result<Vec<String>, EngineError> {
    let options = ListContainersOptionsBuilder::default().build();
    let running = client.list_containers(Some(options)).await.map_err(|error| failed("list containers", &error))?;
    Ok(others(running))
}

fn others(running: Vec<ContainerSummary>) -> Vec<String> {
    let ours = |container: &ContainerSummary| container.labels.as_ref().is_some_and(|labels| labels.contains_key(LABEL_RUN));
    let name = |container: ContainerSummary| {
        let name = container.names.unwrap_or_default().into_iter().next().or(container.id).unwrap_or_default();
        name.trim_start_matches('/').to_owned()
    };
    let mut names: Vec<String> = running.into_iter().filter(|container| !ours(container)).map(name).collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_containers_without_our_label() {
        let container = |name: Option<&str>, label: &str| ContainerSummary {
            id: Some("0f".to_owned()),
            names: name.map(|name| vec![format!("/{name}")]),
            labels: Some([(label.to_owned(), "x".to_owned())].into()),
            ..ContainerSummary::default()
        };
        let bare = ContainerSummary { names: Some(vec!["/web".to_owned()]), ..ContainerSummary::default() };
        let running = vec![bare, container(Some("ours"), LABEL_RUN), container(None, "other"), container(Some("db"), "shakedown")];
        assert_eq!(others(running), ["0f", "db", "web"]);
        assert_eq!(others(Vec::new()), Vec::<String>::new());
    }
}
