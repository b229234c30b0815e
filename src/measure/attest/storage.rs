//! What a unit's files are on: its root, what is mounted where it was asked for, and the file system under the engine's data root.
//!
//! The first process of a container's group is the runtime's, which sees the engine's own mounts until it has changed its root
//! (`pivot_root`); then everything is in place. So a table whose root is still the engine's says nothing, see [`Root`].

use super::links::resolved;
use crate::model::event::Attested;
use crate::model::mounts::{Mount, MountTable};
use crate::model::spec::{Place, UnitSpec};
use crate::model::stack::{MountSource, VolumeSpec};
use std::path::{Path, PathBuf};

/// What was asked of a unit's mounts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Asked {
    /// The engine's storage driver; none for a host process, or when it does not matter.
    pub driver: Option<String>,
    /// File system under the engine's data root, as the kernel spells it; none when it is not known.
    pub backing: Option<String>,
    /// The engine's data root; none when it is not known.
    pub data_root: Option<PathBuf>,
    /// What is mounted where.
    pub mounts: Vec<MountAsked>,
}

/// A mount that was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MountAsked {
    /// Where.
    pub target: PathBuf,
    /// Type of the file system, as the kernel spells it.
    pub kind: String,
    /// Whether nothing may be written.
    pub read_only: bool,
}

/// Which folder of which file system a process has as its root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    device: String,
    folder: PathBuf,
}

impl Root {
    /// That of a process with these mounts; none when nothing is known of it.
    #[must_use]
    pub fn of(mounts: &MountTable) -> Option<Self> {
        mounts.at(Path::new("/")).map(|root| Self { device: root.device.clone(), folder: root.root.clone() })
    }

    /// Whether a process with these mounts has another root.
    #[must_use]
    pub fn is_left(&self, mounts: &MountTable) -> bool {
        Self::of(mounts).is_some_and(|root| root != *self)
    }
}

/// Type of the file system that a container's root is on with a storage driver; none for `vfs` on what is not known, and for
/// drivers that nobody has told us of.
#[must_use]
pub fn root_kind<'a>(driver: &str, backing: Option<&'a str>) -> Option<&'a str> {
    match driver {
        "overlay2" | "overlay" | "overlayfs" => Some("overlay"),
        "fuse-overlayfs" => Some("fuse.fuse-overlayfs"),
        "btrfs" => Some("btrfs"),
        "zfs" => Some("zfs"),
        "vfs" => backing,
        _ => None,
    }
}

/// The mounts that a unit asks for. Volumes are on the file system under the data root (`backing`), binds on that which holds their
/// source among the `engine`'s mounts; relative sources are relative to `base`. What would be on an unknown one is left out.
#[must_use]
pub fn mounts_asked(unit: &UnitSpec, volumes: &[VolumeSpec], backing: Option<&str>, engine: &MountTable, base: &Path) -> Vec<MountAsked> {
    let in_memory = |name: &String| volumes.iter().any(|volume| volume.name == *name && volume.tmpfs_bytes.is_some());
    let declared = unit.volumes.iter().filter_map(|mount| {
        let kind = match &mount.source {
            MountSource::Tmpfs(_) => "tmpfs".to_owned(),
            MountSource::Volume(name) if in_memory(name) => "tmpfs".to_owned(),
            MountSource::Volume(_) | MountSource::Anonymous => backing?.to_owned(),
            MountSource::Bind(source) => engine.holding(&base.join(source))?.kind.clone(),
        };
        Some(MountAsked { target: mount.target.clone(), kind, read_only: mount.read_only })
    });
    let in_container = unit.container.tmpfs.iter().filter(|_| unit.place == Place::Container).map(|(target, options)| MountAsked {
        target: PathBuf::from(target),
        kind: "tmpfs".to_owned(),
        read_only: options.split(',').any(|option| option == "ro"),
    });
    declared.chain(in_container).collect()
}

/// The rows of a unit: `storage.root`, `storage.upperdir` (an overlay's writes, where the data root is known) and `mount TARGET`
/// for each mount, from the unit's own mounts. A target with nothing mounted right there may lead elsewhere by
/// symbolic links of the image, such as `/var/run`: `resolve` follows them.
#[must_use]
pub fn rows(unit: &str, asked: &Asked, mounts: Option<&MountTable>, source: &str, resolve: impl Fn(&Path) -> PathBuf) -> Vec<Attested> {
    let root = mounts.and_then(|mounts| mounts.at(Path::new("/")));
    let row = |setting: String, asked: String, found: Option<String>| Attested {
        unit: unit.to_owned(),
        setting,
        asked,
        found,
        source: source.to_owned(),
    };
    let mut rows = Vec::new();
    if let Some(kind) = asked.driver.as_deref().and_then(|driver| root_kind(driver, asked.backing.as_deref())) {
        rows.push(row("storage.root".to_owned(), kind.to_owned(), root.map(|root| root.kind.clone())));
    }
    if let (Some(data_root), Some(upper)) = (&asked.data_root, root.and_then(Mount::upperdir))
        && upper.is_absolute()
    // the engine gives relative ones when an image has so many layers that the options grow long
    {
        let below = |path: &Path| format!("below {}", path.display());
        let found = if upper.starts_with(data_root) { below(data_root) } else { upper.display().to_string() };
        rows.push(row("storage.upperdir".to_owned(), below(data_root), Some(found)));
    }
    for mount in &asked.mounts {
        let told = |kind: &str, read_only| if read_only { format!("{kind}, read-only") } else { kind.to_owned() };
        let found = mounts.map(|mounts| match mounts.at(&mount.target).or_else(|| mounts.at(&resolve(&mount.target))) {
            Some(found) => told(&found.kind, found.read_only),
            None => "not mounted".to_owned(),
        });
        rows.push(row(format!("mount {}", mount.target.display()), told(&mount.kind, mount.read_only), found));
    }
    rows
}

/// The mounts of a process, and where they were read; none when there is no such process.
#[must_use]
pub fn mounts(pid: u32) -> Option<(MountTable, String)> {
    let source = format!("/proc/{pid}/mountinfo");
    let text = std::fs::read(&source).ok()?;
    Some((MountTable::parse(&String::from_utf8_lossy(&text)), source))
}

/// The rows of a running unit, of which `pid` is any process.
#[must_use]
pub fn read(unit: &str, pid: u32, asked: &Asked) -> Vec<Attested> {
    match mounts(pid) {
        Some((mounts, source)) => rows_of_process(unit, pid, asked, &mounts, &source),
        None => rows(unit, asked, None, &format!("/proc/{pid}/mountinfo"), Path::to_path_buf),
    }
}

/// The rows of a running unit whose mounts were read already.
pub(in crate::measure) fn rows_of_process(unit: &str, pid: u32, asked: &Asked, mounts: &MountTable, source: &str) -> Vec<Attested> {
    rows(unit, asked, Some(mounts), source, |target| resolved(&PathBuf::from(format!("/proc/{pid}/root")), target))
}

/// The row `storage.backing`: the file system under an engine's data root, by the mounts of the engine's own process.
#[must_use]
pub fn backing(engine: &str, pid: u32, data_root: &Path, asked: &str) -> Attested {
    let (mounts, source) = mounts(pid).unzip();
    let source = source.unwrap_or_else(|| format!("/proc/{pid}/mountinfo"));
    Attested {
        unit: engine.to_owned(),
        setting: "storage.backing".to_owned(),
        asked: asked.to_owned(),
        found: mounts.and_then(|mounts| mounts.holding(data_root).map(|mount| mount.kind.clone())),
        source: format!("{source}: {}", data_root.display()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::stack::MountSpec;

    /// The mounts of a daemon's own process, with a private data root.
    const ENGINE: &str = "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n90 27 7:1 / /run/sd/0/data rw,relatime - xfs /dev/loop1 rw\n91 27 0:50 / /srv rw - btrfs /dev/vdb rw";

    fn engine() -> MountTable {
        MountTable::parse(ENGINE)
    }

    fn asked(driver: &str) -> Asked {
        Asked {
            driver: Some(driver.to_owned()),
            backing: Some("xfs".to_owned()),
            data_root: Some("/run/sd/0/data".into()),
            mounts: Vec::new(),
        }
    }

    fn told(asked: &Asked, mountinfo: &str) -> Vec<(String, String, Option<String>)> {
        let rows = rows("db", asked, Some(&MountTable::parse(mountinfo)), "s", Path::to_path_buf);
        rows.into_iter().map(|row| (row.setting, row.asked, row.found)).collect()
    }

    #[test]
    fn the_root_tells_the_driver() {
        let overlay = "312 280 0:52 / / rw,relatime - overlay overlay rw,lowerdir=l/A";
        let fuse = "69 45 0:39 / / rw,nodev,noatime master:2 - fuse.fuse-overlayfs fuse-overlayfs rw,user_id=0,group_id=0";
        let btrfs = "69 45 0:33 /btrfs/subvolumes/7e / rw,relatime master:2 - btrfs /dev/loop1 rw,subvolid=258,subvol=/btrfs/subvolumes/7e";
        let vfs = "69 45 7:1 /vfs/dir/7e / rw,relatime master:2 - xfs /dev/loop1 rw";
        for (driver, mountinfo, kind, found) in [
            ("overlay2", overlay, "overlay", "overlay"),
            ("overlay", overlay, "overlay", "overlay"),
            ("fuse-overlayfs", fuse, "fuse.fuse-overlayfs", "fuse.fuse-overlayfs"),
            ("btrfs", btrfs, "btrfs", "btrfs"),
            ("vfs", vfs, "xfs", "xfs"),
            ("overlay2", fuse, "overlay", "fuse.fuse-overlayfs"),
            ("vfs", overlay, "xfs", "overlay"),
        ] {
            let row = ("storage.root".to_owned(), kind.to_owned(), Some(found.to_owned()));
            assert_eq!(told(&asked(driver), mountinfo), [row], "{driver}: {mountinfo}");
        }
        assert_eq!(told(&asked("windowsfilter"), overlay), []);
        assert_eq!(told(&Asked { backing: None, ..asked("vfs") }, vfs), []);
    }

    #[test]
    fn a_process_that_has_not_left_the_engines_root_is_known() {
        let outside = Root::of(&engine()).expect("a root");
        let table = [
            // Before: the runtime sees what the engine sees.
            (ENGINE, false),
            // While: the old root lies over the new one for a moment.
            ("69 45 7:1 /vfs/dir/7e / rw - xfs /dev/loop1 rw\n27 69 254:0 / / rw - ext4 /dev/vda rw", false),
            ("69 45 7:1 /vfs/dir/7e / rw - xfs /dev/loop1 rw", true),
            // The same file system as the engine's root, and another folder of it.
            ("69 45 254:0 /var/lib/docker/vfs/dir/7e / rw - ext4 /dev/vda rw", true),
            ("", false),
            ("garbage", false),
        ];
        for (mountinfo, left) in table {
            assert_eq!(outside.is_left(&MountTable::parse(mountinfo)), left, "{mountinfo}");
        }
        assert_eq!(rows("db", &asked("vfs"), None, "s", Path::to_path_buf)[0].found, None);
    }

    #[test]
    fn an_overlay_writes_below_its_engines_data_root() {
        for (upper, found) in [
            ("/run/sd/0/data/overlay2/7f/diff", Some("below /run/sd/0/data")),
            ("/var/lib/docker/overlay2/7f/diff", Some("/var/lib/docker/overlay2/7f/diff")),
            ("/run/sd/0/database/diff", Some("/run/sd/0/database/diff")),
            ("7f/diff", None),
        ] {
            let mountinfo = format!("312 280 0:52 / / rw - overlay overlay rw,lowerdir=l/A,upperdir={upper},workdir=w");
            let row = told(&asked("overlay2"), &mountinfo).into_iter().find(|(setting, _, _)| setting == "storage.upperdir");
            assert_eq!(row.and_then(|row| row.2).as_deref(), found, "{upper}");
        }
    }

    #[test]
    fn mounts_are_where_they_were_asked_for() {
        let mut unit = UnitSpec::bare(Place::Container);
        let mount = |source, target: &str, read_only| MountSpec { source, target: target.into(), read_only };
        unit.volumes = vec![
            mount(MountSource::Volume("data".into()), "/var/lib/mysql", false),
            mount(MountSource::Volume("fast".into()), "/fast", false),
            mount(MountSource::Anonymous, "/cache", true),
            mount(MountSource::Bind("www".into()), "/www", true),
            mount(MountSource::Bind("/srv/x".into()), "/x", false),
            mount(MountSource::Tmpfs(None), "/run", false),
        ];
        unit.container.tmpfs = vec![("/tmp".into(), "size=1m,ro".into())];
        let volume = |name: &str, tmpfs_bytes| VolumeSpec { name: name.into(), tmpfs_bytes, keep: false, from: None };
        let volumes = [volume("data", None), volume("fast", Some(1 << 20))];
        let mounts = mounts_asked(&unit, &volumes, Some("xfs"), &engine(), Path::new("/home/me"));
        let mountinfo = "\
69 45 0:52 / / rw - overlay overlay rw
70 69 7:1 /volumes/data/_data /var/lib/mysql rw,relatime master:1 - xfs /dev/loop1 rw
71 69 0:60 / /fast rw,relatime master:1 - tmpfs tmpfs rw,size=1024k
72 69 7:1 /volumes/6b/_data /cache rw,relatime master:1 - xfs /dev/loop1 rw
73 69 254:0 /home/me/www /www ro,relatime - ext4 /dev/vda rw
75 69 0:61 / /run rw,nosuid,nodev,noexec,relatime - tmpfs tmpfs rw
76 69 0:62 / /tmp ro,nosuid,nodev,noexec,relatime - tmpfs tmpfs rw,size=1024k";
        let asked = Asked { driver: None, mounts, ..asked("overlay2") };
        let row = |target: &str, asked: &str, found: &str| (format!("mount {target}"), asked.to_owned(), Some(found.to_owned()));
        assert_eq!(
            told(&asked, mountinfo),
            [
                row("/var/lib/mysql", "xfs", "xfs"),
                row("/fast", "tmpfs", "tmpfs"),
                row("/cache", "xfs, read-only", "xfs"),
                row("/www", "ext4, read-only", "ext4, read-only"),
                row("/x", "btrfs", "not mounted"),
                row("/run", "tmpfs", "tmpfs"),
                row("/tmp", "tmpfs, read-only", "tmpfs, read-only"),
            ]
        );
        unit.place = Place::Host;
        let known: Vec<String> =
            mounts_asked(&unit, &[], None, &MountTable::default(), Path::new("/")).into_iter().map(|m| m.kind).collect();
        assert_eq!(known, ["tmpfs"], "nothing is asked where the file system is not known, and container settings of containers only");
    }

    #[test]
    fn a_target_may_lead_elsewhere_by_links_of_the_image() {
        let mount = MountAsked { target: "/var/run/mysqld".into(), kind: "tmpfs".into(), read_only: false };
        let asked = Asked { mounts: vec![mount], ..Asked::default() };
        let mounts = MountTable::parse("69 45 0:52 / / rw - overlay overlay rw\n70 69 0:60 / /run/mysqld rw - tmpfs tmpfs rw");
        let row = &rows("db", &asked, Some(&mounts), "s", |path| Path::new("/run").join(path.strip_prefix("/var/run").expect("a link")))[0];
        assert_eq!((row.setting.as_str(), row.found.as_deref()), ("mount /var/run/mysqld", Some("tmpfs")));
    }

    #[test]
    fn a_data_root_is_on_the_deepest_mount_that_holds_it() {
        let own = std::process::id();
        let (table, _) = mounts(own).expect("our own");
        let kind = table.at(Path::new("/proc")).expect("proc").kind.clone();
        let row = backing("engine", own, Path::new("/proc/nothing/there"), "ext4");
        assert_eq!((row.found.as_deref(), row.differs()), (Some(kind.as_str()), true));
        assert_eq!(backing("engine", u32::MAX, Path::new("/"), "ext4").found, None);
    }
}
