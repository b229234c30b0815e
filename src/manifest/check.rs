//! Walks a tree against a [`Shape`] and collects what does not fit: unknown keys, wrong kinds, values that cannot be.

use super::{MAX_PROBLEMS, scalar};
use crate::model::diagnostic::Diagnostic;
use crate::model::shape::{Record, Shape, Support};
use crate::model::tree::{Key, Node, Span, Tree};
use std::collections::HashMap;

/// A walk over one part of the manifest.
pub(super) struct Check<'a> {
    /// Where problems go.
    pub(super) found: &'a mut Vec<Diagnostic>,
    /// Whether scalars may hold templates; then their values are checked after binding, not here.
    pub(super) templates: bool,
    /// Whether the tree is a patch: it may leave out required keys, and a key without a value clears what it is laid over.
    pub(super) patch: bool,
}

impl Check<'_> {
    /// Checks a mapping with known keys. `at` is where to point when the mapping as a whole is wrong.
    pub(super) fn record(&mut self, tree: &Tree, record: &Record, at: Span) {
        if !matches!(tree.node, Node::Map(_)) {
            let expected = format!("{} is a mapping of keys, not {}", record.name, tree.kind());
            self.found.push(Diagnostic::error(at, expected).help(format!("known: {}", listed(record.known()))));
            return;
        }
        self.keys(tree, record, at);
        for (key, value) in tree.entries() {
            if let Some(field) = record.field(&key.name).filter(|field| field.support == Support::Yes) {
                self.value(value, &field.shape, key);
            }
        }
    }

    /// Checks which keys a mapping has, and not their values.
    pub(super) fn keys(&mut self, tree: &Tree, record: &Record, at: Span) {
        for (key, _) in tree.entries() {
            if self.found.len() > MAX_PROBLEMS {
                return;
            }
            match record.field(&key.name).map(|field| field.support) {
                None => self.found.push(unknown(key, record)),
                Some(Support::Later) => self.found.push(Diagnostic::error(key.span, format!("`{}` is not supported yet", key.name))),
                Some(Support::Yes) => {}
            }
        }
        if !self.patch {
            self.complete(tree, record, at);
        }
    }

    /// Checks which keys are there.
    fn complete(&mut self, tree: &Tree, record: &Record, at: Span) {
        for field in record.fields.iter().filter(|field| field.required && tree.get(field.name).is_none()) {
            self.found.push(
                Diagnostic::error(at, format!("{} needs `{}`", record.name, field.name)).help(format!("`{}`: {}", field.name, field.about)),
            );
        }
        let given: Vec<&Key> = tree.entries().iter().map(|(key, _)| key).filter(|key| record.one_of.contains(&&*key.name)).collect();
        match given.as_slice() {
            [] if !record.one_of.is_empty() => {
                let choices = record.one_of.iter().copied().filter(|name| record.known().any(|known| known == *name));
                self.found.push(Diagnostic::error(at, format!("{} needs one of {}", record.name, quoted(choices))));
            }
            [first, more @ ..] => {
                for key in more {
                    let problem = Diagnostic::error(key.span, format!("`{}` and `{}` exclude each other", first.name, key.name));
                    self.found.push(problem.related(first.span, format!("`{}` is given here", first.name)));
                }
            }
            [] => {}
        }
    }

    /// Checks the value of `key`.
    pub(super) fn value(&mut self, tree: &Tree, shape: &Shape, key: &Key) {
        if self.found.len() > MAX_PROBLEMS {
            return;
        }
        if tree.is_null() && !matches!(shape, Shape::Any) {
            if !self.patch {
                let problem = Diagnostic::error(key.span, format!("`{}` has no value", key.name));
                self.found.push(problem.help("give it one, or leave the key out"));
            }
            return;
        }
        match *shape {
            Shape::Any => {}
            Shape::List(item) => self.list(tree, item, key),
            Shape::Pairs => self.pairs(tree, key),
            Shape::Named(item) => self.named(tree, item, key),
            Shape::Record(record) => self.record(tree, record, point(tree, key)),
            Shape::Either(shapes) => self.either(tree, shapes, key),
            Shape::Command => self.command(tree, key),
            _ => self.scalar(tree, shape, key),
        }
    }

    fn scalar(&mut self, tree: &Tree, shape: &Shape, key: &Key) {
        let Some(text) = tree.text() else {
            self.wrong_kind(tree, &scalar::expected(shape), key);
            return;
        };
        if crate::model::tree::is_template(text) {
            if !self.templates {
                let problem = Diagnostic::error(tree.span, format!("`{}` cannot hold a template", key.name));
                self.found.push(problem.help("templates work in engine, workload, workloads and vars"));
            }
            return;
        }
        if let Err(refused) = scalar::check(text, shape) {
            let problem = Diagnostic::error(tree.span, format!("`{}` {}", key.name, refused.message));
            self.found.push(match refused.help {
                Some(help) => problem.help(help),
                None => problem,
            });
        }
    }

    fn list(&mut self, tree: &Tree, item: &Shape, key: &Key) {
        // A list replaces what it is laid over, so its items are whole even in a patch.
        let patch = std::mem::replace(&mut self.patch, false);
        match &tree.node {
            Node::Seq(items) => items.iter().for_each(|tree| self.item(tree, item, key)),
            _ if takes(item, tree) => self.value(tree, item, key),
            _ => self.wrong_kind(tree, &format!("{} or a list of such", scalar::expected(item)), key),
        }
        self.patch = patch;
    }

    fn item(&mut self, tree: &Tree, shape: &Shape, key: &Key) {
        match &tree.node {
            Node::Null => self.found.push(Diagnostic::error(tree.span, format!("an item of `{}` is empty", key.name))),
            Node::Seq(_) => self.found.push(Diagnostic::error(tree.span, format!("an item of `{}` is a list itself", key.name))),
            _ => self.value(tree, shape, key),
        }
    }

    fn command(&mut self, tree: &Tree, key: &Key) {
        match &tree.node {
            Node::Seq(items) if items.is_empty() => self.found.push(Diagnostic::error(tree.span, format!("`{}` is empty", key.name))),
            Node::Seq(items) => items.iter().for_each(|tree| self.item(tree, &Shape::Text, key)),
            Node::Scalar(scalar) if scalar.text.trim().is_empty() => {
                self.found.push(Diagnostic::error(tree.span, format!("`{}` is empty", key.name)));
            }
            Node::Scalar(_) => self.scalar(tree, &Shape::Text, key),
            _ => self.wrong_kind(tree, "a command line or a list of arguments", key),
        }
    }

    fn pairs(&mut self, tree: &Tree, key: &Key) {
        match &tree.node {
            Node::Map(entries) => {
                for (name, value) in entries {
                    if value.is_null() && !self.patch {
                        let problem = Diagnostic::error(name.span, format!("`{}` has no value", name.name));
                        self.found.push(problem.help("write \"\" for the empty text; nothing is taken from the surroundings"));
                    } else if !value.is_null() {
                        self.value(value, &Shape::Text, name);
                    }
                }
            }
            Node::Seq(items) => self.pair_items(items, key),
            _ => self.wrong_kind(tree, "a mapping or a list of `NAME=value`", key),
        }
    }

    fn pair_items(&mut self, items: &[Tree], key: &Key) {
        let mut seen: HashMap<&str, Span> = HashMap::new();
        for item in items {
            let Some((name, _)) = item.text().and_then(|text| text.split_once('=')).filter(|(name, _)| !name.trim().is_empty()) else {
                let problem = Diagnostic::error(item.span, format!("an item of `{}` is written `NAME=value`", key.name));
                self.found.push(problem.help("or write a mapping, `NAME: value`; nothing is taken from the surroundings"));
                continue;
            };
            if let Some(first) = seen.insert(name, item.span) {
                let problem = Diagnostic::error(item.span, format!("`{name}` is given twice in `{}`", key.name));
                self.found.push(problem.related(first, "first given here"));
            }
        }
    }

    fn named(&mut self, tree: &Tree, item: &Shape, key: &Key) {
        let Node::Map(entries) = &tree.node else {
            self.wrong_kind(tree, "a mapping from names to values", key);
            return;
        };
        for (name, value) in entries {
            if name.name.trim().is_empty() {
                self.found.push(Diagnostic::error(name.span, format!("a name in `{}` is empty", key.name)));
            }
            self.value(value, item, name);
        }
    }

    fn either(&mut self, tree: &Tree, shapes: &'static [Shape], key: &Key) {
        match shapes.iter().find(|shape| takes(shape, tree)) {
            Some(shape) => self.value(tree, shape, key),
            None => {
                let choices: Vec<String> = shapes.iter().map(scalar::expected).collect();
                self.wrong_kind(tree, &choices.join(" or "), key);
            }
        }
    }

    fn wrong_kind(&mut self, tree: &Tree, expected: &str, key: &Key) {
        self.found.push(Diagnostic::error(point(tree, key), format!("`{}` must be {expected}, not {}", key.name, tree.kind())));
    }
}

/// Whether a node is of the kind that a shape speaks of.
fn takes(shape: &Shape, tree: &Tree) -> bool {
    match tree.node {
        Node::Null => false,
        Node::Scalar(_) => !matches!(shape, Shape::Record(_) | Shape::Named(_) | Shape::Pairs),
        Node::Seq(_) => matches!(shape, Shape::List(_) | Shape::Command | Shape::Pairs | Shape::Any),
        Node::Map(_) => matches!(shape, Shape::Record(_) | Shape::Named(_) | Shape::Pairs | Shape::Any),
    }
}

/// A key that `record` does not know, with the nearest one that it does.
fn unknown(key: &Key, record: &Record) -> Diagnostic {
    Diagnostic::error(key.span, format!("unknown key `{}` in {}", key.name, record.name)).suggest(&key.name, record.known())
}

/// Where to point for a value: at itself when it stands somewhere visible, else at its key.
pub(super) fn point(tree: &Tree, key: &Key) -> Span {
    if tree.span.len > 0 { tree.span } else { key.span }
}

/// "a, b, c".
fn listed<'s>(names: impl Iterator<Item = &'s str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

/// "`a`, `b`".
pub(super) fn quoted<'s>(names: impl Iterator<Item = &'s str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
