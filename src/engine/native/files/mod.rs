//! Files and mounts that only one unit sees: a list of steps, made ready here and carried out by the child in its own mount
//! namespace.
//!
//! A target that exists is covered by a bind mount. For one that does not, the deepest folder that exists is covered by an
//! overlay whose upper layer holds the file, or the place to mount on (or, without overlayfs, by a shell: a folder of binds of
//! the neighbours); what the unit writes there is its own as well. Below `/` itself a shell becomes the new root. What lies
//! inside another mount comes after it. The host's files are never touched and nothing has to be removed: all of it ends with
//! the namespace.

mod cover;
mod host;
mod placement;

pub(super) use host::{ThisHost, mount_points};
pub(super) use placement::{Placement, Source, Thing};

use cover::Covers;
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
    Memory { options: CString, to: CString },
    Overlay { options: CString, to: CString },
    ReadOnly(CString),
    Root(CString),
}

/// What the plan needs to know of the host.
pub(super) trait Host {
    fn is_folder(&self, path: &Path) -> bool;
    fn exists(&self, path: &Path) -> bool;
    fn is_link(&self, path: &Path) -> bool;
    /// The same place by a path whose folders, as far as they exist, are no links.
    fn resolve(&self, path: &Path) -> PathBuf;
    /// Names in a folder: folders and files, and links with where they point.
    fn entries(&self, folder: &Path) -> Vec<(OsString, Entry)>;
    /// Mount points strictly below a folder, each before those inside it.
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

/// What the child does, and what comes of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Plan {
    pub steps: Vec<Step>,
    /// Where each placement stands: its target, unless that leads through links.
    pub points: Vec<PathBuf>,
}

/// The steps that make the placements appear, or why they cannot.
pub(super) fn plan(placements: &[Placement<'_>], host: &dyn Host) -> Result<Plan, String> {
    let placed = placement::locate(placements, host)?;
    let mut covers = Covers::new(host);
    // Before anything is covered: what is mounted may itself lie below a folder that will be.
    for one in &placed {
        covers.fetch(one)?;
    }
    let (inner, outer): (Vec<_>, Vec<_>) = placed.iter().partition(|one| one.inner);
    let root = Path::new("/");
    let mut missing: BTreeMap<&Path, Vec<_>> = BTreeMap::new();
    for one in &outer {
        if let Some(folder) = &one.missing_below {
            missing.entry(folder).or_default().push(*one);
        }
    }
    let mut covered: BTreeSet<PathBuf> = BTreeSet::new();
    // Deepest first: an outer cover then takes the inner one along as it takes every other mount.
    for (folder, group) in missing.iter().rev().filter(|(folder, _)| **folder != root) {
        covers.make_room(folder, group, &covered)?;
        covered.insert(folder.to_path_buf());
    }
    for one in outer.iter().filter(|one| one.missing_below.as_deref() != Some(root)) {
        covers.lay(one, &one.at)?;
    }
    if let Some(group) = missing.get(root) {
        covers.new_root(group)?;
    }
    for one in &inner {
        covers.lay_inside(one)?;
    }
    let steps = covers.finish(&placed)?;
    let mut points = vec![PathBuf::new(); placed.len()];
    for one in placed {
        points[one.number] = one.at;
    }
    Ok(Plan { steps, points })
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
            ["/", "/etc", "/etc/nginx", "/var", "/run", "/host", "/host/sub", "/vol", "/vol/sub", "/seed", "/seed/sub"]
                .contains(&path.to_str().unwrap())
        }
        fn exists(&self, path: &Path) -> bool {
            self.is_folder(path) || ["/etc/hosts", "/host/one", "/host/sub/two", "/vol/one"].contains(&path.to_str().unwrap())
        }
        fn is_link(&self, path: &Path) -> bool {
            path == Path::new("/vol/link")
        }
        fn resolve(&self, path: &Path) -> PathBuf {
            path.strip_prefix("/var/run").map_or(path.to_path_buf(), |inside| Path::new("/run").join(inside))
        }
        fn entries(&self, folder: &Path) -> Vec<(OsString, Entry)> {
            match folder.to_str().unwrap() {
                "/" => vec![("etc".into(), Entry::Folder), ("bin".into(), Entry::Link("usr/bin".into())), ("init".into(), Entry::Other)],
                _ => vec![("hosts".into(), Entry::Other)],
            }
        }
        fn mounts_below(&self, folder: &Path) -> Vec<PathBuf> {
            match folder.to_str().unwrap() {
                "/etc" => vec!["/etc/keys".into(), "/etc/keys/deeper".into()],
                "/host" => vec!["/host/sub".into(), "/host/sub/deeper".into()],
                _ => Vec::new(),
            }
        }
        fn has_overlay(&self) -> bool {
            self.overlay
        }
        fn owner(&self, folder: &Path) -> Option<(u32, u32, u32)> {
            (folder == Path::new("/etc/nginx")).then_some((0o750, 0, 33))
        }
    }

    fn text(target: &str) -> Placement<'static> {
        Placement { target: target.into(), thing: Thing::Text { content: "x", mode: 0o600 } }
    }

    fn layer(from: &str, target: &str) -> Placement<'static> {
        Placement { target: target.into(), thing: Thing::Layer(from.into()) }
    }

    /// A bind of the user's, or with `ours` a volume.
    fn mount(from: &str, target: &str, ours: bool) -> Placement<'static> {
        let source = if from.ends_with("one") { Source::File(from.into()) } else { Source::Folder(from.into()) };
        Placement { target: target.into(), thing: Thing::Mount { source, read_only: false, ours } }
    }

    fn read_only(mut placement: Placement<'static>) -> Placement<'static> {
        if let Thing::Mount { read_only, .. } = &mut placement.thing {
            *read_only = true;
        }
        placement
    }

    fn told(placements: &[Placement<'_>], overlay: bool) -> Result<Vec<String>, String> {
        let s = |text: &CString| text.to_str().unwrap().to_owned();
        let plan = plan(placements, &Paper { overlay })?;
        let tell = |step: &Step| match step {
            Step::Folder(path) => format!("mkdir {}", s(path)),
            Step::Own { path, mode, uid, gid } => format!("own {} {mode:o} {uid}:{gid}", s(path)),
            Step::Write { path, content, .. } => format!("write {} {}", s(path), content.len()),
            Step::Link { to, path } => format!("link {} -> {}", s(path), s(to)),
            Step::Bind { from, to } => format!("bind {} on {}", s(from), s(to)),
            Step::Memory { options, to } => format!("memory {} on {}", s(options), s(to)),
            Step::Overlay { options, to } => format!("overlay {} on {}", s(options), s(to)),
            Step::ReadOnly(path) => format!("read-only {}", s(path)),
            Step::Root(path) => format!("root {}", s(path)),
        };
        Ok(plan.steps.iter().map(tell).collect())
    }

    #[test]
    fn an_existing_target_is_covered() {
        assert_eq!(told(&[text("/etc/hosts")], true).unwrap(), ["write file0 1", "bind file0 on /etc/hosts"]);
        assert_eq!(told(&[], true).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn overlays_show_the_mounts_below_again() {
        let expected = [
            "mkdir upper0",
            "mkdir work0",
            "mkdir old0",
            "bind /etc/nginx on old0",
            "own upper0 750 0:33",
            "write upper0/new.conf 1",
            "overlay lowerdir=old0,upperdir=upper0,workdir=work0 on /etc/nginx",
            "mkdir upper1",
            "mkdir work1",
            "mkdir old1",
            "bind /etc on old1",
            "mkdir upper1/a",
            "mkdir upper1/a/b",
            "write upper1/a/b/c 1",
            "overlay lowerdir=old1,upperdir=upper1,workdir=work1 on /etc",
            "bind old1/keys on /etc/keys",
            "bind old1/nginx on /etc/nginx",
        ];
        assert_eq!(told(&[text("/etc/a/b/c"), text("/etc/nginx/new.conf")], true).unwrap(), expected);
    }

    #[test]
    fn shells_bind_the_neighbours() {
        let expected =
            ["mkdir shell0", "write shell0/hosts 0", "bind /etc/hosts on shell0/hosts", "write shell0/new 1", "bind shell0 on /etc"];
        assert_eq!(told(&[text("/etc/new")], false).unwrap(), expected);
    }

    #[test]
    fn below_the_root_a_shell_becomes_the_root() {
        let expected = [
            "mkdir source2",
            "bind /vol on source2",
            "write file0 1",
            "bind file0 on /etc/hosts",
            "mkdir root",
            "mkdir root/etc",
            "bind /etc on root/etc",
            "link root/bin -> usr/bin",
            "write root/init 0",
            "bind /init on root/init",
            "mkdir root/data",
            "mkdir root/srv2",
            "write root/srv2/x 1",
            "bind source2 on root/data",
            "write root/data/new 1",
            "root root",
        ];
        let all = [text("/srv2/x"), text("/etc/hosts"), mount("/vol", "/data", true), text("/data/new")];
        assert_eq!(told(&all, true).unwrap(), expected);
    }

    #[test]
    fn mounts_are_taken_before_anything_is_covered() {
        let memory = Thing::Mount { source: Source::Memory(Some(4096)), read_only: false, ours: true };
        let expected = [
            "mkdir source0",
            "bind /etc on source0",
            "mkdir source2",
            "memory mode=1777,size=4096 on source2",
            "write source1 0",
            "bind /host/one on source1",
            "mkdir upper0",
            "mkdir work0",
            "mkdir old0",
            "bind /etc/nginx on old0",
            "own upper0 750 0:33",
            "write upper0/one 0",
            "overlay lowerdir=old0,upperdir=upper0,workdir=work0 on /etc/nginx",
            "bind source0 on /var",
            "bind source2 on /run",
            "bind source1 on /etc/nginx/one",
        ];
        let all =
            [mount("/etc", "/var", false), mount("/host/one", "/etc/nginx/one", false), Placement { target: "/run".into(), thing: memory }];
        assert_eq!(told(&all, true).unwrap(), expected);
    }

    #[test]
    fn what_lies_inside_another_mount_comes_after_it() {
        // Missing in a volume it is made there; what is there is covered; in what belongs to the user nothing is made.
        let expected = [
            "mkdir source0",
            "bind /vol on source0",
            "mkdir source1",
            "bind /host on source1",
            "bind source0 on /var",
            "mkdir /var/a",
            "mkdir /var/a/b",
            "bind source1 on /var/a/b",
            "write file0 1",
            "bind file0 on /var/a/b/one",
        ];
        let all = [mount("/vol", "/var", true), mount("/host", "/var/a/b", false), text("/var/a/b/one")];
        assert_eq!(told(&all, true).unwrap(), expected);
        let refused = [
            (text("/run/x"), "`/run/x` lies in the mount at `/run`, and is not there: make it in what is mounted"),
            (text("/run/one/x"), "`/run/one/x` leads through `/host/one`, which is a file"),
            (text("/run/sub"), "`/run/sub` is a folder"),
            (text("/var/link/x"), "`/var/link/x` leads through the link `/vol/link`"),
            (text("/run"), "`/run` is a folder"),
            (mount("/seed", "/run/one", true), "`/run/one` is not a folder"),
        ];
        for (bad, why) in refused {
            let all = [mount("/host", "/run", false), mount("/vol", "/var", true), bad];
            assert_eq!(told(&all, true), Err(why.to_owned()));
        }
        let twice = [mount("/host", "/run", false), mount("/vol", "/var/run", true)];
        assert_eq!(told(&twice, true), Err("two things are placed at `/var/run`".to_owned()));
    }

    #[test]
    fn a_layer_shows_what_stood_there_and_takes_files() {
        let expected = [
            "mkdir source0",
            "bind /seed on source0",
            "mkdir upper0",
            "mkdir work0",
            "mkdir old0",
            "bind /etc on old0",
            "overlay lowerdir=source0:old0,upperdir=upper0,workdir=work0 on /etc",
            "bind old0/keys on /etc/keys",
            "write file0 1",
            "bind file0 on /etc/hosts",
            "write /etc/sub/new 1",
        ];
        assert_eq!(told(&[layer("/seed", "/etc"), text("/etc/hosts"), text("/etc/sub/new")], true).unwrap(), expected);
        let missing = told(&[layer("/seed", "/run/app")], true).unwrap();
        assert_eq!(missing.last().unwrap(), "overlay lowerdir=source0,upperdir=upper1,workdir=work1 on /run/app");
        assert!(told(&[layer("/seed", "/run")], false).is_err_and(|why| why.contains("overlayfs")));
    }

    #[test]
    fn rights_are_taken_from_every_mount_of_the_users_and_at_last_from_ours() {
        let all = [read_only(mount("/host", "/var", false)), read_only(mount("/vol", "/etc", true)), text("/etc/new")];
        let expected = [
            "bind source0 on /var",
            "read-only /var",
            "read-only /var/sub",
            "read-only /var/sub/deeper",
            "bind source1 on /etc",
            "write /etc/new 1",
            "read-only /etc",
        ];
        assert_eq!(told(&all, true).unwrap()[4..], expected);
    }

    #[test]
    fn links_above_a_target_are_followed() {
        let found = plan(&[text("/var/run/app/x"), text("/etc/hosts")], &Paper { overlay: true }).unwrap();
        assert_eq!(found.points, [PathBuf::from("/run/app/x"), PathBuf::from("/etc/hosts")]);
    }

    #[test]
    fn what_cannot_be_placed_is_refused() {
        let table =
            [text("/etc"), text("relative"), text("/etc/../x"), text("/a\0b"), mount("/vol", "/", true), layer("/seed", "/etc/hosts")];
        for bad in table {
            assert!(told(std::slice::from_ref(&bad), true).is_err(), "{bad:?}");
        }
    }
}
