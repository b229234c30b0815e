//! Product of the levels, then exclude, then include: which combinations there are.

use super::bind::{Formula, Scope};
use crate::model::diagnostic::Diagnostic;
use crate::model::experiment::{Experiment, Factor, RuleKind};
use crate::model::facts::HostFacts;
use crate::model::symbol;
use crate::model::tree::{Span, Tree};
use std::collections::HashSet;

/// Index of the level of each factor.
pub type Combination = Box<[u32]>;

/// Most combinations that are walked at all: beyond it a matrix is a mistake, not an experiment.
pub const MOST: u64 = 50_000_000;

/// All combinations in product order, the included ones last.
///
/// # Errors
/// Rules that match nothing, repeat a variant or cannot be evaluated; a matrix that expands to nothing or beyond all bounds.
pub fn combinations(experiment: &Experiment, host: Option<&HostFacts>) -> Result<Vec<Combination>, Vec<Diagnostic>> {
    let factors = &experiment.factors;
    let size = factors.iter().try_fold(1_u64, |n, f| n.checked_mul(f.levels.len() as u64)).filter(|n| *n <= MOST);
    let Some(size) = size else {
        let span = factors.first().map(|f| f.span).unwrap_or_default();
        return Err(vec![
            Diagnostic::error(span, format!("the matrix expands to more than {MOST} combinations")).help("drop a factor, or levels of one"),
        ]);
    };
    let rules = compile(experiment)?;
    let mut names = FactorScope::new(host);
    let mut problems = Vec::new();
    let mut hits = vec![0_u64; rules.len()];
    let mut kept: Vec<Combination> = Vec::with_capacity(if rules.is_empty() { size as usize } else { 0 });
    // The rule that was needed last, when rules are applied in the order of the text.
    let mut decisive = 0;
    let mut current: Combination = vec![0; factors.len()].into();
    for _ in 0..size {
        match excluded(&rules, &current, factors, &mut names, &mut hits, &mut problems) {
            Some(rule) => decisive = decisive.max(rule),
            None => kept.push(current.clone()),
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        advance(&mut current, factors);
    }
    for (rule, hits) in rules.iter().zip(&hits) {
        if *hits == 0 && matches!(rule.kind, Compiled::Keys(_)) {
            problems.push(Diagnostic::error(rule.span, "this exclude matches nothing").help("remove it, or correct the levels it names"));
        }
    }
    include(experiment, &mut kept, &mut problems);
    if kept.is_empty() && problems.is_empty() {
        let span = rules.get(decisive).map(|rule| rule.span).or(factors.first().map(|f| f.span)).unwrap_or_default();
        problems.push(
            Diagnostic::error(span, format!("the matrix expands to nothing: all {size} combinations are excluded"))
                .label("this rule removed the last one"),
        );
    }
    if problems.is_empty() { Ok(kept) } else { Err(problems) }
}

struct Exclude<'e> {
    span: Span,
    kind: Compiled<'e>,
}

enum Compiled<'e> {
    Keys(&'e [(usize, Vec<usize>)]),
    When(Formula),
}

fn compile(experiment: &Experiment) -> Result<Vec<Exclude<'_>>, Vec<Diagnostic>> {
    let mut problems = Vec::new();
    let mut rules = Vec::new();
    for rule in &experiment.exclude {
        match &rule.kind {
            RuleKind::Keys(keys) => rules.push(Exclude { span: rule.span, kind: Compiled::Keys(keys) }),
            RuleKind::When(text) => {
                let known = experiment.factors.iter().map(|f| &*f.name).chain(["host"]);
                match Formula::new(text).and_then(|formula| formula.check(known).map(|()| formula)) {
                    Ok(formula) => {
                        rules.push(Exclude { span: rule.span, kind: Compiled::When(formula) });
                    }
                    Err(error) => problems.push(Diagnostic::error(rule.span, error.to_string())),
                }
            }
        }
    }
    if problems.is_empty() { Ok(rules) } else { Err(problems) }
}

/// The first rule that leaves a combination out; every rule that fits it gets a hit.
fn excluded(
    rules: &[Exclude<'_>],
    combination: &[u32],
    factors: &[Factor],
    names: &mut FactorScope,
    hits: &mut [u64],
    problems: &mut Vec<Diagnostic>,
) -> Option<usize> {
    let mut first = None;
    for (index, rule) in rules.iter().enumerate() {
        let matches = match &rule.kind {
            Compiled::Keys(keys) => keys.iter().all(|(factor, levels)| levels.contains(&(combination[*factor] as usize))),
            Compiled::When(formula) => formula.truth(names.at(factors, combination)).unwrap_or_else(|error| {
                problems.push(Diagnostic::error(rule.span, error.to_string()));
                false
            }),
        };
        if matches {
            hits[index] += 1;
            first.get_or_insert(index);
        }
    }
    first
}

/// The names of the factors with the levels of one combination after another. Neighbours differ in few levels, so only those
/// that changed are set again: a plan may have a hundred thousand variants.
#[derive(Debug)]
pub(super) struct FactorScope {
    scope: Scope,
    levels: Vec<u32>,
}

impl FactorScope {
    /// Starts from the one name that no factor has: `host`.
    pub(super) fn new(host: Option<&HostFacts>) -> Self {
        let mut scope = Scope::default();
        let mut known = host.and_then(|facts| serde_json::to_value(facts).ok()).unwrap_or_else(|| serde_json::json!({}));
        for attribute in symbol::HOST_ATTRIBUTES {
            known[attribute] = symbol::symbol(symbol::HOST, attribute).into();
        }
        scope.set_json(symbol::HOST, &known);
        Self { scope, levels: Vec::new() }
    }

    /// The names at one combination.
    pub(super) fn at(&mut self, factors: &[Factor], combination: &[u32]) -> &Scope {
        for (index, (factor, level)) in factors.iter().zip(combination).enumerate() {
            if self.levels.get(index) != Some(level) {
                set_level(&mut self.scope, factor, *level);
            }
        }
        self.levels.clear();
        self.levels.extend_from_slice(combination);
        &self.scope
    }
}

fn set_level(scope: &mut Scope, factor: &Factor, level: u32) {
    let level = &factor.levels[level as usize];
    let mut tree = Tree::plain(&level.text, level.span);
    if level.value.is_string()
        && let crate::model::tree::Node::Scalar(scalar) = &mut tree.node
    {
        scalar.quoted = true;
    }
    scope.set(&factor.name, &tree);
}

/// The first combinations of the plain product, no rule applied.
#[must_use]
pub fn first(factors: &[Factor], most: usize) -> Vec<Combination> {
    let size = factors.iter().fold(1_usize, |n, f| n.saturating_mul(f.levels.len()));
    let mut current: Combination = vec![0; factors.len()].into();
    let mut found = Vec::new();
    for _ in 0..size.min(most) {
        found.push(current.clone());
        advance(&mut current, factors);
    }
    found
}

fn advance(current: &mut [u32], factors: &[Factor]) {
    for (index, factor) in factors.iter().enumerate().rev() {
        current[index] += 1;
        if (current[index] as usize) < factor.levels.len() {
            return;
        }
        current[index] = 0;
    }
}

fn include(experiment: &Experiment, kept: &mut Vec<Combination>, problems: &mut Vec<Diagnostic>) {
    if experiment.include.is_empty() {
        return;
    }
    let mut seen: HashSet<Combination> = kept.iter().cloned().collect();
    for rule in &experiment.include {
        let RuleKind::Keys(keys) = &rule.kind else {
            problems.push(Diagnostic::error(rule.span, "include takes levels, not `when`"));
            continue;
        };
        let mut added: Vec<Combination> = vec![vec![0; experiment.factors.len()].into()];
        for (factor, levels) in keys {
            added = added
                .iter()
                .flat_map(|base| {
                    levels.iter().map(|level| {
                        let mut next = base.clone();
                        next[*factor] = *level as u32;
                        next
                    })
                })
                .collect();
        }
        for combination in added {
            if seen.insert(combination.clone()) {
                kept.push(combination);
            } else {
                let id = super::variant_id(&experiment.factors, &combination);
                problems.push(
                    Diagnostic::error(rule.span, format!("include repeats the variant `{id}`"))
                        .help("an include only ever adds whole variants"),
                );
            }
        }
    }
}
