//! Threads that each attend one process after the other: to make one costs a short trial more than all else that it needs.

use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;

/// The threads that have nothing to do. Each ends when this is gone and its work is done.
#[derive(Debug, Clone, Default)]
pub(super) struct Attendants(Arc<Mutex<Vec<Sender<Task>>>>);

/// One work, with what its attendant gives back after it.
struct Task {
    work: Box<dyn FnOnce() + Send>,
    /// Nothing is ever sent: it goes away when the work is done.
    done: Sender<()>,
    /// The way to the attendant itself, which keeps none while it is idle.
    own: Sender<Task>,
}

/// Work that was given away.
#[derive(Debug)]
pub(super) struct Attended(Mutex<Option<Receiver<()>>>);

impl Attendants {
    /// Has `work` done, by a new thread only when none is idle.
    pub(super) fn attend(&self, work: impl FnOnce() + Send + 'static) -> io::Result<Attended> {
        let (done, attended) = channel();
        let idle = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let attendant = idle.map_or_else(|| self.hire(), Ok)?;
        let task = Task { work: Box::new(work), done, own: attendant.clone() };
        attendant.send(task).map_err(|_| io::Error::other("an idle thread has ended"))?;
        Ok(Attended(Mutex::new(Some(attended))))
    }

    fn hire(&self) -> io::Result<Sender<Task>> {
        let (give, take) = channel::<Task>();
        let idle = Arc::downgrade(&self.0);
        Builder::new().name("attendant".to_owned()).stack_size(128 << 10).spawn(move || {
            while let Ok(Task { work, done, own }) = take.recv() {
                work();
                let Some(idle) = idle.upgrade() else { return };
                idle.lock().unwrap_or_else(PoisonError::into_inner).push(own);
                drop(done);
            }
        })?;
        Ok(give)
    }
}

impl Attended {
    /// Waits until the work is done.
    pub(super) fn join(&self) {
        let done = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(done) = done {
            let _ = done.recv();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thread_does_one_work_after_the_other_and_two_do_two_at_once() {
        let attendants = Attendants::default();
        let (tell, told) = channel();
        let work = |tell: Sender<_>| move || tell.send(std::thread::current().id()).expect("told");
        for _ in 0..2 {
            attendants.attend(work(tell.clone())).expect("thread").join();
        }
        assert_eq!(told.recv().expect("first"), told.recv().expect("second"));
        let (go, wait) = channel::<()>();
        let first = attendants
            .attend(move || {
                let _ = wait.recv();
            })
            .expect("thread");
        attendants.attend(work(tell)).expect("thread").join();
        drop(go);
        first.join();
        assert_eq!(attendants.0.lock().expect("idle").len(), 2);
    }
}
