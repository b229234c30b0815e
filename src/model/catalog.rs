//! What the program knows how to do, as data: so that planning can check names without knowing the parsers.

use super::metric::MetricInfo;

/// The known parsers and built-in metrics; `cli` fills it.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    /// Parsers by name.
    pub parsers: Vec<ParserInfo>,
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
