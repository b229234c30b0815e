//! Tests that make units of their own hold a lease for them, as a run does: other tests' runs sweep what nobody holds.

use shakedown::record::Lease;
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

/// Keeps `run` alive until this process ends.
pub fn hold(run: &str) {
    static HELD: LazyLock<Mutex<HashMap<String, Lease>>> = LazyLock::new(Mutex::default);
    let mut held = HELD.lock().expect("leases");
    if !held.contains_key(run) {
        held.insert(run.to_owned(), Lease::take(run).expect("lease"));
    }
}
