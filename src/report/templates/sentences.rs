//! The answers in plain words: one sentence per comparison that verdicts are about.

use super::markdown::code;
use super::number;
use crate::analyse::{ALPHA, blocks_needed, primary};
use crate::model::estimate::{Analysis, Comparison, Effect, Subject, Verdict};
use crate::model::metric::{Better, Unit};
use crate::model::plan::AA_SUFFIX;
use crate::model::results::{MetricColumn, Results};

/// A page answers at most this many comparisons in sentences; the tables have all.
const MOST_ANSWERS: usize = 20;

/// Metrics of which one says that something takes long.
const DURATIONS: [&str; 5] = ["wall", "real", "elapsed", "duration", "total_time"];

/// The sentences in the order of the comparisons, and how many there would be in all. Exploratory metrics get none.
pub(in crate::report) fn answers(results: &Results, analysis: &Analysis) -> (Vec<String>, usize) {
    let primary = primary(results).map(|metric| results.metrics[metric].name.as_str());
    let wanted = |comparison: &&Comparison| match comparison.subject {
        Subject::Variant(_) => Some(comparison.metric.as_str()) == primary,
        Subject::Workloads { .. } => true,
    };
    let all: Vec<&Comparison> = analysis.comparisons.iter().filter(wanted).collect();
    let sentence = |comparison: &&Comparison| {
        let family = all.iter().filter(|other| same_family(other, comparison)).count();
        answer(results, comparison, family)
    };
    (all.iter().take(MOST_ANSWERS).filter_map(sentence).collect(), all.len())
}

fn same_family(one: &Comparison, other: &Comparison) -> bool {
    match (&one.subject, &other.subject) {
        (Subject::Variant(_), Subject::Variant(_)) => one.metric == other.metric && one.effect.p_adjusted.is_some(),
        (Subject::Workloads { variant: a, .. }, Subject::Workloads { variant: b, .. }) => a == b,
        _ => false,
    }
}

fn answer(results: &Results, comparison: &Comparison, family: usize) -> Option<String> {
    let metric = results.metrics.iter().find(|metric| metric.name == comparison.metric)?;
    let effect = &comparison.effect;
    let (over, under, place) = match &comparison.subject {
        Subject::Variant(variant) => {
            let id = &results.variants.get(*variant)?.id;
            if id.ends_with(AA_SUFFIX) {
                return Some(control(effect));
            }
            (code(id), code(&results.variants.get(results.baseline)?.id), String::new())
        }
        Subject::Workloads { variant, against } => {
            let place = format!(" in {}", code(&results.variants.get(*variant)?.id));
            (code(&comparison.metric), code(against), place)
        }
    };
    let says = Claim { over, under, place, metric, of_workloads: matches!(comparison.subject, Subject::Workloads { .. }) };
    Some(match effect.verdict {
        Verdict::Different | Verdict::DifferentSmall => {
            let better = direction(metric.better, effect.ratio);
            let verdict = effect.verdict.words();
            let verdict = if better.is_empty() { verdict.to_owned() } else { format!("{verdict} ({better})") };
            format!("{}: **{verdict}**", says.ratio(effect))
        }
        Verdict::Equivalent => {
            let margin = number::percent(results.design.margin);
            format!("{}: **equivalent** within {margin}", says.ratio(effect))
        }
        Verdict::Undecided => format!("{}: **undecided**; {}", says.ratio(effect), why_undecided(results, effect, family)),
    })
}

/// The words of one comparison.
struct Claim<'a> {
    over: String,
    under: String,
    place: String,
    metric: &'a MetricColumn,
    of_workloads: bool,
}

impl Claim<'_> {
    fn ratio(&self, effect: &Effect) -> String {
        let Self { over, under, place, metric, .. } = self;
        let times = number::ratio(effect.ratio, [effect.low, effect.high]).0;
        let last = metric.name.rsplit('.').next().unwrap_or_default();
        let claim = if metric.unit == Unit::SECOND && DURATIONS.contains(&last) {
            format!("{over} takes {times} times as long as {under}{place}")
        } else if self.of_workloads {
            format!("{over} is {times} times {under}{place}")
        } else {
            format!("{} of {over} is {times} times that of {under}", code(&metric.name))
        };
        format!("{claim} ({})", interval(effect))
    }
}

fn interval(effect: &Effect) -> String {
    match number::ratio(effect.ratio, [effect.low, effect.high]).1 {
        Some([low, high]) => format!("{low} to {high}, n = {}", effect.n),
        None => format!("n = {}", effect.n),
    }
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

fn control(effect: &Effect) -> String {
    let ratio = number::ratio(effect.ratio, [effect.low, effect.high]).0;
    let says = match effect.verdict {
        Verdict::Different | Verdict::DifferentSmall => "they are called different, so something other than the factors moves the numbers",
        Verdict::Equivalent | Verdict::Undecided => "no difference between identical configurations was found, as it should be",
    };
    format!("A/A control: a second copy of the baseline is {ratio} times the baseline ({}); {says}", interval(effect))
}

/// Why there is no verdict. That nothing was found is never taken for "the same".
fn why_undecided(results: &Results, effect: &Effect, family: usize) -> String {
    if effect.p_adjusted.is_some_and(|p| p <= ALPHA) {
        return "a caution above forbids a verdict".to_owned();
    }
    let Some(detectable) = effect.detectable else {
        return if effect.n < 2 { "one block gives no interval" } else { "no variation between blocks, which cannot be tested" }.to_owned();
    };
    let found = format!("only a difference of about {} would have been found in 4 of 5 such experiments", number::percent(detectable));
    let target = results.design.min_effect;
    match blocks_needed(effect, target, family) {
        Some(blocks) => format!("{found}; {} needs about {} blocks", number::percent(target), number::significant(round_up(blocks) as f64)),
        None => format!("{found}; {} needs more blocks than is practical", number::percent(target)),
    }
}

/// Two significant digits, upwards: the number is an estimate from a noisy spread.
fn round_up(blocks: usize) -> usize {
    let step = 10_usize.pow(blocks.checked_ilog10().unwrap_or(0).saturating_sub(1));
    blocks.div_ceil(step) * step
}
