//! A temporary folder with one manifest, and the real program run on it.

use super::child::{self, Usage};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// The program under test, built with the bench.
const SHAKEDOWN: &str = env!("CARGO_BIN_EXE_shakedown");

/// A folder with a manifest; it goes with all that was recorded.
pub struct Scene {
    folder: TempDir,
}

/// One `run` and what its journal says of it.
#[derive(Debug)]
pub struct Ran {
    /// The whole process.
    pub usage: Usage,
    /// Trials.
    pub trials: usize,
    /// Seconds from the start of the first trial to the end of the last one's row, divided by their number: everything that one
    /// more trial costs, its rows in the journal included.
    pub per_trial: f64,
    /// Digests of the images that were made ready.
    pub images: Vec<String>,
}

impl Scene {
    /// A folder in which `bench.yaml` says `manifest`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn new(manifest: &str) -> Result<Self, String> {
        let folder = tempfile::Builder::new().prefix("shakedown-bench-").tempdir().map_err(|error| error.to_string())?;
        std::fs::write(folder.path().join("bench.yaml"), manifest).map_err(|error| error.to_string())?;
        Ok(Self { folder })
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The folder of reports.
    pub fn reports(&self) -> PathBuf {
        self.path().join("reports")
    }

    /// The program with `words`, here.
    pub fn shakedown(&self, words: &[&str]) -> Command {
        let mut command = Command::new(SHAKEDOWN);
        command.args(words).current_dir(self.path()).stdout(Stdio::null());
        command
    }

    /// Plans `manifest` as JSON.
    ///
    /// # Errors
    /// When it fails.
    pub fn plan(&self, manifest: &Path) -> Result<Usage, String> {
        child::run(self.shakedown(&["plan", "--format", "json"]).arg(manifest))
    }

    /// Runs the manifest with so many blocks, afresh.
    ///
    /// # Errors
    /// When it fails, or its journal cannot be read.
    pub fn run(&self, blocks: u32) -> Result<Ran, String> {
        let _ = std::fs::remove_dir_all(self.reports()); // the first time there is none
        let blocks = blocks.to_string();
        let usage = child::run(&mut self.shakedown(&["run", "bench.yaml", "--blocks", &blocks]))?;
        self.read_journal(usage)
    }

    fn read_journal(&self, usage: Usage) -> Result<Ran, String> {
        let runs = std::fs::read_dir(self.reports().join("bench/runs")).map_err(|error| error.to_string())?;
        let run = runs.flatten().next().ok_or("no run was recorded")?.path();
        let text = std::fs::read_to_string(run.join("journal.jsonl")).map_err(|error| error.to_string())?;
        let events: Vec<serde_json::Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let named = |name: &'static str| events.iter().filter(move |event| event["event"] == name);
        let at = |event: Option<&serde_json::Value>| -> Result<f64, String> {
            let stamp = event.and_then(|event| event["at"].as_str()).ok_or("the journal has no such stamp")?;
            let stamp: jiff::Timestamp = stamp.parse().map_err(|error: jiff::Error| error.to_string())?;
            Ok(stamp.as_nanosecond() as f64 / 1e9)
        };
        let trials = named("trial-finished").filter(|event| event["outcome"] == "ok").count();
        if trials == 0 {
            return Err("no trial ended well".to_owned());
        }
        let per_trial = (at(named("run-finished").next())? - at(named("trial-started").next())?) / trials as f64;
        let images = named("image-ready").filter_map(|event| event["digest"].as_str()).map(str::to_owned).collect();
        Ok(Ran { usage, trials, per_trial, images })
    }
}
