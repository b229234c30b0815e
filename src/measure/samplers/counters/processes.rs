//! CPU time of processes that are known by their numbers.

use super::super::held::{Buffer, Held};
use crate::measure::attest::processes::CpuTime;

/// Their files, held open: each stays that of its process, whoever gets the number later.
#[derive(Debug, Default)]
pub(in crate::measure::samplers) struct Processes(Vec<Option<Held>>);

impl Processes {
    /// Opens those that run.
    pub(in crate::measure::samplers) fn open(pids: impl IntoIterator<Item = u32>) -> Self {
        Self(pids.into_iter().map(|pid| Held::open(format!("/proc/{pid}/stat"))).collect())
    }

    /// Whether there are none at all.
    pub(in crate::measure::samplers) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The CPU time of each so far; none of one that ended.
    pub(in crate::measure::samplers) fn read<'a>(&'a self, buffer: &'a mut Buffer) -> impl Iterator<Item = Option<CpuTime>> + 'a {
        self.0.iter().map(|held| held.as_ref()?.read(buffer, CpuTime::parse))
    }
}

/// CPU seconds of all of them between two readings; a sum that lacks a part is absent.
pub(in crate::measure::samplers) fn spent(begun: &[Option<CpuTime>], ended: &[Option<CpuTime>]) -> Option<f64> {
    if begun.is_empty() || begun.len() != ended.len() {
        return None;
    }
    begun.iter().zip(ended).map(|(begun, ended)| (*ended)?.seconds_since((*begun)?)).sum()
}
