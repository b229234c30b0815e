//! Services that are waited for until they have ended: what cannot be asked of them, or done in them, after that.

use super::Problems;
use super::links::{point, tree_of, used};
use crate::model::diagnostic::Diagnostic;
use crate::model::spec::TrialSpec;
use crate::model::tree::Tree;
use std::collections::BTreeSet;

/// A service that others wait for until it has ended is not there any more for whoever asks where it is, and is never looked at.
pub(super) fn check(spec: &mut TrialSpec, setup: &Tree, problems: &mut Problems) {
    let names = spec.services.iter().map(|service| service.name.clone());
    let ends: BTreeSet<String> = names.filter(|name| spec.is_waited_out(name)).collect();
    for service in spec.services.iter().filter(|service| ends.contains(&service.name)) {
        let tree = tree_of(setup, &service.name);
        let keys = [("ready", service.ready.is_some()), ("prepare", !service.prepare.is_empty())];
        for (key, _) in keys.into_iter().filter(|(_, given)| *given) {
            let message = format!("others wait until `{}` has ended: nothing can be done in it by then, drop `{key}`", service.name);
            problems.0.push(Diagnostic::error(point(tree, key), message));
        }
    }
    let shares = spec.units().filter_map(|(name, unit)| Some((name, unit.container.network_mode.as_deref()?.strip_prefix("service:")?)));
    for (name, other) in shares.filter(|(_, other)| ends.contains(*other)) {
        let message = format!("`network_mode`: others wait until `{other}` has ended, and its network ends with it");
        problems.0.push(Diagnostic::error(point(tree_of(setup, name), "network_mode"), message));
    }
    let services = spec.services.iter_mut().map(|service| (service.name.clone(), used(service.texts_mut())));
    let workloads = spec.workloads.iter_mut().map(|workload| (workload.name.clone(), used(workload.texts_mut())));
    for (name, symbols) in services.chain(workloads).collect::<Vec<_>>() {
        if let Some((other, attribute)) = symbols.into_iter().find(|(other, attribute)| ends.contains(other) && attribute != "name") {
            let message = format!("others wait until `{other}` has ended: it has no `{attribute}` any more when `{name}` asks for it");
            problems.error(tree_of(setup, &name), message);
        }
    }
}
