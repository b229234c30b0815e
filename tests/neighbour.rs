//! A busy neighbour is seen in the trials that it touched, and in no other. These tests need the host for themselves: `make test` runs them
//! one by one, after all others.

use crate::private::Guest;
use crate::program::{Place, said};
use shakedown::engine::control;
use shakedown::model::event::TrialRow;
use shakedown::model::outcome::Outcome;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Trials that do nothing for a second.
const MANIFEST: &str = "\
matrix: {level: [a, b]}
workload: {on: host, command: [/bin/sh, -c, 'exec sleep 1.1'], environment: {LEVEL: '{{ level }}'}, timeout: 60s}
design: {blocks: 3}
observe: {idle_gate: off}
";

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

#[test]
#[ignore = "needs the host for itself: `make test` runs it last"]
fn alone_a_neighbour_is_foreign_cpu_in_the_trials_that_it_touched() {
    if !control::may_make_groups(&control::layout().unwrap_or_default()) {
        crate::skipped::skip("no control groups of our own here: nobody can tell what is foreign");
        return;
    }
    let place = Place::with("neighbour", MANIFEST);
    let mut run = place.command(&["run", "neighbour"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("run");
    until(&place, &mut run, 3);
    let neighbour = Neighbour::moves_in();
    until(&place, &mut run, 5);
    drop(neighbour);
    let told = said(&run.wait_with_output().expect("ends"));
    assert_eq!(told.code, 0, "{}", told.stderr);
    let rows = place.rows("neighbour");
    let (touched, others): (Vec<_>, Vec<_>) = rows.iter().enumerate().partition(|(place, _)| (3..5).contains(place));
    let share = |(_, row): &(usize, &TrialRow)| foreign(row).expect("observable");
    let least = touched.iter().map(share).fold(f64::INFINITY, f64::min);
    let cpus = std::thread::available_parallelism().expect("CPUs").get() as f64;
    // The neighbour came a moment after the trial began, and who else was there only adds to it.
    assert!(least > 0.7 / cpus, "{rows:?}");
    assert!(others.iter().map(share).all(|share| share < least / 2.0), "{rows:?}");
    let table = std::fs::read_to_string(place.path("reports/neighbour/trials.csv")).expect("trials.csv");
    let tainted: Vec<&str> = table.lines().filter(|line| line.contains("foreign-cpu")).collect();
    // One CPU of many is less than a tenth of all: then it is only told.
    if cpus <= 6.0 {
        let ids: Vec<&str> = touched.iter().map(|(_, row)| row.trial.as_str()).collect();
        assert!(tainted.iter().zip(&ids).all(|(line, id)| line.contains(*id)) && tainted.len() >= ids.len(), "{table}");
    }
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
