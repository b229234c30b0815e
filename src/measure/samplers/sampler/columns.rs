//! A subject with its files, and the columns that it makes.

use super::host::{self, HostFiles};
use super::subject::Subject;
use crate::measure::attest::processes::CpuTime;
use crate::measure::samplers::counters::{Processes, own_cpu};
use crate::measure::samplers::group::{self, Tasks};
use crate::measure::samplers::held::{Awaited, Buffer};
use crate::measure::samplers::source::diskstats::Number;
use crate::measure::samplers::source::group_cpu::{Quota, usage_ns};
use crate::measure::samplers::source::group_io::Moved;
use crate::measure::samplers::source::number;
use crate::measure::window::EngineProcesses;
use crate::model::cgroup::CgroupLayout;
use crate::model::observe::SeriesColumn;
use std::rc::Rc;

/// One subject.
#[derive(Debug)]
pub(super) struct Source {
    subject: String,
    files: Files,
    columns: Vec<Column>,
    has_begun: bool,
}

#[derive(Debug)]
struct Column {
    quantity: &'static str,
    unit: &'static str,
    from: From,
}

/// What a value is told relative to.
#[derive(Debug, Clone, Copy, PartialEq)]
enum From {
    /// Nothing: it is momentary, or counted from the trial's beginning already.
    Nothing,
    /// What was counted at the first sample; this, once it is known.
    First(Option<f64>),
    /// The same, but what appears only after it was made for the trial, and began at 0.
    Birth(Option<f64>),
}

#[derive(Debug)]
enum Files {
    Unit(Box<UnitFiles>),
    Group(Option<Awaited>),
    Processes(Processes),
    Host(Box<HostFiles>),
    Observer,
}

#[derive(Debug)]
struct UnitFiles {
    cpu: Option<Awaited>,
    memory: Option<Awaited>,
    io: Option<Awaited>,
    tasks: Tasks,
    is_limited: bool,
    quota: Option<Awaited>,
    disks: Rc<[Number]>,
}

impl Source {
    /// Opens what there is of it; only these disks count.
    pub(super) fn open(layout: &CgroupLayout, disks: &Rc<[Number]>, subject: Subject) -> Self {
        let cpu = |from| vec![Column { quantity: "cpu", unit: "s", from }];
        let processes = |pids: Vec<u32>| Files::Processes(Processes::open(pids));
        let (subject, files, columns) = match subject {
            Subject::Unit { name, cgroup, leaf } => {
                let columns = unit_columns(leaf.is_some());
                (name, Files::Unit(Box::new(UnitFiles::open(layout, Rc::clone(disks), &cgroup, leaf.as_deref()))), columns)
            }
            Subject::Engine(EngineProcesses::Group(group)) => {
                ("engine".to_owned(), Files::Group(group::cpu_usage(layout, &group).map(Awaited::new)), cpu(From::Birth(None)))
            }
            Subject::Engine(EngineProcesses::Pids(pids)) => ("engine".to_owned(), processes(pids), cpu(From::First(None))),
            Subject::Proxies(pids) => ("docker-proxy".to_owned(), processes(pids), cpu(From::Birth(None))),
            Subject::Processes { name, pids } => (name, processes(pids), cpu(From::First(None))),
            Subject::Host => ("host".to_owned(), Files::Host(Box::new(HostFiles::open(layout, Rc::clone(disks)))), host_columns()),
            Subject::Observer => ("observer".to_owned(), Files::Observer, cpu(From::First(None))),
        };
        Self { subject, files, columns, has_begun: false }
    }

    pub(super) fn columns(&self) -> impl Iterator<Item = SeriesColumn> {
        self.columns.iter().map(|column| SeriesColumn {
            subject: self.subject.clone(),
            quantity: column.quantity.to_owned(),
            unit: column.unit.to_owned(),
        })
    }

    /// What was not there at the first sample was made later.
    pub(super) fn begin(&mut self) {
        self.has_begun = true;
    }

    /// Adds one value per column.
    pub(super) fn read(&mut self, buffer: &mut Buffer, values: &mut Vec<Option<f64>>) {
        let first = values.len();
        match &mut self.files {
            Files::Unit(files) => files.read(buffer, values),
            Files::Group(file) => values.push(file.as_mut().and_then(|file| file.read(buffer, usage_ns)).map(seconds)),
            Files::Processes(processes) => {
                let all: Option<f64> = processes.read(buffer).map(|cpu| cpu.map(CpuTime::seconds)).sum();
                values.push(all.filter(|_| !processes.is_empty()));
            }
            Files::Host(files) => values.extend(files.read(buffer)),
            Files::Observer => values.push(Some(own_cpu().as_secs_f64())),
        }
        for (column, value) in self.columns.iter_mut().zip(&mut values[first..]) {
            *value = value.and_then(|now| column.from.since(now, self.has_begun));
        }
    }
}

impl From {
    fn since(&mut self, now: f64, has_begun: bool) -> Option<f64> {
        let begun = match self {
            Self::Nothing => 0.0,
            Self::First(begun) => *begun.get_or_insert(now),
            Self::Birth(begun) => *begun.get_or_insert(if has_begun { 0.0 } else { now }),
        };
        // A group of that name that counts less is another one.
        Some(now - begun).filter(|value| *value >= 0.0)
    }
}

fn unit_columns(is_limited: bool) -> Vec<Column> {
    let grows = From::Birth(None);
    let all = [("cpu", "s", grows), ("memory", "B", From::Nothing), ("read", "B", grows), ("written", "B", grows)];
    let all = all.into_iter().chain([("tasks", "1", From::Nothing)]).chain(is_limited.then_some(("throttled", "s", grows)));
    all.map(|(quantity, unit, from)| Column { quantity, unit, from }).collect()
}

fn host_columns() -> Vec<Column> {
    let from = |quantity: &str| if quantity == "disk-busy" { From::Nothing } else { From::First(None) };
    host::COLUMNS.into_iter().map(|(quantity, unit)| Column { quantity, unit, from: from(quantity) }).collect()
}

impl UnitFiles {
    fn open(layout: &CgroupLayout, disks: Rc<[Number]>, cgroup: &str, leaf: Option<&str>) -> Self {
        Self {
            cpu: group::cpu_usage(layout, cgroup).map(Awaited::new),
            memory: group::memory(layout, cgroup).map(Awaited::new),
            io: group::io(layout, cgroup).map(Awaited::new),
            tasks: Tasks::new(layout, cgroup),
            is_limited: leaf.is_some(),
            quota: leaf.and_then(|leaf| group::cpu_quota(layout, leaf)).map(Awaited::new),
            disks,
        }
    }

    fn read(&mut self, buffer: &mut Buffer, values: &mut Vec<Option<f64>>) {
        let disks = &self.disks;
        let moved = self.io.as_mut().and_then(|file| file.read(buffer, |text| Moved::parse(text, disks)));
        values.push(self.cpu.as_mut().and_then(|file| file.read(buffer, usage_ns)).map(seconds));
        values.push(self.memory.as_mut().and_then(|file| file.read(buffer, number)).map(|bytes| bytes as f64));
        values.push(moved.map(|moved| moved.read as f64));
        values.push(moved.map(|moved| moved.written as f64));
        values.push(self.tasks.read(buffer).map(|tasks| tasks as f64));
        if self.is_limited {
            values.push(self.quota.as_mut().and_then(|file| file.read(buffer, Quota::parse)).map(|quota| seconds(quota.throttled_ns)));
        }
    }
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}
