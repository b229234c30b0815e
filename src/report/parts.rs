//! The parts of the CPU time in the order of tables and charts.

use crate::analyse::cpu_parts;
use crate::model::cpu::{CpuPart, CpuSplit};
use crate::model::results::Results;

/// The parts that any of `splits` has: workloads in their order, services by name, then what trials have in common. Each once.
pub(super) fn parts(results: &Results, splits: &[CpuSplit]) -> Vec<CpuPart> {
    let is_there = |part: &CpuPart| splits.iter().flat_map(|split| &split.shares).any(|share| share.part == *part);
    let mut found: Vec<CpuPart> = Vec::new();
    for part in cpu_parts(results).into_iter().map(|(_, part)| part).chain(CpuPart::COMMON) {
        if is_there(&part) && !found.contains(&part) {
            found.push(part);
        }
    }
    found
}
