//! What this program knows how to do, for planning.

use crate::measure::parsers::{self, PARSERS};
use crate::model::catalog::Catalog;
use crate::report;

/// The catalog of everything that is built in.
pub fn catalog() -> Catalog {
    Catalog {
        parsers: PARSERS.iter().map(|parser| parser.info()).collect(),
        check_extraction: parsers::check,
        check_pattern: parsers::check_pattern,
        charts: report::CHARTS,
    }
}
