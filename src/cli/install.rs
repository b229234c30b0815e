//! `doctor --install`: Debian packages, installed on consent, with none of their services started.

use super::{exit, talk};
use rustix::fs::{FlockOperation, flock};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::OpenOptions;
use std::io::{self, IsTerminal, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use tokio::process::{Child, Command};
use tokio::signal::unix::{SignalKind, signal};

/// What Debian asks before a package's service is started (invoke-rc.d(8), deb-systemd-invoke(1)).
const POLICY: &str = "/usr/sbin/policy-rc.d";
/// Held while packages are installed, by `scripts/machine` as well: one of us at a time.
const LOCK: &str = "/run/shakedown-install.lock";
/// The answer "not allowed" (101) to every question. `scripts/machine` writes the same text, so that each knows the other's.
const FORBID: &str = "#!/bin/sh\n# Made by shakedown while it installs packages. Left behind by a power cut it may be removed.\nexit 101\n";

/// Installs packages, and says what it does. Nothing is done without consent.
pub async fn install(packages: &[&str], yes: bool) -> u8 {
    if packages.is_empty() {
        talk::note("nothing is missing");
        return exit::OK;
    }
    let list = packages.join(" ");
    talk::note(format!("missing Debian packages: {list}"));
    if std::env::var_os("PATH").is_none_or(|path| !std::env::split_paths(&path).any(|folder| folder.join("apt-get").is_file())) {
        talk::error("this system has no apt-get: install what brings the same programs, then run `shakedown doctor` again");
        return exit::MACHINE;
    }
    if !rustix::process::geteuid().is_root() {
        talk::error(format!(
            "only root installs packages: `sudo shakedown doctor --install`, or `sudo apt-get install --no-install-recommends {list}`, which \
             starts their services"
        ));
        return exit::MACHINE;
    }
    if !yes {
        if !io::stdin().is_terminal() {
            talk::error("would install them; no terminal to ask on: say `--yes`");
            return exit::MACHINE;
        }
        if !consents() {
            talk::note("nothing was installed");
            return exit::MACHINE;
        }
    }
    // Named by the environment in tests only, hence not in the help.
    let path = |name: &str, usual: &str| PathBuf::from(std::env::var_os(name).unwrap_or_else(|| usual.into()));
    match with_apt(&path("SHAKEDOWN_POLICY", POLICY), &path("SHAKEDOWN_INSTALL_LOCK", LOCK), packages).await {
        Ok(()) => {
            talk::note(format!("installed {list}"));
            if packages.contains(&"docker.io") {
                talk::note("start the daemon with `systemctl start docker` (or `service docker start`)");
            }
            exit::OK
        }
        Err(Failure::Signal(code)) => code,
        Err(failure) => {
            talk::error(failure);
            exit::MACHINE
        }
    }
}

fn consents() -> bool {
    let _ = write!(anstream::stderr(), "install them? [y/N] ");
    let mut answer = String::new();
    io::stdin().read_line(&mut answer).is_ok() && matches!(answer.trim(), "y" | "Y" | "yes")
}

/// Packages were not installed.
#[derive(Debug, thiserror::Error)]
enum Failure {
    /// A file of ours could not be made.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// apt-get could not be run.
    #[error("run apt-get: {0}")]
    NotRun(io::Error),
    /// Another process of ours installs.
    #[error("another `shakedown doctor --install` or `scripts/machine` is installing: wait for it and try again")]
    Busy,
    /// apt-get failed, and said why by itself.
    #[error("`{0}` failed: see above, and try again")]
    Apt(String),
    /// A signal came; the exit code for it.
    #[error("stopped by a signal")]
    Signal(u8),
}

/// Runs apt-get with services forbidden.
async fn with_apt(policy: &Path, lock: &Path, packages: &[&str]) -> Result<(), Failure> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| Failure::File { path, source }
    };
    let held = OpenOptions::new().create(true).append(true).open(lock).map_err(failed(lock))?;
    flock(&held, FlockOperation::NonBlockingLockExclusive).map_err(|_| Failure::Busy)?;
    let mut signals = Signals::new().map_err(Failure::NotRun)?;
    let update: &[&str] = &["update", "-qq"];
    let install = [&["install", "-y", "--no-install-recommends"], packages].concat();
    // Made last and dropped first: no signal ends this process as long as it lives.
    let _policy = Policy::forbid(policy).map_err(failed(policy))?;
    for arguments in [update, &install] {
        let child = Command::new("apt-get")
            .args(arguments)
            .env("DEBIAN_FRONTEND", "noninteractive")
            .stdin(Stdio::null())
            // What apt-get tells is talk; standard output is for data.
            .stdout(io::stderr())
            .spawn()
            .map_err(Failure::NotRun)?;
        let good = signals.wait(child).await.map_err(Failure::NotRun)?;
        if let Some(code) = signals.code {
            return Err(Failure::Signal(code));
        }
        if !good {
            return Err(Failure::Apt(format!("apt-get {}", arguments.join(" "))));
        }
    }
    Ok(())
}

/// Signals while apt-get runs: it may finish or stop in its own way, and only then do we end.
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    hangup: tokio::signal::unix::Signal,
    /// The exit code of the last one that came.
    code: Option<u8>,
}

impl Signals {
    fn new() -> io::Result<Self> {
        let (interrupt, terminate, hangup) =
            (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?, signal(SignalKind::hangup())?);
        Ok(Self { interrupt, terminate, hangup, code: None })
    }

    /// Waits for a child, and says whether it ended well. A terminal sends its signals to the child by itself, others do not.
    async fn wait(&mut self, mut child: Child) -> io::Result<bool> {
        let pid = child.id().and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw);
        loop {
            tokio::select! {
                status = child.wait() => return status.map(|status| status.success()),
                _ = self.interrupt.recv() => self.code = Some(exit::INTERRUPTED),
                _ = self.terminate.recv() => self.pass_on(pid),
                _ = self.hangup.recv() => self.pass_on(pid),
            }
        }
    }

    fn pass_on(&mut self, pid: Option<Pid>) {
        self.code = Some(exit::TERMINATED);
        if let Some(pid) = pid {
            let _ = kill_process(pid, Signal::TERM); // it may have ended meanwhile
        }
    }
}

/// Forbids the start of services for as long as it lives, where nobody else decides that already.
struct Policy {
    /// The file, when it is ours to remove.
    made: Option<PathBuf>,
}

impl Policy {
    /// Never changes a file that is not ours. The caller holds the lock, so a file of ours was left by a process that is dead.
    fn forbid(path: &Path) -> io::Result<Self> {
        let made = Some(path.to_owned());
        match OpenOptions::new().write(true).create_new(true).mode(0o755).open(path) {
            Ok(mut file) => {
                let policy = Self { made };
                file.write_all(FORBID.as_bytes()).map(|()| policy)
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let ours = std::fs::read_to_string(path).is_ok_and(|text| text == FORBID);
                if !ours {
                    talk::note(format!("{} is there and decides whether services are started", path.display()));
                }
                Ok(Self { made: made.filter(|_| ours) })
            }
            Err(error) => Err(error),
        }
    }
}

impl Drop for Policy {
    fn drop(&mut self) {
        if let Some(path) = &self.made
            && let Err(error) = std::fs::remove_file(path)
        {
            talk::error(format!("remove {}: {error}; remove it by hand, or no service of a new package will be started", path.display()));
        }
    }
}
