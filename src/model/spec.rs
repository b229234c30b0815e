//! Fully resolved descriptions of what would run: no template is left, every field has its type.
//!
//! A [`TrialSpec`] is a variant's *identity*: its digest says whether recorded trials still speak of the same thing.

use super::metric::{Better, Unit};
use super::private::PrivateSpec;
use super::stack::{Condition, MountSource, MountSpec, NetworkSpec, PortSpec, ServiceSpec, StepSpec, VolumeSpec};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

/// Everything that one variant runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialSpec {
    /// The engine that hosts the containers.
    pub engine: EngineSpec,
    /// Networks made for the trial.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub networks: Vec<NetworkSpec>,
    /// Volumes made for the trial, or for its run.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub volumes: Vec<VolumeSpec>,
    /// Long-running parts of the stack, in the order of the text.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub services: Vec<ServiceSpec>,
    /// The measured commands, started together; never empty.
    pub workloads: Vec<WorkloadSpec>,
}

impl TrialSpec {
    /// A trial of which nothing is declared yet but its engine.
    #[must_use]
    pub fn bare(engine: EngineSpec) -> Self {
        Self { engine, networks: Vec::new(), volumes: Vec::new(), services: Vec::new(), workloads: Vec::new() }
    }

    /// Every unit with its name: services first, then workloads.
    pub fn units(&self) -> impl Iterator<Item = (&str, &UnitSpec)> {
        let services = self.services.iter().map(|service| (service.name.as_str(), &service.unit));
        services.chain(self.workloads.iter().map(|workload| (workload.name.as_str(), &workload.unit)))
    }

    /// Whether other services wait until the service `name` has ended: it is over before anything is measured.
    #[must_use]
    pub fn is_waited_out(&self, name: &str) -> bool {
        let mut waits = self.services.iter().flat_map(|service| &service.depends_on);
        waits.any(|wait| wait.service == name && wait.condition == Condition::ServiceCompletedSuccessfully)
    }

    /// Whether anything of it needs an engine for containers: a container, or the network namespace of a private daemon.
    #[must_use]
    pub fn needs_engine(&self) -> bool {
        self.engine.private.is_some() || self.units().any(|(_, unit)| unit.place == Place::Container)
    }

    /// Whether anything of it is a process of the host.
    #[must_use]
    pub fn needs_host(&self) -> bool {
        let steps = self.services.iter().flat_map(|service| &service.prepare).chain(self.workloads.iter().flat_map(|w| &w.prepare));
        self.units().any(|(_, unit)| unit.place == Place::Host) || steps.into_iter().any(|step| step.on_host)
    }
}

/// Which engine, and how it is set. Two trials with equal engine specs may share a batch.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct EngineSpec {
    /// The address; none means the daemon that the docker command would use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// How the daemon is set that is started for it; none means a daemon that runs anyway.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub private: Option<PrivateSpec>,
}

/// A measured command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkloadSpec {
    /// Its name; `workload` for the only one.
    pub name: String,
    /// What runs.
    pub unit: UnitSpec,
    /// What reads its output, in order.
    pub parse: Vec<ParseSpec>,
    /// What runs before the window.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub warmup: Option<WarmupSpec>,
    /// Steps before the warm-up, each in a unit like this one or on the host.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub prepare: Vec<StepSpec>,
    /// How long the measured window may last: protocol, not identity.
    #[serde(skip)]
    pub timeout: Duration,
}

impl WorkloadSpec {
    /// A measured unit of which nothing else is declared: no parser, no preparation, no time limit to speak of.
    #[must_use]
    pub fn of(name: impl Into<String>, unit: UnitSpec) -> Self {
        Self { name: name.into(), unit, parse: Vec::new(), warmup: None, prepare: Vec::new(), timeout: Duration::MAX }
    }

    /// Every text of it that a template may have made.
    pub fn texts_mut(&mut self) -> Vec<&mut String> {
        let mut all = self.unit.texts_mut();
        all.extend(self.warmup.iter_mut().flat_map(|warmup| &mut warmup.command));
        all.extend(self.prepare.iter_mut().flat_map(|step| &mut step.command));
        all
    }
}

/// A command that runs before the window in a unit like the workload's, and is thrown away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WarmupSpec {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// How long it may take: protocol, not identity.
    #[serde(skip)]
    pub timeout: Duration,
}

/// One container or one host process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UnitSpec {
    /// Where it runs.
    pub place: Place,
    /// The image; a host process has one only as documentation of where its files come from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<ImageSpec>,
    /// The program and its arguments; empty means the image's own.
    pub command: Vec<String>,
    /// Replaces the image's entry point.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entrypoint: Option<Vec<String>>,
    /// Environment variables, sorted by name.
    pub environment: Vec<(String, String)>,
    /// Working directory inside.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub working_dir: Option<String>,
    /// `user[:group]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Limits that both forms honour.
    pub limits: LimitsSpec,
    /// Files placed before the start.
    pub files: Vec<FileSpec>,
    /// What is mounted.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub volumes: Vec<MountSpec>,
    /// Settings that only a container has.
    pub container: ContainerSpec,
}

impl UnitSpec {
    /// A unit of which nothing is declared yet but its place: no command, no image, no limit.
    #[must_use]
    pub fn bare(place: Place) -> Self {
        Self {
            place,
            image: None,
            command: Vec::new(),
            entrypoint: None,
            environment: Vec::new(),
            working_dir: None,
            user: None,
            limits: LimitsSpec::default(),
            files: Vec::new(),
            volumes: Vec::new(),
            container: ContainerSpec::default(),
        }
    }
}

impl UnitSpec {
    /// The names of the declared volumes that it mounts.
    pub fn named_volumes(&self) -> impl Iterator<Item = &str> {
        self.volumes.iter().filter_map(|mount| match &mount.source {
            MountSource::Volume(name) => Some(name.as_str()),
            MountSource::Anonymous | MountSource::Bind(_) | MountSource::Tmpfs(_) => None,
        })
    }

    /// Every text of it that a template may have made.
    pub fn texts_mut(&mut self) -> Vec<&mut String> {
        let Self { image, command, entrypoint, environment, working_dir, user, files, container, .. } = self;
        let mut all: Vec<&mut String> = command.iter_mut().chain(entrypoint.iter_mut().flatten()).collect();
        match image {
            Some(ImageSpec::Reference(reference)) => all.push(reference),
            Some(ImageSpec::Build { args, .. }) => all.extend(args.iter_mut().map(|(_, value)| value)),
            Some(ImageSpec::Archive(_) | ImageSpec::Pack(_)) | None => {}
        }
        all.extend(environment.iter_mut().chain(&mut container.sysctls).map(|(_, value)| value));
        all.extend(working_dir.iter_mut().chain(user));
        all.extend(files.iter_mut().map(|file| &mut file.content));
        all.extend(container.network_mode.iter_mut().chain(&mut container.hostname));
        all.extend(container.security_opt.iter_mut().chain(&mut container.extra_hosts));
        all
    }
}

/// Where a unit runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// In a container of the engine.
    Container,
    /// As a process of the host, in a cgroup of its own.
    Host,
}

/// Kernel limits, the same for container and host process.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct LimitsSpec {
    /// CPUs' worth of time per period; none is unlimited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpus: Option<f64>,
    /// CFS period in microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_period_us: Option<u64>,
    /// CFS quota in microseconds per period: the older spelling of `cpus`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_quota_us: Option<u64>,
    /// Relative weight under contention, 1024 being the default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_shares: Option<u64>,
    /// CPUs that may be used, such as `0,2-3`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpuset: Option<String>,
    /// Memory limit in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Largest number of tasks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pids: Option<u64>,
}

/// The CFS period that `cpus` uses, in microseconds (Docker's own).
pub const CFS_PERIOD_US: u64 = 100_000;

impl LimitsSpec {
    /// `cpus` in billionths, as engines take it: the nearest whole one; none without `cpus`.
    #[must_use]
    pub fn nano_cpus(&self) -> Option<u64> {
        self.cpus.map(|cpus| (cpus * 1e9).round() as u64)
    }

    /// The CFS quota and period in microseconds that these limits ask for; none without a quota. Parts of a microsecond are
    /// dropped, as the engines do.
    #[must_use]
    pub fn quota(&self) -> Option<(u64, u64)> {
        let period = self.cpu_period_us.unwrap_or(CFS_PERIOD_US);
        match (self.nano_cpus(), self.cpu_quota_us) {
            (Some(nano_cpus), _) => Some((nano_cpus.saturating_mul(CFS_PERIOD_US) / 1_000_000_000, CFS_PERIOD_US)),
            (None, Some(quota)) => Some((quota, period)),
            (None, None) => None,
        }
    }
}

/// Settings that only a container has: Compose's names and meanings.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ContainerSpec {
    /// `bridge`, `host`, `none`, `service:NAME` (another unit of the trial) or `container:NAME` (any container of the engine);
    /// none is the engine's default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network_mode: Option<String>,
    /// Networks of the trial that it joins.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub networks: Vec<String>,
    /// Ports that it publishes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<PortSpec>,
    /// Runs a small init as process 1.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub init: bool,
    /// Gives every capability and device.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub privileged: bool,
    /// Mounts the root file system read-only.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub read_only: bool,
    /// Host name inside.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hostname: Option<String>,
    /// Capabilities to add.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cap_add: Vec<String>,
    /// Capabilities to drop.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cap_drop: Vec<String>,
    /// Security options, such as `seccomp=unconfined`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub security_opt: Vec<String>,
    /// `name:address` lines for /etc/hosts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub extra_hosts: Vec<String>,
    /// Kernel parameters of the container's namespaces.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sysctls: Vec<(String, String)>,
    /// Resource limits: name, soft, hard.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ulimits: Vec<(String, i64, i64)>,
    /// tmpfs mounts: target and options.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tmpfs: Vec<(String, String)>,
    /// Size of /dev/shm in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shm_bytes: Option<u64>,
}

/// Where an image comes from. Relative paths are relative to the manifest, and stay so in the identity.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ImageSpec {
    /// A reference, pulled only if absent.
    Reference(String),
    /// A Dockerfile's context folder, the Dockerfile's name in it, and build arguments.
    Build {
        /// Context folder.
        context: PathBuf,
        /// Dockerfile, relative to the context.
        dockerfile: String,
        /// Build arguments.
        args: Vec<(String, String)>,
    },
    /// A docker-archive or the tar of a root file system.
    Archive(PathBuf),
    /// Host files with their shared-library closure.
    Pack(Vec<PathBuf>),
}

impl std::fmt::Display for ImageSpec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Reference(reference) => f.write_str(reference),
            Self::Build { context, .. } => write!(f, "build {}", context.display()),
            Self::Archive(path) => write!(f, "archive {}", path.display()),
            Self::Pack(paths) => write!(f, "pack {}", paths.iter().map(|p| p.display().to_string()).collect::<Vec<_>>().join(" ")),
        }
    }
}

/// A file, or a folder with all that is in it, placed in a unit before it starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileSpec {
    /// Absolute path inside.
    pub target: PathBuf,
    /// The content; empty where `source` is given.
    pub content: String,
    /// A file or folder of the host that is copied, relative to the manifest, with its own permissions below it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub source: Option<PathBuf>,
    /// Permission bits.
    pub mode: u32,
}

impl FileSpec {
    /// A file with this text.
    #[must_use]
    pub fn text(target: impl Into<PathBuf>, content: impl Into<String>, mode: u32) -> Self {
        Self { target: target.into(), content: content.into(), source: None, mode }
    }
}

/// How a workload's output is read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ParseSpec {
    /// One of the known parsers, by name.
    Tool(String),
    /// Regular expressions without code.
    Regex(Vec<Extraction>),
    /// JSONPath queries into the last JSON document.
    Json(Vec<Extraction>),
    /// Columns of a CSV table.
    Csv(Vec<Extraction>),
}

/// One declared extraction: a metric and where it stands in the output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Extraction {
    /// The metric's name.
    pub name: String,
    /// The regular expression (first group, or the whole match), the JSONPath, or the column's name.
    pub pattern: String,
    /// Where to look.
    pub from: Stream,
    /// Which of several matches counts.
    pub pick: Pick,
    /// The unit.
    pub unit: Unit,
    /// The direction, if declared.
    pub better: Option<Better>,
}

/// A source of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
    /// Both, standard output first.
    Both,
}

/// Which of several matches becomes the observation; a trial gives one number per metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pick {
    /// The first.
    First,
    /// The last.
    Last,
    /// The median of all.
    Median,
    /// The mean of all.
    Mean,
    /// The sum of all.
    Sum,
    /// The smallest.
    Min,
    /// The largest.
    Max,
    /// How many there are.
    Count,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quota_has_whole_microseconds_as_the_engines_cut_them() {
        let asked = |cpus| LimitsSpec { cpus: Some(cpus), ..LimitsSpec::default() };
        // 0.29 * 100000 is 28999.999... in floating point; 1/3 and 0.123456 have parts of a microsecond.
        let table = [(0.35, 35_000), (0.29, 29_000), (1.5, 150_000), (0.123_456, 12_345), (1.0 / 3.0, 33_333), (0.666_666_7, 66_666)];
        for (cpus, quota) in table {
            assert_eq!(asked(cpus).quota(), Some((quota, 100_000)), "{cpus}");
        }
        assert_eq!(asked(0.35).nano_cpus(), Some(350_000_000));
        let older = LimitsSpec { cpu_quota_us: Some(25_000), cpu_period_us: Some(50_000), ..LimitsSpec::default() };
        assert_eq!((older.quota(), older.nano_cpus(), LimitsSpec::default().quota()), (Some((25_000, 50_000)), None, None));
    }
}
