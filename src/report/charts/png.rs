//! Pixels -> the bytes of a PNG file of few colours. Nothing but pixels and density goes in: no time, no program version, so equal
//! pixels are equal bytes.

use super::ChartError;
use png::{BitDepth, ColorType, Compression, Encoder, Filter, PixelDimensions, Unit};
use std::collections::BTreeMap;
use tiny_skia::{Pixmap, PremultipliedColorU8};

/// Shades in a file; a palette holds 256, but a quarter of them smooths as well and packs better.
pub(super) const SHADES: usize = 64;

/// Shades in the file of a picture whose colours are amounts: none may become its neighbour.
pub(super) const ALL_SHADES: usize = 256;

/// 192 dots per inch, the density of a picture drawn at twice its logical size.
const DOTS_PER_METRE: u32 = 7559;

/// Encodes an opaque picture in at most so many shades, up to 256.
///
/// # Errors
///
/// [`ChartError::Encode`] when the encoder refuses the picture.
pub(super) fn encode(pixels: &Pixmap, shades: usize) -> Result<Vec<u8>, ChartError> {
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, pixels.width(), pixels.height());
    let (palette, indices) = indexed(pixels, shades);
    encoder.set_color(ColorType::Indexed);
    encoder.set_palette(palette);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_compression(Compression::Balanced);
    // Places in a palette are names, not amounts: predicting one from its neighbour only makes noise.
    encoder.set_filter(Filter::NoFilter);
    encoder.set_pixel_dims(Some(PixelDimensions { xppu: DOTS_PER_METRE, yppu: DOTS_PER_METRE, unit: Unit::Meter }));
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&indices)?;
    writer.finish()?;
    Ok(bytes)
}

/// The palette as bytes, and each pixel's place in it.
///
/// A chart has few colours, and very many shades where edges are smoothed. The most frequent shades stay as they are,
/// the rare ones become the nearest of those: no eye sees it, and the file is a third of the size.
fn indexed(pixels: &Pixmap, shades: usize) -> (Vec<u8>, Vec<u8>) {
    // A shade is one number, which compares much faster than three: there are millions of runs.
    let shade = |run: &[PremultipliedColorU8]| u32::from_be_bytes([0, run[0].red(), run[0].green(), run[0].blue()]);
    let runs: Vec<(u32, usize)> = pixels.pixels().chunk_by(|a, b| a == b).map(|run| (shade(run), run.len())).collect();
    let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
    for (shade, length) in &runs {
        *counts.entry(*shade).or_default() += length;
    }
    let mut ranked: Vec<(u32, usize)> = counts.into_iter().collect();
    ranked.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    let palette: Vec<[u8; 3]> = ranked.iter().take(shades).map(|(shade, _)| channels(*shade)).collect();
    let places: BTreeMap<u32, u8> = ranked.iter().map(|(shade, _)| (*shade, nearest(&palette, channels(*shade)))).collect();
    let mut indices = Vec::with_capacity(pixels.pixels().len());
    for (shade, length) in runs {
        indices.resize(indices.len() + length, places[&shade]);
    }
    (palette.concat(), indices)
}

fn channels(shade: u32) -> [u8; 3] {
    let [_, red, green, blue] = shade.to_be_bytes();
    [red, green, blue]
}

fn nearest(palette: &[[u8; 3]], shade: [u8; 3]) -> u8 {
    let distance = |other: &[u8; 3]| shade.iter().zip(other).map(|(a, b)| u32::from(a.abs_diff(*b)).pow(2)).sum::<u32>();
    let best = palette.iter().enumerate().min_by_key(|(_, other)| distance(other));
    best.map_or(0, |(at, _)| at as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_holds_size_density_and_pixels_and_nothing_else() {
        let mut pixels = Pixmap::new(3, 2).expect("a surface");
        pixels.fill(tiny_skia::Color::from_rgba8(10, 20, 30, 255));
        let bytes = encode(&pixels, SHADES).expect("encoded");
        let mut kinds = Vec::new();
        let mut at = 8;
        while at < bytes.len() {
            let length = u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes")) as usize;
            kinds.push(String::from_utf8_lossy(&bytes[at + 4..at + 8]).into_owned());
            at += length + 12;
        }
        assert_eq!(kinds, ["IHDR", "pHYs", "PLTE", "IDAT", "IEND"]);
        let mut decoder = png::Decoder::new(std::io::Cursor::new(&bytes));
        decoder.set_transformations(png::Transformations::EXPAND);
        let mut reader = decoder.read_info().expect("readable");
        let mut back = vec![0; reader.output_buffer_size().expect("a size")];
        reader.next_frame(&mut back).expect("a frame");
        assert_eq!(back, [10, 20, 30].repeat(6));
        assert_eq!(bytes, encode(&pixels, SHADES).expect("encoded again"));
    }

    #[test]
    fn frequent_shades_are_exact_and_rare_ones_go_to_their_neighbour() {
        let mut pixels = Pixmap::new(400, 2).expect("a surface");
        for (at, pixel) in pixels.data_mut().chunks_exact_mut(4).enumerate() {
            let shade = if at < 100 { at as u8 } else { 7 };
            pixel.copy_from_slice(&[shade, 0, 0, 255]);
        }
        let (palette, indices) = indexed(&pixels, SHADES);
        assert_eq!(palette.len(), SHADES * 3);
        let shade = |at: usize| &palette[usize::from(indices[at]) * 3..][..3];
        assert_eq!(shade(799), [7, 0, 0]);
        assert_eq!(palette[..3], [7, 0, 0], "the most frequent comes first");
        for (at, pixel) in pixels.data().chunks_exact(4).enumerate() {
            let expected = [pixel[0].min(63), 0, 0];
            assert_eq!(shade(at), expected, "pixel {at}: of equally rare shades the darker ones stay");
        }
    }
}
