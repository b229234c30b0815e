//! The namespaces of one private daemon from their making to their end: a unit of this host, its files, and its control group.

use super::daemons::{Daemons, Loaded, Slot};
use super::place::{self, Place};
use super::{command, disk, ending, failed, files, sweep, tools};
use crate::engine::control::{self, Control};
use crate::engine::docker::{Docker, Env};
use crate::engine::native::NativeEngine;
use crate::engine::{Created, Engine, EngineError, UnitName};
use crate::model::private::PrivateSpec;
use crate::model::spec::{self, UnitSpec};
use futures_util::FutureExt;
use rustix::process::{Pid, Signal, kill_process};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long a daemon may take until its API answers.
const READY: Duration = Duration::from_secs(60);
/// The pause between two tries to reach it.
const PAUSE: Duration = Duration::from_millis(10);
/// How long it may take to stop when it is told to; with a containerd of its own it polls once a second.
const STOP: Duration = Duration::from_secs(30);
/// How long the end of a daemon may take to be noticed after a call to it has failed.
const NOTICE: Duration = Duration::from_millis(500);

/// One private daemon's namespaces. Dropped without [`Sandbox::end`], it is killed, and what is left waits for a sweep.
pub(super) struct Sandbox {
    pub place: Place,
    /// What its data root held when it was copied from a seed; none when it is fresh.
    pub seeded: Option<Loaded>,
    spec: PrivateSpec,
    native: Arc<NativeEngine>,
    control: Control,
    unit: Created,
    /// Given back once nothing is left.
    slot: Mutex<Option<Slot>>,
}

impl Sandbox {
    /// Makes the files of a daemon and starts it. After an error nothing of it is left.
    pub(super) async fn start(spec: &PrivateSpec, daemons: &Arc<Daemons>, run: &str) -> Result<Self, EngineError> {
        let native = daemons.native()?;
        let control = Control::new(control::layout().map_err(|error| failed("find the control groups", error))?);
        let slot = daemons.slot();
        let place = Place { run: run.to_owned(), slot: slot.number };
        if let Some(what) = place.too_long() {
            return Err(EngineError::Unsupported { what });
        }
        let name =
            UnitName { run: run.to_owned(), experiment: String::new(), trial: place::TRIAL.to_owned(), unit: slot.number.to_string() };
        let unit = Created { id: name.container(), cgroup: name.cgroup(), leaf: name.cgroup() };
        let slot = Mutex::new(Some(slot));
        let mut sandbox = Self { place, seeded: None, spec: spec.clone(), native, control, unit, slot };
        match sandbox.begin(daemons, &name).await {
            Ok(()) => Ok(sandbox),
            Err(error) => {
                let _ = sandbox.end().await; // the first error is the one to tell
                Err(error)
            }
        }
    }

    async fn begin(&mut self, daemons: &Arc<Daemons>, name: &UnitName) -> Result<(), EngineError> {
        let unsupported = |what| EngineError::Unsupported { what };
        let dockerd = tools::dockerd(&self.spec).map_err(unsupported)?;
        let init = tools::init().ok_or_else(|| unsupported(tools::missing("docker-init")))?;
        let command = command::command(&self.spec, &self.place, &dockerd, &init);
        let (spec, place, daemons) = (self.spec.clone(), self.place.clone(), Arc::clone(daemons));
        self.seeded = blocking(move || files::prepare(&spec, &place, &daemons)).await?;
        let environment = vec![("PATH".to_owned(), tools::search_path(&self.spec))];
        let unit = UnitSpec { command, environment, ..UnitSpec::bare(spec::Place::Host) };
        self.native.create(name, &unit, None).await?;
        self.native.start(&self.unit).await
    }

    /// Connects as soon as the daemon answers; at once an error when it ends instead.
    pub(super) async fn connect(&self) -> Result<Docker, EngineError> {
        let (socket, env) = (self.place.socket(), Env::of_process());
        let address = format!("unix://{}", socket.display());
        let connected = async {
            loop {
                if socket.exists()
                    && let Ok(docker) = Docker::connect(Some(&address), &env).await
                {
                    return docker;
                }
                tokio::time::sleep(PAUSE).await;
            }
        };
        tokio::select! {
            docker = connected => Ok(docker),
            _ = self.native.wait(&self.unit) => {
                let word = self.last_word().await;
                let what = ending::explained(&word);
                Err(if ending::is_final(&word) { EngineError::Unsupported { what: self.named(&what) } } else { failed("start", self.named(&what)) })
            }
            () = tokio::time::sleep(READY) => {
                let what = format!("it does not answer within {READY:?}; the last that it said: {}", self.last_word().await);
                Err(failed("start", self.named(&what)))
            }
        }
    }

    /// The daemon's process in this host's numbers, and the file system under its data root, as they are.
    pub(super) fn process(&self) -> Result<(u32, String), EngineError> {
        let call = |reason: String| failed("look at", self.named(&reason));
        let file = self.place.exec().join("docker.pid");
        let inner = fs_err::read_to_string(&file).map_err(|error| call(error.to_string()))?;
        let inner = inner.trim();
        let has = |pid: &u32| {
            let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
            status.lines().any(|line| line.starts_with("NSpid:") && line.split_whitespace().next_back() == Some(inner))
        };
        let pid = self.control.members(&self.unit.cgroup).into_iter().find(has);
        let pid = pid.ok_or_else(|| call(format!("its process {inner} is not in its control group")))?;
        let mounts = fs_err::read_to_string(format!("/proc/{pid}/mountinfo")).map_err(|error| call(error.to_string()))?;
        let data = self.place.data();
        let filesystem = filesystem_at(&mounts, &data).ok_or_else(|| call(format!("nothing is mounted on {}", data.display())))?;
        Ok((pid, filesystem.to_owned()))
    }

    /// Whether the daemon is no more.
    pub(super) fn has_ended(&self) -> bool {
        self.native.wait(&self.unit).now_or_never().is_some()
    }

    /// Why a call may have failed: the daemon's last word when it has ended; none when it lives.
    pub(super) async fn end_noticed(&self) -> Option<String> {
        let ended = tokio::time::timeout(NOTICE, self.native.wait(&self.unit)).await.is_ok();
        if !ended {
            return None;
        }
        Some(self.named(&format!("it has ended; the last that it said: {}", self.last_word().await)))
    }

    async fn last_word(&self) -> String {
        let output = self.native.output(&self.unit).await.unwrap_or_default();
        let text = [output.stdout.bytes, output.stderr.bytes].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        ending::last_word(&text).unwrap_or_else(|| "nothing".to_owned())
    }

    fn named(&self, what: &str) -> String {
        format!("private daemon ({}): {what}", self.spec.label())
    }

    /// Ends the daemon in peace, so that its data root can be used again.
    pub(super) async fn stop(&self) -> Result<(), EngineError> {
        let (pid, _) = self.process()?;
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or_else(|| failed("stop", self.named("it has no number")))?;
        kill_process(pid, Signal::TERM).map_err(|error| failed("stop", self.named(&error.to_string())))?;
        let late = |_| failed("stop", self.named(&format!("it does not end within {STOP:?}")));
        tokio::time::timeout(STOP, self.native.wait(&self.unit)).await.map_err(late)?
    }

    /// Ends all that is left of it, and removes its files; with `keep`, whose daemon was stopped, its disk becomes a seed.
    async fn end_with(&self, keep: Option<(Arc<Daemons>, Loaded)>) -> Result<(), EngineError> {
        let mut first = self.native.remove(&self.unit).await;
        let (control, place) = (self.control.clone(), self.place.clone());
        let spec = self.spec.clone();
        let rest = blocking(move || {
            let run = format!("{}/{}", control::TOP, place.run);
            let mut first = control.remove_within(&place.containers(), &run).map_err(EngineError::from);
            let disk = place.disk();
            let kept = match keep {
                Some((daemons, images)) => match disk::released(&disk) {
                    None => daemons.keep(&spec, &place, images),
                    Some(device) => Err(failed("keep the data root", format!("{} does not let go of it", device.display()))),
                },
                None => Ok(()),
            };
            first = first.and(kept);
            let call = |path: &Path| {
                let what = format!("remove {}", path.display());
                move |reason: String| failed(what, reason)
            };
            first = first.and(sweep::drop_disk(&disk).map_err(call(&disk)));
            let folder = place.folder();
            first = first.and(sweep::gone(std::fs::remove_dir_all(&folder)).map_err(call(&folder)));
            sweep::remove_parents();
            first
        });
        first = first.and(rest.await);
        if first.is_ok()
            && let Some(slot) = self.slot.lock().unwrap_or_else(PoisonError::into_inner).take()
        {
            slot.free();
        }
        first
    }

    /// Ends all that is left of it, and removes its files.
    pub(super) async fn end(&self) -> Result<(), EngineError> {
        self.end_with(None).await
    }

    /// The same after [`Sandbox::stop`], but its disk becomes a seed with these images.
    pub(super) async fn end_as_seed(&self, daemons: &Arc<Daemons>, images: Loaded) -> Result<(), EngineError> {
        self.end_with(Some((Arc::clone(daemons), images))).await
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        let ended = self.slot.get_mut().unwrap_or_else(PoisonError::into_inner).is_none();
        if !ended {
            // Given up on its way up or down. Its number stays taken: the engine of this host still knows its unit.
            let _ = self.control.remove(&self.unit.cgroup);
            let _ = self.control.remove(&self.place.containers());
            let _ = std::fs::remove_file(self.place.disk());
            let _ = std::fs::remove_dir_all(self.place.folder());
            sweep::remove_parents();
        }
    }
}

/// The type of what is mounted on `path`: the last one there covers the others.
fn filesystem_at<'m>(mountinfo: &'m str, path: &Path) -> Option<&'m str> {
    let at = |line: &&str| line.split(' ').nth(4).is_some_and(|at| Path::new(at) == path);
    mountinfo.lines().rfind(at)?.split_once(" - ")?.1.split(' ').next()
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T, EngineError> + Send + 'static) -> Result<T, EngineError> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(failed("attend a private daemon", error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_mount_on_a_path_counts() {
        let mounts = "22 1 254:0 / / rw - ext4 /dev/vda rw\n\
                      40 22 7:0 / /run/shakedown/r-0/data rw shared:3 - xfs /dev/loop0 rw\n\
                      41 22 7:0 / /run/shakedown/r-0/database rw - vfat /dev/x rw\n\
                      42 40 0:9 / /run/shakedown/r-0/data rw - tmpfs tmpfs rw\n";
        assert_eq!(filesystem_at(mounts, Path::new("/run/shakedown/r-0/data")), Some("tmpfs"));
        assert_eq!(filesystem_at(mounts, Path::new("/")), Some("ext4"));
        assert_eq!(filesystem_at(mounts, Path::new("/run")), None);
    }
}
