//! Texts and files with templates in them.

use super::scope::{Bound, Scope};
use super::{STRICT, compile, strict};
use crate::model::diagnostic::Diagnostic;
use crate::model::tree::{Key, Node, Scalar, Span, Tree, is_template};
use minijinja::value::{Value, ValueKind};
use std::collections::HashSet;

/// Binds every template below `tree`; every one that could not be rendered is told with its place, and is null in the tree, so
/// that the rest can be looked at all the same.
#[must_use]
pub fn bind(tree: &Tree, scope: &Scope) -> (Tree, Vec<Diagnostic>) {
    let mut problems = Vec::new();
    let bound = bind_node(tree, scope, &mut problems);
    (bound, problems)
}

fn bind_node(tree: &Tree, scope: &Scope, problems: &mut Vec<Diagnostic>) -> Tree {
    let node = match &tree.node {
        Node::Null => Node::Null,
        Node::Scalar(scalar) if is_template(&scalar.text) => match render(&scalar.text, tree.span, scope) {
            Ok(node) => node,
            Err(problem) => {
                problems.push(*problem);
                Node::Null
            }
        },
        Node::Scalar(scalar) => Node::Scalar(scalar.clone()),
        Node::Seq(items) => Node::Seq(items.iter().map(|item| bind_node(item, scope, problems)).collect()),
        Node::Map(entries) => Node::Map(entries.iter().map(|(key, value)| (key.clone(), bind_node(value, scope, problems))).collect()),
    };
    Tree { span: tree.span, node }
}

/// Renders one text; a text that is one `{{ }}` keeps the type of its value.
pub(super) fn render(text: &str, span: Span, scope: &Scope) -> Result<Node, Box<Diagnostic>> {
    if let Some(pieces) = simple_pieces(text) {
        if let [Piece::Name(name)] = pieces[..] {
            return Ok(known(name, span, scope)?.tree.node.clone());
        }
        let mut out = String::with_capacity(text.len() + 16);
        for piece in pieces {
            match piece {
                Piece::Text(literal) => out.push_str(literal),
                Piece::Name(name) => match &known(name, span, scope)?.tree.node {
                    Node::Scalar(scalar) => out.push_str(&scalar.text),
                    _ => {
                        return Err(Box::new(Diagnostic::error(
                            span,
                            format!("`{name}` is not a single value and cannot stand inside a text"),
                        )));
                    }
                },
            }
        }
        return Ok(text_node(&out));
    }
    if let Some(expression) = whole_expression(text) {
        let compiled = compile(expression).map_err(|e| failed(&e, span))?;
        let used = compiled.undeclared_variables(false);
        defined(&used, span, scope)?;
        let value = compiled.eval(scope.context(scope.form(expression, &used, span)?)).map_err(|e| failed(&e, span))?;
        if value.is_undefined() {
            return Err(Box::new(Diagnostic::error(span, format!("`{expression}` is undefined"))));
        }
        return Ok(value_to_node(&value, span));
    }
    let text = spelled_out(text, scope);
    let template = STRICT.template_from_str(&text).map_err(|e| failed(&e, span))?;
    let used = template.undeclared_variables(false);
    defined(&used, span, scope)?;
    template.render(scope.context(scope.form(&text, &used, span)?)).map(|out| text_node(&out)).map_err(|e| failed(&e, span))
}

fn defined(used: &HashSet<String>, span: Span, scope: &Scope) -> Result<(), Box<Diagnostic>> {
    scope.lacks(used).map_or(Ok(()), |name| Err(Box::new(undefined(&name, span, scope))))
}

/// Renders the template of a file; it may include others of `templates`.
///
/// # Errors
/// When it is malformed or names something undefined; `span` is the place that asked for the file.
pub fn render_file(name: &str, templates: &[(String, String)], span: Span, scope: &Scope) -> Result<String, Box<Diagnostic>> {
    let told = |mut problem: Box<Diagnostic>, line: Option<usize>| {
        let line = line.map(|line| format!(":{line}")).unwrap_or_default();
        problem.message = format!("template `{name}`{line}: {}", problem.message);
        problem
    };
    let mut environment = strict();
    let mut code = String::new();
    for (known, text) in templates {
        let text = spelled_out(text, scope);
        code.push_str(&text);
        environment.add_template_owned(known.clone(), text).map_err(|e| told(failed(&e, span), e.line()))?;
    }
    let template = environment.get_template(name).map_err(|e| told(failed(&e, span), e.line()))?;
    let used = template.undeclared_variables(false);
    if let Some(missing) = scope.lacks(&used) {
        return Err(told(Box::new(undefined(&missing, span, scope)), None));
    }
    let form = scope.form(&code, &used, span).map_err(|problem| told(problem, None))?;
    template.render(scope.context(form)).map_err(|e| told(failed(&e, span), e.line()))
}

fn text_node(text: &str) -> Node {
    Node::Scalar(Scalar { text: text.into(), quoted: true })
}

fn value_to_node(value: &Value, span: Span) -> Node {
    match value.kind() {
        ValueKind::None | ValueKind::Undefined => Node::Null,
        ValueKind::Bool | ValueKind::Number => Node::Scalar(Scalar { text: value.to_string().to_lowercase().into(), quoted: false }),
        ValueKind::Seq | ValueKind::Iterable => {
            Node::Seq(value.try_iter().into_iter().flatten().map(|item| Tree { span, node: value_to_node(&item, span) }).collect())
        }
        ValueKind::Map => Node::Map(
            value
                .try_iter()
                .into_iter()
                .flatten()
                .map(|key| {
                    let item = value.get_item(&key).unwrap_or_default();
                    (Key { name: key.to_string().into(), span }, Tree { span, node: value_to_node(&item, span) })
                })
                .collect(),
        ),
        _ => text_node(&value.to_string()),
    }
}

fn known<'s>(name: &str, span: Span, scope: &'s Scope) -> Result<&'s Bound, Box<Diagnostic>> {
    scope.names.get(name).ok_or_else(|| Box::new(undefined(name, span, scope)))
}

fn undefined(name: &str, span: Span, scope: &Scope) -> Diagnostic {
    let mut names: Vec<&str> = scope.names.keys().map(|k| &**k).collect();
    names.sort_unstable();
    Diagnostic::error(span, format!("undefined name `{name}`")).suggest(name, names)
}

fn failed(error: &minijinja::Error, span: Span) -> Box<Diagnostic> {
    let detail = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
    Box::new(Diagnostic::error(span, format!("template cannot be rendered: {detail}")))
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Piece<'t> {
    Text(&'t str),
    Name(&'t str),
}

/// Splits a text that holds nothing but `{{ name }}`; none when there is more syntax than that.
fn simple_pieces(text: &str) -> Option<Vec<Piece<'_>>> {
    if text.contains("{%") || text.contains("{#") {
        return None;
    }
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(open) = rest.find("{{") {
        if open > 0 {
            pieces.push(Piece::Text(&rest[..open]));
        }
        let close = rest[open..].find("}}")? + open;
        let name = rest[open + 2..close].trim();
        if !is_name(name) {
            return None;
        }
        pieces.push(Piece::Name(name));
        rest = &rest[close + 2..];
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest));
    }
    Some(pieces)
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_alphanumeric() || c == '_')
        && !matches!(text, "true" | "false" | "none")
}

/// The expression of a text that is one `{{ }}` and nothing else.
fn whole_expression(text: &str) -> Option<&str> {
    let inner = text.trim().strip_prefix("{{")?.strip_suffix("}}")?;
    (!inner.contains("{{") && !inner.contains("}}") && !inner.contains("{%")).then(|| inner.trim())
}

/// A template with every plain `{{ name }}` replaced by the name's own spelling where its number would print differently.
fn spelled_out(text: &str, scope: &Scope) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find("{{") {
        let Some(close) = rest[open..].find("}}").map(|at| at + open) else { break };
        let name = rest[open + 2..close].trim();
        let spelling = scope.names.get(name).and_then(|bound| bound.spelling.as_deref());
        let shadowed = || text.contains(&format!("for {name} ")) || text.contains(&format!("set {name} "));
        match spelling {
            Some(spelling) if !is_template(spelling) && !shadowed() => {
                out.push_str(&rest[..open]);
                out.push_str(spelling);
            }
            _ => out.push_str(&rest[..close + 2]),
        }
        rest = &rest[close + 2..];
    }
    out.push_str(rest);
    out
}
