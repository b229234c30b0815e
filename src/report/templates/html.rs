//! Text in HTML: the texts of other people are shown as they are, between tags and inside quoted attributes alike.

use super::inline::{Inline, Piece, address};
use crate::report::visible::{one_line, spaced};

/// A text with its mark-up; only commands are a block.
#[must_use]
pub fn html(inline: &Inline) -> String {
    let mut out = String::new();
    write(inline, &mut out);
    out
}

fn write(inline: &Inline, out: &mut String) {
    for piece in inline.pieces() {
        match piece {
            Piece::Text(raw) => escape(&spaced(raw), out),
            // The direction of a name is its own, and turns nothing around it.
            Piece::Code(raw) => {
                let line = one_line(raw);
                let shown = if line.is_empty() { "(empty)" } else { &line };
                tagged("code dir=\"auto\"", out, |out| {
                    // A variant may break between its levels.
                    for part in shown.split_inclusive(',') {
                        escape(part, out);
                        out.push_str(if part.len() < shown.len() && part.ends_with(',') { "<wbr>" } else { "" });
                    }
                });
            }
            Piece::Strong(inner) => tagged("strong", out, |out| write(inner, out)),
            Piece::Emphasis(inner) => tagged("em", out, |out| write(inner, out)),
            Piece::Link(file) => tagged(&format!("a href=\"{}\"", address(file)), out, |out| escape(&one_line(file), out)),
            Piece::Target(file) => out.push_str(&address(file)),
            Piece::Console(commands) => {
                let lines: Vec<String> = commands.iter().map(|command| one_line(command)).collect();
                tagged("pre", out, |out| tagged("code", out, |out| escape(&lines.join("\n"), out)));
            }
        }
    }
}

fn tagged(tag: &str, out: &mut String, inner: impl FnOnce(&mut String)) {
    let name = tag.split(' ').next().unwrap_or(tag);
    out.extend(["<", tag, ">"]);
    inner(out);
    out.extend(["</", name, ">"]);
}

fn escape(text: &str, out: &mut String) {
    let mut rest = text;
    while let Some(at) = rest.find(['&', '<', '>', '"', '\'']) {
        out.push_str(&rest[..at]);
        out.push_str(match rest.as_bytes()[at] {
            b'&' => "&amp;",
            b'<' => "&lt;",
            b'>' => "&gt;",
            b'"' => "&quot;",
            _ => "&#39;",
        });
        rest = &rest[at + 1..];
    }
    out.push_str(rest);
}

#[cfg(test)]
mod tests {
    use super::super::inline::{code, console, emphasis, link, strong, target, text};
    use super::*;

    #[test]
    fn nothing_leaves_its_place() {
        let table = [
            (text("<script>\"'&</style>\n\u{202e}"), "&lt;script&gt;&quot;&#39;&amp;&lt;/style&gt; ⟨U+202E⟩"),
            (code("<b>"), "<code dir=\"auto\">&lt;b&gt;</code>"),
            (code("a=1,b=2"), "<code dir=\"auto\">a=1,<wbr>b=2</code>"),
            (code(""), "<code dir=\"auto\">(empty)</code>"),
            (strong(code("a")).and(" ").and(emphasis("b")), "<strong><code dir=\"auto\">a</code></strong> <em>b</em>"),
            (link("javascript:\"a"), "<a href=\"javascript%3A%22a\">javascript:&quot;a</a>"),
            (target("a\" onload=x"), "a%22%20onload%3Dx"),
            (console(vec!["a\nb".into(), "'<'".into()]), "<pre><code>a b\n&#39;&lt;&#39;</code></pre>"),
        ];
        for (inline, expected) in table {
            assert_eq!(html(&inline), expected);
        }
    }
}
