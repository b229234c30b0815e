//! Watching the groups that live only while a container runs: they appear during the start and vanish at the exit.

use super::Watched;
use super::counters::Throttling;
use super::inside::Inside;
use crate::measure::attest;
use crate::measure::samplers::source::group_cpu::Quota;
use crate::model::cgroup::CgroupLayout;
use crate::model::event::Attested;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Pause between two looks while a group is awaited, or is not set as asked yet.
const AWAITING: Duration = Duration::from_millis(5);
/// So many looks at that pace; a group that is still not as asked by then will hardly become so.
const PATIENT_LOOKS: u32 = 400;
/// Pause between two readings of a group that is known.
const KNOWN: Duration = Duration::from_millis(50);

/// What is known of one unit's group.
#[derive(Debug)]
pub(super) struct Leaf {
    watched: Watched,
    attested: Vec<Attested>,
    inside: Inside,
    throttling: Option<Throttling>,
    first: Quota,
    last: Option<Quota>,
    /// Whether the group was there before the start: then nobody but us removes it.
    outlives: bool,
    gone: bool,
    looks: u32,
}

impl Leaf {
    pub(super) fn new(watched: Watched) -> Self {
        Self {
            watched,
            attested: Vec::new(),
            inside: Inside::default(),
            throttling: None,
            first: Quota::default(),
            last: None,
            outlives: false,
            gone: false,
            looks: 0,
        }
    }

    /// Has a first look before the unit starts: what was counted until then is not the unit's.
    pub(super) fn first_look(&mut self, layout: &CgroupLayout) {
        self.look(layout);
        self.first = self.last.unwrap_or_default();
        self.outlives = self.last.is_some();
    }

    pub(super) fn look(&mut self, layout: &CgroupLayout) {
        if self.gone {
            return;
        }
        self.looks += 1;
        self.inside.look(layout, &self.watched);
        let Watched { unit, leaf, limits, .. } = &self.watched;
        if self.looks == 1 || !self.has_its_limits() {
            let now = attest::limits::read(layout, unit, leaf, limits);
            // A group that is gone again does not unsay what was read.
            if self.attested.is_empty() || now.iter().any(|row| row.found.is_some()) {
                self.attested = now;
            }
        }
        if limits.quota().is_some() {
            if self.throttling.is_none() {
                self.throttling = Throttling::open(layout, leaf);
            }
            if let Some(throttling) = &self.throttling {
                match throttling.read() {
                    Some(quota) => self.last = Some(quota),
                    None => self.gone = true,
                }
            }
        }
    }

    /// Whether every limit was read and is what was asked. The group exists a moment before its limits are written.
    fn has_its_limits(&self) -> bool {
        self.attested.iter().all(|row| row.found.is_some() && !row.differs())
    }

    fn is_as_asked(&self) -> bool {
        self.has_its_limits() && self.inside.is_settled(&self.watched)
    }

    /// How long to wait for the next look; none when there is nothing more to see before the end.
    fn pause(&self) -> Option<Duration> {
        match (self.gone, self.is_as_asked(), self.watched.limits.quota().is_some()) {
            (true, _, _) => None,
            (false, false, _) => Some(if self.looks < PATIENT_LOOKS { AWAITING } else { KNOWN }),
            (false, true, true) if !self.outlives => Some(KNOWN),
            (false, true, _) => None,
        }
    }

    /// What the quota did since the first look; none when the group was never seen or has no quota.
    pub(super) fn quota(&self) -> Option<Quota> {
        self.last?.since(self.first)
    }

    /// The unit with its network namespace, once that was seen.
    pub(super) fn namespace(&self) -> Option<(String, u64)> {
        Some((self.watched.unit.clone(), self.inside.namespace()?))
    }

    /// The unit and what was read back of it; `namespaces` are those of the window's units.
    pub(super) fn into_parts(self, namespaces: &[(String, u64)]) -> (Watched, Vec<Attested>) {
        let mut attested = self.attested;
        attested.extend(self.inside.into_rows(&self.watched, namespaces));
        (self.watched, attested)
    }
}

/// The watching thread; told to stop when this is dropped.
#[derive(Debug)]
pub(super) struct Watch {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<(Vec<Leaf>, f64)>>,
}

/// Starts a thread when a look between start and exit can tell more; gives the leaves back when not.
pub(super) fn start(layout: &CgroupLayout, leaves: Vec<Leaf>) -> Result<Watch, Vec<Leaf>> {
    if leaves.iter().all(|leaf| leaf.pause().is_none()) {
        return Err(leaves);
    }
    let stop = Arc::new(AtomicBool::new(false));
    let (layout, stopped) = (layout.clone(), Arc::clone(&stop));
    let thread = thread::spawn(move || watch(&layout, leaves, &stopped));
    Ok(Watch { stop, thread: Some(thread) })
}

fn watch(layout: &CgroupLayout, mut leaves: Vec<Leaf>, stop: &AtomicBool) -> (Vec<Leaf>, f64) {
    while let Some(pause) = leaves.iter().filter_map(Leaf::pause).min() {
        thread::park_timeout(pause);
        if stop.load(Ordering::Acquire) {
            break;
        }
        leaves.iter_mut().for_each(|leaf| leaf.look(layout));
    }
    let spent = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    (leaves, spent.tv_sec as f64 + spent.tv_nsec as f64 / 1e9)
}

impl Watch {
    /// Ends the thread; gives what it saw and the CPU seconds that it took. None when it panicked.
    pub(super) fn finish(mut self) -> Option<(Vec<Leaf>, f64)> {
        self.stop();
        self.thread.take()?.join().ok()
    }

    fn stop(&self) {
        self.stop.store(true, Ordering::Release);
        if let Some(thread) = &self.thread {
            thread.thread().unpark();
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.stop();
    }
}
