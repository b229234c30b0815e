//! What the factors do: their main effects as a forest, and lines where two of them depend on each other.

use super::forest::{Question, are_simultaneous, circumstances, contrast};
use super::scaling::interval;
use super::strips::ROWS_PER_PAGE;
use super::{Material, metric_measure};
use crate::model::experiment::Correction;
use crate::model::factorial::{Interaction, MainEffect};
use crate::model::quantity;
use crate::report::charts::{Cell, Contrast, Forest, Group, Heading, InteractionPlot, LevelMark, Panel, Role, Series};

/// Panels of an interaction plot; the others are left out, which the chart says.
const MOST_PANELS: usize = 6;

/// Plots that are drawn where no factors are asked for.
const MOST_PLOTS: usize = 6;

/// An interaction plot of two factors.
pub(super) struct Lines {
    /// The factors, the first declared first.
    pub(super) factors: [String; 2],
    pub(super) chart: InteractionPlot,
    /// What it shows, in words.
    pub(super) alt: String,
}

/// The pairs of factors that some interactions are about, each once.
pub(super) fn crossed<'i>(interactions: impl Iterator<Item = &'i Interaction>) -> Vec<(usize, usize)> {
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for one in interactions {
        if !pairs.contains(&one.factors) {
            pairs.push(one.factors);
        }
    }
    pairs
}

impl Material<'_> {
    /// The main effects on the primary metric, a group per factor, and the chart in words; nothing where there are none.
    pub(super) fn main_effects(&self) -> (Vec<Forest>, String) {
        let name = &self.metric(self.main).name;
        let effects: Vec<&MainEffect> = self.analysis.main_effects.iter().filter(|effect| effect.metric == *name).collect();
        let question = Question {
            against: "the baseline's level of the factor".to_owned(),
            family: effects.len(),
            correction: Correction::Holm,
            what: "main effects",
            simultaneous: are_simultaneous(effects.iter().map(|found| &found.effect)),
        };
        let mut groups: Vec<Group> = Vec::new();
        let mut told = Vec::new();
        for effect in effects {
            let Some((factor, level, against)) = self.names_of(effect) else { continue };
            let row = self.main_effect(effect, level, question.simultaneous);
            told.push(Contrast { label: format!("{factor}={level}"), ..row.clone() });
            let title = format!("{factor}, against {against}");
            match groups.last_mut().filter(|group| group.title == title) {
                Some(group) => group.rows.push(row),
                None => groups.push(Group { title, rows: vec![row] }),
            }
        }
        let pages = pages(groups).into_iter().map(|groups| self.forest(&question, groups)).collect();
        (pages, self.told("main effects on", &question, told.iter()))
    }

    /// The factor, its level, and the baseline's level, as written.
    fn names_of(&self, effect: &MainEffect) -> Option<(&str, &str, &str)> {
        let factor = self.results.factors.get(effect.factor)?;
        Some((&factor.name, factor.levels.get(effect.level)?, factor.levels.get(effect.against)?))
    }

    fn main_effect(&self, effect: &MainEffect, level: &str, simultaneous: bool) -> Contrast {
        let others: Vec<&str> = effect.depends_on.iter().filter_map(|other| Some(&*self.results.factors.get(*other)?.name)).collect();
        let depends = if others.is_empty() { String::new() } else { format!("depends on {}", others.join(", ")) };
        let known = circumstances(effect.too_short, effect.effect.fragile, effect.engine_starts, effect.lost);
        let remark = [depends, known].into_iter().filter(|words| !words.is_empty()).collect::<Vec<_>>().join(", ");
        let row = contrast(level.to_owned(), Role::Plain, &effect.effect, simultaneous);
        Contrast { remark, verdict: row.verdict.filter(|_| !effect.too_short), ..row }
    }

    /// A plot for every two factors of which cells are crossed: those that hold what is asked for, the first ones.
    pub(super) fn interactions(&self, asked: [Option<usize>; 2]) -> Vec<Lines> {
        let name = &self.metric(self.main).name;
        let found: Vec<&Interaction> = self.analysis.interactions.iter().filter(|one| one.metric == *name).collect();
        let holds = |(one, other): (usize, usize)| asked.iter().flatten().all(|factor| [one, other].contains(factor));
        let pairs: Vec<(usize, usize)> = match asked {
            [Some(one), Some(other)] if one != other => vec![(one.min(other), one.max(other))],
            _ => crossed(self.analysis.interactions.iter()).into_iter().filter(|pair| holds(*pair)).take(MOST_PLOTS).collect(),
        };
        pairs.into_iter().filter_map(|pair| self.interaction(pair, &found)).collect()
    }

    /// The plot of two factors; none where they have too many levels, or do not exist.
    fn interaction(&self, pair: (usize, usize), known: &[&Interaction]) -> Option<Lines> {
        let names = [pair.0, pair.1].map(|factor| self.results.factors.get(factor).map(|factor| factor.name.to_string()));
        let [Some(one), Some(other)] = names else { return None };
        let (across, by) = self.beside(pair)?;
        let (panels, all) = self.panels(across, by);
        let levels = &self.results.factors[across].levels;
        let numbers: Vec<f64> = levels.iter().filter_map(|text| quantity::number(text)).collect();
        let numeric = numbers.len() == levels.len();
        let mark = |(at, text): (usize, &std::sync::Arc<str>)| LevelMark {
            text: text.to_string(),
            value: if numeric { numbers[at] } else { f64::NAN },
            remark: String::new(),
        };
        let by_name = &self.results.factors[by].name;
        let rest =
            if all > panels.len() { format!(", the first {} of {all} combinations of the others", panels.len()) } else { String::new() };
        let chart = InteractionPlot {
            heading: Heading {
                title: self.title.to_owned(),
                subtitle: format!(
                    "{} over {}, a line per {by_name}{rest} · {}",
                    self.metric(self.main).name,
                    self.results.factors[across].name,
                    self.observed.source
                ),
            },
            measure: metric_measure(self.metric(self.main)),
            factor: self.results.factors[across].name.to_string(),
            levels: levels.iter().enumerate().map(mark).collect(),
            numeric,
            panels,
        };
        let alt = self.told_interaction(&chart, pair, known);
        Some(Lines { factors: [one, other], chart, alt })
    }

    /// Which factor stands on the axis, and which has a line per level: numbers on the axis before words, many levels before few.
    fn beside(&self, (one, other): (usize, usize)) -> Option<(usize, usize)> {
        let levels = |factor: usize| &self.results.factors[factor].levels;
        let is_numeric = |factor: usize| levels(factor).iter().all(|text| quantity::number(text).is_some());
        let mut ways = [(one, other), (other, one)];
        ways.sort_by_key(|(across, _)| (!is_numeric(*across), std::cmp::Reverse(levels(*across).len())));
        ways.into_iter().find(|(across, by)| InteractionPlot::holds(levels(*across).len(), levels(*by).len()))
    }

    /// A panel per combination of the other factors, the first ones, and how many there are in all.
    fn panels(&self, across: usize, by: usize) -> (Vec<Panel>, usize) {
        let baseline = self.results.variants.get(self.results.baseline).and_then(|variant| variant.levels.get(by)).copied();
        let mut found: Vec<(Vec<u32>, Panel)> = Vec::new();
        for (variant, saved) in self.results.variants.iter().enumerate().filter(|(variant, _)| !self.is_copy(*variant)) {
            let (Some(level), Some(line)) = (saved.levels.get(across), saved.levels.get(by).copied()) else { continue };
            let estimate = self.observed.level(self.main, variant);
            let points = self.observed.points(self.main, variant);
            let cell = Cell { level: *level as usize, points, median: estimate.map(|e| e.median), interval: interval(estimate) };
            let others = self.others(&saved.levels, &[across, by]);
            let at = found.iter().position(|(key, _)| *key == others).unwrap_or_else(|| {
                found.push((others, Panel { title: self.levels_label(&saved.levels, &[across, by]), series: Vec::new() }));
                found.len() - 1
            });
            let series = &mut found[at].1.series;
            let label = format!("{}={}", self.results.factors[by].name, self.results.factors[by].levels[line as usize]);
            match series.iter_mut().find(|series| series.label == label) {
                Some(series) => series.cells.push(cell),
                None => {
                    let role = if Some(line) == baseline { Role::Baseline } else { Role::Plain };
                    series.push(Series { label, role, hue: Some(line as usize), cells: vec![cell] });
                }
            }
        }
        let all = found.len();
        (found.into_iter().take(MOST_PANELS).map(|(_, panel)| panel).collect(), all)
    }

    /// What the plot shows, and how much the ratios depend on each other.
    fn told_interaction(&self, chart: &InteractionPlot, pair: (usize, usize), known: &[&Interaction]) -> String {
        let name = |factor: usize, level: usize| {
            let factor = self.results.factors.get(factor)?;
            Some(format!("{}={}", factor.name, factor.levels.get(level)?))
        };
        let simultaneous = are_simultaneous(known.iter().map(|one| &one.effect));
        let said = |one: &&&Interaction| {
            let (first, second) = (name(one.factors.0, one.levels.0)?, name(one.factors.1, one.levels.1)?);
            let row = contrast(String::new(), Role::Plain, &one.effect, simultaneous);
            Some(format!("{first} with {second} {} {}", row.text, one.effect.verdict.words()))
        };
        let of_pair: Vec<String> = known.iter().filter(|one| one.factors == pair).filter_map(|one| said(&one)).collect();
        let shown = of_pair.len().min(4);
        let more = if of_pair.len() > shown { format!("; and {} more", of_pair.len() - shown) } else { String::new() };
        let ratios = if of_pair.is_empty() { String::new() } else { format!("; ratios of ratios: {}{more}", of_pair[..shown].join("; ")) };
        let lines: Vec<&str> =
            chart.panels.first().map(|panel| panel.series.iter().map(|series| series.label.as_str()).collect()).unwrap_or_default();
        format!("{} over {}, a line each for {}{ratios}", chart.measure.name, chart.factor, lines.join(", "))
    }
}

/// Groups on pages of so many lines; one that does not fit goes on with its title on the next page.
fn pages(groups: Vec<Group>) -> Vec<Vec<Group>> {
    let mut pages: Vec<Vec<Group>> = Vec::new();
    let mut used = ROWS_PER_PAGE;
    for group in groups {
        let mut rest = group.rows;
        while !rest.is_empty() {
            // A title needs a row below it.
            if used + 2 > ROWS_PER_PAGE {
                pages.push(Vec::new());
                used = 0;
            }
            let later = rest.split_off(rest.len().min(ROWS_PER_PAGE - used - 1));
            used += rest.len() + 1;
            if let Some(page) = pages.last_mut() {
                page.push(Group { title: group.title.clone(), rows: rest });
            }
            rest = later;
        }
    }
    pages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_fill_pages_and_keep_their_titles() {
        let row = contrast_of_nothing();
        let group = |title: &str, rows: usize| Group { title: title.to_owned(), rows: vec![row.clone(); rows] };
        let sizes = |groups: Vec<Group>| -> Vec<Vec<(String, usize)>> {
            pages(groups).into_iter().map(|page| page.into_iter().map(|group| (group.title, group.rows.len())).collect()).collect()
        };
        let named = |title: &str, rows: usize| (title.to_owned(), rows);
        assert_eq!(sizes(vec![]), Vec::<Vec<_>>::new());
        assert_eq!(sizes(vec![group("a", 3), group("b", 55)]), [vec![named("a", 3), named("b", 55)]]);
        assert_eq!(sizes(vec![group("a", 58), group("b", 2)]), [vec![named("a", 58)], vec![named("b", 2)]]);
        assert_eq!(sizes(vec![group("a", 100)]), [vec![named("a", 59)], vec![named("a", 41)]]);
    }

    fn contrast_of_nothing() -> Contrast {
        Contrast {
            label: String::new(),
            role: Role::Plain,
            effect: None,
            clean: None,
            text: String::new(),
            n: None,
            verdict: None,
            remark: String::new(),
        }
    }
}
