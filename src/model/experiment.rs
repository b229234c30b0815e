//! A manifest after reading: the question, the factors, the rules, and the set-up as a tree that still holds templates.

use super::chart::ChartDecl;
use super::diagnostic::Diagnostic;
use super::hygiene::Thresholds;
use super::metric::{Better, Unit};
use super::observe::Observe;
use super::tree::{Span, Tree};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// An experiment as declared; its variants are not resolved yet.
#[derive(Debug, Clone)]
pub struct Experiment {
    /// The manifest's file stem: the name in reports and labels.
    pub name: String,
    /// The folder of the manifest, against which its relative paths are resolved; not part of any digest.
    pub folder: PathBuf,
    /// What people read first, and where each word of the design stands.
    pub presentation: Presentation,
    /// The factors in the order of the text; may be empty (one variant).
    pub factors: Vec<Factor>,
    /// Combinations that are left out.
    pub exclude: Vec<Rule>,
    /// Whole variants that are added.
    pub include: Vec<Rule>,
    /// The variant that others are compared with; factors not named take their first level.
    pub baseline: Option<Rule>,
    /// The set-up that levels are merged over: a mapping with `engine`, `services`, `workload` or `workloads`, `vars`.
    pub setup: Tree,
    /// Blocks, seed, margins.
    pub design: Design,
    /// Limits of the phases.
    pub limits: PhaseLimits,
    /// The text of the templates that `files` name, by name.
    pub templates: Vec<(String, String)>,
}

/// What changes no trial: titles, charts, declared metrics.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Presentation {
    /// The title; the name when none is given.
    pub title: String,
    /// The question.
    pub question: String,
    /// Declared metrics in the order of the text.
    pub metrics: Vec<MetricDecl>,
    /// Exactly these charts, in this order; none leaves the choice to the report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub charts: Option<Vec<ChartDecl>>,
}

/// A declared metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MetricDecl {
    /// Its name.
    pub name: String,
    /// The direction.
    pub better: Option<Better>,
    /// Whether verdicts are about this one.
    pub primary: bool,
    /// The formula of a derived metric, over other metrics, factors and vars.
    pub expr: Option<String>,
    /// Its unit, if declared.
    pub unit: Option<Unit>,
    /// What it is, in the user's words.
    pub about: Option<String>,
    /// Where it was declared.
    #[serde(skip)]
    pub span: Span,
}

/// What is varied.
#[derive(Debug, Clone, PartialEq)]
pub struct Factor {
    /// Its name.
    pub name: Arc<str>,
    /// Where it is declared.
    pub span: Span,
    /// Its levels in the order of the text; never empty, no two with the same text.
    pub levels: Vec<Level>,
}

/// A value of a factor.
#[derive(Debug, Clone, PartialEq)]
pub struct Level {
    /// The text as written: what labels and templates print.
    pub text: Arc<str>,
    /// What an expression sees: a number where the text is one.
    pub value: serde_json::Value,
    /// Where it is declared.
    pub span: Span,
    /// What it merges over the set-up, for a level that is a patch.
    pub patch: Option<Tree>,
}

/// An entry of `exclude`, `include` or `baseline`.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// Where it stands.
    pub span: Span,
    /// What it says.
    pub kind: RuleKind,
}

/// The two forms of rule.
#[derive(Debug, Clone, PartialEq)]
pub enum RuleKind {
    /// Keys AND, lists OR: indices into [`Experiment::factors`] with the indices of the named levels.
    Keys(Vec<(usize, Vec<usize>)>),
    /// An expression over the factors (and `host`).
    When(String),
}

/// The protocol: changing it adds or removes trials and makes none stale.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Design {
    /// How many blocks; each variant gets one trial per block.
    pub blocks: u32,
    /// The declared seed of the order; none means one made from the plan's digest.
    pub seed: Option<u64>,
    /// How often each setting of a private engine is started over a run, at least once; none means anew for each block.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub engine_starts: Option<u32>,
    /// Smallest ratio that is worth calling a difference, as a fraction (0.01 is 1 %).
    pub min_effect: f64,
    /// Margin within which a ratio counts as equivalent, as a fraction.
    pub margin: f64,
    /// A trial whose window is shorter than this is flagged as too short.
    pub min_window: Duration,
    /// What is done about many comparisons at once.
    #[serde(skip_serializing_if = "is_default", default)]
    pub correction: Correction,
    /// Whose spread a verdict stands on.
    #[serde(skip_serializing_if = "is_default", default)]
    pub variance: Variance,
    /// Where blocks are added until the numbers are narrow enough, when that is; then `blocks` is how many there are at most.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub adaptive: Option<Adaptive>,
    /// Most variants that a run accepts.
    pub max_variants: usize,
    /// What is observed while a trial runs.
    #[serde(skip_serializing_if = "is_default", default)]
    pub observe: Observe,
    /// Thresholds of the checks that are not the defaults.
    #[serde(skip_serializing_if = "Thresholds::is_empty", default)]
    pub hygiene: Thresholds,
}

/// Designs without a word about it stay as they were written.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// What is done about the many comparisons that verdicts are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Correction {
    /// The chance of even one false "different" among them stays at 5 %.
    #[default]
    Holm,
    /// The expected share of false ones among what is called different stays at 5 %.
    BenjaminiHochberg,
    /// Nothing: each may be false by itself, and a report says so.
    None,
}

impl Correction {
    /// The name of its method; none where nothing is corrected.
    #[must_use]
    pub fn method(self) -> Option<&'static str> {
        match self {
            Self::Holm => Some("Holm"),
            Self::BenjaminiHochberg => Some("Benjamini and Hochberg"),
            Self::None => None,
        }
    }
}

/// Whose spread the verdicts stand on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Variance {
    /// That of the pair compared.
    #[default]
    Own,
    /// That of all variants together, unless one is much noisier than another.
    Pooled,
}

/// A number of blocks that is found while they are measured: after 8, 12, 16, 24 and 32 of them the common spread of all variants is looked
/// at, never an effect, and the run ends when it is small enough.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Adaptive {
    /// Half the width of the interval of a ratio, as a fraction, that is enough.
    pub target: f64,
    /// After so long a run ends at its next look, narrow enough or not.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub budget: Option<Duration>,
}

impl Adaptive {
    /// After how many blocks it is looked.
    pub const LOOKS: [u32; 5] = [8, 12, 16, 24, 32];

    /// Blocks at the last look.
    pub const MOST: u32 = Self::LOOKS[Self::LOOKS.len() - 1];
}

impl Default for Adaptive {
    fn default() -> Self {
        Self { target: 0.02, budget: None }
    }
}

impl Default for Design {
    fn default() -> Self {
        Self {
            blocks: 10,
            seed: None,
            engine_starts: None,
            min_effect: 0.01,
            margin: 0.03,
            min_window: Duration::from_secs(1),
            correction: Correction::default(),
            variance: Variance::default(),
            adaptive: None,
            max_variants: 1000,
            observe: Observe::default(),
            hygiene: Thresholds::default(),
        }
    }
}

impl Design {
    /// Which start of its private engine, from 1, hosts a trial of `block` in a run of `blocks` blocks. The blocks are cut into as many
    /// runs of consecutive blocks as there are starts, of equal length or one block apart; no start is without a block.
    #[must_use]
    pub fn engine_start(&self, block: u32, blocks: u32) -> u32 {
        let blocks = u64::from(blocks.max(1));
        let starts = self.engine_starts.map_or(blocks, u64::from).clamp(1, blocks);
        let before = u64::from(block.max(1)).min(blocks) - 1;
        u32::try_from(before * starts / blocks + 1).unwrap_or(u32::MAX)
    }
}

/// How long each phase may take.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PhaseLimits {
    /// Making one image ready, before the first trial.
    pub images: Duration,
    /// Starting all services of a trial until they are ready.
    #[serde(default = "services_limit", skip_serializing_if = "is_services_limit")]
    pub services: Duration,
    /// Creating one container or process, or a trial's networks and volumes.
    pub create: Duration,
    /// Starting one of them.
    pub start: Duration,
    /// Asking how one ended, or reading its output.
    pub collect: Duration,
    /// Removing one, or a trial's networks and volumes.
    pub teardown: Duration,
    /// How often a trial is tried in all, when the engine fails.
    pub attempts: u32,
}

/// Older plans had no services.
fn services_limit() -> Duration {
    Duration::from_secs(300)
}

fn is_services_limit(limit: &Duration) -> bool {
    *limit == services_limit()
}

impl Default for PhaseLimits {
    fn default() -> Self {
        let minute = Duration::from_secs(60);
        Self {
            images: 10 * minute,
            services: services_limit(),
            create: 2 * minute,
            start: 2 * minute,
            collect: 2 * minute,
            teardown: 2 * minute,
            attempts: 2,
        }
    }
}

/// All problems of a manifest, in the order of the text; holds at least one error.
#[derive(Debug, Clone, PartialEq)]
pub struct Problems(pub Vec<Diagnostic>);
