//! Outputs that are kept, and files that are whole or not there.

use super::{MANIFEST, plan};
use shakedown::record::{INLINE_BYTES, RecordError, RunFolder, Store, keep, write_atomically};
use std::io::Read;
use std::path::{Path, PathBuf};

fn unpacked(folder: &RunFolder, file: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let file = std::fs::File::open(folder.path().join(file)).expect("file");
    flate2::read::GzDecoder::new(file).read_to_end(&mut bytes).expect("gzip");
    bytes
}

/// Every file below a folder, relative to it.
fn below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in walkdir::WalkDir::new(folder).sort_by_file_name() {
        let entry = entry.expect("entry");
        if !entry.file_type().is_dir() {
            found.push(entry.path().strip_prefix(folder).expect("below").to_owned());
        }
    }
    found
}

#[test]
fn short_text_stands_in_the_line_and_the_rest_in_a_file() {
    let base = tempfile::tempdir().expect("folder");
    let folder = RunFolder::existing(base.path().to_owned());
    let long = vec![b'x'; INLINE_BYTES + 1];
    let split = "é".repeat(INLINE_BYTES / 2);
    let table: [(&[u8], bool); 6] =
        [(b"", true), (b"a\r\n\0", true), (split.as_bytes(), true), (&long, false), (b"\xff\xfe", false), (&split.as_bytes()[1..], false)];
    for (index, (bytes, inline)) in table.into_iter().enumerate() {
        let record = keep(&folder, &format!("b{index}p1"), "workload", "stdout", bytes, bytes.len() as u64).expect("keep");
        assert_eq!((record.bytes, record.truncated), (bytes.len() as u64, false), "{index}");
        match (inline, record.text, record.file) {
            (true, Some(text), None) => assert_eq!(text.as_bytes(), bytes, "{index}"),
            (false, None, Some(file)) => {
                assert_eq!(file, format!("raw/b{index}p1.workload.stdout.gz"));
                assert_eq!(unpacked(&folder, &file), bytes, "{index}");
            }
            other => panic!("{index}: {other:?}"),
        }
    }
    assert_eq!(below(base.path()).len(), 3);
}

#[test]
fn long_output_keeps_its_first_and_last_half() {
    let base = tempfile::tempdir().expect("folder");
    let folder = RunFolder::existing(base.path().to_owned());
    let bytes: Vec<u8> = (0..3_000_000_u32).map(|index| b'a' + (index / 100_000 % 26) as u8).collect();
    let record = keep(&folder, "b1p1", "workload", "stderr", &bytes, 9_000_000).expect("keep");
    assert_eq!((record.bytes, record.truncated), (9_000_000, true));
    let half = 256 << 10;
    let kept = unpacked(&folder, &record.file.expect("file"));
    assert_eq!(kept, [&bytes[..half], &bytes[bytes.len() - half..]].concat());
    let cut = keep(&folder, "b1p2", "workload", "stdout", b"short", 6).expect("keep");
    assert_eq!((cut.text.as_deref(), cut.truncated), (Some("short"), true), "what was cut before it came here");
}

#[test]
fn the_same_output_gives_the_same_file() {
    let base = tempfile::tempdir().expect("folder");
    let folder = RunFolder::existing(base.path().to_owned());
    let files = ["b1p1", "b1p2"].map(|trial| keep(&folder, trial, "w", "stdout", &[255; 9000], 9000).expect("keep").file.expect("file"));
    let [first, second] = files.map(|file| std::fs::read(base.path().join(file)).expect("bytes"));
    assert_eq!(first, second);
}

#[test]
fn names_cannot_leave_the_folder() {
    let base = tempfile::tempdir().expect("folder");
    let folder = RunFolder::existing(base.path().join("run"));
    for (trial, unit, stream) in
        [("../../b1", "../w", "stdout"), ("/etc/x", "w", "../../../x"), ("b1\0p1", "..", "std/err"), ("b1p1", "a b\n", "stdout")]
    {
        let record = keep(&folder, trial, unit, stream, b"\xff", 1).expect("keep");
        let file = record.file.expect("file");
        assert!(file.starts_with("raw/") && !file[4..].contains('/') && !file.contains(".."), "{file}");
    }
    let found = below(base.path());
    assert!(found.iter().all(|path| path.starts_with("run/raw")), "{found:?}");
    assert_eq!(found.len(), 4);
}

#[test]
fn a_file_is_whole_or_not_there() {
    use std::os::unix::fs::PermissionsExt;
    let base = tempfile::tempdir().expect("folder");
    let path = base.path().join("deep/er/file.csv");
    write_atomically(&path, b"one").expect("write");
    write_atomically(&path, b"two").expect("write again");
    assert_eq!(std::fs::read(&path).expect("read"), b"two");
    assert_eq!(std::fs::metadata(&path).expect("metadata").permissions().mode() & 0o600, 0o600);
    assert_eq!(below(base.path()), [PathBuf::from("deep/er/file.csv")]);
    // A folder in the file's place cannot be replaced; nothing is left of the attempt.
    std::fs::create_dir_all(base.path().join("taken/inside")).expect("folder");
    let error = write_atomically(&base.path().join("taken"), b"three").expect_err("taken");
    assert!(matches!(&error, RecordError::Io { operation, .. } if operation.ends_with("taken")), "{error}");
    // A file in the folder's place neither, and the old file stays.
    assert!(write_atomically(&path.join("below"), b"four").is_err());
    assert_eq!(std::fs::read(&path).expect("read"), b"two");
    assert_eq!(below(base.path()), [PathBuf::from("deep/er/file.csv")]);
}

#[test]
fn a_run_begins_with_its_whole_plan() {
    let base = tempfile::tempdir().expect("folder");
    let store = Store::new(base.path(), "e");
    let plan = plan(MANIFEST);
    let run = store.create_run("2026-11-30-h1-0a1b2c", &plan).expect("run");
    assert_eq!(run.name(), "2026-11-30-h1-0a1b2c");
    assert_eq!(below(base.path()), [PathBuf::from("e/runs/2026-11-30-h1-0a1b2c/plan.json")]);
    let text = std::fs::read_to_string(run.path().join("plan.json")).expect("plan");
    assert!(text.ends_with("}\n"));
    let read: shakedown::model::plan::SavedPlan = serde_json::from_str(&text).expect("plan");
    assert_eq!(read.trials, plan.trials);
    assert_eq!(
        read.variants.iter().map(|v| &v.identity).collect::<Vec<_>>(),
        plan.variants.iter().map(|v| &v.identity).collect::<Vec<_>>()
    );
    assert_eq!(store.runs().expect("runs"), [run.path()]);
    let again = store.create_run("2026-11-30-h1-0a1b2c", &plan).expect_err("the name is taken");
    assert!(matches!(&again, RecordError::Taken { name } if name == "2026-11-30-h1-0a1b2c"), "{again}");
    assert_eq!(std::fs::read_to_string(run.path().join("plan.json")).expect("plan"), text, "and nothing of it was touched");
}
