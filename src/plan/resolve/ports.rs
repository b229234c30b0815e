//! Published ports: no two units may want the same one, and something must carry their packets.

use super::Problems;
use crate::model::diagnostic::Diagnostic;
use crate::model::spec::{Place, TrialSpec, UnitSpec};
use crate::model::stack::{NetworkSpec, PortSpec};
use crate::model::tree::Tree;

/// Checks the ports of a trial's containers; `tree_of` tells where a unit stands in the manifest.
pub(super) fn check<'t>(spec: &TrialSpec, tree_of: &dyn Fn(&str) -> &'t Tree, problems: &mut Problems) {
    let mut taken: Vec<(&str, &PortSpec)> = Vec::new();
    for (name, unit) in spec.units().filter(|(_, unit)| unit.place == Place::Container && !unit.container.ports.is_empty()) {
        let tree = tree_of(name);
        let span = tree.get("ports").map_or(tree.span, |ports| ports.span);
        for port in &unit.container.ports {
            if let Some((other, _)) = taken.iter().find(|(other, taken)| collide(port, taken) || *other == name && *taken == port) {
                let who = if *other == name { "twice".to_owned() } else { format!("by `{other}` and by `{name}`") };
                problems.0.push(Diagnostic::error(span, format!("`ports`: {} is published {who}", spelled(port))));
            }
            taken.push((name, port));
        }
        if let Some(why) = nothing_carries(unit, spec) {
            problems.0.push(Diagnostic::error(span, format!("`ports`: {why}")));
        }
    }
}

/// Whether both cannot be had on one host: the same protocol and port, and addresses of which one holds the other.
fn collide(one: &PortSpec, other: &PortSpec) -> bool {
    let addresses = match (one.host_ip, other.host_ip) {
        (None, _) | (_, None) => true,
        (Some(a), Some(b)) => a == b || a.is_ipv4() == b.is_ipv4() && (a.is_unspecified() || b.is_unspecified()),
    };
    addresses && one.host_port.is_some() && one.host_port == other.host_port && one.protocol == other.protocol
}

/// Why no packet would reach a published port.
fn nothing_carries(unit: &UnitSpec, spec: &TrialSpec) -> Option<String> {
    if let Some(private) = &spec.engine.private
        && !private.iptables
        && !private.userland_proxy
    {
        return Some("with `iptables: false` and `userland_proxy: false` nothing carries packets to a published port".to_owned());
    }
    let declared = |name: &String| spec.networks.iter().find(|network| network.name == *name);
    let networks: Vec<&NetworkSpec> = unit.container.networks.iter().filter_map(declared).collect();
    let closed = |network: &&NetworkSpec| network.internal || network.driver != "bridge";
    let all = !networks.is_empty() && networks.len() == unit.container.networks.len() && networks.iter().all(closed);
    all.then(|| {
        let names: Vec<String> = networks.iter().map(|network| format!("`{}`", network.name)).collect();
        format!("nothing is published on {}: a port needs a network of the driver bridge that is not internal", names.join(" and "))
    })
}

fn spelled(port: &PortSpec) -> String {
    let host = port.host_port.map_or_else(|| format!("the container's {}", port.port), |host| host.to_string());
    match port.host_ip {
        Some(ip) => format!("{host}/{} at {ip}", port.protocol),
        None => format!("{host}/{}", port.protocol),
    }
}
