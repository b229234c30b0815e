//! `doctor --probe` on this host: it says what ran, and leaves nothing. Skipped where no private daemon can be started.

use crate::program::{Place, left, signal};
use crate::snapshot::Snapshot;
use rustix::process::Signal;
use serde_json::Value;
use shakedown::engine::dockerd::{DISKS, RUN, survey};
use shakedown::model::possible::Survey;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// Drivers on file systems that this host is thought to give.
const PAIRS: &[(&str, &str)] =
    &[("overlay2", "ext4"), ("overlay2", "xfs"), ("overlay2", "tmpfs"), ("btrfs", "btrfs"), ("vfs", "xfs"), ("fuse-overlayfs", "xfs")];

/// What is known here without trying; none where nothing can be tried, said on stderr.
fn can_try() -> Option<Survey> {
    let survey = survey();
    if survey.general.is_empty() {
        return Some(survey);
    }
    // That it refuses is tested all the same.
    let said = Place::new().run(&["doctor", "--probe"]);
    assert_eq!((said.code, said.stdout.as_str()), (3, ""), "{}", said.stderr);
    assert!(said.stderr.contains("none can be started here: ") && said.stderr.contains(&survey.general[0]), "{}", said.stderr);
    crate::skipped::skip(survey.general.join("; "));
    None
}

/// Everything of a run that this host still has.
fn left_of(run: &str) -> Vec<String> {
    let mut found = left(&[run.to_owned()], "");
    for folder in [RUN, DISKS] {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path().display().to_string());
        found.extend(entries.filter(|path| path.starts_with(&format!("{folder}/{run}-"))));
    }
    let loops = std::fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let behind = loops.filter_map(|entry| std::fs::read_to_string(entry.path().join("loop/backing_file")).ok());
    found.extend(behind.filter(|file| file.contains(&format!("{DISKS}/{run}-"))));
    found
}

/// Whether the kernel makes such a device, in a namespace that goes with the try.
fn kernel_makes(kind: &str) -> bool {
    let script = format!("ip link add one0 type veth peer name two0 && ip link add link two0 name try0 type {kind}");
    let told = Command::new("unshare").args(["--net", "sh", "-c", &script]).output().expect("unshare");
    told.status.success()
}

/// The run that a probe says it is.
fn run_of(text: &str) -> String {
    let line = text.lines().find_map(|line| line.strip_prefix("probing as run `")?.strip_suffix('`'));
    line.unwrap_or_else(|| panic!("it does not say its run: {text}")).to_owned()
}

/// A probe of one pair that has got as far as `step`, what it has said so far, and what it still says.
fn until(place: &Place, step: &str) -> (Child, String, BufReader<std::process::ChildStderr>) {
    let mut command = place.command(&["doctor", "--probe", "--probe-only", "vfs/ext4,vfs/tmpfs"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("spawn");
    let mut words = BufReader::new(child.stderr.take().expect("stderr"));
    let mut text = String::new();
    while !text.contains(step) {
        assert_ne!(words.read_line(&mut text).expect("line"), 0, "it has ended: {text}");
    }
    (child, text, words)
}

#[tokio::test]
async fn what_was_tried_replaces_what_was_known() {
    let Some(known) = can_try() else { return };
    let before = Snapshot::take("no-run-of-ours").await;
    let named = |(driver, filesystem): &(&str, &str)| {
        known.pairs.iter().any(|p| (p.storage_driver, p.filesystem.name()) == (*driver, *filesystem) && p.answer.may_work())
    };
    let pairs: Vec<&(&str, &str)> = PAIRS.iter().filter(|pair| named(pair)).collect();
    let only = pairs.iter().map(|(driver, filesystem)| format!("{driver}/{filesystem}")).collect::<Vec<_>>().join(",");
    let said = Place::new().run(&["doctor", "--probe", "--probe-only", &only, "--format", "json"]);
    let found: Vec<Value> = serde_json::from_str(&said.stdout).unwrap_or_else(|error| panic!("{error}: {}", said.stderr));
    let line = |area: &str, what: &str| {
        let finding = found.iter().find(|finding| finding["area"] == area && finding["what"] == what).expect("a line");
        (finding["state"].as_str().expect("state").to_owned(), finding["detail"].as_str().expect("detail").to_owned())
    };
    for (at, (driver, filesystem)) in pairs.iter().enumerate() {
        let progress = format!("trying {driver} on {filesystem} ({} of {})", at + 1, pairs.len());
        assert!(said.stderr.contains(&progress), "{progress}: {}", said.stderr);
        let (state, detail) = line("storage", driver);
        let tried = detail.strip_prefix("a container ran on ").unwrap_or_default().split(';').next().expect("first part");
        assert!(state == "ok" && tried.contains(&format!("{filesystem} (API after ")), "{driver} on {filesystem}: {detail}");
    }
    for mode in ["bridge", "host", "none"] {
        assert_eq!(line("network", mode), ("ok".to_owned(), "a container ran".to_owned()));
    }
    for mode in ["macvlan", "ipvlan"] {
        let (state, detail) = line("network", mode);
        if kernel_makes(mode) {
            assert_eq!((state.as_str(), detail.as_str()), ("ok", "a container ran"), "{mode}");
        } else {
            assert!(state == "no" && detail.contains(&format!("failed to create the {mode} port: ")), "{mode}: {state}, {detail}");
        }
    }
    assert_eq!(left_of(&run_of(&said.stderr)), Vec::<String>::new());
    before.assert_same().await;
}

#[test]
fn a_signal_tears_down_what_was_started() {
    if can_try().is_none() {
        return;
    }
    for (step, sent, code) in [("trying vfs on ext4", Signal::INT, 130), ("the network mode bridge", Signal::TERM, 143)] {
        let (mut child, mut said, words) = until(&Place::new(), step);
        signal(&child, sent);
        words.lines().for_each(|line| said.push_str(&(line.expect("line") + "\n")));
        assert_eq!(child.wait().expect("end").code(), Some(code), "{said}");
        assert!(said.contains("stopping: what was started is torn down") && !said.contains("vfs on tmpfs"), "{said}");
        assert_eq!(left_of(&run_of(&said)), Vec::<String>::new());
    }
}

#[test]
fn what_a_killed_probe_leaves_is_removed_by_clean_in_words() {
    if can_try().is_none() {
        return;
    }
    let place = Place::new();
    let (mut child, said, _words) = until(&place, "the network mode host");
    // Nobody else sweeps until it is dead.
    let alive = shakedown::record::alive_runs();
    child.kill().expect("kill");
    child.wait().expect("end");
    let run = run_of(&said);
    assert!(!left_of(&run).is_empty(), "there is something to remove");
    drop(alive);
    let said = place.run(&["clean"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    // The run of another test may have removed it meanwhile, and said so.
    assert!(said.stderr.contains(&format!("removed private daemon of run `{run}`, with {RUN}/{run}-0")) || left_of(&run).is_empty());
    for line in said.stderr.lines() {
        assert!(line == "nothing was left" || line.starts_with("removed ") || line.contains("not looked at"), "{line}");
    }
    assert_eq!(left_of(&run), Vec::<String>::new());
}
