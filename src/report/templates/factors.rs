//! What the factors do: over all combinations of the others, to each other, and per doubling.

use super::inline::{Inline, code, joined, strong};
use super::judged::{self, Case};
use super::number;
use super::sections::FRAGILE;
use super::sentences::{claim, direction, interval, replicates, worded};
use super::undecided;
use super::view::{FactorRow, FactorTable, SimpleRow};
use crate::model::estimate::{Analysis, Effect, Verdict, too_few_starts};
use crate::model::factorial::{Interaction, MainEffect, SimpleEffect, Trend};
use crate::model::metric::Better;
use crate::model::results::Results;

/// A table per kind of effect that there is.
pub(in crate::report) fn factors(results: &Results, analysis: &Analysis) -> Vec<FactorTable> {
    let on_page = Factors { results };
    let tables = [
        table(
            "Main effects",
            "Each row is a level against the baseline's level of its factor, averaged (on logarithms) over the combinations of the other \
             factors that have both. p is adjusted over this table by Holm's method. Where an effect depends on another factor, read the lines \
             below it instead: the average may hold nowhere.",
            "ratio",
            analysis.main_effects.iter().filter_map(|effect| on_page.main(effect)).collect(),
        ),
        table(
            "Interactions",
            "A ratio of ratios: how much the effect of one factor's level changes with the other's. 1 where both act on their own. p is \
             adjusted over this table by Holm's method.",
            "ratio of ratios",
            analysis.interactions.iter().filter_map(|interaction| on_page.interaction(interaction)).collect(),
        ),
        table(
            "Trends",
            "The ratio per doubling of a numeric factor, by a straight line on the logarithms of both.",
            "ratio per doubling",
            analysis.trends.iter().filter_map(|trend| on_page.trend(trend)).collect(),
        ),
    ];
    tables.into_iter().filter(|table| !table.rows.is_empty()).collect()
}

/// A sentence per main effect; where it depends on others, with what it is at each of their levels.
pub(super) fn answers<'a>(results: &'a Results, analysis: &'a Analysis) -> impl Iterator<Item = Inline> + 'a {
    let on_page = Factors { results };
    analysis.main_effects.iter().filter_map(move |effect| on_page.answer(effect))
}

fn table(heading: &str, note: &str, ratio: &str, rows: Vec<FactorRow>) -> FactorTable {
    let fragile = rows.iter().any(|row| !row.verdict.fragile.is_empty());
    let note = if fragile { format!("{note} {FRAGILE}") } else { note.to_owned() };
    FactorTable { heading: heading.into(), note: note.into(), ratio: ratio.into(), rows }
}

struct Factors<'r> {
    results: &'r Results,
}

impl Factors<'_> {
    fn answer(&self, main: &MainEffect) -> Option<Inline> {
        let metric = self.results.metrics.iter().find(|column| column.name == main.metric)?;
        let effect = &main.effect;
        let (over, under) = (self.level(main.factor, main.level)?, self.level(main.factor, main.against)?);
        let (combinations, interval) = (main.combinations, interval(effect, main.engine_starts));
        let said = claim(over, under, metric, effect).and(format!(" over {combinations} combinations of the other factors ({interval}): "));
        if main.too_short {
            return Some(said.and(strong("too short to trust")));
        }
        let said = said.and(strong(worded(effect, direction(metric.better, effect.ratio))));
        let at = |simple: &SimpleEffect| {
            let ratio = number::ratio(simple.effect.ratio, [simple.effect.low, simple.effect.high]).0;
            Some(Inline::from(format!("{ratio} at ")).and(self.level(simple.factor, simple.level)?))
        };
        let few = too_few_starts(main.engine_starts).map(undecided::insufficient);
        let why = few.map_or_else(|| lost(main.lost), Inline::from);
        if !why.is_empty() {
            return Some(said.and("; ").and(why));
        }
        let simple = joined(main.simple.iter().filter_map(at), ", ");
        Some(if simple.is_empty() { said } else { said.and("; but it depends: ").and(simple) })
    }

    fn main(&self, main: &MainEffect) -> Option<FactorRow> {
        let depends = main.depends_on.iter().filter_map(|factor| self.factor(*factor));
        let depends = joined(depends, ", ");
        let case = Case {
            effect: &main.effect,
            direction: direction(self.better(&main.metric), main.effect.ratio),
            too_short: main.too_short,
            engine_starts: main.engine_starts,
            fragile: main.effect.fragile,
        };
        Some(FactorRow {
            depends: if depends.is_empty() { lost(main.lost) } else { Inline::from("depends on ").and(depends) },
            simple: main.simple.iter().filter_map(|simple| self.simple(simple)).collect(),
            ..row(self.level(main.factor, main.level)?, self.level(main.factor, main.against)?, &main.metric, &case)
        })
    }

    fn simple(&self, simple: &SimpleEffect) -> Option<SimpleRow> {
        let effect = &simple.effect;
        let (ratio, interval) = judged::ratio(effect);
        let at = Inline::from("at ").and(self.level(simple.factor, simple.level)?);
        Some(SimpleRow { at, ratio, interval, change: judged::change(effect), n: number::count(effect.n) })
    }

    fn interaction(&self, interaction: &Interaction) -> Option<FactorRow> {
        let pair = |levels: (usize, usize)| {
            let (one, other) = interaction.factors;
            Some(self.level(one, levels.0)?.and(" with ").and(self.level(other, levels.1)?))
        };
        let effect = &interaction.effect;
        let case = Case { effect, direction: "", too_short: false, engine_starts: interaction.engine_starts, fragile: effect.fragile };
        let row = row(pair(interaction.levels)?, pair(interaction.against)?, &interaction.metric, &case);
        Some(FactorRow { depends: lost(interaction.lost), ..row })
    }

    fn trend(&self, trend: &Trend) -> Option<FactorRow> {
        let effect = &trend.doubling;
        let direction = direction(self.better(&trend.metric), effect.ratio);
        let case = Case { effect, direction, too_short: false, engine_starts: None, fragile: effect.fragile };
        let factor = self.factor(trend.factor)?;
        let row = row(factor.and(" doubled"), self.factor(trend.factor)?, &trend.metric, &case);
        Some(FactorRow { depends: bend(&trend.bend).into(), ..row })
    }

    fn factor(&self, factor: usize) -> Option<Inline> {
        Some(code(&*self.results.factors.get(factor)?.name))
    }

    fn level(&self, factor: usize, level: usize) -> Option<Inline> {
        let factor = self.results.factors.get(factor)?;
        Some(code(format!("{}={}", factor.name, factor.levels.get(level)?)))
    }

    fn better(&self, metric: &str) -> Option<Better> {
        self.results.metrics.iter().find(|column| column.name == metric)?.better
    }
}

fn row(what: Inline, against: Inline, metric: &str, case: &Case) -> FactorRow {
    let effect = case.effect;
    let (ratio, interval) = judged::ratio(effect);
    FactorRow {
        what,
        against,
        metric: code(metric),
        ratio,
        interval,
        hodges_lehmann: judged::hodges_lehmann(effect),
        change: judged::change(effect),
        n: Inline::from(replicates(effect, case.engine_starts)).of(effect.n as f64),
        p: judged::probability(effect),
        verdict: case.judged(),
        depends: Inline::default(),
        simple: Vec::new(),
    }
}

/// Why too few blocks are left for a verdict.
fn lost(lost: Option<(usize, usize)>) -> Inline {
    lost.map_or_else(Inline::default, |(lost, all)| format!("{lost} of {all} blocks lack a trial that it needs").into())
}

/// Whether the line is straight.
fn bend(bend: &Effect) -> String {
    let ratio = number::ratio(bend.ratio, [bend.low, bend.high]).0;
    match bend.verdict {
        Verdict::Different | Verdict::DifferentSmall => format!("not straight: the ratio itself changes by {ratio} times per doubling"),
        Verdict::Equivalent => "straight".to_owned(),
        Verdict::Undecided => "whether it bends is undecided".to_owned(),
    }
}
