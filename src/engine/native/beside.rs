//! Commands run beside a unit's process, in everything that is the process's own.

use super::attendants::Attendants;
use super::child::{self, NO_CHILD, READY, View};
use super::unit::{Progress, Unit, code};
use crate::engine::EngineError;
use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Signal, kill_process_group};
use std::fs::File;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// The pause between two looks at whether a command that nobody waits for has begun.
const PAUSE: Duration = Duration::from_millis(1);

impl Unit {
    /// Runs a command beside the process, in everything that is the process's own, to its end; gives the command with its exit
    /// code. `is_ours` says whether a number is still that of a process of this unit.
    pub(super) async fn run_beside(
        &self,
        command: &[String],
        attendants: &Attendants,
        is_ours: impl Fn(u32) -> bool,
    ) -> Result<(i64, Self), EngineError> {
        let call = |reason: String| EngineError::Call { operation: format!("run a command beside `{}`", self.program), reason };
        let Progress::Running { pid } = self.progress() else { return Err(call("it does not run".to_owned())) };
        let view = if self.private { seen_by(pid).map_err(|error| call(error.to_string()))? } else { View::Host };
        // What was opened belongs to the process if the process is there after it was opened.
        if !is_ours(pid) {
            return Err(call("it has ended".to_owned()));
        }
        let words: Vec<&String> = command.iter().collect();
        let launched = Self::launch(&words, Arc::clone(&self.setting), view, attendants, self.cgroup.clone());
        let inside = launched.map_err(|error| call(error.to_string()))?;
        let inside = inside.ok_or_else(|| EngineError::Unsupported { what: "there is no command to run".to_owned() })?;
        // It need not wait for anybody.
        child::signal(&inside.line.release, 1).map_err(|error| call(error.to_string()))?;
        let waits = Waits(&inside);
        let progress = inside.ended().await;
        drop(waits);
        match progress {
            Progress::Ended { status, .. } => {
                let code = code(status).ok_or_else(|| call("it has no exit code".to_owned()))?;
                Ok((code, inside))
            }
            Progress::NotStarted(error) => {
                inside.join();
                // By now the number holds the child's answer and the thread's.
                Err(match inside.answer() % NO_CHILD {
                    READY => EngineError::NotStarted { program: inside.program.clone(), reason: error.to_string() },
                    answer => inside.refusal(answer, &self.program, &error.to_string()),
                })
            }
            other => Err(call(format!("{other:?}"))),
        }
    }
}

/// Somebody who waits for a command. One that nobody waits for any more would run on in the unit, and count as it.
struct Waits<'u>(&'u Unit);

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        match self.0.progress() {
            Progress::Running { pid } => end_session(pid),
            // It may execute already, and its thread has not come to tell it.
            Progress::Waiting => {
                let news = self.0.news();
                std::thread::spawn(move || {
                    // An error here is the end of its thread: nothing will come any more.
                    while matches!(*news.borrow(), Progress::Waiting) && news.has_changed().is_ok() {
                        std::thread::sleep(PAUSE);
                    }
                    if let Progress::Running { pid } = *news.borrow() {
                        end_session(pid);
                    }
                });
            }
            Progress::NotStarted(_) | Progress::Ended { .. } | Progress::Lost(_) => {}
        }
    }
}

fn end_session(pid: u32) {
    if let Some(session) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(session, Signal::KILL); // it may just have ended; what left its session ends with the unit
    }
}

/// What another process sees of the host's files.
fn seen_by(pid: u32) -> io::Result<View> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let root = rustix::fs::open(format!("/proc/{pid}/root"), flags, Mode::empty())?;
    Ok(View::Joined { mounts: File::open(format!("/proc/{pid}/ns/mnt"))?.into(), root })
}
