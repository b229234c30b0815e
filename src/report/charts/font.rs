//! Faces and text layout: which face has a glyph, how wide a line is, and its outline.
//!
//! Two faces are embedded (Inter, under the SIL Open Font License, see `assets/fonts/OFL.txt`), so that a bare container
//! draws the same chart as a desktop. Faces for other scripts come from the caller as bytes: nothing is looked up here.
//! What no face can draw becomes a visible box, and [`Fonts::missing`] names it beforehand.

use std::sync::Arc;
use tiny_skia::PathBuilder;
use ttf_parser::gpos::{PairAdjustment, PositioningSubtable};
use ttf_parser::{Face, GlyphId, OutlineBuilder, Tag};

/// Why a fallback face was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FontError {
    /// The bytes are no face that can be drawn.
    #[error("face {index} of the font cannot be read: {reason}")]
    Unreadable {
        /// The index that was asked for.
        index: u32,
        /// What the reader of the format said.
        reason: ttf_parser::FaceParsingError,
    },
}

/// The two weights that charts use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// Running text, ticks and labels.
    Regular,
    /// Titles.
    SemiBold,
}

/// The faces of a chart: the embedded pair, then the caller's fallbacks in the order they were given.
#[derive(Clone)]
pub struct Fonts {
    regular: Face<'static>,
    semibold: Face<'static>,
    fallbacks: Vec<(Arc<[u8]>, u32)>,
}

/// One line of text, laid out: y grows downwards, the base line is at 0.
pub(super) struct Line {
    /// Advance of the whole line, in pixels.
    pub(super) width: f32,
    /// The filled outline; none when nothing is visible.
    pub(super) outline: Option<tiny_skia::Path>,
}

impl Fonts {
    /// The embedded faces alone: Latin, Greek, Cyrillic, arrows and mathematical signs.
    ///
    /// # Panics
    ///
    /// Never: both files are part of the program and covered by tests.
    #[must_use]
    pub fn embedded() -> Self {
        let face = |bytes| Face::parse(bytes, 0).expect("an embedded face is readable");
        Self {
            regular: face(include_bytes!("../../../assets/fonts/Inter-Regular.otf")),
            semibold: face(include_bytes!("../../../assets/fonts/Inter-SemiBold.otf")),
            fallbacks: Vec::new(),
        }
    }

    /// Adds a face that is asked for each glyph that the earlier ones lack; `index` picks one of a collection (`.ttc`),
    /// 0 for a plain file.
    ///
    /// # Errors
    ///
    /// [`FontError::Unreadable`] when the bytes are no such face.
    pub fn with_fallback(mut self, bytes: Arc<[u8]>, index: u32) -> Result<Self, FontError> {
        Face::parse(&bytes, index).map_err(|reason| FontError::Unreadable { index, reason })?;
        self.fallbacks.push((bytes, index));
        Ok(self)
    }

    /// The characters of `text` that no face can draw, each once, in order of appearance.
    #[must_use]
    pub fn missing(&self, text: &str) -> Vec<char> {
        let stack = self.stack(Weight::Regular);
        let mut found = Vec::new();
        for c in visible(text) {
            if pick(&stack, c).is_none() && !found.contains(&c) {
                found.push(c);
            }
        }
        found
    }

    /// Lays `text` out at `size` pixels per em, with its outline.
    pub(super) fn line(&self, text: &str, size: f32, weight: Weight) -> Line {
        let mut path = PathBuilder::new();
        let width = self.walk(text, size, weight, |face, glyph, x| match (face, glyph) {
            (Some(face), Some(glyph)) => {
                let x = (x * STEPS).round() / STEPS;
                let scale = size / f32::from(face.units_per_em());
                face.outline_glyph(glyph, &mut Pen { path: &mut path, x, scale });
            }
            _ => missing_box(&mut path, x, size),
        });
        Line { width, outline: path.finish() }
    }

    /// The width of `text` at `size` pixels per em.
    pub(super) fn width(&self, text: &str, size: f32, weight: Weight) -> f32 {
        self.walk(text, size, weight, |_, _, _| {})
    }

    fn walk(&self, text: &str, size: f32, weight: Weight, mut put: impl FnMut(Option<&Face>, Option<GlyphId>, f32)) -> f32 {
        let stack = self.stack(weight);
        let mut x = 0.0;
        let mut previous: Option<(usize, GlyphId)> = None;
        for c in visible(text) {
            let Some((at, glyph)) = pick(&stack, c) else {
                put(None, None, x);
                x += size * MISSING_ADVANCE;
                previous = None;
                continue;
            };
            let face = &stack[at];
            let scale = size / f32::from(face.units_per_em());
            if let Some((before, left)) = previous
                && before == at
            {
                x += f32::from(kerning(face, left, glyph)) * scale;
            }
            put(Some(face), Some(glyph), x);
            x += f32::from(face.glyph_hor_advance(glyph).unwrap_or(0)) * scale;
            previous = Some((at, glyph));
        }
        x
    }

    fn stack(&self, weight: Weight) -> Vec<Face<'_>> {
        let (first, second) = match weight {
            Weight::Regular => (&self.regular, &self.semibold),
            Weight::SemiBold => (&self.semibold, &self.regular),
        };
        let mut stack = vec![first.clone(), second.clone()];
        stack.extend(self.fallbacks.iter().filter_map(|(bytes, index)| Face::parse(bytes, *index).ok()));
        stack
    }
}

/// The characters that take part in layout: line breaks and tabs become spaces, controls and joiners vanish.
fn visible(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter_map(|c| match c {
        '\n' | '\t' | '\r' | '\u{a0}' => Some(' '),
        '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' => None,
        c if c.is_control() => None,
        c => Some(c),
    })
}

fn pick(stack: &[Face], c: char) -> Option<(usize, GlyphId)> {
    stack.iter().enumerate().find_map(|(at, face)| face.glyph_index(c).map(|glyph| (at, glyph)))
}

/// Pair adjustment in font units, from the `kern` feature of GPOS: modern faces have no `kern` table any more.
fn kerning(face: &Face, left: GlyphId, right: GlyphId) -> i16 {
    let Some(gpos) = face.tables().gpos else { return 0 };
    let Some(feature) = gpos.features.find(Tag::from_bytes(b"kern")) else { return 0 };
    let lookups = feature.lookup_indices.into_iter().filter_map(|index| gpos.lookups.get(index));
    lookups.map(|lookup| lookup.subtables.into_iter().find_map(|table| pair(table, left, right)).unwrap_or(0)).sum()
}

/// What one subtable says about a pair; none lets the next subtable speak.
fn pair(table: PositioningSubtable, left: GlyphId, right: GlyphId) -> Option<i16> {
    let PositioningSubtable::Pair(table) = table else { return None };
    let first = match table {
        PairAdjustment::Format1 { coverage, sets } => sets.get(coverage.get(left)?)?.get(right)?.0,
        PairAdjustment::Format2 { coverage, classes, matrix } => {
            coverage.get(left)?;
            matrix.get((classes.0.get(left), classes.1.get(right)))?.0
        }
    };
    Some(first.x_advance)
}

/// Places that a glyph may take within a pixel: spacing stays even to the eye, and repeated words pack better.
const STEPS: f32 = 2.0;

const MISSING_ADVANCE: f32 = 0.7;

/// A hollow box: the sign for a character that no face has.
fn missing_box(path: &mut PathBuilder, x: f32, size: f32) {
    let frame = |path: &mut PathBuilder, inset: f32, clockwise: bool| {
        let (left, right) = (x + size * 0.08 + inset, x + size * 0.62 - inset);
        let (top, bottom) = (-size * 0.74 + inset, -inset);
        path.move_to(left, top);
        let corners = [(right, top), (right, bottom), (left, bottom)];
        let ordered: Vec<_> = if clockwise { corners.to_vec() } else { corners.iter().rev().copied().collect() };
        for (x, y) in ordered {
            path.line_to(x, y);
        }
        path.close();
    };
    frame(path, 0.0, true);
    frame(path, size * 0.06, false);
}

/// Puts a glyph's outline at a place of the line: font units, y up -> pixels, y down.
struct Pen<'a> {
    path: &'a mut PathBuilder,
    x: f32,
    scale: f32,
}

impl Pen<'_> {
    fn at(&self, x: f32, y: f32) -> (f32, f32) {
        (self.x + x * self.scale, -y * self.scale)
    }
}

impl OutlineBuilder for Pen<'_> {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.at(x1, y1), self.at(x, y));
        self.path.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.at(x1, y1), self.at(x2, y2), self.at(x, y));
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_kerned_and_widths_scale() {
        let fonts = Fonts::embedded();
        let width = |text, size| fonts.width(text, size, Weight::Regular);
        assert!(width("AV", 100.0) < width("A", 100.0) + width("V", 100.0) - 2.0, "A and V move together");
        assert!((width("HH", 100.0) - 2.0 * width("H", 100.0)).abs() < 1.0, "H and H do not");
        assert!((width("Throughput", 32.0) - 2.0 * width("Throughput", 16.0)).abs() < 0.01);
        assert_eq!(width("", 20.0), 0.0);
        assert_eq!(width("a\u{200b}b\u{fe0f}", 20.0), width("ab", 20.0));
        assert_eq!(width("a\nb", 20.0), width("a b", 20.0));
    }

    #[test]
    fn a_missing_glyph_is_named_and_drawn_as_a_box() {
        let fonts = Fonts::embedded();
        assert_eq!(fonts.missing("µ ± × ≤ ↑ ↓ — – … ⁻¹² Ω ё"), Vec::<char>::new());
        assert_eq!(fonts.missing("性能 of 性"), vec!['性', '能']);
        let line = fonts.line("性", 100.0, Weight::Regular);
        assert!((line.width - 70.0).abs() < 0.01);
        let bounds = line.outline.expect("a box").bounds();
        assert!((bounds.height() - 74.0).abs() < 0.1, "{bounds:?}");
    }

    #[test]
    fn a_fallback_is_asked_only_for_what_is_missing_and_rubbish_is_refused() {
        let regular: Arc<[u8]> = Arc::from(&include_bytes!("../../../assets/fonts/Inter-Regular.otf")[..]);
        let fonts = Fonts::embedded().with_fallback(Arc::clone(&regular), 0).expect("a face");
        assert_eq!(fonts.width("Time", 20.0, Weight::SemiBold), Fonts::embedded().width("Time", 20.0, Weight::SemiBold));
        let refused = |bytes: Arc<[u8]>, index| Fonts::embedded().with_fallback(bytes, index).err();
        assert!(matches!(refused(Arc::from(&b"not a font"[..]), 0), Some(FontError::Unreadable { index: 0, .. })));
        assert!(matches!(refused(regular, 7), Some(FontError::Unreadable { index: 7, .. })));
    }

    /// A collection of two faces that share their tables.
    fn collection(face: &[u8]) -> Vec<u8> {
        let number = |at: usize| u32::from_be_bytes(face[at..at + 4].try_into().expect("four bytes"));
        let start = 20u32;
        let mut bytes = b"ttcf\0\x01\0\0\0\0\0\x02".to_vec();
        bytes.extend([start, start].iter().flat_map(|offset| offset.to_be_bytes()));
        let mut moved = face.to_vec();
        for table in 0..usize::from(u16::from_be_bytes([face[4], face[5]])) {
            let at = 12 + table * 16 + 8;
            moved[at..at + 4].copy_from_slice(&(number(at) + start).to_be_bytes());
        }
        bytes.extend(moved);
        bytes
    }

    #[test]
    fn a_face_of_a_collection_is_found_by_its_index() {
        let bytes: Arc<[u8]> = collection(include_bytes!("../../../assets/fonts/Inter-Regular.otf")).into();
        for index in [0, 1] {
            assert!(Fonts::embedded().with_fallback(Arc::clone(&bytes), index).is_ok(), "{index}");
        }
        let refused = Fonts::embedded().with_fallback(bytes, 2).err();
        assert!(matches!(refused, Some(FontError::Unreadable { index: 2, .. })));
    }
}
