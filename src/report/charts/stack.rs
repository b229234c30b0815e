//! Where an amount goes: one bar per variant from zero, one segment per part.

use super::canvas::{Align, Canvas, Hand, Picture, Rect, Stroke, picture};
use super::font::Fonts;
use super::frame::{self, AXIS_ROOM, HEIGHT, Header, Heading, Key, MARGIN, SMALL, Sign, WIDTH};
use super::names::{self, Names, Set};
use super::number::{AxisUnit, significant};
use super::palette::{self, AXIS, MUTED, PAPER, Paint, Role};
use super::scale::{Scale, Zero};
use super::{Chart, ChartError, Measure};
use plotters::style::Color;

/// Room above the plot for the name of the column.
const COLUMN_NAMES: f32 = 26.0;
/// Size of text in bars, and the least room beside it.
const INSIDE: f32 = 14.0;
const BESIDE: f32 = 5.0;

/// The chart's content.
#[derive(Debug, Clone, PartialEq)]
pub struct Stack {
    /// The words above.
    pub heading: Heading,
    /// What the horizontal axis measures.
    pub measure: Measure,
    /// The parts of every bar, from zero outwards.
    pub parts: Vec<Layer>,
    /// The variants, from top to bottom.
    pub bars: Vec<Bar>,
}

/// One part, the same in all bars.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layer {
    /// Its name.
    pub label: String,
    /// Whose it is.
    pub paint: Paint,
}

/// One variant.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// Its name.
    pub label: String,
    /// Its role in the comparison.
    pub role: Role,
    /// How many trials stand behind it.
    pub trials: usize,
    /// One amount per part, in the measure's unit. One that is absent, not finite or not above zero has no segment.
    pub amounts: Vec<Option<f64>>,
}

impl Bar {
    /// Where segments begin and end, by part: each begins where the one before it ended.
    fn segments(&self) -> Vec<(usize, f64, f64)> {
        let mut end = 0.0;
        let amounts = self.amounts.iter().enumerate();
        let shown = amounts.filter_map(|(part, amount)| Some((part, amount.filter(|amount| amount.is_finite() && *amount > 0.0)?)));
        let segment = |(part, amount): (usize, f64)| {
            let from = end;
            end += amount;
            (part, from, end)
        };
        shown.map(segment).filter(|(_, _, to)| to.is_finite()).collect()
    }

    /// The length of the bar; none when nothing of it is known.
    fn sum(&self) -> Option<f64> {
        let known = self.amounts.iter().flatten().any(|amount| amount.is_finite());
        known.then(|| self.segments().last().map_or(0.0, |(_, _, to)| *to))
    }

    fn sum_text(&self, unit: &AxisUnit) -> String {
        self.sum().map_or_else(|| "–".to_owned(), |sum| significant(sum / unit.factor, 3))
    }
}

fn sum_name(unit: &AxisUnit) -> String {
    if unit.text.is_empty() { "sum".to_owned() } else { format!("sum ({})", unit.text) }
}

/// Everything that is known before the first stroke.
struct Plan<'a> {
    chart: &'a Stack,
    names: Names<'a>,
    plot: Rect,
    set: Set,
    across: Scale,
    unit: AxisUnit,
}

impl Chart for Stack {
    fn picture(&self, fonts: &Fonts) -> Result<Picture, ChartError> {
        let names = Names::of(self.bars.iter().map(|bar| (bar.label.as_str(), bar.role)))?;
        let header = Header::set(fonts, &self.heading);
        let key = Key::set(fonts, self.key());
        let across = Scale::of_values(self.bars.iter().filter_map(Bar::sum), Zero::Required);
        let unit = frame::value_unit(&self.measure, &across);
        let top = header.bottom() + COLUMN_NAMES;
        let around = top + AXIS_ROOM + (HEIGHT - key.top(HEIGHT));
        let set = names.set(fonts, around);
        let right = WIDTH - MARGIN - self.sum_room(fonts, &unit, set.text) - 22.0;
        let plot = Rect { left: set.left, top, right, bottom: top + set.pitch * self.bars.len().max(1) as f32 };
        let sheet = plot.bottom + AXIS_ROOM + (HEIGHT - key.top(HEIGHT));
        let plan = Plan { chart: self, names, plot, set, across, unit };
        picture(fonts, WIDTH, sheet, |canvas| {
            header.draw(canvas)?;
            plan.draw_axis(canvas)?;
            for at in 0..self.bars.len() {
                plan.draw_bar(canvas, at)?;
            }
            canvas.path(&[(plot.left, plot.top), (plot.left, plot.bottom)], Stroke::new(AXIS, 1.0))?;
            key.draw(canvas, sheet)
        })
    }
}

impl Stack {
    fn key(&self) -> Vec<(Sign, String)> {
        let parts = self.parts.iter().map(|part| (Sign::Part(part.paint), part.label.clone()));
        let trials = frame::count_words(self.bars.iter().map(|bar| bar.trials), "variant");
        parts.chain([(Sign::Words, format!("each part is a median, {trials}"))]).collect()
    }

    fn sum_room(&self, fonts: &Fonts, unit: &AxisUnit, text: f32) -> f32 {
        let hand = names::hand(Role::Plain, text);
        let widths = self.bars.iter().map(|bar| fonts.width(&bar.sum_text(unit), text, hand.weight));
        widths.fold(fonts.width(&sum_name(unit), SMALL, hand.weight), f32::max)
    }
}

impl Plan<'_> {
    fn x(&self, value: f64) -> f32 {
        self.plot.left + self.across.share(value) * self.plot.width()
    }

    fn draw_axis(&self, canvas: &mut Canvas) -> Result<(), ChartError> {
        let ticks = frame::value_ticks(&self.across, &self.unit, (self.plot.width() / 95.0) as usize);
        let title = frame::value_title(&self.chart.measure, &self.unit, &self.across);
        frame::draw_bottom_axis(canvas, self.plot, &self.across, &ticks, &title)?;
        let y = self.plot.top - COLUMN_NAMES / 2.0;
        canvas.text(&sum_name(&self.unit), (WIDTH - MARGIN, y), Align::Right, Hand::new(SMALL, MUTED))
    }

    fn draw_bar(&self, canvas: &mut Canvas, at: usize) -> Result<(), ChartError> {
        let bar = &self.chart.bars[at];
        let y = self.plot.top + (at as f32 + 0.5) * self.set.pitch;
        self.names.draw(canvas, at, y, self.set)?;
        let half = (self.set.pitch * 0.38).min(20.0);
        for (part, from, to) in bar.segments() {
            let Some(layer) = self.chart.parts.get(part) else { continue };
            let room = Rect { left: self.x(from), top: y - half, right: self.x(to), bottom: y + half };
            self.draw_segment(canvas, room, layer, (to - from) / self.unit.factor)?;
        }
        canvas.text(&bar.sum_text(&self.unit), (WIDTH - MARGIN, y), Align::Right, names::hand(bar.role, self.set.text))
    }

    /// One segment, with its name and amount where they fit; a thin line of paper keeps it from the next one.
    fn draw_segment(&self, canvas: &mut Canvas, room: Rect, layer: &Layer, amount: f64) -> Result<(), ChartError> {
        let coat = palette::coat(layer.paint);
        canvas.tile(Rect { right: room.right.max(room.left + 0.5), ..room }, coat)?;
        if room.width() > 3.0 {
            canvas.path(&[(room.right, room.top), (room.right, room.bottom)], Stroke::new(PAPER, 1.0))?;
        }
        let hand = Hand::new(INSIDE, palette::ink_on(coat.color));
        if room.height() < hand.line_height() {
            return Ok(());
        }
        let number = significant(amount, 3);
        let fits = |text: &String| canvas.measure(text, hand) + 2.0 * BESIDE <= room.width();
        let Some(text) = [format!("{} {number}", layer.label), number.clone()].into_iter().find(fits) else { return Ok(()) };
        let (middle, half) = ((room.left + room.right) / 2.0, canvas.measure(&text, hand) / 2.0 + 3.0);
        if coat.hatch > 0 {
            canvas.block(Rect { left: middle - half, right: middle + half, ..room }, coat.color.to_rgba())?;
        }
        canvas.text(&text, (middle, (room.top + room.bottom) / 2.0), Align::Center, hand)
    }
}
