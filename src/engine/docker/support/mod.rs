//! Why the daemon cannot run a spec, and what to do instead: answered from what was learned when connecting, so no call is made.

mod stack;

use super::connect::Abilities;
use crate::model::cpus::CpuList;
use crate::model::facts::EngineFacts;
use crate::model::spec::{LimitsSpec, Place, UnitSpec};

/// The smallest share of a CPU that the daemon accepts.
const LEAST_CPUS: f64 = 0.01;
/// The smallest memory limit that the daemon accepts, in bytes.
const LEAST_MEMORY: u64 = 6 << 20;
/// Names that the daemon knows for resource limits.
const ULIMITS: &[&str] = &[
    "core",
    "cpu",
    "data",
    "fsize",
    "locks",
    "memlock",
    "msgqueue",
    "nice",
    "nofile",
    "nproc",
    "rss",
    "rtprio",
    "rttime",
    "sigpending",
    "stack",
];

/// Why this daemon cannot run `spec`; empty when it can.
pub(super) fn unsupported(spec: &UnitSpec, facts: &EngineFacts, abilities: &Abilities) -> Vec<String> {
    let mut problems = Vec::new();
    if spec.place == Place::Host {
        problems.push("a container engine does not run host processes".to_owned());
    }
    limits(&spec.limits, facts, &mut problems);
    features(&spec.limits, abilities, &mut problems);
    container(spec, &mut problems);
    stack::check(spec, abilities, &mut problems);
    problems.extend(super::make::no_command(spec));
    problems
}

fn limits(limits: &LimitsSpec, facts: &EngineFacts, problems: &mut Vec<String>) {
    if let Some(cpus) = limits.cpus {
        if cpus < LEAST_CPUS || (facts.cpus > 0 && cpus > f64::from(facts.cpus)) {
            problems.push(format!("`cpus: {cpus}` is outside what the engine accepts: {LEAST_CPUS} to {}", facts.cpus));
        }
        if limits.cpu_quota_us.is_some() || limits.cpu_period_us.is_some() {
            problems.push("`cpus` and `cpu_quota` or `cpu_period` say the same thing; declare one of them".to_owned());
        }
    }
    if limits.cpu_period_us.is_some_and(|period| !(1_000..=1_000_000).contains(&period)) {
        problems.push("`cpu_period` is outside what the kernel accepts: 1ms to 1s".to_owned());
    }
    if limits.cpu_quota_us.is_some_and(|quota| quota < 1_000) {
        problems.push("`cpu_quota` is below what the kernel accepts: 1ms".to_owned());
    }
    if limits.cpu_shares.is_some_and(|shares| !(2..=262_144).contains(&shares)) {
        problems.push("`cpu_shares` is outside what the kernel accepts: 2 to 262144".to_owned());
    }
    if let Some(cpuset) = &limits.cpuset {
        match CpuList::parse(cpuset).map(|list| list.highest()) {
            None => problems.push(format!("`cpuset: {cpuset}` is not a list of CPUs such as `0,2-3`")),
            Some(highest) if facts.cpus > 0 && highest >= facts.cpus => {
                problems.push(format!("`cpuset: {cpuset}` names CPU {highest}, and the engine has 0 to {}", facts.cpus - 1));
            }
            Some(_) => {}
        }
    }
    if limits.memory_bytes.is_some_and(|bytes| bytes < LEAST_MEMORY) {
        problems.push("`mem_limit` is below what the engine accepts: 6m".to_owned());
    }
}

/// Limits that the daemon's kernel does not have at all; a daemon that says nothing of one is taken to have it.
fn features(limits: &LimitsSpec, abilities: &Abilities, problems: &mut Vec<String>) {
    let info = &abilities.info;
    let table = [
        (limits.quota().is_some(), info.cpu_cfs_quota, "a CPU quota (CFS bandwidth control)"),
        (limits.cpu_shares.is_some(), info.cpu_shares, "CPU shares"),
        (limits.cpuset.is_some(), info.cpu_set, "CPU sets"),
        (limits.memory_bytes.is_some(), info.memory_limit, "a memory limit"),
        (limits.pids.is_some(), info.pids_limit, "a limit of tasks"),
    ];
    for (wanted, able, what) in table {
        if wanted && able == Some(false) {
            problems.push(format!("the engine's kernel does not support {what}"));
        }
    }
}

fn container(spec: &UnitSpec, problems: &mut Vec<String>) {
    let container = &spec.container;
    for (name, soft, hard) in &container.ulimits {
        if !ULIMITS.contains(&name.as_str()) {
            problems.push(format!("`ulimits: {name}` is not a resource limit; known: {}", ULIMITS.join(", ")));
        } else if soft > hard && *hard >= 0 {
            problems.push(format!("`ulimits: {name}` has the soft limit {soft} above the hard limit {hard}"));
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::create::tests::spec;
    use super::*;
    use crate::model::spec::{FileSpec, ImageSpec};
    use bollard::models::{SystemInfo, SystemVersion};

    /// A daemon that tells nothing.
    pub(super) fn abilities() -> Abilities {
        Abilities { api: "1.41".into(), version: SystemVersion::default(), info: SystemInfo::default() }
    }

    /// What is told of a spec after a change.
    pub(super) fn problems(change: impl FnOnce(&mut UnitSpec)) -> Vec<String> {
        let mut spec = spec(&["true"]);
        change(&mut spec);
        unsupported(&spec, &EngineFacts { cpus: 4, ..EngineFacts::default() }, &abilities())
    }

    #[test]
    fn cpus_must_lie_between_a_hundredth_and_all() {
        for (cpus, fine) in [(0.001, false), (0.01, true), (0.5, true), (4.0, true), (4.01, false), (64.0, false)] {
            assert_eq!(problems(|spec| spec.limits.cpus = Some(cpus)).is_empty(), fine, "{cpus}");
        }
    }

    #[test]
    fn cpusets_must_exist() {
        for (cpuset, fine) in [("0", true), ("0,2-3", true), ("4", false), ("3-1", false), ("", false), ("a", false), ("0-9", false)] {
            assert_eq!(problems(|spec| spec.limits.cpuset = Some(cpuset.into())).is_empty(), fine, "{cpuset}");
        }
    }

    #[test]
    fn a_kernel_without_a_limit_is_told_only_when_it_is_asked_for() {
        let mut able = abilities();
        able.info.cpu_cfs_quota = Some(false);
        let facts = EngineFacts { cpus: 4, ..EngineFacts::default() };
        let mut spec = spec(&["true"]);
        assert_eq!(unsupported(&spec, &facts, &able), Vec::<String>::new());
        spec.limits.cpus = Some(1.0);
        assert_eq!(unsupported(&spec, &facts, &able), ["the engine's kernel does not support a CPU quota (CFS bandwidth control)"]);
    }

    #[test]
    fn settings_that_would_have_no_effect_or_fail_later_are_told() {
        let file = FileSpec::text("/data/x", "", 0o644);
        let net = ("net.core.somaxconn".to_owned(), "1".to_owned());
        assert_eq!(problems(|spec| spec.container.sysctls.push(net.clone())).len(), 0);
        assert_eq!(problems(|spec| (spec.container.network_mode, spec.container.sysctls) = (Some("host".into()), vec![net])).len(), 1);
        assert_eq!(problems(|spec| (spec.container.read_only, spec.files) = (true, vec![file.clone()])).len(), 1);
        assert_eq!(problems(|spec| (spec.container.tmpfs, spec.files) = (vec![("/data".into(), String::new())], vec![file])).len(), 1);
        assert_eq!(problems(|spec| spec.container.ulimits = vec![("nofile".into(), 10, 20), ("nofiles".into(), 1, 1)]).len(), 1);
        assert_eq!(problems(|spec| spec.limits.memory_bytes = Some(1 << 20)).len(), 1);
        assert_eq!(problems(|spec| (spec.limits.cpus, spec.limits.cpu_quota_us) = (Some(1.0), Some(5_000))).len(), 1);
        assert_eq!(problems(|spec| spec.place = Place::Host).len(), 1);
        let pack = |command: &[&str]| {
            let command = command.iter().map(|word| (*word).to_owned()).collect();
            problems(|spec| (spec.image, spec.command) = (Some(ImageSpec::Pack(vec!["/bin/true".into()])), command))
        };
        assert_eq!(pack(&["true"]), Vec::<String>::new());
        assert_eq!(pack(&[]), ["a packed image has no command of its own: declare `command`"]);
    }
}
