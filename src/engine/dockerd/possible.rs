//! Which storage drivers and file systems this host can give, as far as it is known without starting anything.

use super::kernel::Kernel;
use super::{disk, settings, tools};
use crate::model::possible::{Answer, Possible, Survey};
use crate::model::private::{Filesystem, PrivateSpec, STORAGE_DRIVER};
use std::path::Path;

/// Storage drivers that a private daemon may have, those that were removed since included.
const DRIVERS: [&str; 8] = ["overlay2", "btrfs", "vfs", "fuse-overlayfs", "overlay", "zfs", "aufs", "devicemapper"];

/// The first major version without a driver (docs.docker.com, "Deprecated Docker Engine features").
const REMOVED: &[(&str, u32)] = &[("aufs", 24), ("overlay", 24), ("devicemapper", 25)];

/// What this host has, asked once.
pub struct Host {
    /// Major version of the daemon; none when it is not known.
    major: Option<u32>,
    kernel: Kernel,
    device_mapper: bool,
    fuse: bool,
    loops: bool,
    root: bool,
    groups: bool,
    has: Box<dyn Fn(&str) -> bool>,
}

impl Host {
    /// This host, with a daemon of that version whose programs are searched in `path`.
    pub fn this(version: Option<&str>, path: String) -> Self {
        let layout = crate::engine::control::layout().unwrap_or_default();
        Self {
            major: version.and_then(|version| version.split('.').next()?.parse().ok()),
            kernel: Kernel::this(),
            device_mapper: Path::new("/sys/class/misc/device-mapper").exists(),
            fuse: Path::new("/dev/fuse").exists(),
            loops: Path::new("/dev/loop-control").exists(),
            root: rustix::process::geteuid().is_root(),
            groups: crate::engine::control::may_make_groups(&layout),
            has: Box::new(move |program| match program {
                "docker-init" => tools::init().is_some(),
                other => tools::find_in(&path, other).is_some(),
            }),
        }
    }

    /// Why no private daemon can be started at all.
    fn general(&self, spec: &PrivateSpec) -> Vec<String> {
        let mut reasons = Vec::new();
        if !self.root {
            reasons.push("a private daemon needs root: it gets namespaces and mounts of its own".to_owned());
        } else if !self.groups {
            reasons.push("a private daemon needs control groups of its own, and they may not be made here".to_owned());
        }
        let mut needed = vec!["unshare", "mount", "ip", "docker-init", "containerd"];
        if spec.iptables {
            needed.push("iptables");
        }
        reasons.extend(needed.into_iter().filter(|program| !(self.has)(program)).map(tools::missing));
        reasons
    }

    /// How it stands with a driver on a file system, when there is nothing against the file system itself.
    fn driver(&self, driver: &str, filesystem: Filesystem) -> Answer {
        let no = |why: &str| Answer::No(why.to_owned());
        let removed = REMOVED.iter().find(|(removed, _)| *removed == driver).map(|(_, first)| (*first, self.major));
        let version = match removed {
            Some((first, Some(major))) if major >= first => {
                return Answer::No(format!("Docker removed it in version {first}, and this one is {major}"));
            }
            Some((first, None)) => Answer::Unseen(format!("Docker removed it in version {first}, and no dockerd tells its own")),
            _ => Answer::Expected,
        };
        let own = match driver {
            "overlay" if filesystem == Filesystem::Btrfs => no("it does not work on btrfs: set `backing` to ext4, xfs or tmpfs"),
            "overlay2" | "overlay" => self.kernel.answer("overlay"),
            "btrfs" if filesystem != Filesystem::Btrfs => no("it needs `backing: btrfs`"),
            "fuse-overlayfs" if !(self.has)("fuse-overlayfs") => Answer::No(tools::missing("fuse-overlayfs")),
            "fuse-overlayfs" if !self.fuse => no("there is no `/dev/fuse`"),
            "fuse-overlayfs" => self.kernel.answer("fuse"),
            "zfs" => {
                Answer::worst([self.kernel.answer("zfs"), no("it needs a data root on a zfs pool, and private daemons are given none")])
            }
            "aufs" => self.kernel.answer("aufs"),
            "devicemapper" if !self.device_mapper => no("this kernel has no device mapper"),
            known if DRIVERS.contains(&known) => Answer::Expected,
            _ => Answer::No(format!("there is no such driver; known: {}", DRIVERS.join(", "))),
        };
        Answer::worst([version, own])
    }

    /// How it stands with a file system as the data root, whatever the driver.
    fn backing(&self, filesystem: Filesystem) -> Answer {
        let kernel = self.kernel.answer(filesystem.name());
        let Some((maker, _)) = disk::maker(filesystem) else { return kernel };
        let maker = if (self.has)(maker) { Answer::Expected } else { Answer::No(tools::missing(maker)) };
        let loops = if self.loops { Answer::Expected } else { Answer::No("there is no `/dev/loop-control`, and so no loop device".into()) };
        Answer::worst([kernel, maker, loops])
    }

    /// How it stands with a driver on a file system: a driver that cannot be at all says more than what its file system lacks.
    fn pair(&self, driver: &str, filesystem: Filesystem) -> Answer {
        Answer::worst([self.driver(driver, filesystem), self.backing(filesystem)])
    }

    /// The drivers that work here as far as is known, each with its file systems: `overlay2 (ext4, xfs), vfs (ext4)`.
    pub fn available(&self) -> String {
        let on = |driver: &str| {
            let works = Filesystem::ALL.into_iter().filter(|filesystem| self.pair(driver, *filesystem) == Answer::Expected);
            works.map(Filesystem::name).collect::<Vec<_>>().join(", ")
        };
        let list: Vec<String> = DRIVERS
            .iter()
            .map(|driver| (driver, on(driver)))
            .filter(|(_, on)| !on.is_empty())
            .map(|(d, on)| format!("{d} ({on})"))
            .collect();
        if list.is_empty() { "nothing".to_owned() } else { list.join(", ") }
    }

    /// Every reason why this daemon cannot be started here. What cannot be told without trying is none.
    pub fn impossible(&self, spec: &PrivateSpec) -> Vec<String> {
        let mut reasons = settings::refused(spec);
        reasons.extend(tools::dockerd(spec).err());
        reasons.extend(self.general(spec));
        let (driver, filesystem) = (spec.storage_driver.as_str(), spec.backing.filesystem);
        let mut storage = Vec::new();
        if let Answer::No(why) = self.driver(driver, filesystem) {
            storage.push(format!("`storage_driver: {driver}`: {why}"));
        }
        if let Answer::No(why) = self.backing(filesystem) {
            storage.push(format!("`backing: {}`: {why}", filesystem.name()));
        }
        if let Some(last) = storage.last_mut() {
            last.push_str(&format!("; available here: {}", self.available()));
        }
        reasons.extend(storage);
        reasons
    }
}

/// Every storage driver on every file system, for the dockerd that is found in `PATH`; and why there are no private daemons at all,
/// empty when there are. Starts nothing but `dockerd --version`.
#[must_use]
pub fn survey() -> Survey {
    let any = PrivateSpec::plain(STORAGE_DRIVER, Filesystem::Ext4);
    let dockerd = tools::dockerd(&any);
    let host = Host::this(dockerd.as_deref().ok().and_then(tools::dockerd_version).as_deref(), tools::search_path(&any));
    let mut general: Vec<String> = dockerd.err().into_iter().collect();
    general.extend(host.general(&any));
    let table = DRIVERS.into_iter().flat_map(|storage_driver| {
        let host = &host;
        Filesystem::ALL.map(|filesystem| Possible {
            storage_driver,
            filesystem,
            answer: host.pair(storage_driver, filesystem),
            ready_after: None,
        })
    });
    Survey {
        general,
        pairs: table.collect(),
        backings: Filesystem::ALL.map(|filesystem| (filesystem, host.backing(filesystem))).into(),
        networks: std::collections::BTreeMap::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::spec;
    use super::*;
    use serde_json::json;

    fn host(major: u32, filesystems: &[&str], programs: &'static [&'static str]) -> Host {
        Host {
            major: Some(major),
            kernel: Kernel { filesystems: filesystems.iter().map(|name| (*name).to_owned()).collect(), may_have_more: false },
            device_mapper: false,
            fuse: true,
            loops: true,
            root: true,
            groups: true,
            has: Box::new(|program| programs.contains(&program)),
        }
    }

    const ALL: &[&str] =
        &["unshare", "mount", "ip", "docker-init", "containerd", "iptables", "mkfs.ext4", "mkfs.xfs", "mkfs.btrfs", "fuse-overlayfs"];

    #[test]
    fn what_cannot_be_is_told_with_its_reason() {
        let full = host(27, &["ext4", "xfs", "btrfs", "tmpfs", "overlay", "fuse"], ALL);
        let old = host(20, &["ext4", "xfs", "btrfs", "tmpfs", "overlay"], ALL);
        let bare = host(27, &["ext4", "tmpfs"], &["unshare", "mount", "ip", "docker-init", "containerd", "iptables"]);
        let mut loopless = host(27, &["ext4", "tmpfs", "overlay"], ALL);
        loopless.loops = false;
        let mut nameless = host(0, &["ext4", "overlay"], ALL);
        nameless.major = None;
        let mut contained = host(27, &["ext4", "overlay"], ALL);
        contained.kernel.may_have_more = true;
        let (works, no, unseen) = ("works", "no", "unseen");
        let table = [
            (&full, "overlay2", "ext4", works, ""),
            (&full, "overlay2", "btrfs", works, ""),
            (&full, "btrfs", "btrfs", works, ""),
            (&full, "vfs", "tmpfs", works, ""),
            (&full, "fuse-overlayfs", "xfs", works, ""),
            (&full, "btrfs", "xfs", no, "it needs `backing: btrfs`"),
            (&full, "devicemapper", "ext4", no, "removed it in version 25, and this one is 27"),
            (&full, "aufs", "ext4", no, "removed it in version 24"),
            (&full, "overlay", "ext4", no, "removed it in version 24"),
            (&old, "overlay", "ext4", works, ""),
            (&old, "overlay", "btrfs", no, "does not work on btrfs"),
            (&old, "aufs", "ext4", no, "no aufs"),
            (&old, "devicemapper", "ext4", no, "no device mapper"),
            (&old, "fuse-overlayfs", "ext4", no, "no fuse"),
            (&full, "zfs", "ext4", no, "no zfs, and no module"),
            (&full, "overlay3", "ext4", no, "no such driver; known: overlay2, btrfs"),
            (&bare, "overlay2", "tmpfs", no, "no overlay, and no module"),
            (&bare, "vfs", "tmpfs", works, ""),
            (&bare, "vfs", "xfs", no, "no xfs, and no module"),
            (&bare, "vfs", "ext4", no, "install e2fsprogs"),
            (&bare, "fuse-overlayfs", "tmpfs", no, "install fuse-overlayfs"),
            (&loopless, "overlay2", "ext4", no, "no loop device"),
            (&loopless, "overlay2", "tmpfs", works, ""),
            (&nameless, "overlay", "ext4", unseen, "removed it in version 24, and no dockerd tells its own"),
            (&nameless, "aufs", "ext4", no, "no aufs"),
            (&contained, "overlay2", "ext4", works, ""),
            (&contained, "overlay2", "xfs", unseen, "its list of modules is not readable"),
            (&contained, "devicemapper", "xfs", no, "removed it"),
        ];
        for (host, driver, filesystem, expected, reason) in table {
            let (state, why) = match host.pair(driver, Filesystem::named(filesystem).expect("file system")) {
                Answer::Expected | Answer::Ran => (works, String::new()),
                Answer::Unseen(why) => (unseen, why),
                Answer::No(why) => (no, why),
            };
            assert_eq!(state, expected, "{driver} on {filesystem}: {why}");
            assert!(why.contains(reason), "{driver} on {filesystem}: {why}");
        }
        assert_eq!(bare.available(), "vfs (tmpfs)");
        assert_eq!(contained.impossible(&PrivateSpec { binary: Some("/bin/true".into()), ..spec("vfs", "xfs") }), Vec::<String>::new());
    }

    #[test]
    fn all_reasons_are_told_at_once() {
        let mut poor = host(27, &["ext4", "overlay"], &["mkfs.ext4"]);
        poor.root = false;
        let mut asked = spec("btrfs", "ext4");
        (asked.binary, asked.iptables) = (Some("/does/not/exist".into()), false);
        asked.daemon.insert("hosts".into(), json!([]));
        let found = poor.impossible(&asked);
        for expected in ["`daemon.hosts`", "/does/not/exist", "needs root", "util-linux", "iproute2", "available here: overlay2 (ext4)"] {
            assert!(found.iter().any(|reason| reason.contains(expected)), "{expected}: {found:?}");
        }
        assert!(!found.iter().any(|reason| reason.contains("iptables")), "{found:?}");
    }
}
