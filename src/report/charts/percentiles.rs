//! Latency percentiles: one thin line per trial, a bold one through the medians of the trials. Latency on a logarithmic axis, percentiles on
//! one that gives every further nine the same room.

use super::canvas::{Align, Canvas, Hand, Picture, Rect, Spot, Stroke, picture};
use super::font::Fonts;
use super::frame::{self, AXIS_ROOM, HEIGHT, Header, Heading, Key, MARGIN, Sign, TEXT, WIDTH};
use super::number::{AxisUnit, significant};
use super::palette::{self, INK, Role, Shape};
use super::scale::Scale;
use super::text::{keep_apart, wrap};
use super::{Chart, ChartError, Measure};
use plotters::style::{Color, RGBColor};

/// Curves that can still be told apart.
pub const MOST_CURVES: usize = 8;
/// Trials of one curve that are drawn; more are only a blot.
const MOST_TRIALS: usize = 200;
/// Measured percentiles get a mark on the axis where there is room: the ends first, then these in their order, then the others.
const MARKS: [f64; 13] = [0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.95, 0.75, 0.25, 0.98, 0.8, 0.66, 0.1];

/// The chart's content.
#[derive(Debug, Clone, PartialEq)]
pub struct Percentiles {
    /// The words above.
    pub heading: Heading,
    /// What the horizontal axis measures.
    pub measure: Measure,
    /// One curve per variant, at most [`MOST_CURVES`].
    pub curves: Vec<Curve>,
    /// What else the key has to say, such as where the curves end and why.
    pub remarks: Vec<String>,
}

/// The percentiles of one variant.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// Its name, at the end of the line.
    pub label: String,
    /// Its role in the comparison.
    pub role: Role,
    /// The colour that this variant has in all charts of a report, below 7; its shape goes with it.
    pub hue: usize,
    /// Each trial: share of the requests, below 1, and the value that so many did not exceed.
    pub trials: Vec<Profile>,
    /// The median of the trials at each share.
    pub median: Vec<(f64, f64)>,
}

/// The percentiles of one trial.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// Share and value. What is not above zero or not finite is left out.
    pub values: Vec<(f64, f64)>,
    /// Whether something disturbed the trial: drawn dashed.
    pub tainted: bool,
}

/// Everything that is known before the first stroke.
struct Plan<'a> {
    chart: &'a Percentiles,
    plot: Rect,
    across: Scale,
    up: Scale,
}

/// The place of a share on an axis of nines: 0.9 is 1, 0.99 is 2.
fn nines(share: f64) -> f64 {
    -(1.0 - share).log10()
}

fn shown(values: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let is_shown = |(share, value): &&(f64, f64)| *share > 0.0 && *share < 1.0 && value.is_finite() && *value > 0.0;
    let mut shown: Vec<(f64, f64)> = values.iter().filter(is_shown).copied().collect();
    shown.sort_by(|a, b| a.0.total_cmp(&b.0));
    shown
}

impl Chart for Percentiles {
    fn picture(&self, fonts: &Fonts) -> Result<Picture, ChartError> {
        if self.curves.len() > MOST_CURVES {
            return Err(ChartError::TooManySeries { found: self.curves.len(), limit: MOST_CURVES });
        }
        let header = Header::set(fonts, &self.heading);
        let key = Key::set(fonts, self.key());
        let across = Scale::of_positive(self.all().map(|(_, value)| value));
        let up = Scale::of_span(self.all().map(|(share, _)| nines(share)));
        let hand = Hand::new(TEXT, INK);
        let top = header.bottom() + hand.line_height() + 12.0;
        let bottom = key.top(HEIGHT) - AXIS_ROOM;
        let marks = marks(&up, bottom - top, self.all().map(|(share, _)| share));
        let widest = marks.iter().map(|(_, text)| fonts.width(text, TEXT, hand.weight)).fold(0.0, f32::max);
        let labels: Vec<Vec<String>> = self.curves.iter().map(|curve| wrap(fonts, &curve.label, hand, 250.0, 2)).collect();
        let room = labels.iter().flatten().map(|line| fonts.width(line, TEXT, hand.weight)).fold(0.0, f32::max);
        let right = WIDTH - MARGIN - if room > 0.0 { room + 16.0 } else { 0.0 };
        let plot = Rect { left: MARGIN + widest + 12.0, top, right, bottom };
        let unit = AxisUnit::choose(self.measure.unit.symbol(), across.largest());
        let title = frame::value_title(&self.measure, &unit, &across);
        let ticks = frame::value_ticks(&across, &unit, (plot.width() / 95.0) as usize);
        let plan = Plan { chart: self, plot, across, up };
        picture(fonts, WIDTH, HEIGHT, |canvas| {
            header.draw(canvas)?;
            canvas.text("percentile of the requests", (MARGIN, header.bottom() + hand.line_height() / 2.0), Align::Left, hand)?;
            frame::draw_left_axis(canvas, plot, &up, &marks)?;
            frame::draw_bottom_axis(canvas, plot, &across, &ticks, &title)?;
            for curve in self.curves.iter().rev() {
                plan.draw_trials(canvas, curve)?;
            }
            plan.draw_leaders(canvas, &labels)?;
            for curve in self.curves.iter().rev() {
                plan.draw_median(canvas, curve)?;
            }
            key.draw(canvas, HEIGHT)
        })
    }
}

impl Percentiles {
    fn all(&self) -> impl Iterator<Item = (f64, f64)> {
        let of = |curve: &Curve| {
            let trials = curve.trials.iter().flat_map(|trial| shown(&trial.values));
            trials.chain(shown(&curve.median)).collect::<Vec<_>>()
        };
        self.curves.iter().flat_map(of)
    }

    fn key(&self) -> Vec<(Sign, String)> {
        let words = |sign, text: &str| (sign, text.to_owned());
        let mut entries = vec![words(Sign::Words, &frame::count_words(self.curves.iter().map(|curve| curve.trials.len()), "variant"))];
        let trials = || self.curves.iter().flat_map(|curve| &curve.trials);
        if trials().any(|trial| !trial.tainted) {
            entries.push(words(Sign::Thin, "one trial"));
        }
        if trials().any(|trial| trial.tainted) {
            entries.push(words(Sign::Dashed, "tainted trial"));
        }
        if self.curves.iter().any(|curve| curve.trials.len() > MOST_TRIALS) {
            entries.push(words(Sign::Words, &format!("{MOST_TRIALS} trials of a variant are drawn")));
        }
        if self.curves.iter().any(|curve| !curve.median.is_empty()) {
            entries.push(words(Sign::MedianAcross, "median of the trials, percentile by percentile"));
        }
        entries.extend(self.remarks.iter().map(|remark| words(Sign::Words, remark)));
        entries
    }
}

/// The marks of the axis of nines.
fn marks(up: &Scale, height: f32, shares: impl Iterator<Item = f64>) -> Vec<(f64, String)> {
    let mut measured: Vec<f64> = shares.collect();
    measured.sort_by(f64::total_cmp);
    measured.dedup();
    let ends = measured.last().into_iter().chain(measured.first()).copied();
    let known = MARKS.into_iter().filter(|share| measured.contains(share));
    let mut found: Vec<(f64, String)> = Vec::new();
    for share in ends.chain(known).chain(measured.iter().copied()) {
        let y = |mark: f64| up.share(mark) * height;
        let mark = nines(share);
        if found.iter().all(|(other, _)| (y(*other) - y(mark)).abs() >= 24.0) {
            found.push((mark, format!("p{}", percent(share))));
        }
    }
    found
}

/// `99.9` for 0.999.
fn percent(share: f64) -> String {
    let text = significant(share * 100.0, 7);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

impl Plan<'_> {
    fn spots(&self, values: &[(f64, f64)]) -> Vec<Spot> {
        let spot = |(share, value): (f64, f64)| {
            let x = self.plot.left + self.across.share(value) * self.plot.width();
            (x, self.plot.bottom - self.up.share(nines(share)) * self.plot.height())
        };
        shown(values).into_iter().map(spot).collect()
    }

    fn color(curve: &Curve) -> RGBColor {
        palette::color(curve.role, curve.hue)
    }

    /// The baseline's own, and one for each colour.
    fn shape(curve: &Curve) -> Shape {
        palette::shape(if curve.role == Role::Plain { curve.hue + 1 } else { 0 })
    }

    fn draw_trials(&self, canvas: &mut Canvas, curve: &Curve) -> Result<(), ChartError> {
        let thin = Stroke { color: Self::color(curve).mix(0.45), width: 1.0 };
        let step = curve.trials.len().div_ceil(MOST_TRIALS).max(1);
        for trial in curve.trials.iter().step_by(step) {
            let spots = self.spots(&trial.values);
            match (trial.tainted, &spots[..]) {
                (_, [only]) => canvas.mark(Self::shape(curve), *only, 2.0, Self::color(curve), trial.tainted)?,
                (true, _) => canvas.dashes(&spots, 5.0, 4.0, thin)?,
                (false, _) => canvas.path(&spots, thin)?,
            }
        }
        Ok(())
    }

    fn draw_median(&self, canvas: &mut Canvas, curve: &Curve) -> Result<(), ChartError> {
        let spots = self.spots(&curve.median);
        canvas.path(&spots, Stroke::new(Self::color(curve), 3.0))?;
        for spot in spots {
            canvas.mark(Self::shape(curve), spot, 5.0, Self::color(curve), false)?;
        }
        Ok(())
    }

    /// The names at the right, each led to the end of its curve: of ends at one height the rightmost one has the highest name, so that no
    /// leader crosses another.
    fn draw_leaders(&self, canvas: &mut Canvas, labels: &[Vec<String>]) -> Result<(), ChartError> {
        let hand = Hand::new(TEXT, INK);
        let mut named: Vec<(usize, Option<Spot>)> = (0..labels.len())
            .filter(|at| !labels[*at].is_empty())
            .map(|at| (at, self.spots(&self.chart.curves[at].median).pop()))
            .collect();
        let place = |end: &Option<Spot>| end.map_or((self.plot.bottom, 0.0), |(x, y)| (y, -x));
        named.sort_by(|(_, a), (_, b)| place(a).0.total_cmp(&place(b).0).then(place(a).1.total_cmp(&place(b).1)));
        let wish = |(at, end): &(usize, Option<Spot>)| (place(end).0, labels[*at].len() as f32 * hand.line_height() + 4.0);
        let centres = keep_apart(&named.iter().map(wish).collect::<Vec<_>>(), self.plot.top - 12.0, self.plot.bottom + 8.0);
        let left = self.plot.right + 16.0;
        for ((at, end), centre) in named.into_iter().zip(centres) {
            let curve = &self.chart.curves[at];
            if let Some(end) = end {
                canvas.path(&[end, (left - 5.0, centre)], Stroke { color: Self::color(curve).mix(0.5), width: 1.0 })?;
            }
            let strong = Hand { color: palette::readable(Self::color(curve)), ..hand };
            let top = centre - (labels[at].len() as f32 - 1.0) * hand.line_height() / 2.0;
            for (line, text) in labels[at].iter().enumerate() {
                canvas.text(text, (left, top + line as f32 * hand.line_height()), Align::Left, strong)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_further_nine_has_the_same_room() {
        let [a, b, c] = [0.9, 0.99, 0.999].map(nines);
        assert!((b - a - 1.0).abs() < 1e-9 && (c - b - 1.0).abs() < 1e-9);
        assert_eq!([0.5, 0.99, 0.999, 0.975, 0.99999].map(percent), ["50", "99", "99.9", "97.5", "99.999"]);
    }
}
