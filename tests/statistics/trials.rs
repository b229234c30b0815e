//! Experiments made of noise, judged by the real planner's order and the real analysis.

use super::noise::{Draws, Noise};
use shakedown::analyse::{analyse, half_width};
use shakedown::model::estimate::{Comparison, Verdict};
use shakedown::model::event::{JOURNAL_FORMAT, RunStarted, TrialRow};
use shakedown::model::experiment::{Adaptive, Design, Presentation};
use shakedown::model::facts::HostFacts;
use shakedown::model::metric::{Better, Observation, Unit};
use shakedown::model::outcome::Outcome;
use shakedown::model::plan::{FactorSummary, Reason, SavedVariant};
use shakedown::model::results::{MetricColumn, ResultRow, Results, RunSummary};
use shakedown::model::spec::{EngineSpec, TrialSpec};
use shakedown::plan::order::{Group, order};

/// Which trial runs when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// As the planner orders them: blocks, shuffled and balanced.
    Planned,
    /// All trials of the first variant, then all of the second: what must not be done.
    Sequential,
}

/// An experiment of so many variants and blocks, to be filled with values again and again.
pub struct Trials {
    results: Results,
    variants: usize,
    blocks: usize,
}

/// How the comparisons of one experiment ended.
#[derive(Debug, Clone, Copy, Default)]
pub struct Judged {
    /// Comparisons with the baseline.
    pub comparisons: u32,
    /// Those of which the p by itself is at most 5 %.
    pub significant: u32,
    /// Those that are called different.
    pub different: u32,
}

impl Trials {
    pub fn new(variants: usize, blocks: usize) -> Self {
        let started = RunStarted {
            format: JOURNAL_FORMAT,
            run: "2026-01-01-box-aaaa".into(),
            experiment: "noise".into(),
            digest: "0123456789abcdef".into(),
            at: "2026-01-01T00:00:00Z".into(),
            version: "0.1.0".into(),
            host: HostFacts::default(),
            engines: Vec::new(),
        };
        let run = RunSummary {
            run: started.run.clone(),
            seed: 1,
            blocks: blocks as u32,
            images: Vec::new(),
            started,
            looked: None,
            finished: true,
        };
        let variant = |level: usize| SavedVariant {
            id: format!("f={level}"),
            levels: vec![level as u32],
            identity: format!("{level:032x}"),
            reason: Reason::New,
            spec: TrialSpec::bare(EngineSpec::default()),
            vars: serde_json::Map::new(),
        };
        let score = MetricColumn { name: "score".into(), unit: Unit::SECOND, better: Some(Better::Higher), primary: true, declared: true };
        let results = Results {
            experiment: "noise".into(),
            presentation: Presentation::default(),
            design: Design::default(),
            factors: vec![FactorSummary { name: "f".into(), levels: (0..variants).map(|level| level.to_string().into()).collect() }],
            variants: (0..variants).map(variant).collect(),
            baseline: 0,
            runs: vec![run],
            rows: Vec::new(),
            metrics: vec![score],
            warnings: Vec::new(),
            series: Vec::new(),
        };
        Self { results, variants, blocks }
    }

    /// The same with a number of blocks that is found while they are measured, this one at most.
    pub fn adaptive(variants: usize) -> Self {
        let mut trials = Self::new(variants, Adaptive::MOST as usize);
        trials.results.design.adaptive = Some(Adaptive::default());
        trials
    }

    /// Measures once: every variant but the baseline is smaller by `effect`.
    pub fn measure(&mut self, noise: Noise, order: Order, effect: f64, draws: &mut Draws) -> Judged {
        self.fill(noise, order, effect, draws);
        judged(&self.results)
    }

    /// Measures once by the adaptive rule; also how many blocks it took.
    pub fn measure_until_narrow(&mut self, noise: Noise, effect: f64, draws: &mut Draws) -> (Judged, usize) {
        self.fill(noise, Order::Planned, effect, draws);
        let target = self.results.design.adaptive.unwrap_or_default().target;
        let all = std::mem::take(&mut self.results.rows);
        let looks = Adaptive::LOOKS.map(|look| look as usize);
        for look in looks {
            self.results.rows = all[..look * self.variants].to_vec();
            let narrow = half_width(&self.results).is_some_and(|(_, half)| half.exp_m1() <= target);
            if narrow || look == Adaptive::MOST as usize {
                return (judged(&self.results), look);
            }
        }
        unreachable!("the last look ends it")
    }

    fn fill(&mut self, noise: Noise, order: Order, effect: f64, draws: &mut Draws) {
        let drawn = noise.draw(draws, self.variants * self.blocks);
        let places = self.places(order, draws.seed());
        self.results.rows.resize_with(places.len(), row);
        for (at, ((variant, block), noise)) in places.into_iter().zip(drawn).enumerate() {
            let row = &mut self.results.rows[at];
            row.variant = Some(variant);
            row.row.block = block;
            row.row.metrics[0].value = if variant == 0 { 1.0 } else { 1.0 - effect } * (1.0 + noise);
        }
    }

    /// Variant and block of each trial, in the order of time.
    fn places(&self, wanted: Order, seed: u64) -> Vec<(usize, u32)> {
        let (variants, blocks) = (self.variants as u32, self.blocks as u32);
        match wanted {
            Order::Planned => {
                let group = Group { variants: (0..variants).collect() };
                order(&[group], blocks, seed, &|_, _| true).iter().map(|trial| (trial.variant as usize, trial.block)).collect()
            }
            Order::Sequential => (0..self.variants).flat_map(|variant| (1..=blocks).map(move |block| (variant, block))).collect(),
        }
    }
}

fn judged(results: &Results) -> Judged {
    let comparisons = analyse(results).comparisons;
    let is_different = |c: &&Comparison| matches!(c.effect.verdict, Verdict::Different | Verdict::DifferentSmall);
    Judged {
        comparisons: comparisons.len() as u32,
        significant: comparisons.iter().filter(|c| c.effect.p.is_some_and(|p| p <= 0.05)).count() as u32,
        different: comparisons.iter().filter(is_different).count() as u32,
    }
}

fn row() -> ResultRow {
    let row = TrialRow {
        engine_start: None,
        trial: String::new(),
        variant: String::new(),
        identity: String::new(),
        block: 0,
        position: 0,
        attempt: 1,
        at: String::new(),
        seconds: 1.0,
        outcome: Outcome::Ok,
        failure: None,
        taints: Vec::new(),
        metrics: vec![Observation { name: "score".into(), value: 1.0, unit: Unit::SECOND }],
        attested: Vec::new(),
        readings: Vec::new(),
        series: None,
        outputs: Vec::new(),
        problems: Vec::new(),
    };
    ResultRow { run: 0, variant: None, superseded: false, row, states: Vec::new() }
}
