//! Networks, ports, mounts and files that the daemon refuses, or that would not be what they say.

use crate::engine::docker::connect::Abilities;
use crate::model::spec::{ContainerSpec, UnitSpec};
use crate::model::stack::{MountSource, PortSpec};
use std::path::Path;

/// Adds what is wrong with how `spec` is attached to the things around it.
pub(super) fn check(spec: &UnitSpec, abilities: &Abilities, problems: &mut Vec<String>) {
    network(&spec.container, abilities, problems);
    ports(&spec.container.ports, problems);
    mounts(spec, problems);
}

/// Settings that mean nothing, or that the daemon refuses, in the network namespace that is asked for.
fn network(container: &ContainerSpec, abilities: &Abilities, problems: &mut Vec<String>) {
    let Some(mode) = container.network_mode.as_deref() else { return };
    let shared = mode.starts_with("container:") || mode.starts_with("service:");
    let own = !shared && mode != "host" && mode != "none";
    if !container.networks.is_empty() {
        problems.push(format!("`networks` cannot go with `network_mode: {mode}`; declare one of them"));
    }
    if !container.ports.is_empty() && !own {
        let next = match mode {
            "host" => "its ports are the host's own: remove `ports`",
            "none" => "it has no network: remove `ports`, or use `network_mode: bridge`",
            _ => "declare them where the namespace is from",
        };
        problems.push(format!("`ports` cannot go with `network_mode: {mode}`: {next}"));
    }
    for (name, _) in container.sysctls.iter().filter(|(name, _)| (mode == "host" || shared) && name.starts_with("net.")) {
        problems.push(format!("`sysctls: {name}` would change a network that is not its own; it cannot go with `network_mode: {mode}`"));
    }
    let of_another = [("hostname", container.hostname.is_some()), ("extra_hosts", !container.extra_hosts.is_empty())];
    for (setting, _) in of_another.iter().filter(|(_, set)| shared && *set) {
        problems.push(format!("`{setting}` cannot go with `network_mode: {mode}`: declare it where the namespace is from"));
    }
    let options = abilities.info.security_options.iter().flatten();
    if mode == "host" && !abilities.podman() && options.into_iter().any(|option| option == "name=rootless") {
        problems.push("`network_mode: host` is not the host's network here: this engine is rootless; use one that is not".to_owned());
    }
}

/// Ports that can be published once only.
fn ports(ports: &[PortSpec], problems: &mut Vec<String>) {
    for (number, port) in ports.iter().enumerate() {
        let PortSpec { host_ip, host_port: Some(host_port), protocol, .. } = port else { continue };
        let meets = |other: &PortSpec| {
            let ip = host_ip.is_none() || other.host_ip.is_none() || other.host_ip == *host_ip;
            ip && other.host_port == Some(*host_port) && other.protocol == *protocol
        };
        if ports[..number].iter().any(meets) {
            problems.push(format!("`ports`: {host_port}/{protocol} of the host is published twice; choose another port for one of them"));
        }
    }
}

/// Mounts on one target, and files that would not be where they are expected.
fn mounts(spec: &UnitSpec, problems: &mut Vec<String>) {
    let container = &spec.container;
    let tmpfs = container.tmpfs.iter().map(|(target, _)| Path::new(target));
    let targets: Vec<&Path> = spec.volumes.iter().map(|mount| mount.target.as_path()).chain(tmpfs).collect();
    for (number, target) in targets.iter().enumerate() {
        if targets[..number].contains(target) {
            problems.push(format!("two mounts stand on `{}`; remove one of them", target.display()));
        }
    }
    for file in &spec.files {
        let target = file.target.display();
        if !file.target.is_absolute() || file.target.file_name().is_none() {
            problems.push(format!("the file `{target}` needs an absolute target"));
        }
        if let Some((mount, _)) = container.tmpfs.iter().find(|(mount, _)| file.target.starts_with(Path::new(mount))) {
            problems.push(format!("the file `{target}` would be hidden by the tmpfs on `{mount}`"));
        }
        let holders = spec.volumes.iter().filter(|mount| file.target.starts_with(&mount.target));
        let Some(mount) = holders.max_by_key(|mount| mount.target.components().count()) else {
            if container.read_only {
                problems.push(format!("the file `{target}` cannot be placed in a root file system that is `read_only`"));
            }
            continue;
        };
        let on = mount.target.display();
        match mount.source {
            MountSource::Tmpfs(_) => problems.push(format!("the file `{target}` would be hidden by the tmpfs on `{on}`")),
            MountSource::Bind(_) => problems.push(format!(
                "the file `{target}` would be written into the host's own folder that is mounted on `{on}`; put it there, or mount a volume"
            )),
            MountSource::Volume(_) | MountSource::Anonymous if mount.read_only => {
                problems.push(format!("the file `{target}` cannot be placed in a volume that is mounted read-only on `{on}`"));
            }
            MountSource::Volume(_) | MountSource::Anonymous => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{abilities, problems};
    use super::super::unsupported;
    use super::*;
    use crate::engine::docker::create::tests::spec;
    use crate::model::facts::EngineFacts;
    use crate::model::spec::FileSpec;
    use crate::model::stack::MountSpec;

    #[test]
    fn a_network_namespace_that_is_not_its_own_takes_no_ports_networks_or_names() {
        let port = PortSpec { host_ip: None, host_port: None, port: 80, protocol: "tcp".into() };
        let table = [
            (Some("bridge"), [0, 1, 0, 0]),
            (None, [0, 0, 0, 0]),
            (Some("host"), [1, 1, 0, 0]),
            (Some("none"), [1, 1, 0, 0]),
            (Some("container:x"), [1, 1, 1, 1]),
            (Some("service:db"), [1, 1, 1, 1]),
        ];
        for (mode, expected) in table {
            let with = |change: &dyn Fn(&mut ContainerSpec)| {
                problems(|spec| {
                    spec.container.network_mode = mode.map(str::to_owned);
                    change(&mut spec.container);
                })
                .len()
            };
            let told = [
                with(&|container| container.ports = vec![port.clone()]),
                with(&|container| container.networks = vec!["front".into()]),
                with(&|container| container.hostname = Some("h".into())),
                with(&|container| container.extra_hosts = vec!["db:10.0.0.1".into()]),
            ];
            assert_eq!(told, expected, "{mode:?}");
        }
        let told = problems(|spec| (spec.container.network_mode, spec.container.ports) = (Some("host".into()), vec![port]));
        assert_eq!(told, ["`ports` cannot go with `network_mode: host`: its ports are the host's own: remove `ports`"]);
    }

    #[test]
    fn the_host_s_network_is_not_to_be_had_from_a_rootless_engine() {
        let mut able = abilities();
        able.info.security_options = Some(vec!["name=seccomp,profile=default".into(), "name=rootless".into()]);
        let mut wanted = spec(&["true"]);
        wanted.container.network_mode = Some("host".into());
        let told = unsupported(&wanted, &EngineFacts::default(), &able);
        assert!(matches!(told.as_slice(), [one] if one.contains("this engine is rootless")), "{told:?}");
    }

    #[test]
    fn a_port_of_the_host_is_published_once() {
        let port = |ip: Option<&str>, host_port, protocol: &str| PortSpec {
            host_ip: ip.map(|ip| ip.parse().expect("address")),
            host_port,
            port: 80,
            protocol: protocol.into(),
        };
        let table = [
            (vec![port(None, None, "tcp"), port(None, None, "tcp")], 0),
            (vec![port(None, Some(53), "tcp"), port(None, Some(53), "udp")], 0),
            (vec![port(Some("127.0.0.1"), Some(80), "tcp"), port(Some("::1"), Some(80), "tcp")], 0),
            (vec![port(Some("127.0.0.1"), Some(80), "tcp"), port(None, Some(80), "tcp")], 1),
            (vec![port(None, Some(80), "tcp"), port(None, Some(80), "tcp")], 1),
        ];
        for (ports, expected) in table {
            assert_eq!(problems(|spec| spec.container.ports = ports.clone()).len(), expected, "{ports:?}");
        }
    }

    #[test]
    fn files_and_mounts_that_cover_each_other_are_told() {
        let mount = |source: MountSource, target: &str, read_only| MountSpec { source, target: target.into(), read_only };
        let table = [
            (vec![mount(MountSource::Anonymous, "/data", false)], true, ""),
            (vec![mount(MountSource::Volume("v".into()), "/data", true)], false, "read-only on `/data`"),
            (vec![mount(MountSource::Tmpfs(None), "/data", false)], false, "hidden by the tmpfs on `/data`"),
            (vec![mount(MountSource::Bind("/srv".into()), "/data", false)], false, "host's own folder that is mounted on `/data`"),
            (vec![mount(MountSource::Bind("/srv".into()), "/data", false), mount(MountSource::Anonymous, "/data/db", false)], true, ""),
            (vec![mount(MountSource::Tmpfs(None), "/data", false), mount(MountSource::Anonymous, "/data", false)], false, "two mounts"),
            (vec![], true, "`read_only`"),
        ];
        for (volumes, read_only, expected) in table {
            let told = problems(|spec| {
                spec.container.read_only = read_only;
                spec.files = vec![FileSpec::text("/data/db/x", "", 0o644)];
                spec.volumes = volumes;
            });
            assert!(
                told.len() == usize::from(!expected.is_empty()) && told.iter().all(|one| one.contains(expected)),
                "{expected}: {told:?}"
            );
        }
    }
}
