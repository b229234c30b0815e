//! Scripts: who interprets a file that starts with `#!`.

use std::path::Path;

/// The longest first line that the kernel reads.
pub(super) const LINE_LIMIT: usize = 256;

/// What the first line of a script asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Shebang {
    /// The interpreter, as written.
    pub(super) interpreter: String,
    /// The program that `env` is to search for.
    pub(super) program: Option<String>,
}

/// Reads the first line of a file from its first bytes; none when it is no script.
#[must_use]
pub(super) fn shebang(start: &[u8]) -> Option<Shebang> {
    let line = start.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let line = String::from_utf8_lossy(line);
    let mut words = line.split_ascii_whitespace();
    let interpreter = words.next()?.to_owned();
    let is_env = Path::new(&interpreter).file_name().is_some_and(|name| name == "env");
    // env's own options (-S, -i) and assignments stand before the program's name.
    let program = is_env.then(|| words.find(|word| !word.starts_with('-') && !word.contains('='))).flatten().map(str::to_owned);
    Some(Shebang { interpreter, program })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_names_the_interpreter_and_what_env_searches() {
        type Case = (&'static [u8], Option<(&'static str, Option<&'static str>)>);
        let table: &[Case] = &[
            (b"#!/bin/sh\necho", Some(("/bin/sh", None))),
            (b"#! /bin/sh -e\n", Some(("/bin/sh", None))),
            (b"#!/usr/bin/env python3\n", Some(("/usr/bin/env", Some("python3")))),
            (b"#!/usr/bin/env -S A=1 perl -w\n", Some(("/usr/bin/env", Some("perl")))),
            (b"#!/usr/bin/awk -f", Some(("/usr/bin/awk", None))),
            (b"#!/usr/bin/env\n", Some(("/usr/bin/env", None))),
            (b"#!\n", None),
            (b"# !/bin/sh\n", None),
            (b"", None),
        ];
        for (start, expected) in table {
            let found = shebang(start);
            let found = found.as_ref().map(|s| (s.interpreter.as_str(), s.program.as_deref()));
            assert_eq!(found, *expected, "{}", String::from_utf8_lossy(start));
        }
    }
}
