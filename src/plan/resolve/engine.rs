//! The engine of a trial: a daemon that runs anyway, or how a private one is set.

use super::Problems;
use crate::model::private::{BACKING_BYTES, Backing, Filesystem, PrivateSpec, STORAGE_DRIVER, TAKEN_KEYS};
use crate::model::spec::EngineSpec;
use crate::model::tree::{Node, Tree};
use crate::plan::bind::tree_to_json;
use std::collections::BTreeMap;

/// Settings that belong to a daemon: any of them asks for a private one.
const PRIVATE: &[&str] = &["storage_driver", "userland_proxy", "iptables", "backing", "binary", "daemon"];

pub(super) fn engine(tree: Option<&Tree>, problems: &mut Problems) -> EngineSpec {
    let Some(tree) = tree.filter(|tree| !tree.is_null()) else { return EngineSpec::default() };
    let host = problems.some_text(tree, "host");
    let asks = PRIVATE.iter().find(|key| tree.get(key).is_some_and(|value| !value.is_null()));
    if let (Some(_), Some(key)) = (&host, asks) {
        problems.error(
            tree.get("host").unwrap_or(tree),
            format!("`host` names a daemon that runs already, and `{key}` asks for one of its own: keep one of them"),
        );
    }
    let private = asks.map(|_| private(tree, problems));
    EngineSpec { host, private }
}

fn private(tree: &Tree, problems: &mut Problems) -> PrivateSpec {
    let storage_driver = problems.some_text(tree, "storage_driver").unwrap_or_else(|| STORAGE_DRIVER.to_owned());
    PrivateSpec {
        backing: backing(tree, &storage_driver, problems),
        storage_driver,
        userland_proxy: problems.some_bool(tree, "userland_proxy").unwrap_or(true),
        iptables: problems.some_bool(tree, "iptables").unwrap_or(true),
        binary: problems.read(tree, "binary", |path| match path.starts_with('/') {
            true => Ok(path.to_owned()),
            false => Err(format!("`{path}` is not an absolute path: it is a program of the host, not of the manifest's folder")),
        }),
        daemon: daemon(tree, problems),
    }
}

fn backing(tree: &Tree, storage_driver: &str, problems: &mut Problems) -> Backing {
    let declared = tree.get("backing").filter(|backing| !backing.is_null());
    let (holder, key) = match declared {
        Some(long @ Tree { node: Node::Map(_), .. }) => (long, "filesystem"),
        _ => (tree, "backing"),
    };
    let known = || Filesystem::ALL.map(Filesystem::name).join(", ");
    let filesystem = problems
        .read(holder, key, |text| Filesystem::named(text).ok_or_else(|| format!("`{text}` is not one of the file systems {}", known())));
    let size = declared.filter(|backing| matches!(backing.node, Node::Map(_)));
    Backing {
        filesystem: filesystem.unwrap_or_else(|| Filesystem::default_for(storage_driver)),
        bytes: size.and_then(|long| problems.size(long, "size")).unwrap_or(BACKING_BYTES),
    }
}

/// Keys of daemon.json; those that the tool itself gives the daemon are not for the manifest.
fn daemon(tree: &Tree, problems: &mut Problems) -> BTreeMap<String, serde_json::Value> {
    let mut keys = BTreeMap::new();
    for (key, value) in tree.get("daemon").map(Tree::entries).unwrap_or_default() {
        match TAKEN_KEYS.iter().find(|(taken, _)| *taken == &*key.name) {
            Some((_, instead)) => problems.error(value, format!("`daemon.{}` cannot be given: {instead}", key.name)),
            None => drop(keys.insert(key.name.to_string(), tree_to_json(value))),
        }
    }
    keys
}
