//! Manifests: text to an [`Experiment`], or every problem at once, each with its place.
//!
//! The order is: form (`yaml`), keys and values (`check` against the tables of [`crate::model::language`]), then what
//! the parts say of each other (`matrix`, `rules`, `product`, `setup`, `templates`, `metrics`). Later steps run even when
//! earlier ones found problems, so that one reading shows them all. This room reads no files (templates come through a
//! callback), evaluates no expression and fills in no template: that is the plan's.

mod charts;
mod check;
mod design;
mod matrix;
mod metrics;
mod observe;
mod product;
mod rules;
mod scalar;
mod setup;
mod templates;
mod yaml;

pub use yaml::parse_tree;

use crate::model::diagnostic::{Diagnostic, Severity};
use crate::model::experiment::{Design, Experiment, Presentation, Problems};
use crate::model::language::EXPERIMENT;
use crate::model::shape::Support;
use crate::model::tree::{Node, Span, Tree};
use check::Check;
use std::path::Path;

/// Most problems that are shown.
const MAX_PROBLEMS: usize = 200;

/// A manifest to be read.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// The file's stem: the experiment's name.
    pub name: &'a str,
    /// The folder of the manifest, against which its paths are resolved.
    pub folder: &'a Path,
    /// What the file holds.
    pub text: &'a str,
}

/// Reads a manifest; gives the experiment with what its author should know. `templates` gives the text of a template by
/// name, looked up beside the manifest, then in `templates/`; none when there is no such file.
///
/// # Errors
/// With every problem of the manifest, warnings among them, in the order of the text.
pub fn read(source: &Source<'_>, templates: &dyn Fn(&str) -> Option<String>) -> Result<(Experiment, Vec<Diagnostic>), Problems> {
    let Examined { experiment, found } = examine(source, templates);
    match experiment {
        Some(experiment) if !found.iter().any(|problem| problem.severity == Severity::Error) => Ok((experiment, found)),
        _ => Err(Problems(found)),
    }
}

/// What could be made of a manifest, right or not.
#[derive(Debug, Clone)]
pub struct Examined {
    /// The experiment as far as it could be read; none where too little is left to look for further problems in it.
    pub experiment: Option<Experiment>,
    /// Problems and warnings in the order of the text.
    pub found: Vec<Diagnostic>,
}

/// Reads a manifest as far as it can be read, so that planning can add what it finds to the same list.
#[must_use]
pub fn examine(source: &Source<'_>, templates: &dyn Fn(&str) -> Option<String>) -> Examined {
    let (tree, mut found) = yaml::scan(source.text);
    let Some(root) = tree.filter(|tree| is_manifest(tree, &mut found)) else {
        return Examined { experiment: None, found: problems(found).0 };
    };
    keys_and_values(&root, &mut found);
    let factors = matrix::factors(&root, &mut found);
    let rules = rules::rules(&root, &factors, &mut found);
    product::check(&factors, &rules, &mut found);
    let setup = setup::setup(&root);
    setup::names(&setup, &mut found);
    let templates = templates::load(&setup, &factors, source.folder, templates, &mut found);
    let text = |key: &str| root.get(key).and_then(Tree::text).map(str::to_owned);
    // With a factor missing, every template that names it would look wrong.
    let whole = factors.len() == root.get("matrix").map_or(0, |matrix| matrix.entries().len()) && !setup.entries().is_empty();
    let experiment = Experiment {
        name: source.name.to_owned(),
        folder: source.folder.to_owned(),
        presentation: Presentation {
            title: text("title").unwrap_or_else(|| source.name.to_owned()),
            question: text("question").unwrap_or_default(),
            metrics: metrics::metrics(&root, &factors, &mut found),
            charts: charts::charts(&root, &mut found),
        },
        exclude: rules.exclude,
        include: rules.include,
        baseline: rules.baseline,
        setup,
        design: Design {
            observe: observe::observe(&root, &mut found),
            hygiene: observe::hygiene(&root, &mut found),
            ..design::design(&root, &mut found)
        },
        limits: design::limits(&root, &mut found),
        templates,
        factors,
    };
    Examined { experiment: whole.then_some(experiment), found: problems(found).0 }
}

/// Whether the document is a mapping at all.
fn is_manifest(tree: &Tree, found: &mut Vec<Diagnostic>) -> bool {
    match &tree.node {
        Node::Map(entries) if !entries.is_empty() || !found.is_empty() => return true,
        Node::Null | Node::Map(_) => found.push(Diagnostic::error(Span::default(), "the manifest is empty")),
        _ => {
            let problem = Diagnostic::error(tree.span, format!("a manifest is a mapping of keys, not {}", tree.kind()));
            found.push(problem.help("begin with `title:` and `workload:`"));
        }
    }
    false
}

/// Checks every top-level key against its shape; only what runs may hold templates.
fn keys_and_values(root: &Tree, found: &mut Vec<Diagnostic>) {
    Check { found, templates: false, patch: false }.keys(root, &EXPERIMENT, root.span);
    for (key, value) in root.entries() {
        let Some(field) = EXPERIMENT.field(&key.name).filter(|field| field.support == Support::Yes) else { continue };
        let templates = setup::is_part(&key.name);
        Check { found, templates, patch: false }.value(value, &field.shape, key);
    }
}

/// The names that an unknown one is compared with and that are listed: a choice of hundreds helps nobody.
fn choices<'n>(names: impl Iterator<Item = &'n str>) -> impl Iterator<Item = &'n str> {
    names.filter(|name| name.len() <= 64).take(50)
}

/// Problems in the order of the text, each once; after [`MAX_PROBLEMS`] the rest is only counted.
fn problems(mut found: Vec<Diagnostic>) -> Problems {
    found.sort_by(|a, b| (a.span, a.severity as u8, &a.message).cmp(&(b.span, b.severity as u8, &b.message)));
    found.dedup();
    if found.len() > MAX_PROBLEMS {
        let more = found.len() - MAX_PROBLEMS;
        // Errors are kept before warnings: they are what stands in the way.
        found.sort_by_key(|problem| problem.severity as u8);
        let last = found[MAX_PROBLEMS - 1].span.unwrap_or_default();
        found.truncate(MAX_PROBLEMS);
        found.push(Diagnostic::error(last, format!("at least {more} more problems are not shown")));
        found.sort_by_key(|problem| problem.span);
    }
    Problems(found)
}
