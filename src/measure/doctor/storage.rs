//! Storage drivers of private daemons, and the file systems that can lie below them.
//!
//! Kernel and tools tell what should work; only a container started on a pair tells that it does (fuse-overlayfs fails no earlier).
//! [`findings`] therefore takes the answers from outside: [`known`] knows without trying, and whoever tries gives better ones.

use super::{Area, Finding, Sight, State, tools};

const AREA: Area = Area::Storage;

/// A file system below a daemon's data root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backing {
    /// In a loop file.
    Ext4,
    /// In a loop file.
    Xfs,
    /// In a loop file.
    Btrfs,
    /// In memory.
    Tmpfs,
}

impl Backing {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Ext4, Self::Xfs, Self::Btrfs, Self::Tmpfs];

    /// The kernel's name of it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ext4 => "ext4",
            Self::Xfs => "xfs",
            Self::Btrfs => "btrfs",
            Self::Tmpfs => "tmpfs",
        }
    }

    /// The program that makes one; none where a mount is enough.
    fn maker(self) -> Option<&'static str> {
        match self {
            Self::Ext4 => Some("mkfs.ext4"),
            Self::Xfs => Some("mkfs.xfs"),
            Self::Btrfs => Some("mkfs.btrfs"),
            Self::Tmpfs => None,
        }
    }
}

/// A storage driver of the Docker daemon.
#[derive(Debug, Clone, Copy)]
pub struct Driver {
    /// The daemon's name of it.
    pub name: &'static str,
    /// The file system of the kernel that it builds on; none when any will do.
    kernel: Option<&'static str>,
    /// Data roots that it takes.
    takes: &'static [Backing],
    /// The first major version of Docker without it (docs.docker.com, "Deprecated Docker Engine features").
    gone_since: Option<u32>,
}

const fn driver(name: &'static str, kernel: Option<&'static str>, takes: &'static [Backing], gone_since: Option<u32>) -> Driver {
    Driver { name, kernel, takes, gone_since }
}

/// Every driver that a daemon has or had.
pub const DRIVERS: &[Driver] = &[
    driver("overlay2", Some("overlay"), &Backing::ALL, None),
    driver("btrfs", Some("btrfs"), &[Backing::Btrfs], None),
    driver("vfs", None, &Backing::ALL, None),
    driver("fuse-overlayfs", Some("fuse"), &Backing::ALL, None),
    // It takes a pool of its own only, which we do not make.
    driver("zfs", Some("zfs"), &[], None),
    driver("devicemapper", None, &[Backing::Ext4, Backing::Xfs], Some(25)),
    driver("aufs", Some("aufs"), &[Backing::Ext4, Backing::Xfs], Some(24)),
    driver("overlay", Some("overlay"), &[Backing::Ext4, Backing::Xfs], Some(24)),
];

/// How it stands with a driver on a file system, and why when it is not fine.
pub type Answer = (State, String);

/// How it stands with every file system, and with every driver over those that it takes; `ask` answers for one pair.
pub fn findings(sight: &Sight, ask: &dyn Fn(&Driver, Backing) -> Answer) -> Vec<Finding> {
    let file_system = |backing: Backing| {
        let (state, why) = backing_stands(sight, backing);
        let detail = match (why.as_str(), backing) {
            ("", Backing::Tmpfs) => "in the kernel".to_owned(),
            ("", _) => "in the kernel, with its mkfs and loop devices".to_owned(),
            _ => why,
        };
        let next = backing.maker().filter(|maker| state == State::No && !sight.programs.contains_key(maker)).map(tools::next_step);
        let next = next.unwrap_or_default();
        AREA.finds(&format!("backing {}", backing.name()), state, detail, next)
    };
    let drivers = DRIVERS.iter().map(|driver| {
        if driver.takes.is_empty() {
            let (state, why) = file_system_stands(sight, driver.kernel.unwrap_or_default());
            let why = if why.is_empty() { "needs a pool of its own, which shakedown does not make".to_owned() } else { why };
            return AREA.finds(driver.name, state.max(State::Unobservable), why, "");
        }
        one_line(driver.name, driver.takes.iter().map(|backing| (backing.name(), ask(driver, *backing))).collect())
    });
    drivers.chain(Backing::ALL.into_iter().map(file_system)).collect()
}

/// A driver is as good as on the best of its file systems.
fn one_line(name: &str, answers: Vec<(&'static str, Answer)>) -> Finding {
    let best = answers.iter().map(|(_, (state, _))| *state).min().unwrap_or(State::No);
    let usable = |state: State| state == best && best <= State::Warn;
    let on: Vec<&str> = answers.iter().filter(|(_, (state, _))| usable(*state)).map(|(backing, _)| *backing).collect();
    // Each reason once, behind the file systems that it is about; behind none where it is about all that were named already.
    let mut told: Vec<(Vec<&str>, &str)> = Vec::new();
    for (backing, (state, why)) in answers.iter().filter(|(_, (_, why))| !why.is_empty()) {
        let whom = if usable(*state) { Vec::new() } else { vec![*backing] };
        match told.iter_mut().find(|(_, reason)| reason == why) {
            Some((backings, _)) => backings.extend(whom),
            None => told.push((whom, why)),
        }
    }
    let everywhere = told.len() == 1 && on.is_empty();
    let reasons = told.into_iter().map(|(backings, why)| match backings[..] {
        [] => why.to_owned(),
        _ if everywhere => why.to_owned(),
        _ => format!("{}: {why}", backings.join(", ")),
    });
    let good = (!on.is_empty()).then(|| format!("on {}", on.join(", ")));
    AREA.finds(name, best, good.into_iter().chain(reasons).collect::<Vec<_>>().join("; "), "")
}

/// What is known of a driver on a file system without trying it; `dockerd` is what `dockerd --version` printed.
#[must_use]
pub fn known(sight: &Sight, dockerd: Option<&str>, driver: &Driver, backing: Backing) -> Answer {
    if !driver.takes.contains(&backing) {
        return (State::No, format!("it does not take {}", backing.name()));
    }
    let own = [
        removal(driver, dockerd),
        driver.kernel.map_or((State::Ok, String::new()), |name| file_system_stands(sight, name)),
        program(sight, driver),
        backing_stands(sight, backing),
    ];
    // The first of the worst: that a driver is gone says more than what else it lacks.
    let worst = own.iter().map(|(state, _)| *state).max().unwrap_or(State::Ok);
    own.into_iter().find(|(state, _)| *state == worst).unwrap_or((State::Ok, String::new()))
}

fn removal(driver: &Driver, dockerd: Option<&str>) -> Answer {
    let Some(gone) = driver.gone_since else { return (State::Ok, String::new()) };
    match dockerd.and_then(major) {
        Some(major) if major < gone => (State::Warn, format!("deprecated, and removed in Docker {gone}.0")),
        Some(_) => (State::No, format!("removed in Docker {gone}.0: only an older `binary` has it")),
        None => (State::Unobservable, format!("removed in Docker {gone}.0, and no dockerd tells its version")),
    }
}

/// The major version in `Docker version 20.10.24+dfsg1, build 5d6db84`.
fn major(text: &str) -> Option<u32> {
    let version = text.split_whitespace().skip_while(|word| *word != "version").nth(1)?;
    version.split('.').next()?.parse().ok()
}

fn program(sight: &Sight, driver: &Driver) -> Answer {
    match driver.name {
        "fuse-overlayfs" if !sight.programs.contains_key("fuse-overlayfs") => {
            (State::No, "the program fuse-overlayfs is missing".to_owned())
        }
        "fuse-overlayfs" if !sight.fuse => (State::No, "`/dev/fuse` is missing".to_owned()),
        // Its own kernel part is no file system; the configuration tells of it.
        "devicemapper" => match super::network::option(sight.config.as_deref(), "CONFIG_BLK_DEV_DM") {
            None => (State::Unobservable, "the kernel's configuration is not readable".to_owned()),
            Some(None) => (State::No, "the kernel has no device mapper".to_owned()),
            Some(Some(_)) => (State::Ok, String::new()),
        },
        _ => (State::Ok, String::new()),
    }
}

fn backing_stands(sight: &Sight, backing: Backing) -> Answer {
    let (state, why) = file_system_stands(sight, backing.name());
    if state == State::No {
        return (state, why);
    }
    match backing.maker() {
        Some(maker) if !sight.programs.contains_key(maker) => (State::No, format!("`{maker}` is missing")),
        Some(_) if !sight.loop_control => (State::No, "`/dev/loop-control` is missing: no loop devices".to_owned()),
        _ => (state, why),
    }
}

/// Whether the kernel has a file system. One that is a module appears in the kernel's list only after its first use.
fn file_system_stands(sight: &Sight, name: &str) -> Answer {
    let Some(list) = &sight.filesystems else { return (State::Unobservable, "`/proc/filesystems` is not readable".to_owned()) };
    if list.lines().any(|line| line.split_whitespace().last() == Some(name)) || sight.has_module(name) == Some(true) {
        (State::Ok, String::new())
    } else if sight.loads_modules && sight.modules.is_none() {
        (State::Unobservable, format!("{name} is not in the kernel, and its list of modules is not readable"))
    } else {
        (State::No, format!("the kernel has no {name}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::doctor::Program;

    const FILE_SYSTEMS: &str = "nodev\tsysfs\nnodev\ttmpfs\n\text4\nnodev\toverlay\n\txfs\n\tbtrfs\nnodev\tfuse\n";
    const OLD: &str = "Docker version 20.10.24+dfsg1, build 5d6db84\n";
    const NEW: &str = "Docker version 28.2.2, build 1234567\n";

    fn sight() -> Sight {
        let program = |name: &'static str| (name, Program { path: name.into(), real: name.into() });
        Sight {
            filesystems: Some(FILE_SYSTEMS.to_owned()),
            loop_control: true,
            fuse: true,
            config: Some("# CONFIG_BLK_DEV_DM is not set\n".to_owned()),
            programs: ["mkfs.ext4", "mkfs.xfs", "mkfs.btrfs", "fuse-overlayfs"].map(program).into(),
            ..Sight::default()
        }
    }

    fn line(sight: &Sight, dockerd: Option<&str>, what: &str) -> (State, String) {
        let found = findings(sight, &|driver, backing| known(sight, dockerd, driver, backing));
        let finding = found.into_iter().find(|finding| finding.what == what).expect("a line");
        (finding.state, finding.detail)
    }

    #[test]
    fn drivers_stand_as_kernel_tools_and_version_say() {
        let whole = sight();
        let without = |change: &dyn Fn(&mut Sight)| {
            let mut sight = sight();
            change(&mut sight);
            sight
        };
        let no_overlay = without(&|sight| sight.filesystems = Some(FILE_SYSTEMS.replace("overlay", "x")));
        let modules = without(&|sight| {
            sight.filesystems = Some("nodev\ttmpfs\n".to_owned());
            (sight.loads_modules, sight.modules) =
                (true, Some("kernel/fs/overlayfs/overlay.ko.xz:\nkernel/fs/x.ko: kernel/xfs.ko\n".to_owned()));
        });
        let unlisted = without(&|sight| (sight.filesystems, sight.loads_modules) = (Some("nodev\ttmpfs\n".to_owned()), true));
        let no_loops = without(&|sight| sight.loop_control = false);
        let no_mkfs = without(&|sight| sight.programs.retain(|name, _| *name != "mkfs.btrfs"));
        let mapper = without(&|sight| sight.config = Some("CONFIG_BLK_DEV_DM=m\n".to_owned()));
        let no_config = without(&|sight| sight.config = None);
        let no_fuse = without(&|sight| sight.fuse = false);
        let table = [
            (&whole, OLD, "overlay2", State::Ok, "on ext4, xfs, btrfs, tmpfs"),
            (&no_loops, OLD, "overlay2", State::Ok, "on tmpfs; ext4, xfs, btrfs: `/dev/loop-control` is missing: no loop devices"),
            (&no_overlay, OLD, "overlay2", State::No, "the kernel has no overlay"),
            (
                &modules,
                OLD,
                "overlay2",
                State::Ok,
                "on tmpfs; ext4: the kernel has no ext4; xfs: the kernel has no xfs; btrfs: the kernel has no btrfs",
            ),
            (&no_mkfs, OLD, "overlay2", State::Ok, "on ext4, xfs, tmpfs; btrfs: `mkfs.btrfs` is missing"),
            (&unlisted, OLD, "overlay2", State::Unobservable, "overlay is not in the kernel, and its list of modules is not readable"),
            (&Sight::default(), OLD, "backing tmpfs", State::Unobservable, "`/proc/filesystems` is not readable"),
            (&whole, OLD, "btrfs", State::Ok, "on btrfs"),
            (&no_mkfs, OLD, "btrfs", State::No, "`mkfs.btrfs` is missing"),
            (&no_overlay, OLD, "vfs", State::Ok, "on ext4, xfs, btrfs, tmpfs"),
            (&whole, OLD, "zfs", State::No, "the kernel has no zfs"),
            (&no_fuse, OLD, "fuse-overlayfs", State::No, "`/dev/fuse` is missing"),
            (&whole, OLD, "devicemapper", State::No, "the kernel has no device mapper"),
            (&mapper, OLD, "devicemapper", State::Warn, "on ext4, xfs; deprecated, and removed in Docker 25.0"),
            (&no_config, OLD, "devicemapper", State::Unobservable, "the kernel's configuration is not readable"),
            (&mapper, NEW, "devicemapper", State::No, "removed in Docker 25.0: only an older `binary` has it"),
            (&whole, OLD, "overlay", State::Warn, "on ext4, xfs; deprecated, and removed in Docker 24.0"),
            (&whole, NEW, "overlay", State::No, "removed in Docker 24.0: only an older `binary` has it"),
            (&whole, "?", "overlay", State::Unobservable, "removed in Docker 24.0, and no dockerd tells its version"),
            (&whole, OLD, "aufs", State::No, "the kernel has no aufs"),
            (&no_loops, OLD, "backing xfs", State::No, "`/dev/loop-control` is missing: no loop devices"),
            (&whole, OLD, "backing xfs", State::Ok, "in the kernel, with its mkfs and loop devices"),
        ];
        for (sight, dockerd, what, state, detail) in table {
            assert_eq!(line(sight, Some(dockerd), what), (state, detail.to_owned()), "{what}");
        }
        let zfs = without(&|sight| sight.filesystems = Some("\tzfs\n".to_owned()));
        assert_eq!(line(&zfs, None, "zfs").0, State::Unobservable, "a kernel with zfs is no pool yet");
    }

    #[test]
    fn a_better_answer_replaces_what_is_known() {
        let tried = |driver: &Driver, backing: Backing| match (driver.name, backing) {
            ("overlay2", Backing::Xfs) => (State::Ok, String::new()),
            _ => (State::No, "the container did not start".to_owned()),
        };
        let found = findings(&sight(), &tried);
        let expected = "on xfs; ext4, btrfs, tmpfs: the container did not start";
        assert_eq!((found[0].state, found[0].detail.as_str()), (State::Ok, expected));
        assert_eq!((found[1].state, found[1].detail.as_str()), (State::No, "the container did not start"));
        assert_eq!(known(&sight(), None, &DRIVERS[1], Backing::Tmpfs), (State::No, "it does not take tmpfs".to_owned()));
    }
}
