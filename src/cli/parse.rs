//! `parse`: what a parser makes of a saved output.

use super::{exit, talk};
use crate::measure::parsers::{self, PARSERS, ToolOutput};
use serde_json::json;
use std::io::Read;
use std::path::PathBuf;

/// Parse a tool's saved output and print what it holds.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The parser, such as `time`, `dd`, `sysbench`.
    tool: String,
    /// File with the tool's standard output; standard input without it.
    file: Option<PathBuf>,
    /// File with the tool's standard error.
    #[arg(long)]
    stderr: Option<PathBuf>,
    /// The exit code that the tool ended with.
    #[arg(long, allow_negative_numbers = true)]
    exit_code: Option<i64>,
}

pub fn run(arguments: &Arguments) -> u8 {
    let Some(parser) = parsers::find(&arguments.tool) else {
        let names = PARSERS.iter().map(|parser| parser.info().name);
        let hint = crate::model::diagnostic::suggestion(&arguments.tool, names).map(|h| format!("; {h}")).unwrap_or_default();
        talk::error(format!("unknown parser `{}`{hint}", arguments.tool));
        return exit::USAGE;
    };
    let read = |path: &Option<PathBuf>| path.as_ref().map_or(Ok(Vec::new()), fs_err::read);
    let stdout = match &arguments.file {
        Some(path) => fs_err::read(path),
        None => {
            let mut bytes = Vec::new();
            std::io::stdin().read_to_end(&mut bytes).map(|_| bytes)
        }
    };
    let (stdout, stderr) = match (stdout, read(&arguments.stderr)) {
        (Ok(stdout), Ok(stderr)) => (stdout, stderr),
        (Err(error), _) | (_, Err(error)) => {
            talk::error(error);
            return exit::USAGE;
        }
    };
    let parsed = parser.parse(&ToolOutput { stdout: &stdout, stderr: &stderr, exit_code: arguments.exit_code });
    let metrics: Vec<_> = parsed.metrics.iter().map(|m| json!({"name": m.name, "value": m.value, "unit": m.unit})).collect();
    let written = talk::data(|out| writeln!(out, "{}", json!({"ok": parsed.ok, "problems": parsed.problems, "metrics": metrics})));
    written.max(if parsed.ok { exit::OK } else { exit::FAILED })
}
