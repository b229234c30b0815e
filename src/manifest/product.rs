//! What can be said of the product before planning: rules that do nothing, variants given twice, nothing left.
//!
//! An expression may read facts of the host, so where a `when:` decides, the plan has the last word.

use super::rules::Rules;
use crate::model::diagnostic::Diagnostic;
use crate::model::experiment::{Factor, Rule, RuleKind};
use crate::model::tree::Span;
use std::collections::HashMap;

/// Most comparisons of a combination with a rule; beyond them the plan, which looks at everything, has the word.
const MAX_COMPARED: usize = 1_000_000;
/// Most excludes that are compared with each other.
const MAX_COVERED: usize = 300;

type Keys = Vec<(usize, Vec<usize>)>;

/// Checks the rules against each other and against the product of the levels.
pub(super) fn check(factors: &[Factor], rules: &Rules, found: &mut Vec<Diagnostic>) {
    if factors.is_empty() || factors.iter().any(|factor| factor.levels.is_empty()) {
        return;
    }
    let excludes: Vec<(Span, &Keys)> = rules.exclude.iter().filter_map(keys).collect();
    let expressions = excludes.len() < rules.exclude.len();
    covered(&excludes, found);
    repeated(factors, rules, &excludes, expressions, found);
    if !expressions {
        emptied(factors, rules, &excludes, found);
    }
    baseline(factors, rules, &excludes, found);
}

fn keys(rule: &Rule) -> Option<(Span, &Keys)> {
    match &rule.kind {
        RuleKind::Keys(keys) => Some((rule.span, keys)),
        RuleKind::When(_) => None,
    }
}

/// Whether a combination (a level index per factor) fits a rule.
fn fits(keys: &Keys, combination: &[usize]) -> bool {
    keys.iter().all(|(factor, levels)| levels.binary_search(&combination[*factor]).is_ok())
}

/// Warns of excludes that earlier ones make useless; the first few are enough to see the pattern.
fn covered(excludes: &[(Span, &Keys)], found: &mut Vec<Diagnostic>) {
    let mut warned = 0;
    for (index, (span, later)) in excludes.iter().enumerate().take(MAX_COVERED) {
        let covers = |earlier: &Keys| {
            earlier.iter().all(|(factor, levels)| {
                later.iter().any(|(other, narrower)| other == factor && narrower.iter().all(|level| levels.binary_search(level).is_ok()))
            })
        };
        if let Some((first, _)) = excludes[..index].iter().find(|(_, earlier)| covers(earlier)) {
            let problem = Diagnostic::warning(*span, "this entry of `exclude` leaves out nothing more");
            found.push(problem.related(*first, "this one leaves out the same already"));
            warned += 1;
            if warned == 20 {
                return;
            }
        }
    }
}

/// Reports an include that repeats a variant of the product or of another include.
fn repeated(factors: &[Factor], rules: &Rules, excludes: &[(Span, &Keys)], expressions: bool, found: &mut Vec<Diagnostic>) {
    let mut added: HashMap<Vec<usize>, Span> = HashMap::new();
    let mut compared = 0;
    for (span, include) in rules.include.iter().filter_map(keys) {
        let mut levels: Vec<&[usize]> = vec![&[]; factors.len()];
        for (factor, named) in include {
            levels[*factor] = named;
        }
        for combination in combinations(&levels) {
            compared += 1 + excludes.len();
            if compared > MAX_COMPARED {
                return;
            }
            let left_out = excludes.iter().any(|(_, keys)| fits(keys, &combination));
            let name = spelled(factors, &combination);
            if let Some(first) = added.get(&combination) {
                let problem = Diagnostic::error(span, format!("the variant `{name}` is included twice"));
                found.push(problem.related(*first, "first included here"));
                break;
            }
            if !left_out && !expressions {
                let problem = Diagnostic::error(span, format!("the variant `{name}` is in the product already"));
                found.push(problem.help("`include` adds variants that `exclude` left out: remove this entry"));
                break;
            }
            added.insert(combination, span);
        }
    }
}

/// Reports a product of which nothing is left.
fn emptied(factors: &[Factor], rules: &Rules, excludes: &[(Span, &Keys)], found: &mut Vec<Diagnostic>) {
    let Some((last, _)) = excludes.last() else { return };
    if !rules.include.is_empty() {
        return;
    }
    let all: Vec<Vec<usize>> = factors.iter().map(|factor| (0..factor.levels.len()).collect()).collect();
    let all: Vec<&[usize]> = all.iter().map(Vec::as_slice).collect();
    let mut compared = 0;
    for combination in combinations(&all) {
        compared += excludes.len();
        if compared > MAX_COMPARED || !excludes.iter().any(|(_, keys)| fits(keys, &combination)) {
            return;
        }
    }
    found.push(Diagnostic::error(*last, "every variant is left out, so there is nothing to run"));
}

/// Reports a baseline that is left out.
fn baseline(factors: &[Factor], rules: &Rules, excludes: &[(Span, &Keys)], found: &mut Vec<Diagnostic>) {
    let Some((span, named)) = rules.baseline.as_ref().and_then(keys) else { return };
    let mut combination = vec![0; factors.len()];
    for (factor, levels) in named {
        combination[*factor] = levels[0];
    }
    let included = rules.include.iter().filter_map(keys).any(|(_, keys)| fits(keys, &combination));
    if let Some((rule, _)) = excludes.iter().find(|(_, keys)| fits(keys, &combination)).filter(|_| !included) {
        let problem = Diagnostic::error(span, format!("the baseline `{}` is left out by `exclude`", spelled(factors, &combination)));
        found.push(problem.related(*rule, "left out here").help("factors that `baseline` does not name take their first level"));
    }
}

/// A variant as its levels, in the order of the factors.
fn spelled(factors: &[Factor], combination: &[usize]) -> String {
    let pairs = factors.iter().zip(combination).map(|(factor, level)| format!("{}={}", factor.name, factor.levels[*level].text));
    pairs.collect::<Vec<_>>().join(" ")
}

/// Every way to take one of each, the last one varying fastest; nothing when one of them is empty.
fn combinations<'l>(levels: &'l [&'l [usize]]) -> impl Iterator<Item = Vec<usize>> + 'l {
    let mut next = (!levels.iter().any(|levels| levels.is_empty())).then(|| vec![0_usize; levels.len()]);
    std::iter::from_fn(move || {
        let at = next.take()?;
        let mut after = at.clone();
        for (position, levels) in levels.iter().enumerate().rev() {
            after[position] += 1;
            if after[position] < levels.len() {
                next = Some(after);
                break;
            }
            after[position] = 0;
        }
        Some(at.iter().zip(levels).map(|(index, levels)| levels[*index]).collect())
    })
}
