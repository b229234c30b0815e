//! The terminal: arguments, progress, tables, exit codes. stdout is data, stderr is talk.
//!
//! One file per command; `open` finds and reads manifests for all of them, `talk` draws problems and messages.

mod assemble;
mod catalog;
mod check;
mod clean;
mod compare;
mod doctor;
mod engines;
pub mod exit;
mod fail_if;
mod fonts;
mod grid;
mod install;
mod job;
mod looks;
mod open;
mod parse;
mod plan;
mod planned;
mod probe;
mod report;
mod run;
mod samples;
mod show;
mod sides;
mod signals;
mod standing;
mod status;
mod talk;
mod turn;

use clap::{Parser, Subcommand, ValueEnum};
use std::process::ExitCode;

/// Experiments as code for container performance.
#[derive(Debug, Parser)]
#[command(
    version,
    about,
    after_help = exit::HELP,
    long_about = "Experiments as code for container performance.\n\nA YAML manifest declares a matrix; `plan` shows every trial in order, `run` runs them \
interleaved through a real engine and records them, `report` makes CSV, charts and a page of the record.\n\n\x20 shakedown doctor                          what can this machine do, and what disturbs?\n  \
  shakedown check experiments/cpus.yaml     is it right?\n  \
  shakedown plan experiments/cpus.yaml      what would run, and why\n  \
  shakedown run experiments/cpus.yaml       run it; again: only what is missing\n  \
  shakedown report cpus                     the report again, from the record\n  \
  shakedown compare A B                     what changed between two records\n  \
  shakedown status                          which experiments are measured and reported as asked"
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    /// When to use colour.
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto)]
    color: Color,
}

#[derive(Debug, Subcommand)]
enum Command {
    Check(check::Arguments),
    Plan(plan::Arguments),
    Run(run::Arguments),
    Report(report::Arguments),
    Compare(compare::Arguments),
    Status(status::Arguments),
    Parse(parse::Arguments),
    Doctor(doctor::Arguments),
    Clean(clean::Arguments),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Color {
    Auto,
    Always,
    Never,
}

/// Runs the program.
#[must_use]
pub fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            let code = if error.use_stderr() { exit::USAGE } else { exit::OK };
            // A closed pipe behind `--help | head` is no failure.
            let _ = error.print();
            return exit::code(code);
        }
    };
    let choice = match arguments.color {
        Color::Auto => anstream::ColorChoice::Auto,
        Color::Always => anstream::ColorChoice::Always,
        Color::Never => anstream::ColorChoice::Never,
    };
    choice.write_global();
    let code = match arguments.command {
        Command::Check(arguments) => check::run(&arguments),
        Command::Plan(arguments) => plan::run(&arguments),
        Command::Run(arguments) => run::run(&arguments),
        Command::Report(arguments) => report::run(&arguments),
        Command::Compare(arguments) => compare::run(&arguments),
        Command::Status(arguments) => status::run(&arguments),
        Command::Parse(arguments) => parse::run(&arguments),
        Command::Doctor(arguments) => doctor::run(&arguments),
        Command::Clean(arguments) => clean::run(&arguments),
    };
    exit::code(code)
}
