//! Programs that experiments use, and the Debian packages that bring them: the one list that reports and installs.

use super::{Area, Finding, Sight};

/// A program that experiments use.
#[derive(Debug, Clone, Copy)]
pub struct Tool {
    /// Its names; any of them will do, the first is told.
    pub programs: &'static [&'static str],
    /// The Debian package that brings it.
    pub package: &'static str,
    /// Where it is told.
    pub area: Area,
    /// What it is used for.
    pub purpose: &'static str,
}

const fn tool(programs: &'static [&'static str], package: &'static str, area: Area, purpose: &'static str) -> Tool {
    Tool { programs, package, area, purpose }
}

/// Every program that experiments use, in the order in which they are told.
pub const TOOLS: &[Tool] = &[
    tool(&["dockerd"], "docker.io", Area::Engine, "private daemons"),
    tool(&["iptables"], "iptables", Area::Network, "published ports and bridges of private daemons"),
    tool(&["ip"], "iproute2", Area::Network, "networks of private daemons"),
    tool(&["docker-proxy"], "docker.io", Area::Tools, "published ports with `userland_proxy`"),
    tool(&["nginx"], "nginx", Area::Tools, "web servers"),
    tool(&["mariadbd", "mysqld"], "mariadb-server", Area::Tools, "databases"),
    tool(&["memcached"], "memcached", Area::Tools, "caches"),
    tool(&["ab"], "apache2-utils", Area::Tools, "HTTP load"),
    tool(&["wrk"], "wrk", Area::Tools, "HTTP load"),
    tool(&["sysbench"], "sysbench", Area::Tools, "CPU and database load"),
    tool(&["fio"], "fio", Area::Tools, "disk load"),
    tool(&["busybox"], "busybox-static", Area::Tools, "small images"),
    tool(&["mkfs.ext4"], "e2fsprogs", Area::Tools, "`backing: ext4`"),
    tool(&["mkfs.xfs"], "xfsprogs", Area::Tools, "`backing: xfs`"),
    tool(&["mkfs.btrfs"], "btrfs-progs", Area::Tools, "`backing: btrfs`"),
    tool(&["fuse-overlayfs"], "fuse-overlayfs", Area::Tools, "`storage_driver: fuse-overlayfs`"),
    tool(&["tini", "docker-init"], "tini", Area::Tools, "`init` and private daemons"),
    tool(&["unshare"], "util-linux", Area::Tools, "private daemons"),
    tool(&["mount"], "mount", Area::Tools, "private daemons"),
    tool(&["cp"], "coreutils", Area::Tools, "private daemons"),
];

/// How it stands with the tools of one area.
pub(super) fn findings(sight: &Sight, area: Area) -> Vec<Finding> {
    let found = |tool: &Tool| match tool.programs.iter().find_map(|name| sight.programs.get(name)) {
        Some(program) => area.ok(tool.programs[0], program.path.display().to_string()),
        None => area.no(tool.programs[0], format!("missing: for {}", tool.purpose), next_step(tool.programs[0])),
    };
    TOOLS.iter().filter(|tool| tool.area == area).map(found).collect()
}

/// How to get a program of the list.
pub(super) fn next_step(program: &str) -> String {
    let package = TOOLS.iter().find(|tool| tool.programs.contains(&program)).map_or(program, |tool| tool.package);
    format!("install the Debian package `{package}` (`shakedown doctor --install`)")
}

/// The Debian packages of all programs that were not found, each once.
#[must_use]
pub fn missing_packages(sight: &Sight) -> Vec<&'static str> {
    let absent = |tool: &&Tool| !tool.programs.iter().any(|name| sight.programs.contains_key(name));
    let mut packages: Vec<&str> = TOOLS.iter().filter(absent).map(|tool| tool.package).collect();
    packages.sort_unstable();
    packages.dedup();
    packages
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::doctor::{Program, State};

    fn with(names: &[&'static str]) -> Sight {
        let program =
            |name: &&'static str| (*name, Program { path: format!("/usr/bin/{name}").into(), real: format!("/usr/bin/{name}").into() });
        Sight { programs: names.iter().map(program).collect(), ..Sight::default() }
    }

    #[test]
    fn what_is_missing_names_its_package_once() {
        let all = missing_packages(&Sight::default());
        for package in ["docker.io", "nginx", "mariadb-server", "apache2-utils", "busybox-static", "btrfs-progs", "xfsprogs", "iproute2"] {
            assert_eq!(all.iter().filter(|name| **name == package).count(), 1, "{package}");
        }
        let names: Vec<&'static str> = TOOLS.iter().flat_map(|tool| tool.programs).copied().collect();
        assert_eq!(missing_packages(&with(&names)), Vec::<&str>::new());
        let without = |gone: &str| missing_packages(&with(&names.iter().copied().filter(|name| *name != gone).collect::<Vec<_>>()));
        assert_eq!(without("docker-proxy"), ["docker.io"]);
        assert_eq!(without("mkfs.xfs"), ["xfsprogs"]);
        assert_eq!(without("tini"), Vec::<&str>::new(), "docker-init does as well");
    }

    #[test]
    fn each_area_tells_its_own() {
        let sight = with(&["dockerd", "docker-init"]);
        let told = |area| findings(&sight, area).into_iter().map(|finding| (finding.what, finding.state)).collect::<Vec<_>>();
        assert_eq!(told(Area::Engine), [("dockerd".to_owned(), State::Ok)]);
        assert_eq!(told(Area::Network), [("iptables".to_owned(), State::No), ("ip".to_owned(), State::No)]);
        assert!(told(Area::Tools).contains(&("tini".to_owned(), State::Ok)));
        let count: usize = [Area::Engine, Area::Network, Area::Tools].map(|area| told(area).len()).iter().sum();
        assert_eq!(count, TOOLS.len(), "every tool is told");
        let nginx = findings(&sight, Area::Tools).into_iter().find(|finding| finding.what == "nginx").expect("a line");
        assert_eq!(nginx.next, "install the Debian package `nginx` (`shakedown doctor --install`)");
    }
}
