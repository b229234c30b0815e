//! The sampler of one trial: a thread that notes counters at an interval.

mod columns;
mod host;
mod pace;
mod rows;
mod subject;

pub use subject::Subject;

use super::counters::{BLOCK_DEVICES, clock, real_disks};
use super::held::Buffer;
use super::source::diskstats::Number;
use crate::model::cgroup::CgroupLayout;
use crate::model::observe::{PHASES, Series};
use columns::Source;
use pace::Pace;
use rows::Rows;
use rustix::time::ClockId;
use std::path::Path;
use std::rc::Rc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

/// What a sampler saw.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sampled {
    /// The samples; the first 20 ms after the sampler's start, the last when it was finished. None when it was finished before.
    pub series: Series,
    /// Share of the samples that came later than half an interval (the check `late-samples`); none before the first one was due.
    pub late: Option<f64>,
    /// CPU time of the thread.
    pub cpu_seconds: f64,
}

/// A thread that samples until it is finished. When it is dropped unfinished, its thread is told to stop and not waited for.
#[derive(Debug)]
pub struct Sampler {
    /// The thread ends when nobody can give it an order any more.
    orders: Sender<Order>,
    thread: JoinHandle<Sampled>,
}

#[derive(Debug)]
enum Order {
    Phase(String),
    Add(Subject),
    Finish,
}

impl Sampler {
    /// Starts it in the phase `start`; none when the host gives no thread.
    #[must_use]
    pub fn start(layout: &CgroupLayout, interval: Duration, subjects: Vec<Subject>) -> Option<Self> {
        let (orders, received) = channel();
        let layout = layout.clone();
        let begin = Instant::now();
        let work =
            move || Work::begin(layout, subjects, begin, &received).map(|work| work.run(begin, interval, &received)).unwrap_or_default();
        let thread = Builder::new().name("sampler".to_owned()).spawn(work).ok()?;
        Some(Self { orders, thread })
    }

    /// Tells the phase of the samples from now on, one of [`crate::model::observe::PHASES`].
    pub fn phase(&self, name: &str) {
        self.order(Order::Phase(name.to_owned()));
    }

    /// Adds what became known later; its values are absent until then.
    pub fn add(&self, subject: Subject) {
        self.order(Order::Add(subject));
    }

    /// Takes a last sample and ends.
    #[must_use]
    pub fn finish(self) -> Sampled {
        self.order(Order::Finish);
        self.thread.join().unwrap_or_default()
    }

    fn order(&self, order: Order) {
        let _ = self.orders.send(order); // a thread that ended before its time has nothing to tell
    }
}

/// A trial that ends so soon is over before its files are open: to open them would cost it more than it tells.
const GRACE: Duration = Duration::from_millis(20);

/// What the thread works on.
struct Work {
    layout: CgroupLayout,
    disks: Rc<[Number]>,
    sources: Vec<Source>,
    rows: Rows,
    buffer: Buffer,
    /// Whether the first sample was taken.
    has_begun: bool,
}

impl Work {
    /// Waits a moment, then opens what there is; none when nobody wants it any more.
    fn begin(layout: CgroupLayout, mut subjects: Vec<Subject>, begin: Instant, orders: &Receiver<Order>) -> Option<Self> {
        let mut phase = None;
        loop {
            match orders.recv_timeout(GRACE.saturating_sub(begin.elapsed())) {
                Ok(Order::Phase(name)) => phase = Some(name),
                Ok(Order::Add(subject)) => subjects.push(subject),
                Err(RecvTimeoutError::Timeout) => break,
                Ok(Order::Finish) | Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
        let mut work = Self::new(layout, subjects);
        phase.into_iter().for_each(|name| work.rows.phase(name));
        Some(work)
    }

    fn new(layout: CgroupLayout, subjects: Vec<Subject>) -> Self {
        let (disks, rows) = (real_disks(Path::new(BLOCK_DEVICES)).into(), Rows::new(PHASES[0]));
        let mut work = Self { layout, disks, sources: Vec::new(), rows, buffer: Buffer::default(), has_begun: false };
        subjects.into_iter().for_each(|subject| work.add(subject));
        work
    }

    fn add(&mut self, subject: Subject) {
        let mut source = Source::open(&self.layout, &self.disks, subject);
        if self.has_begun {
            source.begin();
        }
        self.rows.add(source.columns());
        self.sources.push(source);
    }

    fn sample(&mut self, time: Duration) {
        let mut values = Vec::with_capacity(self.rows.width());
        for source in &mut self.sources {
            source.read(&mut self.buffer, &mut values);
        }
        self.rows.push(time, values);
    }

    fn run(mut self, begin: Instant, interval: Duration, orders: &Receiver<Order>) -> Sampled {
        let mut pace = Pace::new(interval);
        self.sample(begin.elapsed());
        self.has_begun = true;
        self.sources.iter_mut().for_each(Source::begin);
        loop {
            match orders.recv_timeout(pace.until(begin.elapsed())) {
                Ok(Order::Phase(name)) => self.rows.phase(name),
                Ok(Order::Add(subject)) => self.add(subject),
                Err(RecvTimeoutError::Timeout) => {
                    let now = begin.elapsed();
                    self.sample(now);
                    pace.came(now);
                    if self.rows.thin() {
                        pace.slow_down();
                    }
                }
                Ok(Order::Finish) => break,
                Err(RecvTimeoutError::Disconnected) => return Sampled::default(), // nobody waits for it
            }
        }
        self.sample(begin.elapsed());
        let series = self.rows.into_series();
        Sampled { series, late: pace.late(), cpu_seconds: clock(ClockId::ThreadCPUTime).as_secs_f64() }
    }
}
