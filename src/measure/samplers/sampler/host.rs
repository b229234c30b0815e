//! What a sampler reads of the whole host.

use crate::measure::attest::processes::tick_seconds;
use crate::measure::samplers::counters::all_tasks;
use crate::measure::samplers::held::{Buffer, Held};
use crate::measure::samplers::source::diskstats::{self, Number};
use crate::measure::samplers::source::group_cpu::usage_ns;
use crate::measure::samplers::source::pressure::{Waiting, total_us};
use crate::measure::samplers::source::stat::Ticks;
use crate::model::cgroup::CgroupLayout;
use std::path::Path;
use std::rc::Rc;

/// Its quantities with their units, in the order of [`HostFiles::read`].
pub(super) const COLUMNS: [(&str, &str); 10] = [
    ("cpu", "s"),
    ("tasks-cpu", "s"),
    ("softirq", "s"),
    ("steal", "s"),
    ("pressure-cpu", "s"),
    ("pressure-io", "s"),
    ("pressure-memory", "s"),
    ("disk-busy", "s"),
    ("read", "B"),
    ("written", "B"),
];

/// The host's files.
#[derive(Debug)]
pub(super) struct HostFiles {
    stat: Option<Held>,
    tasks: Option<Held>,
    /// Of the CPU it is told when some task waits, of disks and memory when all do.
    pressure: [(Option<Held>, Waiting); 3],
    diskstats: Option<Held>,
    disks: Rc<[Number]>,
    /// Milliseconds in which each disk had been busy at the first sample.
    busy_before: Vec<(Number, u64)>,
}

/// What the disks did together, and the busiest alone.
#[derive(Debug, Default)]
struct Disks {
    read: u64,
    written: u64,
    busiest_ms: u64,
}

impl HostFiles {
    pub(super) fn open(layout: &CgroupLayout, disks: Rc<[Number]>) -> Self {
        let pressure = |name: &str| Held::open(Path::new("/proc/pressure").join(name));
        Self {
            stat: Held::open("/proc/stat"),
            tasks: all_tasks(layout),
            pressure: [(pressure("cpu"), Waiting::Some), (pressure("io"), Waiting::Full), (pressure("memory"), Waiting::Full)],
            diskstats: Held::open("/proc/diskstats"),
            disks,
            busy_before: Vec::new(),
        }
    }

    /// The values of now, since whenever the kernel counts; `disk-busy` since the first sample, for which disk is the busiest may
    /// change.
    pub(super) fn read(&mut self, buffer: &mut Buffer) -> [Option<f64>; COLUMNS.len()] {
        let ticks = self.stat.as_ref().and_then(|file| file.read(buffer, Ticks::of_all));
        let seconds = |part: fn(Ticks) -> u64| ticks.map(|ticks| part(ticks) as f64 * tick_seconds());
        let charged = self.tasks.as_ref().and_then(|file| file.read(buffer, usage_ns)).map(|ns| ns as f64 / 1e9);
        let by_tasks = if self.tasks.is_some() { charged } else { seconds(Ticks::tasks) };
        let [cpu, io, memory] = self.pressure.each_ref().map(|(file, waiting)| {
            let waited = file.as_ref()?.read(buffer, |text| total_us(text, *waiting))?;
            Some(waited as f64 / 1e6)
        });
        let disks = self.disks(buffer);
        let of_disks = |part: fn(&Disks) -> u64| disks.as_ref().map(|disks| part(disks) as f64);
        [
            seconds(Ticks::busy),
            by_tasks,
            seconds(Ticks::interrupts),
            seconds(|ticks| ticks.steal),
            cpu,
            io,
            memory,
            of_disks(|disks| disks.busiest_ms).map(|ms| ms / 1e3),
            of_disks(|disks| disks.read),
            of_disks(|disks| disks.written),
        ]
    }

    fn disks(&mut self, buffer: &mut Buffer) -> Option<Disks> {
        let (wanted, before) = (&self.disks, &mut self.busy_before);
        self.diskstats.as_ref()?.read(buffer, |text| {
            let mut found = None;
            for disk in diskstats::disks(text, wanted) {
                let all: &mut Disks = found.get_or_insert_default();
                let known = before.iter().find(|(number, _)| *number == disk.number).map(|(_, busy_ms)| *busy_ms);
                let begun = known.unwrap_or_else(|| {
                    before.push((disk.number, disk.busy_ms));
                    disk.busy_ms
                });
                (all.read, all.written) = (all.read + disk.read, all.written + disk.written);
                all.busiest_ms = all.busiest_ms.max(disk.busy_ms.saturating_sub(begun));
            }
            found
        })
    }
}
