//! The form of the fake engine's script.

use crate::model::stack::PortSpec;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// What happens to the units whose command contains a text, and to the commands that run inside them.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rule {
    /// A part of the command; of the image's JSON where the rule has `image_error`; of the names of networks and volumes, joined by
    /// blanks, where it is about furniture. Empty matches everything.
    #[serde(rename = "match")]
    pub matching: String,
    /// How many units it decides before it is used up; none is without end.
    pub times: Option<usize>,
    /// Says why the unit cannot run at all.
    pub unsupported: Option<String>,
    /// Refuses the image.
    pub image_error: Option<String>,
    /// Refuses to make networks and volumes.
    pub furnish_error: Option<String>,
    /// Refuses to remove networks and volumes.
    pub clear_error: Option<String>,
    /// Refuses to create.
    pub create_error: Option<String>,
    /// Refuses to start, as an engine does.
    pub start_error: Option<String>,
    /// Refuses to start, because the program cannot be executed.
    pub not_started: Option<String>,
    /// How it runs and ends.
    pub wait: Wait,
    /// What it writes to standard output.
    pub stdout: String,
    /// What it writes to standard error.
    pub stderr: String,
    /// How it is seen while it runs, where that is not as it was asked for.
    pub standing: Seen,
    /// Refuses to be looked at.
    pub inspect_error: Option<String>,
    /// Refuses to be removed.
    pub remove_error: Option<String>,
    /// Calls that never come back.
    pub hangs: Vec<Step>,
}

/// What differs from what was asked of a unit. Else its address is 192.0.2.n for the n-th unit, ports that are left to the engine
/// begin at 49152, and the settings are those of the spec.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Seen {
    /// Its addresses.
    pub addresses: Option<Vec<IpAddr>>,
    /// Its published ports.
    pub ports: Option<Vec<PortSpec>>,
    /// A process of it.
    pub pid: Option<u32>,
    /// Settings by name; null is one that the engine does not tell.
    pub settings: BTreeMap<String, Option<String>>,
}

/// A call of a unit's life, or of its trial's furniture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Step {
    /// Before networks and volumes are made.
    Furnish,
    /// Before anything is made.
    Create,
    /// Before it is started.
    Start,
    /// Before it is looked at.
    Inspect,
    /// Before its output is given.
    Output,
    /// Before it is removed.
    Remove,
    /// Before networks and volumes are removed.
    Clear,
}

/// How a unit runs and ends.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Wait {
    /// Exit code.
    pub exit: i64,
    /// Virtual milliseconds between the stamps.
    pub wall_ms: f64,
    /// Whether it is said to have been killed for memory.
    pub oom: bool,
    /// Never ends by itself: waits until it is removed.
    pub hang: bool,
    /// The exit cannot be learned.
    pub error: Option<String>,
}

impl Default for Wait {
    fn default() -> Self {
        Self { exit: 0, wall_ms: 100.0, oom: false, hang: false, error: None }
    }
}

impl Rule {
    /// Whether it speaks of a unit's life, and not of images, of furniture or of what is supported.
    pub(super) fn is_of_units(&self) -> bool {
        self.unsupported.is_none() && self.image_error.is_none() && !self.is_of_furniture()
    }

    /// Whether it speaks of networks and volumes.
    pub(super) fn is_of_furniture(&self) -> bool {
        let hangs = self.hangs.contains(&Step::Furnish) || self.hangs.contains(&Step::Clear);
        hangs || self.furnish_error.is_some() || self.clear_error.is_some()
    }
}

/// The script is not of the expected form.
#[derive(Debug, thiserror::Error)]
#[error("the fake engine's script: {source}")]
pub struct ScriptError {
    #[from]
    source: serde_json::Error,
}

/// Reads a script.
pub(super) fn parse(text: &str) -> Result<Vec<Rule>, ScriptError> {
    Ok(serde_json::from_str(text)?)
}

impl Rule {
    /// Stays here for ever when the script says that `step` hangs.
    pub(super) async fn pause(&self, step: Step) {
        if self.hangs.contains(&step) {
            std::future::pending::<()>().await;
        }
    }
}
