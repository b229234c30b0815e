//! What the plan of private files asks, answered by this host.

use super::{Entry, Host};
use std::ffi::OsString;
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

    fn mounts_below(&self, folder: &Path) -> Vec<PathBuf> {
        let text = std::fs::read("/proc/self/mountinfo").unwrap_or_default();
        let points = text.split(|byte| *byte == b'\n').filter_map(|line| line.split(|byte| *byte == b' ').nth(4)).map(unescape);
        let mut below: Vec<PathBuf> = points.filter(|point| point.starts_with(folder) && point != folder).collect();
        below.sort();
        below.dedup();
        // A bind takes everything below along, so only the outermost count.
        let mut outermost: Vec<PathBuf> = Vec::new();
        for point in below {
            if !outermost.iter().any(|outer| point.starts_with(outer)) {
                outermost.push(point);
            }
        }
        outermost
    }

    fn owner(&self, folder: &Path) -> Option<(u32, u32, u32)> {
        std::fs::metadata(folder).ok().map(|found| (found.mode() & 0o7777, found.uid(), found.gid()))
    }

    fn has_overlay(&self) -> bool {
        std::fs::read_to_string("/proc/filesystems").is_ok_and(|text| text.split_whitespace().any(|word| word == "overlay"))
    }
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
