//! Two records of one experiment: what changed from A to B.
//!
//! The level of a variant is compared by its trials, and its ratio to the baseline by the blocks of each record: records of different times
//! have no block in common, so both are two lists that nothing pairs (`difference`). Trials that stand in both records (a record grows) say
//! nothing about a change; only where there are no others are they compared with themselves, pair by pair, as two designs read them.

use super::difference::Difference;
use super::environment::environment;
use super::families::{Correction, adjust, believe};
use super::observed::{Key, Observed, too_many};
use super::starts::Starts;
use super::verdict::{decide, distrusted};
use super::{ALPHA, primary, too_short};
use crate::model::change::{Change, Machine, Shift, ShiftKind};
use crate::model::plan::AA_SUFFIX;
use crate::model::results::{MetricColumn, Results};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Compares two records of one experiment. Margins are those of B's design. Swapping the records gives the reciprocal of every ratio.
#[must_use]
pub fn compare(a: &Results, b: &Results) -> Change {
    let (environment, machine) = environment(a, b);
    let ids = |results: &Results| results.variants.iter().map(|variant| variant.id.clone()).collect::<Vec<String>>();
    let without = |ids: Vec<String>, others: &[String]| {
        ids.into_iter().filter(|id| !others.contains(id) && !id.ends_with(AA_SUFFIX)).collect::<Vec<String>>()
    };
    let mut change =
        Change { environment, machine, only_a: without(ids(a), &ids(b)), only_b: without(ids(b), &ids(a)), ..Change::default() };
    let (sides, pairs) = (Sides::new(a, b), matches(a, b));
    let is_altered =
        |(in_a, in_b): &(usize, usize)| a.variants[*in_a].identity != b.variants[*in_b].identity && !b.variants[*in_b].is_copy();
    change.altered = pairs.iter().copied().filter(is_altered).collect();
    if pairs.is_empty() {
        change.cautions.push("the two records have no variant in common".to_owned());
        return change;
    }
    let has_baseline = pairs.contains(&(a.baseline, b.baseline));
    let mut shared = BTreeSet::new();
    for kind in [ShiftKind::Level, ShiftKind::Relative] {
        if kind == ShiftKind::Relative && !has_baseline {
            change.cautions.push("the baselines are different variants: ratios to them cannot be compared".to_owned());
            continue;
        }
        for (primary, metrics) in sides.metrics(&mut change.cautions) {
            let questions = metrics.iter().flat_map(|metric| pairs.iter().map(move |pair| (*metric, *pair)));
            let asked = |(_, (_, in_b)): &(_, (usize, usize))| match kind {
                ShiftKind::Level => !b.variants[*in_b].is_copy(),
                ShiftKind::Relative => *in_b != b.baseline,
            };
            let questions = questions.filter(asked).filter_map(|(metric, pair)| sides.question(kind, primary, metric, pair));
            change.shifts.extend(answer(questions.collect(), b, &mut shared));
        }
    }
    change.shifts.sort_by_key(|shift| (!shift.primary, shift.kind));
    distrust(&mut change);
    caution(&mut change, shared.len());
    change
}

/// The variants of both records, as indices; the A/A copy stands for that of the same baseline.
fn matches(a: &Results, b: &Results) -> Vec<(usize, usize)> {
    let in_a: HashMap<&str, usize> = a.variants.iter().enumerate().map(|(index, variant)| (variant.id.as_str(), index)).collect();
    let in_b = b.variants.iter().enumerate();
    in_b.filter_map(|(index, variant)| in_a.get(variant.id.as_str()).map(|other| (*other, index))).collect()
}

/// What stands in the rows of both records.
struct Sides<'r> {
    records: [&'r Results; 2],
    observed: [Observed; 2],
    starts: [Starts; 2],
    short: [BTreeSet<usize>; 2],
    /// The index in A of a run of B that both records have.
    same_runs: HashMap<usize, usize>,
}

/// Logs of one side by run and block, and how many blocks have none.
struct Logs {
    values: Vec<(Key, f64)>,
    lost: usize,
}

/// One thing to compare, before any correction.
struct Question {
    shift: Shift,
    contrast: Difference,
    /// Trials of both records that were left out, or compared with themselves.
    shared: Vec<(String, Key)>,
}

impl<'r> Sides<'r> {
    fn new(a: &'r Results, b: &'r Results) -> Self {
        let name = |run: &crate::model::results::RunSummary| (run.run.clone(), run.started.at.clone());
        let in_a: HashMap<(String, String), usize> = a.runs.iter().enumerate().map(|(index, run)| (name(run), index)).collect();
        let in_b = b.runs.iter().enumerate();
        Self {
            records: [a, b],
            observed: [Observed::of(a), Observed::of(b)],
            starts: [Starts::of(a), Starts::of(b)],
            short: [too_short(a), too_short(b)],
            same_runs: in_b.filter_map(|(index, run)| in_a.get(&name(run)).map(|other| (index, *other))).collect(),
        }
    }

    /// The primary metric, and the exploratory ones, as indices in A and B: those that either record declares with a direction.
    fn metrics(&self, cautions: &mut Vec<String>) -> Vec<(bool, Vec<(usize, usize)>)> {
        let [a, b] = self.records;
        let primary = primary(b);
        let (mut first, mut rest) = (Vec::new(), Vec::new());
        for (in_b, metric) in b.metrics.iter().enumerate() {
            let Some(in_a) = a.metrics.iter().position(|other| other.name == metric.name) else { continue };
            let other = &a.metrics[in_a];
            let declared = |one: &MetricColumn| one.declared && one.better.is_some();
            if primary != Some(in_b) && !declared(metric) && !declared(other) {
                continue;
            }
            if other.unit != metric.unit {
                let (a, b) = (other.unit.symbol(), metric.unit.symbol());
                let caution = format!("`{}` is not compared: its unit is `{a}` in A and `{b}` in B", metric.name);
                if !cautions.contains(&caution) {
                    cautions.push(caution);
                }
                continue;
            }
            if primary == Some(in_b) { first.push((in_a, in_b)) } else { rest.push((in_a, in_b)) }
        }
        vec![(true, first), (false, rest)]
    }

    fn question(&self, kind: ShiftKind, primary: bool, metric: (usize, usize), pair: (usize, usize)) -> Option<Question> {
        let [a, b] = self.records;
        let logs = [self.logs(0, kind, metric.0, pair.0), self.logs(1, kind, metric.1, pair.1)];
        let by_starts = self.by_starts(kind, pair);
        let means = |side: usize, values: &[(Key, f64)]| match by_starts {
            true => self.starts[side].means(values),
            false => values.iter().map(|(_, log)| *log).collect::<Vec<f64>>(),
        };
        let of_a: BTreeMap<Key, f64> = logs[0].values.iter().copied().collect();
        let twin = |key: &Key| self.same_runs.get(&key.0).map(|run| (*run, key.1)).filter(|key| of_a.contains_key(key));
        let (twins, own_b): (Vec<_>, Vec<_>) = logs[1].values.iter().copied().partition(|(key, _)| twin(key).is_some());
        let shared: BTreeSet<Key> = twins.iter().filter_map(|(key, _)| twin(key)).collect();
        let own_a: Vec<(Key, f64)> = logs[0].values.iter().copied().filter(|(key, _)| !shared.contains(key)).collect();
        // Which of the two is the older one is not asked: the shared trials go to the side that has nothing else.
        let paired = own_a.is_empty() && own_b.is_empty();
        let side_a = means(0, if own_a.is_empty() { &logs[0].values } else { &own_a });
        let side_b = means(1, if own_b.is_empty() { &logs[1].values } else { &own_b });
        let contrast = if paired {
            let differences: Vec<(Key, f64)> = twins.iter().filter_map(|(key, log)| twin(key).map(|key| (key, log - of_a[&key]))).collect();
            Difference::paired(&means(0, &differences))?
        } else {
            Difference::unpaired(&side_a, &side_b)?
        };
        let center = |side: &[f64]| match kind {
            ShiftKind::Level => super::level(side.iter().map(|log| log.exp()).collect()).map(|level| level.median),
            ShiftKind::Relative => Some((side.iter().sum::<f64>() / side.len() as f64).exp()),
        };
        let column = &b.metrics[metric.1];
        let variant = &b.variants[pair.1];
        let is_short = |side: usize, variant: usize| {
            let baseline = kind == ShiftKind::Relative && self.short[side].contains(&self.records[side].baseline);
            baseline || self.short[side].contains(&variant)
        };
        let lost = logs.iter().filter_map(|side| too_many(side.lost, side.lost + side.values.len()));
        let shift = Shift {
            kind,
            variant: variant.id.clone(),
            metric: column.name.clone(),
            unit: column.unit.clone(),
            better: column.better.or(a.metrics[metric.0].better),
            primary,
            control: variant.is_copy(),
            sides: (center(&side_a)?, center(&side_b)?),
            n: (side_a.len(), side_b.len()),
            paired,
            by_starts,
            effect: contrast.effect(None),
            too_short: is_short(0, pair.0) || is_short(1, pair.1),
            lost: lost.max(),
        };
        let shared = shared.into_iter().map(|key| (variant.id.clone(), key)).collect();
        Some(Question { shift, contrast, shared })
    }

    /// The logs of a variant's values, or of their ratios to the baseline in the same block.
    fn logs(&self, side: usize, kind: ShiftKind, metric: usize, variant: usize) -> Logs {
        let (observed, baseline) = (&self.observed[side], self.records[side].baseline);
        let over = observed.cell(metric, variant);
        let under: BTreeMap<Key, f64> = observed.cell(metric, baseline).iter().copied().collect();
        let mut logs = Logs { values: Vec::with_capacity(over.len()), lost: 0 };
        for (key, value) in over {
            let base = match kind {
                ShiftKind::Level => Some(1.0),
                ShiftKind::Relative => under.get(key).copied(),
            };
            match base {
                Some(base) if base > 0.0 && *value > 0.0 => logs.values.push((*key, value.ln() - base.ln())),
                Some(_) => logs.lost += 1,
                None => {}
            }
        }
        let failed = observed.failed(variant);
        logs.lost += match kind {
            ShiftKind::Level => failed.len(),
            ShiftKind::Relative => failed.union(observed.failed(baseline)).count(),
        };
        logs
    }

    /// Whether what is repeated is the start of an engine: of a variant on a private one, or where engines are compared.
    fn by_starts(&self, kind: ShiftKind, (in_a, in_b): (usize, usize)) -> bool {
        let of = |side: usize, variant: usize| match kind {
            ShiftKind::Level => self.records[side].variants[variant].spec.engine.private.is_some(),
            ShiftKind::Relative => self.starts[side].compares_engines(variant),
        };
        of(0, in_a) || of(1, in_b)
    }
}

/// Answers the questions about one kind and one class of metrics: the A/A copy alone, the others as a family.
fn answer(questions: Vec<Question>, b: &Results, shared: &mut BTreeSet<(String, Key)>) -> Vec<Shift> {
    let is_primary = questions.first().is_some_and(|question| question.shift.primary);
    let (control, family): (Vec<Question>, Vec<Question>) = questions.into_iter().partition(|question| question.shift.control);
    let correction = if is_primary { Correction::Holm } else { Correction::BenjaminiHochberg };
    let guarded = correction.family(family.len());
    let mut answers = Vec::new();
    // A copy says something about noise in the metric that verdicts are about, and nowhere else.
    let control = if is_primary { control } else { Vec::new() };
    for (questions, correction, guarded) in [(family, correction, guarded), (control, Correction::None, None)] {
        let tested: Vec<Option<f64>> = questions.iter().map(|question| question.shift.effect.p).collect();
        for (question, adjusted) in questions.into_iter().zip(adjust(&tested, correction)) {
            let Question { mut shift, contrast, shared: of_both } = question;
            shared.extend(of_both);
            shift.effect = contrast.effect(guarded);
            let withheld = shift.lost.is_some() || shift.lacks_engine_starts().is_some();
            decide(&mut shift.effect, adjusted, withheld, ALPHA, &b.design);
            answers.push(shift);
        }
    }
    answers
}

/// Takes back verdicts on ratios that are no larger than what the A/A copy, which is the baseline, seems to have changed by.
fn distrust(change: &mut Change) {
    let Some(control) = change.shifts.iter().find(|shift| shift.control) else { return };
    let Some(limit) = distrusted(&control.effect) else { return };
    for shift in change.shifts.iter_mut().filter(|shift| shift.kind == ShiftKind::Relative && shift.primary && !shift.control) {
        believe(&mut shift.effect, limit);
    }
    change
        .cautions
        .push("the A/A copy of the baseline changed against the baseline itself: relative changes of that size are undecided".to_owned());
}

fn caution(change: &mut Change, shared: usize) {
    let mut said = Vec::new();
    match change.machine {
        Machine::Other => said.push(
            "the machines differ: ratios of levels are about the machines and say nothing about the software; look at the relative changes"
                .to_owned(),
        ),
        Machine::Renamed => said.push(
            "the hosts have different names: if they are two machines, ratios of levels hold what differs between these, too".to_owned(),
        ),
        Machine::Same => {}
    }
    if change.shifts.iter().any(|shift| !shift.paired) {
        said.push(
            "measured one after the other: a drift of the machine between them looks like an effect; interleave with a factor to be sure"
                .to_owned(),
        );
    }
    let all_paired = !change.shifts.is_empty() && change.shifts.iter().all(|shift| shift.paired);
    if all_paired {
        said.push("both records hold the same trials: what differs, if anything, is how they are read".to_owned());
    } else if shared > 0 {
        let trials = if shared == 1 { "1 trial stands".to_owned() } else { format!("{shared} trials stand") };
        said.push(format!("{trials} in both records, and only on the side that has no others: they say nothing about a change"));
    }
    if !change.altered.is_empty() {
        let variants =
            if change.altered.len() == 1 { "1 variant runs".to_owned() } else { format!("{} variants run", change.altered.len()) };
        said.push(format!("{variants} something else in B than in A"));
    }
    said.append(&mut change.cautions);
    change.cautions = said;
}
