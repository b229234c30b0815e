//! A unit as the daemon sees it: addresses, published ports, a process of it, and the settings that it stands with.

use super::{Docker, failed};
use crate::engine::control::{Control, layout};
use crate::engine::{Created, EngineError, Standing};
use crate::model::stack::PortSpec;
use bollard::models::{ContainerInspectResponse, EndpointSettings, PortBinding};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Looks at a container.
pub(super) async fn inspect(docker: &Docker, unit: &Created) -> Result<Standing, EngineError> {
    let found = look(docker, &unit.id).await?;
    // Who stands in the namespace of another container has that one's addresses.
    let addresses = match network_mode(&found).and_then(|mode| mode.strip_prefix("container:")) {
        Some(other) => addresses(&look(docker, other).await?, &docker.units.networks(other)),
        None => addresses(&found, &docker.units.networks(&unit.id)),
    };
    let told = found.state.as_ref().and_then(|state| u32::try_from(state.pid?).ok()).filter(|pid| *pid > 0);
    let (id, leaf) = (unit.id.clone(), unit.leaf.clone());
    let pid = tokio::task::spawn_blocking(move || pid_here(told?, &id, &leaf));
    let pid = pid.await.map_err(|error| EngineError::Call { operation: "look for a process".into(), reason: error.to_string() })?;
    Ok(Standing { addresses, ports: ports(&found), pid, image: found.image.clone(), settings: settings(&found) })
}

async fn look(docker: &Docker, id: &str) -> Result<ContainerInspectResponse, EngineError> {
    docker.client.inspect_container(id, None).await.map_err(|error| failed(format!("look at container `{id}`"), &error))
}

fn network_mode(found: &ContainerInspectResponse) -> Option<&str> {
    found.host_config.as_ref()?.network_mode.as_deref()
}

/// The addresses of each network: those of `order` first, then any other by its name.
fn addresses(found: &ContainerInspectResponse, order: &[String]) -> Vec<IpAddr> {
    let networks = found.network_settings.iter().filter_map(|settings| settings.networks.as_ref()).flatten();
    let mut networks: Vec<(&String, &EndpointSettings)> = networks.collect();
    networks.sort_by_key(|(name, _)| (order.iter().position(|one| one == *name).unwrap_or(usize::MAX), *name));
    let both = networks.into_iter().flat_map(|(_, end)| [&end.ip_address, &end.global_ipv6_address]);
    both.filter_map(|address| address.as_deref()?.parse().ok()).collect()
}

/// The published ports by container port, address and host port. One that stands on every address of both families is told once
/// and without an address, as it is declared.
fn ports(found: &ContainerInspectResponse) -> Vec<PortSpec> {
    let every = |ip: Option<IpAddr>| ip.is_none_or(|ip| ip.is_unspecified());
    let (all_v4, all_v6) = (Some(IpAddr::V4(Ipv4Addr::UNSPECIFIED)), Some(IpAddr::V6(Ipv6Addr::UNSPECIFIED)));
    let map = found.network_settings.iter().filter_map(|settings| settings.ports.as_ref()).flatten();
    let mut ports: Vec<PortSpec> =
        map.flat_map(|(key, bindings)| bindings.iter().flatten().filter_map(|binding| port(key, binding))).collect();
    ports.sort_by(|a, b| (a.port, &a.protocol, a.host_ip, a.host_port).cmp(&(b.port, &b.protocol, b.host_ip, b.host_port)));
    let mut merged: Vec<PortSpec> = Vec::new();
    for port in ports {
        let twin = |other: &&mut PortSpec| {
            let same = (other.port, other.host_port, &other.protocol) == (port.port, port.host_port, &port.protocol);
            same && every(other.host_ip) && every(port.host_ip)
        };
        match merged.iter_mut().find(twin) {
            Some(other) if other.host_ip == all_v4 && port.host_ip == all_v6 => other.host_ip = None,
            Some(_) => {}
            None => merged.push(port),
        }
    }
    merged
}

/// A binding of a port such as `80/tcp`; none when it is not bound or not understood. An empty address is every one.
fn port(key: &str, binding: &PortBinding) -> Option<PortSpec> {
    let (port, protocol) = key.split_once('/').unwrap_or((key, "tcp"));
    let host_ip = match binding.host_ip.as_deref() {
        None | Some("") => None,
        Some(address) => Some(address.parse().ok()?),
    };
    let host_port = Some(binding.host_port.as_deref()?.parse().ok()?);
    Some(PortSpec { host_ip, host_port, port: port.parse().ok()?, protocol: protocol.to_owned() })
}

/// The settings that can be held against what was asked, sorted by name.
fn settings(found: &ContainerInspectResponse) -> Vec<(String, String)> {
    let mode = network_mode(found).map(|mode| ("network_mode".to_owned(), mode.to_owned()));
    let driver = found.graph_driver.as_ref().map(|driver| driver.name.clone()).filter(|name| !name.is_empty()).or(found.driver.clone());
    let driver = driver.map(|driver| ("storage_driver".to_owned(), driver));
    let mounts = found.mounts.iter().flatten().filter_map(|mount| Some((mount.destination.as_ref()?, mount.typ.as_ref()?.to_string())));
    let tmpfs = found.host_config.iter().filter_map(|host| host.tmpfs.as_ref()).flatten();
    let mounts = mounts.chain(tmpfs.map(|(target, _)| (target, "tmpfs".to_owned())));
    let mut settings: Vec<(String, String)> =
        mode.into_iter().chain(driver).chain(mounts.map(|(target, kind)| (format!("mount {target}"), kind))).collect();
    settings.sort();
    settings
}

/// A process of the container in this host's numbers. The daemon's own number is one of them only where it shares our pid
/// namespace, which the kernel's word on that process's control group shows; else the container's own group is asked, whose
/// first process has the smallest number.
fn pid_here(told: u32, id: &str, leaf: &str) -> Option<u32> {
    let groups = std::fs::read_to_string(format!("/proc/{told}/cgroup")).unwrap_or_default();
    if groups.contains(id) {
        return Some(told);
    }
    Control::new(layout().ok()?).members(leaf).first().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(json: &str) -> ContainerInspectResponse {
        serde_json::from_str(json).expect("an answer of the daemon")
    }

    #[test]
    fn addresses_stand_in_the_order_of_the_networks() {
        let found = found(
            r#"{"NetworkSettings": {"Networks": {
                "a": {"IPAddress": "10.0.0.2", "GlobalIPv6Address": ""},
                "b": {"IPAddress": "10.1.0.2", "GlobalIPv6Address": "fd00::2"},
                "c": {"IPAddress": "", "GlobalIPv6Address": ""}}}}"#,
        );
        let told = |order: &[&str]| -> Vec<String> {
            let order: Vec<String> = order.iter().map(|name| (*name).to_owned()).collect();
            addresses(&found, &order).iter().map(ToString::to_string).collect()
        };
        assert_eq!(told(&["b", "a"]), ["10.1.0.2", "fd00::2", "10.0.0.2"]);
        assert_eq!(told(&[]), ["10.0.0.2", "10.1.0.2", "fd00::2"]);
        assert_eq!(addresses(&ContainerInspectResponse::default(), &[]), Vec::<IpAddr>::new());
    }

    #[test]
    fn ports_are_told_as_they_became() {
        let found = found(
            r#"{"NetworkSettings": {"Ports": {
                "80/tcp": [{"HostIp": "0.0.0.0", "HostPort": "8080"}, {"HostIp": "::", "HostPort": "8080"}, {"HostIp": "::1", "HostPort": "81"}],
                "53/udp": [{"HostIp": "0.0.0.0", "HostPort": "53"}, {"HostIp": "::", "HostPort": "54"}],
                "90/tcp": [{"HostIp": "", "HostPort": "90"}, {"HostIp": "127.0.0.1", "HostPort": ""}],
                "22/tcp": null}}}"#,
        );
        let told: Vec<String> = ports(&found)
            .into_iter()
            .map(|port| {
                let host = port.host_ip.map_or_else(|| "*".to_owned(), |ip| ip.to_string());
                format!("{host} {} {}/{}", port.host_port.unwrap_or_default(), port.port, port.protocol)
            })
            .collect();
        assert_eq!(told, ["0.0.0.0 53 53/udp", ":: 54 53/udp", "* 8080 80/tcp", "::1 81 80/tcp", "* 90 90/tcp"]);
    }

    #[test]
    fn settings_are_what_can_be_compared() {
        let found = found(
            r#"{"Driver": "overlay2", "GraphDriver": {"Name": "btrfs", "Data": null}, "HostConfig": {"NetworkMode": "host", "Tmpfs": {"/t": ""}},
                "Mounts": [{"Type": "volume", "Destination": "/v"}, {"Type": "bind", "Destination": "/b"}]}"#,
        );
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let expected = [
            pair("mount /b", "bind"),
            pair("mount /t", "tmpfs"),
            pair("mount /v", "volume"),
            pair("network_mode", "host"),
            pair("storage_driver", "btrfs"),
        ];
        assert_eq!(settings(&found), expected);
        let older = ContainerInspectResponse { driver: Some("vfs".into()), ..ContainerInspectResponse::default() };
        assert_eq!(settings(&older), [pair("storage_driver", "vfs")]);
    }

    #[test]
    fn a_pid_that_the_kernel_does_not_confirm_is_not_told() {
        assert_eq!(pid_here(std::process::id(), "no such container", "shakedown/no-such-group"), None);
    }
}
