//! What the program knows how to do, as data: so that planning can check names without knowing the parsers.

use super::metric::MetricInfo;
use super::spec::ParseSpec;

/// The known parsers and how to check a declared extraction; `cli` fills it.
#[derive(Debug, Clone)]
pub struct Catalog {
    /// Parsers by name.
    pub parsers: Vec<ParserInfo>,
    /// Says why a regular expression, JSONPath or column cannot be used.
    pub check_extraction: fn(&ParseSpec) -> Result<(), String>,
    /// Says why a regular expression cannot be looked for in the lines of a service.
    pub check_pattern: fn(&str) -> Result<(), String>,
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
