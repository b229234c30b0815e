//! The child's side between fork and exec: it prepares itself, says so, waits for the start, stamps it and executes.
//!
//! Everything is allocated before the fork; here are system calls only, because another thread may hold any lock of the
//! copied process.

use super::files::Step;
use super::setting::Setting;
use rustix::fs::{Mode, OFlags, StatVfsMountFlags};
use rustix::mount::{MountFlags, MountPropagationFlags, UnmountFlags};
use rustix::process::{Resource, Signal};
use rustix::{fs, io, mount, process, thread, time};
use std::ffi::CString;
use std::os::fd::{AsFd, OwnedFd};

/// What the child has to do before it executes, all of it ready made.
#[derive(Debug)]
pub(super) struct Preparation {
    /// What it has in common with other processes of its unit.
    pub setting: std::sync::Arc<Setting>,
    /// What it sees of the host.
    pub view: View,
    /// The signals between child and engine.
    pub line: std::sync::Arc<Line>,
    /// The engine's process.
    pub parent: process::Pid,
}

/// What a process sees of the host's files.
#[derive(Debug)]
pub(super) enum View {
    /// All of it, as we do.
    Host,
    /// A view of its own: where to mount the scratch, and what to do there.
    Own(CString, Vec<Step>),
    /// That of another process: its mount namespace, and its root in it.
    Joined { mounts: OwnedFd, root: OwnedFd },
}

/// Three counters (eventfd) shared by the engine and the child.
#[derive(Debug)]
pub(super) struct Line {
    /// The child adds [`READY`], or the stage that failed; the engine's thread adds [`NO_CHILD`] when all is over.
    pub ready: OwnedFd,
    /// The engine adds 1 to let the child go.
    pub release: OwnedFd,
    /// The child adds its start stamp in nanoseconds of the monotonic clock; never blocks.
    pub stamp: OwnedFd,
}

pub(super) const READY: u64 = 1;
pub(super) const NO_CHILD: u64 = 1 << 32;

/// Where a preparation can fail; the number travels through [`Line::ready`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    Session = 2,
    Files = 3,
    Cgroup = 4,
    Folder = 5,
    User = 6,
}

impl Line {
    pub(super) fn new() -> io::Result<Self> {
        use rustix::event::{EventfdFlags, eventfd};
        Ok(Self {
            ready: eventfd(0, EventfdFlags::CLOEXEC)?,
            release: eventfd(0, EventfdFlags::CLOEXEC)?,
            stamp: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?,
        })
    }
}

/// Adds to a counter.
pub(super) fn signal(counter: &OwnedFd, value: u64) -> io::Result<()> {
    io::write(counter, &value.to_ne_bytes()).map(drop)
}

/// Takes a counter's value; waits for one unless the counter never blocks.
pub(super) fn take(counter: &OwnedFd) -> io::Result<u64> {
    let mut bytes = [0; 8];
    io::retry_on_intr(|| io::read(counter, &mut bytes))?;
    Ok(u64::from_ne_bytes(bytes))
}

/// Takes a counter's value as soon as there is one; none when there is none for so long.
pub(super) fn take_within(counter: &OwnedFd, patience: std::time::Duration) -> io::Result<Option<u64>> {
    use rustix::event::{PollFd, PollFlags, poll};
    let patience = rustix::event::Timespec::try_from(patience).map_err(|_| io::Errno::INVAL)?;
    let there = io::retry_on_intr(|| poll(&mut [PollFd::new(counter, PollFlags::IN)], Some(&patience)))?;
    if there == 0 { Ok(None) } else { take(counter).map(Some) }
}

/// Nanoseconds of the monotonic clock.
pub(super) fn now_ns() -> u64 {
    let now = time::clock_gettime(time::ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Everything between fork and exec.
pub(super) fn prepare(preparation: &Preparation) -> io::Result<()> {
    if let Err((stage, error)) = stages(preparation) {
        signal(&preparation.line.ready, stage as u64)?;
        return Err(error);
    }
    signal(&preparation.line.ready, READY)?;
    take(&preparation.line.release)?;
    signal(&preparation.line.stamp, now_ns())
}

fn stages(preparation: &Preparation) -> Result<(), (Stage, io::Errno)> {
    let at = |stage| move |error| (stage, error);
    process::setsid().map_err(at(Stage::Session))?;
    process::umask(Mode::from_raw_mode(0o022));
    // Before the control groups, whose own CPUs come last; before the change of user, which takes the right to it; and before
    // the files, which may hide `/proc`.
    let setting = &preparation.setting;
    setting.fresh.apply();
    if let Some(namespace) = &setting.namespace {
        thread::move_into_link_name_space(namespace.as_fd(), Some(thread::LinkNameSpaceType::Network)).map_err(at(Stage::Session))?;
    }
    // Not in the unit's cgroup yet: the unit's memory peak does not hold its files.
    match &preparation.view {
        View::Host => Ok(()),
        View::Own(scratch, steps) => place(scratch, steps),
        View::Joined { mounts, root } => join(mounts, root),
    }
    .map_err(at(Stage::Files))?;
    for path in &setting.cgroups {
        enter(path).map_err(at(Stage::Cgroup))?;
    }
    process::chdir(&setting.folder).map_err(at(Stage::Folder))?;
    if let Some(identity) = &setting.identity {
        thread::set_thread_groups(&[identity.gid]).map_err(at(Stage::User))?;
        thread::set_thread_res_gid(identity.gid, identity.gid, identity.gid).map_err(at(Stage::User))?;
        thread::set_thread_res_uid(identity.uid, identity.uid, identity.uid).map_err(at(Stage::User))?;
    }
    // After the change of user, which would clear it: nothing may wait for a start that a dead engine never gives.
    process::set_parent_process_death_signal(Some(Signal::KILL)).map_err(at(Stage::Session))?;
    // An engine that died before that moment kills nobody: what is not its child any more must not wait either, with copies of
    // the locks that say that its run is alive.
    if process::getppid() != Some(preparation.parent) {
        return Err((Stage::Session, io::Errno::SRCH));
    }
    // No core files of a measured program in whatever folder it runs in.
    let mut core = process::getrlimit(Resource::Core);
    core.current = Some(0);
    process::setrlimit(Resource::Core, core).map_err(at(Stage::Session))
}

/// Joins one control group.
fn enter(path: &CString) -> io::Result<()> {
    let file = fs::open(path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    io::write(&file, b"0").map(drop)
}

/// Sees what another process sees. Its root may be another one than its namespace's, into which the first call leads.
fn join(mounts: &OwnedFd, root: &OwnedFd) -> io::Result<()> {
    thread::move_into_link_name_space(mounts.as_fd(), Some(thread::LinkNameSpaceType::Mount))?;
    process::fchdir(root)?;
    process::chroot(c".")
}

/// Carries the steps out in a mount namespace of our own.
fn place(scratch: &CString, steps: &[Step]) -> io::Result<()> {
    #[expect(unsafe_code, reason = "rustix has no safe form of unshare")]
    // SAFETY: only the mount namespace (and the file system attributes that it implies) is parted; the table of open files,
    // which the function's contract is about, stays as it is, and this process has one thread.
    unsafe {
        thread::unshare_unsafe(thread::UnshareFlags::NEWNS)?;
    }
    mount::mount_change(c"/", MountPropagationFlags::REC | MountPropagationFlags::PRIVATE)?;
    mount::mount(c"shakedown", scratch, c"tmpfs", MountFlags::NODEV | MountFlags::NOSUID, c"mode=755")?;
    // From here on by relative paths: a cover may hide where the scratch is mounted.
    process::chdir(scratch)?;
    steps.iter().try_for_each(perform)?;
    // The covers hold what they need; the scratch itself is nobody's business.
    match steps.last() {
        Some(Step::Root(_)) => Ok(()),
        _ => mount::unmount(c".", UnmountFlags::DETACH),
    }
}

fn perform(step: &Step) -> io::Result<()> {
    match step {
        Step::Folder(path) => match fs::mkdir(path, Mode::from_raw_mode(0o755)) {
            Err(io::Errno::EXIST) => Ok(()),
            result => result,
        },
        Step::Own { path, mode, uid, gid } => {
            fs::chown(path, Some(process::Uid::from_raw(*uid)), Some(process::Gid::from_raw(*gid)))?;
            fs::chmod(path, Mode::from_raw_mode(*mode))
        }
        Step::Write { path, content, mode } => {
            // A link there could lead to a file of the host.
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::CLOEXEC | OFlags::NOFOLLOW;
            let file = fs::open(path, flags, Mode::from_raw_mode(0o600))?;
            let mut rest = content.as_slice();
            while !rest.is_empty() {
                rest = &rest[io::write(&file, rest)?..];
            }
            fs::fchmod(&file, Mode::from_raw_mode(*mode))
        }
        Step::Link { to, path } => fs::symlink(to, path),
        Step::Bind { from, to } => mount::mount_bind_recursive(from, to),
        Step::Memory { options, to } => {
            // With the flags that engines give it.
            let flags = MountFlags::NODEV | MountFlags::NOSUID | MountFlags::NOEXEC;
            mount::mount(c"shakedown", to, c"tmpfs", flags, options.as_c_str())
        }
        Step::Overlay { options, to } => mount::mount(c"shakedown", to, c"overlay", MountFlags::empty(), options.as_c_str()),
        Step::ReadOnly(path) => read_only(path),
        Step::Root(path) => change_root(path),
    }
}

/// Takes the right to write from one mount; what else it forbids stays forbidden, which the kernel would forget.
fn read_only(path: &CString) -> io::Result<()> {
    let now = fs::statvfs(path)?.f_flag;
    let pairs = [
        (StatVfsMountFlags::NODEV, MountFlags::NODEV),
        (StatVfsMountFlags::NOSUID, MountFlags::NOSUID),
        (StatVfsMountFlags::NOEXEC, MountFlags::NOEXEC),
    ];
    let kept = pairs.into_iter().filter(|(told, _)| now.contains(*told)).fold(MountFlags::empty(), |all, (_, flag)| all | flag);
    mount::mount_remount(path, kept | MountFlags::BIND | MountFlags::RDONLY, c"")
}

/// Makes `path` the root; by chroot where the present root is the kernel's first one, which cannot be left.
fn change_root(path: &CString) -> io::Result<()> {
    mount::mount_bind_recursive(path, path)?;
    process::chdir(path)?;
    if process::pivot_root(c".", c".").is_ok() {
        // The old root now lies over the new one at the same place.
        mount::unmount(c".", UnmountFlags::DETACH)
    } else {
        process::chroot(c".")
    }
}
