//! What happened around a measurement: counters of the kernel at both ends of the window, and samples of a whole trial.
//!
//! [`Counters`] are opened once per run; [`Counters::mark`] reads them right after the start's answer and right after the last exit,
//! and [`between`] makes the readings of [`crate::model::hygiene::CHECKS`] of the two [`Moment`]s. A [`Sampler`] is a thread of one
//! trial that notes the same counters at an interval. A [`Look`] tells before a trial whether the host is quiet.
//!
//! Nothing here asks an engine, writes, or lists all processes: files of `/proc`, `/sys` and the control groups are opened once and
//! read again from their beginning. What cannot be read is absent, and never 0.
//!
//! ```text
//! source/         one file per source: texts of the kernel -> numbers; pure
//! held            files that are opened once, and one buffer for all of them
//! group           where the files of a control group are
//! counters/       Counters, Scope, Moment: which of them a trial needs, and their values at one moment
//! circumstances/  two moments -> readings and observations; pure
//! sampler/        the thread and its subjects
//! quiet           Look: the idle gate
//! ```

mod circumstances;
mod counters;
pub(in crate::measure) mod group;
mod held;
mod quiet;
mod sampler;
pub(in crate::measure) mod source;

pub use circumstances::{Circumstances, SHORTEST_WINDOW, between};
pub use counters::{Counters, Moment, Scope, ScopeUnit};
pub use quiet::Look;
pub use sampler::{Sampled, Sampler, Subject};
