//! A child process with what it used: wall time, CPU time and its largest resident set, as the kernel accounts for them.

use std::ffi::{c_int, c_long};
use std::io::{Read, Seek};
use std::process::{Command, Stdio};
use std::time::Instant;

/// What a child used.
#[derive(Debug, Clone, Copy)]
pub struct Usage {
    /// Seconds from before the fork until after the reaping.
    pub wall: f64,
    /// Seconds of user and system time of all its threads and reaped children.
    pub cpu: f64,
    /// Largest resident set in bytes.
    pub peak: f64,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Time {
    seconds: c_long,
    micros: c_long,
}

/// The kernel's `struct rusage` on Linux.
#[repr(C)]
#[derive(Default)]
struct Rusage {
    user: Time,
    system: Time,
    max_rss_kib: c_long,
    rest: [c_long; 13],
}

#[expect(unsafe_code, reason = "no dependency offers wait4")]
unsafe extern "C" {
    fn wait4(pid: c_int, status: *mut c_int, options: c_int, usage: *mut Rusage) -> c_int;
}

/// Runs a command to its end; its output is thrown away unless `command` says otherwise.
///
/// # Errors
/// When it cannot be started or does not end with 0, with the end of what it said.
pub fn run(command: &mut Command) -> Result<Usage, String> {
    let shown = format!("{command:?}");
    let mut said = tempfile::tempfile().map_err(|error| error.to_string())?;
    command.stdin(Stdio::null()).stderr(said.try_clone().map_err(|error| error.to_string())?);
    let clock = Instant::now();
    let child = command.spawn().map_err(|error| format!("{shown}: {error}"))?;
    let pid = c_int::try_from(child.id()).map_err(|error| error.to_string())?;
    let (mut status, mut usage) = (0, Rusage::default());
    let reaped = loop {
        #[expect(unsafe_code, reason = "no dependency offers wait4")]
        // SAFETY: both pointers are to live values of the layout that the call fills; the child is ours and nobody else reaps it.
        let reaped = unsafe { wait4(pid, &raw mut status, 0, &raw mut usage) };
        if reaped >= 0 || std::io::Error::last_os_error().kind() != std::io::ErrorKind::Interrupted {
            break reaped;
        }
    };
    let wall = clock.elapsed().as_secs_f64();
    if reaped != pid {
        return Err(format!("{shown}: wait: {}", std::io::Error::last_os_error()));
    }
    if status != 0 {
        let mut text = String::new();
        let _ = said.rewind().and_then(|()| said.read_to_string(&mut text)); // the status alone says enough
        let end: Vec<&str> = text.lines().rev().take(12).collect();
        return Err(format!("{shown}: wait status {status:#x}\n{}", end.into_iter().rev().collect::<Vec<_>>().join("\n")));
    }
    let seconds = |time: Time| time.seconds as f64 + time.micros as f64 / 1e6;
    Ok(Usage { wall, cpu: seconds(usage.user) + seconds(usage.system), peak: usage.max_rss_kib as f64 * 1024.0 })
}

/// Runs a bare `program`: fork, exec, wait and nothing else. Seconds.
///
/// # Errors
/// When it cannot be started.
pub fn bare(program: &str) -> Result<f64, String> {
    let clock = Instant::now();
    let mut child = Command::new(program)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("{program}: {error}"))?;
    child.wait().map_err(|error| error.to_string())?;
    Ok(clock.elapsed().as_secs_f64())
}
