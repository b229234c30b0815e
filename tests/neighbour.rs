//! A busy neighbour is seen in the trials that it touched, and in no other. These tests need the host for themselves: `make test` runs them
//! one by one, after all others.

use crate::private::Guest;
use crate::program::{Place, said};
use shakedown::engine::control;
use shakedown::model::event::TrialRow;
use shakedown::model::outcome::Outcome;
use std::ops::Range;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Trials that do nothing for a second.
const MANIFEST: &str = "\
matrix: {level: [a, b]}
workload: {on: host, command: [/bin/sh, -c, 'exec sleep 1.1'], environment: {LEVEL: '{{ level }}'}, timeout: 60s}
design: {blocks: 3}
observe: {idle_gate: off}
";

/// The trials beside which the neighbour burns a CPU.
const TOUCHED: Range<usize> = 3..5;
const TRIES: usize = 3;

/// Burns one CPU until it is dropped.
struct Neighbour(Child);

impl Neighbour {
    fn moves_in() -> Self {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "while :; do :; done"]).stdin(Stdio::null());
        Self(command.spawn().expect("a neighbour"))
    }
}

impl Drop for Neighbour {
    fn drop(&mut self) {
        self.0.kill().expect("kill");
        self.0.wait().expect("wait");
    }
}

fn foreign(row: &TrialRow) -> Option<f64> {
    row.readings.iter().find(|reading| reading.check == "foreign-cpu").expect("it is always told").value
}

/// Waits until the record has so many rows, or the run has ended.
fn until(place: &Place, run: &mut Child, rows: usize) {
    while place.rows("neighbour").len() < rows && run.try_wait().expect("wait").is_none() {
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Runs the experiment with a neighbour beside two of its trials; the place, and whether nobody else was busy meanwhile.
fn run_beside_a_neighbour() -> (Place, bool) {
    let place = Place::with("neighbour", MANIFEST);
    let mut run = place.command(&["run", "neighbour"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("run");
    until(&place, &mut run, TOUCHED.start);
    let neighbour = Neighbour::moves_in();
    until(&place, &mut run, TOUCHED.end);
    drop(neighbour);
    let told = said(&run.wait_with_output().expect("ends"));
    assert_eq!(told.code, 0, "{}", told.stderr);
    let shares: Vec<f64> = place.rows("neighbour").iter().map(|row| foreign(row).expect("observable")).collect();
    // The neighbour came a moment after the trial began, and who else was there only adds to it.
    let (touched, cpus) = (&shares[TOUCHED], std::thread::available_parallelism().expect("CPUs").get() as f64);
    let least = touched.iter().copied().fold(f64::INFINITY, f64::min);
    assert!(least > 0.7 / cpus, "{shares:?}");
    let quiet = shares.iter().enumerate().all(|(at, share)| TOUCHED.contains(&at) || *share < least / 2.0);
    (place, quiet)
}

#[test]
#[ignore = "needs the host for itself: `make test` runs it last"]
fn alone_a_neighbour_is_foreign_cpu_in_the_trials_that_it_touched() {
    if !control::may_make_groups(&control::layout().unwrap_or_default()) {
        crate::skipped::skip("no control groups of our own here: nobody can tell what is foreign");
        return;
    }
    // Somebody else's work on the host is seen, too: then once more.
    let place = (0..TRIES).map(|_| run_beside_a_neighbour()).find(|(_, quiet)| *quiet);
    let (place, _) = place.expect("in all tries foreign CPU was seen in trials that the neighbour did not touch");
    let touched: Vec<String> = place.rows("neighbour")[TOUCHED].iter().map(|row| row.trial.clone()).collect();
    let table = std::fs::read_to_string(place.path("reports/neighbour/trials.csv")).expect("trials.csv");
    let is_tainted = |id: &String| table.lines().any(|line| line.contains(&format!(",{id},")) && line.contains("foreign-cpu"));
    // One CPU of many is less than a tenth of all: then it is only told.
    assert!(touched.iter().all(is_tainted) || std::thread::available_parallelism().expect("CPUs").get() > 6, "{table}");
    let page = std::fs::read_to_string(place.path("reports/neighbour/README.md")).expect("README.md");
    assert!(page.contains("> - `foreign-cpu` up to "), "{page}");
}

#[tokio::test]
#[ignore = "needs the host for itself: `make test` runs it last"]
async fn alone_containers_of_others_are_named_before_the_first_trial() {
    if let Some(reason) = crate::private::impossible() {
        crate::skipped::skip(reason);
        return;
    }
    let Some(guest) = Guest::arrive("neighbour").await else { return };
    let place = Place::with("neighbour", "workload: {pack: [/bin/busybox], command: [/bin/busybox, 'true']}\ndesign: {blocks: 1}\n");
    let told = place.run(&["run", "neighbour"]);
    assert!(place.rows("neighbour").iter().all(|row| row.outcome == Outcome::Ok), "{}", told.stderr);
    let warning = format!("another container runs on the engine: `{}`; what they do disturbs the trials", guest.name());
    assert!(told.stderr.contains(&warning), "{}", told.stderr);
    let page = std::fs::read_to_string(place.path("reports/neighbour/README.md")).expect("README.md");
    assert!(page.contains("> - Another container runs on the engine"), "{page}");
    guest.leave().await;
}
