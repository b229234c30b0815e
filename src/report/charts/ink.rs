//! What was drawn, as a list: the surface under plotters only remembers, and `raster` or `svg` make a file of it.
//!
//! Plotters' own bitmap text cuts every glyph to whole pixels and forgets bearings; here text is the outlines of its letters, so that
//! neither pixels nor vectors need a font later. It knows no charts. Coordinates outside the sheet are legal.

use super::font::{Fonts, Weight};
use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind, FontStyle, FontTransform,
};
use std::convert::Infallible;
use tiny_skia::{Path, PathBuilder, Rect, Transform};

/// Half the height of a capital letter, in em: text is centred on its capitals, which is what the eye does.
const HALF_CAPITAL: f32 = 0.364;
/// Height of the line above its base line, and depth below it, in em.
const ASCENT: f32 = 0.95;
const DESCENT: f32 = 0.25;
/// Beyond this many pixels nothing can be seen, and the rasteriser's own arithmetic would suffer.
const FAR: i32 = 30_000;

/// One thing that was drawn, in device pixels.
pub(super) enum Ink {
    /// A filled shape.
    Fill { path: Path, color: BackendColor },
    /// A filled circle.
    Dot { center: (i32, i32), radius: u32, color: BackendColor },
    /// A line. `shift` moves it to both sides, so that an odd width does not blur over two pixel rows.
    Line { path: Path, color: BackendColor, width: f32, shift: f32 },
    /// A line of text: its outline, and where it goes.
    Text { words: String, outline: Path, color: BackendColor, place: Transform },
}

type Drawn = Result<(), DrawingErrorKind<Infallible>>;

/// A sheet that plotters can draw on. Drawing never fails.
pub(super) struct Recorder<'a> {
    size: (u32, u32),
    fonts: &'a Fonts,
    inks: &'a mut Vec<Ink>,
}

impl<'a> Recorder<'a> {
    /// Appends to `inks` what is drawn with the faces of `fonts` on a sheet of so many pixels.
    pub(super) fn new(size: (u32, u32), fonts: &'a Fonts, inks: &'a mut Vec<Ink>) -> Self {
        Self { size, fonts, inks }
    }

    fn fill(&mut self, path: Option<Path>, color: BackendColor) {
        self.inks.extend(path.map(|path| Ink::Fill { path, color }));
    }

    fn stroke<S: BackendStyle>(&mut self, path: Option<Path>, style: &S, crisp: bool) {
        let width = style.stroke_width();
        let shift = if crisp && width % 2 == 1 { 0.5 } else { 0.0 };
        self.inks.extend(path.map(|path| Ink::Line { path, color: style.color(), width: width as f32, shift }));
    }
}

fn near((x, y): BackendCoord) -> (f32, f32) {
    (x.clamp(-FAR, FAR) as f32, y.clamp(-FAR, FAR) as f32)
}

fn outline(points: impl IntoIterator<Item = BackendCoord>, closed: bool) -> Option<Path> {
    let mut path = PathBuilder::new();
    for (at, point) in points.into_iter().enumerate() {
        let (x, y) = near(point);
        if at == 0 { path.move_to(x, y) } else { path.line_to(x, y) }
    }
    if closed {
        path.close();
    }
    path.finish()
}

fn weight(style: &FontStyle) -> Weight {
    if matches!(style, FontStyle::Bold) { Weight::SemiBold } else { Weight::Regular }
}

impl DrawingBackend for Recorder<'_> {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        self.size
    }

    fn ensure_prepared(&mut self) -> Drawn {
        Ok(())
    }

    fn present(&mut self) -> Drawn {
        Ok(())
    }

    fn draw_pixel(&mut self, point: BackendCoord, color: BackendColor) -> Drawn {
        let (x, y) = near(point);
        let square = Rect::from_xywh(x, y, 1.0, 1.0).map(PathBuilder::from_rect);
        self.fill(square, color);
        Ok(())
    }

    fn draw_line<S: BackendStyle>(&mut self, from: BackendCoord, to: BackendCoord, style: &S) -> Drawn {
        self.stroke(outline([from, to], false), style, true);
        Ok(())
    }

    fn draw_rect<S: BackendStyle>(&mut self, a: BackendCoord, b: BackendCoord, style: &S, fill: bool) -> Drawn {
        let ((ax, ay), (bx, by)) = (near(a), near(b));
        let path = Rect::from_ltrb(ax.min(bx), ay.min(by), ax.max(bx), ay.max(by)).map(PathBuilder::from_rect);
        if fill {
            self.fill(path, style.color());
        } else {
            self.stroke(path, style, true);
        }
        Ok(())
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(&mut self, path: I, style: &S) -> Drawn {
        self.stroke(outline(path, false), style, true);
        Ok(())
    }

    fn draw_circle<S: BackendStyle>(&mut self, center: BackendCoord, radius: u32, style: &S, fill: bool) -> Drawn {
        if fill {
            let at = (center.0.clamp(-FAR, FAR), center.1.clamp(-FAR, FAR));
            self.inks.push(Ink::Dot { center: at, radius, color: style.color() });
            return Ok(());
        }
        let (x, y) = near(center);
        self.stroke(PathBuilder::from_circle(x, y, radius as f32), style, false);
        Ok(())
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(&mut self, corners: I, style: &S) -> Drawn {
        self.fill(outline(corners, true), style.color());
        Ok(())
    }

    fn estimate_text_size<T: BackendTextStyle>(&self, text: &str, style: &T) -> Result<(u32, u32), DrawingErrorKind<Infallible>> {
        let size = style.size() as f32;
        let width = self.fonts.width(text, size, weight(&style.style()));
        Ok((width.ceil() as u32, (size * (ASCENT + DESCENT)).ceil() as u32))
    }

    fn draw_text<T: BackendTextStyle>(&mut self, text: &str, style: &T, position: BackendCoord) -> Drawn {
        let size = style.size() as f32;
        let line = self.fonts.line(text, size, weight(&style.style()));
        let dx = match style.anchor().h_pos {
            HPos::Left => 0.0,
            HPos::Center => -line.width / 2.0,
            HPos::Right => -line.width,
        };
        let dy = match style.anchor().v_pos {
            VPos::Top => ASCENT * size,
            VPos::Center => HALF_CAPITAL * size,
            VPos::Bottom => -DESCENT * size,
        };
        let degrees = match style.transform() {
            FontTransform::None => 0.0,
            FontTransform::Rotate90 => 90.0,
            FontTransform::Rotate180 => 180.0,
            FontTransform::Rotate270 => 270.0,
        };
        let (x, y) = near(position);
        // A base line on a whole pixel row gives crisp feet, and equal words equal pixels, which pack better.
        let turned = Transform::from_translate(dx.round(), dy.round()).post_concat(Transform::from_rotate(degrees));
        let place = turned.post_translate(x, y);
        let text = |outline| Ink::Text { words: text.to_owned(), outline, color: style.color(), place };
        self.inks.extend(line.outline.map(text));
        Ok(())
    }
}
