//! The manifest language: every key, its shape and its meaning. One table serves the checker, the help and the editors' schema.

use super::chart::ChartKind;
use super::shape::{Field, OFF, Record, Shape};

const MAX: i64 = i64::MAX;
const TEXTS: Shape = Shape::List(&Shape::Text);

/// The manifest's top level.
pub static EXPERIMENT: Record = Record {
    name: "a manifest",
    one_of: &["workload", "workloads", "compose"],
    fields: &[
        Field::new("title", Shape::Text, "title of the report"),
        Field::new("question", Shape::Text, "what the experiment asks"),
        Field::new("matrix", Shape::Any, "factors with their levels; a level is a value, or a mapping merged over the set-up"),
        Field::new("exclude", Shape::Any, "combinations left out: keys AND, lists OR, or `when:` with an expression"),
        Field::new("include", Shape::Any, "whole variants added after exclude"),
        Field::new("baseline", Shape::Any, "the variant that others are compared with"),
        Field::new("vars", Shape::Named(&Shape::Any), "names for templates and formulas"),
        Field::new("engine", Shape::Record(&ENGINE), "the engine; absent means the daemon that docker would use"),
        Field::new("services", Shape::Named(&Shape::Record(&SERVICE)), "long-running parts of the stack"),
        Field::new("networks", Shape::Named(&Shape::Record(&NETWORK)), "networks made for each trial"),
        Field::new("volumes", Shape::Named(&Shape::Record(&VOLUME)), "named volumes, fresh for each trial unless kept"),
        Field::new("workload", Shape::Record(&WORKLOAD), "the measured command"),
        Field::new("workloads", Shape::Named(&Shape::Record(&WORKLOAD)), "several measured commands, started together"),
        Field::new("metrics", Shape::Named(&Shape::Record(&METRIC)), "declared and derived metrics"),
        Field::new("design", Shape::Record(&DESIGN), "blocks, seed, margins"),
        Field::new("limits", Shape::Record(&LIMITS), "how long each phase may take"),
        Field::later("compose", "an existing Compose file as the stack"),
        Field::later("hosts", "an inventory of engines"),
        Field::new("observe", Shape::Record(&OBSERVE), "what is observed while a trial runs"),
        Field::new(
            "hygiene",
            Shape::Named(&Shape::Either(&[Shape::Word(&[OFF]), Shape::Record(&THRESHOLD)])),
            "thresholds of the checks of what disturbs a measurement, by the check's name; `off` switches one off",
        ),
        Field::new(
            "charts",
            Shape::List(&Shape::Record(&CHART)),
            "exactly these charts, in this order, in place of those that the report chooses",
        ),
    ],
};

/// `engine:`.
pub static ENGINE: Record = Record {
    name: "an engine",
    one_of: &[],
    fields: &[
        Field::new("host", Shape::Text, "address of a daemon that runs already: unix://, tcp://"),
        Field::new("storage_driver", Shape::Text, "storage driver of a private daemon (overlay2)"),
        Field::new("userland_proxy", Shape::Bool, "whether a private daemon uses docker-proxy (true)"),
        Field::new("iptables", Shape::Bool, "whether a private daemon writes packet filter rules (true)"),
        Field::new(
            "backing",
            Shape::Either(&[Shape::Word(FILESYSTEMS), Shape::Record(&BACKING)]),
            "file system under a private daemon's data root (ext4; btrfs for the btrfs driver)",
        ),
        Field::new("binary", Shape::Text, "path of another dockerd than that in PATH"),
        Field::new("daemon", Shape::Named(&Shape::Any), "other keys of a private daemon's daemon.json"),
        Field::later("swarm", "a swarm manager"),
    ],
};

const FILESYSTEMS: &[&str] = &["ext4", "xfs", "btrfs", "tmpfs"];

static BACKING: Record = Record {
    name: "a backing",
    one_of: &[],
    fields: &[
        Field::new("filesystem", Shape::Word(FILESYSTEMS), "which one").required(),
        Field::new("size", Shape::Size, "its size; it takes only what is written (8g)"),
    ],
};

/// What a workload and a service have in common. Names and meanings are Compose's wherever Compose has them.
static UNIT: [Field; 36] = [
    Field::new("on", Shape::Word(&["container", "host"]), "`host` runs it as a host process in a cgroup of its own"),
    Field::new("image", Shape::Text, "image reference, pulled only if absent"),
    Field::new("build", Shape::Either(&[Shape::Text, Shape::Record(&BUILD)]), "folder with a Dockerfile"),
    Field::new("archive", Shape::Text, "docker-archive, or the tar of a root file system"),
    Field::new("pack", TEXTS, "host binaries and paths: an image of them with their shared libraries"),
    Field::new("command", Shape::Command, "program and arguments"),
    Field::new("entrypoint", Shape::Command, "replaces the image's entry point"),
    Field::new("environment", Shape::Pairs, "environment variables"),
    Field::new("working_dir", Shape::Text, "working directory"),
    Field::new("user", Shape::Text, "user[:group]"),
    Field::new("cpus", Shape::Number(0.0, 4096.0), "CPUs' worth of time"),
    Field::new("cpu_period", Shape::Integer(1000, 1_000_000), "CFS period in microseconds"),
    Field::new("cpu_quota", Shape::Integer(1000, 100_000_000), "CFS quota in microseconds: the older spelling of cpus"),
    Field::new("cpu_shares", Shape::Integer(2, 262_144), "weight under contention, 1024 is the default"),
    Field::new("cpuset", Shape::CpuList, "CPUs that may be used"),
    Field::new("mem_limit", Shape::Size, "memory limit"),
    Field::new("pids_limit", Shape::Integer(1, 4_194_304), "largest number of tasks"),
    Field::new(
        "network_mode",
        Shape::Text,
        "bridge, host, none, service:NAME (the namespace of a service) or container:NAME (of any container of the engine)",
    ),
    Field::new("networks", TEXTS, "networks of the trial to join"),
    Field::new("ports", Shape::List(&Shape::Either(&[Shape::Text, Shape::Record(&PORT)])), "published ports: [[ADDRESS:]HOST:]PORT[/udp]"),
    Field::new(
        "volumes",
        Shape::List(&Shape::Either(&[Shape::Text, Shape::Record(&MOUNT)])),
        "mounts: [VOLUME or PATH:]TARGET[:ro], or Compose's long form",
    ),
    Field::new("init", Shape::Bool, "a small init as process 1"),
    Field::new("privileged", Shape::Bool, "every capability and device"),
    Field::new("read_only", Shape::Bool, "read-only root file system"),
    Field::new("hostname", Shape::Text, "host name inside"),
    Field::new("cap_add", TEXTS, "capabilities to add"),
    Field::new("cap_drop", TEXTS, "capabilities to drop"),
    Field::new("security_opt", TEXTS, "security options"),
    Field::new("extra_hosts", TEXTS, "name:address lines for /etc/hosts"),
    Field::new("sysctls", Shape::Pairs, "kernel parameters of the container's namespaces"),
    Field::new("ulimits", Shape::Named(&Shape::Either(&[Shape::Integer(-1, MAX), Shape::Record(&ULIMIT)])), "resource limits"),
    Field::new("tmpfs", TEXTS, "tmpfs mounts: target[:options]"),
    Field::new("shm_size", Shape::Size, "size of /dev/shm"),
    Field::new("files", Shape::List(&Shape::Record(&FILE)), "files placed before the start"),
    Field::later("env_file", "files with environment variables"),
    Field::later("memswap_limit", "memory and swap limit"),
];

static MEASURED: [Field; 5] = [
    Field::new("parse", Shape::Any, "what reads the output: a parser's name, or regex, json or csv extractions"),
    Field::new("timeout", Shape::Duration, "how long the measured window may last (10m)"),
    Field::new("warmup", Shape::Record(&WARMUP), "runs before the window, the same way and in a unit of its own, and is thrown away"),
    Field::later("collect", "files to keep"),
    Field::new("prepare", STEPS, "steps before the warm-up, each in a unit like this one, or `on: host`"),
];

static SERVING: [Field; 4] = [
    Field::new(
        "depends_on",
        Shape::Either(&[TEXTS, Shape::Named(&Shape::Record(&DEPENDENCY))]),
        "services that must be there first; a list waits until they are ready",
    ),
    Field::new("ready", Shape::Record(&READY), "how it is told that it is ready"),
    Field::new("healthcheck", Shape::Record(&HEALTHCHECK), "Compose's way to tell it: a command inside"),
    Field::new("prepare", STEPS, "steps inside it once it is ready, or `on: host`"),
];

static STEPS: Shape = Shape::List(&Shape::Either(&[Shape::Text, Shape::Record(&STEP)]));

/// Puts the lists of fields one after the other.
const fn joined<const N: usize>(first: &[Field], second: &[Field]) -> [Field; N] {
    let mut all = [first[0]; N];
    let mut at = 0;
    while at < N {
        all[at] = if at < first.len() { first[at] } else { second[at - first.len()] };
        at += 1;
    }
    all
}

static WORKLOAD_FIELDS: [Field; UNIT.len() + MEASURED.len()] = joined(&UNIT, &MEASURED);
static SERVICE_FIELDS: [Field; UNIT.len() + SERVING.len()] = joined(&UNIT, &SERVING);

/// `workload:` and each of `workloads:`.
pub static WORKLOAD: Record = Record { name: "a workload", one_of: &[], fields: &WORKLOAD_FIELDS };

/// Each of `services:`.
pub static SERVICE: Record = Record { name: "a service", one_of: &[], fields: &SERVICE_FIELDS };

static PORT: Record = Record {
    name: "a port",
    one_of: &[],
    fields: &[
        Field::new("target", Shape::Integer(1, 65_535), "the container's port").required(),
        Field::new("published", Shape::Integer(1, 65_535), "the host's port; absent leaves it to the engine"),
        Field::new("host_ip", Shape::Text, "the host's address; absent means every one"),
        Field::new("protocol", Shape::Word(&["tcp", "udp"]), "tcp or udp (tcp)"),
    ],
};

static MOUNT: Record = Record {
    name: "a mount",
    one_of: &[],
    fields: &[
        Field::new("type", Shape::Word(&["volume", "bind", "tmpfs"]), "what is mounted").required(),
        Field::new("source", Shape::Text, "the volume's name, or the host's path"),
        Field::new("target", Shape::Text, "absolute path inside").required(),
        Field::new("read_only", Shape::Bool, "whether nothing may be written"),
        Field::new("size", Shape::Size, "size of a tmpfs"),
    ],
};

static DEPENDENCY: Record = Record {
    name: "a dependency",
    one_of: &[],
    fields: &[Field::new(
        "condition",
        Shape::Word(&["service_started", "service_healthy", "service_completed_successfully"]),
        "how far the other service must be",
    )
    .required()],
};

static READY: Record = Record {
    name: "a readiness",
    one_of: &["http", "tcp", "log", "exec"],
    fields: &[
        Field::new("http", Shape::Text, "URL that answers with a status below 400"),
        Field::new("tcp", Shape::Text, "HOST:PORT that accepts"),
        Field::new("log", Shape::Text, "regular expression that a line of its output matches"),
        Field::new("exec", Shape::Command, "command inside it that ends with 0"),
        Field::new("successes", Shape::Integer(1, 1000), "so many times in a row (3)"),
        Field::new("interval", Shape::Duration, "pause between two looks (100ms)"),
        Field::new("timeout", Shape::Duration, "how long it may take in all (60s)"),
    ],
};

static HEALTHCHECK: Record = Record {
    name: "a health check",
    one_of: &[],
    fields: &[
        Field::new("test", Shape::Either(&[Shape::Text, TEXTS]), "command line, or [CMD, ...] or [CMD-SHELL, ...]").required(),
        Field::new("interval", Shape::Duration, "pause between two looks (1s)"),
        Field::new("timeout", Shape::Duration, "how long it may take in all (60s)"),
        Field::new("successes", Shape::Integer(1, 1000), "so many times in a row (1)"),
    ],
};

static STEP: Record = Record {
    name: "a step",
    one_of: &[],
    fields: &[
        Field::new("command", Shape::Command, "program and arguments").required(),
        Field::new("on", Shape::Word(&["host"]), "`host` runs it as a process of the host"),
        Field::new("timeout", Shape::Duration, "how long it may take (5m)"),
    ],
};

/// Each of `networks:`.
pub static NETWORK: Record = Record {
    name: "a network",
    one_of: &[],
    fields: &[
        Field::new("driver", Shape::Word(&["bridge", "macvlan", "ipvlan"]), "its driver (bridge)"),
        Field::new(
            "driver_opts",
            Shape::Pairs,
            "options of the driver; macvlan and ipvlan need `parent`, a device of the host, which a private engine has by itself",
        ),
        Field::new("subnet", Shape::Text, "subnet in CIDR form, whose first address is the gateway (left to the engine)"),
        Field::new("internal", Shape::Bool, "whether it has no way out"),
        Field::new("enable_ipv6", Shape::Bool, "whether containers get IPv6 addresses, too"),
    ],
};

/// Each of `volumes:`.
pub static VOLUME: Record = Record {
    name: "a volume",
    one_of: &[],
    fields: &[
        Field::new("tmpfs", Shape::Size, "in memory, of this size at most"),
        Field::new("keep", Shape::Bool, "whether trials share it: those of a run, on a private engine those of one start; not with tmpfs"),
        Field::new(
            "from",
            Shape::Text,
            "folder whose content a fresh volume begins with; for host processes only, containers take `files` with `source`",
        ),
    ],
};

static WARMUP: Record = Record {
    name: "a warm-up",
    one_of: &[],
    fields: &[
        Field::new("command", Shape::Command, "program and arguments").required(),
        Field::new("timeout", Shape::Duration, "how long it may take (10m)"),
    ],
};

static BUILD: Record = Record {
    name: "a build",
    one_of: &[],
    fields: &[
        Field::new("context", Shape::Text, "folder").required(),
        Field::new("dockerfile", Shape::Text, "name of the Dockerfile in it"),
        Field::new("args", Shape::Pairs, "build arguments"),
    ],
};

static ULIMIT: Record = Record {
    name: "a limit",
    one_of: &[],
    fields: &[
        Field::new("soft", Shape::Integer(-1, MAX), "soft limit").required(),
        Field::new("hard", Shape::Integer(-1, MAX), "hard limit").required(),
    ],
};

static FILE: Record = Record {
    name: "a file",
    one_of: &["template", "content", "source"],
    fields: &[
        Field::new("template", Shape::Text, "template looked for beside the manifest, then in templates/"),
        Field::new("content", Shape::Text, "the content itself"),
        Field::new("source", Shape::Text, "file or folder of the host that is copied"),
        Field::new("target", Shape::Text, "absolute path inside").required(),
        Field::new("mode", Shape::Text, "permission bits in octal, such as \"0644\"; what `source` copies keeps its own"),
    ],
};

/// Each of `metrics:`.
pub static METRIC: Record = Record {
    name: "a metric",
    one_of: &[],
    fields: &[
        Field::new("better", Shape::Word(&["higher", "lower"]), "which direction is an improvement"),
        Field::new("primary", Shape::Bool, "whether verdicts are about this one"),
        Field::new("expr", Shape::Text, "formula over other metrics, factors and vars"),
        Field::new("unit", Shape::Text, "unit of a derived metric"),
        Field::new("about", Shape::Text, "what it is"),
    ],
};

/// `design:`.
pub static DESIGN: Record = Record {
    name: "a design",
    one_of: &[],
    fields: &[
        Field::new("blocks", Shape::Integer(1, 100_000), "complete passes over all variants (10)"),
        Field::new(
            "adaptive",
            Shape::Record(&ADAPTIVE),
            "instead of `blocks`: measure 8, 12, 16, 24 or 32 of them, until the common spread of all variants is small enough",
        ),
        Field::new("seed", Shape::Integer(0, MAX), "seed of the order"),
        Field::new(
            "engine_starts",
            Shape::Integer(1, 100_000),
            "how often each private engine is started over a run (where engines are compared once per block, else once)",
        ),
        Field::new("min_effect", Shape::Percent, "smallest effect of interest (1%)"),
        Field::new("margin", Shape::Percent, "margin of equivalence (3%)"),
        Field::new(
            "correction",
            Shape::Word(&["holm", "bh", "none"]),
            "what is done about many comparisons: no false `different` among them (holm), few of those called different (bh), or nothing",
        ),
        Field::new(
            "variance",
            Shape::Word(&["own", "pooled"]),
            "whose spread a verdict stands on: that of the pair (own), or of all variants",
        ),
        Field::new("min_window", Shape::Duration, "shortest window that is not flagged as too short (1s)"),
        Field::new("max_variants", Shape::Integer(1, 10_000_000), "most variants that a run accepts (1000)"),
    ],
};

/// `design.adaptive:`.
pub static ADAPTIVE: Record = Record {
    name: "an adaptive number of blocks",
    one_of: &[],
    fields: &[
        Field::new("target", Shape::Percent, "half the width of the interval of a ratio that is narrow enough (2%)"),
        Field::new("budget", Shape::Duration, "the run ends after the block in which so much time is over"),
    ],
};

/// `observe:`.
pub static OBSERVE: Record = Record {
    name: "an observation",
    one_of: &[],
    fields: &[
        Field::new("interval", Shape::OrOff(&Shape::Duration), "time between two samples of a trial's series (1s)"),
        Field::new("processes", TEXTS, "programs of the host, by the kernel's name, whose CPU time is told apart"),
        Field::new(
            "idle_gate",
            Shape::OrOff(&Shape::Duration),
            "how long a trial waits for the host to become quiet before it runs nevertheless, flagged (60s)",
        ),
    ],
};

/// Each of `hygiene:`.
pub static THRESHOLD: Record = Record {
    name: "a threshold",
    one_of: &[],
    fields: &[
        Field::new("warn", Shape::OrOff(&Shape::Amount), "where a warning begins"),
        Field::new("taint", Shape::OrOff(&Shape::Amount), "where a trial is left out of the clean verdicts"),
    ],
};

/// Each of `charts:`.
pub static CHART: Record = Record {
    name: "a chart",
    one_of: &[],
    fields: &[
        Field::new("kind", Shape::Word(&CHART_KINDS), "what is drawn").required(),
        Field::new("metric", Shape::Text, "the metric (the primary one)"),
        Field::new("x", Shape::Text, "the factor along the chart: line (every numeric one), heat-map, interactions (the first that vary)"),
        Field::new("y", Shape::Text, "the other factor: heat-map, interactions"),
        Field::new("sort", Shape::Word(&["declared", "effect"]), "the order of an effects chart's rows (declared)"),
        Field::new("title", Shape::Text, "the title above it (the experiment's)"),
        Field::new("svg", Shape::Bool, "whether an SVG stands beside the PNG (false)"),
    ],
};

const CHART_KINDS: [&str; ChartKind::WORDS.len()] = {
    let mut words = [""; ChartKind::WORDS.len()];
    let mut at = 0;
    while at < words.len() {
        words[at] = ChartKind::WORDS[at].1;
        at += 1;
    }
    words
};

/// `limits:`.
pub static LIMITS: Record = Record {
    name: "limits",
    one_of: &[],
    fields: &[
        Field::new("images", Shape::Duration, "making one image ready (10m)"),
        Field::new("services", Shape::Duration, "starting all services until they are ready (5m)"),
        Field::new("create", Shape::Duration, "creating one container or process, or a trial's networks and volumes (2m)"),
        Field::new("start", Shape::Duration, "starting one (2m)"),
        Field::new("collect", Shape::Duration, "asking how one ended, or reading its output (2m)"),
        Field::new("teardown", Shape::Duration, "removing one, or a trial's networks and volumes (2m)"),
        Field::new("attempts", Shape::Integer(1, 10), "tries of a trial when the engine fails (2)"),
    ],
};

/// One extraction under `parse: {regex: ...}`, `{json: ...}` or `{csv: ...}`.
pub static EXTRACTION: Record = Record {
    name: "an extraction",
    one_of: &["pattern", "path", "column"],
    fields: &[
        Field::new("pattern", Shape::Text, "regular expression; the first group is the value"),
        Field::new("path", Shape::Text, "JSONPath of the value"),
        Field::new("column", Shape::Text, "name of the column"),
        Field::new("from", Shape::Word(&["stdout", "stderr", "both"]), "where to look (both; json and csv: stdout)"),
        Field::new(
            "match",
            Shape::Word(&["first", "last", "median", "mean", "sum", "min", "max", "count"]),
            "which of several matches counts (first)",
        ),
        Field::new("unit", Shape::Text, "its unit (1)"),
        Field::new("better", Shape::Word(&["higher", "lower"]), "which direction is an improvement"),
    ],
};
