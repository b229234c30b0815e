//! Combinations -> variants: patches of levels merged, templates bound, the set-up resolved, the identity computed.

use super::bind::{self, Scope};
use super::product::{Combination, FactorScope};
use super::{History, aa_copy, identity, resolve, variant_id};
use crate::model::catalog::Catalog;
use crate::model::diagnostic::Diagnostic;
use crate::model::experiment::{Experiment, Problems};
use crate::model::facts::HostFacts;
use crate::model::plan::{Reason, Variant};
use crate::model::spec::{EngineSpec, TrialSpec};
use crate::model::tree::{Key, Node, Tree};
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
    /// The host and the factors, at the levels that were resolved last.
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
        let host = host.and_then(|facts| serde_json::to_value(facts).ok()).unwrap_or(Json::Null);
        let mut scope = Scope::default();
        scope.set_json("host", &host);
        Self { experiment, catalog, names: RefCell::new(FactorScope::new(scope)), patched: RefCell::default() }
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
        let setup = self.patched(levels);
        let mut scope = self.names.borrow_mut().at(&self.experiment.factors, levels).clone();
        let mut names = Map::new();
        for (factor, level) in self.experiment.factors.iter().zip(levels) {
            names.insert(factor.name.to_string(), factor.levels[*level as usize].value.clone());
        }
        bind_vars(&setup.vars, &mut scope, &mut names)?;
        let bound = bind::bind(&setup.rest, &scope)?;
        let context = resolve::Context { catalog: self.catalog, templates: &self.experiment.templates, scope: &scope };
        Ok(Resolved { spec: resolve::resolve(&bound, &context)?, names })
    }

    fn patched(&self, levels: &[u32]) -> Rc<Patched> {
        let factors = &self.experiment.factors;
        let key: Vec<u32> = factors
            .iter()
            .zip(levels)
            .filter(|(f, l)| f.levels[**l as usize].patch.is_some())
            .flat_map(|(f, l)| [f.span.start, *l])
            .collect();
        if let Some(tree) = self.patched.borrow().get(&key) {
            return Rc::clone(tree);
        }
        let mut tree = self.experiment.setup.clone();
        for (factor, level) in factors.iter().zip(levels) {
            if let Some(patch) = &factor.levels[*level as usize].patch {
                tree.merge(patch);
            }
        }
        let (vars, rest) = tree.entries().iter().cloned().partition::<Vec<_>, _>(|(key, _)| &*key.name == "vars");
        let vars = vars.first().map(|(_, vars)| vars.entries().to_vec()).unwrap_or_default();
        let patched = Rc::new(Patched { vars, rest: Tree { span: tree.span, node: Node::Map(rest) } });
        self.patched.borrow_mut().insert(key, Rc::clone(&patched));
        patched
    }
}

/// Vars may use factors, and vars that stand before them.
fn bind_vars(vars: &[(Key, Tree)], scope: &mut Scope, names: &mut Map<String, Json>) -> Result<(), Vec<Diagnostic>> {
    for (key, tree) in vars {
        let bound = bind::bind(tree, scope)?;
        names.insert(key.name.to_string(), bind::tree_to_json(&bound));
        scope.set(&key.name, &bound);
    }
    Ok(())
}

/// Resolves every combination; the A/A copy of the baseline is added as the last variant. The engines are those of the combinations.
pub(super) fn resolve_all(
    binder: &Binder<'_>,
    combinations: Vec<Combination>,
    baseline: usize,
    history: &History,
) -> Result<(Vec<Variant>, Vec<EngineSpec>), Problems> {
    let mut variants = Vec::with_capacity(combinations.len() + 1);
    let mut engines = Vec::with_capacity(combinations.len());
    let mut problems: Vec<Diagnostic> = Vec::new();
    let mut seen = HashSet::new();
    for levels in combinations {
        let id = variant_id(&binder.experiment.factors, &levels);
        match binder.resolve(&levels) {
            Ok(resolved) => {
                let identity = identity::of(&resolved.spec);
                let reason = match history.get(&id) {
                    Some(past) if past.identity != identity => Reason::Stale(identity::changes(&past.spec, &resolved.spec)),
                    Some(_) => Reason::UpToDate,
                    None => Reason::New,
                };
                engines.push(resolved.spec.engine);
                variants.push(Variant { id: id.into(), levels, identity: identity.into(), reason });
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
    Ok((variants, engines))
}
