//! Effects against the baseline, as a forest.

use super::strips::ROWS_PER_PAGE;
use super::{Material, metric_measure};
use crate::analyse::{ALPHA, primary};
use crate::model::chart::Sort;
use crate::model::estimate::{Comparison, ENOUGH_ENGINE_STARTS, Effect, Verdict, too_few_starts};
use crate::model::experiment::Correction;
use crate::model::metric::Better;
use crate::report::charts::{Contrast, Forest, Group, Heading, Role, Span};
use crate::report::templates::number;

/// Longest text that tells what a chart shows, in characters, about.
const LONGEST_ALT: usize = 300;

/// What the effects of a chart are, beside the effects themselves.
pub(super) struct Question {
    /// What the ratios are to.
    pub(super) against: String,
    /// Comparisons that are adjusted together.
    pub(super) family: usize,
    /// How they are.
    pub(super) correction: Correction,
    /// What one of them is called, in the plural.
    pub(super) what: &'static str,
    /// Whether the intervals shown hold together; else each holds alone.
    pub(super) simultaneous: bool,
}

impl Material<'_> {
    /// The variants against the baseline in the primary metric, and the chart in words; nothing where nothing was compared. The baseline
    /// and its control stand on top of every page; the others in the order of the product, or the smallest ratio first.
    pub(super) fn effects(&self, sort: Sort) -> (Vec<Forest>, String) {
        let mut plain = self.plain_contrasts();
        if sort == Sort::Effect {
            let ratio = |row: &Contrast| row.effect.as_ref().map_or(f64::INFINITY, |span| span.ratio);
            plain.sort_by(|a, b| ratio(a).total_cmp(&ratio(b)));
        }
        if plain.iter().all(|row| row.effect.is_none()) {
            return (Vec::new(), String::new());
        }
        let compared = |variant: &usize| self.observed.comparison(self.main, *variant).is_some();
        let is_above = |variant: &usize| match self.role(*variant) {
            Role::Plain => false,
            Role::Baseline => true,
            Role::Control => compared(variant),
        };
        let question = self.question();
        let above = self.order().into_iter().filter(is_above).map(|variant| self.contrast(variant, question.simultaneous));
        let above: Vec<Contrast> = above.collect();
        let alt = self.told("effects on", &question, plain.iter());
        let group = |rows: &[Contrast]| Group { title: String::new(), rows: above.iter().chain(rows).cloned().collect() };
        let room = ROWS_PER_PAGE.saturating_sub(above.len()).max(1);
        (plain.chunks(room).map(|rows| self.forest(&question, vec![group(rows)])).collect(), alt)
    }

    /// What the comparisons with the baseline are.
    pub(super) fn question(&self) -> Question {
        let plain: Vec<usize> = self.order().into_iter().filter(|variant| self.role(*variant) == Role::Plain).collect();
        let effects = plain.iter().filter_map(|variant| self.observed.comparison(self.main, *variant)).map(|found| &found.effect);
        let simultaneous = are_simultaneous(effects);
        // The other metrics are exploratory.
        let is_primary = primary(self.results) == Some(self.main);
        let correction = if is_primary { self.results.design.correction } else { Correction::BenjaminiHochberg };
        Question { against: self.label(self.results.baseline), family: plain.len(), correction, what: "comparisons", simultaneous }
    }

    /// The comparisons of all variants with the baseline, in the order of the product.
    pub(super) fn plain_contrasts(&self) -> Vec<Contrast> {
        let plain = self.order().into_iter().filter(|variant| self.role(*variant) == Role::Plain);
        let simultaneous = self.question().simultaneous;
        plain.map(|variant| self.contrast(variant, simultaneous)).collect()
    }

    fn contrast(&self, variant: usize, simultaneous: bool) -> Contrast {
        let (label, role) = (self.name(variant), self.role(variant));
        let comparison = self.observed.comparison(self.main, variant);
        match comparison {
            _ if role == Role::Baseline => Contrast {
                label,
                role,
                effect: Some(Span { ratio: 1.0, interval: None }),
                clean: None,
                text: "1".to_owned(),
                n: None,
                verdict: None,
                remark: String::new(),
            },
            None => Contrast {
                label,
                role,
                effect: None,
                clean: None,
                text: number::ABSENT.to_owned(),
                n: Some(0),
                verdict: None,
                remark: "not compared".to_owned(),
            },
            Some(comparison) => Contrast {
                clean: comparison.clean.as_ref().and_then(|clean| clean.effect.as_ref()).map(|effect| span(effect, role, simultaneous)),
                verdict: Some(comparison.effect.verdict).filter(|_| !comparison.too_short),
                remark: remark(comparison),
                ..contrast(label, role, &comparison.effect, simultaneous)
            },
        }
    }

    /// A chart of these groups.
    pub(super) fn forest(&self, question: &Question, groups: Vec<Group>) -> Forest {
        let design = &self.results.design;
        let source = &self.observed.source;
        let n = replicates(groups.iter().flat_map(|group| &group.rows));
        let control = groups.iter().flat_map(|group| &group.rows).any(|row| row.role == Role::Control);
        let said = format!("{} · {} · {n}", self.compared(question), kind(question, control));
        Forest {
            heading: Heading { title: self.title.to_owned(), subtitle: format!("{said} · {source}") },
            measure: metric_measure(self.metric(self.main)),
            against: question.against.clone(),
            intervals: if question.family > 1 && question.simultaneous { "simultaneous 95 % interval" } else { "95 % interval" }.to_owned(),
            min_effect: design.min_effect,
            margin: design.margin,
            groups,
        }
    }

    /// What is compared with what, and which direction is better.
    pub(super) fn compared(&self, question: &Question) -> String {
        let metric = self.metric(self.main);
        let direction = match metric.better {
            Some(Better::Lower) => ", lower is better ↓",
            Some(Better::Higher) => ", higher is better ↑",
            None => "",
        };
        format!("{}, ratio to {}{direction}", metric.name, question.against)
    }

    /// The rows in words: as many as a reader without eyes for pictures will listen to.
    pub(super) fn told<'c>(&self, what: &str, question: &Question, rows: impl Iterator<Item = &'c Contrast>) -> String {
        let rows: Vec<&Contrast> = rows.collect();
        let mut said = format!("{what} {}: ", self.compared(question));
        for (at, row) in rows.iter().enumerate() {
            let words = [row.label.as_str(), &row.text, row.verdict.map_or("", Verdict::words), &row.remark];
            let words = words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
            let end = if at == 0 { "" } else { "; " };
            if at > 0 && said.chars().count() + words.chars().count() > LONGEST_ALT {
                return format!("{said}; and {} more", rows.len() - at);
            }
            said.push_str(end);
            said.push_str(&words);
        }
        said
    }
}

/// The row of an effect without its circumstances.
pub(super) fn contrast(label: String, role: Role, effect: &Effect, simultaneous: bool) -> Contrast {
    let span = span(effect, role, simultaneous);
    let (ratio, ends) = number::ratio(effect.ratio, span.interval.map_or([None, None], |(low, high)| [Some(low), Some(high)]));
    let text = ends.map_or_else(|| format!("{ratio}, no interval"), |[low, high]| format!("{ratio} ({low} to {high})"));
    Contrast { label, role, effect: Some(span), clean: None, text, n: Some(effect.n), verdict: Some(effect.verdict), remark: String::new() }
}

/// A ratio with its interval. The control belongs to no family: beside simultaneous intervals it has a plain one.
fn span(effect: &Effect, role: Role, simultaneous: bool) -> Span {
    let plain = effect.low.zip(effect.high);
    let interval = match (simultaneous, role) {
        (false, _) => plain,
        (true, Role::Plain) => effect.simultaneous,
        (true, _) => effect.simultaneous.or(plain),
    };
    Span { ratio: effect.ratio, interval }
}

/// Whether all effects that have an interval have a simultaneous one.
pub(super) fn are_simultaneous<'e>(effects: impl Iterator<Item = &'e Effect>) -> bool {
    let mut known = effects.filter(|effect| effect.low.is_some()).peekable();
    known.peek().is_some() && known.all(|effect| effect.simultaneous.is_some())
}

fn remark(comparison: &Comparison) -> String {
    let known = circumstances(comparison.too_short, comparison.is_fragile(), comparison.engine_starts, comparison.lost);
    let effect = &comparison.effect;
    let is_found = effect.p_adjusted.is_some_and(|p| p <= ALPHA) && effect.verdict == Verdict::Undecided;
    // Nothing else explains why an interval without 1 in it is undecided.
    if known.is_empty() && is_found { "see the cautions".to_owned() } else { known }
}

/// What a reader must know about a verdict, in few words.
pub(super) fn circumstances(too_short: bool, fragile: bool, starts: Option<usize>, lost: Option<(usize, usize)>) -> String {
    let few = too_few_starts(starts);
    let words = [
        too_short.then(|| "too short".to_owned()),
        lost.map(|(lost, all)| format!("{lost} of {all} blocks lost")),
        few.map(|starts| format!("{starts} of {ENOUGH_ENGINE_STARTS} engine starts")),
        (fragile && !too_short).then(|| "fragile".to_owned()),
    ];
    words.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// What the intervals are; the control stands outside of the family.
fn kind(question: &Question, control: bool) -> String {
    let judged = judged_by(question.correction);
    let alone = if control { ", A/A alone" } else { "" };
    match (question.family, question.simultaneous) {
        (0 | 1, _) => "95 % interval".to_owned(),
        (m, true) => format!("simultaneous 95 % intervals (Bonferroni over {m} {}{alone}), {judged}", question.what),
        (m, false) => format!("95 % intervals, each on its own; {judged} over {m} {}", question.what),
    }
}

/// By which correction verdicts are given.
pub(super) fn judged_by(correction: Correction) -> String {
    correction.method().map_or_else(|| "verdicts without a correction".to_owned(), |method| format!("verdicts by {method}"))
}

/// How many replicates stand behind the comparisons.
pub(super) fn replicates<'c>(rows: impl Iterator<Item = &'c Contrast>) -> String {
    let counts = rows.filter(|row| row.role == Role::Plain).filter_map(|row| row.n);
    let (low, high) = counts.fold((usize::MAX, 0), |(low, high), n| (low.min(n), high.max(n)));
    if low >= high { format!("n = {high}") } else { format!("n = {low} to {high}") }
}
