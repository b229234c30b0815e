//! Tests that this host cannot run: each says so by its name, on stderr and in the list that `make test` ends with.

use std::fmt::Display;
use std::io::Write;
use std::panic::Location;

/// Environment variable with the file that a line is added to for each test that was skipped; nothing is written without it.
const LIST: &str = "SHAKEDOWN_TEST_SKIPPED";

/// Says that the calling test was skipped, and why.
#[track_caller]
pub fn skip(reason: impl Display) {
    let line = line(std::thread::current().name(), Location::caller(), &reason.to_string());
    eprintln!("skipped: {line}");
    if let Some(path) = std::env::var_os(LIST) {
        // One write, so that lines of tests beside each other stay whole.
        let list = std::fs::OpenOptions::new().create(true).append(true).open(&path);
        list.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes())).expect("the list of skipped tests");
    }
}

/// One line: the test's name, which is that of its thread, else the place of the call; and what is wrong.
fn line(thread: Option<&str>, place: &Location<'_>, reason: &str) -> String {
    let reason: Vec<&str> = reason.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let name = thread.filter(|name| name.contains("::")).map_or_else(|| format!("{}:{}", place.file(), place.line()), str::to_owned);
    format!("{name}: {}", reason.join("; "))
}

#[test]
fn a_skipped_test_is_named_in_one_line() {
    let place = Location::caller();
    assert_eq!(
        line(Some("kill::of_containers"), place, "error: no engine\n\nhelp: start it\n"),
        "kill::of_containers: error: no engine; help: start it"
    );
    let unnamed = line(Some("main"), place, "no root");
    assert!(unnamed.contains("skipped.rs:") && unnamed.ends_with(": no root"), "{unnamed}");
}

/// A test that says it in its own way would be missing in the list.
#[test]
fn every_skipped_test_says_it_here() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = ["tests", "src"].into_iter().flat_map(|folder| walkdir::WalkDir::new(root.join(folder)));
    let sources = files.map(|entry| entry.expect("entry").into_path()).filter(|path| path.extension().is_some_and(|e| e == "rs"));
    let says = |path: &std::path::PathBuf| std::fs::read_to_string(path).expect("source").contains(concat!("eprintln!(\"", "skipped"));
    let own: Vec<_> = sources.filter(says).filter(|path| !path.ends_with("tests/skipped.rs")).collect();
    assert!(own.is_empty(), "{own:?}");
}
