//! One trial per variant over time: panels below each other that share the seconds, phases shaded and named, the same ranges everywhere.

use super::canvas::{Align, Canvas, Hand, Picture, Rect, Spot, Stroke, picture};
use super::font::Fonts;
use super::frame::{self, AXIS_ROOM, HEIGHT, Header, Heading, Key, MARGIN, SMALL, Sign, TEXT, WIDTH};
use super::names;
use super::number::AxisUnit;
use super::palette::{self, GRID, INK, MUTED, Role};
use super::scale::{Scale, Zero};
use super::stack::Layer;
use super::text::{keep_apart, shorten};
use super::{Chart, ChartError};
use plotters::style::Color;

/// Lines and scenes that can still be told apart.
const LINES: usize = 12;
const SCENES: usize = 6;
/// Room between two scenes beside each other, and below each other.
const GUTTER: f32 = 26.0;
/// Room for a scene's name, for the names of its phases, and for a panel's title.
const NAME: f32 = 26.0;
const PHASES: f32 = 24.0;
const TITLE: f32 = 24.0;
/// Least height of the first panel, and of the others; and what each line's name needs.
const FIRST: f32 = 130.0;
const OTHERS: f32 = 62.0;
const LABEL: f32 = 19.0;
/// Widest name at the end of a line.
const WIDEST: f32 = 130.0;

/// The chart's content.
#[derive(Debug, Clone, PartialEq)]
pub struct Timeline {
    /// The words above.
    pub heading: Heading,
    /// The titles of the panels, the same in every scene; each says what is measured and its unit.
    pub panels: Vec<String>,
    /// What the seconds below the panels count from.
    pub axis: String,
    /// What lines can be about, at most twelve.
    pub layers: Vec<Layer>,
    /// The variants, at most six.
    pub scenes: Vec<Scene>,
    /// What is said below the chart.
    pub remark: String,
}

/// One trial of one variant.
#[derive(Debug, Clone, PartialEq)]
pub struct Scene {
    /// The variant's name.
    pub label: String,
    /// Its role in the comparison.
    pub role: Role,
    /// The phases in their order.
    pub phases: Vec<PhaseSpan>,
    /// The lines of each panel; a panel without any is drawn empty.
    pub panels: Vec<Vec<Line>>,
}

/// A phase, in seconds on the chart's axis.
#[derive(Debug, Clone, PartialEq)]
pub struct PhaseSpan {
    /// Its name.
    pub name: String,
    /// Whether it is what is measured: it is not shaded.
    pub measured: bool,
    /// When it began.
    pub from: f64,
    /// When it ended.
    pub to: f64,
}

/// One line.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Index into the layers.
    pub layer: usize,
    /// What it shows, in the order of time. Where one step does not begin at the end of the one before it there is a gap.
    pub steps: Vec<Step>,
}

/// A value that holds from one moment to another, in seconds on the chart's axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// When it begins.
    pub from: f64,
    /// When it ends.
    pub to: f64,
    /// The value; one that is not finite is left out.
    pub value: f64,
}

/// Everything that is known before the first stroke.
struct Plan<'a> {
    chart: &'a Timeline,
    columns: usize,
    /// Room left of a plot for its numbers, and right of it for the names of lines.
    sides: (f32, f32),
    heights: Vec<f32>,
    along: Scale,
    up: Vec<Scale>,
}

/// The text of ticks needs no unit: the panel's title has it.
fn plain() -> AxisUnit {
    AxisUnit::plain("1")
}

impl Chart for Timeline {
    fn picture(&self, fonts: &Fonts) -> Result<Picture, ChartError> {
        self.check()?;
        let header = Header::set(fonts, &self.heading);
        let key = Key::set(fonts, vec![(Sign::Words, self.remark.clone())]);
        let below = HEIGHT - key.top(HEIGHT);
        let mut plan = Plan::of(self, fonts);
        let rows = self.scenes.len().max(1).div_ceil(plan.columns) as f32;
        let missing = HEIGHT - header.bottom() - below - rows * plan.scene_height();
        if let Some(first) = plan.heights.first_mut() {
            *first += (missing / rows).max(0.0);
        }
        let sheet = (header.bottom() + rows * plan.scene_height() + below).max(HEIGHT).ceil();
        picture(fonts, WIDTH, sheet, |canvas| {
            header.draw(canvas)?;
            for (at, scene) in self.scenes.iter().enumerate() {
                let top = header.bottom() + (at / plan.columns) as f32 * plan.scene_height();
                plan.draw_scene(canvas, scene, at % plan.columns, top)?;
            }
            key.draw(canvas, sheet)
        })
    }
}

impl Timeline {
    fn check(&self) -> Result<(), ChartError> {
        if self.layers.len() > LINES {
            return Err(ChartError::TooManySeries { found: self.layers.len(), limit: LINES });
        }
        if self.scenes.len() > SCENES {
            return Err(ChartError::TooManyRows { found: self.scenes.len(), limit: SCENES });
        }
        Ok(())
    }

    /// The lines of one panel in all scenes.
    fn lines(&self, panel: usize) -> impl Iterator<Item = &Line> {
        self.scenes.iter().filter_map(move |scene| scene.panels.get(panel)).flatten()
    }

    fn values(&self, panel: usize) -> impl Iterator<Item = f64> {
        self.lines(panel).flat_map(|line| line.steps.iter().map(|step| step.value))
    }

    fn moments(&self) -> impl Iterator<Item = f64> {
        let phases = self.scenes.iter().flat_map(|scene| scene.phases.iter().map(|phase| phase.to));
        let steps = (0..self.panels.len()).flat_map(|panel| self.lines(panel)).flat_map(|line| line.steps.iter().map(|step| step.to));
        phases.chain(steps)
    }
}

impl<'a> Plan<'a> {
    fn of(chart: &'a Timeline, fonts: &Fonts) -> Self {
        let weight = Hand::new(TEXT, INK).weight;
        let up: Vec<Scale> = (0..chart.panels.len()).map(|panel| Scale::of_values(chart.values(panel), Zero::Required)).collect();
        let named = |panel: usize| {
            let lines = chart.scenes.iter().filter_map(|scene| scene.panels.get(panel)).map(Vec::len);
            lines.max().unwrap_or(0) as f32 * LABEL
        };
        let heights: Vec<f32> = (0..up.len()).map(|panel| named(panel).max(if panel == 0 { FIRST } else { OTHERS })).collect();
        let ticks = up.iter().zip(&heights).flat_map(|(scale, height)| frame::value_ticks(scale, &plain(), wanted(*height)));
        let left = ticks.map(|(_, text)| fonts.width(&text, TEXT, weight)).fold(0.0, f32::max) + 12.0;
        let labels = chart.layers.iter().map(|layer| fonts.width(&layer.label, SMALL, weight));
        let right = labels.fold(0.0, f32::max).min(WIDEST) + 22.0;
        let columns = if chart.scenes.len() > 1 { 2 } else { 1 };
        Self { chart, columns, sides: (left, right), heights, along: Scale::of_values(chart.moments(), Zero::Required), up }
    }

    fn scene_height(&self) -> f32 {
        let panels: f32 = self.heights.iter().map(|height| height + TITLE).sum();
        NAME + PHASES + panels + AXIS_ROOM + GUTTER / 2.0
    }

    fn draw_scene(&self, canvas: &mut Canvas, scene: &Scene, column: usize, top: f32) -> Result<(), ChartError> {
        let width = (WIDTH - 2.0 * MARGIN - GUTTER * (self.columns - 1) as f32) / self.columns as f32;
        let left = MARGIN + column as f32 * (width + GUTTER);
        let hand = names::hand(scene.role, TEXT);
        canvas.text(&shorten(canvas.fonts(), &scene.label, hand, width), (left, top + NAME / 2.0), Align::Left, hand)?;
        let mut plots: Vec<Rect> = Vec::new();
        let mut down = top + NAME;
        for height in &self.heights {
            down += if plots.is_empty() { TITLE + PHASES } else { TITLE };
            plots.push(Rect { left: left + self.sides.0, top: down, right: left + width - self.sides.1, bottom: down + height });
            down += height;
        }
        self.draw_phases(canvas, scene, &plots)?;
        for (panel, plot) in plots.iter().enumerate() {
            let title = &self.chart.panels[panel];
            let hand = Hand::new(SMALL, MUTED);
            let title = shorten(canvas.fonts(), title, hand, plot.width() + self.sides.1);
            let above = if panel == 0 { PHASES + TITLE / 2.0 } else { TITLE / 2.0 };
            canvas.text(&title, (plot.left, plot.top - above), Align::Left, hand)?;
            let scale = &self.up[panel];
            frame::draw_left_axis(canvas, *plot, scale, &frame::value_ticks(scale, &plain(), wanted(plot.height())))?;
            if panel + 1 == plots.len() {
                let ticks = frame::value_ticks(&self.along, &plain(), (plot.width() / 95.0) as usize);
                frame::draw_bottom_axis(canvas, *plot, &self.along, &ticks, &self.chart.axis)?;
            }
            let lines = scene.panels.get(panel).map_or(&[][..], Vec::as_slice);
            self.draw_lines(canvas, lines, *plot, scale)?;
        }
        Ok(())
    }

    /// Shades the phases in all panels, parts them with thin lines, and names each as near above the first panel as the others allow.
    fn draw_phases(&self, canvas: &mut Canvas, scene: &Scene, plots: &[Rect]) -> Result<(), ChartError> {
        let Some(room) = plots.first() else { return Ok(()) };
        let x = |time: f64| room.left + self.along.share(time) * room.width();
        let hand = |phase: &PhaseSpan| if phase.measured { Hand::new(SMALL, INK).bold() } else { Hand::new(SMALL, MUTED) };
        let wishes: Vec<(f32, f32)> = scene
            .phases
            .iter()
            .map(|phase| ((x(phase.from) + x(phase.to)) / 2.0, canvas.measure(&phase.name, hand(phase)) + 10.0))
            .collect();
        let centres = keep_apart(&wishes, room.left - 6.0, room.right + self.sides.1);
        for ((phase, (middle, _)), centre) in scene.phases.iter().zip(&wishes).zip(centres) {
            for plot in plots {
                if !phase.measured {
                    canvas.block(Rect { left: x(phase.from), right: x(phase.to), ..*plot }, GRID.mix(0.55))?;
                }
                canvas.path(&[(x(phase.to), plot.top), (x(phase.to), plot.bottom)], Stroke { color: MUTED.mix(0.45), width: 1.0 })?;
            }
            canvas.text(&phase.name, (centre, room.top - PHASES / 2.0 - 2.0), Align::Center, hand(phase))?;
            if (centre - middle).abs() > 4.0 {
                canvas.path(&[(centre, room.top - 5.0), (*middle, room.top)], Stroke { color: MUTED.mix(0.6), width: 1.0 })?;
            }
        }
        Ok(())
    }

    fn draw_lines(&self, canvas: &mut Canvas, lines: &[Line], plot: Rect, scale: &Scale) -> Result<(), ChartError> {
        let spot =
            |time: f64, value: f64| (plot.left + self.along.share(time) * plot.width(), plot.bottom - scale.share(value) * plot.height());
        let mut ends = Vec::new();
        // The first lines are what is asked about: they are drawn last, over the others.
        for line in lines.iter().rev() {
            let Some(layer) = self.chart.layers.get(line.layer) else { continue };
            let coat = palette::coat(layer.paint);
            let stroke = Stroke::new(coat.color, 1.8);
            let pieces = pieces(&line.steps, spot);
            for piece in &pieces {
                if coat.hatch > 0 { canvas.dashes(piece, 6.0, 3.0, stroke)? } else { canvas.path(piece, stroke)? }
            }
            ends.extend(pieces.last().and_then(|piece| piece.last()).map(|end| (layer, *end)));
        }
        ends.reverse();
        let wishes: Vec<(f32, f32)> = ends.iter().map(|(_, (_, y))| (*y, LABEL)).collect();
        let left = plot.right + 14.0;
        for ((layer, (x, y)), centre) in ends.into_iter().zip(keep_apart(&wishes, plot.top - 6.0, plot.bottom + 6.0)) {
            let color = palette::coat(layer.paint).color;
            let bends = [(x + 2.0, y), (plot.right.max(x + 2.0), y), (left - 3.0, centre)];
            canvas.path(&bends, Stroke { color: color.mix(0.5), width: 1.0 })?;
            let hand = Hand::new(SMALL, palette::readable(color));
            canvas.text(&shorten(canvas.fonts(), &layer.label, hand, WIDEST), (left, centre), Align::Left, hand)?;
        }
        Ok(())
    }
}

/// How many ticks a vertical axis of this height has room for.
fn wanted(height: f32) -> usize {
    (height / 34.0) as usize
}

/// The corners of a line, one list per piece without a gap.
fn pieces(steps: &[Step], spot: impl Fn(f64, f64) -> Spot) -> Vec<Vec<Spot>> {
    let mut found: Vec<Vec<Spot>> = Vec::new();
    let mut end = None;
    for step in steps.iter().filter(|step| step.value.is_finite()) {
        if end != Some(step.from) {
            found.push(Vec::new());
        }
        if let Some(piece) = found.last_mut() {
            piece.extend([spot(step.from, step.value), spot(step.to, step.value)]);
        }
        end = Some(step.to);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_value_is_a_gap_and_not_zero() {
        let step = |from: f64, value: f64| Step { from, to: from + 1.0, value };
        let corners = |steps: &[Step]| pieces(steps, |time, value| (time as f32, value as f32));
        assert_eq!(corners(&[step(0.0, 1.0), step(1.0, 2.0)]), [vec![(0.0, 1.0), (1.0, 1.0), (1.0, 2.0), (2.0, 2.0)]]);
        assert_eq!(corners(&[step(0.0, 1.0), step(2.0, 2.0)]), [vec![(0.0, 1.0), (1.0, 1.0)], vec![(2.0, 2.0), (3.0, 2.0)]]);
        assert_eq!(corners(&[step(0.0, 1.0), step(1.0, f64::NAN), step(2.0, 3.0)]).len(), 2);
        assert!(corners(&[]).is_empty());
    }
}
