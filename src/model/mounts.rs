//! What is mounted where: a pure reading of a process's `mountinfo` (proc_pid_mountinfo(5)).

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// One mount, as the process sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// The kernel's number of it.
    pub id: u64,
    /// Number of the mount that it lies on.
    pub parent: u64,
    /// Device of the file system, `major:minor`.
    pub device: String,
    /// The folder or file of the file system that is shown here: `/` unless it is a bind mount or a subvolume.
    pub root: PathBuf,
    /// Where it is.
    pub target: PathBuf,
    /// Whether nothing may be written, by the mount's own options or by those of its file system.
    pub read_only: bool,
    /// Type of the file system, as the kernel spells it; that of fuse-overlayfs always as `fuse.fuse-overlayfs`.
    pub kind: String,
    /// What is mounted: a device, or any word.
    pub source: String,
    /// Options of the file system.
    pub options: Vec<String>,
}

impl Mount {
    /// The folder that takes an overlay's writes; none for other file systems.
    #[must_use]
    pub fn upperdir(&self) -> Option<PathBuf> {
        self.options.iter().find_map(|option| option.strip_prefix("upperdir=")).map(|path| unescape(path.as_bytes()))
    }
}

/// The mounts of a process.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MountTable {
    mounts: Vec<Mount>,
}

impl MountTable {
    /// Reads the text of `/proc/<pid>/mountinfo`; lines that are none are left out.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        Self { mounts: text.lines().filter_map(mount).collect() }
    }

    /// All of them, in the kernel's order.
    #[must_use]
    pub fn mounts(&self) -> &[Mount] {
        &self.mounts
    }

    /// What is seen at `target` when something is mounted right there: the uppermost of several.
    #[must_use]
    pub fn at(&self, target: &Path) -> Option<&Mount> {
        let here: Vec<&Mount> = self.mounts.iter().filter(|mount| mount.target == target).collect();
        let covered = |mount: &Mount| here.iter().any(|other| other.parent == mount.id && other.id != mount.id);
        here.iter().rfind(|mount| !covered(mount)).copied()
    }

    /// The mount that holds `path`, which has no symbolic links: the deepest at or above it.
    #[must_use]
    pub fn holding(&self, path: &Path) -> Option<&Mount> {
        path.ancestors().find_map(|above| self.at(above))
    }
}

fn mount(line: &str) -> Option<Mount> {
    let (left, right) = line.split_once(" - ")?;
    let mut left = left.split(' ');
    let mut left = || left.next();
    let (id, parent) = (left()?.parse().ok()?, left()?.parse().ok()?);
    let (device, root, target, flags) = (left()?.to_owned(), left()?, left()?, left()?);
    let mut right = right.split(' ');
    let (kind, source, options) = (right.next()?, right.next()?, right.next().unwrap_or_default());
    let options: Vec<String> = options.split(',').filter(|option| !option.is_empty()).map(str::to_owned).collect();
    let read_only = flags.split(',').any(|flag| flag == "ro") || options.iter().any(|option| option == "ro");
    let kind = if kind == "fuse" && source == "fuse-overlayfs" { "fuse.fuse-overlayfs" } else { kind };
    let (root, target) = (unescape(root.as_bytes()), unescape(target.as_bytes()));
    Some(Mount { id, parent, device, root, target, read_only, kind: kind.to_owned(), source: source.to_owned(), options })
}

/// The kernel writes blanks, tabs, newlines and backslashes of a path as three octal digits.
fn unescape(field: &[u8]) -> PathBuf {
    let digits = |at: usize| std::str::from_utf8(field.get(at + 1..at + 4)?).ok().and_then(|digits| u8::from_str_radix(digits, 8).ok());
    let mut bytes = Vec::with_capacity(field.len());
    let mut at = 0;
    while let Some(byte) = field.get(at) {
        let escaped = if *byte == b'\\' { digits(at) } else { None };
        bytes.push(escaped.unwrap_or(*byte));
        at += if escaped.is_some() { 4 } else { 1 };
    }
    PathBuf::from(OsString::from_vec(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OVERLAY: &str = "\
312 280 0:52 / / rw,relatime - overlay overlay rw,lowerdir=/var/lib/docker/overlay2/l/AB:/var/lib/docker/overlay2/l/CD,upperdir=/var/lib/docker/overlay2/7f/diff,workdir=/var/lib/docker/overlay2/7f/work
313 312 0:41 / /proc rw,nosuid,nodev,noexec,relatime - proc proc rw
330 312 254:0 /srv/a\\040b /www ro,relatime - ext4 /dev/vda rw,discard
331 312 254:0 /var/lib/docker/volumes/6b/_data /var/lib/mysql rw,relatime master:1 - ext4 /dev/vda rw,discard
332 312 0:47 / /mem rw,nosuid,nodev,noexec,relatime - tmpfs tmpfs rw,size=1024k
333 312 7:0 / /image rw,relatime shared:9 master:1 - squashfs /dev/loop0 ro";

    #[test]
    fn a_containers_mounts_are_told() {
        let table = MountTable::parse(OVERLAY);
        assert_eq!(table.mounts().len(), 6);
        let told = |target: &str| table.at(Path::new(target)).map(|mount| (mount.kind.as_str(), mount.root.to_str(), mount.read_only));
        for (target, expected) in [
            ("/", Some(("overlay", Some("/"), false))),
            ("/www", Some(("ext4", Some("/srv/a b"), true))),
            ("/var/lib/mysql", Some(("ext4", Some("/var/lib/docker/volumes/6b/_data"), false))),
            ("/mem", Some(("tmpfs", Some("/"), false))),
            ("/image", Some(("squashfs", Some("/"), true))),
            ("/var/lib", None),
        ] {
            assert_eq!(told(target), expected, "{target}");
        }
        let upper = table.at(Path::new("/")).and_then(Mount::upperdir);
        assert_eq!(upper.as_deref(), Some(Path::new("/var/lib/docker/overlay2/7f/diff")));
        assert_eq!(table.at(Path::new("/mem")).and_then(Mount::upperdir), None);
    }

    #[test]
    fn the_deepest_mount_holds_a_path() {
        let table = MountTable::parse(
            "27 1 254:0 / / rw - ext4 /dev/vda rw\n42 27 7:1 / /run/sd/0/data rw - xfs /dev/loop1 rw\n43 42 0:9 / /run/sd/0/data/x rw - overlay overlay rw",
        );
        for (path, kind) in [
            ("/var/lib/docker", "ext4"),
            ("/run/sd/0/data", "xfs"),
            ("/run/sd/0/data/volumes", "xfs"),
            ("/run/sd/0/database", "ext4"),
            ("/run/sd/0/data/x", "overlay"),
        ] {
            assert_eq!(table.holding(Path::new(path)).map(|mount| mount.kind.as_str()), Some(kind), "{path}");
        }
        assert_eq!(MountTable::default().holding(Path::new("/")), None);
    }

    #[test]
    fn the_uppermost_of_several_is_seen_in_whatever_order_the_kernel_tells_them() {
        let (lower, upper) = ("69 45 0:39 / / rw - overlay overlay rw", "45 69 254:0 / / rw - ext4 /dev/vda rw");
        for text in [format!("{lower}\n{upper}"), format!("{upper}\n{lower}")] {
            // A ring: neither is uppermost, and nothing is told.
            assert_eq!(MountTable::parse(&text).at(Path::new("/")), None, "{text}");
        }
        let lower = "69 5 0:39 / / rw - overlay overlay rw";
        for text in [format!("{lower}\n{upper}"), format!("{upper}\n{lower}")] {
            assert_eq!(MountTable::parse(&text).at(Path::new("/")).map(|mount| mount.id), Some(45), "{text}");
        }
    }

    #[test]
    fn fuse_overlayfs_is_spelled_one_way_and_damage_is_left_out() {
        for (line, kind) in [
            ("69 45 0:39 / / rw,nodev,noatime master:2 - fuse.fuse-overlayfs fuse-overlayfs rw,user_id=0", Some("fuse.fuse-overlayfs")),
            ("69 45 0:39 / / rw - fuse fuse-overlayfs rw", Some("fuse.fuse-overlayfs")),
            ("69 45 0:39 / / rw - fuse sshfs rw", Some("fuse")),
            ("69 45 0:39 / / rw - tmpfs none", Some("tmpfs")),
            ("x 45 0:39 / / rw - tmpfs none rw", None),
            ("69 45 0:39 / / rw", None),
            ("69 45 - tmpfs none rw", None),
            (" - ", None),
            ("", None),
        ] {
            assert_eq!(MountTable::parse(line).at(Path::new("/")).map(|mount| mount.kind.clone()).as_deref(), kind, "{line}");
        }
    }

    #[test]
    fn paths_are_unescaped() {
        for (written, path) in [(r"/a\040b\134c\9", "/a b\\c\\9"), (r"/a\", r"/a\"), (r"/a\04", r"/a\04"), (r"\777/a", r"\777/a")] {
            assert_eq!(unescape(written.as_bytes()), PathBuf::from(path), "{written}");
        }
    }
}
