//! The manifest language: every key, its shape and its meaning. One table serves the checker, the help and the editors' schema.

use super::shape::{Field, Record, Shape};

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
        Field::new("workload", Shape::Record(&WORKLOAD), "the measured command"),
        Field::new("workloads", Shape::Named(&Shape::Record(&WORKLOAD)), "several measured commands, started together"),
        Field::new("metrics", Shape::Named(&Shape::Record(&METRIC)), "declared and derived metrics"),
        Field::new("design", Shape::Record(&DESIGN), "blocks, seed, margins"),
        Field::new("limits", Shape::Record(&LIMITS), "how long each phase may take"),
        Field::later("services", "long-running parts of the stack"),
        Field::later("compose", "an existing Compose file as the stack"),
        Field::later("hosts", "an inventory of engines"),
        Field::later("observe", "what is sampled during the window"),
        Field::later("charts", "charts beside the default ones"),
    ],
};

/// `engine:`.
pub static ENGINE: Record = Record {
    name: "an engine",
    one_of: &[],
    fields: &[
        Field::new("host", Shape::Text, "address of a daemon: unix://, tcp://"),
        Field::later("storage_driver", "storage driver of a private daemon"),
        Field::later("userland_proxy", "whether a private daemon uses docker-proxy"),
        Field::later("iptables", "whether a private daemon writes rules"),
        Field::later("backing", "file system under a private daemon's data root"),
        Field::later("binary", "another dockerd"),
        Field::later("daemon", "any daemon.json key of a private daemon"),
        Field::later("swarm", "a swarm manager"),
    ],
};

/// `workload:` and each of `workloads:`. Names and meanings are Compose's wherever Compose has them.
pub static WORKLOAD: Record = Record {
    name: "a workload",
    one_of: &[],
    fields: &[
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
        Field::new("network_mode", Shape::Word(&["bridge", "host", "none"]), "network of the container"),
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
        Field::new("parse", Shape::Any, "what reads the output: a parser's name, or regex, json or csv extractions"),
        Field::new("timeout", Shape::Duration, "how long the measured window may last (10m)"),
        Field::new("warmup", Shape::Record(&WARMUP), "runs before the window, the same way and in a unit of its own, and is thrown away"),
        Field::later("prepare", "steps before each trial"),
        Field::later("collect", "files to keep"),
        Field::later("volumes", "volumes and bind mounts"),
        Field::later("networks", "networks to join"),
        Field::later("ports", "published ports"),
        Field::later("env_file", "files with environment variables"),
        Field::later("depends_on", "services that must be ready first"),
        Field::later("healthcheck", "how readiness is told"),
        Field::later("ready", "how readiness is told"),
        Field::later("memswap_limit", "memory and swap limit"),
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
    one_of: &["template", "content"],
    fields: &[
        Field::new("template", Shape::Text, "template looked for beside the manifest, then in templates/"),
        Field::new("content", Shape::Text, "the content itself"),
        Field::new("target", Shape::Text, "absolute path inside").required(),
        Field::new("mode", Shape::Text, "permission bits in octal, such as \"0644\""),
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
        Field::new("seed", Shape::Integer(0, MAX), "seed of the order"),
        Field::new("engine_starts", Shape::Integer(1, 100_000), "how often each private engine is started over a run (once per block)"),
        Field::new("min_effect", Shape::Percent, "smallest effect of interest (1%)"),
        Field::new("margin", Shape::Percent, "margin of equivalence (3%)"),
        Field::new("min_window", Shape::Duration, "shortest window that is not flagged as too short (1s)"),
        Field::new("max_variants", Shape::Integer(1, 10_000_000), "most variants that a run accepts (1000)"),
    ],
};

/// `limits:`.
pub static LIMITS: Record = Record {
    name: "limits",
    one_of: &[],
    fields: &[
        Field::new("images", Shape::Duration, "all images (10m)"),
        Field::new("create", Shape::Duration, "creating a trial's containers (2m)"),
        Field::new("start", Shape::Duration, "starting them (2m)"),
        Field::new("collect", Shape::Duration, "reading outputs (2m)"),
        Field::new("teardown", Shape::Duration, "removing everything (2m)"),
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
