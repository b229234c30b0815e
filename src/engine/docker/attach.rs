//! What a container is attached to, in the daemon's words: networks, published ports and mounts. Pure.
//!
//! The names of networks and volumes are the daemon's own by now; those of the manifest are not known here.

use super::labels;
use crate::engine::UnitName;
use crate::model::spec::UnitSpec;
use crate::model::stack::{MountSource, MountSpec, PortSpec};
use bollard::models::{EndpointSettings, Mount, MountTmpfsOptions, MountType, MountVolumeOptions, NetworkingConfig, PortBinding, PortMap};

/// The network that the daemon is told when it creates the container: older ones take one only.
pub(super) fn network_mode(spec: &UnitSpec) -> Option<String> {
    spec.container.networks.first().or(spec.container.network_mode.as_ref()).cloned()
}

/// That network, where the container is known by its unit's name.
pub(super) fn first_network(name: &UnitName, spec: &UnitSpec) -> Option<NetworkingConfig> {
    let first = spec.container.networks.first()?;
    Some(NetworkingConfig { endpoints_config: Some([(first.clone(), endpoint(name))].into()) })
}

/// Networks that are joined between the creation and the start.
pub(super) fn further_networks(spec: &UnitSpec) -> &[String] {
    spec.container.networks.get(1..).unwrap_or_default()
}

/// A place in a network under the unit's name.
pub(super) fn endpoint(name: &UnitName) -> EndpointSettings {
    EndpointSettings { aliases: Some(vec![name.unit.clone()]), ..EndpointSettings::default() }
}

/// The container's ports that are published, each once; none without any.
pub(super) fn exposed(ports: &[PortSpec]) -> Option<Vec<String>> {
    let mut exposed: Vec<String> = ports.iter().map(key).collect();
    exposed.sort();
    exposed.dedup();
    (!exposed.is_empty()).then_some(exposed)
}

/// Where each of them is published; none without any. An empty text is the daemon's word for every address and for any free port.
pub(super) fn bindings(ports: &[PortSpec]) -> Option<PortMap> {
    let mut map = PortMap::new();
    for port in ports {
        let binding = PortBinding {
            host_ip: Some(port.host_ip.map_or_else(String::new, |ip| ip.to_string())),
            host_port: Some(port.host_port.map_or_else(String::new, |port| port.to_string())),
        };
        map.entry(key(port)).or_default().get_or_insert_default().push(binding);
    }
    (!map.is_empty()).then_some(map)
}

fn key(port: &PortSpec) -> String {
    format!("{}/{}", port.port, port.protocol)
}

/// The mounts of the unit; none without any.
pub(super) fn mounts(name: &UnitName, mounts: &[MountSpec]) -> Option<Vec<Mount>> {
    (!mounts.is_empty()).then(|| mounts.iter().map(|mount| one_mount(name, mount)).collect())
}

fn one_mount(name: &UnitName, mount: &MountSpec) -> Mount {
    // A volume that the daemon makes by itself can be found again by its labels.
    let volume = |source: Option<&String>| Mount {
        typ: Some(MountType::VOLUME),
        source: source.cloned(),
        volume_options: Some(MountVolumeOptions { labels: Some(labels(name)), ..MountVolumeOptions::default() }),
        ..Mount::default()
    };
    let made = match &mount.source {
        MountSource::Volume(source) => volume(Some(source)),
        MountSource::Anonymous => volume(None),
        // Unlike the older way to ask for one, this never makes a folder on the host that is not there.
        MountSource::Bind(path) => {
            Mount { typ: Some(MountType::BIND), source: Some(path.to_string_lossy().into_owned()), ..Mount::default() }
        }
        MountSource::Tmpfs(bytes) => Mount {
            typ: Some(MountType::TMPFS),
            tmpfs_options: bytes.map(|bytes| MountTmpfsOptions {
                size_bytes: Some(i64::try_from(bytes).unwrap_or(i64::MAX)),
                ..MountTmpfsOptions::default()
            }),
            ..Mount::default()
        },
    };
    Mount { target: Some(mount.target.to_string_lossy().into_owned()), read_only: Some(mount.read_only), ..made }
}

#[cfg(test)]
mod tests {
    use super::super::create::tests::{name, spec};
    use super::*;

    #[test]
    fn the_first_network_is_joined_at_once_and_the_others_later() {
        let mut wanted = spec(&["true"]);
        assert_eq!((network_mode(&wanted), first_network(&name(), &wanted), further_networks(&wanted).len()), (None, None, 0));
        wanted.container.network_mode = Some("host".into());
        assert_eq!(network_mode(&wanted).as_deref(), Some("host"));
        wanted.container.network_mode = None;
        wanted.container.networks = vec!["front".into(), "back".into(), "side".into()];
        assert_eq!(
            (network_mode(&wanted).as_deref(), further_networks(&wanted)),
            (Some("front"), ["back", "side"].map(String::from).as_slice())
        );
        let first = first_network(&name(), &wanted).and_then(|config| config.endpoints_config).expect("endpoints");
        assert_eq!(
            first.into_iter().map(|(name, end)| (name, end.aliases)).collect::<Vec<_>>(),
            [("front".to_owned(), Some(vec!["web".to_owned()]))]
        );
    }

    #[test]
    fn a_port_is_exposed_once_and_published_where_it_was_asked() {
        let port = |host_ip: Option<&str>, host_port, port, protocol: &str| PortSpec {
            host_ip: host_ip.map(|ip| ip.parse().expect("address")),
            host_port,
            port,
            protocol: protocol.into(),
        };
        let ports = [
            port(None, None, 80, "tcp"),
            port(Some("127.0.0.1"), Some(5000), 80, "tcp"),
            port(Some("::1"), Some(5000), 80, "tcp"),
            port(None, Some(53), 53, "udp"),
        ];
        assert_eq!((exposed(&[]), bindings(&[])), (None, None));
        assert_eq!(exposed(&ports), Some(vec!["53/udp".to_owned(), "80/tcp".to_owned()]));
        let map = bindings(&ports).expect("bindings");
        let told = |key: &str| -> Vec<(String, String)> {
            let list = map[key].clone().expect("list");
            list.into_iter().map(|one| (one.host_ip.unwrap_or_default(), one.host_port.unwrap_or_default())).collect()
        };
        let pair = |ip: &str, port: &str| (ip.to_owned(), port.to_owned());
        assert_eq!(told("80/tcp"), [pair("", ""), pair("127.0.0.1", "5000"), pair("::1", "5000")]);
        assert_eq!(told("53/udp"), [pair("", "53")]);
    }

    #[test]
    fn each_kind_of_mount_has_its_own_words() {
        let mount = |source, read_only| MountSpec { source, target: "/data".into(), read_only };
        let table = [
            (mount(MountSource::Volume("v".into()), false), MountType::VOLUME, Some("v"), None),
            (mount(MountSource::Anonymous, false), MountType::VOLUME, None, None),
            (mount(MountSource::Bind("/srv".into()), true), MountType::BIND, Some("/srv"), None),
            (mount(MountSource::Tmpfs(None), false), MountType::TMPFS, None, None),
            (mount(MountSource::Tmpfs(Some(4096)), false), MountType::TMPFS, None, Some(4096)),
        ];
        assert_eq!(mounts(&name(), &[]), None);
        for (wanted, kind, source, bytes) in table {
            let made = mounts(&name(), std::slice::from_ref(&wanted)).and_then(|mounts| mounts.into_iter().next()).expect("mount");
            assert_eq!((made.typ, made.source.as_deref(), made.target.as_deref()), (Some(kind), source, Some("/data")));
            assert_eq!((made.read_only, made.tmpfs_options.and_then(|options| options.size_bytes)), (Some(wanted.read_only), bytes));
            let labelled = made.volume_options.and_then(|options| options.labels).is_some_and(|labels| labels["shakedown.trial"] == "b1-2");
            assert_eq!(labelled, kind == MountType::VOLUME);
        }
    }
}
