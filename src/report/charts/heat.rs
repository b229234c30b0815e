//! Ratios over two factors: a cell per combination, its number in it, its colour the same distance from grey for a ratio and for its
//! inverse. Further factors make panels.

use super::canvas::{Align, Canvas, Hand, Picture, Rect, Stroke, picture_in};
use super::font::Fonts;
use super::frame::{self, Header, Heading, Key, MARGIN, SMALL, Sign, TEXT, WIDTH};
use super::palette::{self, GRID, INK, MUTED, PAPER};
use super::ratios;
use super::scale::Scale;
use super::text::{shorten, wrap};
use super::{Chart, ChartError, Measure, png};
use plotters::style::{Color, RGBColor};

/// Levels that have room beside and below each other, panels of a sheet, and rows of cells in all of them.
const ACROSS: usize = 16;
const DOWN: usize = 40;
const PANELS: usize = 6;
const ROWS: usize = 60;
/// Sizes of a cell.
const LOWEST: f32 = 27.0;
const HIGHEST: f32 = 74.0;
const NARROWEST: f32 = 62.0;
const WIDEST: f32 = 190.0;
/// Height that the cells of one sheet take, unless that would make them too low.
const CELLS: f32 = 420.0;
/// Text in cells and at their edges.
const INSIDE: f32 = 15.0;
/// Room between panels, and between names and cells.
const BETWEEN: f32 = 28.0;
const GAP: f32 = 10.0;
/// Widest names at the left of a panel.
const NAMES: f32 = 260.0;
/// The bar of colours.
const BAR: f32 = 420.0;
const BAR_ROOM: f32 = 74.0;
/// The ends of the colours are at least this ratio apart from 1, so that noise does not glow.
const CALM: f64 = 1.05;
/// What stands where nothing was compared.
const NOTHING: &str = "—";

/// The chart's content.
#[derive(Debug, Clone, PartialEq)]
pub struct HeatMap {
    /// The words above.
    pub heading: Heading,
    /// What is compared; only name and direction are shown.
    pub measure: Measure,
    /// What the ratios are to.
    pub against: String,
    /// The ratio at one end of the colours; its inverse is at the other. What lies beyond looks like the ends.
    pub most: f64,
    /// The factor whose levels stand beside each other.
    pub across: Axis,
    /// The factor whose levels stand below each other.
    pub down: Axis,
    /// One panel per combination of the other factors, at most six.
    pub facets: Vec<Facet>,
}

/// A factor and its levels, in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Axis {
    /// The factor's name.
    pub factor: String,
    /// Its levels, as written in the manifest.
    pub levels: Vec<String>,
}

/// One panel.
#[derive(Debug, Clone, PartialEq)]
pub struct Facet {
    /// The levels of the other factors; empty where there are none.
    pub title: String,
    /// What was compared. A combination without a tile is an empty cell.
    pub tiles: Vec<Tile>,
}

/// One combination.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tile {
    /// Index into the levels across.
    pub across: usize,
    /// Index into the levels down.
    pub down: usize,
    /// The ratio. One that is not finite and positive is an empty cell.
    pub ratio: f64,
    /// Whether there is a verdict: a cell without one is hatched.
    pub decided: bool,
    /// Whether it is the baseline, which needs no verdict.
    pub baseline: bool,
}

/// Everything that is known before the first stroke.
struct Plan<'a> {
    chart: &'a HeatMap,
    /// Panels beside each other.
    beside: usize,
    /// Room for the names at the left, the size of a cell, and lines of the names above the cells.
    names: f32,
    cell: (f32, f32),
    lines: usize,
    top: f32,
}

impl Chart for HeatMap {
    fn picture(&self, fonts: &Fonts) -> Result<Picture, ChartError> {
        self.check()?;
        let header = Header::set(fonts, &self.heading);
        let key = Key::set(fonts, self.key());
        let plan = self.plan(fonts, header.bottom());
        let bar = plan.top + plan.panel_height() * self.facets.len().div_ceil(plan.beside).max(1) as f32;
        let sheet = (bar + BAR_ROOM + (frame::HEIGHT - key.top(frame::HEIGHT))).ceil();
        picture_in(png::ALL_SHADES, fonts, WIDTH, sheet, |canvas| {
            header.draw(canvas)?;
            for at in 0..self.facets.len() {
                plan.draw_facet(canvas, at)?;
            }
            plan.draw_bar(canvas, bar)?;
            key.draw(canvas, sheet)
        })
    }
}

impl HeatMap {
    fn check(&self) -> Result<(), ChartError> {
        for (axis, limit) in [(&self.across, ACROSS), (&self.down, DOWN)] {
            let found = axis.levels.len();
            if found > limit {
                return Err(ChartError::TooManyLevels { factor: axis.factor.clone(), found, limit });
            }
        }
        let found = self.facets.len();
        if found > PANELS {
            return Err(ChartError::TooManyPanels { found, limit: PANELS });
        }
        let rows = found * self.down.levels.len();
        if found > 1 && rows > ROWS {
            return Err(ChartError::TooManyRows { found: rows, limit: ROWS });
        }
        for facet in &self.facets {
            for tile in &facet.tiles {
                for (level, axis) in [(tile.across, &self.across), (tile.down, &self.down)] {
                    let levels = axis.levels.len();
                    if level >= levels {
                        return Err(ChartError::NoSuchLevel { series: facet.title.clone(), level, levels });
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether so many levels across and down have room on a sheet.
    #[must_use]
    pub fn holds(across: usize, down: usize) -> bool {
        across <= ACROSS && down <= DOWN
    }

    /// Panels that a sheet may hold of so many levels down, at least one.
    #[must_use]
    pub fn panels_per_sheet(down: usize) -> usize {
        (ROWS / down.max(1)).clamp(1, PANELS)
    }

    /// As many panels beside each other as leave the cells wide enough for the names above them.
    fn plan(&self, fonts: &Fonts, top: f32) -> Plan<'_> {
        let hand = Hand::new(SMALL, INK);
        let left = self.down.levels.iter().map(|level| fonts.width(level, SMALL, hand.weight));
        let names = left.fold(fonts.width(&self.down.factor, SMALL, hand.bold().weight), f32::max).ceil().min(NAMES);
        let levels = self.across.levels.len().max(1) as f32;
        let width = |beside: usize| {
            let room = WIDTH - 2.0 * MARGIN - names - GAP - BETWEEN * (beside - 1) as f32;
            (room / beside as f32 / levels).min(WIDEST)
        };
        let lines_at = |width: f32| {
            let lines = |level: &String| wrap(fonts, level, hand, width - 6.0, 9).len();
            self.across.levels.iter().map(lines).max().unwrap_or(1).max(1)
        };
        let fits = |beside: &usize| width(*beside) >= NARROWEST && lines_at(width(*beside)) <= 3;
        let most = if self.facets.len() == 4 { 2 } else { 3 };
        let beside = (2..=self.facets.len().min(most)).rev().find(fits).unwrap_or(1);
        let rows = self.facets.len().div_ceil(beside).max(1) * self.down.levels.len().max(1);
        let height = (CELLS / rows as f32).clamp(LOWEST, HIGHEST);
        Plan { chart: self, beside, names, cell: (width(beside), height), lines: lines_at(width(beside)).min(5), top }
    }

    fn tiles(&self) -> impl Iterator<Item = &Tile> {
        self.facets.iter().flat_map(|facet| &facet.tiles)
    }

    fn key(&self) -> Vec<(Sign, String)> {
        let mut entries = Vec::new();
        if self.tiles().any(|tile| tile.baseline) {
            entries.push((Sign::Edged, "the baseline".to_owned()));
        }
        if self.tiles().any(|tile| !tile.decided && !tile.baseline) {
            entries.push((Sign::Hatched, "undecided".to_owned()));
        }
        let shown = self.tiles().filter(|tile| ratios::is_ratio(tile.ratio)).count();
        if shown < self.facets.len() * self.across.levels.len() * self.down.levels.len() {
            entries.push((Sign::Words, format!("{NOTHING} not compared")));
        }
        entries
    }

    /// The ends of the colours.
    fn ends(&self) -> f64 {
        if self.most.is_finite() { ratios::largest([self.most].into_iter(), CALM) } else { CALM }
    }

    fn color(&self, ratio: f64) -> RGBColor {
        palette::diverging(ratio.ln() / self.ends().ln())
    }
}

impl Plan<'_> {
    fn size(&self) -> (f32, f32) {
        let (wide, high) = self.cell;
        (wide * self.chart.across.levels.len() as f32, high * self.chart.down.levels.len() as f32)
    }

    /// Heights of what stands above the cells: the panel's title, the factor's name, the levels.
    fn above(&self) -> (f32, f32, f32) {
        let line = Hand::new(SMALL, INK).line_height();
        let titled = self.chart.facets.iter().any(|facet| !facet.title.is_empty());
        (if titled { 26.0 } else { 0.0 }, line + 2.0, self.lines as f32 * line + 4.0)
    }

    fn panel_height(&self) -> f32 {
        let (title, factor, levels) = self.above();
        title + factor + levels + self.size().1 + BETWEEN
    }

    /// The room of the cells of a panel.
    fn cells(&self, facet: usize) -> Rect {
        let (wide, high) = self.size();
        let (title, factor, levels) = self.above();
        let left = MARGIN + self.names + GAP + (facet % self.beside) as f32 * (wide + BETWEEN);
        let top = self.top + (facet / self.beside) as f32 * self.panel_height() + title + factor + levels;
        Rect { left, top, right: left + wide, bottom: top + high }
    }

    fn draw_facet(&self, canvas: &mut Canvas, at: usize) -> Result<(), ChartError> {
        let room = self.cells(at);
        let (_, factor, levels) = self.above();
        let middle = (room.left + room.right) / 2.0;
        let centred = |canvas: &mut Canvas, text: &str, y: f32, hand: Hand, width: f32| {
            let text = shorten(canvas.fonts(), text, hand, width);
            let half = canvas.measure(&text, hand) / 2.0;
            canvas.text(&text, (middle.min(WIDTH - MARGIN - half).max(MARGIN + half), y), Align::Center, hand)
        };
        let title = &self.chart.facets[at].title;
        // The name of the factor down stands beside, where it is the first panel.
        let wide = if self.beside == 1 { WIDTH - 2.0 * MARGIN } else { room.width() + BETWEEN - 8.0 };
        if !title.is_empty() {
            centred(canvas, title, room.top - levels - factor - 11.0, Hand::new(TEXT, INK).bold(), wide)?;
        }
        centred(canvas, &self.chart.across.factor, room.top - levels - factor / 2.0, Hand::new(SMALL, MUTED).bold(), wide)?;
        self.draw_levels(canvas, at, room)?;
        for down in 0..self.chart.down.levels.len() {
            for across in 0..self.chart.across.levels.len() {
                let tile = self.chart.facets[at].tiles.iter().find(|tile| (tile.across, tile.down) == (across, down));
                self.draw_tile(canvas, self.cell(room, across, down), tile)?;
            }
        }
        // Over the edges of its neighbours.
        for tile in self.chart.facets[at].tiles.iter().filter(|tile| tile.baseline) {
            canvas.edge(self.cell(room, tile.across, tile.down), Stroke::new(INK, 3.0))?;
        }
        Ok(())
    }

    fn cell(&self, room: Rect, across: usize, down: usize) -> Rect {
        let (wide, high) = self.cell;
        let (left, top) = (room.left + across as f32 * wide, room.top + down as f32 * high);
        Rect { left, top, right: left + wide, bottom: top + high }
    }

    /// The levels across above the cells, and those down at the left of the first panel of a row.
    fn draw_levels(&self, canvas: &mut Canvas, at: usize, room: Rect) -> Result<(), ChartError> {
        let hand = Hand::new(SMALL, INK);
        let line = hand.line_height();
        for (across, level) in self.chart.across.levels.iter().enumerate() {
            let x = room.left + (across as f32 + 0.5) * self.cell.0;
            let lines = wrap(canvas.fonts(), level, hand, self.cell.0 - 6.0, self.lines);
            let first = room.top - 4.0 - (lines.len() as f32 - 0.5) * line;
            for (place, text) in lines.iter().enumerate() {
                canvas.text(text, (x, first + place as f32 * line), Align::Center, hand)?;
            }
        }
        if !at.is_multiple_of(self.beside) {
            return Ok(());
        }
        let right = room.left - GAP;
        let factor = shorten(canvas.fonts(), &self.chart.down.factor, hand.bold(), self.names);
        canvas.text(&factor, (right, room.top - 4.0 - line / 2.0), Align::Right, Hand::new(SMALL, MUTED).bold())?;
        for (down, level) in self.chart.down.levels.iter().enumerate() {
            let y = room.top + (down as f32 + 0.5) * self.cell.1;
            let most = ((self.cell.1 / line).floor() as usize).clamp(1, 3);
            let mut lines = wrap(canvas.fonts(), level, hand, self.names, most);
            if lines.last().is_some_and(|last| last.ends_with('…')) {
                lines = vec![shorten(canvas.fonts(), level, hand, self.names)];
            }
            let first = y - (lines.len().max(1) as f32 - 1.0) * line / 2.0;
            for (place, text) in lines.iter().enumerate() {
                canvas.text(text, (right, first + place as f32 * line), Align::Right, hand)?;
            }
        }
        Ok(())
    }

    fn draw_tile(&self, canvas: &mut Canvas, room: Rect, tile: Option<&Tile>) -> Result<(), ChartError> {
        let middle = ((room.left + room.right) / 2.0, (room.top + room.bottom) / 2.0);
        let Some(tile) = tile.filter(|tile| ratios::is_ratio(tile.ratio)) else {
            canvas.edge(room, Stroke::new(GRID, 1.0))?;
            return canvas.text(NOTHING, middle, Align::Center, Hand::new(INSIDE, MUTED));
        };
        let color = self.chart.color(tile.ratio);
        canvas.block(room, color.to_rgba())?;
        canvas.edge(room, Stroke::new(PAPER, 1.0))?;
        let hand = Hand::new(INSIDE, palette::ink_on(color));
        let fits = |text: &&str| canvas.measure(text, hand) + 8.0 <= room.width();
        let number = ratios::short(tile.ratio);
        let text = if tile.baseline { ["baseline", "1"].into_iter().find(fits).unwrap_or("1") } else { &number };
        if !tile.decided && !tile.baseline {
            canvas.hatch(room, frame::HATCH, frame::hatching(color))?;
            let (half, high) = (canvas.measure(text, hand) / 2.0 + 3.0, hand.line_height() / 2.0);
            let plain = Rect { left: middle.0 - half, right: middle.0 + half, top: middle.1 - high, bottom: middle.1 + high };
            canvas.block(plain, color.to_rgba())?;
        }
        canvas.text(text, middle, Align::Center, hand)
    }

    /// What the colours mean, below the panels.
    fn draw_bar(&self, canvas: &mut Canvas, top: f32) -> Result<(), ChartError> {
        const STEPS: i32 = palette::DIVERGING_STEPS;
        let measure = &self.chart.measure;
        let title = format!("{}: ratio to {}, logarithmic{}", measure.name, self.chart.against, frame::direction(measure.better));
        let hand = Hand::new(SMALL, INK);
        for line in wrap(canvas.fonts(), &title, hand, WIDTH - 2.0 * MARGIN, 1) {
            canvas.text(&line, (MARGIN, top + 4.0), Align::Left, hand)?;
        }
        let room = Rect { left: MARGIN, top: top + 18.0, right: MARGIN + BAR, bottom: top + 34.0 };
        for step in -STEPS..=STEPS {
            // Half a step reaches beyond each end.
            let edge = |half: i32| (room.left + BAR * (half + 2 * STEPS) as f32 / (4 * STEPS) as f32).clamp(room.left, room.right);
            let color = palette::diverging(f64::from(step) / f64::from(STEPS));
            canvas.block(Rect { left: edge(2 * step - 1), right: edge(2 * step + 1), ..room }, color.to_rgba())?;
        }
        let scale = Scale::of_ratios(self.chart.ends());
        let hand = Hand::new(SMALL, MUTED);
        let ticks =
            ratios::ticks(&scale, |one, other, apart| (canvas.measure(one, hand) + canvas.measure(other, hand)) / 2.0 + 14.0 < apart * BAR);
        for (mark, text) in ticks {
            let x = room.left + scale.share(mark) * BAR;
            canvas.path(&[(x, room.bottom), (x, room.bottom + 4.0)], Stroke::new(MUTED, 1.0))?;
            let half = canvas.measure(&text, hand) / 2.0;
            canvas.text(&text, (x.max(half + 4.0), room.bottom + 14.0), Align::Center, hand)?;
        }
        Ok(())
    }
}
