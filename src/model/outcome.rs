//! How a trial ended and the phase it reached.

use serde::{Deserialize, Serialize};

/// The phases of a trial, in order. Each has a limit and a named failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// The engine is reached, or started.
    Engine,
    /// Images are built, packed, loaded or pulled.
    Images,
    /// Networks and volumes are made.
    Networks,
    /// Services start in dependency order and become ready.
    Services,
    /// The workloads' containers and cgroups are created.
    Create,
    /// The prepare steps run.
    Prepare,
    /// A warm-up runs and is thrown away.
    WarmUp,
    /// The workloads are started together.
    Start,
    /// What was asked is compared with what the kernel says.
    Attest,
    /// The measured window.
    Measure,
    /// Output and files are fetched and parsed.
    Collect,
    /// Everything is removed.
    Teardown,
}

impl Phase {
    /// The name as it stands in records.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Engine => "engine",
            Self::Images => "images",
            Self::Networks => "networks",
            Self::Services => "services",
            Self::Create => "create",
            Self::Prepare => "prepare",
            Self::WarmUp => "warm-up",
            Self::Start => "start",
            Self::Attest => "attest",
            Self::Measure => "measure",
            Self::Collect => "collect",
            Self::Teardown => "teardown",
        }
    }
}

/// How a trial ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// It finished and its numbers count.
    Ok,
    /// It did not; its numbers never enter a statistic.
    Failed,
    /// It was measured right after the start of an engine and thrown away, whether it finished or not: it stands for no trial of the
    /// plan, and its numbers never enter a statistic.
    Primer,
}

impl Outcome {
    /// The word as it stands in records.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed => "failed",
            Self::Primer => "primer",
        }
    }
}

/// Why a trial failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The phase that failed.
    pub phase: Phase,
    /// A documented keyword, the same for the same kind of failure.
    pub kind: FailureKind,
    /// One line for a person.
    pub reason: String,
}

impl Failure {
    /// Whether the engine is to blame, so that trying again may help: it refused, or did not answer in time.
    #[must_use]
    pub fn is_of_the_engine(&self) -> bool {
        match self.kind {
            FailureKind::Infrastructure => true,
            // Their limits are those of the user's own commands; what else takes too long there is told as infrastructure.
            FailureKind::Timeout => !matches!(self.phase, Phase::Measure | Phase::WarmUp | Phase::Prepare | Phase::Services),
            _ => false,
        }
    }
}

/// The documented kinds of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureKind {
    /// The engine refused or did not answer: tried again, up to `limits.attempts` times in all.
    Infrastructure,
    /// A phase took longer than its limit.
    Timeout,
    /// The command ended with another exit code than 0.
    ExitCode,
    /// The kernel killed it for memory.
    OutOfMemory,
    /// A signal ended it.
    Signal,
    /// The command could not be started at all.
    NotStarted,
    /// The parser says that the tool did not do its work.
    Parser,
    /// What ran is not what was asked.
    Attestation,
    /// The engine or the host cannot do it at all: never tried again.
    Unsupported,
}
