//! What every trial of a run reads of the host.

use super::hardware::Hardware;
use super::log::KernelLog;
use super::moment::{DiskMoment, Host};
use crate::measure::samplers::held::{Buffer, Held};
use crate::measure::samplers::source::diskstats::{self, Number};
use crate::measure::samplers::source::group_cpu::usage_ns;
use crate::measure::samplers::source::group_io::Moved;
use crate::measure::samplers::source::pressure::{Waiting, total_us};
use crate::measure::samplers::source::stat::Stat;
use crate::measure::samplers::source::vmstat;
use crate::model::cgroup::CgroupLayout;
use rustix::time::{ClockId, clock_gettime};
use std::path::Path;
use std::time::Duration;

/// Block devices that lie in memory or in files of others.
const UNREAL: [&str; 4] = ["loop", "ram", "zram", "nbd"];

/// Where the kernel lists block devices, without partitions.
pub(in crate::measure::samplers) const BLOCK_DEVICES: &str = "/sys/block";

/// The host's files.
#[derive(Debug)]
pub(super) struct HostFiles {
    stat: Option<Held>,
    tasks: Option<Held>,
    memory: Option<Held>,
    io: Option<Held>,
    vmstat: Option<Held>,
    diskstats: Option<Held>,
    disks: Vec<Number>,
    charges_writes: bool,
    hardware: Hardware,
    log: Option<KernelLog>,
    /// How often CPUs had slowed themselves when the trial was prepared.
    throttles: Option<u64>,
}

impl HostFiles {
    pub(super) fn open(layout: &CgroupLayout) -> Self {
        Self {
            stat: Held::open("/proc/stat"),
            tasks: all_tasks(layout),
            memory: Held::open("/proc/pressure/memory"),
            io: Held::open("/proc/pressure/io"),
            vmstat: Held::open("/proc/vmstat"),
            diskstats: Held::open("/proc/diskstats"),
            disks: real_disks(Path::new(BLOCK_DEVICES)),
            charges_writes: layout.is_v2(),
            hardware: Hardware::find(Path::new("/sys/devices/system/cpu")),
            log: KernelLog::open(),
            throttles: None,
        }
    }

    /// The disks whose bytes count.
    pub(super) fn disks(&self) -> &[Number] {
        &self.disks
    }

    /// What takes long is read before the window opens; and what the kernel said before that is not the trial's.
    pub(super) fn prepare(&mut self, buffer: &mut Buffer) {
        self.throttles = self.hardware.throttles();
        if let Some(log) = &mut self.log {
            log.complaints(buffer);
        }
    }

    /// CPU time of all tasks first: the groups' are read right after it.
    pub(super) fn tasks_ns(&self, buffer: &mut Buffer) -> Option<u64> {
        self.tasks.as_ref()?.read(buffer, usage_ns)
    }

    /// The rest; `is_last` reads what would disturb in the window.
    pub(super) fn read(&mut self, buffer: &mut Buffer, is_last: bool) -> Host {
        let full = |text: &str| total_us(text, Waiting::Full);
        let (disks, hardware) = (&self.disks, &self.hardware);
        let listed = |text: &str| {
            let disk = |disk: diskstats::Disk<'_>| DiskMoment {
                name: disk.name.to_owned(),
                moved: Moved { read: disk.read, written: disk.written },
                busy_ms: disk.busy_ms,
            };
            Some(diskstats::disks(text, disks).map(disk).collect::<Vec<_>>()).filter(|disks| !disks.is_empty())
        };
        Host {
            stat: self.stat.as_ref().and_then(|file| file.read(buffer, Stat::parse)),
            tasks_ns: None,
            own: own_cpu(),
            memory_full_us: self.memory.as_ref().and_then(|file| file.read(buffer, full)),
            io_full_us: self.io.as_ref().and_then(|file| file.read(buffer, full)),
            swapped: self.vmstat.as_ref().and_then(|file| file.read(buffer, vmstat::swapped)),
            disks: self.diskstats.as_ref().and_then(|file| file.read(buffer, listed)),
            charges_writes: self.charges_writes,
            throttles: if is_last { hardware.throttles() } else { self.throttles },
            governors: hardware.governors().filter(|_| is_last),
            clock_rate: if is_last { hardware.clock_rate() } else { None },
            complaints: self.log.as_mut().map(|log| log.complaints(buffer)),
        }
    }
}

/// The counter of all tasks of the host. In a container's view the root of the hierarchy is the container's own group, and that has
/// no such file as only the real root has.
pub(in crate::measure::samplers) fn all_tasks(layout: &CgroupLayout) -> Option<Held> {
    let root = layout.dir("cpuacct", "").filter(|root| !layout.is_v2() && root.join("cgroup.sane_behavior").exists())?;
    Held::open(root.join("cpuacct.usage"))
}

/// CPU time of this process, all its threads and not its children, in nanoseconds: the clock that groups count by, too.
pub(in crate::measure::samplers) fn own_cpu() -> Duration {
    clock(ClockId::ProcessCPUTime)
}

/// A clock of the kernel that never steps back.
pub(in crate::measure::samplers) fn clock(id: ClockId) -> Duration {
    let now = clock_gettime(id);
    Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap_or(0))
}

/// The disks that nothing lies under: bytes of a mapping or of a loop device are moved by those.
pub(in crate::measure::samplers) fn real_disks(folder: &Path) -> Vec<Number> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let number = |entry: std::fs::DirEntry| {
        let (path, name) = (entry.path(), entry.file_name());
        let is_unreal = UNREAL.iter().any(|prefix| name.to_string_lossy().starts_with(prefix));
        let lies_on_others = || std::fs::read_dir(path.join("slaves")).is_ok_and(|mut slaves| slaves.next().is_some());
        if is_unreal || lies_on_others() { None } else { Number::parse(&std::fs::read_to_string(path.join("dev")).ok()?) }
    };
    entries.filter_map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_disks_with_nothing_under_them_count() {
        let root = tempfile::tempdir().expect("folder");
        for (name, number) in [("vda", "254:0\n"), ("loop0", "7:0\n"), ("zram0", "253:0\n"), ("dm-0", "252:0\n"), ("sr0", "")] {
            std::fs::create_dir_all(root.path().join(name).join("slaves")).expect("folder");
            std::fs::write(root.path().join(name).join("dev"), number).expect("write");
        }
        std::fs::create_dir(root.path().join("dm-0/slaves/vda")).expect("folder");
        assert_eq!(real_disks(root.path()), [Number { major: 254, minor: 0 }]);
        assert_eq!(real_disks(&root.path().join("none")), []);
    }
}
