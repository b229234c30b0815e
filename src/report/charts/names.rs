//! The names of rows, at the left of charts that have one row per variant.
//!
//! Rows make the sheet grow up to a limit, then come closer together; only when rows would overlap does text shrink.

use super::ChartError;
use super::canvas::{Align, Canvas, Hand, LINE_HEIGHT};
use super::font::Fonts;
use super::frame::{HEIGHT, MARGIN, SMALL, TEXT};
use super::palette::{INK, MUTED, Role};
use super::text::{shorten, wrap};

/// Logical height that a sheet may grow to.
const TALLEST: f32 = 1800.0;
/// Height of a row that the sheet grows for, and the largest one.
pub(super) const ROW: f32 = 28.0;
const ROOMY: f32 = 84.0;
/// Rows beyond which text would be too small for any eye.
const ROWS: usize = 160;
/// Widest column of names.
const WIDEST: f32 = 400.0;
/// Room between the names and the plot.
const GAP: f32 = 16.0;

/// The names of all rows, from top to bottom, each with its role in the comparison.
pub(super) struct Names<'a> {
    rows: Vec<(&'a str, Role)>,
    /// Width that the column of names may have.
    widest: f32,
    /// Height that a row wants for what stands beside its name.
    least: f32,
}

/// How rows are set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Set {
    /// Height of a row.
    pub(super) pitch: f32,
    /// Size of its text.
    pub(super) text: f32,
    /// Where the plot begins.
    pub(super) left: f32,
}

impl<'a> Names<'a> {
    /// Takes the names.
    ///
    /// # Errors
    ///
    /// [`ChartError::TooManyRows`] when there are more than can be read.
    pub(super) fn of(rows: impl Iterator<Item = (&'a str, Role)>) -> Result<Self, ChartError> {
        let rows: Vec<_> = rows.collect();
        if rows.len() > ROWS {
            return Err(ChartError::TooManyRows { found: rows.len(), limit: ROWS });
        }
        Ok(Self { rows, widest: WIDEST, least: ROW })
    }

    /// The same names in a column of at most this width, in rows that want at least this height.
    pub(super) fn within(self, widest: f32, least: f32) -> Self {
        Self { widest, least, ..self }
    }

    /// Sets the rows on a sheet that needs the height `around` for everything else.
    pub(super) fn set(&self, fonts: &Fonts, around: f32) -> Set {
        let rows = self.rows.len().max(1) as f32;
        let sheet = (around + rows * self.wanted(fonts)).clamp(HEIGHT, TALLEST).ceil();
        let pitch = ((sheet - around) / rows).min(ROOMY);
        let text = self.lettering(fonts, pitch);
        Set { pitch, text, left: MARGIN + self.room(fonts, text) + GAP }
    }

    /// The height that a row wants: enough for the longest name at full size, in up to three lines.
    fn wanted(&self, fonts: &Fonts) -> f32 {
        let lines = self.rows.iter().map(|(name, role)| wrap(fonts, name, hand(*role, SMALL), self.widest, 3).len());
        self.least.max(lines.max().unwrap_or(1) as f32 * SMALL * LINE_HEIGHT + 8.0)
    }

    /// The largest size of text at which every name is whole in rows of this height; where there is none, the largest
    /// that fits the row.
    fn lettering(&self, fonts: &Fonts, pitch: f32) -> f32 {
        let whole = |size: f32| {
            let lines = lines_in(pitch, size);
            let uncut = |(name, role): &(&str, Role)| wrap(fonts, name, hand(*role, size), self.widest, lines + 1).len() <= lines;
            lines > 0 && self.rows.iter().all(uncut)
        };
        let sizes = [TEXT, 15.0, 14.0, 13.0, 12.0, 11.0, 10.0];
        sizes.into_iter().find(|size| whole(*size)).unwrap_or(14f32.min(pitch / LINE_HEIGHT))
    }

    fn room(&self, fonts: &Fonts, text: f32) -> f32 {
        let widths = self.rows.iter().map(|(name, role)| fonts.width(name, text, hand(*role, text).weight));
        widths.fold(0.0, f32::max).ceil().min(self.widest)
    }

    /// Writes the name of one row, whose middle is at the height `y`.
    pub(super) fn draw(&self, canvas: &mut Canvas, row: usize, y: f32, set: Set) -> Result<(), ChartError> {
        let (name, role) = self.rows[row];
        let hand = hand(role, set.text);
        let room = set.left - GAP - MARGIN;
        let lines = lines_in(set.pitch, hand.size).max(1);
        let mut written = wrap(canvas.fonts(), name, hand, room, lines);
        if lines == 1 || written.last().is_some_and(|line| line.ends_with('…')) {
            written = vec![shorten(canvas.fonts(), name, hand, room)];
        }
        let first = y - (written.len() as f32 - 1.0) * hand.line_height() / 2.0;
        for (at, line) in written.iter().enumerate() {
            canvas.text(line, (set.left - GAP, first + at as f32 * hand.line_height()), Align::Right, hand)?;
        }
        Ok(())
    }
}

/// Lines of this size that a row has room for, at most three.
fn lines_in(pitch: f32, size: f32) -> usize {
    ((pitch - 1.0).max(0.0) / (size * LINE_HEIGHT)).floor().min(3.0) as usize
}

/// How the name of a row looks.
pub(super) fn hand(role: Role, text: f32) -> Hand {
    match role {
        Role::Plain => Hand::new(text, INK),
        Role::Baseline => Hand::new(text, INK).bold(),
        Role::Control => Hand::new(text, MUTED),
    }
}
