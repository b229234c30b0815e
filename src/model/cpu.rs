//! Where the CPU time of trials went, by variant.

/// What CPU time is counted per.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// A request that a workload was answered.
    Request,
    /// A query of a database.
    Query,
    /// An event, as sysbench calls what it does.
    Event,
    /// One trial, where there is nothing that all of them count.
    Trial,
}

impl Work {
    /// The units that workloads count, the preferred one first.
    pub const COUNTED: [Self; 3] = [Self::Request, Self::Query, Self::Event];

    /// The word for one of it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Query => "query",
            Self::Event => "event",
            Self::Trial => "trial",
        }
    }

    /// The metric of a workload that counts it; none for the trial.
    #[must_use]
    pub fn metric(self) -> Option<&'static str> {
        match self {
            Self::Request => Some("requests"),
            Self::Query => Some("queries"),
            Self::Event => Some("events"),
            Self::Trial => None,
        }
    }
}

/// Who used CPU time.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum CpuPart {
    /// A workload: the load generator where there are services.
    Workload(String),
    /// A service, by its name.
    Service(String),
    /// The docker-proxy processes of the trial.
    Proxy,
    /// The engine without docker-proxy.
    Engine,
    /// The programs that the experiment names.
    Named,
    /// Interrupts, as far as no task is charged for them.
    Softirq,
    /// Tasks that belong neither to the trial, nor to its engine, nor to shakedown.
    Foreign,
    /// Shakedown itself.
    Observer,
}

impl CpuPart {
    /// The parts that every trial may have, in their order below its units.
    pub const COMMON: [Self; 6] = [Self::Proxy, Self::Engine, Self::Named, Self::Softirq, Self::Foreign, Self::Observer];

    /// What reports call it.
    #[must_use]
    pub fn words(&self) -> &str {
        match self {
            Self::Workload(name) | Self::Service(name) => name,
            Self::Proxy => "docker-proxy",
            Self::Engine => "engine",
            Self::Named => "named programs",
            Self::Softirq => "softirq",
            Self::Foreign => "foreign",
            Self::Observer => "shakedown",
        }
    }
}

/// The CPU time of one part.
#[derive(Debug, Clone, PartialEq)]
pub struct CpuShare {
    /// Whose.
    pub part: CpuPart,
    /// Median over the trials, in seconds per unit of work.
    pub seconds: f64,
    /// How many trials have it.
    pub n: usize,
}

/// Where the CPU time of one variant went.
#[derive(Debug, Clone, PartialEq)]
pub struct CpuSplit {
    /// Index into the results' variants.
    pub variant: usize,
    /// The unit of work: the same in all variants.
    pub work: Work,
    /// The parts in their order: workloads, services by name, then [`CpuPart::COMMON`]; what no trial has is absent.
    pub shares: Vec<CpuShare>,
}
