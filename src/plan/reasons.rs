//! Which variants need trials, and why.

use super::History;
use crate::model::plan::{Reason, Variant};

/// Sets every variant's reason and returns how many blocks each needs. Where anything runs, the baseline and its A/A copy (the
/// last variant) run beside it in every block.
pub(super) fn decide(
    variants: &mut [Variant],
    baseline: usize,
    blocks: u32,
    selected: &[bool],
    history: &History,
    fresh: bool,
) -> Vec<u32> {
    let copy = variants.len() - 1;
    let mut needs = vec![0; variants.len()];
    for (index, variant) in variants.iter_mut().enumerate().filter(|(index, _)| *index != copy) {
        if !selected[index] {
            continue;
        }
        let past = history.get(&*variant.id).filter(|past| *past.identity == *variant.identity);
        let have = past.map_or(0, |past| past.good);
        needs[index] = if fresh { blocks } else { blocks.saturating_sub(have) };
        if needs[index] == 0 {
            continue;
        }
        variant.reason = match (&variant.reason, past) {
            _ if fresh && past.is_some() => Reason::Fresh,
            (_, Some(past)) => match &past.failure {
                Some(why) => Reason::FailedBefore(why.clone()),
                None if have > 0 => Reason::MoreBlocks { have, want: blocks },
                None => Reason::New,
            },
            (reason, None) => reason.clone(),
        };
    }
    let most = needs.iter().copied().max().unwrap_or(0);
    if most > 0 {
        if needs[baseline] == 0 {
            variants[baseline].reason = Reason::Baseline;
        }
        needs[baseline] = most;
        needs[copy] = most;
    }
    variants[copy].reason = variants[baseline].reason.clone();
    needs
}
