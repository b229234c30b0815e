//! Combinations -> variants: patches of levels merged, templates bound, the set-up resolved, the identity computed.

use super::bind::{self, Scope};
use super::product::{Combination, FactorScope};
use super::proxied::Proxied;
use super::{History, aa_copy, identity, resolve, variant_id};
use crate::model::catalog::Catalog;
use crate::model::diagnostic::Diagnostic;
use crate::model::experiment::{Experiment, Factor, Problems};
use crate::model::facts::HostFacts;
use crate::model::plan::{Reason, Variant, VariantHistory};
use crate::model::spec::{EngineSpec, TrialSpec};
use crate::model::symbol;
use crate::model::tree::{Key, Node, Span, Tree};
use serde_json::{Map, Value as Json};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Problems after which the rest is not looked at: a person cannot read more at once.
const MOST_PROBLEMS: usize = 50;

/// Turns a combination into what it runs.
pub struct Binder<'e> {
    experiment: &'e Experiment,
    catalog: &'e Catalog,
    names: RefCell<FactorScope>,
    /// Set-ups after their patches, by the levels that patch.
    patched: RefCell<HashMap<Vec<u32>, Rc<Patched>>>,
}

/// A set-up after its patches.
struct Patched {
    vars: Vec<(Key, Tree)>,
    /// All but `vars`.
    rest: Tree,
}

/// What a combination runs.
pub struct Resolved {
    /// The typed set-up.
    pub spec: TrialSpec,
    /// Factors and vars, for derived metrics.
    pub names: Map<String, Json>,
}

impl<'e> Binder<'e> {
    /// A binder for the experiment.
    #[must_use]
    pub fn new(experiment: &'e Experiment, catalog: &'e Catalog, host: Option<&HostFacts>) -> Self {
        Self { experiment, catalog, names: RefCell::new(FactorScope::new(host)), patched: RefCell::default() }
    }

    /// The experiment.
    #[must_use]
    pub fn experiment(&self) -> &'e Experiment {
        self.experiment
    }

    /// The known parsers.
    #[must_use]
    pub fn catalog(&self) -> &'e Catalog {
        self.catalog
    }

    /// What a combination runs.
    ///
    /// # Errors
    /// Undefined names, and values that do not fit.
    pub fn resolve(&self, levels: &[u32]) -> Result<Resolved, Vec<Diagnostic>> {
        let setup = self.patched(levels)?;
        let mut scope = self.names.borrow_mut().at(&self.experiment.factors, levels).clone();
        let mut names = Map::new();
        for (factor, level) in self.experiment.factors.iter().zip(levels) {
            names.insert(factor.name.to_string(), factor.levels[*level as usize].value.clone());
        }
        name_units(&setup.rest, &mut scope);
        let mut problems = bind_vars(&setup.vars, &mut scope, &mut names);
        let (mut bound, found) = bind::bind(&setup.rest, &scope);
        problems.extend(found);
        clear(&mut bound);
        let context =
            resolve::Context { catalog: self.catalog, templates: &self.experiment.templates, scope: &scope, whole: problems.is_empty() };
        match resolve::resolve(&bound, &context) {
            Ok(spec) if problems.is_empty() => Ok(Resolved { spec, names }),
            Ok(_) => Err(problems),
            Err(found) => {
                problems.extend(found);
                Err(problems)
            }
        }
    }

    /// The set-up with the levels' patches merged over it. Two factors may not say different things of one place: which one
    /// counts would depend on the order of the text.
    fn patched(&self, levels: &[u32]) -> Result<Rc<Patched>, Vec<Diagnostic>> {
        let factors = &self.experiment.factors;
        let patches: Vec<(&Factor, u32, &Tree)> = factors
            .iter()
            .zip(levels)
            .filter_map(|(factor, level)| factor.levels[*level as usize].patch.as_ref().map(|patch| (factor, *level, patch)))
            .collect();
        let key: Vec<u32> = patches.iter().flat_map(|(factor, level, _)| [factor.span.start, *level]).collect();
        if let Some(tree) = self.patched.borrow().get(&key) {
            return Ok(Rc::clone(tree));
        }
        let mut problems = Vec::new();
        for (index, (factor, level, patch)) in patches.iter().enumerate() {
            for (other, other_level, earlier) in &patches[..index] {
                if let Some((path, first, second)) = contradiction("", earlier, patch) {
                    let spelled = |factor: &Factor, level: u32| format!("`{}={}`", factor.name, factor.levels[level as usize].text);
                    let message =
                        format!("{} and {} both set `{path}`, to different things", spelled(other, *other_level), spelled(factor, *level));
                    let problem = Diagnostic::error(second, message).related(first, "the other one is here");
                    problems.push(problem.help("set it in one of the two factors, or exclude the combination"));
                }
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let mut tree = self.experiment.setup.clone();
        patches.iter().for_each(|(_, _, patch)| tree.merge(patch));
        let (vars, rest) = tree.entries().iter().cloned().partition::<Vec<_>, _>(|(key, _)| &*key.name == "vars");
        let vars = vars.first().map(|(_, vars)| vars.entries().to_vec()).unwrap_or_default();
        let patched = Rc::new(Patched { vars, rest: Tree { span: tree.span, node: Node::Map(rest) } });
        self.patched.borrow_mut().insert(key, Rc::clone(&patched));
        Ok(patched)
    }
}

/// Services are names of what is known only while they run. A factor or var of the same name goes before.
fn name_units(setup: &Tree, scope: &mut Scope) {
    for (key, _) in setup.get("services").map(Tree::entries).unwrap_or_default() {
        if !scope.has(&key.name) {
            let attributes = symbol::UNIT_ATTRIBUTES.map(|attribute| (attribute.to_owned(), symbol::symbol(&key.name, attribute).into()));
            scope.set_json(&key.name, &Json::Object(attributes.into_iter().collect()));
        }
    }
}

/// Vars may use factors, and vars that stand before them. One that cannot be bound is null, and told.
fn bind_vars(vars: &[(Key, Tree)], scope: &mut Scope, names: &mut Map<String, Json>) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    for (key, tree) in vars {
        let (bound, found) = bind::bind(tree, scope);
        problems.extend(found);
        names.insert(key.name.to_string(), bind::tree_to_json(&bound));
        scope.set(&key.name, &bound);
    }
    problems
}

/// The first place of which two patches say different things.
fn contradiction(path: &str, a: &Tree, b: &Tree) -> Option<(String, Span, Span)> {
    match (&a.node, &b.node) {
        (Node::Map(entries), Node::Map(_)) => entries.iter().find_map(|(key, value)| {
            let path = if path.is_empty() { key.name.to_string() } else { format!("{path}.{}", key.name) };
            contradiction(&path, value, b.get(&key.name)?)
        }),
        _ => (!same(a, b)).then(|| (path.to_owned(), a.span, b.span)),
    }
}

/// Whether two trees say the same, wherever they stand.
fn same(a: &Tree, b: &Tree) -> bool {
    match (&a.node, &b.node) {
        (Node::Seq(a), Node::Seq(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Node::Map(entries), Node::Map(others)) => {
            entries.len() == others.len() && entries.iter().all(|(key, value)| b.get(&key.name).is_some_and(|other| same(value, other)))
        }
        (a, b) => a == b,
    }
}

/// Removes keys without a value: in a patch they clear what they are laid over.
fn clear(tree: &mut Tree) {
    match &mut tree.node {
        Node::Map(entries) => {
            entries.retain(|(_, value)| !value.is_null());
            entries.iter_mut().for_each(|(_, value)| clear(value));
        }
        Node::Seq(items) => items.iter_mut().for_each(clear),
        Node::Null | Node::Scalar(_) => {}
    }
}

/// All variants of a plan, with what planning needs to know of each.
pub(super) struct Variants {
    /// The variants; the A/A copy of the baseline is the last one.
    pub(super) variants: Vec<Variant>,
    /// Their engines, without the copy's.
    pub(super) engines: Vec<EngineSpec>,
    /// What docker-proxy stands in the way of, without the copy's.
    pub(super) proxied: Vec<Option<Proxied>>,
}

/// Resolves every combination.
pub(super) fn resolve_all(
    binder: &Binder<'_>,
    combinations: Vec<Combination>,
    baseline: usize,
    history: &History,
) -> Result<Variants, Problems> {
    let mut variants = Vec::with_capacity(combinations.len() + 1);
    let mut engines = Vec::with_capacity(combinations.len());
    let mut proxied = Vec::with_capacity(combinations.len());
    let mut problems: Vec<Diagnostic> = Vec::new();
    let mut seen = HashSet::new();
    for levels in combinations {
        let id = variant_id(&binder.experiment.factors, &levels);
        match binder.resolve(&levels) {
            Ok(resolved) => {
                let identity = identity::of(&resolved.spec);
                let reason = match history.get(&id) {
                    Some(VariantHistory { elsewhere: Some(difference), .. }) => Reason::Elsewhere(difference.clone()),
                    Some(past) if past.identity != identity => Reason::Stale(identity::changes(&past.spec, &resolved)),
                    Some(_) => Reason::UpToDate,
                    None => Reason::New,
                };
                let private = resolved.spec.engine.private.is_some();
                proxied.push(Proxied::of(&resolved.spec));
                engines.push(resolved.spec.engine);
                variants.push(Variant { id: id.into(), levels, identity: identity.into(), reason, private });
            }
            Err(found) => {
                for mut problem in found {
                    if seen.insert((problem.span, problem.message.clone())) {
                        if problem.label.is_empty() && !binder.experiment.factors.is_empty() {
                            problem.label = format!("in variant `{id}`");
                        }
                        problems.push(problem);
                    }
                }
                if problems.len() >= MOST_PROBLEMS {
                    break;
                }
            }
        }
    }
    if !problems.is_empty() {
        problems.sort_by_key(|p| p.span);
        return Err(Problems(problems));
    }
    let copy = aa_copy(&variants[baseline]);
    variants.push(copy);
    Ok(Variants { variants, engines, proxied })
}
