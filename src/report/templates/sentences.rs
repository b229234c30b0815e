//! The answers in plain words: one sentence per comparison that verdicts are about, for the page and for a terminal.

use super::factors;
use super::inline::{Inline, code, strong};
use super::number::{self, Scale};
use super::undecided;
use crate::analyse::primary;
use crate::model::estimate::{Analysis, Comparison, Effect, LevelRow, Subject, Verdict};
use crate::model::metric::{Better, Unit};
use crate::model::plan::AA_SUFFIX;
use crate::model::results::{MetricColumn, Results};

/// A page answers at most this many comparisons in sentences; the tables have all.
const MOST_ANSWERS: usize = 20;

/// Metrics of which one says that something takes long.
const DURATIONS: [&str; 5] = ["wall", "real", "elapsed", "duration", "total_time"];

/// The sentences, those about factors first, then in the order of the comparisons; and how many there would be in all. Exploratory metrics get none.
pub(in crate::report) fn answers(results: &Results, analysis: &Analysis) -> (Vec<Inline>, usize) {
    let all = answered(results, analysis);
    let says = Speaker { results };
    let sentence = |comparison: &&Comparison| {
        let family = all.iter().filter(|other| same_family(other, comparison)).count();
        says.answer(comparison, family)
    };
    let of_factors = factors::answers(results, analysis);
    let said: Vec<Inline> = alone(results, analysis).into_iter().chain(of_factors).chain(all.iter().filter_map(sentence)).collect();
    let many = said.len();
    (said.into_iter().take(MOST_ANSWERS).collect(), many)
}

/// The levels of the declared metrics, where there is one variant only: then they are the answer.
fn alone(results: &Results, analysis: &Analysis) -> Vec<Inline> {
    if results.compared() != 1 {
        return Vec::new();
    }
    let wanted = |level: &&LevelRow| {
        let asked = results.metrics.get(level.metric).is_some_and(|metric| metric.declared) || primary(results) == Some(level.metric);
        level.variant == results.baseline && asked
    };
    let sentence = |level: &LevelRow| {
        let (metric, estimate) = (results.metrics.get(level.metric)?, &level.estimate);
        let scale = Scale::of(&metric.unit, estimate.median);
        let ends = [estimate.low, estimate.high].map(|end| end.unwrap_or(estimate.median));
        let bare = scale.column(&[estimate.median, ends[0], ends[1]]);
        let unit = if scale.symbol().is_empty() { String::new() } else { format!(" {}", scale.symbol()) };
        let interval =
            if estimate.low.is_some() { format!("95 % interval {} to {}, ", bare(ends[0]), bare(ends[1])) } else { String::new() };
        Some(code(metric.name.as_str()).and(format!(" is {}{unit} (median, {interval}n = {})", bare(estimate.median), estimate.n)))
    };
    analysis.levels.iter().filter(wanted).filter_map(sentence).collect()
}

/// What to do where few blocks leave questions open; empty where that is not the reason, or where a caution says so already.
pub(in crate::report) fn advice(results: &Results, analysis: &Analysis) -> String {
    let open = |comparison: &&Comparison| {
        let few = (2..undecided::FEW_PAIRS).contains(&comparison.effect.n);
        few && comparison.engine_starts.is_none()
            && comparison.effect.verdict == Verdict::Undecided
            && !comparison.too_short
            && comparison.lost.is_none()
    };
    let most = answered(results, analysis).into_iter().filter(open).map(|comparison| comparison.effect.n).max();
    most.map_or_else(String::new, |n| format!("So few blocks (n = {n}) decide little: measure more, 10 are a good start."))
}

/// The comparisons that sentences are about.
fn answered<'a>(results: &Results, analysis: &'a Analysis) -> Vec<&'a Comparison> {
    let primary = primary(results).map(|metric| results.metrics[metric].name.as_str());
    let wanted = |comparison: &&Comparison| match comparison.subject {
        Subject::Variant(_) => Some(comparison.metric.as_str()) == primary,
        Subject::Workloads { .. } => true,
    };
    analysis.comparisons.iter().filter(wanted).collect()
}

fn same_family(one: &Comparison, other: &Comparison) -> bool {
    match (&one.subject, &other.subject) {
        (Subject::Variant(_), Subject::Variant(_)) => one.metric == other.metric && one.effect.p_adjusted.is_some(),
        (Subject::Workloads { variant: a, .. }, Subject::Workloads { variant: b, .. }) => a == b,
        _ => false,
    }
}

struct Speaker<'r> {
    results: &'r Results,
}

impl Speaker<'_> {
    fn answer(&self, comparison: &Comparison, family: usize) -> Option<Inline> {
        let metric = self.results.metrics.iter().find(|metric| metric.name == comparison.metric)?;
        let effect = &comparison.effect;
        let claim = match &comparison.subject {
            Subject::Variant(variant) => {
                let id = &self.results.variants.get(*variant)?.id;
                if id.ends_with(AA_SUFFIX) {
                    return Some(control(comparison).into());
                }
                self.of_variants(id, metric, effect)?
            }
            Subject::Workloads { variant, against } => self.of_workloads(*variant, &comparison.metric, against, metric, effect)?,
        };
        let claim = claim.and(format!(" ({}): ", interval(effect, comparison.engine_starts)));
        let verdict = verdict(comparison, metric);
        if comparison.too_short {
            let alone =
                if effect.verdict == Verdict::Undecided { String::new() } else { format!("; the numbers alone would say {verdict}") };
            return Some(claim.and(strong("too short to trust")).and(alone));
        }
        let said = claim.and(strong(verdict));
        Some(match effect.verdict {
            Verdict::Different | Verdict::DifferentSmall => said,
            Verdict::Equivalent => said.and(format!(" within {}", self.margin(effect))),
            Verdict::Undecided => said.and(format!("; {}", undecided::why(comparison, self.results.design.min_effect, family))),
        })
    }

    /// The margin; where the 95 % interval leaves it, with the 90 % interval that the verdict is about.
    fn margin(&self, effect: &Effect) -> String {
        let margin = self.results.design.margin;
        let words = number::percent(margin);
        let leaves = effect.low.is_some_and(|low| low < 1.0 / (1.0 + margin)) || effect.high.is_some_and(|high| high > 1.0 + margin);
        let ends = effect.equivalence.filter(|_| leaves).and_then(|(low, high)| number::ratio(effect.ratio, [Some(low), Some(high)]).1);
        ends.map_or_else(|| words.clone(), |[low, high]| format!("{words} (by its 90 % interval, {low} to {high})"))
    }

    /// What is found of a variant against the baseline.
    fn of_variants(&self, id: &str, metric: &MetricColumn, effect: &Effect) -> Option<Inline> {
        Some(claim(code(id), code(self.results.variants.get(self.results.baseline)?.id.as_str()), metric, effect))
    }

    /// What is found of two workloads of the same trials.
    fn of_workloads(&self, variant: usize, over: &str, under: &str, metric: &MetricColumn, effect: &Effect) -> Option<Inline> {
        let place = Inline::from("In ").and(code(self.results.variants.get(variant)?.id.as_str())).and(", ");
        let times = times(effect);
        let Some(((over, what), (under, _))) = workload(self.results, variant, over).zip(workload(self.results, variant, under)) else {
            return Some(place.and(code(over)).and(format!(" is {times} ")).and(code(under)));
        };
        let (over, under) = (code(over), code(under));
        Some(if is_duration(what, metric) {
            place.and(over).and(format!(" takes {times} as long as ")).and(under).and(" in the same trials")
        } else if what == "cpu_seconds" {
            place.and(over).and(format!(" gets {times} the CPU time of ")).and(under).and(" in the same trials")
        } else {
            place.and(code(what)).and(" of ").and(over).and(format!(" is {times} that of ")).and(under).and(" in the same trials")
        })
    }
}

/// That one side has so many times the metric of the other.
pub(super) fn claim(over: Inline, under: Inline, metric: &MetricColumn, effect: &Effect) -> Inline {
    let times = times(effect);
    if is_duration(&metric.name, metric) {
        over.and(format!(" takes {times} as long as ")).and(under)
    } else {
        code(metric.name.as_str()).and(" of ").and(over).and(format!(" is {times} that of ")).and(under)
    }
}

/// A metric of one workload, parted into the workload and what is measured of it.
pub(super) fn workload<'m>(results: &Results, variant: usize, metric: &'m str) -> Option<(&'m str, &'m str)> {
    let workloads = &results.variants.get(variant)?.spec.workloads;
    workloads.iter().find_map(|workload| {
        let what = metric.strip_prefix(workload.name.as_str())?.strip_prefix('.')?;
        Some((&metric[..workload.name.len()], what))
    })
}

fn is_duration(name: &str, metric: &MetricColumn) -> bool {
    metric.unit == Unit::SECOND && DURATIONS.contains(&name)
}

fn times(effect: &Effect) -> String {
    format!("{} times", number::ratio(effect.ratio, [effect.low, effect.high]).0)
}

/// The interval and the number of replicates.
pub(super) fn interval(effect: &Effect, engine_starts: Option<usize>) -> String {
    match number::ratio(effect.ratio, [effect.low, effect.high]).1 {
        Some([low, high]) => format!("{low} to {high}, n = {}", replicates(effect, engine_starts)),
        None => format!("n = {}", replicates(effect, engine_starts)),
    }
}

/// The number of replicates, with what they are where that is not a block: `10`, `5 engine starts`.
pub(super) fn replicates(effect: &Effect, engine_starts: Option<usize>) -> String {
    match engine_starts {
        None => effect.n.to_string(),
        Some(1) => "1 engine start".to_owned(),
        Some(starts) => format!("{starts} engine starts"),
    }
}

/// The verdict with its direction, where there is one: none between workloads, of which neither is meant to win.
fn verdict(comparison: &Comparison, metric: &MetricColumn) -> String {
    let effect = &comparison.effect;
    let meant = matches!(comparison.subject, Subject::Variant(_));
    worded(effect, if meant { direction(metric.better, effect.ratio) } else { "" })
}

/// The verdict in words; a difference with its direction.
pub(super) fn worded(effect: &Effect, direction: &str) -> String {
    let words = effect.verdict.words();
    if effect.verdict.differs() && !direction.is_empty() { format!("{words} ({direction})") } else { words.to_owned() }
}

/// `better` or `worse`; empty when the metric has no direction.
pub(super) fn direction(better: Option<Better>, ratio: f64) -> &'static str {
    match better {
        Some(Better::Higher) if ratio > 1.0 => "better",
        Some(Better::Lower) if ratio < 1.0 => "better",
        Some(_) => "worse",
        None => "",
    }
}

fn control(comparison: &Comparison) -> String {
    let effect = &comparison.effect;
    let as_it_should_be = "no difference between identical configurations was found, as it should be";
    let mut says = match (effect.verdict, comparison.lost) {
        (_, Some(blocks)) => undecided::lost(blocks),
        _ if comparison.lacks_engine_starts().is_some() => undecided::why(comparison, 0.0, 1),
        (Verdict::Different | Verdict::DifferentSmall, None) => {
            "they are called different, so something other than the factors moves the numbers".to_owned()
        }
        (Verdict::Equivalent, None) => as_it_should_be.to_owned(),
        (Verdict::Undecided, None) => {
            let seen = effect.detectable.map(|detectable| format!(" (only one above {} would have shown)", undecided::size(detectable)));
            format!("{as_it_should_be}{}", seen.unwrap_or_default())
        }
    };
    if comparison.too_short {
        says.push_str("; too short to trust");
    }
    format!(
        "A/A control: a second copy of the baseline is {} the baseline ({}); {says}",
        times(effect),
        interval(effect, comparison.engine_starts)
    )
}
