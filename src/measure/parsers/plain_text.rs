//! Makes lines of what a program wrote: the one place that knows about encodings, terminals and carriage returns.

use super::ToolOutput;

/// The text of a stream: invalid UTF-8 becomes U+FFFD, a carriage return ends a line, terminal sequences vanish, and other control
/// characters become a space, so that a damaged number falls apart instead of becoming another number.
pub(super) fn plain_text(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.strip_prefix('\u{feff}').unwrap_or(&text).chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\r' => {
                rest.next_if_eq(&'\n');
                plain.push('\n');
            }
            '\u{1b}' => match rest.peek() {
                Some('[') => {
                    rest.next();
                    while rest.next_if(|c| matches!(c, ' '..='?')).is_some() {}
                    rest.next_if(|c| matches!(c, '@'..='~'));
                }
                Some(']') => skip_operating_system_command(&mut rest),
                _ => plain.push(' '),
            },
            '\n' | '\t' => plain.push(c),
            c if c.is_control() => plain.push(' '),
            c => plain.push(c),
        }
    }
    plain
}

/// Skips `]...` up to BEL or ESC `\`, but never beyond the line: an unterminated one must not eat the output.
fn skip_operating_system_command(rest: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    while let Some(c) = rest.next_if(|c| !matches!(c, '\n' | '\r')) {
        match c {
            '\u{7}' => return,
            '\u{1b}' => {
                rest.next_if_eq(&'\\');
                return;
            }
            _ => {}
        }
    }
}

/// Cuts a text before every line that `begins` something; what stands before the first such line belongs to the first piece.
pub(super) fn pieces(text: &str, begins: impl Fn(&str) -> bool) -> Vec<&str> {
    let mut cuts = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if begins(line.trim()) {
            cuts.push(at);
        }
        at += line.len();
    }
    let starts = std::iter::once(0).chain(cuts.iter().copied().skip(1));
    let ends = cuts.iter().copied().skip(1).chain(std::iter::once(text.len()));
    starts.zip(ends).map(|(start, end)| &text[start..end]).collect()
}

impl ToolOutput<'_> {
    /// Both streams as one text, standard output first.
    pub(super) fn both(&self) -> String {
        let mut text = plain_text(self.stdout);
        if !self.stderr.is_empty() {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str(&plain_text(self.stderr));
        }
        text
    }

    /// Standard error when `speaks` recognises the tool's voice in it, else standard output when it does so there, else both.
    /// For tools that report on standard error while standard output carries the payload.
    pub(super) fn voice(&self, speaks: impl Fn(&str) -> bool) -> String {
        let stderr = plain_text(self.stderr);
        if speaks(&stderr) {
            return stderr;
        }
        let stdout = plain_text(self.stdout);
        if speaks(&stdout) { stdout } else { self.both() }
    }
}

/// A line as it stands in a message: in backticks, cut to a readable length.
pub(super) fn quoted(line: &str) -> String {
    let line = line.trim().replace('`', "'");
    match line.char_indices().nth(160) {
        Some((end, _)) => format!("`{}...`", &line[..end]),
        None => format!("`{line}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_made_plain() {
        let table: &[(&[u8], &str)] = &[
            (b"a\r\nb\rc\r\r\nd", "a\nb\nc\n\nd"),
            (b"\x1b[1;32m12.5\x1b[0m ms", "12.5 ms"),
            (b"\x1b]8;;http://x\x1b\\link\x1b]8;;\x07 1", "link 1"),
            (b"\x1b]0;never ended\nreal 1", "\nreal 1"),
            (b"1\x0028 \x1b28", "1 28  28"),
            (b"caf\xbf 3", "caf\u{fffd} 3"),
            (b"\xef\xbb\xbfscore", "score"),
            (b"\x1b[", ""),
        ];
        for (bytes, expected) in table {
            assert_eq!(plain_text(bytes), *expected, "{bytes:?}");
        }
    }

    #[test]
    fn streams_are_joined_and_preferred() {
        let output = ToolOutput { stdout: b"data", stderr: b"report\n", exit_code: None };
        assert_eq!(output.both(), "data\nreport\n");
        assert_eq!(output.voice(|text| text.contains("report")), "report\n");
        assert_eq!(output.voice(|text| text.contains("data")), "data");
        assert_eq!(output.voice(|_| false), "data\nreport\n");
    }

    #[test]
    fn a_text_is_cut_before_what_begins() {
        let table: &[(&str, &[&str])] = &[
            ("", &[""]),
            ("a\nb", &["a\nb"]),
            ("a\n> 1\nb\n", &["a\n> 1\nb\n"]),
            ("a\n> 1\nb\n > 2\n> 3", &["a\n> 1\nb\n", " > 2\n", "> 3"]),
        ];
        for (text, expected) in table {
            assert_eq!(pieces(text, |line| line.starts_with('>')), *expected, "{text}");
        }
    }

    #[test]
    fn long_lines_are_cut() {
        assert_eq!(quoted(" x`y "), "`x'y`");
        assert_eq!(quoted(&"é".repeat(200)), format!("`{}...`", "é".repeat(160)));
    }
}
