//! The program as its users start it: in a folder of its own, its output caught.

use shakedown::model::event::{Event, TrialRow};
use shakedown::record::read_journal;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A folder with manifests, and later reports.
pub struct Place {
    folder: tempfile::TempDir,
}

/// What the program said.
#[derive(Debug)]
pub struct Said {
    /// Exit code; -1 after a signal.
    pub code: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Said {
    /// Code and both streams as one text, without what differs from run to run.
    pub fn transcript(&self) -> String {
        let whole = format!("code {}\n-- stdout --\n{}-- stderr --\n{}", self.code, self.stdout, self.stderr);
        let run = regex::Regex::new(r"\d{4}-\d\d-\d\d-[A-Za-z0-9-]+-[0-9a-f]{6}").expect("expression");
        let left = regex::Regex::new(r"(?:\d+ h )?(?:\d+ min )?\d+ s left").expect("expression");
        let digest = regex::Regex::new(r"digest [0-9a-f]{16}").expect("expression");
        let whole = digest.replace_all(&whole, "digest <digest>").into_owned();
        left.replace_all(&run.replace_all(&whole, "<run>"), "<time> left").into_owned()
    }
}

impl Place {
    /// An empty folder.
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("folder") }
    }

    /// A folder with one manifest, `experiments/<name>.yaml`.
    pub fn with(name: &str, manifest: &str) -> Self {
        let place = Self::new();
        place.manifest(name, manifest);
        place
    }

    /// A path below the folder.
    pub fn path(&self, relative: &str) -> PathBuf {
        self.folder.path().join(relative)
    }

    /// Writes a file.
    pub fn write(&self, relative: &str, content: impl AsRef<[u8]>) {
        let path = self.path(relative);
        std::fs::create_dir_all(path.parent().expect("parent")).expect("folder");
        std::fs::write(path, content).expect("write");
    }

    /// Writes `experiments/<name>.yaml`.
    pub fn manifest(&self, name: &str, text: &str) {
        self.write(&format!("experiments/{name}.yaml"), text);
    }

    /// The program with these arguments, in this folder, and without the caller's settings.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_shakedown"));
        command.args(arguments).current_dir(self.folder.path()).stdin(Stdio::null());
        for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "CI", "SHAKEDOWN_ENGINE", "COLUMNS"] {
            command.env_remove(name);
        }
        // Tests run beside each other; who measures alone is a test of its own.
        command.env("SHAKEDOWN_TOGETHER", "1");
        command
    }

    /// Runs it to its end.
    pub fn run(&self, arguments: &[&str]) -> Said {
        said(&self.command(arguments).output().expect("run"))
    }

    /// Runs it on a scripted engine.
    pub fn fake(&self, script: &str, arguments: &[&str]) -> Said {
        self.write("script.json", script);
        self.run(&[arguments, &["--engine", "fake:script.json"]].concat())
    }

    /// The journals of an experiment's runs, by folder name. Every complete line must be an event.
    pub fn journals(&self, name: &str) -> Vec<Vec<Event>> {
        let runs = self.path(&format!("reports/{name}/runs"));
        let mut folders: Vec<PathBuf> = std::fs::read_dir(runs).into_iter().flatten().map(|entry| entry.expect("entry").path()).collect();
        folders.sort();
        folders.iter().map(|folder| read_journal(&folder.join("journal.jsonl")).expect("a well-formed journal")).collect()
    }

    /// All rows of an experiment.
    pub fn rows(&self, name: &str) -> Vec<TrialRow> {
        let row = |event| if let Event::TrialFinished(row) = event { Some(*row) } else { None };
        self.journals(name).into_iter().flatten().filter_map(row).collect()
    }

    /// The ids of all runs that wrote into an experiment's journals.
    pub fn run_ids(&self, name: &str) -> Vec<String> {
        let id = |event| if let Event::RunStarted(started) = event { Some(started.run) } else { None };
        self.journals(name).into_iter().flatten().filter_map(id).collect()
    }
}

/// What an ended program said.
pub fn said(output: &Output) -> Said {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Said { code: output.status.code().unwrap_or(-1), stdout: text(&output.stdout), stderr: text(&output.stderr) }
}

/// Sends a signal to a process that the caller started and has not waited for.
pub fn signal(child: &std::process::Child, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_raw(i32::try_from(child.id()).expect("pid")).expect("pid");
    rustix::process::kill_process(pid, signal).expect("signal");
}

/// What is left on this host of these runs: control groups, folders and mounts for files, and processes whose command line has `tag`.
pub fn left(runs: &[String], tag: &str) -> Vec<String> {
    let mut found = Vec::new();
    let layout = shakedown::engine::control::layout().expect("layout");
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").expect("mounts");
    for run in runs {
        let groups = layout.roots().into_iter().map(|root| root.join("shakedown").join(run));
        found.extend(groups.filter(|group| group.exists()).map(|group| group.display().to_string()));
        found.extend(mounts.lines().filter(|line| line.contains(&format!("shakedown-files-{run}"))).map(str::to_owned));
        let scratch = std::fs::read_dir(std::env::temp_dir()).expect("temporary folder").flatten();
        let ours = scratch.filter(|entry| entry.file_name().to_string_lossy().starts_with(&format!("shakedown-files-{run}-")));
        found.extend(ours.map(|entry| entry.path().display().to_string()));
    }
    found.extend(processes(tag).into_iter().map(|pid| format!("process {pid}")));
    found
}

/// Processes whose command line has `tag`.
fn processes(tag: &str) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").expect("proc").flatten().map(|entry| entry.path());
    let has_tag = |path: &PathBuf| {
        let line = std::fs::read(path.join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(tag)
    };
    entries.filter(|path| !tag.is_empty() && has_tag(path)).filter_map(|path| name(&path)).collect()
}

fn name(path: &Path) -> Option<String> {
    Some(path.file_name()?.to_str()?.to_owned())
}
