//! What cannot be is refused before the first trial, in one message, and nothing was started.

use super::{Host, TWO};
use crate::program::{Place, Said, said};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;

/// The user and group of nobody.
const NOBODY: u32 = 65_534;

/// An experiment with one private daemon.
fn with(engine: &str) -> String {
    let (_, rest) = TWO.split_once("services:").expect("services");
    format!("engine: {{{engine}}}\nservices:{rest}")
}

fn refused(said: &Said, expected: &[&str]) {
    assert_eq!(said.code, 3, "{}", said.stderr);
    let errors = said.stderr.lines().filter(|line| line.starts_with("error:")).count();
    assert_eq!(errors, 1, "{}", said.stderr);
    for expected in expected {
        assert!(said.stderr.contains(expected), "{expected}: {}", said.stderr);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_root_the_message_names_it() {
    let Some(host) = Host::new("nobody") else { return };
    let host = host.await;
    let place = Place::with("host", &with("storage_driver: vfs"));
    place.manifest("inside", "engine: {storage_driver: vfs}\nworkload: {pack: [/bin/true], command: /bin/true}\ndesign: {blocks: 1}\n");
    std::fs::set_permissions(place.path(""), std::fs::Permissions::from_mode(0o777)).expect("mode");
    // A host process needs control groups, too, and is asked for first.
    for (name, expected) in [("host", "run as root"), ("inside", "a private daemon needs root")] {
        // Without groups of its own, as a login would be: the standard library drops root's.
        let output = match place.command(&["run", name]).uid(NOBODY).gid(NOBODY).output() {
            Ok(output) => output,
            Err(error) => return crate::skipped::skip(format!("nobody cannot start the program: {error}")),
        };
        refused(&said(&output), &[expected]);
        assert_eq!(place.rows(name), []);
    }
    host.ends(&place, "inside").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn daemons_and_drivers_that_are_not_there_are_named() {
    let Some(host) = Host::new("refused") else { return };
    let host = host.await;
    let place = Place::new();
    place.manifest("p", &with("storage_driver: vfs, binary: /nonexistent"));
    refused(&place.run(&["run", "p"]), &["/nonexistent"]);
    for driver in ["devicemapper", "aufs", "zfs"] {
        place.manifest("p", &with(&format!("storage_driver: {driver}")));
        let reason = format!("`storage_driver: {driver}`: ");
        refused(&place.run(&["run", "p"]), &[&reason, "; available here: ", "overlay2 ("]);
        assert_eq!(place.rows("p"), []);
    }
    host.ends(&place, "p").await;
}
