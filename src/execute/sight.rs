//! What can be seen of an engine from outside: its own process, its mounts, its network namespace, and by which way packets reach
//! the ports that its containers publish. Nothing here asks the engine; nothing is done in a measured window.

use super::names::Names;
use crate::engine::namespace::Namespace;
use crate::engine::{Engine, Standing, control};
use crate::measure::attest::network::{Known, Namespace as Which, number};
use crate::measure::attest::path::{self, Way};
use crate::measure::attest::proxies::{self, Proxy};
use crate::measure::attest::storage::{self, Root};
use crate::measure::attest::{daemon, processes};
use crate::measure::window::{Closed, EngineProcesses, Expected, Helpers};
use crate::model::event::Attested;
use crate::model::mounts::MountTable;
use crate::model::private::PrivateSpec;
use crate::model::spec::{Place, TrialSpec, UnitSpec};
use crate::model::stack::{MountSource, PortSpec};
use crate::model::target::{LOOPBACK, Target};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A Docker daemon of this host.
pub(super) struct Sight {
    dockerd: u32,
    /// The kernel's number of its network namespace.
    namespace: u64,
    mounts: MountTable,
    data_root: Option<PathBuf>,
    /// Its own processes, without shims where they have no group of ours.
    engine: EngineProcesses,
    private: Option<PrivateSpec>,
}

impl Sight {
    /// Looks for the daemon behind an engine: in its own group for a private one, else the only dockerd in our network namespace.
    /// None where it is not visible: on another host, or when it is not a dockerd.
    pub(super) fn of(engine: &dyn Engine, private: Option<&PrivateSpec>) -> Option<Self> {
        let group = engine.own_group();
        if private.is_some() && group.is_none() {
            return None; // whatever dockerd is found elsewhere is another one
        }
        let layout = control::layout().ok()?;
        let candidates = match &group {
            Some(group) => control::Control::new(layout).members(group),
            None => processes::all(),
        };
        let ours = number(std::process::id())?;
        let is_there = |pid: &u32| group.is_some() || number(*pid) == Some(ours);
        let binary = private.and_then(|private| private.binary.as_deref()).map(Path::new).and_then(Path::file_name);
        let program = binary.and_then(|name| name.to_str()).unwrap_or("dockerd");
        let mut daemons = candidates.into_iter().filter(|pid| daemon::runs(*pid, program)).filter(is_there);
        let dockerd = daemons.next().filter(|_| daemons.next().is_none())?;
        let (mounts, _) = storage::mounts(dockerd)?;
        let data_root = daemon::data_root(dockerd);
        let engine = group.map_or_else(|| EngineProcesses::Pids(daemon::lasting(dockerd)), EngineProcesses::Group);
        Some(Self { dockerd, namespace: number(dockerd)?, mounts, data_root, engine, private: private.cloned() })
    }

    /// The daemon's own processes.
    pub(super) fn engine(&self) -> EngineProcesses {
        self.engine.clone()
    }

    /// The daemon's process, which is in the network namespace of its host processes.
    pub(super) fn dockerd(&self) -> u32 {
        self.dockerd
    }

    /// What must be seen of a unit from within; none where nothing was asked: a daemon that runs anyway was asked for no driver, and
    /// a unit without a word about network and mounts for none. `unit` is as planned: its names are the manifest's.
    pub(super) fn expected(&self, name: &str, unit: &UnitSpec, trial: &TrialSpec, folder: &Path) -> Option<Expected> {
        let container = &unit.container;
        let shared = |unit: &UnitSpec| unit.container.network_mode.as_deref().and_then(|mode| mode.strip_prefix("service:")) == Some(name);
        let asks = container.network_mode.is_some()
            || !container.networks.is_empty()
            || !container.tmpfs.is_empty()
            || !unit.volumes.is_empty()
            // Whose network another one shares must be known by its number.
            || trial.units().any(|(_, other)| shared(other));
        if self.private.is_none() && (unit.place == Place::Host || !asks) {
            return None;
        }
        let known = Known { engine: self.namespace, others: Vec::new() };
        let backing = self.private.as_ref().map(|private| private.backing.filesystem.name());
        if unit.place == Place::Host {
            return Some(Expected { outside: None, storage: None, network: Some((Which::Engines, known)) });
        }
        let asked = storage::Asked {
            driver: self.private.as_ref().map(|private| private.storage_driver.clone()),
            backing: backing.map(str::to_owned),
            data_root: self.data_root.clone().filter(|_| self.private.is_some()),
            mounts: storage::mounts_asked(&resolved(unit, folder), &trial.volumes, backing, &self.mounts, folder),
        };
        let on_host = |other: &str| trial.units().any(|(name, unit)| name == other && unit.place == Place::Host);
        let network = match Which::asked(unit) {
            Which::Of(other) if on_host(&other) => Which::Engines,
            asked => asked,
        };
        Some(Expected { outside: Root::of(&self.mounts), storage: Some(asked), network: Some((network, known)) })
    }

    /// Whether it was started for the trial.
    pub(super) fn is_private(&self) -> bool {
        self.private.is_some()
    }

    /// The storage driver of a container as a private engine itself tells it.
    pub(super) fn driver(&self, unit: &str, standing: &Standing) -> Option<Attested> {
        let asked = self.private.as_ref()?.storage_driver.clone();
        let found = standing.settings.iter().find(|(setting, _)| setting == "storage_driver").map(|(_, driver)| driver.clone());
        Some(Attested { unit: unit.to_owned(), setting: "storage.driver".to_owned(), asked, found, source: "engine".to_owned() })
    }

    /// The file system under the data root of a private engine.
    pub(super) fn backing(&self) -> Option<Attested> {
        let (private, data_root) = (self.private.as_ref()?, self.data_root.as_ref()?);
        Some(storage::backing("engine", self.dockerd, data_root, private.backing.filesystem.name()))
    }
}

/// A unit whose binds name what their links lead to, as the mount table does. A source that is not there is left as it is: the engine
/// tells of it.
fn resolved(unit: &UnitSpec, folder: &Path) -> UnitSpec {
    let mut unit = unit.clone();
    for mount in &mut unit.volumes {
        if let MountSource::Bind(source) = &mut mount.source
            && let Ok(found) = std::fs::canonicalize(folder.join(&source))
        {
            *source = found;
        }
    }
    unit
}

/// The published ports of a trial's services, with those that serve them.
pub(super) struct Ports {
    /// By service: its ports with the host's as they became.
    ports: Vec<(String, Vec<PortSpec>)>,
    proxies: Vec<Proxy>,
    rules: Option<String>,
}

impl Ports {
    /// Looks at the ports of services that run.
    pub(super) async fn of(sight: Option<&Sight>, namespace: Option<Arc<Namespace>>, standing: Vec<(String, Standing)>) -> Self {
        let ports: Vec<_> = standing.into_iter().map(|(name, standing)| (name, standing.ports)).filter(|(_, p)| !p.is_empty()).collect();
        match sight {
            Some(sight) if !ports.is_empty() => Self { ports, proxies: proxies::of_engine(sight.namespace), rules: rules(namespace).await },
            _ => Self { ports, proxies: Vec::new(), rules: None },
        }
    }

    /// The processes whose CPU time belongs to the trial, though no unit's.
    pub(super) fn helpers(&self, sight: Option<&Sight>) -> Helpers {
        let serves = |proxy: &&Proxy| self.ports.iter().flat_map(|(_, ports)| ports).any(|port| proxy.serves(port));
        Helpers { proxies: self.proxies.iter().filter(serves).cloned().collect(), engine: sight.map(Sight::engine) }
    }

    /// Which process serves each port, and by which way the packets of the window went.
    pub(super) async fn attested(
        &self,
        sight: Option<&Sight>,
        namespace: Option<Arc<Namespace>>,
        closed: &Closed,
        targets: &[Target],
        names: &Names<'_>,
    ) -> Vec<Attested> {
        let Some(sight) = sight.filter(|_| !self.ports.is_empty()) else { return Vec::new() };
        let after = match &self.rules {
            Some(_) => rules(namespace).await,
            None => None,
        };
        let asked = sight.private.as_ref().map(|private| private.userland_proxy);
        let mut rows = Vec::new();
        for (service, ports) in &self.ports {
            rows.extend(proxies::attested(service, ports, asked, Some(&self.proxies)));
            for port in ports {
                let taken = self
                    .rules
                    .as_deref()
                    .zip(after.as_deref())
                    .and_then(|(before, after)| path::taken(before, after, port, &closed.proxies));
                let meant = sight.private.as_ref().and_then(|private| meant(port, private, targets, names.host_address().ok()));
                // The clock of a process ticks a hundred times a second: a proxy that carried little looks like one that did nothing.
                let taken = taken.filter(|taken| meant != Some(Way::Proxy) || taken.way != Way::Direct);
                let Some(asked) = meant.or(taken.as_ref().map(|taken| taken.way)) else { continue };
                rows.push(path::row(service, port, asked, taken.as_ref()));
            }
        }
        rows
    }
}

/// The way that packets must take to a port, where a workload names it with an address that tells: loopback is served by
/// docker-proxy where there is one, and so is the host's own address for other containers; for everybody else that one is DNATed
/// where rules are written.
fn meant(port: &PortSpec, private: &PrivateSpec, targets: &[Target], own: Option<String>) -> Option<Way> {
    let number = port.host_port?;
    let is_own = |target: &Target| own.as_deref().is_some_and(|address| target.names(address, number));
    let is_loopback = |target: &Target| LOOPBACK.into_iter().any(|address| target.names(address, number));
    let proxied = targets.iter().any(|target| if target.from_bridge { is_own(target) } else { is_loopback(target) });
    let own = targets.iter().any(|target| !target.from_bridge && is_own(target));
    match (proxied, own) {
        (true, false) if private.userland_proxy => Some(Way::Proxy),
        (true, false) | (false, true) if private.iptables => Some(Way::Dnat),
        (true, false) | (false, true) => Some(Way::Proxy),
        _ => None,
    }
}

/// The rules of the `nat` table with their counters, in a namespace or in ours; none where they cannot be read.
async fn rules(namespace: Option<Arc<Namespace>>) -> Option<String> {
    let list = || {
        let output = std::process::Command::new("iptables").args(["-w", "5", "-t", "nat", "-L", "-n", "-v", "-x"]).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let read = move || match namespace {
        Some(namespace) => namespace.within(list).ok().flatten(),
        None => list(),
    };
    tokio::task::spawn_blocking(read).await.ok().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::private::{Backing, Filesystem};

    #[test]
    fn the_way_is_known_where_the_address_tells() {
        let private = |userland_proxy, iptables| PrivateSpec {
            storage_driver: "overlay2".into(),
            backing: Backing { filesystem: Filesystem::Tmpfs, bytes: 1 },
            userland_proxy,
            iptables,
            binary: None,
            daemon: std::collections::BTreeMap::new(),
        };
        let port = PortSpec { host_ip: None, host_port: Some(5000), port: 80, protocol: "tcp".into() };
        let table = [
            ("http://127.0.0.1:5000/", (true, true), Some(Way::Proxy)),
            ("http://[::1]:5000/", (true, true), Some(Way::Proxy)),
            ("http://127.0.0.1:5000/", (false, true), Some(Way::Dnat)),
            ("http://198.18.0.1:5000/", (true, true), Some(Way::Dnat)),
            ("http://198.18.0.1:5000", (true, false), Some(Way::Proxy)),
            ("http://127.0.0.1:50001/", (true, true), None),
            ("http://172.17.0.2/", (true, true), None),
            ("http://127.0.0.1:5000/ http://198.18.0.1:5000/", (true, true), None),
        ];
        for (target, (proxy, iptables), way) in table {
            let from_host = Target { text: target.to_owned(), from_bridge: false };
            assert_eq!(meant(&port, &private(proxy, iptables), &[from_host], Some("198.18.0.1".into())), way, "{target}");
        }
        for (proxy, way) in [(true, Way::Proxy), (false, Way::Dnat)] {
            let neighbour = Target { text: "http://198.18.0.1:5000/".to_owned(), from_bridge: true };
            assert_eq!(meant(&port, &private(proxy, true), &[neighbour], Some("198.18.0.1".into())), Some(way));
        }
    }
}
