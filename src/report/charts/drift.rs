//! What is left of each trial, in the order in which they ran: did the machine change meanwhile?

use super::canvas::{Align, Canvas, Hand, Picture, Rect, Spot, Stroke, picture};
use super::font::Fonts;
use super::frame::{self, AXIS_ROOM, HEIGHT, Header, Heading, Key, MARGIN, SMALL, Sign, TEXT, WIDTH};
use super::number::AxisUnit;
use super::palette::{self, AXIS, CONTROL, INK, Look, MUTED, PAPER, Role, Shape};
use super::scale::{Scale, Zero};
use super::swarm;
use super::text::{shorten, wrap};
use super::{Chart, ChartError};
use plotters::style::{Color, RGBColor};

/// Variants that can still be told apart; with more of them all points are grey.
const MOST_VARIANTS: usize = 8;
/// Width of the longest name of a variant in the key.
const LONGEST_NAME: f32 = 340.0;
/// Room above the plot for the names of the runs.
const RUN_NAMES: f32 = 26.0;
/// Blocks narrower than this are not shaded: stripes would be all that one sees.
const NARROWEST_BLOCK: f32 = 3.0;

/// The chart's content.
#[derive(Debug, Clone, PartialEq)]
pub struct Drifting {
    /// The words above.
    pub heading: Heading,
    /// What the vertical axis measures.
    pub measure: String,
    /// The variants, by which trials are told apart.
    pub variants: Vec<DriftVariant>,
    /// The runs, in the order of their trials.
    pub runs: Vec<DriftRun>,
}

/// A variant of the chart.
#[derive(Debug, Clone, PartialEq)]
pub struct DriftVariant {
    /// Its name.
    pub label: String,
    /// Its role in the comparison.
    pub role: Role,
    /// The colour that this variant has in all charts of a report.
    pub hue: usize,
}

/// The trials of one run in their order.
#[derive(Debug, Clone, PartialEq)]
pub struct DriftRun {
    /// Its name.
    pub label: String,
    /// Its trials.
    pub trials: Vec<DriftTrial>,
    /// The least-squares line: its value at the first and at the last trial, in percent; none where there is no trend to show.
    pub line: Option<(f64, f64)>,
}

/// What is left of one trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DriftTrial {
    /// Index into the chart's variants.
    pub variant: usize,
    /// The block that it was in.
    pub block: u32,
    /// Above or below its variant's level, in percent.
    pub percent: f64,
    /// Whether something disturbed the trial: drawn hollow.
    pub tainted: bool,
}

/// Everything that is known before the first stroke.
struct Plan<'a> {
    chart: &'a Drifting,
    plot: Rect,
    up: Scale,
    /// How many trials there are.
    count: usize,
}

impl Chart for Drifting {
    fn picture(&self, fonts: &Fonts) -> Result<Picture, ChartError> {
        let header = Header::set(fonts, &self.heading);
        let key = Key::set(fonts, self.key(fonts));
        let trials = || self.runs.iter().flat_map(|run| &run.trials);
        let lines = self.runs.iter().filter_map(|run| run.line).flat_map(|(from, to)| [from, to]);
        // As much room above as below: nothing is meant to be on one side.
        let up = Scale::of_values(trials().map(|trial| trial.percent).chain(lines).flat_map(|percent| [percent, -percent]), Zero::Required);
        let unit = AxisUnit::plain("%");
        let hand = Hand::new(TEXT, INK);
        let titles = wrap(fonts, &self.measure, hand, WIDTH - 2.0 * MARGIN, 2);
        let named = if self.runs.len() > 1 { RUN_NAMES } else { 0.0 };
        let top = header.bottom() + titles.len() as f32 * hand.line_height() + 14.0 + named;
        let bottom = key.top(HEIGHT) - AXIS_ROOM;
        let ticks = frame::value_ticks(&up, &unit, ((bottom - top) / 62.0) as usize);
        let widest = ticks.iter().map(|(_, text)| fonts.width(text, TEXT, hand.weight)).fold(0.0, f32::max);
        let plot = Rect { left: MARGIN + widest + 12.0, top, right: WIDTH - MARGIN, bottom };
        let plan = Plan { chart: self, plot, up, count: trials().count() };
        picture(fonts, WIDTH, HEIGHT, |canvas| {
            header.draw(canvas)?;
            for (at, line) in titles.iter().enumerate() {
                canvas.text(line, (MARGIN, header.bottom() + (at as f32 + 0.5) * hand.line_height()), Align::Left, hand)?;
            }
            plan.draw_blocks(canvas)?;
            frame::draw_left_axis(canvas, plot, &up, &ticks)?;
            plan.draw_axis(canvas)?;
            plan.draw_runs(canvas)?;
            // No line hides a trial, unless there are so many that they would hide the line.
            if swarm::is_crowd(plan.count) {
                plan.draw_trials(canvas)?;
                plan.draw_lines(canvas)?;
            } else {
                plan.draw_lines(canvas)?;
                plan.draw_trials(canvas)?;
            }
            key.draw(canvas, HEIGHT)
        })
    }
}

impl Drifting {
    fn is_colored(&self) -> bool {
        self.variants.len() <= MOST_VARIANTS
    }

    fn look(&self, variant: usize) -> (RGBColor, Shape) {
        match self.variants.get(variant).filter(|_| self.is_colored()) {
            Some(found) => (palette::color(found.role, found.hue), palette::shape(variant)),
            None => (CONTROL, Shape::Circle),
        }
    }

    fn key(&self, fonts: &Fonts) -> Vec<(Sign, String)> {
        let trials = || self.runs.iter().flat_map(|run| &run.trials);
        let n = trials().count();
        let mut entries = vec![(Sign::Words, if n == 1 { "n = 1 trial".to_owned() } else { format!("n = {n} trials") })];
        if self.is_colored() {
            let mark = |at: usize, variant: &DriftVariant| {
                let (color, shape) = self.look(at);
                (
                    Sign::Point(Look { shape, radius: 5.0, color, hollow: false }),
                    shorten(fonts, &variant.label, Hand::new(SMALL, MUTED), LONGEST_NAME),
                )
            };
            entries.extend(self.variants.iter().enumerate().map(|(at, variant)| mark(at, variant)));
        } else {
            entries.push((Sign::Trial, format!("one trial, of any of {} variants", self.variants.len())));
        }
        if swarm::is_crowd(n) {
            entries.push((Sign::Words, "trials that coincide are one mark".to_owned()));
        }
        if trials().any(|trial| trial.tainted) {
            entries.push((Sign::Tainted, "tainted trial".to_owned()));
        }
        if self.runs.iter().any(|run| run.line.is_some()) {
            entries.push((Sign::MedianAcross, "least-squares line of a run".to_owned()));
        }
        if self.runs.iter().any(|run| run.trials.windows(2).any(|pair| pair[0].block != pair[1].block)) {
            entries.push((Sign::BandAcross, "every other block".to_owned()));
        }
        entries
    }
}

impl Plan<'_> {
    /// The middle of the trial at this place of the sequence.
    fn x(&self, place: usize) -> f32 {
        self.edge(place) + self.step() / 2.0
    }

    fn edge(&self, place: usize) -> f32 {
        self.plot.left + place as f32 * self.step()
    }

    fn step(&self) -> f32 {
        self.plot.width() / self.count.max(1) as f32
    }

    fn y(&self, percent: f64) -> f32 {
        self.plot.bottom - self.up.share(percent) * self.plot.height()
    }

    /// The runs, each with the place of its first trial.
    fn runs(&self) -> impl Iterator<Item = (usize, &DriftRun)> {
        self.chart.runs.iter().scan(0, |place, run| {
            let first = *place;
            *place += run.trials.len();
            Some((first, run))
        })
    }

    fn draw_blocks(&self, canvas: &mut Canvas) -> Result<(), ChartError> {
        for (first, run) in self.runs() {
            let mut place = first;
            for (number, block) in run.trials.chunk_by(|one, next| one.block == next.block).enumerate() {
                let (left, right) = (self.edge(place), self.edge(place + block.len()));
                if number % 2 == 1 && right - left >= NARROWEST_BLOCK {
                    canvas.block(Rect { left, right, top: self.plot.top, bottom: self.plot.bottom }, MUTED.mix(0.09))?;
                }
                place += block.len();
            }
        }
        Ok(())
    }

    fn draw_axis(&self, canvas: &mut Canvas) -> Result<(), ChartError> {
        let plot = self.plot;
        canvas.path(&[(plot.left, self.y(0.0)), (plot.right, self.y(0.0))], Stroke::new(AXIS, 1.5))?;
        canvas.path(&[(plot.left, plot.bottom), (plot.right, plot.bottom)], Stroke::new(AXIS, 1.0))?;
        let hand = Hand::new(TEXT, MUTED);
        // The axis counts trials from 1.
        let step = [1, 2, 5].iter().flat_map(|lead| (0..9).map(move |power| lead * 10_usize.pow(power)));
        let step = step.filter(|step| self.count / step <= 12).min().unwrap_or(1);
        for number in (1..=self.count).filter(|number| *number == 1 || number % step == 0) {
            let x = self.x(number - 1);
            if number == 1 || step == 1 || (x - self.x(0)) > 40.0 {
                canvas.path(&[(x, plot.bottom), (x, plot.bottom + 6.0)], Stroke::new(AXIS, 1.0))?;
                canvas.text(&number.to_string(), (x, plot.bottom + 18.0), Align::Center, hand)?;
            }
        }
        let middle = (plot.left + plot.right) / 2.0;
        canvas.text("trials in the order in which they ran", (middle, plot.bottom + 44.0), Align::Center, Hand::new(TEXT, INK))
    }

    /// A rule before each run but the first, and its name where there is room.
    fn draw_runs(&self, canvas: &mut Canvas) -> Result<(), ChartError> {
        if self.chart.runs.len() < 2 {
            return Ok(());
        }
        let hand = Hand::new(SMALL, MUTED);
        for (first, run) in self.runs() {
            let (left, right) = (self.edge(first), self.edge(first + run.trials.len()));
            if first > 0 {
                canvas.path(&[(left, self.plot.top - RUN_NAMES), (left, self.plot.bottom)], Stroke::new(INK, 1.5))?;
            }
            let name = shorten(canvas.fonts(), &run.label, hand, right - left - 12.0);
            if name.chars().count() > 3 {
                canvas.text(&name, (left + 6.0, self.plot.top - RUN_NAMES / 2.0), Align::Left, hand)?;
            }
        }
        Ok(())
    }

    fn draw_trials(&self, canvas: &mut Canvas) -> Result<(), ChartError> {
        let all: Vec<&DriftTrial> = self.chart.runs.iter().flat_map(|run| &run.trials).collect();
        let size = (self.step() * 0.45).clamp(2.2, 4.6);
        let spots: Vec<Spot> = all.iter().enumerate().map(|(at, trial)| (self.x(at), self.y(trial.percent))).collect();
        let looks: Vec<(usize, bool)> =
            all.iter().map(|trial| (if self.chart.is_colored() { trial.variant } else { 0 }, trial.tainted)).collect();
        let (across, down): (Vec<f32>, Vec<f32>) = spots.iter().copied().unzip();
        let drawn = swarm::drawn(&across, &down, &looks, size);
        for ((trial, spot), _) in all.into_iter().zip(spots).zip(drawn).filter(|((trial, _), drawn)| *drawn && trial.percent.is_finite()) {
            let (color, shape) = self.chart.look(trial.variant);
            canvas.mark(shape, spot, size, color, trial.tainted)?;
        }
        Ok(())
    }

    fn draw_lines(&self, canvas: &mut Canvas) -> Result<(), ChartError> {
        for (first, run) in self.runs() {
            let Some((from, to)) = run.line.filter(|_| !run.trials.is_empty()) else { continue };
            let ends = [(self.x(first), self.y(from)), (self.x(first + run.trials.len() - 1), self.y(to))];
            canvas.path(&ends, Stroke::new(PAPER, 6.0))?;
            canvas.path(&ends, Stroke::new(INK, 2.5))?;
        }
        Ok(())
    }
}
