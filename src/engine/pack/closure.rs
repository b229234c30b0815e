//! Which paths of the host an image needs: what was asked for, and what that needs to run, until nothing is missing.
//!
//! What is asked for by name must be complete, or packing fails. What merely lies in a folder is taken as it is: a plugin
//! or script there that does not work on the host does not work inside either.

use super::elf::{self, Elf, Library};
use super::error::PackError;
use super::script::{self, Shebang};
use super::tree::{Content, LINK_LIMIT, Node, Reached, Tree, in_kernel};
use super::{IMAGE_PATH, base};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Files that say which machine this is: an engine provides its own, and an image must not depend on them.
const ENGINE_FILES: [&str; 4] = ["/etc/hostname", "/etc/hosts", "/etc/mtab", "/etc/resolv.conf"];

/// Resolves everything that `paths` need.
///
/// # Errors
/// When a path is missing, unreadable or of a kind that cannot be packed, or a program among them cannot run on this host.
pub(super) fn resolve(paths: &[PathBuf]) -> Result<Tree, PackError> {
    let mut closure = Closure::default();
    for path in paths {
        closure.ask(path)?;
    }
    closure.settle()?;
    base::furnish(&mut closure.tree, closure.libc.as_deref())?;
    Ok(closure.tree)
}

#[derive(Default)]
struct Closure {
    tree: Tree,
    /// Files whose needs are not known yet: those asked for, and those that lie in a folder.
    asked: Vec<PathBuf>,
    found: Vec<PathBuf>,
    /// Files whose needs are in the tree.
    done: BTreeSet<PathBuf>,
    walked: BTreeSet<PathBuf>,
    /// The first loader met: it lists libraries that name none.
    loader: Option<PathBuf>,
    /// Names of libraries that are in the tree.
    libraries: BTreeSet<String>,
    /// The folder of the C library: every loader searches it without being told.
    libc: Option<PathBuf>,
}

/// Whether somebody asked for a file, or it merely lies in a folder.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wish {
    Asked,
    Found,
}

impl Closure {
    fn ask(&mut self, path: &Path) -> Result<(), PackError> {
        if path.components().count() == 1 && path.is_relative() {
            let name = path.display().to_string();
            let suggestion = which(&name).map(|found| found.display().to_string());
            return Err(PackError::BareName { name, suggestion });
        }
        let path = std::path::absolute(path).map_err(PackError::read(path))?;
        match self.tree.reach(&path)? {
            Reached::File(real) => self.asked.push(real),
            Reached::Folder(real) if real == Path::new("/") => return Err(PackError::Special { path, what: "the root" }),
            Reached::Folder(real) => self.walk(&real)?,
            Reached::Special(path, what) => return Err(PackError::Special { path, what }),
        }
        Ok(())
    }

    /// Takes a folder with everything in it.
    fn walk(&mut self, folder: &Path) -> Result<(), PackError> {
        let mut folders = vec![folder.to_path_buf()];
        while let Some(folder) = folders.pop() {
            if !self.walked.insert(folder.clone()) {
                continue;
            }
            let entries = walkdir::WalkDir::new(&folder).min_depth(1).sort_by_file_name().into_iter();
            for entry in entries.filter_entry(|entry| !in_kernel(entry.path())) {
                let entry = entry.map_err(|error| unreadable(&folder, error))?;
                let path = entry.path();
                if ENGINE_FILES.iter().any(|file| path == Path::new(file)) {
                    continue;
                }
                let meta = entry.metadata().map_err(|error| unreadable(path, error))?;
                match self.tree.add(path, &meta)?.map(|node| &node.content) {
                    Some(Content::Host(_)) => self.found.push(path.to_path_buf()),
                    Some(Content::Link(_)) => folders.extend(self.follow(path, &folder)),
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Takes the target of a link that lies in `folder`; returns the folder that it leads to when that is still to be walked.
    ///
    /// A link upwards, to a folder that holds this one, is kept and resolves, but does not bring all its other contents.
    fn follow(&mut self, link: &Path, folder: &Path) -> Option<PathBuf> {
        match self.tree.reach(link) {
            Ok(Reached::File(real)) => {
                self.found.push(real);
                None
            }
            Ok(Reached::Folder(real)) => (!folder.starts_with(&real)).then_some(real),
            Ok(Reached::Special(..)) | Err(_) => None,
        }
    }

    fn settle(&mut self) -> Result<(), PackError> {
        loop {
            if let Some(file) = self.asked.pop() {
                self.complete(&file, Wish::Asked)?;
            } else if let Some(file) = self.found.pop() {
                match self.complete(&file, Wish::Found) {
                    Ok(()) | Err(PackError::Library { .. } | PackError::Loader { .. } | PackError::List { .. }) => {}
                    Err(PackError::Interpreter { .. } | PackError::Foreign { .. } | PackError::Missing { .. } | PackError::Loop { .. }) => {
                    }
                    Err(error) => return Err(error),
                }
            } else {
                return Ok(());
            }
        }
    }

    /// Adds what `file` needs to run.
    fn complete(&mut self, file: &Path, wish: Wish) -> Result<(), PackError> {
        if !self.done.insert(file.to_path_buf()) {
            return Ok(());
        }
        let open = File::open(file).map_err(PackError::read(file))?;
        if let Some(elf) = Elf::read(&open) {
            return self.complete_elf(file, &elf, wish);
        }
        let executable = self.tree.nodes().get(file).is_some_and(|node| node.mode & 0o111 != 0);
        let mut start = [0; script::LINE_LIMIT];
        let read = open.read_at(&mut start, 0).map_err(PackError::read(file))?;
        match script::shebang(&start[..read]) {
            Some(shebang) if executable || wish == Wish::Asked => self.complete_script(file, &shebang),
            _ => Ok(()),
        }
    }

    fn complete_script(&mut self, script: &Path, shebang: &Shebang) -> Result<(), PackError> {
        let lost = |name: &str| PackError::Interpreter { script: script.to_path_buf(), interpreter: name.to_owned() };
        let program = match &shebang.program {
            Some(name) if name.contains('/') => Some((name, PathBuf::from(name))),
            Some(name) => Some((name, which(name).ok_or_else(|| lost(name))?)),
            None => None,
        };
        for (name, path) in std::iter::once((&shebang.interpreter, PathBuf::from(&shebang.interpreter))).chain(program) {
            match self.tree.reach(&path) {
                // Now, so that what it lacks is counted against the script that needs it.
                Ok(Reached::File(real)) => self.complete(&real, Wish::Asked)?,
                Ok(_) | Err(PackError::Missing { .. } | PackError::Loop { .. }) => return Err(lost(name)),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn complete_elf(&mut self, file: &Path, elf: &Elf, wish: Wish) -> Result<(), PackError> {
        if !elf.is_native() {
            return Err(PackError::Foreign { path: file.to_path_buf(), machine: elf.machine_name(), host: std::env::consts::ARCH });
        }
        let known = || !elf.own_search && elf.needed.iter().all(|name| self.libraries.contains(name));
        if elf.is_static() || (wish == Wish::Found && elf.interpreter.is_none() && known()) {
            return Ok(());
        }
        let Some(loader) = elf.interpreter.clone().or_else(|| self.loader.clone()).or_else(default_loader) else {
            return Err(PackError::List { program: file.to_path_buf(), reason: "this host has no loader".to_owned() });
        };
        self.add_loader(file, &loader)?;
        let (found, lost): (Vec<_>, Vec<_>) = self.list(file, &loader)?.into_iter().partition(|library| library.path.is_some());
        for Library { name, path } in found {
            if let Reached::File(real) = self.tree.reach(&path.unwrap_or_default())? {
                // Its own needs are in the same list.
                self.done.insert(real);
                self.libraries.insert(name);
            }
        }
        match lost.into_iter().next() {
            Some(Library { name, .. }) => Err(PackError::Library { needed_by: self.who_needs(&name, file, elf), library: name }),
            None => Ok(()),
        }
    }

    fn add_loader(&mut self, program: &Path, loader: &Path) -> Result<(), PackError> {
        let refuse = |reason| PackError::Loader { program: program.to_path_buf(), loader: loader.to_path_buf(), reason };
        if !elf::is_loader(loader) {
            return Err(refuse("is not the name of a loader"));
        }
        match self.tree.reach(loader) {
            Ok(Reached::File(real)) => self.done.insert(real),
            Ok(_) => return Err(refuse("is not a file")),
            Err(PackError::Missing { .. } | PackError::Loop { .. }) => return Err(refuse("does not exist")),
            Err(error) => return Err(error),
        };
        self.loader.get_or_insert_with(|| loader.to_path_buf());
        Ok(())
    }

    /// Lists the libraries of `file`, and makes those findable inside that the host finds only through its cache.
    ///
    /// The host's `/etc/ld.so.cache` is not taken: it changes with every package, and the image would with it.
    fn list(&mut self, file: &Path, loader: &Path) -> Result<Vec<Library>, PackError> {
        let libraries = elf::list(loader, file, true)?;
        let folder = |path: &Path| path.parent().and_then(|folder| folder.canonicalize().ok());
        let libc =
            libraries.iter().find(|library| library.name.starts_with("libc.so")).and_then(|library| folder(library.path.as_deref()?));
        let Some(libc) = libc else { return Ok(libraries) };
        let elsewhere = |library: &&Library| library.path.as_deref().is_some_and(|path| folder(path).as_ref() != Some(&libc));
        let elsewhere: Vec<&Library> = libraries.iter().filter(elsewhere).filter(|library| !library.name.starts_with('/')).collect();
        if !elsewhere.is_empty() {
            let uncached = elf::list(loader, file, false)?;
            let uncached: BTreeMap<&str, &Option<PathBuf>> = uncached.iter().map(|found| (found.name.as_str(), &found.path)).collect();
            for library in elsewhere.into_iter().filter(|library| uncached.get(library.name.as_str()) != Some(&&library.path)) {
                let target = library.path.clone().unwrap_or_default();
                self.tree.furnish(&libc.join(&library.name), Node { mode: 0o777, content: Content::Link(target) });
            }
        }
        self.libc.get_or_insert(libc);
        Ok(libraries)
    }

    /// The file that asks for `library`: the program itself, or the library among its needs that names it.
    fn who_needs(&self, library: &str, program: &Path, elf: &Elf) -> PathBuf {
        if elf.needed.iter().any(|name| name == library) {
            return program.to_path_buf();
        }
        let asks = |file: &&PathBuf| {
            File::open(file).ok().and_then(|file| Elf::read(&file)).is_some_and(|elf| elf.needed.iter().any(|name| name == library))
        };
        self.done.iter().find(asks).cloned().unwrap_or_else(|| program.to_path_buf())
    }
}

/// The loader of this host's usual programs.
fn default_loader() -> Option<PathBuf> {
    let usual = ["/bin/sh", "/usr/bin/env"];
    usual.iter().find_map(|path| Elf::read(&File::open(path).ok()?)?.interpreter)
}

/// Where a program is found inside an image: the host's own search path does not hold there.
fn which(name: &str) -> Option<PathBuf> {
    IMAGE_PATH.split(':').map(|folder| Path::new(folder).join(name)).find(|path| path.is_file())
}

fn unreadable(folder: &Path, error: walkdir::Error) -> PackError {
    let path = error.path().unwrap_or(folder).to_path_buf();
    let source = error.into_io_error().unwrap_or_else(|| std::io::Error::other(format!("more than {LINK_LIMIT} links")));
    PackError::Read { path, source }
}
