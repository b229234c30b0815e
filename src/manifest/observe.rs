//! `observe:` and `hygiene:` into their typed forms; what is not given keeps its default.

use super::check::point;
use super::design::{fields, limit, set};
use crate::model::diagnostic::Diagnostic;
use crate::model::hygiene::{CHECKS, CheckInfo, Threshold, Thresholds, find};
use crate::model::observe::Observe;
use crate::model::quantity;
use crate::model::shape::OFF;
use crate::model::tree::{Key, Node, Tree};
use std::time::Duration;

/// The kernel keeps so many bytes of a program's name.
const LONGEST_NAME: usize = 15;

/// A pause between two samples below which they would disturb what they measure.
const SHORTEST_INTERVAL: Duration = Duration::from_millis(10);

/// Reads `observe:`; values that the shape check refused keep their defaults.
pub(super) fn observe(root: &Tree, found: &mut Vec<Diagnostic>) -> Observe {
    let mut observe = Observe::default();
    for (key, tree) in fields(root, "observe") {
        match &*key.name {
            "interval" => set(&mut observe.interval, or_off(key, tree, found)),
            "idle_gate" => set(&mut observe.idle_gate, or_off(key, tree, found)),
            "processes" => observe.processes = names(key, tree, found),
            _ => {}
        }
    }
    if let (Some(interval), Some((key, tree))) =
        (observe.interval, fields(root, "observe").iter().find(|(key, _)| &*key.name == "interval"))
        && interval < SHORTEST_INTERVAL
    {
        let message = format!("`interval` must be {SHORTEST_INTERVAL:?} at least: sampling would disturb what it samples");
        found.push(Diagnostic::error(point(tree, key), message));
    }
    observe
}

/// None where the text is refused, a duration or nothing where it is not.
fn or_off(key: &Key, tree: &Tree, found: &mut Vec<Diagnostic>) -> Option<Option<Duration>> {
    if tree.text() == Some(OFF) { Some(None) } else { limit(key, tree, found).map(Some) }
}

/// Names of programs as the kernel has them, each once.
fn names(key: &Key, tree: &Tree, found: &mut Vec<Diagnostic>) -> Vec<String> {
    let items = match &tree.node {
        Node::Seq(items) => items.as_slice(),
        _ => std::slice::from_ref(tree),
    };
    let mut names: Vec<String> = Vec::new();
    for item in items {
        let Some(name) = item.text() else { continue };
        if name.is_empty() || name.contains('/') {
            let problem = Diagnostic::error(point(item, key), format!("`{name}` is not the name of a program"));
            found.push(problem.help("write it as `ps -o comm` shows it, without a path"));
        } else if !names.iter().any(|known| known == name) {
            // The kernel cuts what is longer, and so do we: `containerd-shim-runc-v2` is `containerd-shim`.
            names.push(name.chars().scan(0, cut).collect());
        }
    }
    names
}

fn cut(bytes: &mut usize, c: char) -> Option<char> {
    *bytes += c.len_utf8();
    (*bytes <= LONGEST_NAME).then_some(c)
}

/// Reads `hygiene:`.
pub(super) fn hygiene(root: &Tree, found: &mut Vec<Diagnostic>) -> Thresholds {
    let mut thresholds = Thresholds::default();
    for (key, tree) in fields(root, "hygiene") {
        match find(&key.name) {
            // What only tells which limit was met warns of nothing, so it has no thresholds.
            Some(check) if check.warn.is_some() => drop(thresholds.0.insert(key.name.to_string(), threshold(check, tree))),
            _ => {
                let known = CHECKS.iter().filter(|check| check.warn.is_some()).map(|check| check.name);
                found.push(Diagnostic::error(key.span, format!("there is no check `{}`", key.name)).suggest(&key.name, known));
            }
        }
    }
    thresholds
}

/// What is not given keeps the check's own threshold.
fn threshold(check: &CheckInfo, tree: &Tree) -> Threshold {
    if tree.text() == Some(OFF) {
        return Threshold::default();
    }
    let declared = |name: &str, own: Option<f64>| match tree.get(name).and_then(Tree::text) {
        None => own,
        Some(text) => quantity::amount(text),
    };
    Threshold { warn: declared("warn", check.warn), taint: declared("taint", check.taint) }
}
