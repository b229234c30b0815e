//! What the private daemons of one process share: the engine that their processes are units of, numbers, and seeds.
//!
//! A seed is a loop file with a data root that was stopped cleanly after its images had been loaded. Daemons whose settings do not
//! change what lies in it start on copies of it.

use super::place::{self, Place};
use super::{disk, failed, lock};
use crate::engine::EngineError;
use crate::engine::native::NativeEngine;
use crate::model::private::PrivateSpec;
use crate::model::spec::ImageSpec;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Images that were made ready, each with the folder that its paths are relative to.
pub type Loaded = Vec<(ImageSpec, PathBuf)>;

/// One value per process, given to each of its private daemons.
#[derive(Debug)]
pub struct Daemons {
    elsewhere: Option<String>,
    trusting: bool,
    native: OnceLock<Arc<NativeEngine>>,
    slots: Mutex<BTreeSet<u32>>,
    roots: Mutex<Roots>,
}

#[derive(Debug, Default)]
struct Roots {
    known: Vec<Root>,
    /// How many seeds were made so far.
    seeds: u32,
}

/// Data roots that may stand in for each other.
#[derive(Debug)]
struct Root {
    spec: PrivateSpec,
    /// Whether a container has run on one.
    proven: bool,
    seed: Option<Seed>,
}

#[derive(Debug)]
struct Seed {
    path: PathBuf,
    images: Loaded,
}

/// A number that no other daemon of this process has.
#[derive(Debug)]
pub(super) struct Slot {
    pub number: u32,
    daemons: Arc<Daemons>,
}

impl Slot {
    /// Gives it back: nothing that bears it is left.
    pub(super) fn free(self) {
        lock(&self.daemons.slots).remove(&self.number);
    }
}

impl Daemons {
    /// None yet. Images that have to be pulled or built come from the daemon at `elsewhere`, or from the one that the docker
    /// command would use.
    #[must_use]
    pub fn new(elsewhere: Option<String>) -> Arc<Self> {
        Arc::new(Self { elsewhere, trusting: true, native: OnceLock::new(), slots: Mutex::default(), roots: Mutex::default() })
    }

    /// The same, for daemons that are never started: no program that a manifest names is asked for its version either.
    #[must_use]
    pub fn to_look_at() -> Arc<Self> {
        Arc::new(Self { elsewhere: None, trusting: false, native: OnceLock::new(), slots: Mutex::default(), roots: Mutex::default() })
    }

    /// Whether programs that a manifest names may be executed.
    pub(super) fn trusting(&self) -> bool {
        self.trusting
    }

    pub(super) fn elsewhere(&self) -> Option<&str> {
        self.elsewhere.as_deref()
    }

    /// The engine that runs the daemons' own processes.
    pub(super) fn native(&self) -> Result<Arc<NativeEngine>, EngineError> {
        if let Some(native) = self.native.get() {
            return Ok(Arc::clone(native));
        }
        let made = Arc::new(NativeEngine::new()?);
        Ok(Arc::clone(self.native.get_or_init(|| made)))
    }

    /// The lowest free number. One that is not given back is not used again.
    pub(super) fn slot(self: &Arc<Self>) -> Slot {
        let mut slots = lock(&self.slots);
        let number = (0..).find(|number| !slots.contains(number)).unwrap_or(u32::MAX);
        slots.insert(number);
        Slot { number, daemons: Arc::clone(self) }
    }

    /// Whether a container has run on such a data root.
    pub(super) fn is_proven(&self, spec: &PrivateSpec) -> bool {
        lock(&self.roots).of(spec).proven
    }

    /// A container has run on such a data root.
    pub(super) fn prove(&self, spec: &PrivateSpec) {
        lock(&self.roots).of(spec).proven = true;
    }

    /// Copies the seed for `spec` to the disk of `place`; the images in it, or none when there is no seed. Blocks.
    pub(super) fn plant(&self, spec: &PrivateSpec, place: &Place) -> Result<Option<Loaded>, EngineError> {
        let mut roots = lock(&self.roots);
        let root = roots.of(spec);
        let Some(seed) = &root.seed else { return Ok(None) };
        if !seed.path.exists() {
            // Somebody swept it: images are made ready again.
            root.seed = None;
            return Ok(None);
        }
        disk::copy(&seed.path, &place.disk())?;
        Ok(Some(seed.images.clone()))
    }

    /// Keeps the disk of `place`, which nothing uses any more, as the seed for `spec`. Blocks.
    pub(super) fn keep(&self, spec: &PrivateSpec, place: &Place, images: Loaded) -> Result<(), EngineError> {
        let mut roots = lock(&self.roots);
        let path = place::seed(&place.run, roots.seeds);
        roots.seeds += 1;
        let disk = place.disk();
        fs_err::rename(&disk, &path).map_err(|error| failed(format!("keep {}", disk.display()), error))?;
        let root = roots.of(spec);
        let old = root.seed.replace(Seed { path, images });
        match old.map(|old| std::fs::remove_file(old.path)) {
            Some(Err(error)) if error.kind() != std::io::ErrorKind::NotFound => Err(failed("remove the seed before it", error)),
            _ => Ok(()),
        }
    }
}

impl Roots {
    fn of(&mut self, spec: &PrivateSpec) -> &mut Root {
        let index = self.known.iter().position(|root| root.spec.shares_data_root(spec)).unwrap_or_else(|| {
            self.known.push(Root { spec: spec.clone(), proven: false, seed: None });
            self.known.len() - 1
        });
        &mut self.known[index]
    }
}

impl Drop for Daemons {
    /// Nobody starts on the seeds any more. What cannot be removed waits for a sweep.
    fn drop(&mut self) {
        let roots = self.roots.get_mut().unwrap_or_else(PoisonError::into_inner);
        let mut any = false;
        for seed in roots.known.iter().filter_map(|root| root.seed.as_ref()) {
            any |= std::fs::remove_file(&seed.path).is_ok();
        }
        if any {
            let _ = std::fs::remove_dir(place::DISKS); // others may have theirs in it
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::spec;
    use super::*;

    #[test]
    fn slots_are_small_and_used_again_when_they_are_given_back() {
        let daemons = Daemons::new(None);
        let (first, second) = (daemons.slot(), daemons.slot());
        assert_eq!((first.number, second.number), (0, 1));
        first.free();
        assert_eq!(daemons.slot().number, 0);
        drop(second);
        assert_eq!(daemons.slot().number, 2, "what may have left something behind keeps its number");
    }

    #[test]
    fn settings_that_do_not_change_the_data_root_share_what_was_proven() {
        let daemons = Daemons::new(None);
        let one = spec("overlay2", "xfs");
        daemons.prove(&one);
        assert!(daemons.is_proven(&PrivateSpec { userland_proxy: !one.userland_proxy, iptables: !one.iptables, ..one.clone() }));
        for other in [spec("overlay2", "ext4"), spec("vfs", "xfs"), PrivateSpec { binary: Some("/x".into()), ..one }] {
            assert!(!daemons.is_proven(&other), "{}", other.label());
        }
    }
}
