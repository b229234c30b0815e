//! Where a private daemon's things are. Names hold the run, so that a sweep knows whose they are without opening anything.

use crate::engine::control::TOP;
use std::path::{Path, PathBuf};

/// Folder of the daemons' folders: short, because sockets below it must fit into 107 bytes.
pub const RUN: &str = "/run/shakedown";
/// Folder of loop files and seeds: on a disk, for `/run` is memory.
pub const DISKS: &str = "/var/lib/shakedown";
/// The trial in the names of a daemon's own unit and group.
pub const TRIAL: &str = "engine";

/// The longest path of a socket below a daemon's folder: containerd's.
const LONGEST: &str = "exec/containerd/containerd.sock.ttrpc";
/// Bytes that the kernel has for the path of a socket, the closing zero not counted.
const SOCKET_BYTES: usize = 107;

/// The names of one private daemon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The run's id.
    pub run: String,
    /// A number that no other daemon of this run has now.
    pub slot: u32,
}

impl Place {
    /// Its folder.
    pub fn folder(&self) -> PathBuf {
        Path::new(RUN).join(format!("{}-{}", self.run, self.slot))
    }

    /// The socket of its API.
    pub fn socket(&self) -> PathBuf {
        self.folder().join("docker.socket")
    }

    /// Where its data root is mounted, as only its own mount namespace sees it.
    pub fn data(&self) -> PathBuf {
        self.folder().join("data")
    }

    /// Its folder for the state of what runs.
    pub fn exec(&self) -> PathBuf {
        self.folder().join("exec")
    }

    /// The file that holds its data root.
    pub fn disk(&self) -> PathBuf {
        Path::new(DISKS).join(format!("{}-{}.img", self.run, self.slot))
    }

    /// The control group of the daemon's processes.
    pub fn group(&self) -> String {
        format!("{TOP}/{}/{TRIAL}-{}", self.run, self.slot)
    }

    /// The control group around containers that say nothing of one, such as those of a build. Beside the daemon's own, because
    /// version 2 has no groups within a group that has processes.
    pub fn containers(&self) -> String {
        format!("{TOP}/{}/{TRIAL}-{}-containers", self.run, self.slot)
    }

    /// Why nothing can stand here; none when it can.
    pub fn too_long(&self) -> Option<String> {
        let longest = self.folder().join(LONGEST);
        (longest.as_os_str().len() > SOCKET_BYTES)
            .then(|| format!("the socket `{}` would be longer than the {SOCKET_BYTES} bytes that the kernel takes", longest.display()))
    }
}

/// A seed of a run.
pub fn seed(run: &str, number: u32) -> PathBuf {
    Path::new(DISKS).join(format!("{run}-seed-{number}.img"))
}

/// The run and the slot that the name of a daemon's folder says; none for a name that is not ours.
pub fn of_folder(name: &str) -> Option<Place> {
    let (run, slot) = name.rsplit_once('-')?;
    let place = Place { run: run.to_owned(), slot: slot.parse().ok()? };
    (is_run(run) && name == format!("{run}-{}", place.slot)).then_some(place)
}

/// The run that the name of a loop file or seed says; none for a name that is not ours.
pub fn run_of_disk(name: &str) -> Option<&str> {
    let (run, number) = name.strip_suffix(".img")?.rsplit_once('-')?;
    number.parse::<u32>().ok()?;
    let run = run.strip_suffix("-seed").unwrap_or(run);
    is_run(run).then_some(run)
}

fn is_run(run: &str) -> bool {
    !run.is_empty() && run.chars().all(|c| c.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_whose_they_are_and_nothing_else_is_ours() {
        let place = Place { run: "a1b2c3".into(), slot: 7 };
        let name = |path: PathBuf| path.file_name().expect("name").to_string_lossy().into_owned();
        assert_eq!(of_folder(&name(place.folder())), Some(place.clone()));
        assert_eq!(run_of_disk(&name(place.disk())), Some("a1b2c3"));
        assert_eq!(run_of_disk(&name(seed("a1b2c3", 0))), Some("a1b2c3"));
        for other in ["", "a", "a-", "-1", "a-b", "a-01", "a-+1", "a b-1", "a-1-2", "../a-1", "a-seed"] {
            assert_eq!(of_folder(other), None, "{other}");
        }
        for other in ["a-1", "a.img", "-1.img", "a-b.img", "-seed-1.img", "a/b-1.img", "a-1.img.bak"] {
            assert_eq!(run_of_disk(other), None, "{other}");
        }
    }

    #[test]
    fn sockets_fit() {
        let place = |length: usize| Place { run: "r".repeat(length), slot: 0 };
        assert_eq!(place(6).too_long(), None);
        assert_eq!(place(52).folder().join(LONGEST).as_os_str().len(), 107);
        assert_eq!(place(52).too_long(), None);
        assert!(place(53).too_long().is_some_and(|why| why.contains("107 bytes")));
    }
}
