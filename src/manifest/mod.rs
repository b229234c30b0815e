//! Manifests: text to trees with the place of every node, so that every later problem knows its line and column.

mod yaml;

pub use yaml::parse_tree;

use crate::model::diagnostic::Diagnostic;
use crate::model::experiment::Problems;

/// Problems in the order of the text, each once.
fn problems(mut found: Vec<Diagnostic>) -> Problems {
    found.sort_by(|a, b| (a.span, a.severity as u8, &a.message).cmp(&(b.span, b.severity as u8, &b.message)));
    found.dedup();
    Problems(found)
}
