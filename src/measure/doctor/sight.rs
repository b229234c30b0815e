//! One look at the host. The only file here that touches it.

use super::tools::TOOLS;
use crate::measure::host;
use crate::model::cgroup::CgroupLayout;
use crate::model::facts::HostFacts;
use flate2::read::GzDecoder;
use std::collections::BTreeMap;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long CPU time is looked at.
const LOOK: Duration = Duration::from_secs(1);
/// The pressure files, by what is waited for.
const PRESSURES: [&str; 3] = ["cpu", "io", "memory"];
/// Folders whose free space is told: images and loop files lie below the first, sockets and state of daemons below the second.
const SPACES: [&str; 2] = ["/var/lib", "/run"];
/// Searched after `PATH`: a user's own lacks the administrator's programs, and some daemons keep their helpers apart.
const MORE_FOLDERS: [&str; 5] = ["/usr/local/sbin", "/usr/sbin", "/sbin", "/usr/local/libexec/docker", "/usr/libexec/docker"];
/// A kernel configuration is a tenth of this; whatever is longer is none.
const LONGEST_CONFIG: u64 = 4 << 20;

/// What was seen of a host: texts of the kernel's files, none where a file is absent or not ours to read.
#[derive(Debug, Clone, Default)]
pub struct Sight {
    /// Stable facts.
    pub facts: HostFacts,
    /// Whether this process is root's.
    pub root: bool,
    /// Whether it may make control groups.
    pub may_make_groups: bool,
    /// `/proc/self/status`.
    pub status: Option<String>,
    /// `/proc/self/mountinfo`.
    pub mountinfo: Option<String>,
    /// `cgroup.controllers` at the root of version 2's tree.
    pub controllers: Option<String>,
    /// Every CPU's frequency governor.
    pub governors: Vec<String>,
    /// Intel's `no_turbo`: 1 when the clock is not raised.
    pub no_turbo: Option<String>,
    /// The other drivers' `boost`: 1 when the clock is raised.
    pub boost: Option<String>,
    /// Texts of `/proc/pressure/` by resource; a resource is absent where the kernel does not tell.
    pub pressure: BTreeMap<&'static str, String>,
    /// `modules.dep` of the running kernel: the modules that could be loaded.
    pub modules: Option<String>,
    /// The running kernel's configuration.
    pub config: Option<String>,
    /// Programs that were found, by name.
    pub programs: BTreeMap<&'static str, Program>,
    /// `/proc/loadavg`.
    pub loadavg: Option<String>,
    /// `/proc/meminfo`.
    pub meminfo: Option<String>,
    /// `/proc/stat` at the begin and at the end of a second in which we did nothing.
    pub stat: Option<(String, String)>,
    /// Every process that could be seen.
    pub processes: Vec<Process>,
    /// Free bytes for us below some folders; none where that could not be learned.
    pub space: Vec<(&'static str, Option<u64>)>,
}

/// A program of this host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Where it was found.
    pub path: PathBuf,
    /// Where that leads to when every link is followed.
    pub real: PathBuf,
}

/// A process of this host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// The kernel's name of it, at most 15 bytes.
    pub name: String,
    /// Its command line with blanks between the words; empty for the kernel's own.
    pub command: String,
}

impl Sight {
    /// Looks at this host; takes a second, in which it does nothing but wait. Whether we may make control groups is the caller's
    /// to say.
    #[must_use]
    pub fn look(may_make_groups: bool) -> Self {
        let before = text("/proc/stat");
        std::thread::sleep(LOOK);
        let stat = before.zip(text("/proc/stat"));
        let facts = host::facts();
        let mountinfo = text("/proc/self/mountinfo");
        let layout = CgroupLayout::from_mountinfo(mountinfo.as_deref().unwrap_or_default());
        let controllers =
            if layout.is_v2() { layout.dir("cgroup", "").and_then(|root| text(root.join("cgroup.controllers"))) } else { None };
        Self {
            root: rustix::process::geteuid().is_root(),
            may_make_groups,
            status: text("/proc/self/status"),
            mountinfo,
            controllers,
            governors: governors(),
            no_turbo: text("/sys/devices/system/cpu/intel_pstate/no_turbo"),
            boost: text("/sys/devices/system/cpu/cpufreq/boost"),
            pressure: PRESSURES.iter().filter_map(|name| Some((*name, text(Path::new("/proc/pressure").join(name))?))).collect(),
            modules: text(Path::new("/lib/modules").join(&facts.kernel).join("modules.dep")),
            config: config(&facts.kernel),
            programs: TOOLS.iter().flat_map(|tool| tool.programs).filter_map(|name| Some((*name, program(name)?))).collect(),
            loadavg: text("/proc/loadavg"),
            meminfo: text("/proc/meminfo"),
            stat,
            processes: processes(),
            space: SPACES.iter().map(|folder| (*folder, free(folder))).collect(),
            facts,
        }
    }
}

impl Sight {
    /// Whether a module could be loaded; none when the list of them is not readable.
    pub(super) fn has_module(&self, name: &str) -> Option<bool> {
        let file = format!("/{name}.ko");
        let lists = |line: &str| line.split(':').next().is_some_and(|path| path.contains(&file));
        self.modules.as_ref().map(|modules| modules.lines().any(lists))
    }
}

fn text(path: impl AsRef<Path>) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

fn entries(folder: &str) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    found.sort();
    found
}

fn governors() -> Vec<String> {
    let policies = entries("/sys/devices/system/cpu/cpufreq");
    policies.iter().filter_map(|policy| text(policy.join("scaling_governor"))).map(|name| name.trim().to_owned()).collect()
}

/// The configuration that the kernel carries, or the one that was installed beside it.
fn config(kernel: &str) -> Option<String> {
    let carried = std::fs::File::open("/proc/config.gz").ok().and_then(|file| {
        let mut config = String::new();
        GzDecoder::new(file).take(LONGEST_CONFIG).read_to_string(&mut config).ok().map(|_| config)
    });
    carried.or_else(|| text(format!("/boot/config-{kernel}")))
}

fn program(name: &str) -> Option<Program> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(MORE_FOLDERS.iter().map(PathBuf::from)).filter(|folder| folder.is_absolute());
    let runs = |path: &PathBuf| std::fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0);
    let path = folders.map(|folder| folder.join(name)).find(runs)?;
    Some(Program { real: std::fs::canonicalize(&path).unwrap_or_else(|_| path.clone()), path })
}

fn processes() -> Vec<Process> {
    let is_process = |path: &PathBuf| path.file_name().is_some_and(|name| name.as_encoded_bytes().iter().all(u8::is_ascii_digit));
    let process = |path: PathBuf| {
        let command = std::fs::read(path.join("cmdline")).unwrap_or_default();
        let command = String::from_utf8_lossy(&command).replace('\0', " ").trim_end().to_owned();
        Some(Process { name: text(path.join("comm"))?.trim_end().to_owned(), command })
    };
    entries("/proc").into_iter().filter(is_process).filter_map(process).collect()
}

fn free(folder: &str) -> Option<u64> {
    let numbers = rustix::fs::statvfs(folder).ok()?;
    Some(numbers.f_bavail.saturating_mul(numbers.f_frsize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_host_is_seen() {
        let sight = Sight::look(false);
        let (before, after) = sight.stat.as_ref().expect("two readings");
        assert!(before.starts_with("cpu ") && after.starts_with("cpu ") && before != after);
        assert!(sight.status.is_some() && sight.mountinfo.is_some() && sight.meminfo.is_some());
        assert!(sight.processes.iter().any(|process| process.command.contains("shakedown")), "{:?}", sight.processes);
        assert!(sight.programs["cp"].path.is_absolute() && sight.programs["cp"].real.is_file());
        assert!(sight.space.iter().all(|(_, free)| free.is_some()), "{:?}", sight.space);
    }

    #[test]
    fn what_is_no_program_is_not_found() {
        for name in ["no-such-program-of-ours", "../bin/no-such-program-of-ours"] {
            assert_eq!(program(name), None);
        }
    }
}
