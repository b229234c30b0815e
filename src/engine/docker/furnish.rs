//! Networks and volumes of a trial: made before its units, removed after them.
//!
//! What is there already under a trial's labels is what a dead attempt of it left: it is removed first, because an older daemon
//! makes a second network of the same name, and every daemon hands out an old volume with its content.

use super::removal::{remove_network, remove_volume};
use super::{Docker, failed, labels};
use crate::engine::{EngineError, Furniture, LABEL_RUN, LABEL_TRIAL, UnitName};
use crate::model::stack::{NetworkSpec, VolumeSpec};
use bollard::models::{Ipam, IpamConfig, NetworkCreateRequest, VolumeCreateRequest};
use bollard::query_parameters::{ListNetworksOptionsBuilder, ListVolumesOptionsBuilder};
use sha2::{Digest, Sha256};
use std::collections::HashMap;

/// Makes what the trial of `name` stands in.
pub(super) async fn furnish(docker: &Docker, name: &UnitName, furniture: Furniture<'_>) -> Result<(), EngineError> {
    let problems = furniture.networks.iter().filter_map(|network| no_driver(docker, network));
    if let Some(what) = problems.chain(furniture.volumes.iter().filter_map(no_volume)).next() {
        return Err(EngineError::Unsupported { what });
    }
    clear(&docker.client, name, furniture).await?;
    for spec in furniture.networks {
        let request = network(name, spec);
        let operation = format!("create network `{}`", request.name);
        docker.client.create_network(request).await.map_err(|error| failed(operation, &error))?;
    }
    for spec in furniture.volumes {
        let engine_name = name.volume(&spec.name, spec.keep);
        let operation = format!("create volume `{engine_name}`");
        let made = docker.client.create_volume(volume(name, spec)).await.map_err(|error| failed(&operation, &error))?;
        // A volume that is there already is answered like a new one.
        if made.labels.get(LABEL_RUN) != Some(&name.run) {
            let reason = "a volume of that name exists that is not ours; remove it".to_owned();
            return Err(EngineError::Call { operation, reason });
        }
    }
    Ok(())
}

/// Removes the networks and volumes of the trial of `name`, by their labels; what is kept for the run has none of a trial.
pub(super) async fn clear(client: &bollard::Docker, name: &UnitName, furniture: Furniture<'_>) -> Result<(), EngineError> {
    let ours = |labels: Option<&HashMap<String, String>>| {
        labels.is_some_and(|labels| labels.get(LABEL_RUN) == Some(&name.run) && labels.get(LABEL_TRIAL) == Some(&name.trial))
    };
    let filters = HashMap::from([("label", vec![format!("{LABEL_RUN}={}", name.run), format!("{LABEL_TRIAL}={}", name.trial)])]);
    let mut result = Ok(());
    if !furniture.networks.is_empty() {
        let options = ListNetworksOptionsBuilder::default().filters(&filters).build();
        let networks = client.list_networks(Some(options)).await.map_err(|error| failed("list networks", &error))?;
        for network in networks.into_iter().filter(|network| ours(network.labels.as_ref())) {
            let Some(id) = network.id else { continue };
            result = result.and(remove_network(client, &id, network.name.as_deref().unwrap_or(&id)).await);
        }
    }
    if furniture.volumes.iter().any(|volume| !volume.keep) {
        let options = ListVolumesOptionsBuilder::default().filters(&filters).build();
        let volumes = client.list_volumes(Some(options)).await.map_err(|error| failed("list volumes", &error))?;
        for volume in volumes.volumes.into_iter().flatten().filter(|volume| ours(Some(&volume.labels))) {
            result = result.and(remove_volume(client, &volume.name).await);
        }
    }
    result
}

/// Why the daemon cannot make the network; a daemon that names no drivers is taken to have it.
fn no_driver(docker: &Docker, network: &NetworkSpec) -> Option<String> {
    let drivers = docker.abilities.info.plugins.as_ref()?.network.as_ref().filter(|drivers| !drivers.is_empty())?;
    let NetworkSpec { name, driver, .. } = network;
    (!drivers.contains(driver)).then(|| format!("network `{name}`: the engine has no driver `{driver}`; use one of {}", drivers.join(", ")))
}

/// Why no daemon can make the volume.
fn no_volume(volume: &VolumeSpec) -> Option<String> {
    let name = &volume.name;
    if let Some(from) = &volume.from {
        let from = from.display();
        return Some(format!(
            "volume `{name}`: a container engine cannot begin a volume with a folder; instead of `from: {from}` give \
             `files: [{{source: {from}, target: ...}}]` to a container that mounts it, with its target"
        ));
    }
    (volume.keep && volume.tmpfs_bytes.is_some()).then(|| {
        format!("volume `{name}`: what is in memory is gone when no container uses it: it cannot be kept; remove `keep` or the tmpfs")
    })
}

fn network(name: &UnitName, spec: &NetworkSpec) -> NetworkCreateRequest {
    let engine_name = name.network(&spec.name);
    let v6 = |subnet: &String| subnet.contains(':');
    // Daemons before version 27 have no IPv6 subnets of their own to give.
    let own = (spec.ipv6 && !spec.subnet.as_ref().is_some_and(v6)).then(|| unique_local(&engine_name));
    let config: Vec<IpamConfig> =
        spec.subnet.iter().cloned().chain(own).map(|subnet| IpamConfig { subnet: Some(subnet), ..IpamConfig::default() }).collect();
    NetworkCreateRequest {
        driver: Some(spec.driver.clone()),
        internal: Some(spec.internal),
        enable_ipv6: Some(spec.ipv6 || spec.subnet.as_ref().is_some_and(v6)),
        options: (!spec.driver_opts.is_empty()).then(|| spec.driver_opts.iter().cloned().collect()),
        ipam: (!config.is_empty()).then(|| Ipam { config: Some(config), ..Ipam::default() }),
        labels: Some(labels(name)),
        name: engine_name,
        ..NetworkCreateRequest::default()
    }
}

/// A unique local subnet (RFC 4193) of 64 bits that the name stands for.
fn unique_local(name: &str) -> String {
    let digest = Sha256::digest(name);
    format!(
        "fd{:02x}:{:02x}{:02x}:{:02x}{:02x}:{:02x}{:02x}::/64",
        digest[0], digest[1], digest[2], digest[3], digest[4], digest[5], digest[6]
    )
}

fn volume(name: &UnitName, spec: &VolumeSpec) -> VolumeCreateRequest {
    let mut labels = labels(name);
    if spec.keep {
        labels.remove(LABEL_TRIAL);
    }
    let tmpfs = spec.tmpfs_bytes.map(|bytes| {
        let options = [("type", "tmpfs".to_owned()), ("device", "tmpfs".to_owned()), ("o", format!("size={bytes}"))];
        options.map(|(key, value)| (key.to_owned(), value)).into()
    });
    VolumeCreateRequest {
        name: Some(name.volume(&spec.name, spec.keep)),
        driver: Some("local".to_owned()),
        driver_opts: tmpfs,
        labels: Some(labels),
        ..VolumeCreateRequest::default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::create::tests::name;
    use super::*;

    fn net(subnet: Option<&str>, ipv6: bool) -> NetworkSpec {
        NetworkSpec {
            name: "front".into(),
            driver: "macvlan".into(),
            driver_opts: vec![("parent".into(), "eth0".into())],
            subnet: subnet.map(str::to_owned),
            internal: true,
            ipv6,
        }
    }

    fn subnets(spec: &NetworkSpec) -> Vec<String> {
        let config = network(&name(), spec).ipam.and_then(|ipam| ipam.config).unwrap_or_default();
        config.into_iter().filter_map(|one| one.subnet).collect()
    }

    #[test]
    fn a_network_has_our_labels_and_what_was_declared() {
        let made = network(&name(), &net(None, false));
        assert_eq!((made.name.as_str(), made.driver.as_deref()), ("shakedown-r1-b1-2-net-front", Some("macvlan")));
        assert_eq!((made.internal, made.enable_ipv6, made.ipam), (Some(true), Some(false), None));
        assert_eq!(made.options, Some([("parent".to_owned(), "eth0".to_owned())].into()));
        assert_eq!(made.labels.as_ref().and_then(|labels| labels.get(LABEL_TRIAL)).map(String::as_str), Some("b1-2"));
    }

    #[test]
    fn a_network_with_ipv6_always_has_a_subnet_for_it() {
        let own = unique_local("shakedown-r1-b1-2-net-front");
        assert!(own.starts_with("fd") && own.ends_with("::/64"), "{own}");
        let table = [
            (None, false, vec![]),
            (Some("10.9.0.0/24"), false, vec!["10.9.0.0/24"]),
            (Some("10.9.0.0/24"), true, vec!["10.9.0.0/24", own.as_str()]),
            (None, true, vec![own.as_str()]),
            (Some("fd00::/64"), true, vec!["fd00::/64"]),
        ];
        for (subnet, ipv6, expected) in table {
            assert_eq!(subnets(&net(subnet, ipv6)), expected);
        }
        assert_ne!(unique_local("a"), unique_local("b"));
    }

    #[test]
    fn only_a_kept_volume_belongs_to_no_trial() {
        let spec = |tmpfs_bytes, keep| VolumeSpec { name: "data".into(), tmpfs_bytes, keep, from: None };
        let table = [
            (spec(None, false), "shakedown-r1-b1-2-vol-data", true, None),
            (spec(None, true), "shakedown-r1-vol-data", false, None),
            (spec(Some(1 << 20), false), "shakedown-r1-b1-2-vol-data", true, Some("size=1048576")),
        ];
        for (spec, expected, of_trial, size) in table {
            let made = volume(&name(), &spec);
            let labels = made.labels.expect("labels");
            assert_eq!((made.name.as_deref(), labels.contains_key(LABEL_TRIAL)), (Some(expected), of_trial));
            assert_eq!(labels.get(LABEL_RUN).map(String::as_str), Some("r1"));
            assert_eq!(made.driver_opts.as_ref().and_then(|options| options.get("o")).map(String::as_str), size);
        }
    }

    #[test]
    fn volumes_that_no_daemon_can_make_say_what_to_do_instead() {
        let from = VolumeSpec { name: "data".into(), tmpfs_bytes: None, keep: false, from: Some("seed".into()) };
        assert!(no_volume(&from).is_some_and(|what| what.contains("files: [{source: seed, target: ...}]")));
        let kept = VolumeSpec { tmpfs_bytes: Some(1), keep: true, from: None, ..from.clone() };
        assert!(no_volume(&kept).is_some_and(|what| what.contains("remove `keep`")));
        assert_eq!(no_volume(&VolumeSpec { keep: false, ..kept }), None);
    }
}
