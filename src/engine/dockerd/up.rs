//! A private daemon that answers: what is asked of it, checked against what was asked for.

use super::daemons::{Daemons, Loaded};
use super::possible::Host;
use super::sandbox::Sandbox;
use super::{failed, lock, place, room, tools};
use crate::engine::control::{self, Control};
use crate::engine::docker::{Docker, Env};
use crate::engine::grouped::Grouped;
use crate::engine::namespace::Namespace;
use crate::engine::once::once;
use crate::engine::{Engine, EngineError, Image, UnitName};
use crate::model::private::{Filesystem, PrivateSpec};
use crate::model::spec::{ContainerSpec, ImageSpec, Place, UnitSpec};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// What a container does that shows whether any can run.
const TRUE: &str = "/bin/true";

/// A daemon that is up.
pub(super) struct Up {
    pub docker: Grouped<Docker>,
    pub namespace: Arc<Namespace>,
    /// How long it took until its API answered, the making of its data root included.
    pub ready_after: Duration,
    spec: PrivateSpec,
    sandbox: Sandbox,
    control: Control,
    /// What is on its data root.
    images: Mutex<Loaded>,
    /// Whether that is more than it started with.
    grown: AtomicBool,
    /// Whether it made anything but images.
    touched: AtomicBool,
    /// Control groups around its containers.
    groups: Mutex<BTreeSet<String>>,
}

impl Up {
    /// Starts a daemon, and sees that it is what was asked for and runs containers. After an error nothing of it is left.
    pub(super) async fn start(spec: &PrivateSpec, daemons: &Arc<Daemons>, run: &str) -> Result<Self, EngineError> {
        let begun = Instant::now();
        let mut sandbox = Sandbox::start(spec, daemons, run).await?;
        let images = sandbox.seeded.take().unwrap_or_default();
        let (docker, namespace) = match Self::reach(spec, &sandbox).await {
            Ok(reached) => reached,
            Err(error) => {
                let _ = sandbox.end().await; // the first error is the one to tell
                return Err(error);
            }
        };
        let control = Control::new(control::layout().unwrap_or_default());
        let up = Self {
            docker: Grouped::new(docker, control.clone()),
            namespace: Arc::new(namespace),
            ready_after: begun.elapsed(),
            spec: spec.clone(),
            sandbox,
            control,
            images: Mutex::new(images),
            grown: AtomicBool::new(false),
            touched: AtomicBool::new(false),
            groups: Mutex::default(),
        };
        if !daemons.is_proven(spec) {
            if let Err(error) = up.prove().await {
                let _ = up.end(daemons).await; // the first error is the one to tell
                return Err(error);
            }
            daemons.prove(spec);
        }
        Ok(up)
    }

    /// Waits for its API, and compares what it is with what was asked for.
    async fn reach(spec: &PrivateSpec, sandbox: &Sandbox) -> Result<(Docker, Namespace), EngineError> {
        let docker = sandbox.connect().await?;
        let (pid, filesystem) = sandbox.process()?;
        let driver = docker.facts().await?.storage_driver;
        let table = [
            ("storage driver", spec.storage_driver.as_str(), driver.as_str()),
            ("file system", spec.backing.filesystem.name(), filesystem.as_str()),
        ];
        for (what, asked, is) in table {
            if asked != is {
                return Err(EngineError::Unsupported {
                    what: format!("private daemon ({}): its {what} is `{is}`, not `{asked}`", spec.label()),
                });
            }
        }
        let namespace = Namespace::of_process(pid).map_err(|error| failed("open the network namespace of a private daemon", error))?;
        Ok((docker, namespace))
    }

    /// Runs a container: some drivers come up and fail only then.
    async fn prove(&self) -> Result<(), EngineError> {
        let why = match self.run_true().await {
            Ok(0) => return Ok(()),
            Ok(code) => format!("`{TRUE}` ended with {code}"),
            Err(error) => error.to_string(),
        };
        if let Some(reason) = self.end_noticed().await {
            return Err(failed("run a first container", reason));
        }
        let (driver, filesystem) = (&self.spec.storage_driver, self.spec.backing.filesystem.name());
        let version = self.docker.facts().await.map(|facts| facts.version).unwrap_or_default();
        let others = Host::this(Some(&version), tools::search_path(&self.spec)).available();
        let what = format!(
            "`storage_driver: {driver}` on {filesystem}: the daemon comes up, but no container runs on it: {why}; available here, \
             as far as is known without trying: {others}"
        );
        Err(EngineError::Unsupported { what })
    }

    async fn run_true(&self) -> Result<i64, EngineError> {
        let image = self.docker.image(&ImageSpec::Pack(vec![PathBuf::from(TRUE)]), Path::new("/")).await?;
        let unit = format!("{}-probe", self.sandbox.place.slot);
        let name = UnitName { run: self.run().to_owned(), experiment: String::new(), trial: place::TRIAL.to_owned(), unit };
        let spec = UnitSpec {
            command: vec![TRUE.to_owned()],
            container: ContainerSpec { network_mode: Some("none".to_owned()), ..ContainerSpec::default() },
            ..UnitSpec::bare(Place::Container)
        };
        self.note(&name.cgroup());
        let code = once(&self.docker, &name, &spec, Some(&image)).await?.code;
        self.docker.inner().forget_image(&image).await?;
        Ok(code)
    }

    /// Makes an image ready on it. Nothing leads out of its namespace: what has to be pulled or built is made ready on the daemon
    /// at `elsewhere`, and taken from there.
    pub(super) async fn load(&self, image: &ImageSpec, folder: &Path, elsewhere: Option<&str>) -> Result<Image, EngineError> {
        let ready = match image {
            ImageSpec::Pack(_) | ImageSpec::Archive(_) => self.docker.image(image, folder).await?,
            ImageSpec::Reference(_) | ImageSpec::Build { .. } => {
                let other = Docker::connect(elsewhere, &Env::of_process()).await.map_err(|error| EngineError::Image {
                    image: image.to_string(),
                    reason: format!("a private daemon has no network to the outside and takes it from another one: {error}"),
                })?;
                let made = other.image(image, folder).await?;
                self.docker.inner().take_image(&other, &made).await?
            }
        };
        if !self.has(image, folder) {
            lock(&self.images).push((image.clone(), folder.to_owned()));
            self.grown.store(true, Ordering::Relaxed);
        }
        Ok(ready)
    }

    /// Whether an image was made ready on its data root.
    pub(super) fn has(&self, image: &ImageSpec, folder: &Path) -> bool {
        lock(&self.images).iter().any(|(known, at)| known == image && at == folder)
    }

    /// Remembers that something else than an image is made.
    pub(super) fn touch(&self) {
        self.touched.store(true, Ordering::Relaxed);
    }

    /// Remembers a control group that may be made.
    pub(super) fn note(&self, group: &str) {
        lock(&self.groups).insert(group.to_owned());
    }

    /// Whether its data root should be the seed of later ones: new images, nothing else, and a file to keep.
    pub(super) fn is_worth_keeping(&self) -> bool {
        self.grown.load(Ordering::Relaxed) && !self.touched.load(Ordering::Relaxed) && self.spec.backing.filesystem != Filesystem::Tmpfs
    }

    /// The run that it is up for.
    pub(super) fn run(&self) -> &str {
        &self.sandbox.place.run
    }

    /// Whether it lives, and for this run.
    pub(super) fn serves(&self, run: &str) -> bool {
        self.run() == run && !self.sandbox.has_ended()
    }

    /// The control group of its processes.
    pub(super) fn group(&self) -> String {
        self.sandbox.place.group()
    }

    /// What is to be said of a unit that ended with `code`, when the data root is full.
    pub(super) fn full(&self, code: i64) -> Option<String> {
        let (pid, _) = self.sandbox.process().ok()?;
        // Through the daemon's own eyes: the data root is mounted in its namespace.
        let seen = format!("/proc/{pid}/root{}", self.sandbox.place.data().display());
        room::full(&self.spec, Path::new(&seen), code)
    }

    /// Its last word when it has ended; none when it lives.
    pub(super) async fn end_noticed(&self) -> Option<String> {
        self.sandbox.end_noticed().await
    }

    /// Ends it with everything in it; its data root becomes a seed when that is worth it.
    pub(super) async fn end(&self, daemons: &Arc<Daemons>) -> Result<(), EngineError> {
        let keep = self.is_worth_keeping() && self.sandbox.stop().await.is_ok();
        let ended = if keep {
            let images = lock(&self.images).clone();
            self.sandbox.end_as_seed(daemons, images).await
        } else {
            self.sandbox.end().await
        };
        let (control, groups) = (self.control.clone(), std::mem::take(&mut *lock(&self.groups)));
        let run = format!("{}/{}", control::TOP, self.run());
        let removed = tokio::task::spawn_blocking(move || {
            groups.iter().map(|group| control.remove_within(group, &run).map_err(EngineError::from)).fold(Ok(()), Result::and)
        });
        ended.and(removed.await.unwrap_or_else(|error| Err(failed("remove control groups", error))))
    }
}
