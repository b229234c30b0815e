//! SIGINT, SIGTERM and a closed terminal stop what is done and tear it down; the second one ends the process at once.

use super::{exit, talk};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// What a signal asks of this process, for as long as it lives.
#[derive(Debug, Clone, Default)]
pub struct Stop {
    /// Cancelled at the first signal.
    pub token: CancellationToken,
    code: Arc<AtomicU8>,
}

impl Stop {
    /// The exit code of the signal that came; none while there was none.
    pub fn code(&self) -> Option<u8> {
        Some(self.code.load(Ordering::SeqCst)).filter(|code| *code != 0)
    }
}

/// Watches from now on; `stopping` tells what the first signal does. One watch serves all experiments of the process: a second one would hear the same signal again.
///
/// # Errors
/// When handlers cannot be installed.
pub fn watch(stopping: &'static str) -> std::io::Result<Stop> {
    let stop = Stop::default();
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    let told = stop.clone();
    tokio::spawn(async move {
        loop {
            let code = tokio::select! {
                _ = interrupt.recv() => exit::INTERRUPTED,
                _ = terminate.recv() => exit::TERMINATED,
                _ = hangup.recv() => exit::TERMINATED,
            };
            if told.token.is_cancelled() {
                talk::note("stopped at once: the next `run`, or `shakedown clean`, removes what is left");
                std::process::exit(i32::from(code));
            }
            told.code.store(code, Ordering::SeqCst);
            told.token.cancel();
            talk::note(format!("stopping: {stopping}; once more to stop at once"));
        }
    });
    Ok(stop)
}
