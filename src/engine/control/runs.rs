//! The runs' own groups: they wait between trials for the next one, and go with the engine that made units in them.

use super::{Control, TOP};
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// The runs that an engine made units of.
#[derive(Debug)]
pub struct Runs {
    control: Control,
    seen: Mutex<BTreeSet<String>>,
}

impl Runs {
    /// None yet.
    #[must_use]
    pub fn new(control: Control) -> Self {
        Self { control, seen: Mutex::default() }
    }

    /// Remembers a run.
    pub fn note(&self, run: &str) {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).insert(run.to_owned());
    }
}

impl Drop for Runs {
    /// Removes the runs' own folders when nothing is in them; what is still there waits for a sweep.
    fn drop(&mut self) {
        for run in self.seen.get_mut().unwrap_or_else(PoisonError::into_inner).iter() {
            self.control.remove_empty(&format!("{TOP}/{run}"));
        }
    }
}
