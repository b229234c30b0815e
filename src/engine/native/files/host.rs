//! What the plan of private files asks, answered by this host.

use super::{Entry, Host};
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The host as it is.
pub(in crate::engine::native) struct ThisHost;

impl Host for ThisHost {
    fn is_folder(&self, path: &Path) -> bool {
        path.is_dir()
    }

    fn exists(&self, path: &Path) -> bool {
        path.exists()
    }

    fn entries(&self, folder: &Path) -> Vec<(OsString, Entry)> {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let kind = |entry: &std::fs::DirEntry| match entry.file_type() {
            Ok(kind) if kind.is_symlink() => std::fs::read_link(entry.path()).map_or(Entry::Other, Entry::Link),
            Ok(kind) if kind.is_dir() => Entry::Folder,
            _ => Entry::Other,
        };
        entries.map(|entry| (entry.file_name(), kind(&entry))).collect()
    }

    fn is_link(&self, path: &Path) -> bool {
        path.is_symlink()
    }

    fn resolve(&self, path: &Path) -> PathBuf {
        let (mut above, mut below) = (path, Vec::new());
        loop {
            if let Ok(found) = above.canonicalize() {
                return below.iter().rev().fold(found, |path, name| path.join(name));
            }
            match (above.parent(), above.file_name()) {
                (Some(parent), Some(name)) => {
                    below.push(name);
                    above = parent;
                }
                _ => return path.to_path_buf(),
            }
        }
    }

    fn mounts_below(&self, folder: &Path) -> Vec<PathBuf> {
        let mut below = mount_points("self").unwrap_or_default();
        below.retain(|point| point.starts_with(folder) && point != folder);
        below.sort();
        below.dedup();
        below
    }

    fn owner(&self, folder: &Path) -> Option<(u32, u32, u32)> {
        std::fs::metadata(folder).ok().map(|found| (found.mode() & 0o7777, found.uid(), found.gid()))
    }

    fn has_overlay(&self) -> bool {
        std::fs::read_to_string("/proc/filesystems").is_ok_and(|text| text.split_whitespace().any(|word| word == "overlay"))
    }
}

/// Where file systems are mounted, as a process sees it; the process by its number, or `self`.
pub(in crate::engine::native) fn mount_points(process: &str) -> io::Result<Vec<PathBuf>> {
    let text = std::fs::read(format!("/proc/{process}/mountinfo"))?;
    Ok(text.split(|byte| *byte == b'\n').filter_map(|line| line.split(|byte| *byte == b' ').nth(4)).map(unescape).collect())
}

/// The kernel writes blanks, tabs, newlines and backslashes of a path as three octal digits.
fn unescape(field: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, tail)) = rest.split_first() {
        let octal = (*first == b'\\').then(|| tail.get(..3)).flatten();
        match octal.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[3..];
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    PathBuf::from(OsString::from_vec(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mount_points_are_unescaped() {
        assert_eq!(unescape(br"/a\040b\134c\9"), PathBuf::from("/a b\\c\\9"));
    }
}
