//! Characters that are not seen, or that move what stands around them: every text of a person is shown without them, in HTML, Markdown,
//! CSV and on a terminal alike.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Whether a character would act instead of being seen: control characters but white space (a terminal obeys them), what turns the
/// direction of writing (it can make `exe.txt` of `txt.exe`), and what has no width and joins nothing.
fn acts(c: char) -> bool {
    if matches!(c, ' '..='~') {
        return false;
    }
    let turns = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let hides = matches!(c, '\u{ad}' | '\u{180e}' | '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{206a}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}');
    turns || hides || (c.is_control() && !c.is_whitespace())
}

/// The text with such characters named instead: `⟨U+202E⟩`. White space stays.
#[must_use]
pub fn visible(raw: &str) -> Cow<'_, str> {
    if !raw.contains(acts) {
        return Cow::Borrowed(raw);
    }
    let mut shown = String::with_capacity(raw.len() + 16);
    for c in raw.chars() {
        if acts(c) {
            let _ = write!(shown, "⟨U+{:04X}⟩", u32::from(c));
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// The same on one line: white space as single spaces, and none at the ends.
#[must_use]
pub fn one_line(raw: &str) -> String {
    spaced(raw).trim().to_owned()
}

/// The same for a part of a line: a space at an end may part it from its neighbour and stays.
pub(super) fn spaced(raw: &str) -> String {
    let mut line = String::with_capacity(raw.len());
    for c in visible(raw).chars() {
        if !c.is_whitespace() {
            line.push(c);
        } else if !line.ends_with(' ') {
            line.push(' ');
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_is_named_and_what_is_read_stays() {
        let table = [
            ("txt\u{202e}exe", "txt⟨U+202E⟩exe"),
            ("\u{2066}a\u{2069}", "⟨U+2066⟩a⟨U+2069⟩"),
            ("\u{1b}[31mred\0", "⟨U+001B⟩[31mred⟨U+0000⟩"),
            ("a\u{200b}b\u{feff}", "a⟨U+200B⟩b⟨U+FEFF⟩"),
            ("\u{e0041}", "⟨U+E0041⟩"),
            ("שלום العربية 日本 👩\u{200d}🔧 a\u{301}", "שלום العربية 日本 👩\u{200d}🔧 a\u{301}"),
            ("two\n\tlines", "two\n\tlines"),
        ];
        for (raw, shown) in table {
            assert_eq!(visible(raw), shown);
        }
        assert_eq!((one_line(" a\r\n\u{2028} b\t"), spaced(" a \n b\n")), ("a b".into(), " a b ".into()));
    }
}
