//! The steps themselves, in the order in which they are planned.

use super::placement::{Placed, Source, Thing};
use super::{Entry, Host, Step, text};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Where the new root is built, in the scratch.
const NEW_ROOT: &str = "root";

/// Steps in the making. Names in the scratch are numbered by what they are for.
pub(super) struct Covers<'h> {
    host: &'h dyn Host,
    steps: Vec<Step>,
    overlays: usize,
    shells: usize,
    files: usize,
    /// What a path of the unit begins with meanwhile: the new root, once there is one.
    root: PathBuf,
}

impl<'h> Covers<'h> {
    pub(super) fn new(host: &'h dyn Host) -> Self {
        Self { host, steps: Vec::new(), overlays: 0, shells: 0, files: 0, root: PathBuf::from("/") }
    }

    /// Takes what a placement needs of the host into the scratch.
    pub(super) fn fetch(&mut self, one: &Placed<'_>) -> Result<(), String> {
        let name = source(one);
        match one.thing {
            Thing::Text { .. } => Ok(()),
            Thing::Layer(from) | Thing::Mount { source: Source::Folder(from), .. } => {
                self.steps.extend([Step::Folder(text(&name)?), Step::Bind { from: text(from)?, to: text(&name)? }]);
                Ok(())
            }
            Thing::Mount { source: Source::File(from), .. } => {
                self.empty_file(Path::new(&name))?;
                self.steps.push(Step::Bind { from: text(from)?, to: text(&name)? });
                Ok(())
            }
            Thing::Mount { source: Source::Memory(bytes), .. } => {
                let size = bytes.map_or(String::new(), |bytes| format!(",size={bytes}"));
                self.steps.push(Step::Folder(text(&name)?));
                self.steps.push(Step::Memory { options: text(format!("mode=1777{size}"))?, to: text(&name)? });
                Ok(())
            }
        }
    }

    /// Makes the missing names of `group` below `folder`; `covered` are the folders below it that have a cover already.
    pub(super) fn make_room(&mut self, folder: &Path, group: &[&Placed<'_>], covered: &BTreeSet<PathBuf>) -> Result<(), String> {
        if !self.host.has_overlay() {
            let name = format!("shell{}", self.shells);
            self.shells += 1;
            self.shell(&name, folder, group)?;
            self.steps.push(Step::Bind { from: text(name)?, to: text(folder)? });
            return Ok(());
        }
        let number = self.overlay_folders()?;
        let (old, upper) = (format!("old{number}"), format!("upper{number}"));
        self.steps.extend([Step::Folder(text(&old)?), Step::Bind { from: text(folder)?, to: text(&old)? }]);
        self.own(&upper, folder)?;
        self.names(Path::new(&upper), folder, group)?;
        self.overlay(number, &old, folder)?;
        let covered = covered.iter().filter(|path| path.starts_with(folder)).cloned();
        let below = self.host.mounts_below(folder).into_iter().chain(covered).collect();
        self.show_again(folder, &old, folder, below)
    }

    /// Lays a placement over its place, which is there by now.
    pub(super) fn lay(&mut self, one: &Placed<'_>, to: &Path) -> Result<(), String> {
        match one.thing {
            Thing::Text { .. } if one.missing_below.is_some() => Ok(()), // written where it was missing
            Thing::Text { content, mode } => {
                let from = text(format!("file{}", self.files))?;
                self.files += 1;
                self.steps.push(Step::Write { path: from.clone(), content: content.as_bytes().to_vec(), mode: *mode });
                self.steps.push(Step::Bind { from, to: text(to)? });
                Ok(())
            }
            Thing::Layer(from) => self.layer(one, from, to),
            Thing::Mount { source: what, read_only, ours } => {
                self.steps.push(Step::Bind { from: text(source(one))?, to: text(to)? });
                if *read_only && !ours {
                    self.steps.push(Step::ReadOnly(text(to)?));
                    if let Source::Folder(from) = what {
                        for mount in self.host.mounts_below(from) {
                            self.steps.push(Step::ReadOnly(text(to.join(mount.strip_prefix(from).unwrap_or(&mount)))?));
                        }
                    }
                }
                Ok(())
            }
        }
    }

    /// Builds the root anew, with what is missing in it.
    pub(super) fn new_root(&mut self, group: &[&Placed<'_>]) -> Result<(), String> {
        self.shell(NEW_ROOT, Path::new("/"), group)?;
        self.root = PathBuf::from(NEW_ROOT);
        group.iter().try_for_each(|one| self.lay(one, &self.seen(&one.at)))
    }

    /// The same inside another placed thing, in which names may be missing.
    pub(super) fn lay_inside(&mut self, one: &Placed<'_>) -> Result<(), String> {
        if let Some(above) = &one.missing_below {
            self.names(&self.seen(above), above, &[one])?;
        }
        self.lay(one, &self.seen(&one.at))
    }

    /// The steps, closed by those that take rights away.
    pub(super) fn finish(mut self, placed: &[Placed<'_>]) -> Result<Vec<Step>, String> {
        for one in placed.iter().filter(|one| matches!(one.thing, Thing::Mount { read_only: true, ours: true, .. })) {
            self.steps.push(Step::ReadOnly(text(self.seen(&one.at))?));
        }
        if self.root == Path::new(NEW_ROOT) {
            self.steps.push(Step::Root(text(NEW_ROOT)?));
        }
        Ok(self.steps)
    }

    fn seen(&self, path: &Path) -> PathBuf {
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// Covers a folder by an overlay of a host's folder and what stood there.
    fn layer(&mut self, one: &Placed<'_>, from: &Path, to: &Path) -> Result<(), String> {
        if !self.host.has_overlay() {
            return Err(format!("`{}`: a folder can be laid there with overlayfs only, which this host does not have", one.at.display()));
        }
        let number = self.overlay_folders()?;
        let (old, upper) = (format!("old{number}"), format!("upper{number}"));
        if one.missing_below.is_some() {
            self.own(&upper, from)?;
            return self.overlay(number, &source(one), to);
        }
        self.steps.extend([Step::Folder(text(&old)?), Step::Bind { from: text(to)?, to: text(&old)? }]);
        self.own(&upper, &one.at)?;
        self.overlay(number, &format!("{}:{old}", source(one)), to)?;
        let below = self.host.mounts_below(&one.at).into_iter().collect();
        self.show_again(&one.at, &old, to, below)
    }

    /// Makes the folders of the next overlay, and gives its number.
    fn overlay_folders(&mut self) -> Result<usize, String> {
        let number = self.overlays;
        self.overlays += 1;
        self.steps.extend([Step::Folder(text(format!("upper{number}"))?), Step::Folder(text(format!("work{number}"))?)]);
        Ok(number)
    }

    fn overlay(&mut self, number: usize, lower: &str, to: &Path) -> Result<(), String> {
        let options = text(format!("lowerdir={lower},upperdir=upper{number},workdir=work{number}"))?;
        self.steps.push(Step::Overlay { options, to: text(to)? });
        Ok(())
    }

    /// Binds the mounts below a folder again, which its cover hides. A bind takes everything below along, so only the outermost count.
    fn show_again(&mut self, folder: &Path, old: &str, to: &Path, below: BTreeSet<PathBuf>) -> Result<(), String> {
        let mut last: Option<PathBuf> = None;
        for mount in below {
            if last.as_ref().is_some_and(|outer| mount.starts_with(outer)) {
                continue;
            }
            let inside = mount.strip_prefix(folder).unwrap_or(&mount);
            self.steps.push(Step::Bind { from: text(Path::new(old).join(inside))?, to: text(to.join(inside))? });
            last = Some(mount);
        }
        Ok(())
    }

    /// Builds a folder in the scratch that shows everything of `folder`, and the missing names.
    fn shell(&mut self, name: &str, folder: &Path, group: &[&Placed<'_>]) -> Result<(), String> {
        self.steps.push(Step::Folder(text(name)?));
        self.own(name, folder)?;
        for (entry, kind) in self.host.entries(folder) {
            let (inside, outside) = (Path::new(name).join(&entry), text(folder.join(&entry))?);
            match kind {
                Entry::Link(to) => self.steps.push(Step::Link { to: text(to)?, path: text(inside)? }),
                Entry::Folder => {
                    self.steps.extend([Step::Folder(text(&inside)?), Step::Bind { from: outside, to: text(&inside)? }]);
                }
                Entry::Other => {
                    self.empty_file(&inside)?;
                    self.steps.push(Step::Bind { from: outside, to: text(inside)? });
                }
            }
        }
        self.names(Path::new(name), folder, group)
    }

    /// A cover has the permissions of the folder that it covers.
    fn own(&mut self, path: &str, folder: &Path) -> Result<(), String> {
        if let Some((mode, uid, gid)) = self.host.owner(folder) {
            self.steps.push(Step::Own { path: text(path)?, mode, uid, gid });
        }
        Ok(())
    }

    /// Makes names with their missing folders where `root` stands for `folder`: the files, and empty places to mount on.
    fn names(&mut self, root: &Path, folder: &Path, group: &[&Placed<'_>]) -> Result<(), String> {
        let mut made = BTreeSet::new();
        for one in group {
            let inside = root.join(one.at.strip_prefix(folder).unwrap_or(&one.at));
            let mut parents: Vec<&Path> = inside.ancestors().skip(1).take_while(|path| *path != root).collect();
            parents.reverse();
            for parent in parents {
                if made.insert(parent.to_path_buf()) {
                    self.steps.push(Step::Folder(text(parent)?));
                }
            }
            match one.thing {
                Thing::Text { content, mode } => {
                    self.steps.push(Step::Write { path: text(&inside)?, content: content.as_bytes().to_vec(), mode: *mode });
                }
                thing if thing.is_folder() => self.steps.push(Step::Folder(text(&inside)?)),
                _ => self.empty_file(&inside)?,
            }
        }
        Ok(())
    }

    fn empty_file(&mut self, path: &Path) -> Result<(), String> {
        self.steps.push(Step::Write { path: text(path)?, content: Vec::new(), mode: 0o644 });
        Ok(())
    }
}

/// The name in the scratch of what a placement needs of the host.
fn source(one: &Placed<'_>) -> String {
    format!("source{}", one.number)
}
