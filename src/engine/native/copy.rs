//! Copies of folders, as exact as a database needs its own.

use rustix::fs::{CWD, FileType, Mode, mknodat};
use std::collections::HashMap;
use std::fs::{self, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, lchown, symlink};
use std::path::{Path, PathBuf};
use walkdir::WalkDir;

/// Copies the folder `from` with all that is in it to `to`, which must not be there. Permissions, owners, links and hard links
/// within it stay as they are; times and extended attributes are not kept, and sockets, which nobody serves there, are left out.
///
/// # Errors
/// With the path that could not be copied.
pub(super) fn folder(from: &Path, to: &Path) -> io::Result<()> {
    let mut folders = Vec::new();
    let mut linked: HashMap<(u64, u64), PathBuf> = HashMap::new();
    for entry in WalkDir::new(from) {
        let entry = entry?;
        let inside = entry.path().strip_prefix(from).unwrap_or(Path::new(""));
        // Joining nothing would append a slash.
        let target = if inside.as_os_str().is_empty() { to.to_path_buf() } else { to.join(inside) };
        let at = |error| told(entry.path(), &error);
        let found = if entry.depth() == 0 { fs::metadata(from) } else { fs::symlink_metadata(entry.path()) }.map_err(at)?;
        if found.is_dir() {
            fs::create_dir(&target).map_err(at)?;
            folders.push((target, found));
            continue;
        }
        if found.nlink() > 1 {
            let first = linked.entry((found.dev(), found.ino())).or_insert_with(|| target.clone());
            if *first != target {
                fs::hard_link(first, &target).map_err(at)?;
                continue;
            }
        }
        one(entry.path(), &target, &found).map_err(at)?;
    }
    // Last, and deepest first: a folder that may not be written to is filled before.
    folders.iter().rev().try_for_each(|(folder, found)| own(folder, found).map_err(|error| told(folder, &error)))
}

fn told(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("copy {}: {error}", path.display()))
}

/// Copies what is no folder.
fn one(from: &Path, to: &Path, found: &Metadata) -> io::Result<()> {
    let kind = found.file_type();
    if kind.is_symlink() {
        symlink(fs::read_link(from)?, to)?;
        return lchown(to, Some(found.uid()), Some(found.gid()));
    }
    if kind.is_socket() {
        return Ok(());
    }
    if kind.is_file() {
        fs::copy(from, to)?;
    } else {
        mknodat(CWD, to, FileType::from_raw_mode(found.mode()), Mode::from_raw_mode(0o600), found.rdev())?;
    }
    own(to, found)
}

/// Gives owner and permissions, in this order: a change of owner takes the set-user-id bit.
fn own(path: &Path, found: &Metadata) -> io::Result<()> {
    lchown(path, Some(found.uid()), Some(found.gid()))?;
    fs::set_permissions(path, Permissions::from_mode(found.mode() & 0o7777))
}

/// Copies one file, with permissions of its own.
///
/// # Errors
/// When it cannot be read or written.
pub(super) fn file(from: &Path, to: &Path, mode: u32) -> io::Result<()> {
    fs::copy(from, to)?;
    fs::set_permissions(to, Permissions::from_mode(mode))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_has_modes_and_links_and_no_sockets() {
        let scene = tempfile::tempdir().expect("folder");
        let (from, to) = (scene.path().join("from"), scene.path().join("to"));
        fs::create_dir_all(from.join("inner")).expect("folders");
        fs::write(from.join("inner/a"), "text").expect("file");
        fs::hard_link(from.join("inner/a"), from.join("b")).expect("hard link");
        symlink("/does/not/exist", from.join("link")).expect("link");
        mknodat(CWD, from.join("pipe"), FileType::Fifo, Mode::from_raw_mode(0o600), 0).expect("pipe");
        let _socket = std::os::unix::net::UnixListener::bind(from.join("socket")).expect("socket");
        fs::set_permissions(from.join("inner/a"), Permissions::from_mode(0o4750)).expect("mode");
        fs::set_permissions(from.join("inner"), Permissions::from_mode(0o500)).expect("mode");
        folder(&from, &to).expect("copy");
        let found = |path: &str| fs::symlink_metadata(to.join(path)).expect("copied");
        assert_eq!(fs::read_to_string(to.join("inner/a")).expect("text"), "text");
        assert_eq!((found("inner/a").mode() & 0o7777, found("inner").mode() & 0o7777), (0o4750, 0o500));
        assert_eq!((found("b").ino(), found("b").nlink()), (found("inner/a").ino(), 2));
        assert_ne!(found("b").ino(), fs::metadata(from.join("b")).expect("source").ino());
        assert_eq!(fs::read_link(to.join("link")).expect("link"), Path::new("/does/not/exist"));
        assert!(found("pipe").file_type().is_fifo() && !to.join("socket").exists());
        let error = folder(&from.join("gone"), &scene.path().join("never")).expect_err("it is not there");
        assert!(error.to_string().contains("gone"), "{error}");
    }
}
