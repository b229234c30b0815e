//! Two experiments at once: one measures, the other is refused, waits, or measures beside it when told so.

use super::Host;
use crate::program::{Place, said, signal};
use std::io::BufRead;
use std::process::{Child, Command, Stdio};

/// A container without a network in a private daemon, which stands for `seconds`.
fn manifest(seconds: u32) -> String {
    format!(
        "engine: {{storage_driver: overlay2, backing: tmpfs}}\nworkload: {{pack: [/bin/busybox], network_mode: none, \
         command: [/bin/busybox, sleep, '{seconds}'], timeout: 100s}}\ndesign: {{blocks: 1, min_window: 1ms}}\n"
    )
}

/// The program as a person starts it, who has said nothing of measuring beside others.
fn alone(place: &Place, arguments: &[&str]) -> Command {
    let mut command = place.command(arguments);
    command.env_remove("SHAKEDOWN_TOGETHER");
    command
}

/// Reads what a child says up to a line that has all of `wanted`; that line.
fn hear(events: &mut impl BufRead, wanted: &[&str]) -> String {
    loop {
        let mut line = String::new();
        assert!(events.read_line(&mut line).expect("line") > 0, "it ended before {wanted:?}");
        if wanted.iter().all(|word| line.contains(word)) {
            return line;
        }
    }
}

fn start(mut command: Command) -> (Child, std::io::BufReader<std::process::ChildStderr>) {
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("spawn");
    let events = std::io::BufReader::new(child.stderr.take().expect("stderr"));
    (child, events)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_comes_second_is_refused_waits_or_is_told_to_measure_together() {
    let Some(host) = Host::new("turns") else { return };
    let host = host.await;
    let place = Place::with("long", &manifest(60));
    place.manifest("short", &manifest(0));
    let (mut long, mut events) = start(alone(&place, &["run", "long", "--log-format", "json"]));
    let mut heard = String::new();
    while !heard.contains("trial-started") {
        // It ends: somebody else measures on this host just now, and may do so for hours.
        if events.read_line(&mut heard).expect("line") == 0 {
            assert_eq!(long.wait().expect("end").code(), Some(3), "{heard}");
            assert!(heard.contains("(process "), "{heard}");
            host.ends(&place, "long").await;
            return crate::skipped::skip(heard);
        }
    }
    let refused = said(&alone(&place, &["run", "short"]).output().expect("run"));
    assert_eq!(refused.code, 3, "{}", refused.stderr);
    assert!(refused.stderr.contains(&format!("`long` (process {}", long.id())), "{}", refused.stderr);
    assert_eq!(place.rows("short"), []);
    let together = said(&alone(&place, &["run", "short", "--together"]).output().expect("run"));
    assert_eq!(together.code, 0, "{}", together.stderr);
    let (mut short, mut waiting) = start(alone(&place, &["run", "short", "--fresh", "--wait"]));
    let told = hear(&mut waiting, &["short: waiting for `long`"]);
    assert!(told.contains(&long.id().to_string()), "{told}");
    signal(&long, rustix::process::Signal::INT);
    assert_eq!(long.wait().expect("end").code(), Some(130), "{}", crate::cli::rest(events));
    let said = crate::cli::rest(waiting);
    assert_eq!(short.wait().expect("end").code(), Some(0), "{said}");
    host.has_nothing_of(&place, "long").await;
    host.ends(&place, "short").await;
}
