//! Which variants share an engine, and so a batch in each block.

use super::order::Group;
use crate::model::plan::copy_has_its_own_engine;
use crate::model::spec::EngineSpec;
use std::collections::HashMap;

/// Groups the variants by engine, in order of first appearance; only those that run at all. `engines` are those of the variants
/// without the A/A copy of the baseline, which is the last one of `needs` and runs on the baseline's engine or on an equal one of its own.
#[must_use]
pub fn groups(engines: &[EngineSpec], baseline: usize, needs: &[u32]) -> Vec<Group> {
    let of_copy = copy_has_its_own_engine(&engines[baseline], engines);
    let mut index: HashMap<(&EngineSpec, bool), usize> = HashMap::new();
    let mut groups: Vec<Group> = Vec::new();
    for variant in (0..needs.len()).filter(|variant| needs[*variant] > 0) {
        let copy = variant == engines.len();
        let engine = if copy { &engines[baseline] } else { &engines[variant] };
        let group = *index.entry((engine, copy && of_copy)).or_insert_with(|| {
            groups.push(Group { variants: Vec::new() });
            groups.len() - 1
        });
        groups[group].variants.push(variant as u32);
    }
    groups
}
