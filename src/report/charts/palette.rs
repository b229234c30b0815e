//! Colours and shapes: Okabe-Ito, told apart by shape as well, never by colour alone.

use crate::model::estimate::Verdict;
use plotters::style::RGBColor;

/// Text and marks of the highest rank.
pub(super) const INK: RGBColor = RGBColor(0x1f, 0x23, 0x28);
/// Secondary text.
pub(super) const MUTED: RGBColor = RGBColor(0x57, 0x5d, 0x66);
/// Axis lines and tick marks.
pub(super) const AXIS: RGBColor = RGBColor(0x9a, 0xa0, 0xa8);
/// Grid lines.
pub(super) const GRID: RGBColor = RGBColor(0xe6, 0xe8, 0xeb);
/// The paper.
pub(super) const PAPER: RGBColor = RGBColor(0xff, 0xff, 0xff);
/// The baseline.
pub(super) const BASELINE: RGBColor = RGBColor(0x00, 0x00, 0x00);
/// The A/A control.
pub(super) const CONTROL: RGBColor = RGBColor(0x80, 0x86, 0x8d);

/// Okabe and Ito's colours. Yellow is faint on paper and black is the baseline's, so these two come last: beside a
/// baseline there are at most seven other series.
const HUES: [RGBColor; 8] = [
    RGBColor(0x00, 0x72, 0xb2),
    RGBColor(0xd5, 0x5e, 0x00),
    RGBColor(0x00, 0x9e, 0x73),
    RGBColor(0xcc, 0x79, 0xa7),
    RGBColor(0xe6, 0x9f, 0x00),
    RGBColor(0x56, 0xb4, 0xe9),
    RGBColor(0xf0, 0xe4, 0x42),
    BASELINE,
];

/// What a series or row is to the comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Role {
    /// One of the things compared.
    #[default]
    Plain,
    /// What the others are compared with: black.
    Baseline,
    /// The second copy of the baseline: grey.
    Control,
}

/// Who used CPU time, for its colour: the same in all charts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paint {
    /// A workload, by its place among the workloads.
    Workload(usize),
    /// A service, by its place among the services.
    Service(usize),
    /// docker-proxy.
    Proxy,
    /// The engine.
    Engine,
    /// Programs that are told apart: grey, hatched.
    Named,
    /// Interrupts.
    Softirq,
    /// Tasks of others: grey.
    Foreign,
    /// Shakedown itself: the darkest.
    Observer,
    /// The host as a whole: what is no one's share.
    Host,
}

/// A colour, and how densely it is hatched: 0 is plain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Coat {
    pub(super) color: RGBColor,
    pub(super) hatch: usize,
}

/// The colour of who used CPU time. Workloads and services beyond the first ones have the same colours again, hatched.
pub(super) fn coat(paint: Paint) -> Coat {
    const SERVICES: [usize; 3] = [2, 3, 6];
    let plain = |color: RGBColor| Coat { color, hatch: 0 };
    match paint {
        Paint::Workload(place) => Coat { color: HUES[0], hatch: place },
        Paint::Service(place) => Coat { color: HUES[SERVICES[place % SERVICES.len()]], hatch: place / SERVICES.len() },
        Paint::Proxy => plain(HUES[1]),
        Paint::Engine => plain(HUES[4]),
        Paint::Named => Coat { color: CONTROL, hatch: 1 },
        Paint::Softirq => plain(HUES[5]),
        Paint::Foreign => plain(CONTROL),
        Paint::Observer => plain(INK),
        Paint::Host => plain(MUTED),
    }
}

/// Stops of the colours of ratios: purple below 1, grey at 1, orange above, lighter towards the middle. Eyes that cannot tell red from
/// green can tell these.
const DIVERGING: [RGBColor; 5] = [
    RGBColor(0x4f, 0x2d, 0x8a),
    RGBColor(0xab, 0xa0, 0xd0),
    RGBColor(0xf4, 0xf4, 0xf3),
    RGBColor(0xf4, 0xb0, 0x62),
    RGBColor(0xba, 0x54, 0x06),
];

/// Steps of these colours to either side of 1: few enough for all of them to be in a picture's palette.
pub(super) const DIVERGING_STEPS: i32 = 16;

/// The colour of a ratio by its place between the ends of the scale, from -1 to 1; 0 is the ratio 1.
pub(super) fn diverging(place: f64) -> RGBColor {
    let steps = f64::from(DIVERGING_STEPS);
    let along = ((place.clamp(-1.0, 1.0) * steps).round() / steps + 1.0) * 2.0;
    let below = (along.floor() as usize).min(DIVERGING.len() - 2);
    let (RGBColor(r, g, b), RGBColor(red, green, blue)) = (DIVERGING[below], DIVERGING[below + 1]);
    let share = along - below as f64;
    let between = |from: u8, to: u8| (f64::from(from) + (f64::from(to) - f64::from(from)) * share).round() as u8;
    RGBColor(between(r, red), between(g, green), between(b, blue))
}

/// Ink or paper: what is easier to read on this colour.
pub(super) fn ink_on(color: RGBColor) -> RGBColor {
    let on_paper = contrast_on_paper(color);
    if on_paper >= contrast_on_paper(INK) / on_paper { PAPER } else { INK }
}

/// The outline of a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Circle,
    Square,
    Diamond,
    TriangleUp,
    TriangleDown,
    Pentagon,
    Hexagon,
    Star,
}

const SHAPES: [Shape; 8] =
    [Shape::Circle, Shape::Square, Shape::Diamond, Shape::TriangleUp, Shape::TriangleDown, Shape::Pentagon, Shape::Hexagon, Shape::Star];

/// How a point looks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Look {
    pub(super) shape: Shape,
    pub(super) radius: f32,
    pub(super) color: RGBColor,
    pub(super) hollow: bool,
}

/// How an effect looks by what may be said of it; `worse` is one in the direction that is no improvement. Without a verdict it looks
/// undecided. Shape and filling tell as much as the colour does.
pub(super) fn verdict(verdict: Option<Verdict>, worse: bool) -> Look {
    let side = HUES[usize::from(worse)];
    let (shape, radius, color, hollow) = match verdict {
        Some(Verdict::Different) => (Shape::Circle, 6.0, side, false),
        Some(Verdict::DifferentSmall) => (Shape::Diamond, 5.0, side, false),
        Some(Verdict::Equivalent) => (Shape::Square, 5.0, HUES[2], false),
        Some(Verdict::Undecided) | None => (Shape::Circle, 5.5, MUTED, true),
    };
    Look { shape, radius, color, hollow }
}

/// The colour of a thing by its role, or by its place among the plain ones.
pub(super) fn color(role: Role, hue: usize) -> RGBColor {
    match role {
        Role::Baseline => BASELINE,
        Role::Control => CONTROL,
        Role::Plain => HUES[hue % HUES.len()],
    }
}

/// The shape that goes with the place of a series.
pub(super) fn shape(place: usize) -> Shape {
    SHAPES[place % SHAPES.len()]
}

/// The same hue, for what stands back.
pub(super) fn faint(RGBColor(red, green, blue): RGBColor) -> RGBColor {
    let pale = |channel: u8| 255 - (255 - channel) / 5 * 2;
    RGBColor(pale(red), pale(green), pale(blue))
}

/// The same hue, dark enough to be read as text on paper (contrast of 4.5 or more).
pub(super) fn readable(color: RGBColor) -> RGBColor {
    let mut dark = color;
    while contrast_on_paper(dark) < 4.5 {
        dark = RGBColor(shade(dark.0), shade(dark.1), shade(dark.2));
    }
    dark
}

fn shade(channel: u8) -> u8 {
    (u16::from(channel) * 15 / 16) as u8
}

/// Contrast ratio against white, as WCAG 2.1 defines it, with the plain 2.2 power for the transfer function.
fn contrast_on_paper(RGBColor(red, green, blue): RGBColor) -> f64 {
    let light = |channel: u8| (f64::from(channel) / 255.0).powf(2.2);
    1.05 / (0.2126 * light(red) + 0.7152 * light(green) + 0.0722 * light(blue) + 0.05)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_on_every_colour_can_be_read_and_no_two_parts_look_alike() {
        use Paint::{Engine, Foreign, Host, Named, Observer, Proxy, Service, Softirq, Workload};
        let parts = [
            Workload(0),
            Workload(1),
            Service(0),
            Service(1),
            Service(2),
            Service(3),
            Proxy,
            Engine,
            Named,
            Softirq,
            Foreign,
            Observer,
            Host,
        ];
        for (at, part) in parts.into_iter().enumerate() {
            let color = coat(part).color;
            let (ink, paper) = (contrast_on_paper(INK) / contrast_on_paper(color), contrast_on_paper(color));
            assert!(if ink_on(color) == INK { ink } else { paper } >= 3.7, "{part:?}: {ink} {paper}");
            assert!(parts[..at].iter().all(|other| coat(*other) != coat(part)), "{part:?}");
        }
    }

    #[test]
    fn colours_of_ratios_are_lightest_at_one_and_all_can_be_written_on() {
        for step in -DIVERGING_STEPS..=DIVERGING_STEPS {
            let color = |step: i32| diverging(f64::from(step) / f64::from(DIVERGING_STEPS));
            let (here, next) = (color(step), color(step + 1));
            let (light, lighter) = (contrast_on_paper(here), contrast_on_paper(next));
            assert!(step == DIVERGING_STEPS || (light > lighter) == (step < 0), "{step}");
            let contrast = if ink_on(here) == INK { contrast_on_paper(INK) / light } else { light };
            assert!(contrast >= 4.0, "{step}: {contrast}");
        }
        assert_eq!([diverging(-9.0), diverging(0.0), diverging(9.0)], [DIVERGING[0], DIVERGING[2], DIVERGING[4]]);
    }

    #[test]
    fn every_colour_of_text_can_be_read_and_keeps_its_hue() {
        for hue in HUES {
            assert!(contrast_on_paper(readable(hue)) >= 4.5, "{hue:?}");
        }
        assert!(contrast_on_paper(MUTED) >= 4.5);
        assert_eq!(readable(HUES[0]), HUES[0], "blue is dark enough as it is");
        let RGBColor(red, green, blue) = readable(HUES[6]);
        assert!(red > blue && green > blue, "yellow stays yellowish");
        assert!((contrast_on_paper(RGBColor(0, 0, 0)) - 21.0).abs() < 1e-9);
    }
}
