//! The groups of a trial's units.

use super::moment::Unit;
use super::scope::ScopeUnit;
use crate::measure::attest::processes;
use crate::measure::samplers::group::{self, Tasks};
use crate::measure::samplers::held::{Awaited, Buffer};
use crate::measure::samplers::source::diskstats::Number;
use crate::measure::samplers::source::group_cpu::{Quota, usage_ns};
use crate::measure::samplers::source::group_io::Moved;
use crate::model::cgroup::CgroupLayout;
use std::path::PathBuf;

/// Of so many processes it is asked at most whether they wait: a look at one takes some microseconds of the window.
const MOST_PROCESSES: usize = 64;

/// The files of one unit.
#[derive(Debug)]
pub(super) struct UnitFiles {
    name: String,
    cpu: Option<Awaited>,
    quota: Option<Awaited>,
    tasks: Option<Tasks>,
    /// The list of its processes.
    procs: Option<PathBuf>,
    io: Option<Awaited>,
}

impl UnitFiles {
    pub(super) fn open(layout: &CgroupLayout, unit: &ScopeUnit) -> Self {
        let quota = unit.quota.and_then(|_| group::cpu_quota(layout, &unit.leaf));
        Self {
            name: unit.name.clone(),
            cpu: group::cpu_usage(layout, &unit.cgroup).map(Awaited::new),
            quota: quota.map(Awaited::new),
            tasks: (!unit.is_service).then(|| Tasks::new(layout, &unit.leaf)),
            procs: if unit.is_service { None } else { group::procs(layout, &unit.leaf) },
            io: group::io(layout, &unit.cgroup).map(Awaited::new),
        }
    }

    pub(super) fn read(&mut self, buffer: &mut Buffer, disks: &[Number]) -> Unit {
        Unit {
            name: self.name.clone(),
            cpu_ns: self.cpu.as_mut().and_then(|file| file.read(buffer, usage_ns)),
            quota: self.quota.as_mut().and_then(|file| file.read(buffer, Quota::parse)),
            seen_quota: None,
            tasks: self.tasks(buffer),
            waiting: 0,
            moved: self.io.as_mut().and_then(|file| file.read(buffer, |text| Moved::parse(text, disks))),
        }
    }

    /// How many tasks it has now; only asked of workloads.
    pub(super) fn tasks(&mut self, buffer: &mut Buffer) -> Option<u64> {
        self.tasks.as_mut()?.read(buffer).filter(|tasks| *tasks > 0)
    }

    /// How many of its processes only wait for others now, see [`processes::waiting`]; only asked of workloads.
    pub(super) fn waiting(&self) -> u64 {
        self.procs.as_deref().map_or(0, |procs| processes::waiting(procs, MOST_PROCESSES))
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }
}
