//! All trials of every variant, one row each: absolute values, nothing hidden behind a mean.

use super::canvas::{Align, Canvas, Hand, Picture, Rect, Stroke, picture};
use super::font::Fonts;
use super::frame::{self, AXIS_ROOM, HEIGHT, Header, Heading, Key, MARGIN, SMALL, Sign, WIDTH};
use super::names::{Names, Set};
use super::number::{AxisUnit, significant};
use super::palette::{self, AXIS, GRID, INK, MUTED, Role, Shape};
use super::scale::{Scale, Zero};
use super::swarm;
use super::{Chart, ChartError, Measure, Point};
use plotters::style::{Color, RGBColor};

/// Room above the plot for the names of the columns.
const COLUMN_NAMES: f32 = 26.0;

/// The chart's content.
#[derive(Debug, Clone, PartialEq)]
pub struct Strip {
    /// The words above.
    pub heading: Heading,
    /// What the horizontal axis measures.
    pub measure: Measure,
    /// The variants, from top to bottom.
    pub rows: Vec<Row>,
    /// What stands for the level of a variant.
    pub form: Form,
    /// The name of the column of remarks; none for no such column.
    pub remark: Option<String>,
}

/// What stands for the level of a variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The trials, a tick at their median, a band over the interval. The axis may start above zero.
    Points,
    /// A bar from zero to the median, with the trials on it and no interval. The axis always holds zero.
    Bars,
}

/// One variant.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Its name.
    pub label: String,
    /// Its role in the comparison.
    pub role: Role,
    /// The colour that this variant has in all charts of a report; none: the first colour.
    pub hue: Option<usize>,
    /// The trials.
    pub points: Vec<Point>,
    /// Their median; none without clean trials.
    pub median: Option<f64>,
    /// The 95 % order-statistic interval of the median; none below n = 6.
    pub interval: Option<(f64, f64)>,
    /// What stands in the column of remarks, such as the ratio to the baseline; may be empty.
    pub remark: String,
}

/// Everything that is known before the first stroke.
struct Plan<'a> {
    chart: &'a Strip,
    names: Names<'a>,
    plot: Rect,
    set: Set,
    across: Scale,
    unit: AxisUnit,
    /// Right edges of the columns for median, n and remark.
    columns: [f32; 3],
}

impl Chart for Strip {
    fn picture(&self, fonts: &Fonts) -> Result<Picture, ChartError> {
        let names = Names::of(self.rows.iter().map(|row| (row.label.as_str(), row.role)))?;
        let header = Header::set(fonts, &self.heading);
        let key = Key::set(fonts, self.key());
        let zero = if self.form == Form::Bars { Zero::Required } else { Zero::Near };
        let across = Scale::of_values(self.shown(), zero);
        let unit = frame::value_unit(&self.measure, &across);
        let top = header.bottom() + COLUMN_NAMES;
        let around = top + AXIS_ROOM + (HEIGHT - key.top(HEIGHT));
        let set = names.set(fonts, around);
        let columns = self.columns(fonts, set.text);
        let right = columns[0] - self.median_room(fonts, &unit, set.text) - 22.0;
        let plot = Rect { left: set.left, top, right, bottom: top + set.pitch * self.rows.len().max(1) as f32 };
        let sheet = plot.bottom + AXIS_ROOM + (HEIGHT - key.top(HEIGHT));
        let plan = Plan { chart: self, names, plot, set, across, unit, columns };
        picture(fonts, WIDTH, sheet, |canvas| {
            header.draw(canvas)?;
            plan.draw_axis(canvas)?;
            for at in 0..self.rows.len() {
                plan.draw_row(canvas, at)?;
            }
            key.draw(canvas, sheet)
        })
    }
}

impl Strip {
    fn shown(&self) -> impl Iterator<Item = f64> {
        let interval = |row: &Row| row.interval.filter(|_| self.form == Form::Points).map(|(low, high)| [low, high]);
        self.rows.iter().flat_map(move |row| {
            let values = row.points.iter().map(|point| point.value).chain(row.median);
            values.chain(interval(row).into_iter().flatten()).collect::<Vec<_>>()
        })
    }

    fn key(&self) -> Vec<(Sign, String)> {
        let words = |sign, text: &str| (sign, text.to_owned());
        let mut entries = vec![words(Sign::Words, &frame::count_words(self.rows.iter().map(|row| row.points.len()), "variant"))];
        let all = || self.rows.iter().flat_map(|row| &row.points);
        if all().any(|point| !point.tainted) {
            let crowd = self.rows.iter().any(|row| swarm::is_crowd(row.points.len()));
            entries.push(words(Sign::Trial, if crowd { "one trial, or several that coincide" } else { "one trial" }));
        }
        if all().any(|point| point.tainted) {
            entries.push(words(Sign::Tainted, "tainted trial"));
        }
        if self.form == Form::Bars {
            entries.push(words(Sign::Bar, "median"));
            return entries;
        }
        if self.rows.iter().any(|row| row.median.is_some()) {
            entries.push(words(Sign::MedianTick, "median"));
        }
        if self.rows.iter().any(|row| row.interval.is_some()) {
            entries.push(words(Sign::BandAlong, "95 % order-statistic interval of the median"));
        }
        entries
    }

    fn median_room(&self, fonts: &Fonts, unit: &AxisUnit, text: f32) -> f32 {
        let hand = Hand::new(text, INK);
        let widths = self.rows.iter().map(|row| fonts.width(&median_text(row, unit), text, hand.weight));
        widths.fold(fonts.width(&median_name(unit), SMALL, hand.weight), f32::max)
    }

    /// The right edges of the columns, from the sheet's edge inwards.
    fn columns(&self, fonts: &Fonts, text: f32) -> [f32; 3] {
        let hand = Hand::new(text, INK);
        let widest = |name: &str, texts: &mut dyn Iterator<Item = String>| {
            texts.map(|word| fonts.width(&word, text, hand.weight)).fold(fonts.width(name, SMALL, hand.weight), f32::max)
        };
        let last = WIDTH - MARGIN;
        let count = match &self.remark {
            None => last,
            Some(name) => last - widest(name, &mut self.rows.iter().map(|row| row.remark.clone())) - 22.0,
        };
        let median = count - widest("n", &mut self.rows.iter().map(|row| row.points.len().to_string())) - 22.0;
        [median, count, last]
    }
}

fn median_text(row: &Row, unit: &AxisUnit) -> String {
    row.median.filter(|median| median.is_finite()).map_or_else(|| "–".to_owned(), |median| significant(median / unit.factor, 3))
}

fn median_name(unit: &AxisUnit) -> String {
    if unit.text.is_empty() { "median".to_owned() } else { format!("median ({})", unit.text) }
}

impl Plan<'_> {
    fn x(&self, value: f64) -> f32 {
        self.plot.left + self.across.share(value) * self.plot.width()
    }

    fn draw_axis(&self, canvas: &mut Canvas) -> Result<(), ChartError> {
        let ticks = frame::value_ticks(&self.across, &self.unit, (self.plot.width() / 95.0) as usize);
        for at in 0..self.chart.rows.len() {
            let y = self.plot.top + (at as f32 + 0.5) * self.set.pitch;
            canvas.path(&[(self.plot.left, y), (self.plot.right, y)], Stroke::new(GRID, 1.0))?;
        }
        let title = frame::value_title(&self.chart.measure, &self.unit, &self.across);
        frame::draw_bottom_axis(canvas, self.plot, &self.across, &ticks, &title)?;
        let hand = Hand::new(SMALL, MUTED);
        let y = self.plot.top - COLUMN_NAMES / 2.0;
        let median = median_name(&self.unit);
        let names = [Some(median.as_str()), Some("n"), self.chart.remark.as_deref()];
        for (name, x) in names.into_iter().zip(self.columns) {
            if let Some(name) = name {
                canvas.text(name, (x, y), Align::Right, hand)?;
            }
        }
        Ok(())
    }

    fn draw_row(&self, canvas: &mut Canvas, at: usize) -> Result<(), ChartError> {
        let row = &self.chart.rows[at];
        let y = self.plot.top + (at as f32 + 0.5) * self.set.pitch;
        let color = palette::color(row.role, row.hue.unwrap_or(0));
        self.names.draw(canvas, at, y, self.set)?;
        match self.chart.form {
            Form::Points => self.draw_interval(canvas, row, y, color)?,
            Form::Bars => self.draw_bar(canvas, row, y, color)?,
        }
        self.draw_points(canvas, row, y, color)?;
        if let Some(median) = row.median.filter(|median| median.is_finite() && self.chart.form == Form::Points) {
            let half = (self.set.pitch * 0.36).min(18.0);
            canvas.path(&[(self.x(median), y - half), (self.x(median), y + half)], Stroke::new(INK, 3.0))?;
        }
        let hand = Hand::new(self.set.text, if row.role == Role::Control { MUTED } else { INK });
        let texts = [median_text(row, &self.unit), row.points.len().to_string(), row.remark.clone()];
        let shown = if self.chart.remark.is_some() { 3 } else { 2 };
        for (text, x) in texts.into_iter().zip(self.columns).take(shown).filter(|(text, _)| !text.is_empty()) {
            canvas.text(&text, (x, y), Align::Right, hand)?;
        }
        Ok(())
    }

    fn draw_interval(&self, canvas: &mut Canvas, row: &Row, y: f32, color: RGBColor) -> Result<(), ChartError> {
        let Some((low, high)) = row.interval else { return Ok(()) };
        let half = (self.set.pitch * 0.3).min(15.0);
        let (left, right) = (self.x(low), self.x(high));
        canvas.block(Rect { left, top: y - half, right: right.max(left + 1.0), bottom: y + half }, color.mix(0.2))
    }

    fn draw_bar(&self, canvas: &mut Canvas, row: &Row, y: f32, color: RGBColor) -> Result<(), ChartError> {
        let Some(median) = row.median.filter(|median| median.is_finite()) else { return Ok(()) };
        let half = (self.set.pitch * 0.34).min(20.0);
        let (from, to) = (self.x(0.0), self.x(median));
        canvas.block(Rect { left: from.min(to), top: y - half, right: from.max(to), bottom: y + half }, color.mix(0.35))?;
        canvas.path(&[(from, y - half - 2.0), (from, y + half + 2.0)], Stroke::new(AXIS, 1.0))
    }

    fn draw_points(&self, canvas: &mut Canvas, row: &Row, y: f32, color: RGBColor) -> Result<(), ChartError> {
        let size = (self.set.pitch * 0.17).clamp(2.0, 4.6);
        let points: Vec<&Point> = row.points.iter().filter(|point| point.value.is_finite()).collect();
        let places: Vec<f32> = points.iter().map(|point| self.x(point.value)).collect();
        let reach = (self.set.pitch * 0.46 - size).clamp(0.0, 20.0);
        let offsets = swarm::offsets(&places, size * 2.1, reach);
        let looks: Vec<bool> = points.iter().map(|point| point.tainted).collect();
        let drawn = swarm::drawn(&places, &offsets, &looks, size);
        for (((x, offset), tainted), _) in places.iter().zip(offsets).zip(looks).zip(drawn).filter(|(_, drawn)| *drawn) {
            canvas.mark(Shape::Circle, (*x, y + offset), size, color, tainted)?;
        }
        Ok(())
    }
}
