//! What the program knows how to do, as data: so that planning can check names without knowing the parsers.

use super::chart::{ChartKind, ChartOption};
use super::metric::MetricInfo;
use super::spec::ParseSpec;

/// The known parsers and charts, and how to check a declared extraction; `cli` fills it.
#[derive(Debug, Clone)]
pub struct Catalog {
    /// Parsers by name.
    pub parsers: Vec<ParserInfo>,
    /// Says why a regular expression, JSONPath or column cannot be used.
    pub check_extraction: fn(&ParseSpec) -> Result<(), String>,
    /// Says why a regular expression cannot be looked for in the lines of a service.
    pub check_pattern: fn(&str) -> Result<(), String>,
    /// Charts that a manifest may declare.
    pub charts: &'static [ChartInfo],
}

/// What planning needs to know of a kind of chart.
#[derive(Debug, Clone, Copy)]
pub struct ChartInfo {
    /// The kind.
    pub kind: ChartKind,
    /// One sentence.
    pub about: &'static str,
    /// The options that it has, beside those that all have.
    pub options: &'static [ChartOption],
    /// Whether it shows effects, which only declared metrics have.
    pub compares: bool,
}

/// What planning needs to know of a parser.
#[derive(Debug, Clone)]
pub struct ParserInfo {
    /// Its name in `parse:`.
    pub name: &'static str,
    /// One sentence.
    pub about: &'static str,
    /// What it can yield; the first is primary when the manifest declares nothing.
    pub metrics: &'static [MetricInfo],
}
