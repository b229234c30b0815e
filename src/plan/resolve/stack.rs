//! Services, networks and volumes of a trial.

use super::mounts;
use super::{Context, Problems, unit};
use crate::model::stack::{Condition, Dependency, NetworkSpec, Probe, ReadySpec, ServiceSpec, StepSpec, VolumeSpec};
use crate::model::symbol;
use crate::model::tree::{Node, Tree};
use std::path::PathBuf;
use std::time::Duration;

/// How long a step may take when nothing is declared.
const STEP_LIMIT: Duration = Duration::from_secs(300);
/// How long a service may take to become ready when nothing is declared, how often is looked, and how often it must be so.
const READY_LIMIT: Duration = Duration::from_secs(60);
const READY_INTERVAL: Duration = Duration::from_millis(100);
const READY_SUCCESSES: u32 = 3;
/// The pause between two looks of a health check, which starts a process each.
const HEALTH_INTERVAL: Duration = Duration::from_secs(1);

pub(super) fn networks(setup: &Tree, problems: &mut Problems) -> Vec<NetworkSpec> {
    let declared = setup.get("networks").map(Tree::entries).unwrap_or_default();
    let network = |(key, tree): &(crate::model::tree::Key, Tree)| NetworkSpec {
        name: key.name.to_string(),
        driver: problems.some_text(tree, "driver").unwrap_or_else(|| "bridge".to_owned()),
        driver_opts: problems.pairs(tree, "driver_opts"),
        subnet: problems.some_text(tree, "subnet"),
        internal: problems.bool(tree, "internal"),
        ipv6: problems.bool(tree, "enable_ipv6"),
    };
    declared.iter().map(network).collect()
}

pub(super) fn volumes(setup: &Tree, problems: &mut Problems) -> Vec<VolumeSpec> {
    let declared = setup.get("volumes").map(Tree::entries).unwrap_or_default();
    let volume = |(key, tree): &(crate::model::tree::Key, Tree)| {
        let (tmpfs_bytes, keep) = (problems.read(tree, "tmpfs", mounts::size), problems.bool(tree, "keep"));
        if tmpfs_bytes.is_some() && keep {
            problems.error(
                tree.get("keep").unwrap_or(tree),
                format!("`{}`: what is in memory goes with its last unit: `tmpfs` and `keep` exclude each other", key.name),
            );
        }
        VolumeSpec { name: key.name.to_string(), tmpfs_bytes, keep, from: problems.some_text(tree, "from").map(PathBuf::from) }
    };
    declared.iter().map(volume).collect()
}

pub(super) fn services(setup: &Tree, context: &Context<'_>, problems: &mut Problems) -> Vec<ServiceSpec> {
    let declared = setup.get("services").map(Tree::entries).unwrap_or_default();
    let service = |(key, tree): &(crate::model::tree::Key, Tree)| ServiceSpec {
        name: key.name.to_string(),
        unit: unit::unit(tree, context, problems),
        depends_on: depends_on(tree, problems),
        ready: ready(tree, context, problems),
        prepare: steps(tree, problems),
    };
    declared.iter().map(service).collect()
}

/// A list waits until the others are ready; a mapping says how far they must be.
fn depends_on(tree: &Tree, problems: &mut Problems) -> Vec<Dependency> {
    let Some(declared) = tree.get("depends_on") else { return Vec::new() };
    let Node::Map(entries) = &declared.node else {
        let services = problems.list(tree, "depends_on");
        return services.into_iter().map(|service| Dependency { service, condition: Condition::ServiceHealthy }).collect();
    };
    let dependency = |(key, tree): &(crate::model::tree::Key, Tree)| {
        let condition = problems.read(tree, "condition", |text| match text {
            "service_started" => Ok(Condition::ServiceStarted),
            "service_healthy" => Ok(Condition::ServiceHealthy),
            "service_completed_successfully" => Ok(Condition::ServiceCompletedSuccessfully),
            other => Err(format!("`{other}` is not a condition")),
        });
        Dependency { service: key.name.to_string(), condition: condition.unwrap_or(Condition::ServiceHealthy) }
    };
    entries.iter().map(dependency).collect()
}

fn ready(tree: &Tree, context: &Context<'_>, problems: &mut Problems) -> Option<ReadySpec> {
    let some = |key: &str| tree.get(key).filter(|value| !value.is_null());
    match (some("ready"), some("healthcheck")) {
        (Some(_), Some(other)) => {
            problems.error(other, "`ready` and `healthcheck` both tell when it is ready: keep one of them");
            None
        }
        (Some(ready), None) => {
            let probe = probe(ready, context, problems)?;
            if let (Probe::Log(_), Some(successes)) = (&probe, ready.get("successes").filter(|value| !value.is_null())) {
                problems.error(successes, "`successes` has no meaning with `log`: a line that was written stays");
            }
            timed(ready, probe, (READY_INTERVAL, READY_SUCCESSES), problems)
        }
        (None, Some(check)) => {
            let probe = Probe::Exec(health_command(check, problems)?);
            timed(check, probe, (HEALTH_INTERVAL, 1), problems)
        }
        (None, None) => None,
    }
}

fn timed(tree: &Tree, probe: Probe, (interval, successes): (Duration, u32), problems: &mut Problems) -> Option<ReadySpec> {
    let successes = problems.integer(tree, "successes").and_then(|number| u32::try_from(number).ok()).unwrap_or(successes);
    let interval = problems.duration(tree, "interval").unwrap_or(interval);
    let timeout = problems.duration(tree, "timeout").unwrap_or(READY_LIMIT);
    Some(ReadySpec { probe, successes, interval, timeout })
}

fn probe(tree: &Tree, context: &Context<'_>, problems: &mut Problems) -> Option<Probe> {
    if let Some(url) = problems.some_text(tree, "http") {
        if !url.starts_with("http://") {
            problems.error(tree.get("http").unwrap_or(tree), format!("`http`: `{url}` does not begin with `http://`"));
        }
        return Some(Probe::Http(url));
    }
    if let Some(address) = problems.some_text(tree, "tcp") {
        if !address.contains(':') {
            problems.error(tree.get("tcp").unwrap_or(tree), format!("`tcp`: `{address}` is not HOST:PORT"));
        }
        return Some(Probe::Tcp(address));
    }
    if let Some(pattern) = problems.some_text(tree, "log") {
        let log = tree.get("log").unwrap_or(tree);
        if symbol::symbols(&pattern).next().is_some() {
            problems.error(log, "`log`: what is known only while the trial runs cannot stand in an expression");
        } else if let Err(why) = (context.catalog.check_pattern)(&pattern) {
            problems.error(log, format!("`log`: {why}"));
        }
        return Some(Probe::Log(pattern));
    }
    problems.command(tree, "exec").map(Probe::Exec)
}

/// Compose's `test`: a text for a shell, or a list that begins with `CMD` or `CMD-SHELL`; `NONE` means that nothing is looked at.
fn health_command(tree: &Tree, problems: &mut Problems) -> Option<Vec<String>> {
    let shell = |text: String| Some(vec!["/bin/sh".to_owned(), "-c".to_owned(), text]);
    let test = tree.get("test")?;
    let Node::Seq(items) = &test.node else { return shell(problems.text(test)) };
    let mut words = items.iter().map(|item| problems.text(item)).collect::<Vec<_>>().into_iter();
    match (words.next().as_deref(), words.len()) {
        (Some("NONE"), 0) => None,
        (Some("CMD"), 1..) => Some(words.collect()),
        (Some("CMD-SHELL"), 1) => shell(words.next()?),
        _ => {
            problems.error(test, "`test` is a command line, or a list that begins with `CMD` or `CMD-SHELL`");
            None
        }
    }
}

/// The `prepare` steps of a service or workload.
pub(super) fn steps(tree: &Tree, problems: &mut Problems) -> Vec<StepSpec> {
    let items = match tree.get("prepare") {
        None | Some(Tree { node: Node::Null, .. }) => &[],
        Some(Tree { node: Node::Seq(items), .. }) => items.as_slice(),
        Some(single) => std::slice::from_ref(single),
    };
    let mut steps = Vec::new();
    for item in items {
        let step = if matches!(item.node, Node::Map(_)) {
            StepSpec {
                command: problems.command(item, "command").unwrap_or_default(),
                on_host: problems.some_text(item, "on").is_some_and(|place| place == "host"),
                timeout: problems.duration(item, "timeout").unwrap_or(STEP_LIMIT),
            }
        } else {
            let text = problems.text(item);
            let command = shlex::split(&text).unwrap_or_else(|| {
                problems.error(item, "`prepare`: a quote is not closed");
                Vec::new()
            });
            StepSpec { command, on_host: false, timeout: STEP_LIMIT }
        };
        if step.command.is_empty() {
            problems.error(item, "`prepare`: a step needs a command");
        }
        steps.push(step);
    }
    steps
}
