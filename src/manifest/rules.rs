//! `exclude`, `include` and `baseline`: keys AND, lists OR, or an expression.

use super::check::point;
use super::{MAX_PROBLEMS, choices};
use crate::model::diagnostic::Diagnostic;
use crate::model::experiment::{Factor, Rule, RuleKind};
use crate::model::tree::{Key, Node, Tree, is_template};
use std::collections::{BTreeSet, HashMap};

/// Most entries of `exclude` or `include`.
const MAX_RULES: usize = 10_000;

/// Where a rule stands decides what it may say.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Exclude,
    Include,
    Baseline,
}

impl Place {
    const fn key(self) -> &'static str {
        match self {
            Self::Exclude => "exclude",
            Self::Include => "include",
            Self::Baseline => "baseline",
        }
    }
}

/// The rules of a manifest.
pub(super) struct Rules {
    pub(super) exclude: Vec<Rule>,
    pub(super) include: Vec<Rule>,
    pub(super) baseline: Option<Rule>,
}

/// Reads the rules against the declared factors.
pub(super) fn rules(root: &Tree, factors: &[Factor], found: &mut Vec<Diagnostic>) -> Rules {
    let exclude = list(root, Place::Exclude, factors, found);
    let include = list(root, Place::Include, factors, found);
    let baseline = entry(root, "baseline").and_then(|(key, tree)| rule(tree, key, Place::Baseline, factors, found));
    Rules { exclude, include, baseline }
}

fn entry<'t>(root: &'t Tree, name: &str) -> Option<&'t (Key, Tree)> {
    root.entries().iter().find(|(key, _)| &*key.name == name)
}

fn list(root: &Tree, place: Place, factors: &[Factor], found: &mut Vec<Diagnostic>) -> Vec<Rule> {
    let Some((key, tree)) = entry(root, place.key()) else { return Vec::new() };
    match &tree.node {
        Node::Seq(items) => {
            if let Some(item) = items.get(MAX_RULES) {
                found.push(Diagnostic::error(point(item, key), format!("`{}` has more than {MAX_RULES} entries", place.key())));
            }
            items.iter().take(MAX_RULES).filter_map(|item| rule(item, key, place, factors, found)).collect()
        }
        _ => rule(tree, key, place, factors, found).into_iter().collect(),
    }
}

/// Reads one rule.
fn rule(tree: &Tree, key: &Key, place: Place, factors: &[Factor], found: &mut Vec<Diagnostic>) -> Option<Rule> {
    if found.len() > MAX_PROBLEMS {
        return None;
    }
    let span = point(tree, key);
    let Node::Map(entries) = &tree.node else {
        let message = format!("an entry of `{}` must be a mapping from factors to levels, not {}", place.key(), tree.kind());
        found.push(Diagnostic::error(span, message).help("such as `{factor: level}`"));
        return None;
    };
    if entries.is_empty() {
        found.push(Diagnostic::error(span, format!("an entry of `{}` names no factor", place.key())));
        return None;
    }
    if let Some((when, expression)) = entries.iter().find(|(key, _)| &*key.name == "when") {
        let text = when_text(when, expression, entries, place, found)?;
        return Some(Rule { span, kind: RuleKind::When(text) });
    }
    let before = found.len();
    let keys: Vec<_> = entries.iter().filter_map(|(name, levels)| named(name, levels, place, factors, found)).collect();
    if place == Place::Include && found.len() == before {
        for (index, factor) in factors.iter().enumerate() {
            if !keys.iter().any(|(named, _)| *named == index) {
                let problem =
                    Diagnostic::error(span, format!("an entry of `include` must name every factor, and `{}` is missing", factor.name));
                found.push(problem.related(factor.span, "declared here").help("`include` adds whole variants"));
            }
        }
    }
    (found.len() == before).then_some(Rule { span, kind: RuleKind::Keys(keys) })
}

/// Reads the expression of `when:`, which stands alone.
fn when_text(when: &Key, tree: &Tree, entries: &[(Key, Tree)], place: Place, found: &mut Vec<Diagnostic>) -> Option<String> {
    if place != Place::Exclude {
        let problem = Diagnostic::error(when.span, format!("`when` works in `exclude` only, not in `{}`", place.key()));
        found.push(problem.help("name the levels"));
        return None;
    }
    if entries.len() > 1 {
        let problem = Diagnostic::error(when.span, "`when` stands alone in its entry");
        found.push(problem.help("put the other conditions into the expression, or make two entries"));
        return None;
    }
    let text = match tree.text().map(str::trim) {
        Some("") | None => {
            found.push(Diagnostic::error(point(tree, when), format!("`when` must be an expression, not {}", tree.kind())));
            return None;
        }
        Some(text) => text,
    };
    if is_template(text) {
        let problem = Diagnostic::error(tree.span, "`when` is an expression already and needs no `{{ }}`");
        found.push(problem.help("such as `when: \"network == 'host'\"`"));
        return None;
    }
    Some(text.to_owned())
}

/// Reads `factor: level` or `factor: [level, level]`.
fn named(name: &Key, tree: &Tree, place: Place, factors: &[Factor], found: &mut Vec<Diagnostic>) -> Option<(usize, Vec<usize>)> {
    let Some(index) = factors.iter().position(|factor| factor.name == name.name) else {
        let problem = Diagnostic::error(name.span, format!("unknown factor `{}` in `{}`", name.name, place.key()));
        found.push(match factors {
            [] => problem.help("there is no `matrix`"),
            _ => problem.suggest(&name.name, choices(factors.iter().map(|factor| &*factor.name))),
        });
        return None;
    };
    let factor = &factors[index];
    let items = match &tree.node {
        Node::Seq(items) if items.is_empty() => {
            found.push(Diagnostic::error(tree.span, format!("the list for `{}` is empty, so it matches nothing", name.name)));
            return None;
        }
        Node::Seq(items) if place == Place::Baseline && items.len() > 1 => {
            let problem = Diagnostic::error(tree.span, format!("`baseline` names several levels of `{}`", name.name));
            found.push(problem.help("the baseline is one variant: name one level"));
            return None;
        }
        Node::Seq(items) => items.as_slice(),
        _ => std::slice::from_ref(tree),
    };
    let mut levels = BTreeSet::new();
    let indices: Option<HashMap<&str, usize>> =
        (items.len() > 16).then(|| factor.levels.iter().enumerate().map(|(index, level)| (&*level.text, index)).collect());
    for item in items {
        let known = indices.as_ref().and_then(|indices| indices.get(item.text()?).copied());
        let index = known.or_else(|| level(item, name, factor, found))?;
        if !levels.insert(index) {
            found.push(Diagnostic::error(item.span, format!("the level `{}` is named twice", factor.levels[index].text)));
        }
    }
    Some((index, levels.into_iter().collect()))
}

/// Finds a level by its text.
fn level(item: &Tree, name: &Key, factor: &Factor, found: &mut Vec<Diagnostic>) -> Option<usize> {
    let Some(text) = item.text() else {
        let message = format!("a level of `{}` is named by its text, not by {}", name.name, item.kind());
        found.push(Diagnostic::error(point(item, name), message));
        return None;
    };
    let index = factor.levels.iter().position(|level| &*level.text == text);
    if index.is_none() {
        let problem = Diagnostic::error(point(item, name), format!("the factor `{}` has no level `{text}`", name.name));
        let problem = problem.related(factor.span, "declared here");
        let same = factor.levels.iter().find(|level| same_number(text, &level.text));
        found.push(match same {
            Some(level) => problem.help(format!("levels are named as written: `{}`", level.text)),
            None => problem.suggest(text, choices(factor.levels.iter().map(|level| &*level.text))),
        });
    }
    index
}

fn same_number(a: &str, b: &str) -> bool {
    matches!((a.parse::<f64>(), b.parse::<f64>()), (Ok(a), Ok(b)) if a == b)
}
