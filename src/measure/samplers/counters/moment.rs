//! The values of one moment: counters as they stand, which only two of them make something of.

use crate::measure::attest::processes::CpuTime;
use crate::measure::samplers::source::conntrack::Conntrack;
use crate::measure::samplers::source::group_cpu::Quota;
use crate::measure::samplers::source::group_io::Moved;
use crate::measure::samplers::source::stat::Stat;
use std::time::Duration;

/// What the counters of a trial were at one moment.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Moment {
    /// On the monotonic clock.
    pub(in crate::measure::samplers) at: Duration,
    pub(in crate::measure::samplers) host: Host,
    /// In the order of the scope.
    pub(in crate::measure::samplers) units: Vec<Unit>,
    pub(in crate::measure::samplers) engine: Option<Engine>,
    /// In the order of the scope.
    pub(in crate::measure::samplers) proxies: Vec<Option<CpuTime>>,
    /// The processes that the experiment names and that are counted nowhere else.
    pub(in crate::measure::samplers) processes: Vec<Option<CpuTime>>,
    /// Only where load goes to a service.
    pub(in crate::measure::samplers) network: Option<Network>,
}

/// Of the whole host.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Host {
    /// `/proc/stat`.
    pub stat: Option<Stat>,
    /// CPU time of all tasks in nanoseconds; only where the root group of `cpuacct` tells.
    pub tasks_ns: Option<u64>,
    /// CPU time of shakedown itself.
    pub own: Duration,
    /// Time in which all tasks waited for memory, in microseconds.
    pub memory_full_us: Option<u64>,
    /// Time in which all tasks waited for a disk, in microseconds.
    pub io_full_us: Option<u64>,
    /// Pages swapped in and out.
    pub swapped: Option<u64>,
    /// The disks themselves, without what lies on them (partitions, loop devices, mappings).
    pub disks: Option<Vec<DiskMoment>>,
    /// Whether written bytes are charged to the group of who wrote them: on version 2.
    pub charges_writes: bool,
    /// How often CPUs slowed themselves for heat.
    pub throttles: Option<u64>,
    /// How many CPUs have another governor than `performance`, of how many; read at the end only.
    pub governors: Option<(u32, u32)>,
    /// Mean clock rate of the CPUs in Hz; read at the end only.
    pub clock_rate: Option<f64>,
    /// What the kernel complained of since the moment before.
    pub complaints: Option<Vec<String>>,
}

/// Of one disk.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DiskMoment {
    /// Its name.
    pub name: String,
    /// What it moved.
    pub moved: Moved,
    /// Milliseconds in which it had something to do.
    pub busy_ms: u64,
}

/// Of one unit.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Unit {
    /// Its name.
    pub name: String,
    /// CPU time in nanoseconds of our group around it.
    pub cpu_ns: Option<u64>,
    /// What its quota did, by the limited group.
    pub quota: Option<Quota>,
    /// Periods of its quota in the window, and in how many it was throttled, as somebody saw who watched the limited group.
    pub seen_quota: Option<(u64, u64)>,
    /// The most tasks that it was seen with.
    pub tasks: Option<u64>,
    /// How many of them were seen to wait for others only.
    pub waiting: u64,
    /// What it moved from and to the disks.
    pub moved: Option<Moved>,
}

/// Of the engine's own processes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Engine {
    /// CPU time of their group in nanoseconds; their docker-proxies are in it.
    Group(Option<u64>),
    /// CPU time of each.
    Processes(Vec<Option<CpuTime>>),
}

/// Of the network.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Network {
    /// Packets dropped because a CPU's backlog was full.
    pub softnet_drops: Option<u64>,
    /// Connection tracking in the namespace from which the load comes.
    pub conntrack: Option<Conntrack>,
    /// How many connections can be tracked.
    pub conntrack_most: Option<u64>,
    /// Every namespace of the trial, each once.
    pub namespaces: Vec<NamespaceMoment>,
    /// Whether that of every service is among them.
    pub knows_services: bool,
    /// Whether that of every workload is among them.
    pub knows_loads: bool,
}

/// Of one network namespace.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NamespaceMoment {
    /// The kernel's number of it.
    pub number: u64,
    /// Whose it is.
    pub whose: String,
    /// Connections that a full queue refused.
    pub listen_drops: Option<u64>,
    /// TCP segments sent, and sent again.
    pub segments: Option<(u64, u64)>,
    /// Sockets in TIME_WAIT and ephemeral ports, where load comes from it.
    pub ports: Option<(u64, u32)>,
}

impl Moment {
    /// Tells that a unit was once seen with so many tasks, for example by a sampler.
    pub fn saw_tasks(&mut self, unit: &str, tasks: u64) {
        for seen in self.units.iter_mut().filter(|known| known.name == unit) {
            seen.tasks = seen.tasks.max(Some(tasks));
        }
    }

    /// Tells that so many of a unit's tasks only waited for others.
    pub(super) fn saw_waiting(&mut self, unit: &str, waiting: u64) {
        for seen in self.units.iter_mut().filter(|known| known.name == unit) {
            seen.waiting = waiting;
        }
    }

    /// Tells how many periods of its quota a unit had in the window, and in how many it was throttled: of a group that is gone at the
    /// last mark, only who watched it knows (`window::Readings::quota`).
    pub fn saw_quota(&mut self, unit: &str, periods: u64, throttled: u64) {
        for seen in self.units.iter_mut().filter(|known| known.name == unit) {
            seen.seen_quota = Some((periods, throttled));
        }
    }
}
