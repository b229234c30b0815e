//! Names that print differently as numbers: where a template gets their text, and where their number.

use crate::model::tree::is_template;

/// How names that print differently as numbers are given to a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Numbers,
    Spelled,
}

/// The code between the braces, without its quoted texts.
fn code_only(text: &str) -> String {
    let mut code = String::new();
    let mut quote = None;
    for c in text.chars() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if matches!(c, '\'' | '"') => quote = Some(c),
            None => code.push(c),
        }
    }
    code
}

/// The parts of a template that are code; a bare expression is one part.
fn parts(text: &str) -> Vec<String> {
    if !is_template(text) {
        return vec![code_only(text)];
    }
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(open) = rest.find("{{").into_iter().chain(rest.find("{%")).min() {
        let inner = &rest[open + 2..];
        let close = inner.find("}}").into_iter().chain(inner.find("%}")).min().unwrap_or(inner.len());
        found.push(code_only(inner[..close].trim_matches(['-', '+'])));
        rest = &inner[close..];
    }
    found
}

/// Whether something is computed or compared.
pub(super) fn computes(text: &str) -> bool {
    parts(text).iter().any(|code| code.contains(['+', '-', '*', '/', '%', '<', '>']) || code.contains("==") || code.contains("!="))
}

/// Whether a part both makes text of names and computes, or prints a name through more syntax than `{{ name }}`.
pub(super) fn joins(text: &str) -> bool {
    let parts = parts(text);
    let prints = |code: &String| code.contains('~') || code.contains('|');
    parts.iter().any(prints)
}
