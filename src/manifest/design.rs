//! `design:` and `limits:` into their typed forms; what is not given keeps its default.

use super::check::point;
use crate::model::diagnostic::Diagnostic;
use crate::model::experiment::{Adaptive, Correction, Design, PhaseLimits, Variance};
use crate::model::quantity;
use crate::model::tree::{Key, Tree};
use std::time::Duration;

/// Reads `design:`; values that the shape check refused keep their defaults.
pub(super) fn design(root: &Tree, found: &mut Vec<Diagnostic>) -> Design {
    let mut design = Design::default();
    for (key, tree) in fields(root, "design") {
        if &*key.name == "adaptive" {
            design.adaptive = Some(adaptive(tree, found));
            design.blocks = Adaptive::MOST;
            let fixed = fields(root, "design").iter().find(|(key, _)| &*key.name == "blocks");
            found.extend(fixed.map(|(key, tree)| {
                Diagnostic::error(point(tree, key), "`blocks` and `adaptive` together: the number of blocks is either fixed or found")
                    .help("leave one of them out")
            }));
        }
        let Some(text) = tree.text() else { continue };
        match &*key.name {
            "blocks" => set(&mut design.blocks, text.parse().ok()),
            "engine_starts" => design.engine_starts = text.parse().ok(),
            "seed" => design.seed = text.parse().ok(),
            "min_effect" => set(&mut design.min_effect, fraction(key, tree, found)),
            "margin" => set(&mut design.margin, fraction(key, tree, found)),
            "correction" => set(&mut design.correction, correction(text)),
            "variance" if text == "pooled" => design.variance = Variance::Pooled,
            "min_window" => set(&mut design.min_window, quantity::duration(text).ok()),
            "max_variants" => set(&mut design.max_variants, text.parse().ok()),
            _ => {}
        }
    }
    let starts = fields(root, "design").iter().find(|(key, _)| &*key.name == "engine_starts");
    if let (Some(asked), Some((key, tree))) = (design.engine_starts, starts)
        && asked > design.blocks
    {
        let message =
            format!("`engine_starts` is {asked}, and there are {} blocks: an engine is started once per block at most", design.blocks);
        found.push(Diagnostic::error(point(tree, key), message).help("raise `blocks`, or leave `engine_starts` out"));
    }
    design
}

/// Reads `design.adaptive:`.
fn adaptive(tree: &Tree, found: &mut Vec<Diagnostic>) -> Adaptive {
    let mut adaptive = Adaptive::default();
    for (key, tree) in tree.entries() {
        match &*key.name {
            "target" => set(&mut adaptive.target, positive(key, tree, found)),
            "budget" => adaptive.budget = limit(key, tree, found),
            _ => {}
        }
    }
    adaptive
}

/// A percentage of which something can become narrow.
fn positive(key: &Key, tree: &Tree, found: &mut Vec<Diagnostic>) -> Option<f64> {
    let value = fraction(key, tree, found)?;
    if value > 0.0 {
        return Some(value);
    }
    found.push(Diagnostic::error(point(tree, key), format!("`{}` must be more than 0%: no interval is that narrow", key.name)));
    None
}

fn correction(word: &str) -> Option<Correction> {
    match word {
        "holm" => Some(Correction::Holm),
        "bh" => Some(Correction::BenjaminiHochberg),
        "none" => Some(Correction::None),
        _ => None,
    }
}

/// Reads `limits:`.
pub(super) fn limits(root: &Tree, found: &mut Vec<Diagnostic>) -> PhaseLimits {
    let mut limits = PhaseLimits::default();
    for (key, tree) in fields(root, "limits") {
        let field = match &*key.name {
            "images" => &mut limits.images,
            "services" => &mut limits.services,
            "create" => &mut limits.create,
            "start" => &mut limits.start,
            "collect" => &mut limits.collect,
            "teardown" => &mut limits.teardown,
            "attempts" => {
                set(&mut limits.attempts, tree.text().and_then(|text| text.parse().ok()));
                continue;
            }
            _ => continue,
        };
        set(field, limit(key, tree, found));
    }
    limits
}

pub(super) fn fields<'t>(root: &'t Tree, name: &str) -> &'t [(Key, Tree)] {
    root.get(name).map_or(&[], Tree::entries)
}

pub(super) fn set<T>(field: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *field = value;
    }
}

/// A percentage below 100 %: a ratio can fall by less than all of it.
fn fraction(key: &Key, tree: &Tree, found: &mut Vec<Diagnostic>) -> Option<f64> {
    let value = quantity::percent(tree.text()?).ok()?;
    if value < 1.0 {
        return Some(value);
    }
    found.push(Diagnostic::error(point(tree, key), format!("`{}` must be less than 100%", key.name)));
    None
}

/// A duration that leaves time for something.
pub(super) fn limit(key: &Key, tree: &Tree, found: &mut Vec<Diagnostic>) -> Option<Duration> {
    let value = quantity::duration(tree.text()?).ok()?;
    if !value.is_zero() {
        return Some(value);
    }
    found.push(Diagnostic::error(point(tree, key), format!("`{}` must be longer than nothing", key.name)));
    None
}
