//! What a host can give to private daemons: known without starting anything, or tried.

use super::private::Filesystem;
use std::collections::BTreeMap;
use std::time::Duration;

/// How it stands with one thing that a private daemon may be asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// It works, as far as is known without trying.
    Expected,
    /// A container ran with it.
    Ran,
    /// It cannot be told without trying, and why.
    Unseen(String),
    /// It does not work, and why.
    No(String),
}

impl Answer {
    /// How it stands with what needs all of these: the first of the worst.
    #[must_use]
    pub fn worst(answers: impl IntoIterator<Item = Self>) -> Self {
        let mut worst = Self::Expected;
        for answer in answers {
            match (&worst, &answer) {
                (Self::Expected | Self::Ran, Self::Unseen(_)) | (Self::Expected | Self::Ran | Self::Unseen(_), Self::No(_)) => {
                    worst = answer
                }
                _ => {}
            }
        }
        worst
    }

    /// Whether it is worth trying.
    #[must_use]
    pub fn may_work(&self) -> bool {
        !matches!(self, Self::No(_))
    }
}

/// A storage driver on a file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Possible {
    /// The storage driver.
    pub storage_driver: &'static str,
    /// The file system under the data root.
    pub filesystem: Filesystem,
    /// How it stands with the two together.
    pub answer: Answer,
    /// How long a daemon took from nothing, the making of its data root included, until its API answered; none where that was not tried.
    pub ready_after: Option<Duration>,
}

/// What private daemons can be on a host.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Survey {
    /// Why there are none at all; empty when there are.
    pub general: Vec<String>,
    /// How it stands with each file system by itself.
    pub backings: Vec<(Filesystem, Answer)>,
    /// Every storage driver on every file system.
    pub pairs: Vec<Possible>,
    /// Network modes that were tried, by name.
    pub networks: BTreeMap<&'static str, Answer>,
}
