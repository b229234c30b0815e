//! What became of connections and packets; only where load goes to a service.

use super::span::Span;
use super::{largest, read, read_largest};
use crate::measure::samplers::counters::{NamespaceMoment, Network};
use crate::model::hygiene::Reading;

/// A share of fewer segments than these says nothing.
const LEAST_SEGMENTS: u64 = 1000;

pub(super) fn readings(span: &Span<'_>) -> Vec<Reading> {
    let Some((begun, ended)) = span.begun.network.as_ref().zip(span.ended.network.as_ref()) else { return Vec::new() };
    let grown = |counter: fn(&Network) -> Option<u64>| Some(counter(ended)?.checked_sub(counter(begun)?)? as f64);
    let tracked = ended.conntrack.zip(ended.conntrack_most).map(|(now, most)| now.entries as f64 / most as f64);
    let ports =
        ended.namespaces.iter().filter_map(|own| own.ports.map(|(waiting, ports)| (waiting as f64 / f64::from(ports), own.whose.clone())));
    let mut found = vec![
        read("softnet-drops", grown(|network| network.softnet_drops)),
        listen_drops(begun, ended),
        read("conntrack", tracked),
        read("conntrack-drops", grown(|network| Some(network.conntrack?.drops))),
        if ended.knows_loads { read_largest("ports", ports) } else { Reading::unobservable("ports") },
    ];
    found.extend(retransmits(begun, ended));
    found
}

/// A namespace at both ends; none at the beginning when it was not known yet.
fn ends<'n>(begun: &'n Network, ended: &'n Network) -> impl Iterator<Item = (Option<&'n NamespaceMoment>, &'n NamespaceMoment)> {
    ended.namespaces.iter().map(|own| (begun.namespaces.iter().find(|known| known.number == own.number), own))
}

/// Refused connections in all namespaces, and where most of them were.
fn listen_drops(begun: &Network, ended: &Network) -> Reading {
    let drops = |(begun, ended): (Option<&NamespaceMoment>, &NamespaceMoment)| {
        Some((ended.listen_drops?.checked_sub(begun?.listen_drops?)?, ended.whose.clone()))
    };
    let all: Option<Vec<(u64, String)>> = ends(begun, ended).map(drops).collect();
    let Some(all) = all.filter(|_| ended.knows_services) else { return Reading::unobservable("listen-drops") };
    let reading = Reading::of("listen-drops", all.iter().map(|(drops, _)| *drops).sum::<u64>() as f64);
    match all.into_iter().filter(|(drops, _)| *drops > 0).max_by_key(|(drops, _)| *drops) {
        Some((_, whose)) => reading.about(whose),
        None => reading,
    }
}

/// The largest share of segments sent again, of namespaces that sent enough; nothing when none did.
fn retransmits(begun: &Network, ended: &Network) -> Option<Reading> {
    const CHECK: &str = "retransmits";
    let segments = |(begun, ended): (Option<&NamespaceMoment>, &NamespaceMoment)| {
        let (before, after) = (begun?.segments?, ended.segments?);
        Some((after.0.checked_sub(before.0)?, after.1.checked_sub(before.1)?, ended.whose.clone()))
    };
    let all: Option<Vec<(u64, u64, String)>> = ends(begun, ended).map(segments).collect();
    let Some(all) = all.filter(|_| ended.knows_services) else { return Some(Reading::unobservable(CHECK)) };
    let enough = all.into_iter().filter(|(sent, ..)| *sent >= LEAST_SEGMENTS);
    let (share, whose) = largest(enough.map(|(sent, again, whose)| (again as f64 / sent as f64, whose)))?;
    let reading = Reading::of(CHECK, share);
    Some(if share > 0.0 { reading.about(whose) } else { reading })
}
