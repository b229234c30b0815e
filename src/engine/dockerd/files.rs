//! The files of a private daemon as they stand before its start.

use super::daemons::{Daemons, Loaded};
use super::place::{self, Place};
use super::{disk, failed, settings, tools};
use crate::engine::EngineError;
use crate::model::private::{Filesystem, PrivateSpec};
use serde_json::json;
use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// Bytes that must be free for a data root that may grow to them or more.
const LEAST_ROOM: u64 = 1 << 30;
/// How often a folder is made again that somebody else removes.
const ATTEMPTS: usize = 1000;

/// Everything that stands before the start; the images on the data root when it is a copy of a seed.
pub(super) fn prepare(spec: &PrivateSpec, place: &Place, daemons: &Daemons) -> Result<Option<Loaded>, EngineError> {
    let folder = place.folder();
    // Passable for daemons that map the users of their containers.
    insist(|| folder_with_mode(&folder, 0o711)).map_err(|error| failed(format!("make {}", folder.display()), error))?;
    let write =
        |name: &str, text: String| fs_err::write(folder.join(name), text).map_err(|error| failed("prepare a private daemon", error));
    write("lease.json", lease(spec, place))?;
    write("daemon.json", settings::daemon_json(spec))?;
    for path in [place.data(), place.exec()] {
        folder_with_mode(&path, 0o711).map_err(|error| failed(format!("make {}", path.display()), error))?;
    }
    if spec.backing.filesystem == Filesystem::Tmpfs {
        return Ok(None);
    }
    let (disks, file) = (Path::new(place::DISKS), place.disk());
    // The file from the first moment, so that nobody who cleans up takes its folder for empty.
    insist(|| folder_with_mode(disks, 0o700).and_then(|()| File::create(&file)))
        .map_err(|error| failed(format!("make {}", file.display()), error))?;
    room(disks, spec.backing.bytes)?;
    if let Some(images) = daemons.plant(spec, place)? {
        return Ok(Some(images));
    }
    let maker = disk::maker(spec.backing.filesystem).map_or("mkfs", |(program, _)| program);
    let program = tools::find(maker).ok_or_else(|| EngineError::Unsupported { what: tools::missing(maker) })?;
    disk::make(&file, &spec.backing, &program)?;
    Ok(None)
}

/// Tries again where a parent has just been removed: whoever ends the last daemon removes the folders that are empty then.
fn insist<T>(make: impl Fn() -> io::Result<T>) -> io::Result<T> {
    for _ in 0..ATTEMPTS {
        match make() {
            // One that was there when it should be made, and was gone when it was looked at, is told to exist.
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::AlreadyExists) => std::thread::yield_now(),
            other => return other,
        }
    }
    make()
}

fn folder_with_mode(path: &Path, mode: u32) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(mode).create(path)
}

/// Refuses a disk that is nearly full: the file system inside would meet its end in the middle of a trial, as an error of the disk.
fn room(folder: &Path, bytes: u64) -> Result<(), EngineError> {
    let found = rustix::fs::statvfs(folder).map_err(|error| failed(format!("look at {}", folder.display()), error))?;
    let free = found.f_bavail.saturating_mul(found.f_frsize);
    if free >= bytes.min(LEAST_ROOM) {
        return Ok(());
    }
    let (free, least) = (free >> 20, bytes.min(LEAST_ROOM) >> 20);
    Err(failed("make a data root", format!("the disk below {} has {free} MiB left, and needs {least}", folder.display())))
}

/// What a person finds who wonders what a folder of ours is.
fn lease(spec: &PrivateSpec, place: &Place) -> String {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The 22nd field; the second, the program's name, may hold spaces.
    let started = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(19)).and_then(|ticks| ticks.parse::<u64>().ok());
    let disk = (spec.backing.filesystem != Filesystem::Tmpfs).then(|| place.disk());
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let text = json!({
        "what": format!("a private docker daemon of shakedown ({}); `shakedown clean` removes it when its run is dead", spec.label()),
        "run": place.run,
        "pid": std::process::id(),
        "pid_started_ticks": started,
        "disk": disk,
        "control_group": place.group(),
        "made_unix_seconds": now,
    });
    format!("{text:#}\n")
}

#[cfg(test)]
mod tests {
    use super::super::tests::spec;
    use super::*;

    #[test]
    fn a_folder_that_others_remove_while_it_is_empty_is_made_all_the_same() {
        let top = tempfile::tempdir().expect("folder");
        let parent = top.path().join("parent");
        let over = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(std::sync::atomic::Ordering::Relaxed) {
                    let _ = std::fs::remove_dir(&parent);
                }
            });
            let made: io::Result<()> = (0..300).try_for_each(|number| {
                let file = parent.join(number.to_string());
                insist(|| folder_with_mode(&parent, 0o700).and_then(|()| File::create(&file)))?;
                std::fs::remove_file(file)
            });
            over.store(true, std::sync::atomic::Ordering::Relaxed);
            made.expect("each of them");
        });
    }

    #[test]
    fn a_disk_without_room_is_refused() {
        // Where nothing is ever written: it has no room at all.
        let error = room(Path::new("/proc"), 5 << 30).expect_err("no room").to_string();
        assert_eq!(error, "make a data root: the disk below /proc has 0 MiB left, and needs 1024");
        room(Path::new("/proc"), 0).expect("nothing is enough for nothing");
    }

    #[test]
    fn a_lease_says_what_it_is_and_whose() {
        let text = lease(&spec("vfs", "xfs"), &Place { run: "r1".into(), slot: 2 });
        let lease: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!((&lease["run"], &lease["pid"]), (&json!("r1"), &json!(std::process::id())));
        assert_eq!((&lease["disk"], &lease["control_group"]), (&json!("/var/lib/shakedown/r1-2.img"), &json!("shakedown/r1/engine-2")));
        assert!(lease["pid_started_ticks"].as_u64().is_some_and(|ticks| ticks > 0) && text.contains("vfs on xfs"), "{text}");
    }
}
