//! Folders of ours on this host's disk: the volumes of trials and runs, and what single units have for themselves.
//!
//! A volume is a folder with the engine's name of it, in which `data` is what units see; with `tmpfs_bytes` memory is mounted on
//! that folder, in our own mount namespace. `data` appears when it is complete. Names begin with `shakedown-` and the run, so
//! that a sweep knows whose they are; nothing else below the store is touched.

use super::copy;
use crate::engine::{EngineError, UnitName};
use crate::model::stack::VolumeSpec;
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};

/// Where the store lies.
pub(super) const STORE: &str = "/var/lib/shakedown";
/// Beginning of every name in it.
const PREFIX: &str = "shakedown-";
/// What units see of a volume, and what it is until it is complete.
const DATA: &str = "data";
const UNFINISHED: &str = "unfinished";
/// The parents of volumes, and of what single units have.
const KINDS: [&str; 2] = ["volumes", "units"];
/// Another process may remove an empty parent between our two calls: try again so often.
const ATTEMPTS: usize = 5;

/// The folders below one root.
#[derive(Debug, Clone)]
pub(super) struct Store {
    root: PathBuf,
}

impl Store {
    pub(super) fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// What units see of a volume, by the engine's name of it.
    pub(super) fn data(&self, volume: &str) -> PathBuf {
        self.root.join(KINDS[0]).join(volume).join(DATA)
    }

    /// What one unit has for itself, by the engine's name of it.
    pub(super) fn unit(&self, unit: &str) -> PathBuf {
        self.root.join(KINDS[1]).join(unit)
    }

    /// Makes a volume; a kept one that is there stays as it is.
    pub(super) fn furnish(&self, name: &UnitName, volume: &VolumeSpec) -> Result<(), EngineError> {
        let data = self.data(&name.volume(&volume.name, volume.keep));
        if volume.keep && data.is_dir() {
            return Ok(());
        }
        let folder = data.parent().unwrap_or(&data);
        let made = self.remove(folder).and_then(|()| fill(folder, volume));
        made.map_err(|error| EngineError::Call { operation: format!("make volume `{}`", volume.name), reason: error.to_string() })
    }

    /// Removes a trial's volume; fine when it is not there.
    pub(super) fn clear(&self, name: &UnitName, volume: &VolumeSpec) -> Result<(), EngineError> {
        let data = self.data(&name.volume(&volume.name, false));
        let removed = if volume.keep { Ok(()) } else { self.remove(data.parent().unwrap_or(&data)) };
        removed.map_err(|error| EngineError::Call { operation: format!("remove volume `{}`", volume.name), reason: error.to_string() })
    }

    /// Removes a folder of ours with everything in it and on it, and its parents when nothing else is in them.
    pub(super) fn remove(&self, folder: &Path) -> io::Result<()> {
        while unmount(folder, UnmountFlags::DETACH | UnmountFlags::NOFOLLOW).is_ok() {}
        match fs::remove_dir_all(folder) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        for parent in folder.ancestors().skip(1).take_while(|parent| parent.starts_with(&self.root)) {
            if fs::remove_dir(parent).is_err() {
                break; // somebody else's is in it, or it is gone
            }
        }
        Ok(())
    }

    /// Removes what dead runs left; tells what, or what could not be removed.
    pub(super) fn sweep(&self, alive: &[String]) -> Result<Vec<String>, EngineError> {
        let (mut removed, mut left) = (Vec::new(), Vec::new());
        for kind in KINDS {
            let entries = fs::read_dir(self.root.join(kind)).into_iter().flatten().flatten();
            for entry in entries.filter(|entry| is_dead(&entry.file_name().to_string_lossy(), PREFIX, alive)) {
                let path = entry.path();
                match self.remove(&path) {
                    Ok(()) => removed.push(format!("folder {}", path.display())),
                    Err(error) => left.push(format!("folder {} ({error})", path.display())),
                }
            }
        }
        if left.is_empty() {
            return Ok(removed);
        }
        Err(EngineError::Call { operation: "clean up".to_owned(), reason: format!("left: {}", left.join(", ")) })
    }
}

/// Whether a name of ours, `prefix` and the run and more, belongs to no run that is alive. In doubt it is alive.
pub(super) fn is_dead(name: &str, prefix: &str, alive: &[String]) -> bool {
    let Some(run) = name.strip_prefix(prefix) else { return false };
    let of_run = |alive: &String| run.strip_prefix(alive.as_str()).is_some_and(|rest| rest.starts_with('-'));
    run.contains('-') && !alive.iter().any(of_run)
}

/// Makes a folder with its parents, for nobody but us: units see what lies in it by mounts.
pub(super) fn make(folder: &Path) -> io::Result<()> {
    let mut attempt = 1;
    loop {
        match DirBuilder::new().recursive(true).mode(0o700).create(folder) {
            Err(error) if error.kind() == ErrorKind::NotFound && attempt < ATTEMPTS => attempt += 1,
            result => return result,
        }
    }
}

/// Makes the content of a volume.
fn fill(folder: &Path, volume: &VolumeSpec) -> io::Result<()> {
    make(folder)?;
    if let Some(bytes) = volume.tmpfs_bytes {
        let options = std::ffi::CString::new(format!("mode=700,size={bytes}"))?;
        mount(c"shakedown", folder, c"tmpfs", MountFlags::NODEV | MountFlags::NOSUID, options.as_c_str())?;
    }
    let unfinished = folder.join(UNFINISHED);
    match &volume.from {
        Some(from) if !from.is_absolute() => return Err(io::Error::other(format!("`{}` is no absolute path", from.display()))),
        Some(from) if !from.is_dir() => return Err(io::Error::other(format!("`{}` is not a folder", from.display()))),
        Some(from) => copy::folder(from, &unfinished)?,
        None => {
            fs::create_dir(&unfinished)?;
            // As engines have it: anybody's where it is memory, root's where it is not.
            fs::set_permissions(&unfinished, Permissions::from_mode(if volume.tmpfs_bytes.is_some() { 0o1777 } else { 0o755 }))?;
        }
    }
    fs::rename(unfinished, folder.join(DATA))
}

/// Gives an empty volume owner and permissions of the folder that it is to cover, as engines do: a program that could write there
/// still can.
pub(super) fn adopt(data: &Path, target: &Path) -> io::Result<()> {
    let Ok(covered) = fs::metadata(target) else { return Ok(()) };
    if !covered.is_dir() || fs::read_dir(data)?.next().is_some() {
        return Ok(());
    }
    chown(data, Some(covered.uid()), Some(covered.gid()))?;
    fs::set_permissions(data, Permissions::from_mode(covered.mode() & 0o7777))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(run: &str) -> UnitName {
        UnitName { run: run.into(), experiment: "e".into(), trial: "t1".into(), unit: "a".into() }
    }

    fn volume(keep: bool, from: Option<&Path>) -> VolumeSpec {
        VolumeSpec { name: "v".into(), tmpfs_bytes: None, keep, from: from.map(Path::to_path_buf) }
    }

    #[test]
    fn volumes_come_go_and_stay() {
        let scene = tempfile::tempdir().expect("folder");
        let (store, from) = (Store::at(scene.path().join("store")), scene.path().join("from"));
        fs::create_dir(&from).expect("from");
        fs::write(from.join("seed"), "1").expect("seed");
        let (fresh, kept) = (volume(false, Some(&from)), volume(true, Some(&from)));
        let data = [store.data("shakedown-r1-t1-vol-v"), store.data("shakedown-r1-vol-v")];
        for (volume, data) in [&fresh, &kept].into_iter().zip(&data) {
            store.furnish(&name("r1"), volume).expect("furnish");
            fs::write(data.join("seed"), "2").expect("write");
            store.furnish(&name("r1"), volume).expect("furnish again");
        }
        let seeds = data.each_ref().map(|data| fs::read_to_string(data.join("seed")).expect("seed"));
        assert_eq!(seeds, ["1", "2"], "only what is kept is not fresh");
        store.clear(&name("r1"), &fresh).expect("clear");
        store.clear(&name("r1"), &kept).expect("clear");
        assert_eq!(data.each_ref().map(|data| data.exists()), [false, true]);
        let other = store.root.join("volumes/lost+found");
        fs::create_dir(&other).expect("not ours");
        assert_eq!(store.sweep(&["r1".into()]).expect("sweep"), Vec::<String>::new());
        let told = format!("folder {}", store.root.join("volumes/shakedown-r1-vol-v").display());
        assert_eq!(store.sweep(&["r".into(), "r2".into()]).expect("sweep"), [told]);
        assert!(other.exists(), "what is not ours stays");
        fs::remove_dir(&other).expect("not ours");
        store.furnish(&name("r1"), &fresh).expect("furnish");
        store.clear(&name("r1"), &fresh).expect("clear");
        assert!(!store.root.exists(), "parents go with the last");
    }

    #[test]
    fn what_is_half_made_is_made_again() {
        let scene = tempfile::tempdir().expect("folder");
        let store = Store::at(scene.path().join("store"));
        let unfinished = store.root.join("volumes/shakedown-r1-vol-v/unfinished");
        fs::create_dir_all(&unfinished).expect("as if killed meanwhile");
        store.furnish(&name("r1"), &volume(true, None)).expect("furnish");
        assert!(!unfinished.exists() && store.data("shakedown-r1-vol-v").is_dir());
        for from in ["relative", "/does/not/exist"] {
            let error = store.furnish(&name("r1"), &volume(false, Some(Path::new(from)))).expect_err("no folder to copy");
            assert!(error.to_string().contains(from), "{error}");
        }
    }

    #[test]
    fn names_belong_to_runs() {
        let alive = ["now".to_owned(), "a-b".to_owned()];
        let table = [("shakedown-old-t1-a", true), ("shakedown-now-t1-a", false), ("shakedown-a-b-t1", false), ("shakedown-a-c", true)];
        for (name, dead) in table.into_iter().chain([("shakedown-x", false), ("other-old-t1", false), ("shakedown-nowhere-t1", true)]) {
            assert_eq!(is_dead(name, PREFIX, &alive), dead, "{name}");
        }
    }
}
