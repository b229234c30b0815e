//! What is read once of a unit's process: its mounts and its network namespace.

use super::Watched;
use crate::measure::attest::network::{self, Known, Namespace};
use crate::measure::attest::processes;
use crate::measure::attest::storage::{self, Root};
use crate::model::cgroup::CgroupLayout;
use crate::model::event::Attested;
use crate::model::mounts::MountTable;
use std::path::Path;

/// After so many looks in a row with one difference from what was asked no other is taken: it is no passing state of the start.
const STEADY_LOOKS: u32 = 3;

/// What must be seen of a unit from within.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Expected {
    /// The root of the engine's own process: nothing is believed of a container until it has left that. None for a host process,
    /// which is complete before the window opens.
    pub outside: Option<Root>,
    /// Its mounts; none when they do not matter.
    pub storage: Option<storage::Asked>,
    /// Its network namespace, and whose are known; those of the window's other units are added by themselves.
    pub network: Option<(Namespace, Known)>,
}

/// What was seen of a unit's process so far.
#[derive(Debug, Default)]
pub(super) struct Inside {
    storage: Vec<Attested>,
    namespace: Option<u64>,
    source: Option<String>,
    steady: u32,
}

impl Inside {
    /// Looks unless all has been seen.
    pub(super) fn look(&mut self, layout: &CgroupLayout, watched: &Watched) {
        let Some(expected) = watched.inside.as_ref().filter(|_| !self.is_settled(watched)) else { return };
        let Some(pid) = processes::first_pid(layout, &watched.leaf) else { return };
        // The root tells for the network, too, that the runtime is done: a container's namespaces are entered before that.
        let is_left = |mounts: &MountTable| expected.outside.as_ref().is_none_or(|outside| outside.is_left(mounts));
        let Some((mounts, source)) = storage::mounts(pid).filter(|(mounts, _)| is_left(mounts)) else { return };
        let namespace = expected.network.as_ref().and_then(|_| network::number(pid));
        if expected.network.is_some() && namespace.is_none() {
            return; // gone between two readings
        }
        let asked = expected.storage.as_ref();
        let rows = asked.map_or_else(Vec::new, |asked| storage::rows_of_process(&watched.unit, pid, asked, &mounts, &source));
        self.steady = if alike(&self.storage, &rows) { self.steady + 1 } else { 1 };
        (self.storage, self.namespace, self.source) = (rows, namespace, Some(format!("/proc/{pid}/ns/net")));
    }

    /// Whether another look can tell nothing more.
    pub(super) fn is_settled(&self, watched: &Watched) -> bool {
        watched.inside.is_none() || self.steady >= STEADY_LOOKS || self.steady > 0 && !self.storage.iter().any(Attested::differs)
    }

    /// The namespace that the unit turned out to be in.
    pub(super) fn namespace(&self) -> Option<u64> {
        self.namespace
    }

    /// The rows; `units` are the window's units with their namespaces.
    pub(super) fn into_rows(self, watched: &Watched, units: &[(String, u64)]) -> Vec<Attested> {
        let Some(expected) = &watched.inside else { return Vec::new() };
        let unseen = || format!("cgroup.procs of {}", watched.leaf);
        let mut rows = self.storage;
        if let (Some(asked), 0) = (&expected.storage, self.steady) {
            rows = storage::rows(&watched.unit, asked, None, &unseen(), Path::to_path_buf);
        }
        if let Some((asked, known)) = &expected.network {
            let others = known.others.iter().chain(units).cloned().collect();
            let known = Known { engine: known.engine, others };
            rows.push(network::row(&watched.unit, asked, &known, self.namespace, &self.source.unwrap_or_else(unseen)));
        }
        rows
    }
}

/// Whether two looks found the same, by whatever process.
fn alike(one: &[Attested], other: &[Attested]) -> bool {
    one.iter().map(|row| &row.found).eq(other.iter().map(|row| &row.found))
}
