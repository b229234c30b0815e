//! Text in Markdown: the texts of other people are shown as they are and never become markup, a link, a formula or HTML.

use super::inline::{Inline, Piece, address};
use crate::report::visible::{one_line, spaced};

/// A text on one line; safe in a table's cell and at the start of a line. Only commands are a block.
#[must_use]
pub fn markdown(inline: &Inline) -> String {
    not_a_block(marked(inline).trim().to_owned())
}

fn marked(inline: &Inline) -> String {
    let mut out = String::new();
    let mut after_code = false;
    for part in inline.pieces() {
        let is_code = matches!(part, Piece::Code(_));
        // The fences of two spans that touch would be read as one.
        out.push_str(if is_code && after_code { " " } else { "" });
        out.push_str(&piece(part));
        after_code = is_code;
    }
    out
}

fn piece(piece: &Piece) -> String {
    match piece {
        Piece::Text(raw) => text(raw),
        Piece::Code(raw) => code(raw),
        Piece::Strong(inner) => around("**", inner),
        Piece::Emphasis(inner) => around("*", inner),
        Piece::Link(file) => format!("[{}]({})", text(file), address(file)),
        Piece::Target(file) => address(file),
        Piece::Console(commands) => console(commands),
    }
}

/// Marked up, where there is something: a mark beside white space or around nothing would be shown.
fn around(mark: &str, inner: &Inline) -> String {
    let inner = marked(inner);
    let inner = inner.trim();
    if inner.is_empty() { String::new() } else { format!("{mark}{inner}{mark}") }
}

/// Text inside a line.
fn text(raw: &str) -> String {
    let line = spaced(raw);
    let mut escaped = String::with_capacity(line.len());
    let mut previous = None;
    let mut rest = line.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '&' => escaped.push_str("&amp;"),
            // Before a space it begins neither a tag nor an address.
            '<' if rest.peek() != Some(&' ') => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '\\' | '`' | '*' | '[' | ']' | '|' | '~' | '$' => escaped.extend(['\\', c]),
            '_' if !(previous.is_some_and(char::is_alphanumeric) && rest.peek().is_some_and(|next| next.is_alphanumeric())) => {
                escaped.push_str("\\_");
            }
            _ => escaped.push(c),
        }
        previous = Some(c);
    }
    escaped
}

/// A code span on one line that shows exactly these characters; safe in a table's cell.
fn code(raw: &str) -> String {
    let line = one_line(raw);
    if line.is_empty() {
        return "(empty)".to_owned();
    }
    if line.contains('|') {
        // Inside a table a bar ends the cell even in a code span, and outside of one its escape would be shown: plain HTML does both.
        return format!("<code>{}</code>", text(&line));
    }
    let longest = line.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let pad = if line.starts_with('`') || line.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{line}{pad}{fence}")
}

/// A block of commands: no line of it can end it, because each begins with its prompt.
fn console(commands: &[String]) -> String {
    let lines: String = commands.iter().map(|command| format!("$ {}\n", one_line(command))).collect();
    format!("```console\n{lines}```")
}

/// Escapes what would begin a heading, a list or a rule at the start of a line.
fn not_a_block(line: String) -> String {
    let ends = |rest: &str| rest.is_empty() || rest.starts_with(' ');
    let digits = line.find(|c: char| !c.is_ascii_digit()).unwrap_or(line.len());
    let rest = &line[digits..];
    let heading = ends(line.trim_start_matches('#')) && line.starts_with('#');
    let bullet = line.starts_with(['-', '+']) && ends(&line[1..]);
    let rule = line.starts_with(['-', '=']) && line.chars().all(|c| c == ' ' || line.starts_with(c));
    if heading || bullet || rule {
        format!("\\{line}")
    } else if (1..10).contains(&digits) && rest.starts_with(['.', ')']) && ends(&rest[1..]) {
        format!("{}\\{rest}", &line[..digits])
    } else {
        line
    }
}

#[cfg(test)]
mod tests {
    use super::super::inline::{self, sentence};
    use super::*;

    #[test]
    fn text_never_becomes_markup() {
        let table = [
            ("a|b", "a\\|b"),
            ("<img src=x>", "&lt;img src=x&gt;"),
            ("a < b <", "a < b &lt;"),
            ("`x`", "\\`x\\`"),
            ("[a](b)", "\\[a\\](b)"),
            ("requests_per_second", "requests_per_second"),
            ("_x_", "\\_x\\_"),
            ("*x* ~y~ $z$ \\", "\\*x\\* \\~y\\~ \\$z\\$ \\\\"),
            ("&amp;", "&amp;amp;"),
            ("# a", "\\# a"),
            ("###", "\\###"),
            ("- a", "\\- a"),
            ("--- ---", "\\--- ---"),
            ("==", "\\=="),
            ("1. a", "1\\. a"),
            ("1)", "1\\)"),
            ("2.5 s", "2.5 s"),
            ("+101 %", "+101 %"),
            ("--cpus", "--cpus"),
            ("10 blocks", "10 blocks"),
            ("  two\n\nlines\t", "two lines"),
            ("日本", "日本"),
        ];
        for (raw, escaped) in table {
            assert_eq!(markdown(&inline::text(raw)), escaped, "{raw}");
        }
    }

    #[test]
    fn code_shows_what_it_is_given() {
        let table = [
            ("cpus=1", "`cpus=1`"),
            ("a`b", "``a`b``"),
            ("`", "`` ` ``"),
            ("a|b<i>", "<code>a\\|b&lt;i&gt;</code>"),
            ("", "(empty)"),
            ("a\nb", "`a b`"),
            ("<b>", "`<b>`"),
        ];
        for (raw, shown) in table {
            assert_eq!(markdown(&inline::code(raw)), shown, "{raw}");
        }
    }

    #[test]
    fn sentences_keep_their_code() {
        assert_eq!(markdown(&sentence("variant `a_b|c` is < `d`")), "variant <code>a_b\\|c</code> is < `d`");
        assert_eq!(markdown(&sentence("`f=a`, `f=b`")), "`f=a`, `f=b`");
        assert_eq!(markdown(&sentence("one ` only")), "one \\` only");
        assert_eq!(markdown(&sentence("`a``b`")), "`a` `b`");
        assert_eq!(markdown(&inline::strong(inline::code("a")).and(" b ").and(inline::emphasis(" "))), "**`a`** b");
    }

    #[test]
    fn links_and_commands() {
        assert_eq!(address("a b(1)é.png"), "a%20b%281%29%C3%A9.png");
        assert_eq!(markdown(&inline::link("javascript:a.csv")), "[javascript:a.csv](javascript%3Aa.csv)");
        let hostile = inline::console(vec!["run 'a\n```\n<b>'".to_owned()]);
        assert_eq!(markdown(&hostile), "```console\n$ run 'a ``` <b>'\n```");
    }
}
