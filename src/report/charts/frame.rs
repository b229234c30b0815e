//! What every kind of chart shares: the sheet's measures, heading, key, and axes over measured values.

use super::canvas::{Align, Canvas, Hand, Rect, Stroke};
use super::font::Fonts;
use super::number::{self, AxisUnit};
use super::palette::{self, AXIS, GRID, INK, Look, MUTED, PAPER, Paint, Shape};
use super::scale::Scale;
use super::text::wrap;
use super::{ChartError, Measure};
use crate::model::metric::Better;
use plotters::style::{Color, RGBAColor, RGBColor};

/// Logical size of a sheet, unless rows ask for more height.
pub(super) const WIDTH: f32 = 1200.0;
pub(super) const HEIGHT: f32 = 675.0;
/// Blank rim of the sheet.
pub(super) const MARGIN: f32 = 36.0;
/// Room below a plot for ticks and the axis title.
pub(super) const AXIS_ROOM: f32 = 66.0;
/// Sizes of text.
pub(super) const TITLE: f32 = 26.0;
pub(super) const TEXT: f32 = 16.0;
pub(super) const SMALL: f32 = 15.0;

/// The words above a chart.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Heading {
    /// What the chart says; wrapped to three lines at most.
    pub title: String,
    /// Where the numbers come from: blocks, machine, date, seed, clean runs; wrapped to three lines at most.
    pub subtitle: String,
}

/// A heading, set.
pub(super) struct Header {
    title: Vec<String>,
    subtitle: Vec<String>,
}

impl Header {
    pub(super) fn set(fonts: &Fonts, heading: &Heading) -> Self {
        let width = WIDTH - 2.0 * MARGIN;
        let title = wrap(fonts, &heading.title, Hand::new(TITLE, INK).bold(), width, 3);
        let subtitle = wrap(fonts, &heading.subtitle, Hand::new(SMALL, MUTED), width, 3);
        Self { title, subtitle }
    }

    /// Where the room below the heading begins.
    pub(super) fn bottom(&self) -> f32 {
        let (title, subtitle) = (Hand::new(TITLE, INK), Hand::new(SMALL, MUTED));
        MARGIN - 8.0 + self.title.len() as f32 * title.line_height() + self.subtitle.len() as f32 * subtitle.line_height() + 22.0
    }

    pub(super) fn draw(&self, canvas: &mut Canvas) -> Result<(), ChartError> {
        let mut top = MARGIN - 8.0;
        for (lines, hand, gap) in [(&self.title, Hand::new(TITLE, INK).bold(), 4.0), (&self.subtitle, Hand::new(SMALL, MUTED), 0.0)] {
            for line in lines {
                canvas.text(line, (MARGIN, top + hand.line_height() / 2.0), Align::Left, hand)?;
                top += hand.line_height();
            }
            top += gap;
        }
        Ok(())
    }
}

/// A sign of the key.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Sign {
    /// Words alone.
    Words,
    Trial,
    Tainted,
    MedianAcross,
    MedianTick,
    BandAcross,
    BandAlong,
    Dashed,
    /// A thin line.
    Thin,
    Bar,
    /// A point of its own look.
    Point(Look),
    /// The interval of an effect.
    Interval,
    /// The band of effects too small to matter.
    Small,
    /// The band of what counts as equivalent.
    Margin,
    /// A cell of which nothing is decided, and that of the baseline.
    Hatched,
    Edged,
    /// A part of a bar.
    Part(Paint),
}

/// The line below a chart that says what its signs mean.
pub(super) struct Key {
    rows: Vec<Vec<(Sign, String)>>,
}

const SIGN: f32 = 24.0;
const BETWEEN: f32 = 26.0;

fn entry_width(fonts: &Fonts, sign: Sign, words: &str) -> f32 {
    let hand = Hand::new(SMALL, MUTED);
    fonts.width(words, hand.size, hand.weight) + if sign == Sign::Words { 0.0 } else { SIGN }
}

impl Key {
    /// Sets the entries in as many rows as they need.
    pub(super) fn set(fonts: &Fonts, entries: Vec<(Sign, String)>) -> Self {
        let mut rows: Vec<Vec<(Sign, String)>> = vec![Vec::new()];
        let mut used = 0.0;
        for (sign, words) in entries {
            let width = entry_width(fonts, sign, &words);
            if used > 0.0 && used + width > WIDTH - 2.0 * MARGIN {
                rows.push(Vec::new());
                used = 0.0;
            }
            used += width + BETWEEN;
            rows.last_mut().expect("there is a row").push((sign, words));
        }
        Self { rows }
    }

    /// Where the key begins on a sheet of this height.
    pub(super) fn top(&self, sheet: f32) -> f32 {
        sheet - MARGIN + 10.0 - self.rows.len() as f32 * Hand::new(SMALL, MUTED).line_height()
    }

    pub(super) fn draw(&self, canvas: &mut Canvas, sheet: f32) -> Result<(), ChartError> {
        let hand = Hand::new(SMALL, MUTED);
        let mut middle = self.top(sheet) + hand.line_height() / 2.0;
        for row in &self.rows {
            let mut left = MARGIN;
            for (sign, words) in row {
                draw_sign(canvas, *sign, left + SIGN / 2.0 - 5.0, middle)?;
                let indent = if *sign == Sign::Words { 0.0 } else { SIGN };
                canvas.text(words, (left + indent, middle), Align::Left, hand)?;
                left += entry_width(canvas.fonts(), *sign, words) + BETWEEN;
            }
            middle += hand.line_height();
        }
        Ok(())
    }
}

fn draw_sign(canvas: &mut Canvas, sign: Sign, x: f32, y: f32) -> Result<(), ChartError> {
    let around = |wide: f32, high: f32| Rect { left: x - wide, top: y - high, right: x + wide, bottom: y + high };
    match sign {
        Sign::Words => Ok(()),
        Sign::Trial => canvas.mark(Shape::Circle, (x, y), 4.5, MUTED, false),
        Sign::Tainted => canvas.mark(Shape::Circle, (x, y), 5.0, MUTED, true),
        Sign::MedianAcross => canvas.path(&[(x - 9.0, y), (x + 9.0, y)], Stroke::new(MUTED, 3.0)),
        Sign::MedianTick => canvas.path(&[(x, y - 8.0), (x, y + 8.0)], Stroke::new(INK, 3.0)),
        Sign::BandAcross => canvas.block(around(9.0, 6.0), MUTED.mix(0.35)),
        Sign::BandAlong => canvas.block(around(9.0, 5.0), MUTED.mix(0.35)),
        Sign::Dashed => canvas.dashes(&[(x - 10.0, y), (x + 10.0, y)], 5.0, 3.0, Stroke::new(MUTED, 1.5)),
        Sign::Point(look) => canvas.mark(look.shape, (x, y), look.radius, look.color, look.hollow),
        Sign::Interval => canvas.path(&[(x - 10.0, y), (x + 10.0, y)], Stroke::new(MUTED, 2.5)),
        Sign::Small => canvas.block(around(9.0, 6.5), SMALL_BAND),
        Sign::Margin => draw_margin(canvas, around(9.0, 6.5)),
        Sign::Hatched => canvas.hatch(around(9.0, 6.5), HATCH, hatching(PAPER)),
        Sign::Edged => canvas.edge(around(8.0, 6.0), Stroke::new(INK, 2.5)),
        Sign::Thin => canvas.path(&[(x - 10.0, y), (x + 10.0, y)], Stroke::new(MUTED, 1.0)),
        Sign::Bar => canvas.block(around(9.0, 5.0), MUTED.mix(0.45)),
        Sign::Part(paint) => canvas.tile(around(9.0, 6.5), palette::coat(paint)),
    }
}

/// The colours of the band of effects too small to matter, and of that of what counts as equivalent.
pub(super) const SMALL_BAND: RGBAColor = RGBAColor(MUTED.0, MUTED.1, MUTED.2, 0.2);
const MARGIN_BAND: RGBAColor = RGBAColor(MUTED.0, MUTED.1, MUTED.2, 0.07);

/// How far apart the lines over undecided cells are.
pub(super) const HATCH: f32 = 7.0;

/// The lines over undecided cells of a colour: seen on light and on dark ones.
pub(super) fn hatching(below: RGBColor) -> Stroke {
    let color = if palette::ink_on(below) == PAPER { PAPER } else { MUTED };
    Stroke { color: color.mix(0.55), width: 1.0 }
}

/// The band of what counts as equivalent: light, with dashed sides.
pub(super) fn draw_margin(canvas: &mut Canvas, room: Rect) -> Result<(), ChartError> {
    canvas.block(room, MARGIN_BAND)?;
    for x in [room.left, room.right] {
        canvas.dashes(&[(x, room.top), (x, room.bottom)], 4.0, 3.0, Stroke::new(AXIS, 1.0))?;
    }
    Ok(())
}

/// The title of an axis over measured values: name, unit, kind of axis, direction.
pub(super) fn value_title(measure: &Measure, unit: &AxisUnit, scale: &Scale) -> String {
    let mut title = measure.name.clone();
    if !unit.text.is_empty() {
        title.push_str(&format!(" ({})", unit.text));
    }
    if scale.log {
        title.push_str(", logarithmic axis");
    }
    title.push_str(direction(measure.better));
    title
}

/// Which direction is an improvement, as the end of a title; nothing where nobody said.
pub(super) fn direction(better: Option<Better>) -> &'static str {
    match better {
        Some(Better::Higher) => ", higher is better ↑",
        Some(Better::Lower) => ", lower is better ↓",
        None => "",
    }
}

/// The unit in which an axis over these values counts.
pub(super) fn value_unit(measure: &Measure, scale: &Scale) -> AxisUnit {
    if scale.is_decadic() { AxisUnit::plain(measure.unit.symbol()) } else { AxisUnit::choose(measure.unit.symbol(), scale.largest()) }
}

/// The marks of an axis over measured values, with their texts.
pub(super) fn value_ticks(scale: &Scale, unit: &AxisUnit, wanted: usize) -> Vec<(f64, String)> {
    let (marks, step) = scale.ticks(wanted, unit.factor);
    let text = |mark: f64| if step == 0.0 { number::log_tick(mark / unit.factor) } else { number::tick(mark / unit.factor, step) };
    marks.into_iter().map(|mark| (mark, text(mark))).collect()
}

/// Grid lines and texts of a vertical value axis at the left of `plot`.
pub(super) fn draw_left_axis(canvas: &mut Canvas, plot: Rect, scale: &Scale, ticks: &[(f64, String)]) -> Result<(), ChartError> {
    for (mark, text) in ticks {
        let y = plot.bottom - scale.share(*mark) * plot.height();
        canvas.path(&[(plot.left, y), (plot.right, y)], Stroke::new(GRID, 1.0))?;
        canvas.text(text, (plot.left - 10.0, y), Align::Right, Hand::new(TEXT, MUTED))?;
    }
    Ok(())
}

/// Grid lines and texts of a horizontal value axis at the bottom of `plot`, and its title below.
pub(super) fn draw_bottom_axis(
    canvas: &mut Canvas,
    plot: Rect,
    scale: &Scale,
    ticks: &[(f64, String)],
    title: &str,
) -> Result<(), ChartError> {
    let hand = Hand::new(TEXT, MUTED);
    let mut free = f32::NEG_INFINITY;
    for (mark, text) in ticks {
        let x = plot.left + scale.share(*mark) * plot.width();
        canvas.path(&[(x, plot.top), (x, plot.bottom)], Stroke::new(GRID, 1.0))?;
        canvas.path(&[(x, plot.bottom), (x, plot.bottom + 6.0)], Stroke::new(AXIS, 1.0))?;
        let half = canvas.measure(text, hand) / 2.0;
        if x - half > free {
            canvas.text(text, (x, plot.bottom + 18.0), Align::Center, hand)?;
            free = x + half + 12.0;
        }
    }
    canvas.path(&[(plot.left, plot.bottom), (plot.right, plot.bottom)], Stroke::new(AXIS, 1.0))?;
    let titles = wrap(canvas.fonts(), title, Hand::new(TEXT, INK), plot.width(), 1);
    for line in titles {
        canvas.text(&line, ((plot.left + plot.right) / 2.0, plot.bottom + 44.0), Align::Center, Hand::new(TEXT, INK))?;
    }
    Ok(())
}

/// The title of a horizontal axis that may be longer than its plot is wide, as far as the sheet has room.
pub(super) fn draw_wide_title(canvas: &mut Canvas, plot: Rect, title: &str) -> Result<(), ChartError> {
    let hand = Hand::new(TEXT, INK);
    for line in wrap(canvas.fonts(), title, hand, WIDTH - 2.0 * MARGIN, 1) {
        let half = canvas.measure(&line, hand) / 2.0;
        let middle = ((plot.left + plot.right) / 2.0).min(WIDTH - MARGIN - half).max(MARGIN + half);
        canvas.text(&line, (middle, plot.bottom + 44.0), Align::Center, hand)?;
    }
    Ok(())
}

/// "n = 5 trials per level", "n = 3 to 5 ...", or that there are none.
pub(super) fn count_words(counts: impl Iterator<Item = usize>, per: &str) -> String {
    let found = counts.filter(|n| *n > 0).fold(None, |found: Option<(usize, usize)>, n| match found {
        None => Some((n, n)),
        Some((low, high)) => Some((low.min(n), high.max(n))),
    });
    match found {
        None => "no trials".to_owned(),
        Some((1, 1)) => format!("n = 1 trial per {per}"),
        Some((low, high)) if low == high => format!("n = {low} trials per {per}"),
        Some((low, high)) => format!("n = {low} to {high} trials per {per}"),
    }
}
