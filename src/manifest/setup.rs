//! The set-up that levels are merged over, and the names in it.

use super::matrix::is_identifier;
use crate::model::diagnostic::Diagnostic;
use crate::model::tree::{Node, Tree};

/// The parts of a manifest that say what runs.
const PARTS: &[&str] = &["engine", "networks", "volumes", "services", "workload", "workloads", "vars"];

/// Whether a key of the top level says what runs: there templates work.
pub(super) fn is_part(key: &str) -> bool {
    PARTS.contains(&key)
}

/// The set-up of a manifest: a mapping of the parts that are given.
pub(super) fn setup(root: &Tree) -> Tree {
    let parts = root.entries().iter().filter(|(key, _)| is_part(&key.name)).cloned().collect();
    Tree { span: root.span, node: Node::Map(parts) }
}

/// Checks the names that a set-up, or a patch of it, makes up: vars and workloads.
pub(super) fn names(part: &Tree, found: &mut Vec<Diagnostic>) {
    for (key, _) in part.get("vars").map_or(&[][..], Tree::entries) {
        if !is_identifier(&key.name) {
            let problem = Diagnostic::error(key.span, format!("`{}` cannot name a var", key.name));
            found.push(problem.help("templates need letters, digits and `_`, and no digit first"));
        }
    }
    for (list, what) in [("workloads", "workload"), ("services", "service"), ("networks", "network"), ("volumes", "volume")] {
        for (key, _) in part.get(list).map_or(&[][..], Tree::entries) {
            let plain = key.name.starts_with(|c: char| c.is_ascii_alphanumeric())
                && key.name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
            if !plain {
                let problem = Diagnostic::error(key.span, format!("`{}` cannot name a {what}", key.name));
                found.push(problem.help("containers and metrics are named after it: use letters, digits, `_` and `-`"));
            }
        }
    }
    for (key, _) in part.get("services").map_or(&[][..], Tree::entries) {
        let other = part.get("workloads").map_or(&[][..], Tree::entries).iter().find(|(other, _)| other.name == key.name);
        if other.is_some() || matches!(&*key.name, "workload" | "host") {
            let problem = Diagnostic::error(key.span, format!("a service cannot be named `{}`: something else is", key.name));
            found.push(problem.help("metrics and `${name.ip}` tell units apart by their names"));
        }
    }
    if let Some((key, workloads)) = part.entries().iter().find(|(key, _)| &*key.name == "workloads")
        && matches!(&workloads.node, Node::Map(entries) if entries.is_empty())
    {
        found.push(Diagnostic::error(key.span, "`workloads` holds no workload"));
    }
}
