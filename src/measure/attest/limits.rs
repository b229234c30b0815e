//! Limits of a cgroup: quota, shares, cpuset, memory and task limits.
//!
//! CPU lists are spelled without ranges of one, memory in whole pages, unlimited as `max`.

use crate::model::cgroup::{CgroupLayout, linear_weight_of_shares, weight_of_shares};
use crate::model::cpus::CpuList;
use crate::model::event::Attested;
use crate::model::spec::LimitsSpec;
use std::path::{Path, PathBuf};

/// Reads back every limit of `limits` from the cgroup `leaf` (relative to each hierarchy's root).
///
/// `found` is none where the group or the file does not exist, as before a container's start and after its exit.
#[must_use]
pub fn read(layout: &CgroupLayout, unit: &str, leaf: &str, limits: &LimitsSpec) -> Vec<Attested> {
    let v2 = layout.is_v2();
    let mut rows = Vec::new();
    let mut row = |setting: &str, controller: &str, file: &str, asked: String, found: &dyn Fn(&Path) -> Option<String>| {
        let source = layout.dir(controller, leaf).unwrap_or_else(|| PathBuf::from(controller)).join(file);
        let found = found(&source);
        rows.push(Attested { unit: unit.to_owned(), setting: setting.to_owned(), asked, found, source: source.display().to_string() });
    };
    if let Some((quota, period)) = limits.quota() {
        let file = if v2 { "cpu.max" } else { "cpu.cfs_quota_us" };
        row("cpu.quota", "cpu", file, format!("{quota} per {period} us"), &bandwidth);
    }
    if let (None, Some(period)) = (limits.quota(), limits.cpu_period_us) {
        let file = if v2 { "cpu.max" } else { "cpu.cfs_quota_us" };
        row("cpu.quota", "cpu", file, format!("max per {period} us"), &bandwidth);
    }
    if let Some(shares) = limits.cpu_shares {
        let file = if v2 { "cpu.weight" } else { "cpu.shares" };
        let raw = layout.dir("cpu", leaf).and_then(|folder| text(&folder.join(file)));
        let asked = if v2 { asked_weight(shares, raw.as_deref()) } else { shares.to_string() };
        row("cpu.shares", "cpu", file, asked, &|_| raw.as_deref().map(|raw| if v2 { told_weight(shares, raw) } else { raw.to_owned() }));
    }
    if let Some(cpuset) = &limits.cpuset {
        row("cpuset", "cpuset", "cpuset.cpus", cpu_list(cpuset), &|path| text(path).map(|found| cpu_list(&found)));
    }
    if let Some(bytes) = limits.memory_bytes {
        let file = if v2 { "memory.max" } else { "memory.limit_in_bytes" };
        row("memory.limit", "memory", file, pages(bytes), &|path| {
            text(path).map(|found| found.parse().map_or(found, pages)) // `max` stays `max`
        });
    }
    if let Some(pids) = limits.pids {
        row("pids.limit", "pids", "pids.max", pids.to_string(), &text);
    }
    rows
}

fn text(path: &Path) -> Option<String> {
    std::fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}

/// Quota and period, from version 2's one file or version 1's two.
fn bandwidth(path: &Path) -> Option<String> {
    let found = text(path)?;
    let (quota, period) = match found.split_once(' ') {
        Some((quota, period)) => (quota.to_owned(), period.to_owned()),
        None => (found, text(&path.with_file_name("cpu.cfs_period_us"))?),
    };
    let quota = if quota == "-1" { "max".to_owned() } else { quota };
    Some(format!("{quota} per {period} us"))
}

/// Version 2 knows weights only, and runtimes differ in how they make one of shares: either rule is what was asked, and the
/// weight stands beside the shares, so that records with different effective weights do not look alike.
fn told_weight(shares: u64, raw: &str) -> String {
    let known = [weight_of_shares(shares), linear_weight_of_shares(shares)];
    if known.iter().any(|weight| weight.to_string() == raw) { format!("{shares} (weight {raw})") } else { format!("weight {raw}") }
}

fn asked_weight(shares: u64, raw: Option<&str>) -> String {
    let told = raw.map(|raw| told_weight(shares, raw)).filter(|told| !told.starts_with('w'));
    told.unwrap_or_else(|| format!("{shares} (weight {})", weight_of_shares(shares)))
}

/// A CPU list in its shortest form, as the kernel prints it; what is not one stays as it is.
fn cpu_list(list: &str) -> String {
    CpuList::parse(list).map_or_else(|| list.trim().to_owned(), |list| list.to_string())
}

/// Bytes in whole pages, rounded down as the kernel does.
fn pages(bytes: u64) -> String {
    let page = rustix::param::page_size() as u64;
    (bytes / page * page).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_lists_are_spelled_one_way() {
        for (list, spelled) in
            [("0,1", "0-1"), ("0-1", "0-1"), ("3, 1,0-1", "0-1,3"), ("2", "2"), ("", ""), ("x", "x"), ("0-99999", "0-99999")]
        {
            assert_eq!(cpu_list(list), spelled, "{list}");
        }
    }

    #[test]
    fn weights_of_either_rule_are_what_was_asked() {
        let table = [(Some("100"), "1024 (weight 100)", "1024 (weight 100)"), (Some("39"), "1024 (weight 39)", "1024 (weight 39)")];
        for (raw, asked, found) in table {
            assert_eq!((asked_weight(1024, raw).as_str(), raw.map(|raw| told_weight(1024, raw)).as_deref()), (asked, Some(found)));
        }
        assert_eq!((asked_weight(1024, Some("77")).as_str(), told_weight(1024, "77").as_str()), ("1024 (weight 100)", "weight 77"));
        assert_eq!(asked_weight(1024, None), "1024 (weight 100)");
    }

    #[test]
    fn memory_counts_in_pages() {
        assert_eq!(pages(rustix::param::page_size() as u64 * 3 + 1), (rustix::param::page_size() * 3).to_string());
    }
}
