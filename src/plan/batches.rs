//! Which variants share an engine, and so a batch in each block; and whether engines are started often enough.

use super::order::Group;
use crate::model::diagnostic::Diagnostic;
use crate::model::estimate::ENOUGH_ENGINE_STARTS;
use crate::model::experiment::Design;
use crate::model::plan::copy_has_its_own_engine;
use crate::model::spec::EngineSpec;
use crate::model::tree::Span;
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

/// A warning where engines are compared over too few starts for a verdict: over `blocks` blocks in all, earlier runs' among them.
#[must_use]
pub fn few_engine_starts(design: &Design, blocks: u32, engines: &[EngineSpec], baseline: usize) -> Option<Diagnostic> {
    let started = |engine: &EngineSpec| engine.private.is_some() || engines[baseline].private.is_some();
    let compared = engines.iter().any(|engine| *engine != engines[baseline] && started(engine));
    let starts = design.engine_start(blocks, blocks) as usize;
    (compared && starts < ENOUGH_ENGINE_STARTS).then(|| {
        let times = if starts == 1 { "once".to_owned() } else { format!("{starts} times") };
        let message = format!("each private engine is started {times}: there will be no verdict about what differs by its engine");
        Diagnostic::warning(Span::default(), message)
            .help(format!("{ENOUGH_ENGINE_STARTS} starts are the least: raise `design.engine_starts`, or `design.blocks`"))
    })
}
