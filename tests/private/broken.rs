//! Private daemons that die or have no room while trials need them.

use super::{Host, daemons, trials};
use crate::program::Place;
use shakedown::model::outcome::{Outcome, Phase};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_trial_whose_daemon_is_killed_fails_with_the_reason_and_is_tried_on_a_new_one() {
    let Some(host) = Host::new("daemon") else { return };
    let host = host.await;
    let manifest = super::TWO.replace("[true, false]", "[true]").replace("sleep 0.1", "sleep 0.4").replace("blocks: 2", "blocks: 1");
    let place = Place::with("two", &manifest);
    // What the daemon did first has ended: it is up, in the middle of the first trial.
    let (mut child, events) = crate::cli::until(&place, &["run", "two"], "\"b1p1-primer\"");
    let [daemon] = daemons(&place.run_ids("two"))[..] else { panic!("not one daemon is up") };
    let pid = rustix::process::Pid::from_raw(daemon).expect("pid");
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("kill");
    let said = crate::cli::rest(events);
    assert_eq!(child.wait().expect("end").code(), Some(0), "{said}");
    let rows = trials(&place, "two");
    let [broken, again, other] = &rows[..] else { panic!("{rows:#?}") };
    assert_eq!((broken.trial.as_str(), broken.attempt, broken.outcome), ("b1p1", 1, Outcome::Failed), "{rows:#?}");
    let reason = &broken.failure.as_ref().expect("a reason").reason;
    assert!(reason.contains("(overlay2 on tmpfs): it has ended"), "{reason}");
    assert_eq!((again.attempt, again.outcome, other.outcome), (2, Outcome::Ok, Outcome::Ok), "{rows:#?}");
    host.ends(&place, "two").await;
}

/// An experiment on a data root of 24 MB, with a service.
fn small(service: &str) -> String {
    format!(
        "engine: {{storage_driver: overlay2, backing: {{filesystem: tmpfs, size: 24m}}}}\nservices:\n  web: {{{service}, network_mode: none}}\n\
         workload: {{on: host, command: [/bin/true], timeout: 10s}}\ndesign: {{blocks: 1, min_window: 1ms}}\nlimits: {{attempts: 1}}\n"
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_image_that_does_not_fit_is_said_so() {
    let Some(host) = Host::new("image") else { return };
    let host = host.await;
    let place = Place::new();
    place.write("big", vec![b'x'; 40 << 20]);
    let big = place.path("big").display().to_string();
    place.manifest("small", &small(&format!("pack: [/bin/busybox, {big}], command: [/bin/busybox, sleep, '1000']")));
    let said = place.run(&["run", "small"]);
    assert_eq!((said.code, place.rows("small").len()), (3, 0), "{}", said.stderr);
    let error = said.stderr.lines().find(|line| line.starts_with("error: ")).expect("an error");
    assert!(error.contains(&big) && error.contains("no space left on device"), "{error}");
    host.ends(&place, "small").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_that_fills_the_data_root_fails_its_trials() {
    let Some(host) = Host::new("full") else { return };
    let host = host.await;
    let fills =
        "pack: [/bin/busybox], command: [/bin/busybox, dd, if=/dev/zero, of=/big, bs=1M, count=40], ready: {log: never, timeout: 9s}";
    let place = Place::with("small", &small(fills));
    let said = place.run(&["run", "small"]);
    assert_eq!(said.code, 1, "{}", said.stderr);
    let rows = trials(&place, "small");
    assert_eq!(rows.len(), 2, "{rows:#?}");
    for row in &rows {
        let failure = row.failure.as_ref().expect("a reason");
        assert_eq!((row.outcome, failure.phase), (Outcome::Failed, Phase::Services), "{failure:?}");
        // What it said itself has found no room either: the daemon keeps it on the same data root.
        let expected = "`web`: ended with exit code 1 on a full data root (tmpfs of 25165824 bytes): raise `engine.backing.size`";
        assert_eq!(failure.reason, expected);
    }
    host.ends(&place, "small").await;
}
