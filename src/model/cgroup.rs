//! Where the kernel's control groups are: a pure reading of `/proc/self/mountinfo`, for version 1, version 2 and the hybrid.

use super::mounts::MountTable;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The mounted cgroup hierarchies.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CgroupLayout {
    /// Version 1: mount point of each controller.
    v1: BTreeMap<String, PathBuf>,
    /// Version 2: its mount point; in the hybrid it holds few controllers or none.
    v2: Option<PathBuf>,
}

impl CgroupLayout {
    /// Reads the text of `/proc/self/mountinfo`.
    #[must_use]
    pub fn from_mountinfo(text: &str) -> Self {
        let mut layout = Self::default();
        for mount in MountTable::parse(text).mounts() {
            match mount.kind.as_str() {
                "cgroup2" => layout.v2 = Some(mount.target.clone()),
                "cgroup" => {
                    for option in &mount.options {
                        let controller = option.strip_prefix("name=").unwrap_or(option);
                        if !matches!(controller, "rw" | "ro" | "xattr" | "none" | "noprefix" | "clone_children") {
                            layout.v1.insert(controller.to_owned(), mount.target.clone());
                        }
                    }
                }
                _ => {}
            }
        }
        layout
    }

    /// Whether the CPU controller is that of version 2.
    #[must_use]
    pub fn is_v2(&self) -> bool {
        !self.v1.contains_key("cpu") && self.v2.is_some()
    }

    /// `v1`, `v2`, `hybrid` or `none`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match (self.v1.contains_key("cpu"), self.v2.is_some()) {
            (true, true) => "hybrid",
            (true, false) => "v1",
            (false, true) => "v2",
            (false, false) => "none",
        }
    }

    /// The folder of `path` for a controller (`cpu`, `cpuacct`, `cpuset`, `memory`, `pids`): version 1's own tree, or version 2's one tree.
    #[must_use]
    pub fn dir(&self, controller: &str, path: &str) -> Option<PathBuf> {
        let root = if self.is_v2() { self.v2.as_deref() } else { self.v1.get(controller).map(PathBuf::as_path) };
        root.map(|root| root.join(path.trim_start_matches('/')))
    }

    /// The roots of every mounted hierarchy, each once.
    #[must_use]
    pub fn roots(&self) -> Vec<&Path> {
        let mut roots: Vec<&Path> = self.v1.values().map(PathBuf::as_path).chain(self.v2.as_deref()).collect();
        roots.sort_unstable();
        roots.dedup();
        roots
    }
}

/// The version 2 weight (1 to 10,000, default 100) of version 1 shares (2 to 262,144, default 1024).
///
/// The rule of runc since 1.3.2, and of crun (opencontainers/runc#4772): the exponent is quadratic in
/// log2 of the shares, so that minimum, default and maximum meet minimum, default and maximum.
#[must_use]
pub fn weight_of_shares(shares: u64) -> u64 {
    if shares <= 2 {
        return 1;
    }
    let log = (shares as f64).log2();
    let exponent = (log * log + 125.0 * log) / 612.0 - 7.0 / 34.0;
    (10f64.powf(exponent).ceil() as u64).clamp(1, 10_000)
}

/// The weight by the runtimes' older, linear rule, which makes about 39 of the default 1024.
#[must_use]
pub fn linear_weight_of_shares(shares: u64) -> u64 {
    1 + shares.clamp(2, 262_144).saturating_sub(2) * 9_999 / 262_142
}

#[cfg(test)]
mod tests {
    use super::*;

    const HYBRID: &str = "\
29 28 0:25 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
30 29 0:26 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct
31 29 0:27 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
32 29 0:28 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,name=systemd
33 29 0:29 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw";

    #[test]
    fn hybrid_uses_version_1() {
        let layout = CgroupLayout::from_mountinfo(HYBRID);
        assert_eq!(layout.name(), "hybrid");
        assert!(!layout.is_v2());
        assert_eq!(layout.dir("cpuacct", "/a/b"), Some("/sys/fs/cgroup/cpu,cpuacct/a/b".into()));
        assert_eq!(layout.dir("io", "a"), None);
        assert_eq!(layout.roots().len(), 4);
    }

    #[test]
    fn version_2_has_one_tree() {
        let layout = CgroupLayout::from_mountinfo("24 23 0:22 / /sys/fs/cgroup rw shared:9 - cgroup2 cgroup2 rw,nsdelegate");
        assert_eq!(layout.name(), "v2");
        assert_eq!(layout.dir("memory", "a"), Some("/sys/fs/cgroup/a".into()));
    }

    #[test]
    fn no_cgroups_at_all() {
        let layout = CgroupLayout::from_mountinfo("garbage\n1 2 - ext4 x\n");
        assert_eq!((layout.name(), layout.dir("cpu", "a")), ("none", None));
    }

    #[test]
    fn shares_become_weights() {
        for (shares, weight, linear) in [(2, 1, 1), (512, 59, 20), (1024, 100, 39), (2000, 170, 77), (262_144, 10_000, 10_000)] {
            assert_eq!((weight_of_shares(shares), linear_weight_of_shares(shares)), (weight, linear), "{shares}");
        }
        assert_eq!((weight_of_shares(0), linear_weight_of_shares(0)), (1, 1));
    }
}
