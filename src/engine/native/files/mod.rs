//! Files that only one unit sees: a list of mounts, made ready here and carried out by the child in its own mount namespace.
//!
//! A target that exists is covered by a bind mount. For one that does not, the deepest folder that exists is covered by an
//! overlay whose upper layer holds the file (or, without overlayfs, by a shell: a folder of binds of the neighbours); what
//! the unit writes there is its own as well. Below `/` itself a shell becomes the new root. The host's files are never
//! touched and nothing has to be removed: all of it ends with the namespace.

mod host;

pub(super) use host::ThisHost;

use crate::model::spec::FileSpec;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{CString, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// One step. Relative paths are below the scratch tmpfs, the child's working folder meanwhile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    Folder(CString),
    Own { path: CString, mode: u32, uid: u32, gid: u32 },
    Write { path: CString, content: Vec<u8>, mode: u32 },
    Link { to: CString, path: CString },
    Bind { from: CString, to: CString },
    Overlay { options: CString, to: CString },
    Root(CString),
}

/// What the plan needs to know of the host.
pub(super) trait Host {
    fn is_folder(&self, path: &Path) -> bool;
    fn exists(&self, path: &Path) -> bool;
    /// Names in a folder: folders and files, and links with where they point.
    fn entries(&self, folder: &Path) -> Vec<(OsString, Entry)>;
    /// Mount points strictly below a folder, shallow first.
    fn mounts_below(&self, folder: &Path) -> Vec<PathBuf>;
    fn has_overlay(&self) -> bool;
    /// Permission bits, user and group of a folder; none when it cannot be read.
    fn owner(&self, folder: &Path) -> Option<(u32, u32, u32)>;
}

/// What stands in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Entry {
    Folder,
    Other,
    Link(PathBuf),
}

/// A folder that exists, and the files that are to appear somewhere below it.
type Missing<'a> = (&'a Path, &'a [&'a FileSpec]);

/// The steps that make `files` appear, or why they cannot.
pub(super) fn plan(files: &[FileSpec], host: &dyn Host) -> Result<Vec<Step>, String> {
    let mut covers = Vec::new();
    let mut missing: BTreeMap<PathBuf, Vec<&FileSpec>> = BTreeMap::new();
    for file in files {
        if !file.target.is_absolute() || file.target.components().any(|part| part == std::path::Component::ParentDir) {
            return Err(format!("`{}` must be an absolute path without `..`", file.target.display()));
        }
        if host.is_folder(&file.target) {
            return Err(format!("`{}` is a folder", file.target.display()));
        }
        if host.exists(&file.target) {
            covers.push(file);
        } else {
            let ancestor = file.target.ancestors().skip(1).find(|path| host.is_folder(path)).unwrap_or(Path::new("/"));
            missing.entry(ancestor.to_path_buf()).or_default().push(file);
        }
    }
    let mut steps = Vec::new();
    let mut covered: BTreeSet<PathBuf> = BTreeSet::new();
    // Deepest first: an outer cover then takes the inner one along as it takes every other mount.
    for (number, (folder, files)) in missing.iter().rev().filter(|(folder, _)| *folder != Path::new("/")).enumerate() {
        if host.has_overlay() {
            let below: BTreeSet<PathBuf> =
                host.mounts_below(folder).into_iter().chain(covered.iter().filter(|path| path.starts_with(folder)).cloned()).collect();
            overlay(&mut steps, number, (folder, files), &below, host)?;
        } else {
            shell(&mut steps, &format!("shell{number}"), (folder, files), host)?;
            steps.push(Step::Bind { from: text(format!("shell{number}"))?, to: text(folder)? });
        }
        covered.insert(folder.clone());
    }
    for (number, file) in covers.into_iter().enumerate() {
        let from = text(format!("file{number}"))?;
        steps.push(Step::Write { path: from.clone(), content: file.content.clone().into_bytes(), mode: file.mode });
        steps.push(Step::Bind { from, to: text(&file.target)? });
    }
    if let Some(files) = missing.get(Path::new("/")) {
        shell(&mut steps, "root", (Path::new("/"), files), host)?;
        steps.push(Step::Root(text("root")?));
    }
    Ok(steps)
}

/// Covers `folder` by an overlay that holds the files and shows every mount below it again.
fn overlay(
    steps: &mut Vec<Step>,
    number: usize,
    (folder, files): Missing<'_>,
    below: &BTreeSet<PathBuf>,
    host: &dyn Host,
) -> Result<(), String> {
    let (old, upper, work) = (format!("old{number}"), format!("upper{number}"), format!("work{number}"));
    for path in [&old, &upper, &work] {
        steps.push(Step::Folder(text(path)?));
    }
    steps.push(Step::Bind { from: text(folder)?, to: text(&old)? });
    own(steps, &upper, folder, host)?;
    place(steps, &upper, folder, files)?;
    steps.push(Step::Overlay { options: text(format!("lowerdir={old},upperdir={upper},workdir={work}"))?, to: text(folder)? });
    for mount in below {
        let inside = mount.strip_prefix(folder).unwrap_or(mount);
        steps.push(Step::Bind { from: text(Path::new(&old).join(inside))?, to: text(mount)? });
    }
    Ok(())
}

/// Builds a folder in the scratch that shows everything of `folder`, and the files.
fn shell(steps: &mut Vec<Step>, name: &str, (folder, files): Missing<'_>, host: &dyn Host) -> Result<(), String> {
    steps.push(Step::Folder(text(name)?));
    own(steps, name, folder, host)?;
    for (entry, kind) in host.entries(folder) {
        let inside = text(Path::new(name).join(&entry))?;
        let outside = text(folder.join(&entry))?;
        match kind {
            Entry::Link(to) => steps.push(Step::Link { to: text(to)?, path: inside }),
            Entry::Folder => steps.extend([Step::Folder(inside.clone()), Step::Bind { from: outside, to: inside }]),
            Entry::Other => {
                steps.push(Step::Write { path: inside.clone(), content: Vec::new(), mode: 0o644 });
                steps.push(Step::Bind { from: outside, to: inside });
            }
        }
    }
    place(steps, name, folder, files)
}

/// A cover has the permissions of the folder that it covers.
fn own(steps: &mut Vec<Step>, path: &str, folder: &Path, host: &dyn Host) -> Result<(), String> {
    if let Some((mode, uid, gid)) = host.owner(folder) {
        steps.push(Step::Own { path: text(path)?, mode, uid, gid });
    }
    Ok(())
}

/// Writes the files with their missing folders to where `folder` stands for `root`.
fn place(steps: &mut Vec<Step>, root: &str, folder: &Path, files: &[&FileSpec]) -> Result<(), String> {
    let mut made = BTreeSet::new();
    for file in files {
        let inside = Path::new(root).join(file.target.strip_prefix(folder).unwrap_or(&file.target));
        let mut parents: Vec<&Path> =
            inside.ancestors().skip(1).filter(|path| path.starts_with(root) && *path != Path::new(root)).collect();
        parents.reverse();
        for parent in parents {
            if made.insert(parent.to_path_buf()) {
                steps.push(Step::Folder(text(parent)?));
            }
        }
        steps.push(Step::Write { path: text(&inside)?, content: file.content.clone().into_bytes(), mode: file.mode });
    }
    Ok(())
}

fn text(path: impl AsRef<Path>) -> Result<CString, String> {
    let path = path.as_ref();
    CString::new(path.as_os_str().as_bytes()).map_err(|_| format!("`{}` contains a zero byte", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Paper {
        overlay: bool,
    }

    impl Host for Paper {
        fn is_folder(&self, path: &Path) -> bool {
            ["/", "/etc", "/etc/nginx", "/var"].contains(&path.to_str().unwrap())
        }
        fn exists(&self, path: &Path) -> bool {
            self.is_folder(path) || path == Path::new("/etc/hosts")
        }
        fn entries(&self, folder: &Path) -> Vec<(OsString, Entry)> {
            match folder.to_str().unwrap() {
                "/" => vec![("etc".into(), Entry::Folder), ("bin".into(), Entry::Link("usr/bin".into())), ("init".into(), Entry::Other)],
                _ => vec![("hosts".into(), Entry::Other)],
            }
        }
        fn mounts_below(&self, folder: &Path) -> Vec<PathBuf> {
            if folder == Path::new("/etc") { vec!["/etc/keys".into()] } else { Vec::new() }
        }
        fn has_overlay(&self) -> bool {
            self.overlay
        }
        fn owner(&self, folder: &Path) -> Option<(u32, u32, u32)> {
            (folder == Path::new("/etc/nginx")).then_some((0o750, 0, 33))
        }
    }

    fn told(targets: &[&str], overlay: bool) -> Result<Vec<String>, String> {
        let files: Vec<FileSpec> = targets.iter().map(|t| FileSpec::text(t, "x", 0o600)).collect();
        let s = |text: &CString| text.to_str().unwrap().to_owned();
        Ok(plan(&files, &Paper { overlay })?
            .iter()
            .map(|step| match step {
                Step::Folder(path) => format!("mkdir {}", s(path)),
                Step::Own { path, mode, uid, gid } => format!("own {} {mode:o} {uid}:{gid}", s(path)),
                Step::Write { path, content, .. } => format!("write {} {}", s(path), content.len()),
                Step::Link { to, path } => format!("link {} -> {}", s(path), s(to)),
                Step::Bind { from, to } => format!("bind {} on {}", s(from), s(to)),
                Step::Overlay { options, to } => format!("overlay {} on {}", s(options), s(to)),
                Step::Root(path) => format!("root {}", s(path)),
            })
            .collect())
    }

    #[test]
    fn an_existing_target_is_covered() {
        assert_eq!(told(&["/etc/hosts"], true).unwrap(), ["write file0 1", "bind file0 on /etc/hosts"]);
        assert_eq!(told(&[], true).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn overlays_show_the_mounts_below_again() {
        let expected = [
            "mkdir old0",
            "mkdir upper0",
            "mkdir work0",
            "bind /etc/nginx on old0",
            "own upper0 750 0:33",
            "write upper0/new.conf 1",
            "overlay lowerdir=old0,upperdir=upper0,workdir=work0 on /etc/nginx",
            "mkdir old1",
            "mkdir upper1",
            "mkdir work1",
            "bind /etc on old1",
            "mkdir upper1/a",
            "mkdir upper1/a/b",
            "write upper1/a/b/c 1",
            "overlay lowerdir=old1,upperdir=upper1,workdir=work1 on /etc",
            "bind old1/keys on /etc/keys",
            "bind old1/nginx on /etc/nginx",
        ];
        assert_eq!(told(&["/etc/a/b/c", "/etc/nginx/new.conf"], true).unwrap(), expected);
    }

    #[test]
    fn shells_bind_the_neighbours() {
        let expected =
            ["mkdir shell0", "write shell0/hosts 0", "bind /etc/hosts on shell0/hosts", "write shell0/new 1", "bind shell0 on /etc"];
        assert_eq!(told(&["/etc/new"], false).unwrap(), expected);
    }

    #[test]
    fn below_the_root_a_shell_becomes_the_root() {
        let expected = [
            "write file0 1",
            "bind file0 on /etc/hosts",
            "mkdir root",
            "mkdir root/etc",
            "bind /etc on root/etc",
            "link root/bin -> usr/bin",
            "write root/init 0",
            "bind /init on root/init",
            "mkdir root/srv2",
            "write root/srv2/x 1",
            "root root",
        ];
        assert_eq!(told(&["/srv2/x", "/etc/hosts"], true).unwrap(), expected);
    }

    #[test]
    fn what_cannot_be_a_file_is_refused() {
        for target in ["/etc", "relative", "/etc/../x", "/a\0b"] {
            assert!(told(&[target], true).is_err(), "{target}");
        }
    }
}
