//! Whose turn it is to measure on this host: two experiments at once would disturb each other.
//!
//! The lock is the kernel's, so it goes with the process that holds it, however that dies; its file says who holds it.

use super::lease::{ORPHANS, PAUSE, folder, make, open_lock, users_folders};
use super::{RecordError, io};
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The file that is locked while somebody measures.
const FILE: &str = "measuring";

/// Held while this process measures.
#[derive(Debug)]
pub struct Turn {
    _file: File,
}

impl Turn {
    /// Takes the turn for an experiment, or says who has it.
    ///
    /// # Errors
    /// [`RecordError::HostBusy`] when somebody else measures on this host.
    pub fn take(experiment: &str) -> Result<Self, RecordError> {
        let since = Instant::now();
        loop {
            match Self::try_take(&folder(), &users_folders(), experiment) {
                // Children of a run that was killed hold copies of its locks until they are dead, too.
                Err(RecordError::HostBusy { .. }) if since.elapsed() < ORPHANS => std::thread::sleep(PAUSE),
                other => return other,
            }
        }
    }

    /// Takes the turn when the others are done; `told` hears who has it, once for each.
    ///
    /// # Errors
    /// When the lock's file cannot be made, or `give_up` says so: [`RecordError::HostBusy`].
    pub fn wait(experiment: &str, told: &mut dyn FnMut(&str), give_up: &dyn Fn() -> bool) -> Result<Self, RecordError> {
        let mut last = String::new();
        loop {
            match Self::take(experiment) {
                Err(RecordError::HostBusy { owner }) if !give_up() => {
                    if owner != last {
                        told(&owner);
                        last = owner;
                    }
                    std::thread::sleep(Duration::from_millis(200));
                }
                other => return other,
            }
        }
    }

    fn try_take(own: &Path, folders: &[PathBuf], experiment: &str) -> Result<Self, RecordError> {
        make(own)?;
        let path = own.join(FILE);
        let mut file = open_lock(&path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(std::fs::TryLockError::WouldBlock) => {
                return Err(RecordError::HostBusy { owner: File::open(&path).map_or_else(|_| String::new(), |mut file| owner(&mut file)) });
            }
            Err(std::fs::TryLockError::Error(error)) => return Err(io(format!("lock {}", path.display()))(error)),
        }
        // Only now: of two who begin at once at least one sees the other.
        for other in folders.iter().filter(|folder| *folder != own) {
            // Another user's file may only be read; that is enough to ask for its lock.
            if let Ok(mut file) = File::open(other.join(FILE))
                && matches!(file.try_lock_shared(), Err(std::fs::TryLockError::WouldBlock))
            {
                return Err(RecordError::HostBusy { owner: owner(&mut file) });
            }
        }
        let since = jiff::Timestamp::now();
        let says = format!("`{experiment}` (process {}, since {since:.0})\n", std::process::id());
        let written = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| file.write_all(says.as_bytes()));
        written.map_err(io(format!("write {}", path.display())))?;
        Ok(Self { _file: file })
    }
}

/// Who holds a lock, as its file says.
fn owner(file: &mut File) -> String {
    let mut text = String::new();
    let _ = file.take(1024).read_to_string(&mut text); // what cannot be read is nobody's name
    let text = text.trim();
    if text.is_empty() { "somebody".to_owned() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_measures_and_the_others_learn_who() {
        let base = tempfile::tempdir().expect("folder");
        let (one, two) = (base.path().join("1"), base.path().join("2"));
        let both = [one.clone(), two.clone()];
        let turn = Turn::try_take(&one, &both, "cpus").expect("free");
        for own in [&one, &two] {
            let refused = Turn::try_take(own, &both, "disks").expect_err("taken").to_string();
            assert!(refused.contains("`cpus`") && refused.contains(&std::process::id().to_string()), "{refused}");
        }
        drop(turn);
        let turn = Turn::try_take(&two, &both, "disks").expect("free again");
        let refused = Turn::try_take(&one, &both, "cpus").expect_err("taken").to_string();
        assert!(refused.contains("`disks`") && !refused.contains("cpus"), "{refused}");
        drop(turn);
    }
}
