//! Private daemons: engines that are started for a setting of the daemon itself, such as its storage driver.

use core::net::Ipv4Addr;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// How a private daemon is set: what a plan asks for, with every default filled in, so that equal settings are equal specs.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PrivateSpec {
    /// Storage driver; always given to the daemon by name, because what it would choose by itself depends on the host.
    pub storage_driver: String,
    /// File system under its data root.
    pub backing: Backing,
    /// Whether a docker-proxy process serves each published port.
    pub userland_proxy: bool,
    /// Whether the daemon writes packet filter rules.
    pub iptables: bool,
    /// Another dockerd than the one that is found in `PATH`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub binary: Option<String>,
    /// Further keys of daemon.json.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub daemon: BTreeMap<String, Json>,
}

impl PrivateSpec {
    /// A storage driver on a file system, and everything else as when nothing is declared.
    #[must_use]
    pub fn plain(storage_driver: &str, filesystem: Filesystem) -> Self {
        Self {
            storage_driver: storage_driver.to_owned(),
            backing: Backing { filesystem, bytes: BACKING_BYTES },
            userland_proxy: true,
            iptables: true,
            binary: None,
            daemon: BTreeMap::new(),
        }
    }

    /// The setting in a few words, for people and for telling daemons apart: `overlay2 on xfs, userland_proxy=false`.
    #[must_use]
    pub fn label(&self) -> String {
        let mut label = format!("{} on {}", self.storage_driver, self.backing.filesystem.name());
        if !self.userland_proxy {
            label.push_str(", userland_proxy=false");
        }
        if !self.iptables {
            label.push_str(", iptables=false");
        }
        if let Some(binary) = &self.binary {
            label.push_str(", ");
            label.push_str(binary);
        }
        for (key, value) in &self.daemon {
            // Texts may hold what nobody should read, such as the password of a proxy.
            match value {
                Json::Bool(_) | Json::Number(_) => label.push_str(&format!(", {key}={value}")),
                _ => label.push_str(&format!(", {key}=...")),
            }
        }
        label
    }

    /// Whether two daemons can be started on copies of one data root: what lies in it does not depend on the rest.
    #[must_use]
    pub fn shares_data_root(&self, other: &Self) -> bool {
        (&self.storage_driver, &self.backing, &self.binary, &self.daemon)
            == (&other.storage_driver, &other.backing, &other.binary, &other.daemon)
    }
}

/// The file system under a private daemon's data root.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Backing {
    /// Which one.
    pub filesystem: Filesystem,
    /// Its size in bytes; it takes only what is written.
    pub bytes: u64,
}

/// Size of a data root when nothing is declared, in bytes.
pub const BACKING_BYTES: u64 = 8 << 30;

/// A file system that a data root can be made of: on a loop file, or in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Filesystem {
    /// ext4 on a loop file.
    Ext4,
    /// XFS on a loop file.
    Xfs,
    /// Btrfs on a loop file.
    Btrfs,
    /// In memory.
    Tmpfs,
}

impl Filesystem {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Ext4, Self::Xfs, Self::Btrfs, Self::Tmpfs];

    /// Its name, as the kernel and the manifest spell it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ext4 => "ext4",
            Self::Xfs => "xfs",
            Self::Btrfs => "btrfs",
            Self::Tmpfs => "tmpfs",
        }
    }

    /// The file system of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name() == name)
    }

    /// What a storage driver is put on when the manifest does not say.
    #[must_use]
    pub fn default_for(storage_driver: &str) -> Self {
        if storage_driver == "btrfs" { Self::Btrfs } else { Self::Ext4 }
    }
}

/// The storage driver of a private daemon when nothing is declared.
pub const STORAGE_DRIVER: &str = "overlay2";

/// One end of a pair of virtual network devices in every private daemon's namespace: an address of the host that is neither
/// loopback nor a bridge of the daemon, so that a published port can be reached the way it is from outside.
pub const OWN_DEVICE: &str = "sd0";
/// The other end: a parent for networks of macvlan and ipvlan.
pub const PARENT_DEVICE: &str = "sd1";
/// The address of [`OWN_DEVICE`], the first of its network, in the range that RFC 2544 sets aside for benchmarks.
pub const OWN_ADDRESS: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 1);
/// The bits of [`OWN_ADDRESS`] that name its network.
pub const OWN_PREFIX: u8 = 24;
/// The network of [`OWN_ADDRESS`].
pub const OWN_SUBNET: &str = "198.18.0.0/24";

/// Keys of daemon.json that a private daemon gets by a flag, or must not have; the second word is what to use instead.
pub const TAKEN_KEYS: &[(&str, &str)] = &[
    ("bridge", "a private daemon has the usual bridge in a network namespace of its own"),
    ("bip", "the address of its bridge does not matter to anyone outside of its namespace"),
    ("cgroup-parent", "shakedown places it"),
    ("containerd", "it starts its own"),
    ("data-root", "use `backing`"),
    ("exec-root", "shakedown places it"),
    ("graph", "use `backing`"),
    ("host", "shakedown places its socket"),
    ("hosts", "shakedown places its socket"),
    ("iptables", "use `iptables` of the engine itself"),
    ("pidfile", "shakedown places it"),
    ("storage-driver", "use `storage_driver`"),
    ("userland-proxy", "use `userland_proxy`"),
    ("init", "every container says itself whether it has one: use `init` of the unit"),
    ("log-driver", "every container keeps its output as json-file, so that all of it can be read"),
    ("log-opts", "every container keeps its output as json-file, so that all of it can be read"),
    ("registry-mirrors", "nothing leads out of its network namespace: images come from your own daemon"),
    ("insecure-registries", "nothing leads out of its network namespace: images come from your own daemon"),
];
