//! Which storage drivers and file systems this host can give, as far as it is known without starting anything.

use super::{disk, settings, tools};
use crate::model::private::{Backing, Filesystem, PrivateSpec};
use std::path::Path;

/// Storage drivers that a private daemon may have, those that were removed since included.
pub const DRIVERS: [&str; 8] = ["overlay2", "btrfs", "vfs", "fuse-overlayfs", "overlay", "zfs", "aufs", "devicemapper"];

/// The first major version without a driver.
const REMOVED: &[(&str, u32)] = &[("aufs", 24), ("overlay", 24), ("devicemapper", 25)];

/// What this host has, asked once.
pub struct Host {
    /// Major version of the daemon; none when it is not known.
    major: Option<u32>,
    /// File systems that the kernel has, or has a module for.
    filesystems: Vec<String>,
    device_mapper: bool,
    fuse: bool,
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
            filesystems: kernel_filesystems(),
            device_mapper: Path::new("/sys/class/misc/device-mapper").exists(),
            fuse: Path::new("/dev/fuse").exists(),
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

    /// Why a driver does not work on this file system; empty when it does as far as is known.
    fn storage(&self, driver: &str, filesystem: Filesystem) -> Vec<String> {
        let mut reasons = Vec::new();
        let no = |what: String| format!("`storage_driver: {driver}`: {what}");
        let kernel = |name: &str| self.filesystems.iter().any(|known| known == name);
        if let Some((_, first)) = REMOVED.iter().find(|(removed, _)| *removed == driver)
            && self.major.is_some_and(|major| major >= *first)
        {
            reasons.push(no(format!("Docker removed it in version {first}, and this one is {}", self.major.unwrap_or(*first))));
        } else {
            match driver {
                "overlay2" | "overlay" if !kernel("overlay") => reasons.push(no("this kernel has no overlay file system".into())),
                "overlay" if filesystem == Filesystem::Btrfs => {
                    reasons.push(no("it does not work on btrfs: set `backing` to ext4, xfs or tmpfs".into()));
                }
                "btrfs" if filesystem != Filesystem::Btrfs => {
                    reasons.push(no(format!("it needs `backing: btrfs`, not {}", filesystem.name())));
                }
                "fuse-overlayfs" if !(self.has)("fuse-overlayfs") => reasons.push(no(tools::missing("fuse-overlayfs"))),
                "fuse-overlayfs" if !self.fuse || !kernel("fuse") => {
                    reasons.push(no("this kernel has no FUSE, or there is no /dev/fuse".into()));
                }
                "zfs" if !kernel("zfs") => reasons.push(no("this kernel has no zfs, and no module for it".into())),
                "zfs" => reasons.push(no("it needs a data root on a zfs pool, and private daemons are given none".into())),
                "aufs" if !kernel("aufs") => reasons.push(no("this kernel has no aufs".into())),
                "devicemapper" if !self.device_mapper => reasons.push(no("this kernel has no device mapper".into())),
                known if DRIVERS.contains(&known) => {}
                _ => reasons.push(no(format!("there is no such driver; known: {}", DRIVERS.join(", ")))),
            }
        }
        if !kernel(filesystem.name()) {
            reasons.push(format!("`backing: {0}`: this kernel has no {0}, and no module for it", filesystem.name()));
        }
        let maker = disk::maker(filesystem).map(|(program, _)| program).filter(|program| !(self.has)(program));
        reasons.extend(maker.map(|program| format!("`backing: {}`: {}", filesystem.name(), tools::missing(program))));
        reasons
    }

    /// The drivers that work here as far as is known, each with its file systems: `overlay2 (ext4, xfs), vfs (ext4)`.
    pub fn available(&self) -> String {
        let on = |driver: &str| {
            let works = Filesystem::ALL.into_iter().filter(|filesystem| self.storage(driver, *filesystem).is_empty());
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

    /// Every reason why this daemon cannot be started here.
    pub fn impossible(&self, spec: &PrivateSpec) -> Vec<String> {
        let mut reasons = settings::refused(spec);
        reasons.extend(tools::dockerd(spec).err());
        reasons.extend(self.general(spec));
        let mut storage = self.storage(&spec.storage_driver, spec.backing.filesystem);
        if let Some(last) = storage.last_mut() {
            last.push_str(&format!("; available here: {}", self.available()));
        }
        reasons.extend(storage);
        reasons
    }
}

/// The file systems that the kernel has now, and those that it has a module for: a mount loads it.
fn kernel_filesystems() -> Vec<String> {
    let listed = std::fs::read_to_string("/proc/filesystems").unwrap_or_default();
    let mut names: Vec<String> = listed.lines().filter_map(|line| line.split_whitespace().last()).map(str::to_owned).collect();
    let modules = Path::new("/lib/modules").join(rustix::system::uname().release().to_string_lossy().as_ref()).join("modules.dep");
    let modules = std::fs::read_to_string(modules).unwrap_or_default();
    let files = modules.lines().filter_map(|line| line.split_once(':')?.0.rsplit('/').next());
    names.extend(files.filter_map(|file| Some(file.split_once(".ko")?.0.to_owned())));
    names
}

/// Whether a storage driver on a file system works here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Possible {
    /// The storage driver.
    pub storage_driver: &'static str,
    /// The file system under the data root.
    pub filesystem: Filesystem,
    /// Why it does not work; empty when it does, as far as is known without starting it.
    pub reasons: Vec<String>,
}

/// Every storage driver on every file system, for the dockerd that is found in `PATH`; and why there are no private daemons at all,
/// empty when there are. Starts nothing but `dockerd --version`.
#[must_use]
pub fn survey() -> (Vec<String>, Vec<Possible>) {
    let bytes = crate::model::private::BACKING_BYTES;
    let spec = |driver: &str, filesystem| PrivateSpec {
        storage_driver: driver.to_owned(),
        backing: Backing { filesystem, bytes },
        userland_proxy: true,
        iptables: true,
        binary: None,
        daemon: std::collections::BTreeMap::new(),
    };
    let any = spec(crate::model::private::STORAGE_DRIVER, Filesystem::Ext4);
    let dockerd = tools::dockerd(&any);
    let host = Host::this(dockerd.as_deref().ok().and_then(tools::dockerd_version).as_deref(), tools::search_path(&any));
    let mut general: Vec<String> = dockerd.err().into_iter().collect();
    general.extend(host.general(&any));
    let table = DRIVERS.into_iter().flat_map(|storage_driver| {
        let host = &host;
        Filesystem::ALL.map(|filesystem| Possible { storage_driver, filesystem, reasons: host.storage(storage_driver, filesystem) })
    });
    (general, table.collect())
}

#[cfg(test)]
mod tests {
    use super::super::tests::spec;
    use super::*;
    use serde_json::json;

    fn host(major: u32, filesystems: &[&str], programs: &'static [&'static str]) -> Host {
        Host {
            major: Some(major),
            filesystems: filesystems.iter().map(|name| (*name).to_owned()).collect(),
            device_mapper: false,
            fuse: true,
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
        let table = [
            (&full, "overlay2", "ext4", ""),
            (&full, "overlay2", "btrfs", ""),
            (&full, "btrfs", "btrfs", ""),
            (&full, "vfs", "tmpfs", ""),
            (&full, "fuse-overlayfs", "xfs", ""),
            (&full, "btrfs", "xfs", "`backing: btrfs`, not xfs"),
            (&full, "devicemapper", "ext4", "removed it in version 25, and this one is 27"),
            (&full, "aufs", "ext4", "removed it in version 24"),
            (&full, "overlay", "ext4", "removed it in version 24"),
            (&old, "overlay", "ext4", ""),
            (&old, "overlay", "btrfs", "does not work on btrfs"),
            (&old, "aufs", "ext4", "no aufs"),
            (&old, "devicemapper", "ext4", "no device mapper"),
            (&old, "fuse-overlayfs", "ext4", "no FUSE"),
            (&full, "zfs", "ext4", "no zfs, and no module"),
            (&full, "overlay3", "ext4", "no such driver; known: overlay2, btrfs"),
            (&bare, "overlay2", "tmpfs", "no overlay file system"),
            (&bare, "vfs", "tmpfs", ""),
            (&bare, "vfs", "xfs", "no xfs, and no module"),
            (&bare, "vfs", "ext4", "install e2fsprogs"),
            (&bare, "fuse-overlayfs", "tmpfs", "install fuse-overlayfs"),
        ];
        for (host, driver, filesystem, expected) in table {
            let found = host.storage(driver, Filesystem::named(filesystem).expect("file system"));
            assert_eq!(found.is_empty(), expected.is_empty(), "{driver} on {filesystem}: {found:?}");
            assert!(found.join("; ").contains(expected), "{driver} on {filesystem}: {found:?}");
        }
        assert_eq!(bare.available(), "vfs (tmpfs)");
    }

    #[test]
    fn all_reasons_are_told_at_once() {
        let mut poor = host(27, &["ext4", "overlay"], &["mkfs.ext4"]);
        poor.root = false;
        let mut asked = spec("btrfs", "ext4");
        (asked.binary, asked.iptables) = (Some("/does/not/exist".into()), false);
        asked.daemon.insert("hosts".into(), json!([]));
        let found = poor.impossible(&asked);
        for expected in ["`daemon: hosts`", "/does/not/exist", "needs root", "util-linux", "iproute2", "available here: overlay2 (ext4)"] {
            assert!(found.iter().any(|reason| reason.contains(expected)), "{expected}: {found:?}");
        }
        assert!(!found.iter().any(|reason| reason.contains("iptables")), "{found:?}");
    }
}
