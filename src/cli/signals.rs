//! SIGINT and SIGTERM stop the trial and tear down; the second one ends the process at once.

use super::{exit, talk};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// What stopped the run: 0 for nothing, else the exit code.
pub type Stopped = Arc<AtomicU8>;

/// Cancels the token at the first signal.
///
/// # Errors
/// When handlers cannot be installed.
pub fn watch(token: CancellationToken) -> std::io::Result<Stopped> {
    let stopped = Stopped::default();
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let told = Arc::clone(&stopped);
    tokio::spawn(async move {
        let mut first = true;
        loop {
            let code = tokio::select! {
                _ = interrupt.recv() => exit::INTERRUPTED,
                _ = terminate.recv() => exit::TERMINATED,
            };
            if !first {
                talk::note("stopped at once: the next `run`, or `shakedown clean`, removes what is left");
                std::process::exit(i32::from(code));
            }
            first = false;
            told.store(code, Ordering::SeqCst);
            token.cancel();
            talk::note("stopping: the running trial is torn down, finished ones are kept; once more to stop at once");
        }
    });
    Ok(stopped)
}
