//! Other people's text where nothing escapes it, such as on a terminal.

/// The text with what would move the cursor, colour the line or turn its direction shown as numbers: `\u{1b}`.
#[must_use]
pub fn visible(text: &str) -> String {
    let turns = |c: char| matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let shown = |c: char| if c.is_control() || turns(c) { c.escape_unicode().to_string() } else { c.to_string() };
    text.chars().map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_shown() {
        let table = [
            ("cpus=1", "cpus=1"),
            ("日本 é", "日本 é"),
            ("a\u{1b}[31mb", "a\\u{1b}[31mb"),
            ("a\nb\t", "a\\u{a}b\\u{9}"),
            ("\u{202e}gnp.exe\u{2066}", "\\u{202e}gnp.exe\\u{2066}"),
        ];
        for (text, shown) in table {
            assert_eq!(visible(text), shown);
        }
    }
}
