//! Runs with private daemons that are told to stop, or killed at any moment.

use super::{Host, TWO, daemons, each_trial_once, trials};
use crate::kill::Moments;
use crate::program::{Place, signal};
use std::process::Stdio;
use std::time::Duration;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_is_told_to_stop_tears_down_and_goes_on_later() {
    let Some(host) = Host::new("stop") else { return };
    let host = host.await;
    let place = Place::with("two", TWO);
    // What the daemon did first has ended: it is up, in the middle of the third trial.
    let (mut child, events) = crate::cli::until(&place, &["run", "two"], "\"b1p3-primer\"");
    assert_eq!(daemons(&place.run_ids("two")).len(), 1, "one daemon at a time is up");
    signal(&child, rustix::process::Signal::INT);
    let said = crate::cli::rest(events);
    assert_eq!(child.wait().expect("end").code(), Some(130), "{said}");
    // Not by a sweep: it has awaited its teardown, so nothing is left right now.
    assert_eq!(daemons(&place.run_ids("two")), Vec::<i32>::new(), "{said}");
    host.has_nothing_of(&place, "two").await;
    let done = trials(&place, "two").len();
    assert_eq!(done, 2, "{said}");
    let said = place.run(&["run", "two"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    assert!(said.stderr.contains("(2 of 6 trials are there)"), "{}", said.stderr);
    each_trial_once(&place);
    host.ends(&place, "two").await;
}

/// Kills a run after a while; whether it was still on its way.
fn kill_after(place: &Place, pause: Duration) -> bool {
    let mut child = place.command(&["run", "two"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("spawn");
    std::thread::sleep(pause);
    child.kill().expect("kill");
    child.wait().expect("wait").code().is_none()
}

/// Kills a run in the middle of a trial, then `kills` more at moments up to `most_ms`, and cleans up after each; then kills one more
/// and runs to the end at once.
async fn torture(test: &'static str, kills: u32, most_ms: u64) {
    let Some(host) = Host::new(test) else { return };
    let host = host.await;
    let place = Place::with("two", TWO);
    let (mut child, _events) = crate::cli::until(&place, &["run", "two"], "-primer\"");
    let left = daemons(&place.run_ids("two"));
    child.kill().expect("kill");
    child.wait().expect("wait");
    assert_eq!(left.len(), 1, "a daemon was up");
    clean(&host, &place).await;
    let mut moments = Moments(u64::from(kills));
    for _ in 0..kills {
        if kill_after(&place, moments.next(most_ms)) {
            clean(&host, &place).await;
        } else {
            // It has measured all: the next one starts again.
            std::fs::remove_dir_all(place.path("reports")).expect("reports");
        }
    }
    kill_after(&place, Duration::from_millis(most_ms * 3 / 4));
    let said = place.run(&["run", "two"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    each_trial_once(&place);
    host.ends(&place, "two").await;
}

/// Cleans up after a killed run; another test's run may have done so before.
async fn clean(host: &Host, place: &Place) {
    let said = place.run(&["clean"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    host.has_nothing_of(place, "two").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_run_leaves_what_clean_or_the_next_run_removes() {
    torture("kill", 3, 6000).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "minutes: `make soak`"]
async fn soak_kills_of_runs_with_private_daemons() {
    torture("soak", 50, 12_000).await;
}
