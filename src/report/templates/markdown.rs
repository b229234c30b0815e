//! Text of other people inside Markdown: it is shown as it is and never becomes markup, a link, a formula or HTML.

/// Inline text on one line; safe in a table's cell and at the start of a line.
#[must_use]
pub fn text(raw: &str) -> String {
    not_a_block(inline(raw))
}

/// Inline text on one line, for a place where no block can begin, such as behind the `#` of a heading.
#[must_use]
pub fn inline(raw: &str) -> String {
    let line = one_line(raw);
    let mut escaped = String::with_capacity(line.len());
    let mut previous = None;
    let mut rest = line.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
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

/// Text in which words between backticks are code, such as a caution; everything else is as in [`text`].
#[must_use]
pub fn sentence(raw: &str) -> String {
    let parts: Vec<&str> = raw.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return text(raw);
    }
    let piece = |(at, part): (usize, &&str)| {
        if at % 2 == 1 {
            return code(part);
        }
        let ends = |here: bool| if here { " " } else { "" };
        let inner = text(part);
        if inner.is_empty() {
            ends(!part.is_empty()).to_owned()
        } else {
            format!("{}{inner}{}", ends(part.starts_with(' ')), ends(part.ends_with(' ')))
        }
    };
    parts.iter().enumerate().map(piece).collect::<String>().trim().to_owned()
}

/// A code span on one line that shows exactly these characters; safe in a table's cell.
#[must_use]
pub fn code(raw: &str) -> String {
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

/// The target of a link to a file beside the page.
#[must_use]
pub fn link(file: &str) -> String {
    let mut target = String::with_capacity(file.len());
    for byte in file.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._/".contains(&byte) {
            target.push(char::from(byte));
        } else {
            target.push_str(&format!("%{byte:02X}"));
        }
    }
    target
}

/// A word of a shell's command line, quoted where the shell would read more into it.
#[must_use]
pub fn shell(word: &str) -> String {
    let line = one_line(word);
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._/=".contains(c);
    if !line.is_empty() && line.chars().all(plain) { line } else { format!("'{}'", line.replace('\'', "'\\''")) }
}

/// White space and control characters as single spaces, none at the ends; nothing is marked up.
#[must_use]
pub fn one_line(raw: &str) -> String {
    raw.split(|c: char| c.is_whitespace() || c.is_control()).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Escapes what would begin a heading, a list or a rule at the start of a line.
fn not_a_block(line: String) -> String {
    let digits = line.find(|c: char| !c.is_ascii_digit()).unwrap_or(line.len());
    let mut rest = line[digits..].chars();
    match (rest.next(), rest.next()) {
        (Some('#' | '-' | '+' | '='), _) if digits == 0 => format!("\\{line}"),
        (Some('.' | ')'), None | Some(' ')) if digits > 0 => format!("{}\\{}", &line[..digits], &line[digits..]),
        _ => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_never_becomes_markup() {
        let table = [
            ("a|b", "a\\|b"),
            ("<img src=x>", "&lt;img src=x&gt;"),
            ("`x`", "\\`x\\`"),
            ("[a](b)", "\\[a\\](b)"),
            ("requests_per_second", "requests_per_second"),
            ("_x_", "\\_x\\_"),
            ("*x* ~y~ $z$ \\", "\\*x\\* \\~y\\~ \\$z\\$ \\\\"),
            ("&amp;", "&amp;amp;"),
            ("# a", "\\# a"),
            ("- a", "\\- a"),
            ("1. a", "1\\. a"),
            ("2.5 s", "2.5 s"),
            ("10 blocks", "10 blocks"),
            ("  two\n\nlines\t", "two lines"),
            ("日本", "日本"),
        ];
        for (raw, escaped) in table {
            assert_eq!(text(raw), escaped, "{raw}");
        }
        assert_eq!(inline("--cpus *x*"), "--cpus \\*x\\*");
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
            assert_eq!(code(raw), shown, "{raw}");
        }
    }

    #[test]
    fn sentences_keep_their_code() {
        assert_eq!(sentence("variant `a_b|c` is < `d`"), "variant <code>a_b\\|c</code> is &lt; `d`");
        assert_eq!(sentence("`f=a`, `f=b`"), "`f=a`, `f=b`");
        assert_eq!(sentence("one ` only"), "one \\` only");
    }

    #[test]
    fn links_and_words() {
        assert_eq!(link("a b(1)é.png"), "a%20b%281%29%C3%A9.png");
        assert_eq!(
            (shell("experiments/x.yaml"), shell("it's"), shell("a b")),
            ("experiments/x.yaml".into(), "'it'\\''s'".into(), "'a b'".into())
        );
    }
}
