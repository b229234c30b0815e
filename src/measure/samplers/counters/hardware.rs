//! What the CPUs do about frequency and heat. Their files are not held open: a host may have hundreds of CPUs, and these are read
//! outside of the window.

use std::fs::read_to_string;
use std::path::{Path, PathBuf};

/// The one governor that does not follow the load.
const STEADY: &str = "performance";

/// The CPUs' folders.
#[derive(Debug)]
pub(super) struct Hardware {
    cpus: Vec<PathBuf>,
}

impl Hardware {
    /// Lists the CPUs of this host, `/sys/devices/system/cpu`.
    pub(super) fn find(folder: &Path) -> Self {
        let is_cpu = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_prefix("cpu"));
            name.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
        };
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        Self { cpus: entries.map(|entry| entry.path()).filter(is_cpu).collect() }
    }

    /// How many CPUs have another governor than `performance`, of how many that have one.
    pub(super) fn governors(&self) -> Option<(u32, u32)> {
        let mut found = (0, 0);
        for governor in self.cpus.iter().filter_map(|cpu| read_to_string(cpu.join("cpufreq/scaling_governor")).ok()) {
            found = (found.0 + u32::from(governor.trim() != STEADY), found.1 + 1);
        }
        (found.1 > 0).then_some(found)
    }

    /// Mean clock rate in Hz of those that tell.
    pub(super) fn clock_rate(&self) -> Option<f64> {
        let rates: Vec<f64> = self.numbers("cpufreq/scaling_cur_freq").map(|khz| khz as f64 * 1e3).collect();
        (!rates.is_empty()).then(|| rates.iter().sum::<f64>() / rates.len() as f64)
    }

    /// How often they slowed themselves for heat, cores and packages. A package tells its count at each of its CPUs.
    pub(super) fn throttles(&self) -> Option<u64> {
        let cores = self.numbers("thermal_throttle/core_throttle_count").reduce(|sum, count| sum + count);
        let package = self.numbers("thermal_throttle/package_throttle_count").max();
        (cores.is_some() || package.is_some()).then(|| cores.unwrap_or(0) + package.unwrap_or(0))
    }

    fn numbers(&self, file: &'static str) -> impl Iterator<Item = u64> + '_ {
        self.cpus.iter().filter_map(move |cpu| super::super::source::number(&read_to_string(cpu.join(file)).ok()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cpu_is_asked() {
        let root = tempfile::tempdir().expect("folder");
        let put = |file: &str, text: &str| {
            let path = root.path().join(file);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("folder");
            std::fs::write(path, text).expect("write");
        };
        put("cpufreq/policy0/scaling_governor", "powersave\n");
        put("cpu10/topology/core_id", "0\n");
        let bare = Hardware::find(root.path());
        assert_eq!((bare.cpus.len(), bare.governors(), bare.clock_rate(), bare.throttles()), (1, None, None, None));
        for (cpu, governor, khz, heat) in [("cpu0", "performance\n", "2000000\n", "3\n"), ("cpu1", "powersave\n", "3000000\n", "0\n")] {
            put(&format!("{cpu}/cpufreq/scaling_governor"), governor);
            put(&format!("{cpu}/cpufreq/scaling_cur_freq"), khz);
            put(&format!("{cpu}/thermal_throttle/core_throttle_count"), heat);
            put(&format!("{cpu}/thermal_throttle/package_throttle_count"), "5\n");
        }
        let cpus = Hardware::find(root.path());
        assert_eq!((cpus.governors(), cpus.clock_rate(), cpus.throttles()), (Some((1, 2)), Some(2.5e9), Some(8)));
    }
}
