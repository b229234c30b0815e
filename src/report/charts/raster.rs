//! What was drawn -> pixels: anti-aliased shapes and sub-pixel text. What lies outside the picture is clipped.

use super::ink::Ink;
use super::stamp::Stamp;
use plotters_backend::BackendColor;
use std::collections::BTreeMap;
use tiny_skia::{FillRule, LineCap, LineJoin, Paint, Path, PathBuilder, Pixmap, Stroke, Transform};

/// Radius in pixels up to which circles are points that come back again and again.
const LARGEST_STAMP: u32 = 64;

/// Draws all of `inks` on `pixels`, one over the other.
pub(super) fn print(inks: &[Ink], pixels: &mut Pixmap) {
    // By radius.
    let mut stamps: BTreeMap<u32, Option<Stamp>> = BTreeMap::new();
    for ink in inks {
        match ink {
            Ink::Fill { path, color } => fill(pixels, path, *color, Transform::identity()),
            Ink::Text { outline, color, place, .. } => fill(pixels, outline, *color, *place),
            Ink::Dot { center, radius, color } if color.alpha >= 1.0 && *radius <= LARGEST_STAMP => {
                if let Some(stamp) = stamps.entry(*radius).or_insert_with(|| Stamp::new(*radius)) {
                    stamp.press(pixels, *center, color.rgb);
                }
            }
            Ink::Dot { center, radius, color } => {
                if let Some(circle) = PathBuilder::from_circle(center.0 as f32, center.1 as f32, *radius as f32) {
                    fill(pixels, &circle, *color, Transform::identity());
                }
            }
            Ink::Line { path, color, width, shift } => {
                let stroke = Stroke { width: *width, line_cap: LineCap::Butt, line_join: LineJoin::Round, ..Stroke::default() };
                pixels.stroke_path(path, &paint(*color), &stroke, Transform::from_translate(*shift, *shift), None);
            }
        }
    }
}

fn fill(pixels: &mut Pixmap, path: &Path, color: BackendColor, transform: Transform) {
    pixels.fill_path(path, &paint(color), FillRule::Winding, transform, None);
}

fn paint(color: BackendColor) -> Paint<'static> {
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    let (red, green, blue) = color.rgb;
    paint.set_color_rgba8(red, green, blue, (color.alpha.clamp(0.0, 1.0) * 255.0).round() as u8);
    paint
}

#[cfg(test)]
mod tests {
    use super::super::font::Fonts;
    use super::super::ink::Recorder;
    use super::*;
    use plotters::style::{BLACK, Color, IntoTextStyle, TextStyle};
    use plotters_backend::text_anchor::{HPos, Pos, VPos};
    use plotters_backend::{DrawingBackend, FontTransform};

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

    fn drawn(draw: impl FnOnce(&mut Recorder)) -> Option<(usize, usize, usize, usize)> {
        let fonts = Fonts::embedded();
        let mut pixels = Pixmap::new(200, 100).expect("a surface");
        let mut inks = Vec::new();
        draw(&mut Recorder::new((200, 100), &fonts, &mut inks));
        print(&inks, &mut pixels);
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
