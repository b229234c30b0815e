//! The counters of a run, held open, and their values at one moment.

mod hardware;
mod host;
mod log;
mod moment;
mod network;
mod processes;
mod scope;
mod units;

pub use moment::Moment;
pub use scope::{Scope, ScopeUnit};

pub(super) use host::{BLOCK_DEVICES, all_tasks, clock, own_cpu, real_disks};
pub(super) use moment::{DiskMoment, Engine, Host, NamespaceMoment, Network, Unit};
pub(super) use processes::{Processes, spent};

use super::group;
use super::held::{Awaited, Buffer};
use super::quiet::QuietFiles;
use super::source::group_cpu::usage_ns;
use crate::measure::window::EngineProcesses;
use crate::model::cgroup::CgroupLayout;
use host::HostFiles;
use network::NetworkFiles;
use rustix::time::ClockId;
use units::UnitFiles;

/// The kernel's files that every trial of a run reads; opened once.
///
/// For each trial: [`Self::prepare`] before the window opens, [`Self::mark`] right after the start's answer and right after the last
/// exit, then [`Self::release`].
#[derive(Debug)]
pub struct Counters {
    layout: CgroupLayout,
    buffer: Buffer,
    host: HostFiles,
    quiet: QuietFiles,
    trial: Option<TrialFiles>,
}

/// The files that belong to one trial.
#[derive(Debug)]
struct TrialFiles {
    units: Vec<UnitFiles>,
    engine: Option<EngineFiles>,
    proxies: Processes,
    processes: Processes,
    network: Option<NetworkFiles>,
    /// Whether the window has begun.
    has_begun: bool,
}

#[derive(Debug)]
enum EngineFiles {
    Group(Option<Awaited>),
    Processes(Processes),
}

impl Counters {
    /// Opens them. `run_group` is the group around everything of the run, `shakedown/<run>`, relative to each hierarchy's root; it
    /// need not exist yet.
    #[must_use]
    pub fn open(layout: &CgroupLayout, run_group: &str) -> Self {
        Self {
            layout: layout.clone(),
            buffer: Buffer::default(),
            host: HostFiles::open(layout),
            quiet: QuietFiles::open(layout, run_group),
            trial: None,
        }
    }

    /// Opens what is there already of a trial, so that the first mark, which falls into the window, has less to do.
    pub fn prepare(&mut self, scope: &Scope) {
        self.host.prepare(&mut self.buffer);
        self.trial = Some(TrialFiles::open(&self.layout, scope));
    }

    /// Reads the counters that matter for a trial: a fraction of a millisecond, and less without a service.
    #[must_use]
    pub fn mark(&mut self, scope: &Scope) -> Moment {
        if self.trial.is_none() {
            self.prepare(scope);
        }
        let Self { layout, buffer, host, trial, .. } = self;
        let Some(trial) = trial else { return Moment::default() };
        let is_last = std::mem::replace(&mut trial.has_begun, true);
        let at = clock(ClockId::Monotonic);
        // What is subtracted from one another is read one after the other.
        let tasks_ns = host.tasks_ns(buffer);
        let units = trial.units.iter_mut().map(|unit| unit.read(buffer, host.disks())).collect();
        let engine = trial.engine.as_mut().map(|engine| engine.read(buffer));
        let proxies = trial.proxies.read(buffer).collect();
        let processes = trial.processes.read(buffer).collect();
        let host = Host { tasks_ns, ..host.read(buffer, is_last) };
        let network = trial.network.as_mut().map(|network| {
            if !is_last {
                network.find_loads(layout, scope);
            }
            network.read(buffer)
        });
        Moment { at, host, units, engine, proxies, processes, network }
    }

    /// Looks how many tasks the workloads have now, and how many of them only wait for others, and notes it in a moment. Worth a call
    /// some time after the first mark: at that moment a generator has not made its threads yet.
    pub fn glance(&mut self, moment: &mut Moment) {
        for unit in self.trial.iter_mut().flat_map(|trial| &mut trial.units) {
            if let Some(tasks) = unit.tasks(&mut self.buffer) {
                moment.saw_tasks(unit.name(), tasks);
                moment.saw_waiting(unit.name(), unit.waiting());
            }
        }
    }

    /// Closes what belongs to the trial alone. An open file of a process keeps its network namespace alive.
    pub fn release(&mut self) {
        self.trial = None;
    }

    /// What a look at a quiet host reads.
    pub(super) fn quiet(&mut self) -> (&mut QuietFiles, &mut Buffer) {
        (&mut self.quiet, &mut self.buffer)
    }
}

impl TrialFiles {
    fn open(layout: &CgroupLayout, scope: &Scope) -> Self {
        let engine = scope.engine.as_ref().map(|engine| match engine {
            EngineProcesses::Group(group) => EngineFiles::Group(group::cpu_usage(layout, group).map(Awaited::new)),
            EngineProcesses::Pids(pids) => EngineFiles::Processes(Processes::open(pids.iter().copied())),
        });
        Self {
            units: scope.units.iter().map(|unit| UnitFiles::open(layout, unit)).collect(),
            engine,
            proxies: Processes::open(scope.proxies.iter().map(|proxy| proxy.pid)),
            processes: Processes::open(apart(scope)),
            network: scope.has_service().then(|| NetworkFiles::open(scope)),
            has_begun: false,
        }
    }
}

impl EngineFiles {
    fn read(&mut self, buffer: &mut Buffer) -> Engine {
        match self {
            Self::Group(file) => Engine::Group(file.as_mut().and_then(|file| file.read(buffer, usage_ns))),
            Self::Processes(processes) => Engine::Processes(processes.read(buffer).collect()),
        }
    }
}

/// The named processes that are counted nowhere else: neither as the engine's, nor as ours. Each once.
fn apart(scope: &Scope) -> Vec<u32> {
    let (group, known) = match &scope.engine {
        Some(EngineProcesses::Group(group)) => (Some(group.as_str()), &[][..]),
        Some(EngineProcesses::Pids(pids)) => (None, pids.as_slice()),
        None => (None, &[][..]),
    };
    let is_known = |pid: u32| {
        pid == std::process::id()
            || known.contains(&pid)
            || scope.proxies.iter().any(|proxy| proxy.pid == pid)
            || group.is_some_and(|group| is_in(pid, group))
    };
    let mut pids: Vec<u32> = scope.processes.iter().flat_map(|(_, pids)| pids).copied().filter(|pid| !is_known(*pid)).collect();
    pids.sort_unstable();
    pids.dedup();
    pids
}

/// Whether a process is in a group or below it, in any hierarchy.
fn is_in(pid: u32, group: &str) -> bool {
    let text = std::fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap_or_default();
    let group = group.trim_matches('/');
    let is_below =
        |path: &str| path.trim_start_matches('/').strip_prefix(group).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    text.lines().filter_map(|line| line.splitn(3, ':').nth(2)).any(is_below)
}
