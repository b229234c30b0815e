//! YAML text to [`Tree`]: the only place that names the YAML crate.
//!
//! It works on the crate's event stream and not on its deserializer: events carry the spelling and the place of every node, so
//! nothing is read as a number, no position is lost, and duplicate keys, merge keys, aliases and budgets are ours to decide.

mod build;
mod wording;

use crate::model::diagnostic::Diagnostic;
use crate::model::experiment::Problems;
use crate::model::tree::{Span, Tree};
use build::Builder;
use serde_yaml::granit_parser;

/// Deepest nesting that is read, aliases included.
const MAX_DEPTH: usize = 64;
/// Most that aliases may add by repeating what they name: nodes, and sixteenths of their texts' bytes.
const MAX_REPEATED: usize = 100_000;
/// Largest text, in bytes.
const MAX_BYTES: usize = 4 << 20;
/// Longest key, in bytes.
const MAX_KEY: usize = 256;

/// Reads one YAML document; an empty text is a node that holds nothing.
///
/// # Errors
/// With every problem of form that could be found: syntax, duplicate keys, unknown anchors, more than one document.
pub fn parse_tree(text: &str) -> Result<Tree, Problems> {
    let (tree, found) = scan(text);
    match tree {
        Some(tree) if found.is_empty() => Ok(tree),
        _ => Err(super::problems(found)),
    }
}

/// Reads as far as it makes sense: a tree may come together with problems that do not hide the rest of the document.
pub(super) fn scan(text: &str) -> (Option<Tree>, Vec<Diagnostic>) {
    if text.len() > MAX_BYTES {
        let message = format!("the file is larger than {} MB", MAX_BYTES >> 20);
        return (None, vec![Diagnostic::error(Span::default(), message)]);
    }
    let options = granit_parser::options! {
        emit_comments: false,
        emit_anchor_events: true,
        emit_unresolved_aliases: true,
        flow_nesting_limit: MAX_DEPTH,
        block_nesting_limit: MAX_DEPTH,
    };
    let mut builder = Builder::new(text);
    for event in granit_parser::Parser::new_from_str_with_options(text, options) {
        let stopped = match event {
            Ok((event, span)) => builder.event(event, &span).err(),
            Err(error) => Some(wording::syntax(text, &error)),
        };
        if let Some(problem) = stopped {
            builder.found.push(problem);
            return (None, builder.found);
        }
    }
    builder.finish()
}
