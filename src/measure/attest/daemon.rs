//! Which processes a Docker daemon consists of: dockerd, its containerd, and a shim for each container.
//!
//! A shim is nobody's child once it runs; it names its containerd by the address of that one's socket.

use super::processes::{self, option, program};
use std::path::{Path, PathBuf};

/// containerd's namespace of the daemon's containers; those of other users of the same containerd are in others.
const NAMESPACE: &str = "moby";

/// The processes of the daemon whose dockerd is `pid`, in this host's numbers, as they are now; empty when there is none.
/// Its docker-proxy processes are not among them, see [`super::proxies`].
#[must_use]
pub fn processes(pid: u32) -> Vec<u32> {
    family(pid, &processes::all().into_iter().filter_map(Process::read).collect::<Vec<_>>())
}

/// Those of them that last: dockerd and its containerd. Shims come and go with containers.
#[must_use]
pub fn lasting(pid: u32) -> Vec<u32> {
    let all: Vec<Process> = processes::all().into_iter().filter_map(Process::read).collect();
    let is_shim = |pid: &u32| all.iter().any(|process| process.pid == *pid && process.is_shim());
    family(pid, &all).into_iter().filter(|pid| !is_shim(pid)).collect()
}

/// Whether a process runs a program of this name, such as `dockerd`.
#[must_use]
pub fn runs(pid: u32, program: &str) -> bool {
    Process::read(pid).is_some_and(|process| process.is(program))
}

/// The data root that a dockerd was told on its command line; none when it was not told one there.
#[must_use]
pub fn data_root(pid: u32) -> Option<PathBuf> {
    option(&Process::read(pid)?.words(), "data-root").map(PathBuf::from)
}

#[derive(Debug)]
struct Process {
    pid: u32,
    parent: u32,
    cmdline: String,
}

impl Process {
    fn read(pid: u32) -> Option<Self> {
        let cmdline = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let parent = processes::parent(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)?;
        Some(Self { pid, parent, cmdline: String::from_utf8_lossy(&cmdline).into_owned() })
    }

    fn words(&self) -> Vec<&str> {
        self.cmdline.split('\0').collect()
    }

    fn is_shim(&self) -> bool {
        program(&self.words()).starts_with("containerd-shim")
    }

    fn is(&self, name: &str) -> bool {
        program(&self.words()) == name
    }
}

fn family(dockerd: u32, all: &[Process]) -> Vec<u32> {
    let Some(daemon) = all.iter().find(|process| process.pid == dockerd && process.is("dockerd")) else { return Vec::new() };
    let own = all.iter().find(|process| process.parent == dockerd && process.is("containerd"));
    // A containerd that dockerd did not start is told apart from those that other daemons did.
    let is_daemons = |pid: u32| all.iter().any(|process| process.pid == pid && process.is("dockerd"));
    let mut shared = all.iter().filter(|process| process.is("containerd") && !is_daemons(process.parent));
    let (containerd, socket) = match (own, option(&daemon.words(), "containerd")) {
        (_, Some(socket)) => (shared.next().filter(|_| shared.next().is_none()), Some(socket.to_owned())),
        (Some(own), None) => {
            let beside = |config: &str| Path::new(config).with_file_name("containerd.sock").to_string_lossy().into_owned();
            (Some(own), option(&own.words(), "config").map(beside))
        }
        (None, None) => (None, None),
    };
    let is_shim = |process: &&Process| {
        let words = process.words();
        let named = |name: &str, value: Option<&str>| value.is_some() && option(&words, name) == value;
        process.is_shim() && named("namespace", Some(NAMESPACE)) && named("address", socket.as_deref())
    };
    [Some(daemon), containerd].into_iter().flatten().chain(all.iter().filter(is_shim)).map(|process| process.pid).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host() -> Vec<Process> {
        let shim = "/usr/bin/containerd-shim-runc-v2 -id 67ac";
        let table = [
            (1, 0, "/sbin/init".to_owned()),
            (10, 1, "/usr/sbin/dockerd".to_owned()),
            (11, 10, "containerd --config /var/run/docker/containerd/containerd.toml --log-level info".to_owned()),
            (12, 1, format!("{shim} -namespace moby -address /var/run/docker/containerd/containerd.sock")),
            (13, 10, "/usr/sbin/docker-proxy -proto tcp".to_owned()),
            (20, 1, "/usr/bin/dockerd -H fd:// --containerd=/run/containerd/containerd.sock".to_owned()),
            (21, 1, "/usr/bin/containerd".to_owned()),
            (22, 1, format!("{shim} -namespace moby -address /run/containerd/containerd.sock")),
            (23, 1, format!("{shim} -namespace k8s.io -address /run/containerd/containerd.sock")),
            (30, 1, "/usr/bin/dockerd --data-root /x".to_owned()),
            (40, 1, String::new()),
        ];
        table.map(|(pid, parent, line)| Process { pid, parent, cmdline: line.replace(' ', "\0") }).into()
    }

    #[test]
    fn each_daemon_has_its_own() {
        for (dockerd, found) in [(10, vec![10, 11, 12]), (20, vec![20, 21, 22]), (30, vec![30]), (11, vec![]), (40, vec![]), (99, vec![])] {
            assert_eq!(family(dockerd, &host()), found, "{dockerd}");
        }
        let mut two = host();
        two.push(Process { pid: 50, parent: 1, cmdline: "/usr/bin/containerd\0--address\0/run/other.sock".to_owned() });
        assert_eq!(family(20, &two), [20, 22], "which of two it is nobody knows");
    }

    #[test]
    fn we_are_no_daemon() {
        assert_eq!(processes(std::process::id()), [0_u32; 0]);
    }
}
