//! Compose's short and long forms of published ports and of mounts.

use super::Problems;
use crate::model::quantity;
use crate::model::spec::{Place, UnitSpec};
use crate::model::stack::{MountSource, MountSpec, PortSpec};
use crate::model::tree::{Node, Tree};
use core::net::IpAddr;
use std::path::{Path, PathBuf};

/// Every item of a list; a single one stands for a list of one.
fn items<'t>(tree: &'t Tree, key: &str) -> &'t [Tree] {
    match tree.get(key) {
        None | Some(Tree { node: Node::Null, .. }) => &[],
        Some(Tree { node: Node::Seq(items), .. }) => items,
        Some(single) => std::slice::from_ref(single),
    }
}

pub(super) fn ports(tree: &Tree, problems: &mut Problems) -> Vec<PortSpec> {
    items(tree, "ports")
        .iter()
        .filter_map(|item| if matches!(item.node, Node::Map(_)) { long_port(item, problems) } else { short_port(item, problems) })
        .collect()
}

fn short_port(item: &Tree, problems: &mut Problems) -> Option<PortSpec> {
    let text = problems.text(item);
    let read = read_port(&text);
    if let Err(why) = &read {
        problems.error(item, format!("`ports`: `{text}` {why}; write it `127.0.0.1:8080:80`, `8080:80`, `80` or `[::1]:8080:80/tcp`"));
    }
    read.ok()
}

/// `[[ADDRESS:]HOST:]PORT[/PROTOCOL]`; an IPv6 address stands in brackets.
fn read_port(text: &str) -> Result<PortSpec, String> {
    let (rest, protocol) = text.rsplit_once('/').unwrap_or((text, "tcp"));
    if !matches!(protocol, "tcp" | "udp") {
        return Err(format!("names the protocol `{protocol}`, and not tcp or udp"));
    }
    let (rest, port) = rest.rsplit_once(':').map_or((None, rest), |(rest, port)| (Some(rest), port));
    let (address, published) = match rest {
        None => (None, None),
        Some(rest) if rest.ends_with(']') => (Some(rest), None),
        Some(rest) => rest.rsplit_once(':').map_or((None, Some(rest)), |(address, published)| (Some(address), Some(published))),
    };
    let number = |text: &str| text.parse::<u16>().ok().filter(|port| *port > 0).ok_or_else(|| format!("has no port `{text}`"));
    let address = address.filter(|address| !address.is_empty()).map(read_address).transpose()?;
    let published = published.filter(|published| !published.is_empty()).map(number).transpose()?;
    Ok(PortSpec { host_ip: address, host_port: published, port: number(port)?, protocol: protocol.to_owned() })
}

fn read_address(text: &str) -> Result<IpAddr, String> {
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    bare.parse().map_err(|_| format!("has no address `{text}`: a name may mean another one tomorrow, write the address itself"))
}

fn long_port(item: &Tree, problems: &mut Problems) -> Option<PortSpec> {
    let number = |text: &str| text.parse::<u16>().ok().filter(|port| *port > 0).ok_or_else(|| format!("`{text}` is not a port"));
    Some(PortSpec {
        host_ip: problems.read(item, "host_ip", read_address),
        host_port: problems.read(item, "published", number),
        port: problems.read(item, "target", number)?,
        protocol: problems.some_text(item, "protocol").unwrap_or_else(|| "tcp".to_owned()),
    })
}

pub(super) fn mounts(tree: &Tree, problems: &mut Problems) -> Vec<MountSpec> {
    let mut mounts: Vec<MountSpec> = Vec::new();
    for item in items(tree, "volumes") {
        let mount = if matches!(item.node, Node::Map(_)) { long_mount(item, problems) } else { short_mount(item, problems) };
        let Some(mount) = mount else { continue };
        let escapes = mount.target.components().any(|part| matches!(part, std::path::Component::ParentDir));
        if !mount.target.is_absolute() || escapes {
            problems.error(item, format!("`volumes`: the target `{}` is not an absolute path without `..`", mount.target.display()));
        } else if mounts.iter().any(|other| other.target == mount.target) {
            problems.error(item, format!("`volumes`: `{}` is mounted twice", mount.target.display()));
        } else {
            mounts.push(mount);
        }
    }
    mounts
}

/// `[SOURCE:]TARGET[:ro]`; a source that is a path is bound, any other names a volume.
fn short_mount(item: &Tree, problems: &mut Problems) -> Option<MountSpec> {
    let text = problems.text(item);
    let parts: Vec<&str> = text.split(':').collect();
    let (source, target, options) = match parts.as_slice() {
        [target] => (None, *target, None),
        [target, options @ ("ro" | "rw")] => (None, *target, Some(*options)),
        [source, target] => (Some(*source), *target, None),
        [source, target, options] => (Some(*source), *target, Some(*options)),
        _ => {
            problems.error(item, format!("`volumes`: `{text}` has too many parts; write it `data:/var/lib/x` or `./folder:/x:ro`"));
            return None;
        }
    };
    let read_only = match options {
        None | Some("rw") => false,
        Some("ro") => true,
        Some(other) => {
            problems.error(item, format!("`volumes`: `{other}` is not `ro` or `rw`"));
            return None;
        }
    };
    let source = match source {
        None => MountSource::Anonymous,
        Some(path) if path.starts_with(['/', '.', '~']) => MountSource::Bind(PathBuf::from(path)),
        Some(name) => MountSource::Volume(name.to_owned()),
    };
    Some(MountSpec { source, target: PathBuf::from(target), read_only })
}

fn long_mount(item: &Tree, problems: &mut Problems) -> Option<MountSpec> {
    let source = problems.some_text(item, "source");
    let size = problems.size(item, "size");
    let kind = problems.some_text(item, "type").unwrap_or_default();
    if size.is_some() && kind != "tmpfs" {
        problems.error(item.get("size").unwrap_or(item), "`size` limits a tmpfs only; the size of a data root is `engine.backing.size`");
    }
    let source = match (kind.as_str(), source) {
        ("tmpfs", None) => MountSource::Tmpfs(size),
        ("tmpfs", Some(_)) => {
            problems.error(item.get("source").unwrap_or(item), "a tmpfs has no `source`");
            return None;
        }
        ("volume", None) => MountSource::Anonymous,
        ("volume", Some(name)) => MountSource::Volume(name),
        ("bind", Some(path)) => MountSource::Bind(PathBuf::from(path)),
        ("bind", None) => {
            problems.error(item, "a bind mount needs a `source`");
            return None;
        }
        _ => return None,
    };
    let target = problems.some_text(item, "target").unwrap_or_default();
    Some(MountSpec { source, target: PathBuf::from(target), read_only: problems.bool(item, "read_only") })
}

/// What hides what: two mounts at one target, and files that a container would not see below a mount that is empty or the host's.
pub(super) fn overlaps(unit: &UnitSpec, tree: &Tree, problems: &mut Problems) {
    let at = |key: &str| tree.get(key).unwrap_or(tree);
    let tmpfs: Vec<&Path> = unit.container.tmpfs.iter().map(|(target, _)| Path::new(target.as_str())).collect();
    for (number, target) in tmpfs.iter().enumerate() {
        if tmpfs[..number].contains(target) || unit.volumes.iter().any(|mount| mount.target == **target) {
            problems.error(at("tmpfs"), format!("`tmpfs`: `{}` is mounted twice", target.display()));
        }
    }
    if unit.place == Place::Host {
        return;
    }
    let bound = unit.volumes.iter().filter_map(|mount| match mount.source {
        MountSource::Bind(_) => Some((mount.target.as_path(), "the host's own folder")),
        MountSource::Tmpfs(_) => Some((mount.target.as_path(), "a tmpfs, which begins empty")),
        MountSource::Volume(_) | MountSource::Anonymous => None,
    });
    let hiding: Vec<(&Path, &str)> = bound.chain(tmpfs.iter().map(|target| (*target, "a tmpfs, which begins empty"))).collect();
    for file in &unit.files {
        if let Some((target, what)) = hiding.iter().find(|(target, _)| file.target.starts_with(target)) {
            let message = format!("`files`: `{}` would be hidden: at `{}` is {what}", file.target.display(), target.display());
            problems.error(at("files"), message);
        }
    }
}

/// `tmpfs` of a service in Compose's short form: target and options of the mount.
pub(super) fn tmpfs(text: &str) -> (String, String) {
    text.split_once(':').map_or_else(|| (text.to_owned(), String::new()), |(target, options)| (target.to_owned(), options.to_owned()))
}

/// The size that a text means, for messages of one form.
pub(super) fn size(text: &str) -> Result<u64, String> {
    quantity::size(text).map_err(|error| format!("{error}; write it {}", error.example()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_in_composes_short_form() {
        let port = |host_ip: Option<&str>, host_port, port, protocol: &str| PortSpec {
            host_ip: host_ip.map(|ip| ip.parse().expect("address")),
            host_port,
            port,
            protocol: protocol.into(),
        };
        let table = [
            ("80", port(None, None, 80, "tcp")),
            ("8080:80", port(None, Some(8080), 80, "tcp")),
            ("127.0.0.1:5000:80", port(Some("127.0.0.1"), Some(5000), 80, "tcp")),
            ("127.0.0.1::80/udp", port(Some("127.0.0.1"), None, 80, "udp")),
            ("[::1]:5000:80", port(Some("::1"), Some(5000), 80, "tcp")),
            ("::1:5000:80", port(Some("::1"), Some(5000), 80, "tcp")),
        ];
        for (text, expected) in table {
            assert_eq!(read_port(text), Ok(expected), "{text}");
        }
        for text in ["", "0", "x", "80/sctp", "localhost:80:80", "70000:80", "1:2:3:4:5:80", "-1"] {
            assert!(read_port(text).is_err(), "{text}");
        }
    }
}
