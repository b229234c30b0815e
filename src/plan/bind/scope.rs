//! The names of one variant: factors, vars, the host.

use super::STRICT;
use super::spelling::{Form, computes, joins};
use crate::model::diagnostic::Diagnostic;
use crate::model::tree::{Node, Span, Tree};
use minijinja::value::{Serde, Value};
use serde_json::Value as Json;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// A name's value in its three forms.
#[derive(Debug, Clone)]
pub(super) struct Bound {
    pub(super) tree: Tree,
    /// As an expression sees it.
    value: Value,
    /// As written, where the value would print differently.
    pub(super) spelling: Option<Arc<str>>,
}

/// The names that templates and expressions of one variant may use.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    pub(super) names: HashMap<Arc<str>, Bound>,
}

impl Scope {
    /// Adds a name, or replaces it.
    pub fn set(&mut self, name: &Arc<str>, tree: &Tree) {
        let json = tree_to_json(tree);
        let value = Value::from(Serde(&json));
        let spelling = tree.text().filter(|text| value.to_string() != *text).map(Arc::from);
        self.names.insert(name.clone(), Bound { tree: tree.clone(), value, spelling });
    }

    /// Whether there is such a name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.names.contains_key(name)
    }

    /// Adds a structure that only expressions read, such as the host's facts.
    pub fn set_json(&mut self, name: &str, json: &Json) {
        let value = Value::from(Serde(json));
        self.names.insert(name.into(), Bound { tree: Tree::empty_map(), value, spelling: None });
    }

    /// The names as values: numbers as such, or as they are spelled.
    pub(super) fn context(&self, form: Form) -> Value {
        let value = |bound: &Bound| match (&bound.spelling, form) {
            (Some(text), Form::Spelled) => Value::from(&**text),
            _ => bound.value.clone(),
        };
        Value::from_pairs(self.names.iter().map(|(name, bound)| (name.to_string(), value(bound))))
    }

    /// Whether names that print differently as numbers are texts or numbers in `code`, of which `used` are the names.
    pub(super) fn form(&self, code: &str, used: &HashSet<String>, span: Span) -> Result<Form, Box<Diagnostic>> {
        let mut delicate: Vec<(&String, &Arc<str>)> =
            used.iter().filter_map(|name| self.names.get(name.as_str())?.spelling.as_ref().map(|text| (name, text))).collect();
        delicate.sort();
        let Some((name, text)) = delicate.first() else { return Ok(Form::Numbers) };
        match (computes(code), joins(code)) {
            (false, _) => Ok(Form::Spelled),
            (true, false) => Ok(Form::Numbers),
            (true, true) => Err(Box::new(
                Diagnostic::error(
                    span,
                    format!("`{name}` is written `{text}`, and this template both computes with names and makes text of them"),
                )
                .help("compute in one of `vars`, and use that name here"),
            )),
        }
    }

    /// The first of `used` that is not a name here; functions of the template language are names everywhere.
    pub(super) fn lacks(&self, used: &HashSet<String>) -> Option<String> {
        let functions: Vec<&str> = STRICT.globals().map(|(name, _)| name).collect();
        used.iter().filter(|name| !self.names.contains_key(name.as_str()) && !functions.contains(&name.as_str())).min().cloned()
    }
}

/// The JSON that a tree stands for; numbers and truth values where the plain text is one.
#[must_use]
pub fn tree_to_json(tree: &Tree) -> Json {
    match &tree.node {
        Node::Null => Json::Null,
        Node::Scalar(scalar) => scalar.value(),
        Node::Seq(items) => items.iter().map(tree_to_json).collect(),
        Node::Map(entries) => Json::Object(entries.iter().map(|(k, v)| (k.name.to_string(), tree_to_json(v))).collect()),
    }
}
