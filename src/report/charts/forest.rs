//! Effects against a baseline: one row per comparison, a mark at its ratio and a line over its interval, on a logarithmic axis whose
//! middle is 1.

use super::canvas::{Align, Canvas, Hand, Picture, Rect, Stroke, picture};
use super::font::Fonts;
use super::frame::{self, AXIS_ROOM, HEIGHT, Header, Heading, Key, MARGIN, SMALL, Sign, TEXT, WIDTH};
use super::names::{self, Names, ROW, Set};
use super::palette::{self, BASELINE, CONTROL, GRID, INK, Look, MUTED, Role, Shape};
use super::ratios;
use super::scale::Scale;
use super::text::wrap;
use super::{Chart, ChartError, Measure};
use crate::model::estimate::Verdict;
use crate::model::metric::Better;

/// Room above the plot for the names of the columns.
const COLUMN_NAMES: f32 = 26.0;
/// Widest column of names: the plot needs more of the sheet than where there are points only.
const NAMES: f32 = 330.0;
/// Widest column of verdicts.
const VERDICTS: f32 = 230.0;
/// Room between columns.
const BETWEEN: f32 = 20.0;
/// Height of a row that has a second mark below its own, and of one whose verdict needs two lines.
const DOUBLE_ROW: f32 = 36.0;
const TALL_ROW: f32 = 46.0;
/// Margins of equivalence up to this ratio are always on the axis; wider ones where the effects are as large.
const USUAL_MARGIN: f64 = 1.1;

/// The chart's content.
#[derive(Debug, Clone, PartialEq)]
pub struct Forest {
    /// The words above.
    pub heading: Heading,
    /// What is compared; only name and direction are shown.
    pub measure: Measure,
    /// What the ratios are to, such as "the baseline".
    pub against: String,
    /// What the intervals are, such as "simultaneous 95 % interval".
    pub intervals: String,
    /// Smallest effect that is worth calling a difference, as a fraction.
    pub min_effect: f64,
    /// Margin within which a ratio counts as equivalent, as a fraction.
    pub margin: f64,
    /// The rows from top to bottom, in groups.
    pub groups: Vec<Group>,
}

/// Rows that belong together.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// What stands above them; empty for nothing.
    pub title: String,
    /// The rows.
    pub rows: Vec<Contrast>,
}

/// One comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Contrast {
    /// Its name.
    pub label: String,
    /// Its role. A baseline has a ratio of 1 and no verdict.
    pub role: Role,
    /// The effect; none where nothing could be compared.
    pub effect: Option<Span>,
    /// The same without the tainted trials, where there are some.
    pub clean: Option<Span>,
    /// The ratio with its interval, as the report writes it.
    pub text: String,
    /// Replicates; none for a baseline.
    pub n: Option<usize>,
    /// What may be said; none where nothing may, which then looks undecided.
    pub verdict: Option<Verdict>,
    /// What stands after the verdict, such as "fragile"; may be empty.
    pub remark: String,
}

/// A ratio and its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Span {
    /// The ratio. One that is not finite and positive is not drawn.
    pub ratio: f64,
    /// The ends of its interval, which may lie beyond any axis; none where it has none.
    pub interval: Option<(f64, f64)>,
}

impl Span {
    /// The ends, where both are numbers.
    fn ends(&self) -> Option<(f64, f64)> {
        self.interval.filter(|(low, high)| low <= high)
    }
}

impl Contrast {
    /// All that may be said, in one line.
    fn said(&self) -> String {
        let words = [self.verdict.map_or("", Verdict::words), &self.remark];
        words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" · ")
    }

    fn look(&self, better: Option<Better>) -> Look {
        let above = self.effect.is_some_and(|effect| effect.ratio > 1.0);
        let worse = better.is_some_and(|better| above == (better == Better::Lower));
        let look = palette::verdict(self.verdict, worse);
        match self.role {
            Role::Plain => look,
            Role::Control => Look { color: CONTROL, ..look },
            Role::Baseline => Look { shape: Shape::Diamond, radius: 6.0, color: BASELINE, hollow: false },
        }
    }
}

/// One line of the chart.
enum Line<'a> {
    Title(&'a str),
    Row(&'a Contrast),
}

/// Where the columns at the right end (ratio, n) and begin (verdict).
struct Columns {
    plot: f32,
    ratio: f32,
    count: f32,
    verdict: f32,
}

/// Everything that is known before the first stroke.
struct Plan<'a> {
    chart: &'a Forest,
    lines: Vec<Line<'a>>,
    names: Names<'a>,
    plot: Rect,
    set: Set,
    across: Scale,
    columns: Columns,
}

impl Chart for Forest {
    fn picture(&self, fonts: &Fonts) -> Result<Picture, ChartError> {
        let lines = self.lines();
        let names = Names::of(lines.iter().map(|line| match line {
            Line::Title(title) => (*title, Role::Baseline),
            Line::Row(row) => (row.label.as_str(), row.role),
        }))?;
        let names = names.within(NAMES, self.row_height(fonts));
        let header = Header::set(fonts, &self.heading);
        let key = Key::set(fonts, self.key());
        let across = self.axis();
        let top = header.bottom() + COLUMN_NAMES;
        let around = top + AXIS_ROOM + (HEIGHT - key.top(HEIGHT));
        let set = names.set(fonts, around);
        let columns = self.columns(fonts, set.text);
        let plot = Rect { left: set.left, top, right: columns.plot, bottom: top + set.pitch * lines.len().max(1) as f32 };
        let sheet = plot.bottom + AXIS_ROOM + (HEIGHT - key.top(HEIGHT));
        let plan = Plan { chart: self, lines, names, plot, set, across, columns };
        picture(fonts, WIDTH, sheet, |canvas| {
            header.draw(canvas)?;
            plan.draw_axis(canvas)?;
            for at in 0..plan.lines.len() {
                plan.draw_line(canvas, at)?;
            }
            key.draw(canvas, sheet)
        })
    }
}

impl Forest {
    fn rows(&self) -> impl Iterator<Item = &Contrast> {
        self.groups.iter().flat_map(|group| &group.rows)
    }

    fn lines(&self) -> Vec<Line<'_>> {
        let mut lines = Vec::new();
        for group in &self.groups {
            lines.extend(Some(group.title.as_str()).filter(|title| !title.is_empty()).map(Line::Title));
            lines.extend(group.rows.iter().map(Line::Row));
        }
        lines
    }

    fn row_height(&self, fonts: &Fonts) -> f32 {
        let hand = Hand::new(TEXT, INK);
        if self.rows().any(|row| fonts.width(&row.said(), hand.size, hand.weight) > VERDICTS) {
            TALL_ROW
        } else if self.rows().any(|row| row.clean.is_some()) {
            DOUBLE_ROW
        } else {
            ROW
        }
    }

    fn axis(&self) -> Scale {
        let spans = || self.rows().flat_map(|row| row.effect.into_iter().chain(row.clean));
        let ends: Vec<(f64, f64)> = spans().filter_map(|span| span.ends()).collect();
        let least = (1.0 + self.margin.max(self.min_effect).max(0.001)).min(USUAL_MARGIN);
        ratios::axis(spans().map(|span| span.ratio), &ends, least)
    }

    fn key(&self) -> Vec<(Sign, String)> {
        let mut entries: Vec<(Sign, String)> = Vec::new();
        for row in self.rows().filter(|row| row.role == Role::Plain && row.effect.is_some()) {
            let look = row.look(self.measure.better);
            let words = self.verdict_words(row);
            if entries.iter().all(|(_, other)| *other != words) {
                entries.push((Sign::Point(look), words));
            }
        }
        if self.rows().any(|row| row.effect.is_some_and(|effect| effect.ends().is_some())) {
            entries.push((Sign::Interval, self.intervals.clone()));
        }
        if self.rows().any(|row| row.clean.is_some()) {
            entries.push((Sign::Point(CLEAN), "without tainted trials".to_owned()));
        }
        let percent = |fraction: f64| format!("±{} %", ratios::percent(fraction));
        if self.min_effect > 0.0 {
            entries.push((Sign::Small, format!("too small to matter, {}", percent(self.min_effect))));
        }
        if self.margin > 0.0 {
            entries.push((Sign::Margin, format!("margin of equivalence, {}", percent(self.margin))));
        }
        entries
    }

    /// What a row's mark says, for the key.
    fn verdict_words(&self, row: &Contrast) -> String {
        let side = match (self.measure.better, row.effect) {
            (Some(better), Some(effect)) if (effect.ratio > 1.0) == (better == Better::Higher) => ", better",
            (Some(_), Some(_)) => ", worse",
            _ => "",
        };
        match row.verdict {
            Some(Verdict::Undecided) | None => "undecided".to_owned(),
            Some(Verdict::Equivalent) => Verdict::Equivalent.words().to_owned(),
            Some(verdict) => format!("{}{side}", verdict.words()),
        }
    }

    /// Every column as wide as its widest text; the verdicts may break into two lines.
    fn columns(&self, fonts: &Fonts, text: f32) -> Columns {
        let weight = Hand::new(text, INK).weight;
        let widest = |name: &str, texts: &mut dyn Iterator<Item = String>| {
            texts.map(|word| fonts.width(&word, text, weight)).fold(fonts.width(name, SMALL, weight), f32::max)
        };
        let verdict = WIDTH - MARGIN - widest(VERDICT, &mut self.rows().map(Contrast::said)).min(VERDICTS).ceil();
        let count = verdict - BETWEEN;
        let ratio = count - widest("n", &mut self.rows().filter_map(|row| row.n).map(|n| n.to_string())) - BETWEEN;
        let plot = ratio - widest(RATIO, &mut self.rows().map(|row| row.text.clone())) - BETWEEN;
        Columns { plot, ratio, count, verdict }
    }
}

/// The names of the columns beside that of n.
const RATIO: &str = "ratio (interval)";
const VERDICT: &str = "verdict";

/// The mark of an effect without the tainted trials.
const CLEAN: Look = Look { shape: Shape::Circle, radius: 3.0, color: MUTED, hollow: false };

impl Plan<'_> {
    fn x(&self, ratio: f64) -> f32 {
        self.plot.left + self.across.share(ratio) * self.plot.width()
    }

    fn y(&self, line: usize) -> f32 {
        self.plot.top + (line as f32 + 0.5) * self.set.pitch
    }

    fn draw_axis(&self, canvas: &mut Canvas) -> Result<(), ChartError> {
        let plot = self.plot;
        let band = |low: f64, high: f64| Rect { left: self.x(low), right: self.x(high), ..plot };
        let chart = self.chart;
        let hand = Hand::new(TEXT, MUTED);
        let ticks = ratios::ticks(&self.across, |one, other, apart| {
            (canvas.measure(one, hand) + canvas.measure(other, hand)) / 2.0 + 16.0 < apart * plot.width()
        });
        frame::draw_bottom_axis(canvas, plot, &self.across, &ticks, "")?;
        if chart.margin > 0.0 {
            frame::draw_margin(canvas, band(1.0 / (1.0 + chart.margin), 1.0 + chart.margin))?;
        }
        if chart.min_effect > 0.0 {
            canvas.block(band((1.0 - chart.min_effect).max(0.0), 1.0 + chart.min_effect), frame::SMALL_BAND)?;
        }
        for at in (0..self.lines.len()).filter(|at| matches!(self.lines[*at], Line::Row(_))) {
            canvas.path(&[(plot.left, self.y(at)), (plot.right, self.y(at))], Stroke::new(GRID, 1.0))?;
        }
        let title =
            format!("{}: ratio to {}, logarithmic axis{}", chart.measure.name, chart.against, frame::direction(chart.measure.better));
        frame::draw_wide_title(canvas, plot, &title)?;
        canvas.path(&[(self.x(1.0), plot.top), (self.x(1.0), plot.bottom)], Stroke::new(INK, 1.5))?;
        let names = [
            (RATIO, self.columns.ratio, Align::Right),
            ("n", self.columns.count, Align::Right),
            (VERDICT, self.columns.verdict, Align::Left),
        ];
        for (name, x, align) in names {
            canvas.text(name, (x, plot.top - COLUMN_NAMES / 2.0), align, Hand::new(SMALL, MUTED))?;
        }
        Ok(())
    }

    fn draw_line(&self, canvas: &mut Canvas, at: usize) -> Result<(), ChartError> {
        self.names.draw(canvas, at, self.y(at), self.set)?;
        let Line::Row(row) = self.lines[at] else { return Ok(()) };
        self.draw_marks(canvas, row, self.y(at))?;
        let hand = names::hand(if row.role == Role::Baseline { Role::Plain } else { row.role }, self.set.text);
        let count = row.n.map(|n| n.to_string()).unwrap_or_default();
        for (text, x) in [(&row.text, self.columns.ratio), (&count, self.columns.count)] {
            if !text.is_empty() {
                canvas.text(text, (x, self.y(at)), Align::Right, hand)?;
            }
        }
        let lines = if self.set.pitch >= 2.0 * hand.line_height() { 2 } else { 1 };
        let said = wrap(canvas.fonts(), &row.said(), hand, WIDTH - MARGIN - self.columns.verdict + 1.0, lines);
        let first = self.y(at) - (said.len().max(1) as f32 - 1.0) * hand.line_height() / 2.0;
        for (place, line) in said.iter().enumerate() {
            canvas.text(line, (self.columns.verdict, first + place as f32 * hand.line_height()), Align::Left, hand)?;
        }
        Ok(())
    }

    fn draw_marks(&self, canvas: &mut Canvas, row: &Contrast, y: f32) -> Result<(), ChartError> {
        let look = row.look(self.chart.measure.better);
        let size = |look: Look| Look { radius: look.radius.min(self.set.pitch * 0.24), ..look };
        let apart = if row.clean.is_some() { (self.set.pitch * 0.16).min(8.0) } else { 0.0 };
        for (span, look, y, width) in [(row.effect, size(look), y - apart, 2.5), (row.clean, size(CLEAN), y + 1.5 * apart, 1.2)] {
            if let Some(span) = span.filter(|span| ratios::is_ratio(span.ratio)) {
                self.draw_span(canvas, span, look, y, width)?;
            }
        }
        Ok(())
    }

    fn draw_span(&self, canvas: &mut Canvas, span: Span, look: Look, y: f32, width: f32) -> Result<(), ChartError> {
        let stroke = Stroke::new(look.color, width);
        if let Some((low, high)) = span.ends() {
            canvas.path(&[(self.x(low), y), (self.x(high), y)], stroke)?;
        }
        let ends = span.ends().unwrap_or((span.ratio, span.ratio));
        let tip = look.radius.max(3.0);
        for (end, x, back) in [(ends.0, self.plot.left, 1.0), (ends.1, self.plot.right, -1.0)] {
            if !self.across.holds(end) && (end < 1.0) == (back > 0.0) {
                let (foot, half) = (x + back * tip, tip * 0.75);
                canvas.path(&[(foot, y - half), (x, y), (foot, y + half)], stroke)?;
            }
        }
        if self.across.holds(span.ratio) {
            canvas.mark(look.shape, (self.x(span.ratio), y), look.radius, look.color, look.hollow)
        } else {
            Ok(())
        }
    }
}
