//! The templates that `files:` name, and those that they include: their text comes through the caller's lookup.

use crate::model::diagnostic::Diagnostic;
use crate::model::experiment::Factor;
use crate::model::tree::{Node, Span, Tree, is_template};
use std::collections::HashMap;
use std::path::Path;

/// Largest number of templates of an experiment.
const MAX_TEMPLATES: usize = 256;

/// Loads every template that a file of the set-up or of a level's patch names, with those that these include, each once.
pub(super) fn load(
    setup: &Tree,
    factors: &[Factor],
    folder: &Path,
    lookup: &dyn Fn(&str) -> Option<String>,
    found: &mut Vec<Diagnostic>,
) -> Vec<(String, String)> {
    let patches = factors.iter().flat_map(|factor| &factor.levels).filter_map(|level| level.patch.as_ref());
    let named = std::iter::once(setup).chain(patches).flat_map(names).filter_map(|tree| tree.text().map(|text| (text, tree.span)));
    let mut wanted: Vec<Wanted> = named.map(|(name, span)| Wanted { name: name.to_owned(), span, by: None }).collect();
    let mut known: HashMap<String, bool> = HashMap::new();
    let mut loaded: Vec<(String, String)> = Vec::new();
    let mut next = 0;
    while next < wanted.len() && loaded.len() < MAX_TEMPLATES {
        let Wanted { name, span, by } = wanted[next].clone();
        next += 1;
        if known.get(&name) == Some(&true) {
            continue;
        }
        if let Some((message, help)) = refused(&name) {
            found.push(Diagnostic::error(span, message).help(help));
            continue;
        }
        let text = lookup(&name);
        known.insert(name.clone(), text.is_some());
        match text {
            None => found.push(missing(&name, span, by.as_deref(), folder)),
            Some(text) => {
                let included = included(&text).into_iter().filter(|other| !known.contains_key(*other));
                wanted.extend(included.map(|other| Wanted { name: other.to_owned(), span, by: Some(name.clone()) }));
                loaded.push((name, text));
            }
        }
    }
    loaded
}

#[derive(Clone)]
struct Wanted {
    name: String,
    span: Span,
    /// The template that includes it; none when a file names it.
    by: Option<String>,
}

/// The values of `template:` below every workload's `files:`.
fn names(part: &Tree) -> Vec<&Tree> {
    let one = part.get("workload").into_iter();
    let units = ["workloads", "services"].into_iter().filter_map(|key| part.get(key)).flat_map(Tree::entries);
    let units = one.chain(units.map(|(_, unit)| unit));
    let files = units.filter_map(|unit| unit.get("files")).flat_map(|files| match &files.node {
        Node::Seq(items) => items.as_slice(),
        _ => std::slice::from_ref(files),
    });
    files.filter_map(|file| file.get("template")).collect()
}

/// The names in `{% include "name" %}`, `extends`, `import` and `from`; a name that is computed, or may be missing, is not
/// among them, and fails when the template is filled in.
fn included(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    for block in text.split("{%").skip(1) {
        let block = block.split("%}").next().unwrap_or(block).trim_matches(['-', '+', ' ', '\t', '\r', '\n']);
        let Some((word, rest)) = block.split_once(char::is_whitespace) else { continue };
        if !matches!(word, "include" | "extends" | "import" | "from") || rest.contains("ignore missing") {
            continue;
        }
        let rest = rest.trim_start();
        let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''));
        names.extend(quote.and_then(|quote| rest[1..].split_once(quote)).map(|(name, _)| name));
    }
    names
}

/// Why a template's name is not even looked for.
fn refused(name: &str) -> Option<(String, &'static str)> {
    if is_template(name) {
        return Some(("the name of a template cannot hold a template".to_owned(), "name the file in the patch of a level instead"));
    }
    let escapes = name.contains(['\\', '\0']) || name.split('/').any(|part| matches!(part, "" | "." | ".."));
    escapes.then(|| {
        let help = "templates stand beside the manifest, or in `templates/`";
        (format!("the template `{name}` is not a plain path below a folder"), help)
    })
}

fn missing(name: &str, span: Span, by: Option<&str>, folder: &Path) -> Diagnostic {
    let shared = folder.parent().map_or_else(|| Path::new("..").join("templates"), |parent| parent.join("templates"));
    let help = format!("looked for `{}` and `{}`", folder.join(name).display(), shared.join(name).display());
    let wanted = by.map_or_else(String::new, |by| format!(", which `{by}` includes"));
    Diagnostic::error(span, format!("there is no template `{name}`{wanted}")).help(help)
}
