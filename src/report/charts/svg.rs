//! What was drawn -> an SVG file. Text is the outlines of its letters: no reader needs a font, and every one sees what was measured
//! when the chart was laid out. The words stand beside the outlines as labels. Nothing outside of the file is named.

use super::ink::Ink;
use plotters_backend::BackendColor;
use std::fmt::Write;
use tiny_skia::{Path, PathSegment, Point};

/// The file of a picture so many pixels across and down, shown at `1 / density` of that; `title` says what it shows.
pub(super) fn write(inks: &[Ink], (width, height): (u32, u32), density: f32, title: &str) -> String {
    let (across, down) = (number(width as f32 / density), number(height as f32 / density));
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{across}\" height=\"{down}\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
         stroke-linejoin=\"round\">\n<title>{}</title>\n",
        escaped(title)
    );
    for ink in inks {
        element(ink, &mut svg);
        svg.push('\n');
    }
    svg.push_str("</svg>\n");
    svg
}

fn element(ink: &Ink, svg: &mut String) {
    let written = match ink {
        Ink::Fill { path, color } => write!(svg, "<path{} d=\"{}\"/>", paint("fill", *color), outline(path, 0.0)),
        Ink::Dot { center: (x, y), radius, color } => {
            write!(svg, "<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"{}/>", paint("fill", *color))
        }
        Ink::Line { path, color, width, shift } => {
            let (stroke, width) = (paint("stroke", *color), number(*width));
            write!(svg, "<path fill=\"none\"{stroke} stroke-width=\"{width}\" d=\"{}\"/>", outline(path, *shift))
        }
        Ink::Text { words, outline: letters, color, place } => {
            let placed = letters.clone().transform(*place).map(|path| outline(&path, 0.0)).unwrap_or_default();
            write!(svg, "<path aria-label=\"{}\"{} d=\"{placed}\"/>", escaped(words), paint("fill", *color))
        }
    };
    written.expect("a string takes everything");
}

fn paint(what: &str, color: BackendColor) -> String {
    let (red, green, blue) = color.rgb;
    let opacity = if color.alpha < 1.0 { format!(" {what}-opacity=\"{}\"", number(color.alpha as f32)) } else { String::new() };
    format!(" {what}=\"#{red:02x}{green:02x}{blue:02x}\"{opacity}")
}

fn outline(path: &Path, shift: f32) -> String {
    let mut data = String::new();
    let mut put = |command: char, points: &[Point]| {
        data.push(command);
        for (at, point) in points.iter().enumerate() {
            if at > 0 {
                data.push(' ');
            }
            data.push_str(&place(point.x + shift));
            data.push(' ');
            data.push_str(&place(point.y + shift));
        }
    };
    for segment in path.segments() {
        match segment {
            PathSegment::MoveTo(to) => put('M', &[to]),
            PathSegment::LineTo(to) => put('L', &[to]),
            PathSegment::QuadTo(by, to) => put('Q', &[by, to]),
            PathSegment::CubicTo(one, other, to) => put('C', &[one, other, to]),
            PathSegment::Close => put('Z', &[]),
        }
    }
    data
}

/// A coordinate, to a tenth of a device pixel: no eye sees more, and letters are most of the file.
fn place(value: f32) -> String {
    short(format!("{value:.1}"))
}

fn number(value: f32) -> String {
    short(format!("{value:.2}"))
}

fn short(text: String) -> String {
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// Text for a document or an attribute; characters that XML 1.0 does not have become the replacement character.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\n' | '\t' | '\r' => safe.push(' '),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => safe.push('\u{fffd}'),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_text_is_harmless() {
        let table = [(0.0, "0"), (-0.001, "0"), (12.5, "12.5"), (100.0, "100"), (-3.25, "-3.25"), (0.333, "0.33")];
        for (value, expected) in table {
            assert_eq!(number(value), expected);
        }
        assert_eq!([place(0.04), place(-0.04), place(10.0), place(7.25)], ["0", "0", "10", "7.2"]);
        assert_eq!(escaped("<a b=\"c\">&\u{1b}[31m\n\u{ffff}"), "&lt;a b=&quot;c&quot;&gt;&amp;\u{fffd}[31m \u{fffd}");
    }
}
