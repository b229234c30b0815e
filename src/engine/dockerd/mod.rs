//! Private daemons: a dockerd of our own for settings of the daemon itself, beside the user's and never in its way.
//!
//! Each stands in pid, mount and network namespaces of its own, on a data root of its own (a loop file or memory), and is a unit of
//! this host like any other: it has a control group, dies with us, and what it left behind is found by name. A second daemon in
//! the host's network namespace would wipe the rules of the first, or delete its bridge: none is ever started there.
//!
//! `private` is the engine: `possible` (over `kernel`) says what this host can give, `settings` and `command` what a daemon is told,
//! `sandbox` starts and ends one, `up` is one that answers, `room` says when its data root is full, `daemons` is what those of a
//! process share, `sweep` removes what dead runs left. Must not know trials, records or the measured window.

mod command;
mod daemons;
mod disk;
mod ending;
mod files;
mod kernel;
mod place;
mod possible;
mod private;
mod room;
mod sandbox;
mod settings;
mod sweep;
mod tools;
mod up;

pub use daemons::Daemons;
pub use place::{DISKS, RUN};
pub use possible::survey;
pub use private::Private;
pub use sweep::sweep_host;

use super::EngineError;
use std::sync::{Mutex, MutexGuard, PoisonError};

fn failed(operation: impl Into<String>, reason: impl ToString) -> EngineError {
    EngineError::Call { operation: operation.into(), reason: reason.to_string() }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use crate::model::private::{Filesystem, PrivateSpec};

    /// A storage driver on a file system, and nothing else out of the ordinary.
    pub(super) fn spec(storage_driver: &str, backing: &str) -> PrivateSpec {
        PrivateSpec::plain(storage_driver, Filesystem::named(backing).expect("file system"))
    }
}
