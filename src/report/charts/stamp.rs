//! A filled circle as a stamp: a chart of many trials holds the same one a hundred thousand times, and its outline is computed once.

use tiny_skia::{FillRule, Paint, PathBuilder, Pixmap, Transform};

/// How much of each pixel around its centre a circle covers.
pub(super) struct Stamp {
    /// Pixels from the left and upper edge to the centre.
    reach: i32,
    /// Row by row, `2 * reach` in each, 255 for all of a pixel.
    cover: Vec<u8>,
}

impl Stamp {
    /// The stamp of a circle; none when it is too large to be held.
    pub(super) fn new(radius: u32) -> Option<Self> {
        let reach = radius.checked_add(1)?;
        let mut sheet = Pixmap::new(reach.checked_mul(2)?, reach.checked_mul(2)?)?;
        let circle = PathBuilder::from_circle(reach as f32, reach as f32, radius as f32);
        if let Some(circle) = circle {
            let paint = Paint { anti_alias: true, ..Paint::default() };
            sheet.fill_path(&circle, &paint, FillRule::Winding, Transform::identity(), None);
        }
        Some(Self { reach: i32::try_from(reach).ok()?, cover: sheet.pixels().iter().map(|pixel| pixel.alpha()).collect() })
    }

    /// Presses it onto an opaque picture; what lies outside is cut off.
    pub(super) fn press(&self, pixels: &mut Pixmap, (x, y): (i32, i32), (red, green, blue): (u8, u8, u8)) {
        let (width, height, side) = (pixels.width() as i32, pixels.height() as i32, 2 * self.reach);
        let (left, top) = (x - self.reach, y - self.reach);
        let (first, last) = ((-left).clamp(0, side), (width - left).clamp(0, side));
        if first >= last {
            return;
        }
        let data = pixels.data_mut();
        for row in (-top).clamp(0, side)..(height - top).clamp(0, side) {
            let start = (((top + row) * width + left + first) * 4) as usize;
            let covers = &self.cover[(row * side + first) as usize..(row * side + last) as usize];
            for (pixel, cover) in data[start..].chunks_exact_mut(4).zip(covers).filter(|(_, cover)| **cover > 0) {
                for (channel, ink) in pixel.iter_mut().zip([red, green, blue, 255]) {
                    *channel = mixed(*channel, ink, *cover);
                }
            }
        }
    }
}

/// Rounded as the rasteriser itself rounds, so that a stamp and a path are the same pixels but for a few at the edge.
fn mixed(under: u8, ink: u8, cover: u8) -> u8 {
    let (under, ink, cover) = (u32::from(under), u32::from(ink), u32::from(cover));
    ((under * (255 - cover) + ink * cover + 255) >> 8) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An outline elsewhere is rounded a little differently, by one of the sixteen samples of a pixel: that is all.
    #[test]
    fn a_stamp_and_a_path_look_the_same() {
        let mut ground = Pixmap::new(90, 70).expect("a surface");
        for (at, pixel) in ground.data_mut().chunks_exact_mut(4).enumerate() {
            pixel.copy_from_slice(&[(at * 7) as u8, (at * 13) as u8, (at * 29) as u8, 255]);
        }
        for radius in [0, 1, 2, 4, 9, 11] {
            let stamp = Stamp::new(radius).expect("a stamp");
            for (x, y) in [(30, 30), (31, 47), (57, 14), (12, 55)] {
                let (mut pressed, mut filled) = (ground.clone(), ground.clone());
                stamp.press(&mut pressed, (x, y), (0, 114, 178));
                let mut paint = Paint { anti_alias: true, ..Paint::default() };
                paint.set_color_rgba8(0, 114, 178, 255);
                if let Some(path) = PathBuilder::from_circle(x as f32, y as f32, radius as f32) {
                    filled.fill_path(&path, &paint, FillRule::Winding, Transform::identity(), None);
                }
                let differ: Vec<u8> = pressed.data().iter().zip(filled.data()).map(|(a, b)| a.abs_diff(*b)).filter(|by| *by > 0).collect();
                let most = differ.iter().copied().max().unwrap_or(0);
                assert!(differ.len() <= 12 && most <= 16, "radius {radius} at {x}, {y}: {} by at most {most}", differ.len());
            }
        }
    }

    #[test]
    fn what_lies_outside_is_cut_off() {
        let stamp = Stamp::new(5).expect("a stamp");
        let black = |at: (i32, i32)| {
            let mut sheet = Pixmap::new(40, 30).expect("a surface");
            sheet.fill(tiny_skia::Color::WHITE);
            stamp.press(&mut sheet, at, (0, 0, 0));
            sheet.pixels().iter().filter(|pixel| pixel.red() == 0).count()
        };
        let whole = black((20, 15));
        assert_eq!([black((0, 15)) * 2, black((40, 15)) * 2, black((20, 0)) * 2, black((0, 30)) * 4], [whole; 4]);
        assert_eq!([black((-500, 9)), black((20, 9000)), black((-6, -6)), black((46, 36))], [0; 4]);
    }
}
