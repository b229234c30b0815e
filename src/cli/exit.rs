//! Exit codes: an interface, listed in `--help` and tested.

use std::process::ExitCode;

/// Everything was done.
pub const OK: u8 = 0;
/// The run ended, but some trials failed; a check found a difference; or a threshold was crossed.
pub const FAILED: u8 = 1;
/// Usage, or a manifest with problems.
pub const USAGE: u8 = 2;
/// The machine or the engine cannot do it.
pub const MACHINE: u8 = 3;
/// The record could not be read or written.
pub const RECORD: u8 = 4;
/// Stopped by SIGINT; `run` goes on from there.
pub const INTERRUPTED: u8 = 130;
/// Stopped by SIGTERM; `run` goes on from there.
pub const TERMINATED: u8 = 143;

/// The list for `--help`.
pub const HELP: &str = "\
Exit codes:
  0    everything was done
  1    some trials failed, a check found a difference, or a threshold was crossed
  2    usage, or a manifest with problems
  3    the machine or the engine cannot do it
  4    the record could not be read or written
  130  stopped by SIGINT (143: SIGTERM); `run` goes on from there";

/// The process's exit code.
#[must_use]
pub fn code(code: u8) -> ExitCode {
    ExitCode::from(code)
}
