//! The form of the fake engine's script.

use serde::Deserialize;

/// What happens to the units whose command contains a text.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rule {
    /// A part of the command; of the image's JSON where the rule has `image_error`. Empty matches everything.
    #[serde(rename = "match")]
    pub matching: String,
    /// How many units it decides before it is used up; none is without end.
    pub times: Option<usize>,
    /// Says why the unit cannot run at all.
    pub unsupported: Option<String>,
    /// Refuses the image.
    pub image_error: Option<String>,
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
    /// Refuses to be removed.
    pub remove_error: Option<String>,
    /// Calls that never come back.
    pub hangs: Vec<Step>,
}

/// A call of a unit's life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Step {
    /// Before anything is made.
    Create,
    /// Before it is started.
    Start,
    /// Before its output is given.
    Output,
    /// Before it is removed.
    Remove,
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
    /// Whether it speaks of a unit's life, and not only of images or of what is supported.
    pub(super) fn is_of_units(&self) -> bool {
        self.unsupported.is_none() && self.image_error.is_none()
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
