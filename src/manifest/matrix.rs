//! `matrix:` to factors with their levels; a level is a value, or a named patch over the set-up.

use super::check::{Check, point, quoted};
use super::setup;
use crate::model::diagnostic::Diagnostic;
use crate::model::experiment::{Factor, Level};
use crate::model::language::EXPERIMENT;
use crate::model::tree::{Key, Node, Scalar, Span, Tree, is_template};
use std::collections::HashMap;
use std::sync::Arc;

/// Most factors: two levels of each are more variants than anyone can run.
const MAX_FACTORS: usize = 64;

/// What a level that is a patch may hold.
const PATCHABLE: &[&str] = &["networks", "volumes", "services", "workload", "workloads", "engine", "vars"];

/// Words that expressions and templates use for something else.
const RESERVED: &[&str] = &[
    "host", "vars", "when", "true", "false", "none", "True", "False", "None", "not", "and", "or", "in", "is", "if", "else", "for", "loop",
    "self", "super",
];

/// Columns that the tables have beside the factors.
const COLUMNS: &[&str] = &[
    "run",
    "trial",
    "variant",
    "block",
    "position",
    "attempt",
    "outcome",
    "phase",
    "reason",
    "tainted",
    "engine_start",
    "metric",
    "unit",
    "n",
    "median",
    "low",
    "high",
    "min",
    "max",
    "baseline",
    "ratio",
    "p_adjusted",
    "verdict",
];

/// Reads the factors of a manifest.
pub(super) fn factors(root: &Tree, found: &mut Vec<Diagnostic>) -> Vec<Factor> {
    let Some((key, matrix)) = root.entries().iter().find(|(key, _)| &*key.name == "matrix") else { return Vec::new() };
    let Node::Map(entries) = &matrix.node else {
        let problem =
            Diagnostic::error(point(matrix, key), format!("`matrix` must be a mapping from factors to levels, not {}", matrix.kind()));
        found.push(problem.help("write it as `matrix: {factor: [level, level]}`, or leave it out for a single variant"));
        return Vec::new();
    };
    let mut factors = Vec::new();
    if let Some((name, _)) = entries.get(MAX_FACTORS) {
        found.push(Diagnostic::error(name.span, format!("`matrix` has more than {MAX_FACTORS} factors")));
    }
    for (name, tree) in entries.iter().take(MAX_FACTORS) {
        factor_name(name, found);
        if tree.scalar().is_none() && tree.items().is_empty() && tree.entries().is_empty() {
            let problem = Diagnostic::error(name.span, format!("the factor `{}` has no levels, so there is nothing to run", name.name));
            found.push(problem.help("give it at least one level, or remove the factor"));
        }
        let levels = match &tree.node {
            Node::Map(patches) => patched(name, patches, root, found),
            Node::Seq(items) => items.iter().filter_map(|item| plain(name, item, found)).collect(),
            Node::Scalar(_) => plain(name, tree, found).into_iter().collect(),
            Node::Null => Vec::new(),
        };
        factors.push(Factor { name: name.name.clone(), span: name.span, levels: distinct(name, levels, found) });
    }
    clashes(&factors, root, found);
    factors
}

/// A factor's name is a name in templates and expressions and a column of the tables.
fn factor_name(key: &Key, found: &mut Vec<Diagnostic>) {
    let name = &*key.name;
    if !is_identifier(name) {
        let problem = Diagnostic::error(key.span, format!("`{name}` cannot name a factor"));
        found.push(problem.help("templates need letters, digits and `_`, and no digit first"));
    } else if RESERVED.contains(&name) {
        found.push(Diagnostic::error(key.span, format!("`{name}` cannot name a factor: it means something else in expressions")));
    } else if COLUMNS.contains(&name) {
        found.push(Diagnostic::error(key.span, format!("`{name}` cannot name a factor: the tables have a column of that name")));
    }
}

/// Reports vars, of the manifest or of a level, that share a factor's name.
fn clashes(factors: &[Factor], root: &Tree, found: &mut Vec<Diagnostic>) {
    let patches = factors.iter().flat_map(|factor| &factor.levels).filter_map(|level| level.patch.as_ref());
    for part in std::iter::once(root).chain(patches) {
        for (var, _) in part.get("vars").map_or(&[][..], Tree::entries) {
            if let Some(factor) = factors.iter().find(|factor| factor.name == var.name) {
                let problem = Diagnostic::error(var.span, format!("`{}` is a var and a factor", var.name));
                found.push(problem.related(factor.span, "the factor is declared here").help("a template could mean either: rename one"));
            }
        }
    }
}

/// Whether templates can name it.
pub(super) fn is_identifier(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// A level that is a value.
fn plain(factor: &Key, item: &Tree, found: &mut Vec<Diagnostic>) -> Option<Level> {
    let (message, help) = match &item.node {
        Node::Scalar(scalar) => return level(factor, scalar, item.span, None, found),
        Node::Null => (format!("a level of `{}` is empty", factor.name), "write \"\" for the empty text, or \"null\" for the word"),
        Node::Map(_) => (
            format!("a level of `{}` in a list is a single value, not a mapping", factor.name),
            "name such levels: `factor: {name: {workload: ...}}`",
        ),
        Node::Seq(_) => {
            (format!("a level of `{}` is a single value, not a list", factor.name), "write a list of values as one quoted text")
        }
    };
    found.push(Diagnostic::error(point(item, factor), message).help(help));
    None
}

/// The levels of a factor whose levels are patches.
fn patched(factor: &Key, patches: &[(Key, Tree)], root: &Tree, found: &mut Vec<Diagnostic>) -> Vec<Level> {
    let mut levels = Vec::new();
    for (name, patch) in patches {
        let content = match &patch.node {
            Node::Null => None,
            Node::Map(entries) if entries.is_empty() => None,
            Node::Map(_) => {
                check_patch(name, patch, root, found);
                Some(patch.clone())
            }
            _ => {
                let message = format!("the level `{}` of `{}` must be a mapping of settings, not {}", name.name, factor.name, patch.kind());
                let problem = Diagnostic::error(point(patch, name), message);
                found.push(problem.help(format!("for plain values write a list: `{}: [a, b]`", factor.name)));
                None
            }
        };
        let scalar = Scalar { text: name.name.clone(), quoted: false };
        levels.extend(level(factor, &scalar, name.span, content, found));
    }
    levels
}

/// Checks what a level lays over the set-up.
fn check_patch(level: &Key, patch: &Tree, root: &Tree, found: &mut Vec<Diagnostic>) {
    for (key, value) in patch.entries() {
        let name = &*key.name;
        if !PATCHABLE.contains(&name) {
            let known = PATCHABLE.iter().copied().filter(|name| EXPERIMENT.known().any(|known| known == *name));
            let problem = match EXPERIMENT.field(name) {
                Some(_) => {
                    let message = format!("`{name}` cannot vary, so the level `{}` cannot hold it", level.name);
                    Diagnostic::error(key.span, message).help(format!("a level may hold {}", quoted(known)))
                }
                None => Diagnostic::error(key.span, format!("unknown key `{name}` in the level `{}`", level.name)).suggest(name, known),
            };
            found.push(problem);
            continue;
        }
        let other = match name {
            "workload" => "workloads",
            "workloads" => "workload",
            _ => "",
        };
        if let Some((own, _)) = root.entries().iter().find(|(own, _)| *own.name == *other) {
            let problem = Diagnostic::error(key.span, format!("the level `{}` patches `{name}`, but the set-up has `{other}`", level.name));
            found.push(problem.related(own.span, format!("`{other}` is given here")).help(format!("patch `{other}` instead")));
        }
        let only = Tree { span: patch.span, node: Node::Map(vec![(key.clone(), value.clone())]) };
        Check { found, templates: true, patch: true }.record(&only, &EXPERIMENT, patch.span);
        setup::names(&only, found);
    }
}

/// A level with its text checked.
fn level(factor: &Key, scalar: &Scalar, span: Span, patch: Option<Tree>, found: &mut Vec<Diagnostic>) -> Option<Level> {
    let text = &scalar.text;
    let span = if span.len > 0 { span } else { factor.span };
    if text.chars().any(char::is_control) {
        found.push(Diagnostic::error(span, format!("a level of `{}` holds a line break or another control character", factor.name)));
        return None;
    }
    if is_template(text) {
        let problem = Diagnostic::error(span, format!("a level of `{}` cannot hold a template", factor.name));
        found.push(problem.help("levels are what templates are filled with"));
        return None;
    }
    Some(Level { text: text.clone(), value: scalar.value(), span, patch })
}

/// The levels without those whose text was given before; warns of the first two spellings of one number.
fn distinct(factor: &Key, levels: Vec<Level>, found: &mut Vec<Diagnostic>) -> Vec<Level> {
    let mut texts: HashMap<Arc<str>, Span> = HashMap::new();
    let mut numbers: HashMap<u64, (Arc<str>, Span)> = HashMap::new();
    let mut kept = Vec::new();
    let mut warned = false;
    for level in levels {
        if let Some(first) = texts.get(&level.text) {
            let problem = Diagnostic::error(level.span, format!("the level `{}` of `{}` is given twice", level.text, factor.name));
            found.push(problem.related(*first, "first given here"));
            continue;
        }
        texts.insert(level.text.clone(), level.span);
        if let Some(number) = level.value.as_f64().filter(|_| !warned)
            && let Some((text, first)) = numbers.insert(number.to_bits(), (level.text.clone(), level.span))
        {
            let message = format!("the levels `{text}` and `{}` of `{}` are the same number", level.text, factor.name);
            found.push(Diagnostic::warning(level.span, message).related(first, "the other spelling"));
            warned = true;
        }
        kept.push(level);
    }
    kept
}
