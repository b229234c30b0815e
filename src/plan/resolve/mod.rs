//! A bound set-up tree -> typed [`TrialSpec`]. Every text that a template made is checked here as the written ones were before.

mod endings;
mod engine;
mod links;
mod mounts;
mod networks;
mod parse;
mod ports;
mod stack;
mod unit;

use super::bind::Scope;
use crate::model::catalog::Catalog;
use crate::model::diagnostic::Diagnostic;
use crate::model::quantity;
use crate::model::spec::{TrialSpec, WarmupSpec, WorkloadSpec};
use crate::model::tree::{Node, Tree};
use std::collections::BTreeMap;
use std::time::Duration;

/// How long a measured window may last when nothing is declared.
const WINDOW_LIMIT: Duration = Duration::from_secs(600);

/// What resolving needs beside the tree.
pub struct Context<'c> {
    /// The known parsers.
    pub catalog: &'c Catalog,
    /// Texts of file templates by name.
    pub templates: &'c [(String, String)],
    /// The variant's names, for file templates.
    pub scope: &'c Scope,
    /// Whether every template could be bound; else what is missing may be what could not, and is not complained about.
    pub whole: bool,
}

/// Collects what goes wrong while typed values are read.
#[derive(Default)]
pub(super) struct Problems(pub Vec<Diagnostic>);

impl Problems {
    fn error(&mut self, tree: &Tree, message: impl Into<String>) {
        self.0.push(Diagnostic::error(tree.span, message));
    }

    fn text(&mut self, tree: &Tree) -> String {
        match &tree.node {
            Node::Scalar(scalar) => scalar.text.to_string(),
            Node::Null => String::new(),
            _ => {
                self.error(tree, format!("a single value is needed here, not {}", tree.kind()));
                String::new()
            }
        }
    }

    fn some_text(&mut self, parent: &Tree, key: &str) -> Option<String> {
        parent.get(key).filter(|t| !t.is_null()).map(|t| self.text(t))
    }

    fn read<T>(&mut self, parent: &Tree, key: &str, read: impl FnOnce(&str) -> Result<T, String>) -> Option<T> {
        let tree = parent.get(key).filter(|t| !t.is_null())?;
        let text = self.text(tree);
        match read(&text) {
            Ok(value) => Some(value),
            Err(why) => {
                self.error(tree, format!("`{key}`: {why}"));
                None
            }
        }
    }

    fn some_bool(&mut self, parent: &Tree, key: &str) -> Option<bool> {
        self.read(parent, key, |text| text.parse().map_err(|_| format!("`{text}` is not true or false")))
    }

    fn bool(&mut self, parent: &Tree, key: &str) -> bool {
        self.some_bool(parent, key).unwrap_or(false)
    }

    fn integer(&mut self, parent: &Tree, key: &str) -> Option<u64> {
        self.read(parent, key, |text| text.parse().map_err(|_| format!("`{text}` is not a whole number")))
    }

    fn duration(&mut self, parent: &Tree, key: &str) -> Option<Duration> {
        self.read(parent, key, |text| quantity::duration(text).map_err(|e| format!("{e}; write it {}", e.example())))
    }

    fn size(&mut self, parent: &Tree, key: &str) -> Option<u64> {
        self.read(parent, key, |text| quantity::size(text).map_err(|e| format!("{e}; write it {}", e.example())))
    }

    fn list(&mut self, parent: &Tree, key: &str) -> Vec<String> {
        match parent.get(key) {
            None => Vec::new(),
            Some(Tree { node: Node::Null, .. }) => Vec::new(),
            Some(Tree { node: Node::Seq(items), .. }) => items.iter().map(|item| self.text(item)).collect(),
            Some(single) => vec![self.text(single)],
        }
    }

    /// A mapping, or a list of `NAME=value`, sorted by name: the order of the text changes nothing that runs. Of a name that is given
    /// twice the last value counts.
    fn pairs(&mut self, parent: &Tree, key: &str) -> Vec<(String, String)> {
        let Some(tree) = parent.get(key) else { return Vec::new() };
        let pairs: BTreeMap<String, String> = match &tree.node {
            Node::Null => BTreeMap::new(),
            Node::Map(entries) => entries.iter().map(|(name, value)| (name.name.to_string(), self.text(value))).collect(),
            Node::Seq(items) => items
                .iter()
                .filter_map(|item| {
                    let text = self.text(item);
                    match text.split_once('=') {
                        Some((name, value)) => Some((name.to_owned(), value.to_owned())),
                        None => {
                            self.error(item, format!("`{key}`: `{text}` is not NAME=value"));
                            None
                        }
                    }
                })
                .collect(),
            Node::Scalar(_) => {
                self.error(tree, format!("`{key}` is a mapping or a list of NAME=value"));
                BTreeMap::new()
            }
        };
        pairs.into_iter().collect()
    }

    /// A list, or a text split as a shell would split it.
    fn command(&mut self, parent: &Tree, key: &str) -> Option<Vec<String>> {
        let tree = parent.get(key).filter(|t| !t.is_null())?;
        if let Node::Seq(items) = &tree.node {
            return Some(items.iter().map(|item| self.text(item)).collect());
        }
        let text = self.text(tree);
        let words = shlex::split(&text);
        if words.is_none() {
            self.error(tree, format!("`{key}`: a quote is not closed"));
        }
        Some(words.unwrap_or_default())
    }
}

/// Resolves a bound set-up.
///
/// # Errors
/// Everything that is wrong with it, each with its place.
pub fn resolve(setup: &Tree, context: &Context<'_>) -> Result<TrialSpec, Vec<Diagnostic>> {
    let mut problems = Problems::default();
    let engine = engine::engine(setup.get("engine"), &mut problems);
    let mut workloads = Vec::new();
    if let Some(tree) = setup.get("workload") {
        workloads.push(workload("workload", tree, context, &mut problems));
    }
    for (key, tree) in setup.get("workloads").map(Tree::entries).unwrap_or_default() {
        workloads.push(workload(&key.name, tree, context, &mut problems));
    }
    if workloads.is_empty() {
        problems.error(setup, "there is no workload to measure");
    }
    let mut spec = TrialSpec {
        engine,
        networks: stack::networks(setup, &mut problems),
        volumes: stack::volumes(setup, &mut problems),
        services: stack::services(setup, context, &mut problems),
        workloads,
    };
    if context.whole {
        links::link(&mut spec, setup, &mut problems);
    }
    if problems.0.is_empty() { Ok(spec) } else { Err(problems.0) }
}

fn workload(name: &str, tree: &Tree, context: &Context<'_>, problems: &mut Problems) -> WorkloadSpec {
    let warmup = tree.get("warmup").map(|warmup| WarmupSpec {
        command: problems.command(warmup, "command").unwrap_or_default(),
        timeout: problems.duration(warmup, "timeout").unwrap_or(WINDOW_LIMIT),
    });
    let timeout = problems.duration(tree, "timeout");
    WorkloadSpec {
        name: name.to_owned(),
        unit: unit::unit(tree, context, problems),
        parse: parse::parse(tree, context.catalog, problems),
        warmup,
        prepare: stack::steps(tree, problems),
        timeout: timeout.unwrap_or(WINDOW_LIMIT),
    }
}
