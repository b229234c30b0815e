//! The network namespaces of a trial.

use super::moment::{NamespaceMoment, Network};
use super::scope::Scope;
use crate::measure::attest::{network, processes};
use crate::measure::samplers::held::{Buffer, Held};
use crate::measure::samplers::source::conntrack::Conntrack;
use crate::measure::samplers::source::sockstat::{ephemeral_ports, time_wait};
use crate::measure::samplers::source::{number, snmp, softnet};
use crate::model::cgroup::CgroupLayout;

/// Ephemeral ports of a fresh network namespace: 32768 to 60999 (ip_local_port_range in the kernel's ip-sysctl).
const DEFAULT_PORTS: u32 = 28_232;

/// The files that tell of the network while a trial runs.
#[derive(Debug)]
pub(super) struct NetworkFiles {
    softnet: Option<Held>,
    conntrack: Option<Held>,
    conntrack_most: Option<Held>,
    namespaces: Vec<Namespace>,
    /// Whether that of every service is among them.
    knows_services: bool,
    /// Whether that of every workload is among them.
    knows_loads: bool,
}

/// The files of one namespace. While one is open the namespace lives on, whatever becomes of its processes.
#[derive(Debug)]
struct Namespace {
    number: u64,
    whose: String,
    netstat: Option<Held>,
    snmp: Option<Held>,
    sockstat: Option<Held>,
    /// How many ephemeral ports load from it has; none where no load comes from it.
    ports: Option<u32>,
}

impl NetworkFiles {
    /// Opens the namespaces of the services that run, and that of the proxies.
    pub(super) fn open(scope: &Scope) -> Self {
        let here = scope.generator.unwrap_or_else(std::process::id);
        let mut files = Self {
            softnet: Held::open("/proc/net/softnet_stat"),
            conntrack: Held::open(format!("/proc/{here}/net/stat/nf_conntrack")),
            conntrack_most: Held::open("/proc/sys/net/netfilter/nf_conntrack_max"),
            namespaces: Vec::new(),
            knows_services: true,
            knows_loads: false,
        };
        for service in scope.units.iter().filter(|unit| unit.is_service) {
            files.knows_services &= service.pid.and_then(|pid| files.add(pid, &service.name, None)).is_some();
        }
        if let Some(proxy) = scope.proxies.first() {
            files.knows_services &= files.add(proxy.pid, "docker-proxy", None).is_some();
        }
        files
    }

    /// Finds where the load comes from: a workload's own namespace is there once it was started.
    pub(super) fn find_loads(&mut self, layout: &CgroupLayout, scope: &Scope) {
        let mut knows = true;
        for workload in scope.units.iter().filter(|unit| !unit.is_service) {
            let pid = match workload.leaf.as_str() {
                "" => Some(scope.generator.unwrap_or_else(std::process::id)),
                leaf => processes::first_pid(layout, leaf),
            };
            let found = pid.and_then(|pid| {
                let ports = scope.generator_ports.unwrap_or_else(|| ports(pid));
                self.add(pid, &workload.name, Some(ports))
            });
            knows &= found.is_some();
        }
        self.knows_loads = knows;
    }

    /// Adds the namespace of a process when it is another one; none when there is no such process.
    fn add(&mut self, pid: u32, whose: &str, ports: Option<u32>) -> Option<()> {
        let number = network::number(pid)?;
        if let Some(known) = self.namespaces.iter_mut().find(|known| known.number == number) {
            known.ports = known.ports.or(ports);
            return Some(());
        }
        let file = |name: &str| Held::open(format!("/proc/{pid}/net/{name}"));
        let (netstat, snmp, sockstat) = (file("netstat"), file("snmp"), file("sockstat"));
        self.namespaces.push(Namespace { number, whose: whose.to_owned(), netstat, snmp, sockstat, ports });
        Some(())
    }

    pub(super) fn read(&self, buffer: &mut Buffer) -> Network {
        Network {
            softnet_drops: self.softnet.as_ref().and_then(|file| file.read(buffer, softnet::drops)),
            conntrack: self.conntrack.as_ref().and_then(|file| file.read(buffer, Conntrack::parse)),
            conntrack_most: self.conntrack_most.as_ref().and_then(|file| file.read(buffer, number)),
            namespaces: self.namespaces.iter().map(|namespace| namespace.read(buffer)).collect(),
            knows_services: self.knows_services,
            knows_loads: self.knows_loads,
        }
    }
}

impl Namespace {
    fn read(&self, buffer: &mut Buffer) -> NamespaceMoment {
        let waiting = self.sockstat.as_ref().filter(|_| self.ports.is_some()).and_then(|file| file.read(buffer, time_wait));
        NamespaceMoment {
            number: self.number,
            whose: self.whose.clone(),
            listen_drops: self.netstat.as_ref().and_then(|file| file.read(buffer, snmp::listen_drops)),
            segments: self.snmp.as_ref().and_then(|file| file.read(buffer, snmp::segments)),
            ports: waiting.zip(self.ports),
        }
    }
}

/// How many ephemeral ports a process has that set none itself: only those of our own namespace can be read.
fn ports(pid: u32) -> u32 {
    let is_ours = network::number(pid) == network::number(std::process::id());
    let text = is_ours.then(|| std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok()).flatten();
    text.as_deref().and_then(ephemeral_ports).unwrap_or(DEFAULT_PORTS)
}
