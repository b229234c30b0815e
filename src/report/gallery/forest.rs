//! Effects against the baseline, as a forest.

use super::strips::ROWS_PER_PAGE;
use super::{Gallery, metric_measure};
use crate::model::estimate::{Comparison, ENOUGH_ENGINE_STARTS, Effect, Verdict};
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
    /// What one of them is called, in the plural.
    pub(super) what: &'static str,
}

impl Gallery<'_> {
    /// The variants against the baseline in the primary metric, and the chart in words; nothing where nothing was compared. The baseline
    /// stands on top of every page.
    pub(super) fn effects(&self) -> (Vec<Forest>, String) {
        let compared = |variant: &usize| self.observed.comparison(self.main, *variant).is_some();
        let order = self.order();
        if !order.iter().any(|variant| self.role(*variant) == Role::Plain && compared(variant)) {
            return (Vec::new(), String::new());
        }
        let is_plain = |variant: &&usize| self.role(**variant) == Role::Plain;
        let family = order.iter().filter(is_plain).count();
        let question = Question { against: self.label(self.results.baseline), family, what: "comparisons" };
        let (plain, above): (Vec<usize>, Vec<usize>) =
            order.into_iter().filter(|variant| self.role(*variant) != Role::Control || compared(variant)).partition(|v| is_plain(&v));
        let rows = |variants: &[usize]| variants.iter().map(|variant| self.contrast(*variant)).collect::<Vec<_>>();
        let (above, plain) = (rows(&above), rows(&plain));
        let alt = self.told(&question, plain.iter());
        let group = |rows: &[Contrast]| Group { title: String::new(), rows: above.iter().chain(rows).cloned().collect() };
        let room = ROWS_PER_PAGE.saturating_sub(above.len()).max(1);
        (plain.chunks(room).map(|rows| self.forest(&question, vec![group(rows)])).collect(), alt)
    }

    fn contrast(&self, variant: usize) -> Contrast {
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
                clean: comparison.clean.as_ref().and_then(|clean| clean.effect.as_ref()).map(span),
                verdict: Some(comparison.effect.verdict).filter(|_| !comparison.too_short),
                remark: remark(comparison),
                ..contrast(label, role, &comparison.effect)
            },
        }
    }

    /// A chart of these groups.
    pub(super) fn forest(&self, question: &Question, groups: Vec<Group>) -> Forest {
        let design = &self.results.design;
        let source = &self.observed.source;
        let rows = || groups.iter().flat_map(|group| &group.rows).filter(|row| row.role == Role::Plain);
        let n = replicates(rows().filter_map(|row| row.n));
        let said = format!("{} · {} · {n}", self.compared(question), kind(question));
        Forest {
            heading: Heading { title: self.results.presentation.title.clone(), subtitle: format!("{said} · {source}") },
            measure: metric_measure(self.metric(self.main)),
            against: question.against.clone(),
            intervals: if question.family > 1 { "simultaneous 95 % interval" } else { "95 % interval" }.to_owned(),
            min_effect: design.min_effect,
            margin: design.margin,
            groups,
        }
    }

    /// What is compared with what, and which direction is better.
    fn compared(&self, question: &Question) -> String {
        let metric = self.metric(self.main);
        let direction = match metric.better {
            Some(Better::Lower) => ", lower is better ↓",
            Some(Better::Higher) => ", higher is better ↑",
            None => "",
        };
        format!("{}, ratio to {}{direction}", metric.name, question.against)
    }

    /// The rows in words: as many as a reader without eyes for pictures will listen to.
    pub(super) fn told<'c>(&self, question: &Question, rows: impl Iterator<Item = &'c Contrast>) -> String {
        let rows: Vec<&Contrast> = rows.collect();
        let mut said = format!("{}: ", self.compared(question));
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
pub(super) fn contrast(label: String, role: Role, effect: &Effect) -> Contrast {
    let span = span(effect);
    let (ratio, ends) = number::ratio(effect.ratio, span.interval.map_or([None, None], |(low, high)| [Some(low), Some(high)]));
    let text = ends.map_or_else(|| format!("{ratio}, no interval"), |[low, high]| format!("{ratio} ({low} to {high})"));
    Contrast { label, role, effect: Some(span), clean: None, text, n: Some(effect.n), verdict: Some(effect.verdict), remark: String::new() }
}

fn span(effect: &Effect) -> Span {
    Span { ratio: effect.ratio, interval: effect.simultaneous.or(effect.low.zip(effect.high)) }
}

fn remark(comparison: &Comparison) -> String {
    circumstances(comparison.too_short, comparison.is_fragile(), comparison.engine_starts, comparison.lost)
}

/// What a reader must know about a verdict, in few words.
pub(super) fn circumstances(too_short: bool, fragile: bool, starts: Option<usize>, lost: Option<(usize, usize)>) -> String {
    let few = starts.filter(|starts| *starts < ENOUGH_ENGINE_STARTS);
    let words = [
        too_short.then(|| "too short".to_owned()),
        lost.map(|(lost, all)| format!("{lost} of {all} blocks lost")),
        few.map(|starts| format!("{starts} of {ENOUGH_ENGINE_STARTS} engine starts")),
        fragile.then(|| "fragile".to_owned()),
    ];
    words.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn kind(question: &Question) -> String {
    match question.family {
        0 | 1 => "95 % interval".to_owned(),
        m => format!("simultaneous 95 % intervals (Bonferroni over {m} {}), verdicts by Holm", question.what),
    }
}

fn replicates(counts: impl Iterator<Item = usize>) -> String {
    let (low, high) = counts.fold((usize::MAX, 0), |(low, high), n| (low.min(n), high.max(n)));
    if low >= high { format!("n = {high}") } else { format!("n = {low} to {high}") }
}
