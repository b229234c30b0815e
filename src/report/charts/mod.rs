//! Charts: one file per kind, drawn with plotters over an anti-aliased raster of our own. Plain values in, PNG bytes out.
//!
//! From the paper upwards: `ink` keeps what is drawn as shapes, points and the outlines of letters, `raster` and `stamp` put it on pixels that
//! `png` encodes, `svg` writes it as vectors, `canvas` speaks logical
//! pixels (a picture is drawn at twice its logical size) and remembers every label's place, `text` wraps, shortens and
//! keeps labels apart, `scale`, `ratios` and `number` make axes, `frame` holds what all kinds share: heading, key, axes, and `names` the names of rows; `ideal` is the line of perfect scaling, `efficiency` the panel that says how near to it one comes. A kind
//! ([`Forest`], [`HeatMap`], [`InteractionPlot`], [`Percentiles`], [`Drifting`], [`Scaling`], [`Strip`], [`Stack`], [`Timeline`]) only says what stands where.
//!
//! House rules: Okabe-Ito colours with a shape beside each, the baseline black and its control grey, labels at the things
//! they name, a key with every part of a bar, every trial a visible point (of hundreds in one row, those that coincide are one), bars only from zero, text never below 14 logical pixels unless rows would
//! overlap, n and the kind of interval named on the picture. Equal input gives equal bytes.

mod canvas;
mod drift;
mod efficiency;
mod font;
mod forest;
mod frame;
mod heat;
mod ideal;
mod ink;
mod interaction;
mod names;
mod number;
mod palette;
mod percentiles;
mod png;
mod raster;
mod ratios;
mod scale;
mod scaling;
mod stack;
mod stamp;
mod strip;
mod svg;
mod swarm;
mod text;
mod timeline;

pub use canvas::Picture;
pub use drift::{DriftRun, DriftTrial, DriftVariant, Drifting};
pub use font::{FontError, Fonts, Weight};
pub use forest::{Contrast, Forest, Group, Span};
pub use frame::Heading;
pub use heat::{Axis, Facet, HeatMap, Tile};
pub use ideal::Ideal;
pub use interaction::{InteractionPlot, Panel};
pub use palette::{Paint, Role};
pub use percentiles::{Curve, MOST_CURVES, Percentiles, Profile};
pub use scaling::{Cell, LevelMark, Scaling, Series};
pub use stack::{Bar, Layer, Stack};
pub use strip::{Form, Row, Strip};
pub use timeline::{Line, PhaseSpan, Scene, Step, Timeline};

use crate::model::metric::{Better, Unit};

/// Why a chart could not be drawn. The report goes on without it.
#[derive(Debug, thiserror::Error)]
pub enum ChartError {
    /// The picture has no size that can be held.
    #[error("a picture of {width} x {height} pixels cannot be drawn")]
    Size {
        /// Pixels across.
        width: u32,
        /// Pixels down.
        height: u32,
    },
    /// More lines than can be told apart.
    #[error("{found} series in one chart; at most {limit} can be told apart, so split it by a factor")]
    TooManySeries {
        /// How many were given.
        found: usize,
        /// How many are possible.
        limit: usize,
    },
    /// More rows than can be read.
    #[error("{found} rows in one chart; at most {limit} can be read, so split it by a factor")]
    TooManyRows {
        /// How many were given.
        found: usize,
        /// How many are possible.
        limit: usize,
    },
    /// More levels of one factor than have room beside each other.
    #[error("{found} levels of `{factor}` in one chart; at most {limit} can be read, so leave some out")]
    TooManyLevels {
        /// The factor.
        factor: String,
        /// How many levels it has.
        found: usize,
        /// How many are possible.
        limit: usize,
    },
    /// More panels than fit on a sheet.
    #[error("{found} panels in one chart; at most {limit} can be read, so put them on several")]
    TooManyPanels {
        /// How many were given.
        found: usize,
        /// How many are possible.
        limit: usize,
    },
    /// A cell names a level that the axis does not have.
    #[error("series `{series}` names level {level}, but the axis has {levels} levels")]
    NoSuchLevel {
        /// The series.
        series: String,
        /// The index it names.
        level: usize,
        /// How many levels there are.
        levels: usize,
    },
    /// The drawing library gave up.
    #[error("the chart could not be drawn: {reason}")]
    Draw {
        /// What it said.
        reason: String,
    },
    /// The picture could not be encoded.
    #[error("the picture could not be encoded")]
    Encode {
        /// What the encoder said.
        #[from]
        source: ::png::EncodingError,
    },
}

/// A chart: plain values, laid out when it is drawn.
pub trait Chart: Send + Sync {
    /// Lays the chart out.
    ///
    /// # Errors
    ///
    /// [`ChartError`] when there is more in it than can be told apart or read, or the picture has no size.
    fn picture(&self, fonts: &Fonts) -> Result<Picture, ChartError>;

    /// The chart as a PNG file.
    ///
    /// # Errors
    ///
    /// [`ChartError`] as for [`Self::picture`], or when it cannot be encoded.
    fn render(&self, fonts: &Fonts) -> Result<Vec<u8>, ChartError> {
        self.picture(fonts)?.png()
    }
}

/// What an axis measures.
#[derive(Debug, Clone, PartialEq)]
pub struct Measure {
    /// The metric's name, as the reader knows it.
    pub name: String,
    /// Its unit; values come in this unit.
    pub unit: Unit,
    /// Which direction is an improvement; none where nobody said.
    pub better: Option<Better>,
}

/// One trial's observation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// The value, in the measure's unit. One that is not finite is left out.
    pub value: f64,
    /// Whether something disturbed the trial: drawn hollow.
    pub tainted: bool,
}

#[cfg(test)]
mod tests;
