//! What the disks moved, and for whom.

use super::span::Span;
use super::{read, read_largest};
use crate::measure::samplers::counters::DiskMoment;
use crate::measure::samplers::source::group_io::Moved;
use crate::model::hygiene::Reading;

/// Fewer bytes are nobody's trouble.
const LEAST: u64 = 1 << 20;

pub(super) fn readings(span: &Span<'_>) -> Vec<Reading> {
    let disks = each_disk(span);
    let all = disks.as_ref().map(|disks| disks.iter().fold(Moved::default(), |all, (_, moved, _)| all.and(*moved)));
    let busy = |(name, _, busy_ms): (&DiskMoment, Moved, u64)| ((busy_ms as f64 / 1e3 / span.seconds).min(1.0), name.name.clone());
    let mut found =
        vec![read("cold-cache", all.map(|all| all.read as f64)), read_largest("disk-busy", disks.into_iter().flatten().map(busy))];
    found.extend(foreign(span, all));
    found
}

/// What each disk did that was there at both ends, and for how many milliseconds.
fn each_disk<'m>(span: &Span<'m>) -> Option<Vec<(&'m DiskMoment, Moved, u64)>> {
    let (begun, ended) = (span.begun.host.disks.as_ref()?, span.ended.host.disks.as_ref()?);
    let passed = ended.iter().filter_map(|disk| {
        let earlier = begun.iter().find(|known| known.name == disk.name)?;
        Some((disk, disk.moved.since(earlier.moved)?, disk.busy_ms.checked_sub(earlier.busy_ms)?))
    });
    Some(passed.collect())
}

/// Bytes that were moved for others than the units. Version 1 charges written bytes to nobody: there only what is read can be told
/// apart.
fn foreign(span: &Span<'_>, all: Option<Moved>) -> Option<Reading> {
    const CHECK: &str = "foreign-io";
    let Some(all) = all else { return Some(Reading::unobservable(CHECK)) };
    let charges_writes = span.ended.host.charges_writes;
    let counted = |moved: Moved| if charges_writes { moved.read + moved.written } else { moved.read };
    let bytes = counted(all);
    if bytes < LEAST {
        return None;
    }
    // A group without the controller is not known to have moved nothing.
    let own: Option<u64> = span.units().map(|unit| Some(counted(unit.ended.moved?.since(unit.begun.moved.unwrap_or_default())?))).sum();
    let share = own.map(|own| bytes.saturating_sub(own) as f64 / bytes as f64);
    let reading = read(CHECK, share);
    Some(if charges_writes || share.is_none() { reading } else { reading.about("only of what was read") })
}
