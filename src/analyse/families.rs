//! Which questions belong together: the primary family, the A/A control, pairs of workloads, and the exploratory rest.

use super::holm::{benjamini_hochberg, holm};
use super::observed::Observed;
use super::paired::Paired;
use super::pooled::Pooled;
use super::replicates::Spread;
use super::starts::Starts;
use super::verdict::{decide, distrusted, significance};
use crate::model::estimate::{Clean, Comparison, Effect, Subject, Verdict};
use crate::model::experiment::{self, Variance};
use crate::model::results::{ResultRow, Results};
use std::collections::{BTreeMap, BTreeSet};

/// The comparisons with what the cautions need to know about them.
#[derive(Default)]
pub(super) struct Found {
    /// All comparisons that have at least one pair, in the order of the report.
    pub(super) comparisons: Vec<Comparison>,
    /// By metric: pairs without a ratio, and all pairs.
    pub(super) nonpositive: BTreeMap<usize, (usize, usize)>,
    /// By metric: comparisons of which all ratios are one number other than 1.
    pub(super) constant: BTreeMap<usize, usize>,
    /// Variants of the primary family without a single pair.
    pub(super) unpaired: Vec<usize>,
    /// The size of effect below which the A/A control forbids a verdict, and how many verdicts it took back.
    pub(super) distrusted: Option<(f64, usize)>,
    /// Where the spread of all variants was to stand for each: how much the largest exceeds the smallest, when they are too unlike.
    pub(super) unlike: Option<f64>,
    /// The spread that stands for that of each pair, while such questions are answered.
    pooled: Option<Spread>,
}

/// The metric that verdicts are about, as an index; none when the results have none. A declared metric that only the workloads of
/// a trial carry (`real`, seen as `a.real`) stands for that of the first workload.
#[must_use]
pub fn primary(results: &Results) -> Option<usize> {
    let declared = results.metrics.iter().position(|metric| metric.primary)?;
    let name = results.metrics[declared].name.as_str();
    let seen = |name: &str| results.rows.iter().any(|row| row.row.metrics.iter().any(|observation| observation.name == name));
    if seen(name) {
        return Some(declared);
    }
    let workloads = results.variants.get(results.baseline).map(|variant| variant.spec.workloads.as_slice()).unwrap_or_default();
    let carried = workloads.iter().find_map(|workload| {
        let full = format!("{}.{name}", workload.name);
        results.metrics.iter().position(|metric| metric.name == full)
    });
    carried.or(Some(declared))
}

/// Makes every comparison: family first, then the A/A control, workload pairs, and the exploratory metrics. The windows of the variants
/// in `short` are too short to trust.
pub(super) fn compare(results: &Results, observed: &Observed, starts: &Starts, short: &BTreeSet<usize>) -> Found {
    let mut found = Found::default();
    let Some(primary) = primary(results) else { return found };
    if results.baseline >= results.variants.len() {
        return found;
    }
    let others = |copy: bool| {
        let is_wanted = move |index: &usize| *index != results.baseline && results.variants[*index].is_copy() == copy;
        (0..results.variants.len()).filter(is_wanted).collect::<Vec<usize>>()
    };
    let against_baseline = |metric: usize, variant: usize| {
        let (over, under) = (observed.cell(metric, variant), observed.cell(metric, results.baseline));
        let failed = observed.failed(variant).union(observed.failed(results.baseline)).count();
        let starts = Some(starts).filter(|starts| starts.compares_engines(variant));
        let paired = Paired::of(over, under, failed, starts);
        Question { metric, subject: Subject::Variant(variant), paired, engines: starts.is_some() }
    };
    let pooled = (results.design.variance == Variance::Pooled).then(|| Pooled::of(results, observed, primary)).flatten();
    found.unlike = pooled.as_ref().filter(|pooled| pooled.is_refused()).map(|pooled| pooled.unlike);
    found.pooled = pooled.filter(|pooled| !pooled.is_refused()).map(|pooled| pooled.spread);

    let family = others(false).into_iter().map(|variant| against_baseline(primary, variant)).collect::<Vec<_>>();
    found.unpaired =
        others(false).into_iter().zip(&family).filter(|(_, question)| question.paired.replicates.n() == 0).map(|(v, _)| v).collect();
    let mut answers = found.answer(results, family, Correction::of(results.design.correction));
    let control = others(true).into_iter().map(|variant| against_baseline(primary, variant)).collect();
    let control = found.answer(results, control, Correction::None);
    if let Some(limit) = control.iter().filter_map(|comparison| distrusted(&comparison.effect)).reduce(f64::max) {
        found.distrusted = Some((limit, take_back(&mut answers, limit)));
    }
    answers.extend(control);
    found.pooled = None;
    for variant in (0..results.variants.len()).filter(|index| !results.variants[*index].is_copy()) {
        let questions = workload_pairs(results, observed, primary, variant);
        answers.extend(found.answer(results, questions, Correction::Holm));
    }
    let exploratory = (0..results.metrics.len())
        .filter(|metric| *metric != primary && results.metrics[*metric].declared && results.metrics[*metric].better.is_some());
    let questions = exploratory.flat_map(|metric| others(false).into_iter().map(move |variant| (metric, variant)));
    let questions = questions.map(|(metric, variant)| against_baseline(metric, variant)).collect();
    answers.extend(found.answer(results, questions, Correction::BenjaminiHochberg));
    for comparison in &mut answers {
        comparison.too_short = match comparison.subject {
            Subject::Variant(variant) => short.contains(&variant) || short.contains(&results.baseline),
            Subject::Workloads { variant, .. } => short.contains(&variant),
        };
    }
    found.comparisons = answers;
    found
}

/// Puts the comparisons of the clean trials beside those of all, where tainted ones take part. They are families of their own, with their
/// own correction and A/A control.
pub(super) fn without_tainted(results: &Results, starts: &Starts, comparisons: &mut [Comparison]) {
    let mut tainted = vec![0; results.variants.len()];
    for variant in results.rows.iter().filter(|row| !row.row.taints.is_empty()).filter_map(ResultRow::counts) {
        if let Some(count) = tainted.get_mut(variant) {
            *count += 1;
        }
    }
    if tainted.iter().all(|count| *count == 0) {
        return;
    }
    // What is too short is tainted, and so is gone.
    let clean = compare(results, &Observed::clean(results), starts, &BTreeSet::new()).comparisons;
    for comparison in comparisons {
        let left_out = match comparison.subject {
            Subject::Variant(variant) => tainted[variant] + tainted[results.baseline],
            Subject::Workloads { variant, .. } => tainted[variant],
        };
        let is_it = |other: &&Comparison| other.metric == comparison.metric && other.subject == comparison.subject;
        comparison.clean = (left_out > 0).then(|| Clean { effect: clean.iter().find(is_it).map(|c| c.effect.clone()), tainted: left_out });
    }
}

/// One thing to compare, before any correction.
struct Question {
    metric: usize,
    subject: Subject,
    paired: Paired,
    /// Whether engines are compared, so that a replicate is an engine start.
    engines: bool,
}

/// What is done about many questions.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Correction {
    None,
    Holm,
    BenjaminiHochberg,
}

impl Correction {
    /// As declared for the comparisons that verdicts are about.
    fn of(declared: experiment::Correction) -> Self {
        match declared {
            experiment::Correction::Holm => Self::Holm,
            experiment::Correction::BenjaminiHochberg => Self::BenjaminiHochberg,
            experiment::Correction::None => Self::None,
        }
    }

    /// So many questions as a family of which even one false answer is guarded against; none where that is not done.
    pub(super) fn family(self, questions: usize) -> Option<usize> {
        (self == Self::Holm).then_some(questions)
    }
}

impl Found {
    /// Answers the questions of one family. One without a p counts as p = 1 under Holm: the family is what was declared, not what worked.
    fn answer(&mut self, results: &Results, questions: Vec<Question>, correction: Correction) -> Vec<Comparison> {
        let family = correction.family(questions.len());
        let alpha = significance(results);
        // A start of an engine has a spread of its own, which that of trials says nothing of.
        let spread = |question: &Question| self.pooled.filter(|_| !question.engines);
        let effects: Vec<_> = questions.iter().map(|question| question.paired.replicates.effect(family, spread(question))).collect();
        let tested: Vec<Option<f64>> = effects.iter().map(|effect| effect.as_ref().and_then(|effect| effect.p)).collect();
        let adjusted = adjust(&tested, correction);
        let mut answers = Vec::new();
        for ((question, effect), p_adjusted) in questions.into_iter().zip(effects).zip(adjusted) {
            self.note(&question);
            let Some(effect) = effect else { continue };
            let metric = results.metrics[question.metric].name.clone();
            let engine_starts = question.engines.then_some(effect.n);
            let lost = question.paired.lost();
            let mut answer = Comparison { metric, subject: question.subject, effect, engine_starts, too_short: false, lost, clean: None };
            let withheld = lost.is_some() || answer.lacks_engine_starts().is_some();
            decide(&mut answer.effect, p_adjusted, withheld, alpha, &results.design);
            answers.push(answer);
        }
        answers
    }

    fn note(&mut self, question: &Question) {
        let paired = &question.paired;
        if paired.nonpositive > 0 {
            let (without, all) = self.nonpositive.entry(question.metric).or_default();
            *without += paired.nonpositive;
            *all += paired.nonpositive + paired.pairs;
        }
        if paired.replicates.is_constant() && paired.replicates.effect(None, None).is_some_and(|effect| effect.p.is_none()) {
            *self.constant.entry(question.metric).or_default() += 1;
        }
    }
}

/// The p of one family after its correction, in their order; one without a p counts as p = 1 under Holm.
pub(super) fn adjust(tested: &[Option<f64>], correction: Correction) -> Vec<Option<f64>> {
    let adjusted = match correction {
        Correction::None => return vec![None; tested.len()],
        Correction::Holm => holm(&tested.iter().map(|p| p.unwrap_or(1.0)).collect::<Vec<_>>()),
        Correction::BenjaminiHochberg => {
            let mut known = benjamini_hochberg(&tested.iter().copied().flatten().collect::<Vec<_>>()).into_iter();
            return tested.iter().map(|p| p.and_then(|_| known.next())).collect();
        }
    };
    tested.iter().zip(adjusted).map(|(p, adjusted)| p.map(|_| adjusted)).collect()
}

/// Makes every verdict on an effect up to `limit` undecided; returns how many were taken back.
fn take_back(answers: &mut [Comparison], limit: f64) -> usize {
    answers.iter_mut().map(|comparison| usize::from(believe(&mut comparison.effect, limit))).sum()
}

/// Takes the verdict on an effect back when it is no larger than `limit`; says whether it did.
pub(super) fn believe(effect: &mut Effect, limit: f64) -> bool {
    let taken = effect.verdict != Verdict::Undecided && (effect.ratio - 1.0).abs() <= limit;
    if taken {
        effect.verdict = Verdict::Undecided;
    }
    taken
}

/// Each later workload of one variant against the first that carries the primary metric, within the same trials.
fn workload_pairs(results: &Results, observed: &Observed, primary: usize, variant: usize) -> Vec<Question> {
    let workloads = &results.variants[variant].spec.workloads;
    let name = results.metrics[primary].name.as_str();
    let suffix = workloads.iter().find_map(|workload| name.strip_prefix(&workload.name)?.strip_prefix('.')).unwrap_or(name);
    let carried = workloads.iter().filter_map(|workload| {
        let full = format!("{}.{suffix}", workload.name);
        results.metrics.iter().position(|metric| metric.name == full)
    });
    let mut carried = carried.filter(|metric| !observed.cell(*metric, variant).is_empty());
    let Some(first) = carried.next() else { return Vec::new() };
    carried
        .map(|metric| Question {
            metric,
            subject: Subject::Workloads { variant, against: results.metrics[first].name.clone() },
            paired: Paired::of(observed.cell(metric, variant), observed.cell(first, variant), observed.failed(variant).len(), None),
            engines: false,
        })
        .collect()
}
