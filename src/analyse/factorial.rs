//! Main effects, interactions and trends, without a model: each is a contrast of the logs of one block (`contrasts`).
//!
//! Only combinations that have every cell of a question take part in it, so a matrix with exclusions compares like with like. Main effects
//! are one family under Holm's correction, interactions another; trends are exploratory.

use super::contrasts::{Contrast, Weights};
use super::families::{Correction, adjust, believe};
use super::observed::Observed;
use super::starts::Starts;
use super::verdict::{decide, significance};
use crate::model::estimate::{Effect, Verdict, too_few_starts};
use crate::model::factorial::{Interaction, MainEffect, SimpleEffect, Trend};
use crate::model::quantity;
use crate::model::results::Results;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A trend needs this many levels: two are a ratio.
const ENOUGH_LEVELS: usize = 3;

/// All that can be said about the factors.
#[derive(Default)]
pub(super) struct Factorial {
    pub(super) main_effects: Vec<MainEffect>,
    pub(super) interactions: Vec<Interaction>,
    pub(super) trends: Vec<Trend>,
}

/// Asks about every factor that varies, by one metric. Main effects and interactions need two of them. Windows of the variants in `short`
/// are too short to trust; an effect up to `distrusted` is not believed.
pub(super) fn factorial(
    results: &Results,
    (observed, starts): (&Observed, &Starts),
    metric: usize,
    short: &BTreeSet<usize>,
    distrusted: Option<f64>,
) -> Factorial {
    let Some(baseline) = results.variants.get(results.baseline) else { return Factorial::default() };
    let is_copy = |variant: &usize| results.variants[*variant].is_copy();
    // In a damaged record a variant may lack a factor.
    let whole = |variant: &usize| results.variants[*variant].levels.len() == results.factors.len();
    if !whole(&results.baseline) {
        return Factorial::default();
    }
    let of_design = (0..results.variants.len()).filter(|variant| !is_copy(variant) && whole(variant));
    let cells: HashMap<&[u32], usize> = of_design.map(|variant| (&results.variants[variant].levels[..], variant)).collect();
    let asked = Asked { results, observed, metric, starts, cells, baseline: &baseline.levels };
    let varying: Vec<usize> = (0..results.factors.len()).filter(|factor| asked.levels(*factor).len() > 1).collect();
    let mut found = Factorial { trends: asked.trends(&varying), ..Factorial::default() };
    if varying.len() < 2 {
        return found;
    }
    found.interactions = asked.interactions(&varying, distrusted);
    found.main_effects = asked.main_effects(&varying, short, distrusted);
    for effect in &mut found.main_effects {
        asked.qualify(effect, &found.interactions);
    }
    found
}

/// One metric over the cells of the design.
struct Asked<'r> {
    results: &'r Results,
    observed: &'r Observed,
    metric: usize,
    starts: &'r Starts,
    cells: HashMap<&'r [u32], usize>,
    baseline: &'r [u32],
}

impl Asked<'_> {
    /// The levels of a factor that some cell has, in their order.
    fn levels(&self, factor: usize) -> BTreeSet<u32> {
        self.cells.keys().filter_map(|levels| levels.get(factor).copied()).collect()
    }

    /// Levels other than the baseline's.
    fn others(&self, factor: usize) -> Vec<u32> {
        self.levels(factor).into_iter().filter(|level| *level != self.baseline[factor]).collect()
    }

    /// Those cells that have `kept` levels, each with the cells that have the levels of `changes` instead, in order; only where all of
    /// these exist.
    fn matched(&self, kept: &[(usize, u32)], changes: &[&[(usize, u32)]]) -> Vec<Vec<usize>> {
        let holds = |levels: &&&[u32]| kept.iter().all(|(factor, level)| levels[*factor] == *level);
        let mut from: Vec<&&[u32]> = self.cells.keys().filter(holds).collect();
        from.sort_unstable();
        let with = |levels: &[u32], changed: &[(usize, u32)]| {
            let mut levels = levels.to_vec();
            changed.iter().for_each(|(factor, level)| levels[*factor] = *level);
            self.cells.get(&levels[..]).copied()
        };
        let all = |levels: &&&[u32]| {
            let own = self.cells.get(**levels).copied();
            std::iter::once(own).chain(changes.iter().map(|changed| with(levels, changed))).collect::<Option<Vec<usize>>>()
        };
        from.iter().filter_map(all).collect()
    }

    fn name(&self) -> String {
        self.results.metrics[self.metric].name.clone()
    }

    fn contrast(&self, weights: &[(usize, f64)]) -> Contrast {
        Contrast::of(self.observed, self.starts, self.metric, weights)
    }

    /// The cells of a level with their partners at the baseline's level, where the cells have `kept` levels of other factors.
    fn pairs(&self, factor: usize, level: u32, kept: &[(usize, u32)]) -> Vec<Vec<usize>> {
        let mut held = vec![(factor, level)];
        held.extend_from_slice(kept);
        self.matched(&held, &[&[(factor, self.baseline[factor])]])
    }

    fn main_effects(&self, varying: &[usize], short: &BTreeSet<usize>, distrusted: Option<f64>) -> Vec<MainEffect> {
        let mut asked = Vec::new();
        for factor in varying.iter().copied() {
            for level in self.others(factor) {
                let pairs = self.pairs(factor, level, &[]);
                if pairs.len() > 1 {
                    asked.push((factor, level, pairs));
                }
            }
        }
        let contrasts = asked.iter().map(|(.., pairs)| self.contrast(&balanced(pairs, &[1.0, -1.0]))).collect();
        let answers = self.answer(contrasts, Correction::Holm, distrusted);
        let made = asked.into_iter().zip(answers).filter_map(|((factor, level, pairs), answer)| {
            let (effect, engine_starts, lost) = answer?;
            Some(MainEffect {
                metric: self.name(),
                factor,
                level: level as usize,
                against: self.baseline[factor] as usize,
                combinations: pairs.len(),
                effect,
                engine_starts,
                lost,
                too_short: pairs.iter().flatten().any(|variant| short.contains(variant)),
                depends_on: Vec::new(),
                simple: Vec::new(),
            })
        });
        made.collect()
    }

    fn interactions(&self, varying: &[usize], distrusted: Option<f64>) -> Vec<Interaction> {
        let mut asked = Vec::new();
        for (at, first) in varying.iter().copied().enumerate() {
            for second in varying[at + 1..].iter().copied() {
                for (a, b) in self.others(first).into_iter().flat_map(|a| self.others(second).into_iter().map(move |b| (a, b))) {
                    let base = (self.baseline[first], self.baseline[second]);
                    let changes: [&[(usize, u32)]; 3] = [&[(first, base.0)], &[(second, base.1)], &[(first, base.0), (second, base.1)]];
                    let squares = self.matched(&[(first, a), (second, b)], &changes);
                    if !squares.is_empty() {
                        asked.push(((first, second), (a, b), squares));
                    }
                }
            }
        }
        let contrasts = asked.iter().map(|(.., squares)| self.contrast(&balanced(squares, &[1.0, -1.0, -1.0, 1.0]))).collect();
        let answers = self.answer(contrasts, Correction::Holm, distrusted);
        let made = asked.into_iter().zip(answers).filter_map(|((factors, (a, b), squares), answer)| {
            let (effect, engine_starts, lost) = answer?;
            Some(Interaction {
                metric: self.name(),
                factors,
                levels: (a as usize, b as usize),
                against: (self.baseline[factors.0] as usize, self.baseline[factors.1] as usize),
                combinations: squares.len(),
                effect,
                engine_starts,
                lost,
            })
        });
        made.collect()
    }

    /// Whether an effect depends on other factors, and what it is at each of their levels. An interaction counts when it is different, or
    /// when it is larger than half of an effect that is, unless it was shown to be none.
    fn qualify(&self, effect: &mut MainEffect, interactions: &[Interaction]) {
        let own = effect.effect.verdict.differs().then(|| effect.effect.ratio.ln().abs());
        let matters = |other: &Effect| {
            let large = own.is_some_and(|own| other.ratio.ln().abs() > own / 2.0) && other.verdict != Verdict::Equivalent;
            other.verdict.differs() || large
        };
        for interaction in interactions.iter().filter(|interaction| matters(&interaction.effect)) {
            let other = match (interaction.factors, interaction.levels) {
                ((factor, other), (level, _)) if (factor, level) == (effect.factor, effect.level) => other,
                ((other, factor), (_, level)) if (factor, level) == (effect.factor, effect.level) => other,
                _ => continue,
            };
            if !effect.depends_on.contains(&other) {
                effect.depends_on.push(other);
            }
        }
        let level = u32::try_from(effect.level).unwrap_or(u32::MAX);
        for other in effect.depends_on.iter().copied() {
            for at in self.levels(other) {
                let pairs = self.pairs(effect.factor, level, &[(other, at)]);
                let simple = (!pairs.is_empty()).then(|| self.contrast(&balanced(&pairs, &[1.0, -1.0])).replicates.effect(None, None));
                effect.simple.extend(simple.flatten().map(|effect| SimpleEffect { factor: other, level: at as usize, effect }));
            }
        }
    }

    /// The metric over each numeric factor, by orthogonal polynomials in its base-2 logarithm.
    fn trends(&self, varying: &[usize]) -> Vec<Trend> {
        let mut asked = Vec::new();
        for factor in varying.iter().copied() {
            let levels: Vec<u32> = self.levels(factor).into_iter().collect();
            let texts = &self.results.factors[factor].levels;
            let number = |level: &u32| texts.get(*level as usize).and_then(|text| quantity::number(text)).filter(|number| *number > 0.0);
            let Some(numbers) = levels.iter().map(number).collect::<Option<Vec<f64>>>() else { continue };
            if levels.len() < ENOUGH_LEVELS {
                continue;
            }
            let changes: Vec<[(usize, u32); 1]> = levels[1..].iter().map(|level| [(factor, *level)]).collect();
            let changes: Vec<&[(usize, u32)]> = changes.iter().map(<[_; 1]>::as_slice).collect();
            let lines = self.matched(&[(factor, levels[0])], &changes);
            let logs: Vec<f64> = numbers.iter().map(|number| number.log2()).collect();
            if let (false, Some((slope, bend))) = (lines.is_empty(), polynomials(&logs)) {
                asked.push((factor, [balanced(&lines, &slope), balanced(&lines, &bend)]));
            }
        }
        let contrasts = asked.iter().flat_map(|(_, weights)| weights).map(|weights| self.contrast(weights)).collect();
        let mut answers = self.answer(contrasts, Correction::BenjaminiHochberg, None).into_iter();
        let mut made = Vec::new();
        for (factor, _) in asked {
            if let (Some(Some((doubling, ..))), Some(Some((bend, ..)))) = (answers.next(), answers.next()) {
                made.push(Trend { metric: self.name(), factor, doubling, bend });
            }
        }
        made
    }

    /// The answers of one family, in the order of the contrasts; none for one without a single value.
    #[expect(clippy::type_complexity, reason = "an answer is taken apart at once")]
    fn answer(
        &self,
        contrasts: Vec<Contrast>,
        correction: Correction,
        distrusted: Option<f64>,
    ) -> Vec<Option<(Effect, Option<usize>, Option<(usize, usize)>)>> {
        let family = correction.family(contrasts.len());
        let effects: Vec<Option<Effect>> = contrasts.iter().map(|contrast| contrast.replicates.effect(family, None)).collect();
        let adjusted = adjust(&effects.iter().map(|effect| effect.as_ref().and_then(|effect| effect.p)).collect::<Vec<_>>(), correction);
        let alpha = significance(self.results);
        let answers = contrasts.into_iter().zip(effects).zip(adjusted).map(|((contrast, effect), p_adjusted)| {
            let mut effect = effect?;
            let engine_starts = contrast.by_starts.then_some(effect.n);
            let withheld = contrast.lost.is_some() || too_few_starts(engine_starts).is_some();
            decide(&mut effect, p_adjusted, withheld, alpha, &self.results.design);
            if let Some(limit) = distrusted {
                believe(&mut effect, limit);
            }
            Some((effect, engine_starts, contrast.lost))
        });
        answers.collect()
    }
}

/// The same signs or weights for every combination, so that all of them together weigh as much as one.
fn balanced(combinations: &[Vec<usize>], signs: &[f64]) -> Weights {
    let mut weights: BTreeMap<usize, f64> = BTreeMap::new();
    for combination in combinations {
        for (variant, sign) in combination.iter().zip(signs) {
            *weights.entry(*variant).or_default() += sign / combinations.len() as f64;
        }
    }
    weights.into_iter().collect()
}

/// Weights of the slope, and of the change of the slope per step, over unevenly spaced places; none where they do not spread.
fn polynomials(places: &[f64]) -> Option<(Vec<f64>, Vec<f64>)> {
    let n = places.len() as f64;
    let mean = places.iter().sum::<f64>() / n;
    let x: Vec<f64> = places.iter().map(|place| place - mean).collect();
    let sum = |f: &dyn Fn(f64) -> f64| x.iter().map(|x| f(*x)).sum::<f64>();
    let (second, third) = (sum(&|x| x * x), sum(&|x| x * x * x));
    if second <= 0.0 {
        return None;
    }
    let square: Vec<f64> = x.iter().map(|x| x * x - third / second * x - second / n).collect();
    let size: f64 = square.iter().map(|q| q * q).sum();
    // The second derivative of c x² is 2 c.
    (size > 0.0).then(|| (x.iter().map(|x| x / second).collect(), square.iter().map(|q| 2.0 * q / size).collect()))
}
