//! The drawing surface under plotters: anti-aliased shapes and sub-pixel text on a pixel map.
//!
//! Plotters' own bitmap text cuts every glyph to whole pixels and forgets bearings; this backend fills outlines instead.
//! It draws what it is told and knows no charts. Coordinates outside the surface are legal and clipped.

use super::font::{Fonts, Weight};
use super::stamp::Stamp;
use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind, FontStyle, FontTransform,
};
use std::collections::BTreeMap;
use std::convert::Infallible;
use tiny_skia::{FillRule, LineCap, LineJoin, Paint, Path, PathBuilder, Pixmap, Rect, Stroke, Transform};

/// Half the height of a capital letter, in em: text is centred on its capitals, which is what the eye does.
const HALF_CAPITAL: f32 = 0.364;
/// Height of the line above its base line, and depth below it, in em.
const ASCENT: f32 = 0.95;
const DESCENT: f32 = 0.25;
/// Beyond this many pixels nothing can be seen, and the rasteriser's own arithmetic would suffer.
const FAR: i32 = 30_000;

/// Radius in pixels up to which circles are points that come back again and again.
const LARGEST_STAMP: u32 = 64;

type Drawn = Result<(), DrawingErrorKind<Infallible>>;

/// A pixel map that plotters can draw on. Drawing never fails.
pub(super) struct Raster<'a> {
    pixels: &'a mut Pixmap,
    fonts: &'a Fonts,
    /// By radius.
    stamps: BTreeMap<u32, Option<Stamp>>,
}

impl<'a> Raster<'a> {
    /// Draws on `pixels` with the faces of `fonts`.
    pub(super) fn new(pixels: &'a mut Pixmap, fonts: &'a Fonts) -> Self {
        Self { pixels, fonts, stamps: BTreeMap::new() }
    }

    fn fill(&mut self, path: Option<Path>, color: BackendColor, transform: Transform) {
        if let Some(path) = path {
            self.pixels.fill_path(&path, &paint(color), FillRule::Winding, transform, None);
        }
    }

    fn stroke<S: BackendStyle>(&mut self, path: Option<Path>, style: &S, crisp: bool) {
        let width = style.stroke_width();
        // An odd width centred on a whole coordinate would blur over two pixel rows.
        let shift = if crisp && width % 2 == 1 { 0.5 } else { 0.0 };
        let stroke = Stroke { width: width as f32, line_cap: LineCap::Butt, line_join: LineJoin::Round, ..Stroke::default() };
        if let Some(path) = path {
            self.pixels.stroke_path(&path, &paint(style.color()), &stroke, Transform::from_translate(shift, shift), None);
        }
    }
}

fn paint(color: BackendColor) -> Paint<'static> {
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    let (red, green, blue) = color.rgb;
    paint.set_color_rgba8(red, green, blue, (color.alpha.clamp(0.0, 1.0) * 255.0).round() as u8);
    paint
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

impl DrawingBackend for Raster<'_> {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        (self.pixels.width(), self.pixels.height())
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
        self.fill(square, color, Transform::identity());
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
            self.fill(path, style.color(), Transform::identity());
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
        if fill && style.color().alpha >= 1.0 && radius <= LARGEST_STAMP {
            let at = (center.0.clamp(-FAR, FAR), center.1.clamp(-FAR, FAR));
            if let Some(stamp) = self.stamps.entry(radius).or_insert_with(|| Stamp::new(radius)) {
                stamp.press(self.pixels, at, style.color().rgb);
            }
            return Ok(());
        }
        let (x, y) = near(center);
        let path = PathBuilder::from_circle(x, y, radius as f32);
        if fill {
            self.fill(path, style.color(), Transform::identity());
        } else {
            self.stroke(path, style, false);
        }
        Ok(())
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(&mut self, corners: I, style: &S) -> Drawn {
        self.fill(outline(corners, true), style.color(), Transform::identity());
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
        self.fill(line.outline, style.color(), turned.post_translate(x, y));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plotters::style::{BLACK, Color, IntoTextStyle, TextStyle};
    use plotters_backend::text_anchor::Pos;

    /// The smallest box (left, top, right, bottom; right and bottom exclusive) around everything that is not blank.
    fn ink(pixels: &Pixmap) -> Option<(usize, usize, usize, usize)> {
        let width = pixels.width() as usize;
        let mut found: Option<(usize, usize, usize, usize)> = None;
        for (at, pixel) in pixels.pixels().iter().enumerate().filter(|(_, pixel)| pixel.alpha() > 40) {
            let _ = pixel;
            let (x, y) = (at % width, at / width);
            let (l, t, r, b) = found.unwrap_or((x, y, x + 1, y + 1));
            found = Some((l.min(x), t.min(y), r.max(x + 1), b.max(y + 1)));
        }
        found
    }

    fn drawn(draw: impl FnOnce(&mut Raster)) -> Option<(usize, usize, usize, usize)> {
        let fonts = Fonts::embedded();
        let mut pixels = Pixmap::new(200, 100).expect("a surface");
        draw(&mut Raster::new(&mut pixels, &fonts));
        ink(&pixels)
    }

    fn text(style: &TextStyle) -> Option<(usize, usize, usize, usize)> {
        drawn(|raster| raster.draw_text("HHHH", style, (100, 50)).expect("drawn"))
    }

    #[test]
    fn shapes_land_on_the_pixels_they_name() {
        let wide = BLACK.filled().stroke_width(2);
        assert_eq!(drawn(|r| r.draw_line((10, 20), (50, 20), &wide).expect("drawn")), Some((10, 19, 50, 21)));
        assert_eq!(drawn(|r| r.draw_line((10, 20), (50, 20), &BLACK.filled().stroke_width(1)).expect("drawn")), Some((10, 20, 51, 21)));
        assert_eq!(drawn(|r| r.draw_rect((50, 40), (10, 20), &BLACK.filled(), true).expect("drawn")), Some((10, 20, 50, 40)));
        assert_eq!(drawn(|r| r.draw_circle((50, 50), 10, &BLACK.filled(), true).expect("drawn")), Some((40, 40, 60, 60)));
    }

    #[test]
    fn anchors_and_rotation_move_the_text_around_its_place() {
        let plain = ("sans-serif", 20).into_text_style(&(200, 100)).color(&BLACK);
        let centred = plain.pos(Pos::new(HPos::Center, VPos::Center));
        let (l, t, r, b) = text(&centred).expect("text");
        assert!((99..=101).contains(&((l + r) / 2)) && (49..=51).contains(&((t + b) / 2)), "{l} {t} {r} {b}");
        let turned = centred.transform(FontTransform::Rotate270);
        let (tl, tt, tr, tb) = text(&turned).expect("text");
        assert!((tr - tl).abs_diff(b - t) <= 1 && (tb - tt).abs_diff(r - l) <= 1, "the sides change places");
        let right = plain.pos(Pos::new(HPos::Right, VPos::Bottom));
        let (_, _, r, b) = text(&right).expect("text");
        assert!(r <= 100 && b <= 50, "{r} {b}");
    }

    #[test]
    fn coordinates_far_outside_are_clipped() {
        let style = BLACK.filled().stroke_width(3);
        let far = (i32::MIN, i32::MAX);
        let all = drawn(|raster| {
            raster.draw_line(far, (i32::MAX, i32::MIN), &style).expect("drawn");
            raster.draw_rect(far, (-5, -5), &style, true).expect("drawn");
            raster.draw_circle(far, 4, &style, true).expect("drawn");
            raster.fill_polygon([far, (i32::MAX, 0), (0, i32::MIN)], &style).expect("drawn");
            raster.draw_text("far", &("sans-serif", 20).into_text_style(&(9, 9)), far).expect("drawn");
            raster.draw_path(std::iter::empty(), &style).expect("drawn");
        });
        assert!(all.is_some());
    }
}
