//! Which variants need trials, and why. What counts is a pair: a block in which the variant and the baseline both ended well.

use super::History;
use crate::model::plan::{Reason, Variant};

/// Sets every variant's reason and returns how many blocks each needs. Where anything runs, the baseline and its A/A copy (the
/// last variant) run beside it in every block. The copy, which is chosen with the baseline, has a need of its own: it, too, is
/// compared by pairs.
pub(super) fn decide(
    variants: &mut [Variant],
    baseline: usize,
    blocks: u32,
    selected: &[bool],
    history: &History,
    fresh: bool,
) -> Vec<u32> {
    let copy = variants.len() - 1;
    let past = |variant: &Variant| history.get(&*variant.id).filter(|past| *past.identity == *variant.identity);
    let base = past(&variants[baseline]).map(|past| past.good.clone()).unwrap_or_default();
    let mut needs = vec![0; variants.len()];
    for (index, variant) in variants.iter_mut().enumerate() {
        if !selected[if index == copy { baseline } else { index }] {
            continue;
        }
        let past = past(variant);
        let have = past.map_or(0, |past| u32::try_from(past.good.intersection(&base).count()).unwrap_or(u32::MAX));
        needs[index] = if fresh { blocks } else { blocks.saturating_sub(have) };
        if needs[index] == 0 {
            continue;
        }
        variant.reason = match (&variant.reason, past) {
            _ if fresh && past.is_some() => Reason::Fresh,
            (_, Some(past)) => match &past.failure {
                Some(why) => Reason::FailedBefore(why.clone()),
                None if !past.good.is_empty() => Reason::MoreBlocks { have, want: blocks },
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
