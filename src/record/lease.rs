//! Which runs are alive on this host: each holds a lock that the kernel drops with the process, however it dies.
//!
//! Whoever makes, drops or lists leases holds the folder's gate meanwhile. So nobody locks a file that is being removed, and
//! nobody becomes alive between the moment that the living are listed and the end of the sweep that spares them.

use super::{RecordError, io};
use fs_err as fs;
use std::hash::{Hash, Hasher};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The file that is locked while leases of its folder change.
const GATE: &str = "gate";

/// How long processes that were forked by a run may hold its locks after its death, and the pause between two looks.
pub(super) const ORPHANS: Duration = Duration::from_secs(1);
pub(super) const PAUSE: Duration = Duration::from_millis(20);

/// Held while a run is alive.
#[derive(Debug)]
pub struct Lease {
    path: PathBuf,
    /// The lock lives as long as this file is open.
    file: Option<std::fs::File>,
}

impl Lease {
    /// Takes the lease of run `id`; waits while somebody sweeps.
    ///
    /// # Errors
    /// When the lock's file cannot be made.
    pub fn take(id: &str) -> Result<Self, RecordError> {
        Self::take_in(&folder(), id)
    }

    /// Takes a lease so that nobody else runs the experiment whose reports are in `store`.
    ///
    /// # Errors
    /// [`RecordError::Busy`] when somebody does.
    pub fn take_experiment(store: &Path, experiment: &str) -> Result<Self, RecordError> {
        let (id, since) = (experiment_id(store, experiment), Instant::now());
        loop {
            match Self::take_in(&folder(), &id) {
                // Children of a run that was killed hold copies of its locks until they are dead, too.
                Err(RecordError::Busy { .. }) if since.elapsed() < ORPHANS => std::thread::sleep(PAUSE),
                Err(RecordError::Busy { .. }) => return Err(RecordError::Busy { experiment: experiment.to_owned() }),
                other => return other,
            }
        }
    }

    fn take_in(folder: &Path, id: &str) -> Result<Self, RecordError> {
        let _gate = gate(folder)?;
        let path = folder.join(format!("{id}.lock"));
        let file = open_lock(&path)?;
        match file.try_lock() {
            Ok(()) => Ok(Self { path, file: Some(file) }),
            Err(std::fs::TryLockError::WouldBlock) => Err(RecordError::Busy { experiment: id.to_owned() }),
            Err(std::fs::TryLockError::Error(error)) => Err(io(format!("lock {}", path.display()))(error)),
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        // Only tidiness: a file without a lock means a dead run.
        let _gate = self.path.parent().map(gate);
        let _ = std::fs::remove_file(&self.path);
        self.file = None;
    }
}

/// The runs that are alive on this host. While this value lives no other run begins: a sweep holds it to its end.
#[derive(Debug)]
pub struct Alive {
    /// The runs' ids, sorted.
    pub runs: Vec<String>,
    _gates: Vec<std::fs::File>,
}

/// The runs that are alive on this host, those of other users included; locks of dead ones are removed. Waits for sweeps of others.
#[must_use]
pub fn alive_runs() -> Alive {
    loop {
        match Alive::try_list() {
            Some(alive) => return alive,
            None => std::thread::sleep(PAUSE),
        }
    }
}

impl Alive {
    /// The same without waiting; none while somebody else takes a lease or sweeps. Whoever cannot have every gate holds none, so
    /// that two who sweep never wait for each other.
    #[must_use]
    pub fn try_list() -> Option<Self> {
        let mut folders: Vec<PathBuf> = users_folders();
        folders.push(folder());
        let _ = make(&folder()); // a folder that cannot be made holds no leases either
        folders.sort();
        folders.dedup();
        Self::try_list_in(&folders)
    }

    fn try_list_in(folders: &[PathBuf]) -> Option<Self> {
        let mut gates = Vec::new();
        for folder in folders {
            gates.push(match try_gate(folder) {
                Ok(gate) => Some(gate),
                Err(std::fs::TryLockError::WouldBlock) => return None,
                // Not ours to open: what can be read of the folder is listed all the same.
                Err(std::fs::TryLockError::Error(_)) => None,
            });
        }
        let mut runs: Vec<String> = folders.iter().zip(&gates).flat_map(|(folder, gate)| alive_in(folder, gate.is_some())).collect();
        runs.sort();
        Some(Self { runs, _gates: gates.into_iter().flatten().collect() })
    }
}

/// Every user's folder of locks.
pub(super) fn users_folders() -> Vec<PathBuf> {
    BASES.iter().flat_map(|base| users_folders_in(Path::new(base))).collect()
}

/// Every user's folder of locks in `base`: the prefix and a number, and nothing else of ours.
fn users_folders_in(base: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(base).into_iter().flatten().flatten();
    let ours = entries.filter(|entry| {
        let name = entry.file_name();
        let user = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
        user.is_some_and(|user| user.parse::<u32>().is_ok()) && entry.file_type().is_ok_and(|kind| kind.is_dir())
    });
    ours.map(|entry| entry.path()).collect()
}

/// The runs whose locks in `folder` are held; the others' are removed when the caller holds its gate.
fn alive_in(folder: &Path, gated: bool) -> Vec<String> {
    let mut runs = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.extension().is_none_or(|extension| extension != "lock") {
            continue;
        }
        let Some(id) = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()) else { continue };
        // A lock can be asked for through a file that is only readable; another user's that is not even that counts as held.
        let held = match std::fs::File::open(&path) {
            Ok(file) => matches!(file.try_lock(), Err(std::fs::TryLockError::WouldBlock)),
            Err(error) => error.kind() != std::io::ErrorKind::NotFound,
        };
        if held {
            runs.push(id);
        } else if gated {
            // Nobody holds it: what a dead run left.
            let _ = std::fs::remove_file(&path);
        }
    }
    runs
}

/// Locks the gate of a folder that exists, when nobody else has it.
fn try_gate(folder: &Path) -> Result<std::fs::File, std::fs::TryLockError> {
    let path = folder.join(GATE);
    // In another user's folder nothing is made.
    let ours = std::fs::symlink_metadata(folder).is_ok_and(|found| found.uid() == rustix::process::geteuid().as_raw());
    let file = if ours { unfollowed().create(true).write(true).open(&path) } else { unfollowed().read(true).open(&path) };
    let file = file.map_err(std::fs::TryLockError::Error)?;
    file.try_lock()?;
    Ok(file)
}

/// Locks the folder's gate, waiting for it.
fn gate(folder: &Path) -> Result<std::fs::File, RecordError> {
    make(folder)?;
    let path = folder.join(GATE);
    let file = open_lock(&path).or_else(|error| std::fs::File::open(&path).map_err(|_| error))?;
    file.lock().map_err(io(format!("lock {}", path.display())))?;
    Ok(file)
}

/// Makes a folder of locks. Readable by others: they must see that we are alive.
pub(super) fn make(folder: &Path) -> Result<(), RecordError> {
    let make = || format!("make {}", folder.display());
    std::fs::DirBuilder::new().recursive(true).mode(0o755).create(folder).map_err(io(make()))?;
    // Its parent is everybody's: who made it first could lead our files elsewhere.
    let found = std::fs::symlink_metadata(folder).map_err(io(make()))?;
    let ours = found.is_dir() && found.uid() == rustix::process::geteuid().as_raw() && found.mode() & 0o022 == 0;
    if ours {
        return Ok(());
    }
    let why = "it is not a folder that only this user may write to: look who made it, and remove it";
    Err(io(make())(std::io::Error::other(why)))
}

pub(super) fn open_lock(path: &Path) -> Result<std::fs::File, RecordError> {
    unfollowed().create(true).write(true).open(path).map_err(io(format!("open {}", path.display())))
}

/// For files that are no links.
fn unfollowed() -> std::fs::OpenOptions {
    let mut options = std::fs::OpenOptions::new();
    options.truncate(false).custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed());
    options
}

/// One id for one folder, however it is spelled and whether it is there yet or not.
fn experiment_id(store: &Path, experiment: &str) -> String {
    let absolute = std::path::absolute(store).unwrap_or_else(|_| store.to_owned());
    let whole = absolute.ancestors().find_map(|there| {
        let rest = absolute.strip_prefix(there).ok()?;
        Some(fs::canonicalize(there).ok()?.join(rest))
    });
    let mut hasher = std::hash::DefaultHasher::new();
    // `join` of nothing leaves a slash behind: parts are compared, not spellings.
    whole.unwrap_or(absolute).components().for_each(|part| part.hash(&mut hasher));
    let name: String = experiment.chars().filter(char::is_ascii_alphanumeric).take(40).collect();
    format!("experiment-{name}-{:016x}", hasher.finish())
}

/// Beginning of the names of the users' folders of locks.
const PREFIX: &str = "shakedown-";

/// Where folders of locks may be, best first: fixed, so that runs with different `TMPDIR` know each other.
const BASES: [&str; 2] = ["/run/lock", "/tmp"];

/// This user's folder of locks: in the first of [`BASES`] that can be written to.
pub(super) fn folder() -> PathBuf {
    let writable = |base: &&str| Path::new(base).is_dir() && rustix::fs::access(*base, rustix::fs::Access::WRITE_OK).is_ok();
    let base = BASES.iter().copied().find(writable).unwrap_or(BASES[1]);
    Path::new(base).join(format!("{PREFIX}{}", rustix::process::getuid().as_raw()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alive(folder: &Path) -> Alive {
        Alive::try_list_in(&[folder.to_owned()]).expect("the gate is free")
    }

    #[test]
    fn whoever_cannot_have_every_gate_holds_none() {
        let (one, two) = (tempfile::tempdir().expect("folder"), tempfile::tempdir().expect("folder"));
        let both = [one.path().to_owned(), two.path().to_owned()];
        let theirs = try_gate(two.path()).expect("free");
        assert!(Alive::try_list_in(&both).is_none());
        let first = try_gate(one.path()).expect("let go of");
        drop((theirs, first));
        let ours = Alive::try_list_in(&both).expect("free");
        assert!(Alive::try_list_in(&both).is_none());
        drop(ours);
    }

    #[test]
    fn only_numbered_folders_hold_leases() {
        let base = tempfile::tempdir().expect("folder");
        for name in ["shakedown-0", "shakedown-files-r1-x", "shakedown-", "other-0"] {
            std::fs::create_dir(base.path().join(name)).expect("folder");
        }
        std::fs::write(base.path().join("shakedown-7"), "").expect("file");
        assert_eq!(users_folders_in(base.path()), [base.path().join("shakedown-0")]);
    }

    #[test]
    fn a_lease_lives_as_long_as_its_holder() {
        let folder = tempfile::tempdir().expect("folder");
        let lease = Lease::take_in(folder.path(), "a1").expect("lease");
        assert!(matches!(Lease::take_in(folder.path(), "a1"), Err(RecordError::Busy { .. })));
        assert_eq!(alive(folder.path()).runs, ["a1"]);
        drop(lease);
        std::fs::write(folder.path().join("dead.lock"), "").expect("file");
        assert_eq!(alive(folder.path()).runs, Vec::<String>::new());
        assert!(!folder.path().join("dead.lock").exists());
    }

    #[test]
    fn nobody_becomes_alive_while_the_living_are_listed() {
        let folder = tempfile::tempdir().expect("folder");
        // Dropped after the gate is free: a failing test must not wait for itself.
        let taker;
        let alive = alive(folder.path());
        assert_eq!(alive.runs, Vec::<String>::new());
        let (path, (told, hears)) = (folder.path().to_owned(), std::sync::mpsc::channel());
        taker = std::thread::spawn(move || {
            let lease = Lease::take_in(&path, "b2").expect("lease");
            told.send(()).expect("send");
            lease
        });
        // The kernel lists who waits for a lock: an arrow, and the file's inode.
        let inode = format!(":{} ", std::fs::metadata(folder.path().join(GATE)).expect("gate").ino());
        let waits = || std::fs::read_to_string("/proc/locks").expect("locks").lines().any(|l| l.contains("->") && l.contains(&inode));
        while !waits() {
            assert!(
                hears.try_recv() == Err(std::sync::mpsc::TryRecvError::Empty) && !folder.path().join("b2.lock").exists(),
                "it did not wait"
            );
            std::thread::yield_now();
        }
        drop(alive);
        hears.recv().expect("taken once the sweep is over");
        assert_eq!(Alive::try_list_in(&[folder.path().to_owned()]).expect("the gate is free").runs, ["b2"]);
        drop(taker.join().expect("taker"));
    }

    #[test]
    fn an_experiment_has_one_id_before_and_after_its_folder_is_made() {
        let folder = tempfile::tempdir().expect("folder");
        let store = folder.path().join("reports/x");
        let before = experiment_id(&store, "x");
        std::fs::create_dir_all(&store).expect("folder");
        assert_eq!(experiment_id(&store, "x"), before);
        std::os::unix::fs::symlink("reports", folder.path().join("link")).expect("link");
        assert_eq!(experiment_id(&folder.path().join("link/./x"), "x"), before);
        let (one, other) = (folder.path().join("reports/ねずみ"), folder.path().join("reports/うさぎ"));
        assert_ne!(experiment_id(&one, "ねずみ"), experiment_id(&other, "うさぎ"), "a name is more than its ASCII part");
    }
}
