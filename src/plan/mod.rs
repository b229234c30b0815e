//! Experiment + history -> [`Plan`]. Pure: manifest, seed, history and (only where an expression reads them) host facts are the
//! whole input, so the same input gives the same plan anywhere.
//!
//! Steps: [`product`] (levels, exclude, include) -> [`variants`] (merge patches, bind templates, resolve, identity) ->
//! [`reasons`] (what needs to run, and why) -> [`batches`] (who shares an engine) -> [`order`] (blocks, batches, positions).

pub mod batches;
pub mod bind;
mod charts;
pub mod derive;
pub mod identity;
pub mod metrics;
pub mod order;
pub mod product;
mod proxied;
pub mod random;
pub mod reasons;
pub mod resolve;
pub mod saved;
pub mod secrets;
pub mod variants;

use crate::model::catalog::Catalog;
use crate::model::diagnostic::Diagnostic;
use crate::model::experiment::{Experiment, Factor, Problems, RuleKind};
use crate::model::facts::HostFacts;
use crate::model::plan::{AA_SUFFIX, FactorSummary, Plan, Reason, Variant, VariantHistory, engine_start};
use std::collections::BTreeMap;
use variants::Binder;

/// What earlier runs have, by variant id.
pub type History = BTreeMap<String, VariantHistory>;

/// What the command line adds to the manifest.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Replaces the design's number of blocks.
    pub blocks: Option<u32>,
    /// Runs every variant again, whatever the history has.
    pub fresh: bool,
    /// Only variants with these levels (and the baseline): factor and level.
    pub only: Vec<(String, String)>,
    /// How many runs there are already: each gets an order of its own.
    pub earlier_runs: u64,
    /// The host's facts, for expressions that read `host`.
    pub host: Option<HostFacts>,
    /// Whether the design's `max_variants` is enforced: planning alone has no limit.
    pub enforce_limit: bool,
}

/// A plan and what each of its variants runs.
pub struct Planned<'e> {
    /// The plan.
    pub plan: Plan,
    /// Resolves variants.
    pub binder: Binder<'e>,
    /// What should be known before running.
    pub warnings: Vec<Diagnostic>,
}

/// Plans an experiment.
///
/// # Errors
/// Everything that is wrong with its rules, templates, set-up, formulas and names.
pub fn plan<'e>(experiment: &'e Experiment, catalog: &'e Catalog, history: &History, options: &Options) -> Result<Planned<'e>, Problems> {
    let combinations = product::combinations(experiment, options.host.as_ref())
        .map_err(|problems| with_the_rest(experiment, catalog, options, problems))?;
    if options.enforce_limit && combinations.len() > experiment.design.max_variants {
        let span = experiment.factors.first().map(|f| f.span).unwrap_or_default();
        let message = format!(
            "the matrix expands to {} variants, more than `design.max_variants` of {}",
            combinations.len(),
            experiment.design.max_variants
        );
        return Err(Problems(vec![Diagnostic::error(span, message).help("drop levels, or raise `max_variants` if you mean it")]));
    }
    let mut warnings = Vec::new();
    let baseline = baseline(experiment, &combinations, &mut warnings).map_err(|p| Problems(vec![*p]))?;
    let binder = Binder::new(experiment, catalog, options.host.as_ref());
    let variants::Variants { mut variants, engines, proxied } =
        variants::resolve_all(&binder, combinations, baseline, history).map_err(|mut problems| {
            problems.0.extend(presentation(experiment, catalog));
            problems
        })?;
    metrics::check(experiment, &binder, &variants).map_err(Problems)?;
    let blocks = options.blocks.unwrap_or(experiment.design.blocks);
    let selected = select(experiment, &variants, options)?;
    let needs = reasons::decide(&mut variants, baseline, blocks, &selected, history, options.fresh);
    let content = identity::content(experiment, blocks, &variants);
    let seed = experiment.design.seed.unwrap_or_else(|| identity::seed(&content)).wrapping_add(options.earlier_runs);
    let groups = batches::groups(&engines, baseline, &needs);
    let planned_blocks = needs.iter().copied().max().unwrap_or(0);
    warnings.extend(batches::few_engine_starts(&experiment.design, blocks, &engines, baseline).filter(|_| planned_blocks > 0));
    warnings.extend(proxied::warning(variants.iter().map(|variant| &*variant.id), &proxied));
    let trials = order::order(&groups, planned_blocks, seed, &|variant, block| needs[variant as usize] >= block);
    let factors: Vec<FactorSummary> = experiment
        .factors
        .iter()
        .map(|f| FactorSummary { name: f.name.clone(), levels: f.levels.iter().map(|l| l.text.clone()).collect() })
        .collect();
    let digest = identity::digest(&content, &factors);
    let private = variants.iter().zip(&needs).any(|(variant, needs)| variant.private && *needs > 0);
    let plan = Plan {
        experiment: experiment.name.clone(),
        digest,
        seed,
        factors,
        variants,
        baseline,
        trials,
        blocks: planned_blocks,
        engine_starts: (1..=planned_blocks)
            .filter(|_| private)
            .map(|block| engine_start(&experiment.design, engines.iter(), block, planned_blocks))
            .collect(),
    };
    Ok(Planned { plan, binder, warnings })
}

/// Problems of the rules, with those of the set-up and the formulas: the combinations are not known, so the first ones of the plain
/// product stand for them.
fn with_the_rest(experiment: &Experiment, catalog: &Catalog, options: &Options, mut problems: Vec<Diagnostic>) -> Problems {
    let binder = Binder::new(experiment, catalog, options.host.as_ref());
    let some = product::first(&experiment.factors, SOME_COMBINATIONS);
    if let Err(Problems(found)) = variants::resolve_all(&binder, some, 0, &History::new()) {
        problems.extend(found);
    }
    problems.extend(presentation(experiment, catalog));
    Problems(problems)
}

/// What is wrong with formulas and charts, as far as it can be said without knowing the variants.
fn presentation(experiment: &Experiment, catalog: &Catalog) -> Vec<Diagnostic> {
    let mut found = metrics::syntax(experiment);
    found.extend(charts::form(experiment, catalog));
    found
}

/// Combinations that stand for all when the rules are wrong.
const SOME_COMBINATIONS: usize = 200;

/// The id of a combination: `factor=level` pairs sorted by factor, `all` without factors.
#[must_use]
pub fn variant_id(factors: &[Factor], combination: &[u32]) -> String {
    if factors.is_empty() {
        return "all".to_owned();
    }
    let mut order: Vec<usize> = (0..factors.len()).collect();
    order.sort_unstable_by(|a, b| factors[*a].name.cmp(&factors[*b].name));
    let mut id = String::with_capacity(factors.len() * 16);
    for index in order {
        if !id.is_empty() {
            id.push(',');
        }
        id.push_str(&factors[index].name);
        id.push('=');
        spell(&factors[index].levels[combination[index] as usize].text, &mut id);
    }
    id
}

/// Writes a level so that an id can be taken apart again: what would be mistaken for its punctuation is percent-encoded.
fn spell(text: &str, id: &mut String) {
    for c in text.chars() {
        if matches!(c, ',' | '=' | '#' | '%') || c.is_control() {
            let mut bytes = [0; 4];
            for byte in c.encode_utf8(&mut bytes).bytes() {
                id.push_str(&format!("%{byte:02X}"));
            }
        } else {
            id.push(c);
        }
    }
}

/// The baseline's index among the combinations.
fn baseline(
    experiment: &Experiment,
    combinations: &[product::Combination],
    warnings: &mut Vec<Diagnostic>,
) -> Result<usize, Box<Diagnostic>> {
    let mut wanted = vec![0_u32; experiment.factors.len()];
    if let Some(rule) = &experiment.baseline
        && let RuleKind::Keys(keys) = &rule.kind
    {
        for (factor, levels) in keys {
            wanted[*factor] = levels.first().copied().unwrap_or(0) as u32;
        }
    }
    let found = combinations.iter().position(|c| **c == *wanted);
    match (found, &experiment.baseline) {
        (Some(index), _) => Ok(index),
        (None, Some(rule)) => {
            let id = variant_id(&experiment.factors, &wanted);
            Err(Box::new(
                Diagnostic::error(rule.span, format!("the baseline `{id}` is not one of the variants"))
                    .help("name the level of every factor, so that it is a variant that the matrix keeps"),
            ))
        }
        (None, None) => {
            let id = variant_id(&experiment.factors, &combinations[0]);
            let span = experiment.factors.first().map(|f| f.span).unwrap_or_default();
            warnings.push(
                Diagnostic::warning(span, format!("the first level of every factor is excluded; `{id}` is the baseline"))
                    .help("declare `baseline:`"),
            );
            Ok(0)
        }
    }
}

/// Which variants `--only` keeps; all without it.
fn select(experiment: &Experiment, variants: &[Variant], options: &Options) -> Result<Vec<bool>, Problems> {
    let mut wanted: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
    let mut problems = Vec::new();
    for (factor, level) in &options.only {
        let none = crate::model::tree::Span::default();
        let Some(index) = experiment.factors.iter().position(|f| *f.name == **factor) else {
            problems.push(
                Diagnostic::error(none, format!("--only: unknown factor `{factor}`"))
                    .suggest(factor, experiment.factors.iter().map(|f| &*f.name)),
            );
            continue;
        };
        let levels = &experiment.factors[index].levels;
        match levels.iter().position(|l| *l.text == **level) {
            Some(level) => wanted.entry(index).or_default().push(level as u32),
            None => problems.push(
                Diagnostic::error(none, format!("--only: `{factor}` has no level `{level}`"))
                    .suggest(level, levels.iter().map(|l| &*l.text)),
            ),
        }
    }
    if !problems.is_empty() {
        return Err(Problems(problems));
    }
    let selected: Vec<bool> = variants.iter().map(|v| wanted.iter().all(|(factor, levels)| levels.contains(&v.levels[*factor]))).collect();
    if selected.iter().any(|s| *s) {
        Ok(selected)
    } else {
        let none = crate::model::tree::Span::default();
        Err(Problems(vec![Diagnostic::error(none, "--only leaves no variant: no variant of the matrix has all these levels")]))
    }
}

/// The hidden second copy of the baseline.
fn aa_copy(baseline: &Variant) -> Variant {
    Variant { id: format!("{}{AA_SUFFIX}", baseline.id).into(), reason: Reason::New, ..baseline.clone() }
}
