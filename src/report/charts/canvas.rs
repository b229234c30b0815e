//! The sheet that charts draw on: logical pixels, named strokes and marks, and a memory of where each label went.

use super::font::{Fonts, Weight};
use super::ink::{Ink, Recorder};
use super::palette::{Coat, PAPER, Shape};
use super::{ChartError, png, raster, svg};
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, DrawingAreaErrorKind, IntoDrawingArea};
use plotters::element::{Circle, PathElement, Polygon, Rectangle};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, IntoTextStyle, RGBAColor, RGBColor, ShapeStyle};
use plotters_backend::FontStyle;
use tiny_skia::Pixmap;

/// Device pixels per logical pixel.
const DENSITY: f32 = 2.0;
/// Height of a line of text, in em.
pub(super) const LINE_HEIGHT: f32 = 1.25;

/// A place on the sheet: logical pixels from the left and from the top.
pub(super) type Spot = (f32, f32);

/// A rectangle of the sheet, in logical pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rect {
    pub(super) left: f32,
    pub(super) top: f32,
    pub(super) right: f32,
    pub(super) bottom: f32,
}

impl Rect {
    pub(super) fn width(&self) -> f32 {
        self.right - self.left
    }

    pub(super) fn height(&self) -> f32 {
        self.bottom - self.top
    }
}

/// A label that was drawn, and the room it takes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Label {
    pub(super) text: String,
    pub(super) room: Rect,
    /// Logical pixels per em.
    pub(super) size: f32,
}

/// How text looks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Hand {
    /// Logical pixels per em.
    pub(super) size: f32,
    pub(super) weight: Weight,
    pub(super) color: RGBColor,
}

impl Hand {
    pub(super) fn new(size: f32, color: RGBColor) -> Self {
        Self { size, weight: Weight::Regular, color }
    }

    pub(super) fn bold(self) -> Self {
        Self { weight: Weight::SemiBold, ..self }
    }

    pub(super) fn line_height(&self) -> f32 {
        self.size * LINE_HEIGHT
    }
}

/// Which end of the text stands at the given place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    Center,
    Right,
}

/// A line: colour with transparency, and logical width.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stroke {
    pub(super) color: RGBAColor,
    pub(super) width: f32,
}

impl Stroke {
    pub(super) fn new(color: RGBColor, width: f32) -> Self {
        Self { color: color.to_rgba(), width }
    }

    fn style(self) -> ShapeStyle {
        ShapeStyle { color: self.color, filled: false, stroke_width: (self.width * DENSITY).round().max(1.0) as u32 }
    }
}

/// The finished picture, not yet in any format.
pub struct Picture {
    /// Pixels across and down.
    size: (u32, u32),
    /// Most shades of its PNG.
    shades: usize,
    inks: Vec<Ink>,
    /// Every label on it, in the order drawn.
    #[cfg_attr(not(test), expect(dead_code, reason = "the layout is checked by tests"))]
    pub(super) labels: Vec<Label>,
}

impl Picture {
    /// The PNG file.
    ///
    /// # Errors
    ///
    /// [`ChartError`] when so many pixels cannot be had, or they cannot be encoded.
    pub fn png(&self) -> Result<Vec<u8>, ChartError> {
        let (width, height) = self.size;
        let mut pixels = Pixmap::new(width, height).ok_or(ChartError::Size { width, height })?;
        raster::print(&self.inks, &mut pixels);
        png::encode(&pixels, self.shades)
    }

    /// The SVG file; `title` says what the picture shows, for those who do not see it.
    #[must_use]
    pub fn svg(&self, title: &str) -> String {
        svg::write(&self.inks, self.size, DENSITY, title)
    }

    /// Its height in logical pixels.
    #[cfg(test)]
    pub(super) fn height(&self) -> f32 {
        self.size.1 as f32 / DENSITY
    }
}

/// A sheet of paper while it is drawn on.
pub(super) struct Canvas<'a> {
    area: DrawingArea<Recorder<'a>, Shift>,
    fonts: &'a Fonts,
    labels: Vec<Label>,
}

type Drawn = Result<(), ChartError>;

/// Gives `draw` a white sheet of this logical size and keeps what it left there.
///
/// # Errors
///
/// [`ChartError`] when `draw` fails.
pub(super) fn picture(fonts: &Fonts, width: f32, height: f32, draw: impl FnOnce(&mut Canvas) -> Drawn) -> Result<Picture, ChartError> {
    picture_in(png::SHADES, fonts, width, height, draw)
}

/// As [`picture`], in at most so many shades where it becomes pixels.
///
/// # Errors
///
/// As [`picture`].
pub(super) fn picture_in(
    shades: usize,
    fonts: &Fonts,
    width: f32,
    height: f32,
    draw: impl FnOnce(&mut Canvas) -> Drawn,
) -> Result<Picture, ChartError> {
    let size = ((width * DENSITY).round() as u32, (height * DENSITY).round() as u32);
    let mut inks = Vec::new();
    let area = Recorder::new(size, fonts, &mut inks).into_drawing_area();
    area.fill(&PAPER).map_err(failed)?;
    let mut canvas = Canvas { area, fonts, labels: Vec::new() };
    draw(&mut canvas)?;
    canvas.area.present().map_err(failed)?;
    let Canvas { labels, .. } = canvas;
    Ok(Picture { size, shades, inks, labels })
}

fn failed<E: std::error::Error + Send + Sync>(error: DrawingAreaErrorKind<E>) -> ChartError {
    ChartError::Draw { reason: error.to_string() }
}

fn device((x, y): Spot) -> (i32, i32) {
    ((x * DENSITY).round() as i32, (y * DENSITY).round() as i32)
}

impl<'a> Canvas<'a> {
    /// The faces in use, for measuring.
    pub(super) fn fonts(&self) -> &'a Fonts {
        self.fonts
    }

    /// The width of a line of text.
    pub(super) fn measure(&self, text: &str, hand: Hand) -> f32 {
        self.fonts.width(text, hand.size, hand.weight)
    }

    /// One line of text; its capitals are centred on the height of `at`.
    pub(super) fn text(&mut self, text: &str, at: Spot, align: Align, hand: Hand) -> Drawn {
        let width = self.measure(text, hand);
        let (anchor, left) = match align {
            Align::Left => (HPos::Left, at.0),
            Align::Center => (HPos::Center, at.0 - width / 2.0),
            Align::Right => (HPos::Right, at.0 - width),
        };
        let weight = if hand.weight == Weight::SemiBold { FontStyle::Bold } else { FontStyle::Normal };
        let size = f64::from(hand.size * DENSITY);
        let style = ("sans-serif", size, weight, &hand.color).into_text_style(&self.area).pos(Pos::new(anchor, VPos::Center));
        self.area.draw_text(text, &style, device(at)).map_err(failed)?;
        let half = hand.line_height() / 2.0;
        let room = Rect { left, top: at.1 - half, right: left + width, bottom: at.1 + half };
        self.labels.push(Label { text: text.to_owned(), room, size: hand.size });
        Ok(())
    }

    /// A line through all of `spots`.
    pub(super) fn path(&mut self, spots: &[Spot], stroke: Stroke) -> Drawn {
        let points: Vec<_> = spots.iter().copied().map(device).collect();
        self.area.draw(&PathElement::new(points, stroke.style())).map_err(failed)
    }

    /// A dashed line through all of `spots`; dash and gap in logical pixels.
    pub(super) fn dashes(&mut self, spots: &[Spot], dash: f32, gap: f32, stroke: Stroke) -> Drawn {
        let (mut on, mut left) = (true, dash);
        let mut piece: Vec<Spot> = spots.first().copied().into_iter().collect();
        for pair in spots.windows(2) {
            let (mut from, to) = (pair[0], pair[1]);
            loop {
                let length = (to.0 - from.0).hypot(to.1 - from.1);
                if length <= left {
                    left -= length;
                    piece.push(to);
                    break;
                }
                let share = left / length;
                from = (from.0 + (to.0 - from.0) * share, from.1 + (to.1 - from.1) * share);
                piece.push(from);
                if on {
                    self.path(&piece, stroke)?;
                }
                on = !on;
                left = if on { dash } else { gap };
                piece = vec![from];
            }
        }
        if on && piece.len() > 1 { self.path(&piece, stroke) } else { Ok(()) }
    }

    /// A filled rectangle.
    pub(super) fn block(&mut self, rect: Rect, color: RGBAColor) -> Drawn {
        let corners = [device((rect.left, rect.top)), device((rect.right, rect.bottom))];
        self.area.draw(&Rectangle::new(corners, color.filled())).map_err(failed)
    }

    /// A rectangle in a colour that may be hatched: the more, the denser the lines.
    pub(super) fn tile(&mut self, rect: Rect, coat: Coat) -> Drawn {
        self.block(rect, coat.color.to_rgba())?;
        if coat.hatch == 0 {
            return Ok(());
        }
        self.hatch(rect, 12.0 / coat.hatch.min(3) as f32, Stroke::new(PAPER, 1.0))
    }

    /// Lines over a rectangle that rise to the right, so far apart.
    pub(super) fn hatch(&mut self, rect: Rect, step: f32, stroke: Stroke) -> Drawn {
        let mut start = rect.left - rect.height() + step / 2.0;
        while start < rect.right {
            // The line rises from the bottom edge at `start`.
            let (from, to) = (start.max(rect.left), (start + rect.height()).min(rect.right));
            let height = |x: f32| rect.bottom - (x - start);
            self.path(&[(from, height(from)), (to, height(to))], stroke)?;
            start += step;
        }
        Ok(())
    }

    /// The edge of a rectangle.
    pub(super) fn edge(&mut self, rect: Rect, stroke: Stroke) -> Drawn {
        let corners = [(rect.left, rect.top), (rect.right, rect.top), (rect.right, rect.bottom), (rect.left, rect.bottom)];
        self.path(&[&corners[..], &[corners[0], corners[1]]].concat(), stroke)
    }

    /// A point: filled with a thin white rim that keeps neighbours apart, or hollow.
    pub(super) fn mark(&mut self, shape: Shape, at: Spot, radius: f32, color: RGBColor, hollow: bool) -> Drawn {
        let (outer, inner) = if hollow { (color.to_rgba(), PAPER.to_rgba()) } else { (PAPER.to_rgba(), color.to_rgba()) };
        let rim = if hollow { 1.6 } else { 0.8 };
        let (wide, narrow) = if hollow { (radius, radius - rim) } else { (radius + rim, radius) };
        self.shape(shape, at, wide, outer)?;
        self.shape(shape, at, narrow, inner)
    }

    fn shape(&mut self, shape: Shape, at: Spot, radius: f32, color: RGBAColor) -> Drawn {
        if shape == Shape::Circle {
            let size = (radius * DENSITY).round() as i32;
            return self.area.draw(&Circle::new(device(at), size, color.filled())).map_err(failed);
        }
        let corners: Vec<_> = corners(shape).into_iter().map(|(x, y)| device((at.0 + x * radius, at.1 + y * radius))).collect();
        self.area.draw(&Polygon::new(corners, color.filled())).map_err(failed)
    }
}

/// The corners of a shape about as heavy as the unit circle.
fn corners(shape: Shape) -> Vec<Spot> {
    let regular = |sides: u16, turn: f32, size: f32| -> Vec<Spot> {
        let angle = |at: u16| (turn + 360.0 * f32::from(at) / f32::from(sides)).to_radians();
        (0..sides).map(|at| (size * angle(at).sin(), -size * angle(at).cos())).collect()
    };
    match shape {
        Shape::Circle => Vec::new(),
        Shape::Square => regular(4, 45.0, 1.25),
        Shape::Diamond => regular(4, 0.0, 1.3),
        Shape::TriangleUp => regular(3, 0.0, 1.35),
        Shape::TriangleDown => regular(3, 180.0, 1.35),
        Shape::Pentagon => regular(5, 0.0, 1.15),
        Shape::Hexagon => regular(6, 0.0, 1.1),
        Shape::Star => {
            let (tips, dents) = (regular(5, 0.0, 1.5), regular(5, 36.0, 0.65));
            tips.into_iter().zip(dents).flat_map(|(tip, dent)| [tip, dent]).collect()
        }
    }
}
