//! A metric over the levels of one factor, a line per level of another: where the lines are parallel, each factor acts on its own.
//! Further factors make panels.

use super::canvas::{Align, Canvas, Hand, Picture, Rect, Spot, Stroke, picture};
use super::font::Fonts;
use super::frame::{self, HEIGHT, Header, Heading, Key, MARGIN, SMALL, Sign, TEXT, WIDTH};
use super::palette::{self, AXIS, GRID, INK, MUTED, Shape};
use super::scale::Scale;
use super::scaling::{self, Cell, LevelMark, Series};
use super::text::{keep_apart, shorten, wrap};
use super::{Chart, ChartError, Measure, Point, swarm};
use plotters::style::Color;

/// Panels of a sheet, and levels that have room below one.
const PANELS: usize = 6;
const LEVELS: usize = 24;
/// Heights of a panel's plot: alone, in one row, in several.
const ALONE: f32 = 430.0;
const LOW: f32 = 250.0;
/// Room above and below a plot.
const TITLE_ROOM: f32 = 30.0;
const FOOT: f32 = 34.0;
/// Room between panels, and between the last level and the names of the lines.
const BETWEEN: f32 = 26.0;
const LEAD: f32 = 22.0;
/// Least distance of two ticks, or of two names of levels.
const APART: f32 = 21.0;

/// The chart's content.
#[derive(Debug, Clone, PartialEq)]
pub struct InteractionPlot {
    /// The words above.
    pub heading: Heading,
    /// What the vertical axis measures: logarithmic where all values are positive.
    pub measure: Measure,
    /// The factor whose levels stand beside each other.
    pub factor: String,
    /// Its levels.
    pub levels: Vec<LevelMark>,
    /// Whether the levels' values are their places; else they stand in their order.
    pub numeric: bool,
    /// One panel per combination of the further factors, at most six; all have the same axes.
    pub panels: Vec<Panel>,
}

/// One panel.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// The levels of the further factors; empty where there are none.
    pub title: String,
    /// A line per level of the other factor, at most eight. Intervals are not shown.
    pub series: Vec<Series>,
}

/// Everything that is known before the first stroke.
struct Plan<'a> {
    chart: &'a InteractionPlot,
    up: Scale,
    ticks: Vec<(f64, String)>,
    /// Panels beside each other, and the room of the plot of the first one.
    beside: usize,
    first: Rect,
    /// From one panel to the next, to the right and down.
    step: (f32, f32),
    /// Room for the names of the lines.
    names: f32,
    /// Places of the levels as a share of the plot's width, and the lines of their names.
    places: Vec<f32>,
    lines: usize,
}

impl Chart for InteractionPlot {
    fn picture(&self, fonts: &Fonts) -> Result<Picture, ChartError> {
        self.check()?;
        let header = Header::set(fonts, &self.heading);
        let key = Key::set(fonts, self.key());
        let up = Scale::of_factors(self.shown().collect::<Vec<_>>().into_iter());
        let unit = frame::value_unit(&self.measure, &up);
        let hand = Hand::new(TEXT, INK);
        let titles = wrap(fonts, &frame::value_title(&self.measure, &unit, &up), hand, WIDTH - 2.0 * MARGIN, 2);
        let top = header.bottom() + titles.len() as f32 * hand.line_height() + 12.0;
        let wanted = if self.panels.len() > 1 { 6 } else { 9 };
        let plan = self.plan(fonts, up, frame::value_ticks(&up, &unit, wanted), top);
        let rows = self.panels.len().div_ceil(plan.beside).max(1) as f32;
        let axis = top + rows * plan.step.1 + 6.0;
        let sheet = (axis + 20.0 + (HEIGHT - key.top(HEIGHT))).ceil();
        picture(fonts, WIDTH, sheet, |canvas| {
            header.draw(canvas)?;
            for (at, line) in titles.iter().enumerate() {
                canvas.text(line, (MARGIN, header.bottom() + (at as f32 + 0.5) * hand.line_height()), Align::Left, hand)?;
            }
            for at in 0..self.panels.len() {
                plan.draw_panel(canvas, at)?;
            }
            for line in wrap(fonts, &self.factor_words(), hand, WIDTH - 2.0 * MARGIN, 1) {
                canvas.text(&line, (WIDTH / 2.0, axis), Align::Center, hand)?;
            }
            key.draw(canvas, sheet)
        })
    }
}

impl InteractionPlot {
    /// Whether so many levels, and so many lines, have room in a panel.
    #[must_use]
    pub fn holds(levels: usize, lines: usize) -> bool {
        levels <= LEVELS && lines <= scaling::SERIES
    }

    fn check(&self) -> Result<(), ChartError> {
        let (panels, levels) = (self.panels.len(), self.levels.len());
        if panels > PANELS {
            return Err(ChartError::TooManyPanels { found: panels, limit: PANELS });
        }
        if levels > LEVELS {
            return Err(ChartError::TooManyLevels { factor: self.factor.clone(), found: levels, limit: LEVELS });
        }
        self.panels.iter().try_for_each(|panel| scaling::check(&panel.series, levels))
    }

    fn cells(&self) -> impl Iterator<Item = &Cell> {
        self.panels.iter().flat_map(|panel| &panel.series).flat_map(|series| &series.cells)
    }

    fn shown(&self) -> impl Iterator<Item = f64> {
        self.cells().flat_map(|cell| cell.points.iter().map(|point| point.value).chain(cell.median))
    }

    fn key(&self) -> Vec<(Sign, String)> {
        let mut entries = vec![(Sign::Words, frame::count_words(self.cells().map(|cell| cell.points.len()), "combination"))];
        let all = || self.cells().flat_map(|cell| &cell.points);
        if all().any(|point| !point.tainted) {
            entries.push((Sign::Trial, "one trial".to_owned()));
        }
        if all().any(|point| point.tainted) {
            entries.push((Sign::Tainted, "tainted trial".to_owned()));
        }
        entries.push((Sign::MedianAcross, "line through the medians; parallel lines: each factor acts on its own".to_owned()));
        entries
    }

    fn factor_words(&self) -> String {
        let scale = self.across();
        let kind = if scale.is_some_and(|scale| scale.log) { ", logarithmic axis" } else { "" };
        format!("{}{kind}", self.factor)
    }

    /// The axis of the levels, where they are numbers.
    fn across(&self) -> Option<Scale> {
        let numbers = self.numeric && self.levels.iter().all(|level| level.value.is_finite());
        numbers.then(|| Scale::of_levels(self.levels.iter().map(|level| level.value)))
    }

    /// As many panels beside each other as leave the names of the levels their room.
    fn plan(&self, fonts: &Fonts, up: Scale, ticks: Vec<(f64, String)>, top: f32) -> Plan<'_> {
        let hand = Hand::new(SMALL, INK);
        let width = |text: &String| fonts.width(text, hand.size, hand.weight);
        let axis = ticks.iter().map(|(_, text)| fonts.width(text, TEXT, hand.weight)).fold(0.0, f32::max) + 12.0;
        let longest = self.panels.iter().flat_map(|panel| &panel.series).map(|series| width(&series.label)).fold(0.0, f32::max);
        let room = |beside: usize| (WIDTH - 2.0 * MARGIN - axis - BETWEEN * (beside - 1) as f32) / beside as f32;
        let names = |beside: usize| longest.min(room(beside) * 0.36);
        let plot = |beside: usize| room(beside) - if longest > 0.0 { names(beside) + LEAD } else { 0.0 };
        let slot = |beside: usize| plot(beside) / self.levels.len().max(1) as f32;
        let lines = |beside: usize| {
            let needed = |level: &LevelMark| wrap(fonts, &level.text, hand, slot(beside) - 6.0, 9).len();
            self.levels.iter().map(needed).max().unwrap_or(1).max(1)
        };
        let most = if self.panels.len() == 4 { 2 } else { 3 };
        let fits = |beside: &usize| lines(*beside) <= 2 && names(*beside) >= longest * 0.55;
        let beside = (2..=self.panels.len().min(most)).rev().find(fits).unwrap_or(1);
        let rows = self.panels.len().div_ceil(beside).max(1) as f32;
        let titled = if self.panels.iter().any(|panel| !panel.title.is_empty()) { TITLE_ROOM } else { 10.0 };
        let high = (ALONE / rows).max(LOW);
        let lines = lines(beside).min(3);
        let left = MARGIN + axis;
        let first = Rect { left, top: top + titled, right: left + plot(beside), bottom: top + titled + high };
        let foot = FOOT + (lines as f32 - 1.0) * hand.line_height();
        let places = self.places(first.width(), |text| width(&text.to_owned()));
        Plan {
            chart: self,
            up,
            ticks,
            beside,
            first,
            step: (room(beside) + BETWEEN, titled + high + foot),
            names: names(beside),
            places,
            lines,
        }
    }

    /// Where the levels stand: at their values where their names then have room, else in their order.
    fn places(&self, plot: f32, width: impl Fn(&str) -> f32) -> Vec<f32> {
        let count = self.levels.len().max(1) as f32;
        let in_order: Vec<f32> = (0..self.levels.len()).map(|at| (at as f32 + 0.5) / count).collect();
        let Some(scale) = self.across() else { return in_order };
        let true_places: Vec<f32> = self.levels.iter().map(|level| scale.share(level.value)).collect();
        let mut order: Vec<usize> = (0..self.levels.len()).collect();
        order.sort_by(|a, b| true_places[*a].total_cmp(&true_places[*b]));
        let fits = order.windows(2).all(|pair| {
            let halves = (width(&self.levels[pair[0]].text) + width(&self.levels[pair[1]].text)) / 2.0;
            (true_places[pair[1]] - true_places[pair[0]]) * plot > halves + 6.0
        });
        if fits { true_places } else { in_order }
    }
}

/// The shape of one line's points, the same in all panels where its colour is.
fn shape(panel: &Panel, place: usize) -> Shape {
    palette::shape(panel.series[place].hue.unwrap_or(place))
}

impl Plan<'_> {
    fn room(&self, panel: usize) -> Rect {
        let (x, y) = ((panel % self.beside) as f32 * self.step.0, (panel / self.beside) as f32 * self.step.1);
        Rect { left: self.first.left + x, right: self.first.right + x, top: self.first.top + y, bottom: self.first.bottom + y }
    }

    fn spot(&self, room: Rect, level: usize, value: f64) -> Spot {
        (room.left + self.places[level] * room.width(), room.bottom - self.up.share(value) * room.height())
    }

    fn draw_panel(&self, canvas: &mut Canvas, at: usize) -> Result<(), ChartError> {
        let (room, panel) = (self.room(at), &self.chart.panels[at]);
        let wide = self.step.0 - BETWEEN;
        let hand = Hand::new(TEXT, INK).bold();
        if !panel.title.is_empty() {
            let title = shorten(canvas.fonts(), &panel.title, hand, wide);
            canvas.text(&title, (room.left, room.top - 18.0), Align::Left, hand)?;
        }
        self.draw_axes(canvas, at, room)?;
        for level in 0..self.chart.levels.len() {
            self.draw_trials(canvas, panel, room, level)?;
        }
        for place in (0..panel.series.len()).rev() {
            let color = scaling::color(&panel.series, place);
            let medians = self.medians(panel, place, room);
            canvas.path(&medians, Stroke::new(color, 2.2))?;
            for spot in medians {
                canvas.mark(shape(panel, place), spot, 5.0, color, false)?;
            }
        }
        self.draw_names(canvas, panel, room)
    }

    fn draw_axes(&self, canvas: &mut Canvas, at: usize, room: Rect) -> Result<(), ChartError> {
        let mut free = f32::INFINITY;
        for (mark, text) in &self.ticks {
            let y = room.bottom - self.up.share(*mark) * room.height();
            if y + APART > free {
                continue;
            }
            free = y;
            canvas.path(&[(room.left, y), (room.right, y)], Stroke::new(GRID, 1.0))?;
            if at.is_multiple_of(self.beside) {
                canvas.text(text, (room.left - 10.0, y), Align::Right, Hand::new(TEXT, MUTED))?;
            }
        }
        canvas.path(&[(room.left, room.bottom), (room.right, room.bottom)], Stroke::new(AXIS, 1.0))?;
        let hand = Hand::new(SMALL, MUTED);
        let slot = room.width() / self.chart.levels.len().max(1) as f32;
        for (level, mark) in self.chart.levels.iter().enumerate() {
            let x = room.left + self.places[level] * room.width();
            canvas.path(&[(x, room.top), (x, room.bottom)], Stroke::new(GRID, 1.0))?;
            canvas.path(&[(x, room.bottom), (x, room.bottom + 5.0)], Stroke::new(AXIS, 1.0))?;
            for (line, text) in wrap(canvas.fonts(), &mark.text, hand, slot - 6.0, self.lines).iter().enumerate() {
                canvas.text(text, (x, room.bottom + 17.0 + line as f32 * hand.line_height()), Align::Center, hand)?;
            }
        }
        Ok(())
    }

    /// The trials at one level, those of all lines moved aside together, so that none hides another's.
    fn draw_trials(&self, canvas: &mut Canvas, panel: &Panel, room: Rect, level: usize) -> Result<(), ChartError> {
        const SIZE: f32 = 2.8;
        let here = |series: &'_ Series| {
            series.cells.iter().filter(|cell| cell.level == level).flat_map(|cell| cell.points.clone()).collect::<Vec<_>>()
        };
        let all = panel.series.iter().enumerate().flat_map(|(place, series)| here(series).into_iter().map(move |point| (place, point)));
        let trials: Vec<(usize, Point)> = all.filter(|(_, point)| point.value.is_finite()).collect();
        let places: Vec<f32> = trials.iter().map(|(_, point)| self.spot(room, level, point.value).1).collect();
        let reach = (room.width() / self.chart.levels.len().max(1) as f32 * 0.3).min(26.0);
        let offsets = swarm::offsets(&places, SIZE * 2.1, reach);
        let looks: Vec<(usize, bool)> = trials.iter().map(|(place, point)| (*place, point.tainted)).collect();
        let drawn = swarm::drawn(&places, &offsets, &looks, SIZE);
        for ((((place, point), y), offset), _) in trials.iter().zip(&places).zip(&offsets).zip(drawn).filter(|(_, drawn)| *drawn) {
            let x = self.spot(room, level, point.value).0 + offset;
            let color = palette::faint(scaling::color(&panel.series, *place));
            canvas.mark(shape(panel, *place), (x, *y), SIZE, color, point.tainted)?;
        }
        Ok(())
    }

    /// The medians of one line, from left to right.
    fn medians(&self, panel: &Panel, place: usize, room: Rect) -> Vec<Spot> {
        let cells = panel.series[place].cells.iter();
        let mut spots: Vec<Spot> = cells
            .filter_map(|cell| cell.median.filter(|median| median.is_finite()).map(|median| self.spot(room, cell.level, median)))
            .collect();
        spots.sort_by(|one, other| one.0.total_cmp(&other.0));
        spots
    }

    /// The names of the lines at their ends.
    fn draw_names(&self, canvas: &mut Canvas, panel: &Panel, room: Rect) -> Result<(), ChartError> {
        let hand = Hand::new(SMALL, INK);
        let set = |limit: usize| -> Vec<Vec<String>> {
            let lines = |series: &Series| {
                let lines = wrap(canvas.fonts(), &series.label, hand, self.names + 1.0, limit);
                let cut = lines.last().is_some_and(|line| line.ends_with('…'));
                if cut { vec![shorten(canvas.fonts(), &series.label, hand, self.names)] } else { lines }
            };
            panel.series.iter().map(lines).collect()
        };
        let height = |lines: &Vec<String>| lines.len() as f32 * hand.line_height() + 3.0;
        let (from, to) = (room.top - 8.0, room.bottom + 10.0);
        let labels = Some(set(2)).filter(|labels| labels.iter().map(height).sum::<f32>() <= to - from).unwrap_or_else(|| set(1));
        let ends: Vec<Option<Spot>> = (0..panel.series.len()).map(|place| self.medians(panel, place, room).last().copied()).collect();
        let wishes: Vec<(f32, f32)> =
            ends.iter().zip(&labels).map(|(end, lines)| (end.map_or(room.bottom, |(_, y)| y), height(lines))).collect();
        let left = room.right + LEAD;
        for ((place, centre), lines) in keep_apart(&wishes, from, to).into_iter().enumerate().zip(&labels) {
            let color = scaling::color(&panel.series, place);
            if let Some((x, y)) = ends[place].filter(|_| !lines.is_empty()) {
                canvas.path(&[(x + 7.0, y), (room.right, y), (left - 4.0, centre)], Stroke { color: color.mix(0.5), width: 1.0 })?;
            }
            let top = centre - (lines.len().max(1) as f32 - 1.0) * hand.line_height() / 2.0;
            for (at, line) in lines.iter().enumerate() {
                let strong = Hand { color: palette::readable(color), ..hand };
                canvas.text(line, (left, top + at as f32 * hand.line_height()), Align::Left, strong)?;
            }
        }
        Ok(())
    }
}
