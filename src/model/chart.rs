//! Declared charts: what a manifest asks to see. They belong to the presentation, so no trial ever depends on them.

use super::tree::Span;
use serde::{Deserialize, Serialize};

/// A kind of chart, by the word that a manifest uses for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChartKind {
    /// The effect of every variant against the baseline.
    Effects,
    /// All trials of every variant.
    Trials,
    /// Medians as bars from zero, with all trials on them.
    Bars,
    /// A metric over a numeric factor.
    Line,
    /// The ratio to the baseline over two factors.
    HeatMap,
    /// What each level of each factor does over all others.
    MainEffects,
    /// The levels of one factor at each level of another.
    Interactions,
    /// Latency percentiles.
    Percentiles,
    /// Where the CPU time went.
    Cpu,
    /// One trial of each variant over time.
    Series,
    /// What is left of each trial in the order in which they ran.
    Drift,
}

impl ChartKind {
    /// All kinds and their words.
    pub const WORDS: [(Self, &'static str); 11] = [
        (Self::Effects, "effects"),
        (Self::Trials, "trials"),
        (Self::Bars, "bars"),
        (Self::Line, "line"),
        (Self::HeatMap, "heat-map"),
        (Self::MainEffects, "main-effects"),
        (Self::Interactions, "interactions"),
        (Self::Percentiles, "percentiles"),
        (Self::Cpu, "cpu"),
        (Self::Series, "series"),
        (Self::Drift, "drift"),
    ];

    /// The kind that a manifest calls so.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(_, known)| *known == word).map(|(kind, _)| *kind)
    }

    /// What a manifest calls it.
    #[must_use]
    pub fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(kind, _)| *kind == self).map_or("", |(_, word)| word)
    }
}

/// A declared chart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChartDecl {
    /// What is drawn.
    pub kind: ChartKind,
    /// The metric; none: the primary one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<String>,
    /// The factor along the chart; none leaves the choice to the kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x: Option<String>,
    /// The other factor; none leaves the choice to the kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub y: Option<String>,
    /// The title; none: the experiment's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Whether an SVG stands beside the PNG.
    #[serde(default, skip_serializing_if = "is_false")]
    pub svg: bool,
    /// The order of rows; none: as declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sort: Option<Sort>,
    /// Where it was declared.
    #[serde(skip)]
    pub span: Span,
    /// Where the options that not every kind has were given.
    #[serde(skip)]
    pub given: Vec<(ChartOption, Span)>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

impl ChartDecl {
    /// A chart of this kind and no options.
    #[must_use]
    pub fn of(kind: ChartKind) -> Self {
        Self { kind, metric: None, x: None, y: None, title: None, svg: false, sort: None, span: Span::default(), given: Vec::new() }
    }
}

/// The order of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sort {
    /// That of the matrix.
    Declared,
    /// The smallest ratio first.
    Effect,
}

/// An option that some kinds have; `title` and `svg` every kind has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChartOption {
    /// `metric`.
    Metric,
    /// `x`.
    X,
    /// `y`.
    Y,
    /// `sort`.
    Sort,
}

impl ChartOption {
    /// The key in the manifest.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Metric => "metric",
            Self::X => "x",
            Self::Y => "y",
            Self::Sort => "sort",
        }
    }
}
