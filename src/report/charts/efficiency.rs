//! The panel below a line chart that has an ideal: which share of perfect scaling each line reaches.

use super::ChartError;
use super::canvas::{Align, Canvas, Hand, Rect, Spot, Stroke};
use super::frame::{self, MARGIN, TEXT};
use super::number::AxisUnit;
use super::palette::{self, AXIS, INK, MUTED};
use super::scale::{Scale, Zero};
use plotters::style::RGBColor;

/// Height of the panel, and of the gap above it in which its title stands.
const HEIGHT: f32 = 116.0;
const GAP: f32 = 44.0;
/// What a sheet grows by to have one.
pub(super) const ROOM: f32 = HEIGHT + GAP;

/// What the panel shows.
pub(super) struct Panel {
    up: Scale,
    /// The marks of its vertical axis.
    pub(super) ticks: Vec<(f64, String)>,
    /// Per line: level and share, by level.
    lines: Vec<Vec<(f64, f64)>>,
}

impl Panel {
    /// The panel of these lines.
    pub(super) fn of(lines: Vec<Vec<(f64, f64)>>) -> Self {
        let up = Scale::of_values(lines.iter().flatten().map(|(_, share)| *share).chain([1.0]), Zero::Required);
        Self { ticks: frame::value_ticks(&up, &AxisUnit::plain("1"), 3), up, lines }
    }

    /// Where it stands below a plot.
    pub(super) fn below(plot: Rect) -> Rect {
        Rect { top: plot.bottom + GAP, bottom: plot.bottom + ROOM, ..plot }
    }

    /// Draws it over the same horizontal axis as the plot above, each line in its colour.
    pub(super) fn draw(&self, canvas: &mut Canvas, plot: Rect, across: &Scale, colors: &[RGBColor]) -> Result<(), ChartError> {
        let rect = Self::below(plot);
        canvas.text("efficiency, the share of ideal scaling", (MARGIN, rect.top - 22.0), Align::Left, Hand::new(TEXT, INK))?;
        frame::draw_left_axis(canvas, rect, &self.up, &self.ticks)?;
        let spot = |(level, share): &(f64, f64)| -> Spot {
            (rect.left + across.share(*level) * rect.width(), rect.bottom - self.up.share(*share) * rect.height())
        };
        let ideal = spot(&(0.0, 1.0)).1;
        canvas.dashes(&[(rect.left, ideal), (rect.right, ideal)], 7.0, 5.0, Stroke::new(MUTED, 1.5))?;
        for (place, line) in self.lines.iter().enumerate().rev() {
            let color = colors.get(place).copied().unwrap_or(AXIS);
            let spots: Vec<Spot> = line.iter().map(spot).collect();
            canvas.path(&spots, Stroke::new(color, 2.0))?;
            for spot in spots {
                canvas.mark(palette::shape(place), spot, 4.0, color, false)?;
            }
        }
        Ok(())
    }
}
