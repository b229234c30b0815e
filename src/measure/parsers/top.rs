//! `top -b` of procps, or of busybox: the last full frame.
//!
//! The first frame does not cover an interval: its CPU shares are of the time since the boot, or of the moment that top needed to
//! start. So they are absent when there is only one frame; take `-n 2` and a `-d` that is long enough. What is listed is added up:
//! `-p` chooses the processes that are meant. A table that was copied without its head is read too.
//! ok: a full frame that agrees with itself, and no damaged row in it.

mod frame;

use super::constants::{HIGHER, LOWER, info};
use super::plain_text::{pieces, quoted};
use super::reading::Reading;
use super::{Parser, ToolOutput};
use crate::model::catalog::ParserInfo;
use crate::model::metric::{MetricInfo, Parsed, Unit};
use frame::Frame;

/// The parser of `top`.
pub(super) struct Top;

const SHARE: &str = "share of all CPUs over the last interval (1 is all of them)";
const LOAD: &str = "mean number of tasks that run, wait for a CPU or sleep without being interruptible, damped over that many minutes";
const MEMORY: &str = "memory of the host as top prints it";

const METRICS: &[MetricInfo] = &[
    info("listed_cpu_usage", "1", LOWER, "CPUs that the listed tasks used over the last interval (sum of `%CPU`); absent from busybox"),
    info(
        "listed_resident",
        "B",
        LOWER,
        "sum of the resident sets of the listed tasks: what they share counts several times; absent from busybox and with -H",
    ),
    info("listed_tasks", "1", None, "tasks in the table; absent from busybox"),
    info("cpu_user", "1", None, SHARE),
    info("cpu_system", "1", None, SHARE),
    info("cpu_nice", "1", None, SHARE),
    info("cpu_idle", "1", HIGHER, SHARE),
    info("cpu_iowait", "1", None, SHARE),
    info("cpu_irq", "1", None, SHARE),
    info("cpu_softirq", "1", None, SHARE),
    info("cpu_steal", "1", LOWER, SHARE),
    info("load_1", "1", LOWER, LOAD),
    info("load_5", "1", LOWER, LOAD),
    info("load_15", "1", LOWER, LOAD),
    info("tasks", "1", None, "all tasks"),
    info("tasks_running", "1", None, "tasks that run or wait for a CPU"),
    info("memory_total", "B", None, MEMORY),
    info("memory_free", "B", None, MEMORY),
    info("memory_used", "B", LOWER, MEMORY),
    info("memory_buff_cache", "B", None, MEMORY),
    info("memory_available", "B", HIGHER, MEMORY),
];

impl Parser for Top {
    fn info(&self) -> ParserInfo {
        ParserInfo { name: "top", about: "top -b of procps and busybox: CPU shares, load, memory and the listed tasks", metrics: METRICS }
    }

    fn parse(&self, output: &ToolOutput<'_>) -> Parsed {
        let mut reading = Reading::default();
        let text = output.both();
        for line in text.lines().map(str::trim) {
            if line.starts_with("top: ") || line.ends_with("top: not found") || line.ends_with("top: command not found") {
                reading.fail(quoted(line));
            }
        }
        let frames: Vec<Frame> = pieces(&text, Frame::begins).into_iter().map(Frame::read).collect();
        match frames.iter().rposition(Frame::is_full) {
            Some(at) => {
                tell(&frames[at], at > 0, &mut reading);
                if at + 1 < frames.len() {
                    reading.beware("the last frame is cut off: one before it counts");
                }
            }
            None => reading.fail("no full frame of `top -b` in the output"),
        }
        reading.finish(output)
    }
}

/// `covers`: whether the CPU shares are those of an interval.
fn tell(frame: &Frame, covers: bool, reading: &mut Reading) {
    if frame.contradicts_itself {
        return reading.fail("the frame of top contradicts itself: a line stands in it twice, or its numbers do not add up");
    }
    listed(frame, covers || !frame.headed, reading);
    if covers {
        frame.shares.iter().for_each(|(name, share)| reading.metric(name, *share, Unit::ONE));
    }
    for (name, load) in ["load_1", "load_5", "load_15"].into_iter().zip(frame.load.into_iter().flatten()) {
        reading.metric(name, load, Unit::ONE);
    }
    for (name, count) in ["tasks", "tasks_running"].into_iter().zip(frame.tasks.into_iter().flatten()) {
        reading.metric(name, count, Unit::ONE);
    }
    frame.memory.iter().for_each(|(name, bytes)| reading.metric(name, *bytes, Unit::BYTE));
    if !frame.headed {
        reading.beware("the table has no head: all but the listed tasks is absent, and which frame it is cannot be told");
    } else if !covers {
        reading.beware("only one frame: it does not cover an interval, so its CPU shares are absent; `-n 2` prints one that does");
    }
}

fn listed(frame: &Frame, covers: bool, reading: &mut Reading) {
    if frame.busybox {
        return;
    }
    if let Some(row) = &frame.damaged {
        return reading.fail(format!("a row of top is damaged or cut off: {}", quoted(row)));
    }
    let count = frame.rows.len() as f64;
    if covers {
        reading.metric("listed_cpu_usage", frame.rows.iter().map(|row| row.cpu_usage).sum(), Unit::ONE);
    }
    if !frame.threads {
        reading.metric("listed_resident", frame.rows.iter().map(|row| row.resident).sum(), Unit::BYTE);
    }
    reading.metric("listed_tasks", count, Unit::ONE);
    if let Some([all, _]) = frame.tasks.filter(|[all, _]| count < *all) {
        reading.beware(format!("only {count} of {all} tasks are listed"));
    }
}
