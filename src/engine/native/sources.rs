//! Where what a unit sees comes from: its `files` and `volumes`, as placements.
//!
//! What the unit may change is its own: a file is copied to disk (into memory it may be too large), a folder is laid over its
//! target with what is written kept in memory (which counts as the unit's), a volume without a name is a fresh folder, empty
//! also where the host has files at its target. Only a bind mount, and a volume that others have as well, are the thing itself.

use super::copy;
use super::files::{Placement, Source, Thing};
use super::store::{self, Store};
use crate::engine::EngineError;
use crate::model::spec::{FileSpec, UnitSpec};
use crate::model::stack::{MountSource, MountSpec};
use std::path::{Component, Path, PathBuf};

/// The folders that one unit's sources lie in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sources<'e> {
    pub store: &'e Store,
    /// What the unit has for itself.
    pub own: &'e Path,
}

/// Whether a unit needs more than texts in files: only then is anything looked for, made or removed on disk.
pub(super) fn any(spec: &UnitSpec) -> bool {
    !spec.volumes.is_empty() || spec.files.iter().any(|file| file.source.is_some())
}

/// What engines call the kind of a mount.
pub(super) fn kind(mount: &MountSpec) -> &'static str {
    match mount.source {
        MountSource::Volume(_) | MountSource::Anonymous => "volume",
        MountSource::Bind(_) => "bind",
        MountSource::Tmpfs(_) => "tmpfs",
    }
}

impl Sources<'_> {
    /// What is to be placed: mounts first, in the order of the spec. A path that is not absolute yet is left out: nothing can be
    /// said of it.
    pub(super) fn placements<'s>(&self, spec: &'s UnitSpec) -> Result<Vec<Placement<'s>>, String> {
        let mounts = spec.volumes.iter().enumerate().map(|(number, mount)| self.mount(number, mount));
        let files = spec.files.iter().enumerate().map(|(number, file)| self.file(number, file));
        mounts.chain(files).filter_map(Result::transpose).collect()
    }

    fn mount(&self, number: usize, mount: &MountSpec) -> Result<Option<Placement<'static>>, String> {
        let (source, ours) = match &mount.source {
            MountSource::Volume(name) => (Source::Folder(self.store.data(name)), true),
            MountSource::Anonymous => (Source::Folder(self.volume(number)), true),
            MountSource::Tmpfs(bytes) => (Source::Memory(*bytes), true),
            MountSource::Bind(path) if !path.is_absolute() => return Ok(None),
            MountSource::Bind(path) => (if there(path)? { Source::Folder(path.clone()) } else { Source::File(path.clone()) }, false),
        };
        Ok(Some(Placement { target: mount.target.clone(), thing: Thing::Mount { source, read_only: mount.read_only, ours } }))
    }

    fn file<'s>(&self, number: usize, file: &'s FileSpec) -> Result<Option<Placement<'s>>, String> {
        let thing = match &file.source {
            None => Thing::Text { content: &file.content, mode: file.mode },
            Some(path) if !path.is_absolute() => return Ok(None),
            Some(path) if there(path)? => Thing::Layer(path.clone()),
            Some(_) => Thing::Mount { source: Source::File(self.copy(number)), read_only: false, ours: true },
        };
        Ok(Some(Placement { target: file.target.clone(), thing }))
    }

    fn volume(&self, number: usize) -> PathBuf {
        self.own.join(format!("volume{number}"))
    }

    fn copy(&self, number: usize) -> PathBuf {
        self.own.join(format!("file{number}"))
    }

    /// Makes what lies in the unit's own folder, and looks whether the rest is there. After an error the caller removes the folder.
    pub(super) fn make(&self, spec: &UnitSpec) -> Result<(), EngineError> {
        let call =
            |what: &Path, reason: String| EngineError::Call { operation: format!("make `{}` for a host process", what.display()), reason };
        let unsupported = |what| EngineError::Unsupported { what };
        for (number, mount) in spec.volumes.iter().enumerate() {
            let data = match &mount.source {
                MountSource::Tmpfs(_) => continue,
                MountSource::Bind(path) if path.is_absolute() => continue,
                MountSource::Bind(path) => return Err(unsupported(format!("`{}` is no absolute path", path.display()))),
                MountSource::Anonymous => self.volume(number),
                MountSource::Volume(name) => {
                    let data = self.store.data(name);
                    if !is_one_name(name) || !data.is_dir() {
                        return Err(unsupported(format!("no volume `{name}` was made for this trial")));
                    }
                    data
                }
            };
            let made = if mount.source == MountSource::Anonymous { store::make(self.own).and_then(|()| folder(&data)) } else { Ok(()) };
            made.and_then(|()| store::adopt(&data, &mount.target)).map_err(|error| call(&mount.target, error.to_string()))?;
        }
        for (number, file) in spec.files.iter().enumerate() {
            let Some(source) = &file.source else { continue };
            if !source.is_absolute() {
                return Err(unsupported(format!("`{}` is no absolute path", source.display())));
            }
            if !there(source).map_err(unsupported)? {
                let copied = store::make(self.own).and_then(|()| copy::file(source, &self.copy(number), file.mode));
                copied.map_err(|error| call(&file.target, error.to_string()))?;
            }
        }
        Ok(())
    }
}

/// A folder as engines make one for a volume.
fn folder(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::create_dir(path)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))
}

/// Whether the host has a folder there; an error when it has nothing.
fn there(path: &Path) -> Result<bool, String> {
    std::fs::metadata(path).map(|found| found.is_dir()).map_err(|error| format!("`{}`: {error}: make it, or leave it out", path.display()))
}

/// Whether a name leads to an entry of a folder and nowhere else.
fn is_one_name(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None))
}
