//! The paths of an image: host paths with every symbolic link on the way, each once, parents before children.
//!
//! It follows links one by one as the kernel does, so that a path that works on the host works inside. It knows
//! nothing of what a file needs to run.

use super::error::PackError;
use crate::model::diagnostic::nearest;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

/// The most links followed for one path: the kernel's own limit.
pub(super) const LINK_LIMIT: usize = 40;

/// Mount points of kernel file systems: an engine fills them, nothing below them is ever packed.
pub(super) const KERNEL_FOLDERS: [&str; 3] = ["/dev", "/proc", "/sys"];

/// What a path of the image holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Content {
    /// A folder.
    Folder,
    /// A symbolic link with its target as the host writes it.
    Link(PathBuf),
    /// The host's file of the same path, with its size in bytes.
    Host(u64),
    /// A file of our own.
    Text(String),
}

/// One path of the image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Node {
    /// Permission bits with setuid, setgid and sticky.
    pub(super) mode: u32,
    /// What it holds.
    pub(super) content: Content,
}

/// Where a path ends after all links.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Reached {
    /// A regular file.
    File(PathBuf),
    /// A folder; its contents are not taken.
    Folder(PathBuf),
    /// Something that is no file and no folder, or lies in a kernel file system.
    Special(PathBuf, &'static str),
}

/// All paths of an image, keyed by absolute path without links in its parents.
#[derive(Debug, Default)]
pub(super) struct Tree {
    nodes: BTreeMap<PathBuf, Node>,
}

impl Tree {
    /// All nodes, parents first.
    pub(super) fn nodes(&self) -> &BTreeMap<PathBuf, Node> {
        &self.nodes
    }

    /// Adds `node` unless the path is already there or would lie behind a link; what comes from the host wins.
    pub(super) fn furnish(&mut self, path: &Path, node: Node) {
        let behind_link =
            path.ancestors().skip(1).any(|up| matches!(self.nodes.get(up), Some(Node { content, .. }) if *content != Content::Folder));
        if !behind_link {
            self.nodes.entry(path.to_path_buf()).or_insert(node);
        }
    }

    /// Adds the host's object at `real`, whose parents hold no link. None when it is of a kind that cannot be packed.
    pub(super) fn add(&mut self, real: &Path, meta: &Metadata) -> Result<Option<&Node>, PackError> {
        let kind = meta.file_type();
        let mode = meta.permissions().mode() & 0o7777;
        let node = if kind.is_symlink() {
            Node { mode: 0o777, content: Content::Link(fs::read_link(real).map_err(PackError::read(real))?) }
        } else if kind.is_dir() {
            Node { mode, content: Content::Folder }
        } else if kind.is_file() {
            Node { mode, content: Content::Host(meta.len()) }
        } else {
            return Ok(None);
        };
        Ok(Some(self.nodes.entry(real.to_path_buf()).or_insert(node)))
    }

    /// Adds everything on the way to the absolute `path`: folders, links and the end itself, not a folder's contents.
    ///
    /// # Errors
    /// When it does not exist, cannot be read, or goes through too many links.
    pub(super) fn reach(&mut self, path: &Path) -> Result<Reached, PackError> {
        let mut pending = Vec::new();
        push(&mut pending, path);
        let mut at = PathBuf::from("/");
        let mut links = 0;
        while let Some(step) = pending.pop() {
            let name = match step {
                Step::Root => {
                    at = PathBuf::from("/");
                    continue;
                }
                Step::Up => {
                    at.pop();
                    continue;
                }
                Step::Down(name) => name,
            };
            let here = at.join(&name);
            if in_kernel(&here) {
                return Ok(Reached::Special(here, "a kernel file system"));
            }
            if !self.nodes.contains_key(&here) {
                let meta = fs::symlink_metadata(&here).map_err(|source| missing(path, &at, &name, source))?;
                if self.add(&here, &meta)?.is_none() {
                    return Ok(Reached::Special(here, special(&meta)));
                }
            }
            match &self.nodes[&here].content {
                Content::Folder => at = here,
                Content::Link(target) => {
                    links += 1;
                    if links > LINK_LIMIT {
                        return Err(PackError::Loop { path: path.to_path_buf(), limit: LINK_LIMIT });
                    }
                    push(&mut pending, target);
                }
                Content::Host(_) | Content::Text(_) if pending.is_empty() => return Ok(Reached::File(here)),
                Content::Host(_) | Content::Text(_) => return Err(PackError::Missing { path: path.to_path_buf(), suggestion: None }),
            }
        }
        Ok(Reached::Folder(at))
    }
}

enum Step {
    Root,
    Up,
    Down(OsString),
}

/// Puts the parts of `path` in front of what is still to be followed.
fn push(pending: &mut Vec<Step>, path: &Path) {
    let steps = path.components().rev().filter_map(|part| match part {
        Component::RootDir => Some(Step::Root),
        Component::ParentDir => Some(Step::Up),
        Component::Normal(name) => Some(Step::Down(name.to_owned())),
        Component::CurDir | Component::Prefix(_) => None,
    });
    pending.extend(steps);
}

/// Whether `path` belongs to a kernel file system.
pub(super) fn in_kernel(path: &Path) -> bool {
    KERNEL_FOLDERS.iter().any(|folder| path.starts_with(folder))
}

fn special(meta: &Metadata) -> &'static str {
    let kind = meta.file_type();
    if kind.is_socket() {
        "a socket"
    } else if kind.is_fifo() {
        "a pipe"
    } else {
        "a device"
    }
}

fn missing(path: &Path, folder: &Path, name: &OsString, source: std::io::Error) -> PackError {
    use std::io::ErrorKind::{NotADirectory, NotFound};
    if !matches!(source.kind(), NotFound | NotADirectory) {
        return PackError::Read { path: path.to_path_buf(), source };
    }
    let names: Vec<String> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    let near = nearest(&name.to_string_lossy(), names.iter().map(String::as_str));
    PackError::Missing { path: path.to_path_buf(), suggestion: near.map(|near| folder.join(near).display().to_string()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// A folder without links in its own path.
    fn folder() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        (folder, path)
    }

    #[test]
    fn links_on_the_way_are_kept_and_their_targets_added() {
        let (_keep, root) = folder();
        fs::create_dir_all(root.join("usr/bin")).unwrap();
        fs::write(root.join("usr/bin/mawk"), "mawk").unwrap();
        symlink("usr/bin", root.join("bin")).unwrap();
        symlink(root.join("alt"), root.join("usr/bin/awk")).unwrap();
        symlink("./usr/../bin/mawk", root.join("alt")).unwrap();
        let mut tree = Tree::default();
        assert_eq!(tree.reach(&root.join("bin/awk")).unwrap(), Reached::File(root.join("usr/bin/mawk")));
        let inside: Vec<(String, Content)> = tree
            .nodes()
            .iter()
            .filter_map(|(path, node)| Some((path.strip_prefix(&root).ok()?.display().to_string(), node.content.clone())))
            .collect();
        let link = |target: &str| Content::Link(target.into());
        let expected = [
            ("", Content::Folder),
            ("alt", link("./usr/../bin/mawk")),
            ("bin", link("usr/bin")),
            ("usr", Content::Folder),
            ("usr/bin", Content::Folder),
            ("usr/bin/awk", Content::Link(root.join("alt"))),
            ("usr/bin/mawk", Content::Host(4)),
        ];
        assert_eq!(inside, expected.map(|(path, content)| (path.to_owned(), content)));
    }

    #[test]
    fn forty_links_are_followed_and_no_more() {
        let (_keep, root) = folder();
        fs::write(root.join("0"), "").unwrap();
        for i in 1..=41 {
            symlink((i - 1).to_string(), root.join(i.to_string())).unwrap();
        }
        assert_eq!(Tree::default().reach(&root.join("40")).unwrap(), Reached::File(root.join("0")));
        assert!(fs::metadata(root.join("40")).is_ok(), "the kernel agrees");
        assert!(fs::metadata(root.join("41")).is_err(), "the kernel agrees");
        assert!(matches!(Tree::default().reach(&root.join("41")), Err(PackError::Loop { limit: 40, .. })));
        symlink("loop", root.join("loop")).unwrap();
        assert!(matches!(Tree::default().reach(&root.join("loop")), Err(PackError::Loop { .. })));
    }

    #[test]
    fn kernel_file_systems_and_sockets_are_told_apart() {
        let (_keep, root) = folder();
        let _socket = std::os::unix::net::UnixListener::bind(root.join("s")).unwrap();
        symlink("/proc/self/mounts", root.join("mtab")).unwrap();
        let mut tree = Tree::default();
        assert_eq!(tree.reach(&root.join("s")).unwrap(), Reached::Special(root.join("s"), "a socket"));
        assert_eq!(tree.reach(&root.join("mtab")).unwrap(), Reached::Special("/proc".into(), "a kernel file system"));
        assert!(tree.nodes().contains_key(&root.join("mtab")), "the link itself is kept");
        assert!(!tree.nodes().contains_key(&root.join("s")));
    }

    #[test]
    fn what_is_furnished_never_hides_the_hosts_own_nor_lies_behind_a_link() {
        let mut tree = Tree::default();
        let node = |content| Node { mode: 0o755, content };
        tree.furnish(Path::new("/tmp"), node(Content::Folder));
        tree.furnish(Path::new("/tmp"), node(Content::Text("no".into())));
        tree.furnish(Path::new("/var"), node(Content::Link("/data".into())));
        tree.furnish(Path::new("/var/tmp"), node(Content::Folder));
        let found: Vec<_> = tree.nodes().iter().map(|(path, node)| (path.to_str().unwrap(), &node.content)).collect();
        assert_eq!(found, [("/tmp", &Content::Folder), ("/var", &Content::Link("/data".into()))]);
    }
}
