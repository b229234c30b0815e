//! What the parts of a trial say of each other: every name that one uses must be another's, and nothing may wait for itself.

use super::{Problems, endings, networks, ports};
use crate::model::diagnostic::Diagnostic;
use crate::model::spec::{Place, TrialSpec, UnitSpec};
use crate::model::stack::{Condition, Dependency, ServiceSpec};
use crate::model::symbol;
use crate::model::tree::Tree;
use std::collections::BTreeSet;

/// Checks the links of a trial, adds the dependencies that follow from names in use, and drops networks and volumes that nobody uses.
pub(super) fn link(spec: &mut TrialSpec, setup: &Tree, problems: &mut Problems) {
    let names: Vec<String> = spec.services.iter().map(|service| service.name.clone()).collect();
    for (name, unit) in spec.units() {
        let tree = tree_of(setup, name);
        shared_network(unit, &names, name, tree, problems);
        declared(unit, spec, tree, problems);
    }
    ports::check(spec, &|name| tree_of(setup, name), problems);
    for index in 0..spec.services.len() {
        let tree = tree_of(setup, &spec.services[index].name);
        dependencies(&mut spec.services[index], &names, tree, problems);
    }
    for workload in &spec.workloads {
        let mut workload = workload.clone();
        for (name, attribute) in used(workload.texts_mut()) {
            known_attribute(&name, &attribute, &names, tree_of(setup, &workload.name), problems);
        }
    }
    if let Some(cycle) = cycle(&spec.services) {
        problems.error(tree_of(setup, &cycle[0]), format!("services wait for each other: {}", cycle.join(" -> ")));
    }
    let mounted = |place| spec.units().filter(move |(_, unit)| unit.place == place).flat_map(|(_, unit)| unit.named_volumes());
    if let Some(name) = mounted(Place::Host).find(|name| mounted(Place::Container).any(|other| other == *name)) {
        let message = format!("the volume `{name}` is mounted by a container and by a host process, and cannot be both's");
        problems.0.push(Diagnostic::error(setup.span, message).help("mount a folder of the host in both: `./folder:/target`"));
    }
    filled(spec, setup, problems);
    endings::check(spec, setup, problems);
    let networks: BTreeSet<String> = spec.units().flat_map(|(_, unit)| unit.container.networks.iter().cloned()).collect();
    let volumes: BTreeSet<String> =
        spec.units().flat_map(|(_, unit)| unit.named_volumes().map(str::to_owned).collect::<Vec<_>>()).collect();
    spec.networks.retain(|network| networks.contains(&network.name));
    spec.volumes.retain(|volume| volumes.contains(&volume.name));
    networks::complete(spec, setup, problems);
}

/// A volume that begins with the content of a folder is a host process's: an engine cannot fill one of its own.
fn filled(spec: &TrialSpec, setup: &Tree, problems: &mut Problems) {
    let containers = || spec.units().filter(|(_, unit)| unit.place == Place::Container);
    for volume in spec.volumes.iter().filter(|volume| volume.from.is_some()) {
        let Some((unit, _)) = containers().find(|(_, unit)| unit.named_volumes().any(|name| name == volume.name)) else { continue };
        let from = volume.from.as_deref().unwrap_or(std::path::Path::new("")).display();
        let span = setup.get("volumes").and_then(|all| all.get(&volume.name)).map_or(setup.span, |tree| point(tree, "from"));
        let message = format!("the engine cannot fill the volume `{}`, which the container of `{unit}` mounts", volume.name);
        problems.0.push(
            Diagnostic::error(span, message).help(format!("copy it in before the start: `files: [{{source: {from}, target: /...}}]`")),
        );
    }
}

/// Where a unit stands in the manifest.
pub(super) fn tree_of<'t>(setup: &'t Tree, name: &str) -> &'t Tree {
    let named = ["services", "workloads"].into_iter().filter_map(|list| setup.get(list)?.get(name)).next();
    named.or_else(|| setup.get("workload").filter(|_| name == "workload")).unwrap_or(setup)
}

/// The volumes and networks that a unit uses must be declared.
fn declared(unit: &UnitSpec, spec: &TrialSpec, tree: &Tree, problems: &mut Problems) {
    for name in unit.named_volumes().filter(|name| !spec.volumes.iter().any(|volume| volume.name == **name)) {
        let known = spec.volumes.iter().map(|volume| volume.name.as_str());
        let problem = Diagnostic::error(point(tree, "volumes"), format!("there is no volume `{name}`")).suggest(name, known);
        problems.0.push(if spec.volumes.is_empty() {
            problem.help(format!("declare it at the top level: `volumes: {{{name}: {{}}}}`"))
        } else {
            problem
        });
    }
    for name in unit.container.networks.iter().filter(|name| !spec.networks.iter().any(|network| network.name == **name)) {
        let known = spec.networks.iter().map(|network| network.name.as_str());
        let problem = Diagnostic::error(point(tree, "networks"), format!("there is no network `{name}`")).suggest(name, known);
        problems.0.push(if spec.networks.is_empty() {
            problem.help(format!("declare it at the top level: `networks: {{{name}: {{}}}}`"))
        } else {
            problem
        });
    }
}

/// Where a key of a unit stands, or the unit without it.
pub(super) fn point(tree: &Tree, key: &str) -> crate::model::tree::Span {
    tree.get(key).map_or(tree.span, |value| value.span)
}

/// What a network mode excludes, and whether what it names is there.
fn shared_network(unit: &UnitSpec, services: &[String], own: &str, tree: &Tree, problems: &mut Problems) {
    let Some(mode) = unit.container.network_mode.as_deref() else { return };
    let mut error = |message: String| problems.0.push(Diagnostic::error(point(tree, "network_mode"), message));
    let shared = match mode.split_once(':') {
        Some(("service", name)) => {
            if name == own {
                error("`network_mode`: a unit cannot share its own network".to_owned());
            } else if !services.iter().any(|service| service == name) {
                let hint = crate::model::diagnostic::suggestion(name, services.iter().map(String::as_str)).map(|hint| format!("; {hint}"));
                error(format!("`network_mode`: there is no service `{name}`{}", hint.unwrap_or_default()));
            }
            true
        }
        Some(("container", name)) if !name.is_empty() => true,
        None if matches!(mode, "bridge" | "host" | "none") => mode != "bridge",
        _ => {
            error(format!("`network_mode` must be `bridge`, `host`, `none`, `service:NAME` or `container:NAME`, not `{mode}`"));
            return;
        }
    };
    if unit.place == Place::Host {
        return;
    }
    if !unit.container.networks.is_empty() {
        error(format!("`network_mode: {mode}` and `networks` exclude each other"));
    }
    if shared && !unit.container.ports.is_empty() {
        error(format!("`network_mode: {mode}` publishes no port: remove `ports`, or `network_mode`"));
    }
}

/// Checks the services that one waits for, and adds those whose network it shares or whose names it uses.
fn dependencies(service: &mut ServiceSpec, services: &[String], tree: &Tree, problems: &mut Problems) {
    for dependency in &service.depends_on {
        if !services.contains(&dependency.service) {
            let message = format!("`depends_on`: there is no service `{}`", dependency.service);
            let known = services.iter().filter(|name| **name != service.name).map(String::as_str);
            problems.0.push(Diagnostic::error(point(tree, "depends_on"), message).suggest(&dependency.service, known));
        }
    }
    let mut also: Vec<String> = service
        .unit
        .container
        .network_mode
        .as_deref()
        .and_then(|mode| mode.strip_prefix("service:"))
        .map(str::to_owned)
        .into_iter()
        .collect();
    let mut before = service.unit.clone();
    for (name, attribute) in used(before.texts_mut()) {
        if known_attribute(&name, &attribute, services, tree, problems) && name != symbol::HOST {
            also.push(name);
        }
    }
    let mut whole = service.clone();
    for (name, attribute) in used(whole.texts_mut()) {
        known_attribute(&name, &attribute, services, tree, problems);
    }
    if also.contains(&service.name) {
        problems.error(tree, format!("`{}` uses a name of its own that is known only once it runs", service.name));
        return;
    }
    for name in also {
        if !service.depends_on.iter().any(|dependency| dependency.service == name) {
            service.depends_on.push(Dependency { service: name, condition: Condition::ServiceStarted });
        }
    }
}

/// What texts ask of others: name and attribute.
pub(super) fn used(texts: Vec<&mut String>) -> BTreeSet<(String, String)> {
    texts.into_iter().flat_map(|text| symbol::symbols(text).map(|(a, b)| (a.to_owned(), b.to_owned())).collect::<Vec<_>>()).collect()
}

/// Whether a symbol is one of ours; one that is, and asks for what nobody knows, is an error.
fn known_attribute(name: &str, attribute: &str, services: &[String], tree: &Tree, problems: &mut Problems) -> bool {
    let attributes: &[&str] = if name == symbol::HOST { &symbol::HOST_ATTRIBUTES } else { &symbol::UNIT_ATTRIBUTES };
    if name != symbol::HOST && !services.iter().any(|service| service == name) {
        return false;
    }
    if !attributes.contains(&attribute) {
        let problem = Diagnostic::error(tree.span, format!("`{name}` has no `{attribute}`"));
        let problem = problem.suggest(attribute, attributes.iter().copied());
        if !problems.0.contains(&problem) {
            problems.0.push(problem);
        }
    }
    true
}

/// Services that wait for each other, the first one twice.
fn cycle(services: &[ServiceSpec]) -> Option<Vec<String>> {
    let find = |name: &str| services.iter().find(|service| service.name == name);
    for start in services {
        let mut path = vec![start];
        let mut choices = vec![start.depends_on.iter()];
        let mut seen = BTreeSet::new();
        while let Some(next) = choices.last_mut() {
            match next.next() {
                Some(dependency) if dependency.service == start.name => {
                    return Some(path.iter().map(|service| service.name.clone()).chain([start.name.clone()]).collect());
                }
                Some(dependency) => {
                    if let Some(service) = find(&dependency.service).filter(|service| seen.insert(service.name.as_str())) {
                        path.push(service);
                        choices.push(service.depends_on.iter());
                    }
                }
                None => {
                    path.pop();
                    choices.pop();
                }
            }
        }
    }
    None
}
