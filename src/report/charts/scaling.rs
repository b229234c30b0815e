//! A metric over one numeric factor on its true axis: every trial a point, a line through the medians.

use super::canvas::{Align, Canvas, Hand, Picture, Rect, Spot, Stroke, picture};
use super::efficiency::{self, Panel};
use super::font::Fonts;
use super::frame::{self, HEIGHT, Header, Heading, Key, MARGIN, SMALL, Sign, TEXT, WIDTH};
use super::ideal::Ideal;
use super::palette::{self, AXIS, GRID, INK, MUTED, Role};
use super::scale::{Scale, Zero};
use super::swarm;
use super::text::{keep_apart, wrap};
use super::{Chart, ChartError, Measure, Point};
use plotters::style::{Color, RGBColor};

/// Lines that can still be told apart.
pub(super) const SERIES: usize = 8;

/// The chart's content.
#[derive(Debug, Clone, PartialEq)]
pub struct Scaling {
    /// The words above.
    pub heading: Heading,
    /// What the vertical axis measures.
    pub measure: Measure,
    /// The factor's name, with its unit where it has one: the title of the horizontal axis.
    pub factor: String,
    /// The factor's levels. Their places follow their values, not their order.
    pub levels: Vec<LevelMark>,
    /// One line per combination of the other factors, at most eight.
    pub series: Vec<Series>,
    /// The dashed line of perfect scaling, through the anchor of the baseline series (else of the first series).
    pub ideal: Option<Ideal>,
    /// Index of the level that perfect scaling is reckoned from; none: the lowest level.
    pub anchor: Option<usize>,
}

/// One level of the factor.
#[derive(Debug, Clone, PartialEq)]
pub struct LevelMark {
    /// As written in the manifest.
    pub text: String,
    /// As a number.
    pub value: f64,
    /// What stands below it, such as the ratio to the baseline; may be empty.
    pub remark: String,
}

/// One line.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Its name, at the end of the line; empty where there is nothing to tell apart.
    pub label: String,
    /// Its role in the comparison.
    pub role: Role,
    /// The colour that this thing has in all charts of a report; none: by its place among the plain series.
    pub hue: Option<usize>,
    /// What was measured, per level; a level without trials has no cell.
    pub cells: Vec<Cell>,
}

/// What was measured at one level.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// Index into the levels.
    pub level: usize,
    /// The trials.
    pub points: Vec<Point>,
    /// Their median; none without clean trials.
    pub median: Option<f64>,
    /// The 95 % order-statistic interval of the median; none below n = 6.
    pub interval: Option<(f64, f64)>,
}

/// Refuses more series than can be told apart, and cells of levels that an axis of so many does not have.
pub(super) fn check(series: &[Series], levels: usize) -> Result<(), ChartError> {
    if series.len() > SERIES {
        return Err(ChartError::TooManySeries { found: series.len(), limit: SERIES });
    }
    for one in series {
        if let Some(cell) = one.cells.iter().find(|cell| cell.level >= levels) {
            return Err(ChartError::NoSuchLevel { series: one.label.clone(), level: cell.level, levels });
        }
    }
    Ok(())
}

/// The colour of one of several series.
pub(super) fn color(all: &[Series], place: usize) -> RGBColor {
    let series = &all[place];
    let plain = all[..place].iter().filter(|other| other.role == Role::Plain).count();
    palette::color(series.role, series.hue.unwrap_or(plain))
}

/// Everything that is known before the first stroke.
struct Plan<'a> {
    chart: &'a Scaling,
    plot: Rect,
    across: Scale,
    up: Scale,
    ideal: Vec<(f64, f64)>,
    panel: Option<Panel>,
}

impl Chart for Scaling {
    fn picture(&self, fonts: &Fonts) -> Result<Picture, ChartError> {
        check(&self.series, self.levels.len())?;
        let header = Header::set(fonts, &self.heading);
        let across = Scale::of_levels(self.levels.iter().map(|level| level.value));
        let ideal = self.ideal_line(&across);
        let key = Key::set(fonts, self.key(!ideal.is_empty()));
        let largest = self.shown().filter(|value| value.is_finite()).fold(0.0, f64::max);
        let up = Scale::of_values(self.shown().chain(self.ideal_ends(&ideal, largest)), Zero::Near);
        let unit = frame::value_unit(&self.measure, &up);
        let title = frame::value_title(&self.measure, &unit, &up);
        let hand = Hand::new(TEXT, INK);
        let titles = wrap(fonts, &title, hand, WIDTH - 2.0 * MARGIN, 2);
        let top = header.bottom() + titles.len() as f32 * hand.line_height() + 16.0;
        let shares = self.efficiency();
        let panel = (!shares.is_empty()).then(|| Panel::of(shares));
        let room = if panel.is_some() { efficiency::ROOM } else { 0.0 };
        let sheet = HEIGHT + room;
        let second = self.has_remarks() || self.staggered(fonts, &across);
        let bottom = key.top(sheet) - room - 68.0 - 20.0 * f32::from(u8::from(second));
        let ticks = frame::value_ticks(&up, &unit, ((bottom - top) / 62.0) as usize);
        let all_ticks = ticks.iter().chain(panel.iter().flat_map(|panel| &panel.ticks));
        let widest = all_ticks.map(|(_, text)| fonts.width(text, TEXT, hand.weight)).fold(0.0, f32::max);
        let mut labels: Vec<Vec<String>> = self.series.iter().map(|series| wrap(fonts, &series.label, hand, 250.0, 2)).collect();
        let whole = ideal.last().is_some_and(|(_, value)| up.holds(*value));
        labels.push(if whole { vec!["ideal".to_owned()] } else { Vec::new() });
        let room = labels.iter().flatten().map(|line| fonts.width(line, TEXT, hand.weight)).fold(0.0, f32::max);
        let right = WIDTH - MARGIN - if room > 0.0 { room + 12.0 } else { 0.0 };
        let plot = Rect { left: MARGIN + widest + 12.0, top, right, bottom };
        let plan = Plan { chart: self, plot, across, up, ideal, panel };
        picture(fonts, WIDTH, sheet, |canvas| {
            header.draw(canvas)?;
            for (at, line) in titles.iter().enumerate() {
                canvas.text(line, (MARGIN, header.bottom() + (at as f32 + 0.5) * hand.line_height()), Align::Left, hand)?;
            }
            frame::draw_left_axis(canvas, plot, &up, &ticks)?;
            plan.draw_levels(canvas)?;
            plan.draw_ideal(canvas)?;
            for place in (0..self.series.len()).rev() {
                plan.draw_line(canvas, place)?;
            }
            for level in 0..self.levels.len() {
                plan.draw_level(canvas, level)?;
            }
            plan.draw_labels(canvas, &labels)?;
            if let Some(panel) = &plan.panel {
                let colors: Vec<RGBColor> = (0..self.series.len()).map(|place| plan.color(place)).collect();
                panel.draw(canvas, plot, &across, &colors)?;
            }
            key.draw(canvas, sheet)
        })
    }
}

impl Scaling {
    fn cells(&self) -> impl Iterator<Item = &Cell> {
        self.series.iter().flat_map(|series| &series.cells)
    }

    fn shown(&self) -> impl Iterator<Item = f64> {
        let ends = |cell: &Cell| cell.interval.map(|(low, high)| [low, high]);
        self.cells().flat_map(move |cell| {
            let values = cell.points.iter().map(|point| point.value);
            values.chain(cell.median).chain(ends(cell).into_iter().flatten()).collect::<Vec<_>>()
        })
    }

    fn key(&self, ideal: bool) -> Vec<(Sign, String)> {
        let words = |sign, text: &str| (sign, text.to_owned());
        let mut entries = vec![words(Sign::Words, &frame::count_words(self.cells().map(|cell| cell.points.len()), "level"))];
        let all = || self.cells().flat_map(|cell| &cell.points);
        if all().any(|point| !point.tainted) {
            let crowd = self.cells().any(|cell| swarm::is_crowd(cell.points.len()));
            entries.push(words(Sign::Trial, if crowd { "one trial, or several that coincide" } else { "one trial" }));
        }
        if all().any(|point| point.tainted) {
            entries.push(words(Sign::Tainted, "tainted trial"));
        }
        if self.cells().any(|cell| cell.median.is_some()) {
            entries.push(words(Sign::MedianAcross, "median"));
        }
        if self.cells().any(|cell| cell.interval.is_some()) {
            entries.push(words(Sign::BandAcross, "95 % order-statistic interval of the median"));
        }
        if self.has_remarks() {
            entries.push(words(Sign::Words, "×: ratio to the baseline"));
        }
        if ideal {
            entries.push((Sign::Dashed, self.ideal_words()));
        }
        entries
    }

    /// Whether a row of remarks stands below the levels.
    fn has_remarks(&self) -> bool {
        self.levels.iter().any(|level| !level.remark.is_empty())
    }

    /// Whether the texts of the levels need a second row.
    fn staggered(&self, fonts: &Fonts, across: &Scale) -> bool {
        let hand = Hand::new(TEXT, MUTED);
        level_rows(self, across, (MARGIN + 40.0, WIDTH - MARGIN - 300.0), |text| fonts.width(text, hand.size, hand.weight))
            .iter()
            .any(|(_, _, row)| *row == Some(1))
    }
}

/// For each level: its index, its place between the ends, and the row of its text; none where two rows have no room.
fn level_rows(chart: &Scaling, across: &Scale, (left, right): (f32, f32), width: impl Fn(&str) -> f32) -> Vec<(usize, f32, Option<u8>)> {
    let mut order: Vec<usize> = (0..chart.levels.len()).filter(|at| chart.levels[*at].value.is_finite()).collect();
    order.sort_by(|a, b| chart.levels[*a].value.total_cmp(&chart.levels[*b].value));
    let mut free = [f32::NEG_INFINITY; 2];
    let place = |at: usize| left + across.share(chart.levels[at].value) * (right - left);
    order
        .into_iter()
        .map(|at| {
            let half = width(&chart.levels[at].text) / 2.0;
            let row = (0..2u8).find(|row| place(at) - half >= free[usize::from(*row)]);
            if let Some(row) = row {
                free[usize::from(row)] = place(at) + half + 10.0;
            }
            (at, place(at), row)
        })
        .collect()
}

impl Plan<'_> {
    fn spot(&self, level: f64, value: f64) -> Spot {
        let x = self.plot.left + self.across.share(level) * self.plot.width();
        (x, self.plot.bottom - self.up.share(value) * self.plot.height())
    }

    fn color(&self, place: usize) -> RGBColor {
        color(&self.chart.series, place)
    }

    /// Half the width that the trials of one level may take, all series together.
    fn reach(&self) -> f32 {
        let mut places: Vec<f32> = self.chart.levels.iter().map(|level| self.spot(level.value, 0.0).0).collect();
        places.sort_by(f32::total_cmp);
        let gaps = places.windows(2).map(|pair| pair[1] - pair[0]).filter(|gap| *gap > 0.5);
        gaps.fold(f32::INFINITY, f32::min).min(140.0) * 0.28
    }

    fn draw_levels(&self, canvas: &mut Canvas) -> Result<(), ChartError> {
        let (plot, hand) = (self.plot, Hand::new(TEXT, MUTED));
        let foot = if self.panel.is_some() { Panel::below(plot) } else { plot };
        let rows = level_rows(self.chart, &self.across, (plot.left, plot.right), |text| canvas.measure(text, hand));
        let staggered = rows.iter().any(|(_, _, row)| *row == Some(1));
        let second = staggered || self.chart.has_remarks();
        let mut taken = MARGIN / 2.0;
        for (at, x, row) in rows {
            for part in [plot, foot] {
                canvas.path(&[(x, part.top), (x, part.bottom)], Stroke::new(GRID, 1.0))?;
                canvas.path(&[(x, part.bottom), (x, part.bottom + 6.0)], Stroke::new(AXIS, 1.0))?;
            }
            if let Some(row) = row {
                // A panel has a zero at its foot, which a long level may reach.
                let y = foot.bottom + if self.panel.is_some() { 21.0 } else { 19.0 } + 20.0 * f32::from(row);
                canvas.text(&self.chart.levels[at].text, (x, y), Align::Center, hand)?;
                let remark = &self.chart.levels[at].remark;
                let room = canvas.measure(remark, hand) / 2.0;
                if !staggered && !remark.is_empty() && x - room > taken && x + room < WIDTH - MARGIN / 2.0 {
                    canvas.text(remark, (x, y + 20.0), Align::Center, hand)?;
                    taken = x + room + 10.0;
                }
            }
        }
        for part in [plot, foot] {
            canvas.path(&[(part.left, part.bottom), (part.right, part.bottom)], Stroke::new(AXIS, 1.0))?;
        }
        let kind = if self.across.log { ", logarithmic axis" } else { "" };
        let hand = Hand::new(TEXT, INK);
        let y = foot.bottom + 46.0 + if second { 20.0 } else { 0.0 };
        for line in wrap(canvas.fonts(), &format!("{}{kind}", self.chart.factor), hand, plot.width(), 1) {
            canvas.text(&line, ((plot.left + plot.right) / 2.0, y), Align::Center, hand)?;
        }
        Ok(())
    }

    fn draw_ideal(&self, canvas: &mut Canvas) -> Result<(), ChartError> {
        let inside = self.ideal.iter().skip_while(|(_, value)| !self.up.holds(*value)).take_while(|(_, value)| self.up.holds(*value));
        let spots: Vec<Spot> = inside.map(|(level, value)| self.spot(*level, *value)).collect();
        canvas.dashes(&spots, 7.0, 5.0, Stroke::new(MUTED, 1.5))
    }

    /// Everything at one level. The trials of all series are moved aside together, so that none hides another's; behind
    /// them lie the intervals and the median's ticks, wider than the trials, so that both stay visible.
    fn draw_level(&self, canvas: &mut Canvas, level: usize) -> Result<(), ChartError> {
        let value = self.chart.levels[level].value;
        let cells = || self.chart.series.iter().enumerate().flat_map(|(place, series)| series.cells.iter().map(move |cell| (place, cell)));
        let here = || cells().filter(|(_, cell)| cell.level == level);
        let trials: Vec<(usize, &Point)> = here()
            .flat_map(|(place, cell)| cell.points.iter().map(move |point| (place, point)))
            .filter(|(_, point)| point.value.is_finite())
            .collect();
        let size = if self.chart.series.len() > 3 { 3.6 } else { 4.6 };
        let places: Vec<f32> = trials.iter().map(|(_, point)| self.spot(value, point.value).1).collect();
        let offsets = swarm::offsets(&places, size * 2.2, self.reach());
        for (place, cell) in here() {
            let own = trials.iter().zip(&offsets).filter(|((other, _), _)| *other == place);
            let half = own.map(|(_, offset)| offset.abs()).fold(0.0, f32::max) + size + 6.0;
            self.draw_cell(canvas, cell, half, self.color(place))?;
        }
        let looks: Vec<(usize, bool)> = trials.iter().map(|(place, point)| (*place, point.tainted)).collect();
        let drawn = swarm::drawn(&places, &offsets, &looks, size);
        let all = trials.into_iter().zip(places).zip(offsets).zip(drawn);
        for (((place, point), y), offset) in all.filter_map(|(trial, drawn)| drawn.then_some(trial)) {
            let x = self.spot(value, point.value).0 + offset;
            canvas.mark(palette::shape(place), (x, y), size, self.color(place), point.tainted)?;
        }
        Ok(())
    }

    /// The interval of one cell as a band, and its median as a tick, both this wide to either side.
    fn draw_cell(&self, canvas: &mut Canvas, cell: &Cell, half: f32, color: RGBColor) -> Result<(), ChartError> {
        let level = self.chart.levels[cell.level].value;
        if let Some((low, high)) = cell.interval {
            let ((x, top), (_, bottom)) = (self.spot(level, high), self.spot(level, low));
            canvas.block(Rect { left: x - half, top: top.min(bottom - 1.5), right: x + half, bottom }, color.mix(0.2))?;
        }
        if let Some((x, y)) = cell.median.filter(|median| median.is_finite()).map(|median| self.spot(level, median)) {
            canvas.path(&[(x - half, y), (x + half, y)], Stroke::new(color, 3.0))?;
        }
        Ok(())
    }

    fn medians(&self, place: usize) -> Vec<Spot> {
        let cells = self.chart.series[place].cells.iter();
        let known = cells.filter_map(|cell| cell.median.map(|median| (self.chart.levels[cell.level].value, median)));
        let mut known: Vec<(f64, f64)> = known.filter(|(level, median)| level.is_finite() && median.is_finite()).collect();
        known.sort_by(|a, b| a.0.total_cmp(&b.0));
        known.into_iter().map(|(level, median)| self.spot(level, median)).collect()
    }

    fn draw_line(&self, canvas: &mut Canvas, place: usize) -> Result<(), ChartError> {
        canvas.path(&self.medians(place), Stroke::new(self.color(place), 2.0))
    }

    /// The names at the ends of the lines; the last of `labels` is that of the ideal line.
    fn draw_labels(&self, canvas: &mut Canvas, labels: &[Vec<String>]) -> Result<(), ChartError> {
        let hand = Hand::new(TEXT, INK);
        let ideal = self.ideal.last().map(|(level, value)| self.spot(*level, *value));
        let end = |place: usize| if place == self.chart.series.len() { ideal } else { self.medians(place).last().copied() };
        let named: Vec<usize> = (0..labels.len()).filter(|place| !labels[*place].is_empty()).collect();
        let ends: Vec<Option<Spot>> = named.iter().map(|place| end(*place)).collect();
        let height = |place: usize| labels[place].len() as f32 * hand.line_height() + 4.0;
        let wishes = named.iter().zip(&ends).map(|(place, end)| (end.map_or(self.plot.bottom, |(_, y)| y), height(*place)));
        let centres = keep_apart(&wishes.collect::<Vec<_>>(), self.plot.top - 12.0, self.plot.bottom + 8.0);
        let left = self.plot.right + 12.0;
        for ((place, end), centre) in named.into_iter().zip(ends).zip(centres) {
            let ideal = place == self.chart.series.len();
            let color = if ideal { MUTED } else { self.color(place) };
            if let Some((x, y)) = end {
                let start = x + if ideal { 4.0 } else { self.reach().min(24.0) };
                let bends = [(start, y), (self.plot.right - 12.0, y), (left - 5.0, centre)];
                canvas.path(&bends, Stroke { color: color.mix(0.5), width: 1.0 })?;
            }
            let strong = Hand { color: palette::readable(color), ..hand };
            let top = centre - (labels[place].len() as f32 - 1.0) * hand.line_height() / 2.0;
            for (at, line) in labels[place].iter().enumerate() {
                canvas.text(line, (left, top + at as f32 * hand.line_height()), Align::Left, strong)?;
            }
        }
        Ok(())
    }
}

/// Text of ticks and labels must not fall below this.
const _: () = assert!(SMALL >= 14.0 && TEXT >= 14.0);
