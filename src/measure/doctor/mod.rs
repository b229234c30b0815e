//! What this host can do, and what would disturb a measurement on it.
//!
//! [`Sight::look`] reads the host once; everything after it is a pure function of what was seen, so that a host of another kind is a few
//! texts in a test. Four answers, never fewer: what could not be seen is [`State::Unobservable`] and never counts as fine. It makes no
//! call to an engine: what an engine said of itself, and what is known or was tried of private daemons, is given as [`Asked`].

mod engine;
mod host;
mod network;
mod now;
mod sight;
mod storage;
mod tools;

pub use network::modes;
pub use sight::{Process, Program, Sight};
pub use tools::{TOOLS, Tool, missing_packages};

use crate::model::facts::EngineFacts;
use crate::model::possible::Survey;

/// How it stands with one thing; the order is from best to worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// It is there, or nothing disturbs.
    Ok,
    /// It is there, but numbers may suffer.
    Warn,
    /// It cannot be told from here.
    Unobservable,
    /// It is not there.
    No,
}

impl State {
    /// The word for tables and machines.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Unobservable => "unobservable",
            Self::No => "no",
        }
    }
}

/// What a finding is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Area {
    /// The machine and what this process may do on it.
    Host,
    /// The default daemon, and what private ones need.
    Engine,
    /// Storage drivers and the file systems below them.
    Storage,
    /// Network modes.
    Network,
    /// Programs that experiments use.
    Tools,
    /// What goes on at this moment.
    Now,
}

impl Area {
    /// The word for tables and machines.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Engine => "engine",
            Self::Storage => "storage",
            Self::Network => "network",
            Self::Tools => "tools",
            Self::Now => "now",
        }
    }

    fn finds(self, what: &str, state: State, detail: impl Into<String>, next: impl Into<String>) -> Finding {
        // A line each: what a daemon says of its failure may be several.
        let detail = detail.into().replace('\n', " ");
        Finding { area: self, what: what.to_owned(), state, detail, next: next.into(), needed: false }
    }

    fn ok(self, what: &str, detail: impl Into<String>) -> Finding {
        self.finds(what, State::Ok, detail, "")
    }

    fn warn(self, what: &str, detail: impl Into<String>, next: impl Into<String>) -> Finding {
        self.finds(what, State::Warn, detail, next)
    }

    fn no(self, what: &str, detail: impl Into<String>, next: impl Into<String>) -> Finding {
        self.finds(what, State::No, detail, next)
    }

    fn unobservable(self, what: &str, detail: impl Into<String>) -> Finding {
        self.finds(what, State::Unobservable, detail, "")
    }
}

/// One thing and how it stands with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What it is about.
    pub area: Area,
    /// The thing.
    pub what: String,
    /// How it stands.
    pub state: State,
    /// What was seen.
    pub detail: String,
    /// What to do about it; empty when there is nothing to do.
    pub next: String,
    /// Whether a plain experiment (containers with limits on the default daemon) cannot do without it.
    pub needed: bool,
}

impl Finding {
    /// Whether a plain experiment cannot run for want of this.
    #[must_use]
    pub fn stops_plain_experiments(&self) -> bool {
        self.needed && self.state == State::No
    }

    fn needed(self) -> Self {
        Self { needed: true, ..self }
    }
}

/// What was asked of programs, not seen in files.
#[derive(Debug, Clone)]
pub struct Asked {
    /// The default daemon's facts, or why there are none.
    pub engine: Result<EngineFacts, String>,
    /// Names of its running containers that are not ours; none when it could not be asked.
    pub neighbours: Option<Vec<String>>,
    /// What `dockerd --version` printed; none without such a program, or when it gave no answer.
    pub dockerd: Option<String>,
    /// What private daemons can be here.
    pub survey: Survey,
}

/// Every finding, area by area.
#[must_use]
pub fn examine(sight: &Sight, asked: &Asked) -> Vec<Finding> {
    [
        host::findings(sight),
        engine::findings(sight, asked),
        storage::findings(&asked.survey),
        network::findings(sight, &asked.survey),
        tools::findings(sight, Area::Tools),
        now::findings(sight, asked),
    ]
    .concat()
}
