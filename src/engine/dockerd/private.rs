//! The engine: down until it is told to go up, and everything else left to the daemon that is up.

use super::daemons::{Daemons, Loaded};
use super::possible::Host;
use super::up::Up;
use super::{failed, lock, sweep_host, tools};
use crate::engine::control::{self, Control};
use crate::engine::namespace::Namespace;
use crate::engine::{Boxed, Created, Engine, EngineError, Executed, Exit, Furniture, Image, Output, Standing, UnitName, docker};
use crate::model::facts::EngineFacts;
use crate::model::private::PrivateSpec;
use crate::model::spec::{ImageSpec, UnitSpec};
use std::future::Future;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

/// A daemon that is started for one setting, and is down until [`Engine::up`].
pub struct Private {
    spec: PrivateSpec,
    daemons: Arc<Daemons>,
    version: OnceLock<String>,
    runtime: OnceLock<String>,
    impossible: OnceLock<Vec<String>>,
    /// Held while it goes up or down.
    changing: tokio::sync::Mutex<()>,
    up: Mutex<Option<Arc<Up>>>,
    /// What was made ready, and is there again after the next [`Engine::up`].
    images: Mutex<Loaded>,
}

impl Private {
    /// A daemon that is set like this; nothing is started. `daemons` is the same for all of this process.
    #[must_use]
    pub fn new(spec: PrivateSpec, daemons: Arc<Daemons>) -> Self {
        Self {
            spec,
            daemons,
            version: OnceLock::new(),
            runtime: OnceLock::new(),
            impossible: OnceLock::new(),
            changing: tokio::sync::Mutex::new(()),
            up: Mutex::default(),
            images: Mutex::default(),
        }
    }

    /// Every reason why it cannot come up here, as far as that is known without starting it; empty when there is none. Asked of the
    /// host once.
    #[must_use]
    pub fn impossible(&self) -> Vec<String> {
        self.impossible.get_or_init(|| Host::this(Some(self.version()), tools::search_path(&self.spec)).impossible(&self.spec)).clone()
    }

    /// How long its start took until its API answered, the making of its data root included; none while it is down.
    #[must_use]
    pub fn ready_after(&self) -> Option<Duration> {
        self.current().map(|up| up.ready_after)
    }

    fn version(&self) -> &str {
        let asked = || {
            let may_ask = self.spec.binary.is_none() || self.daemons.trusting();
            tools::dockerd(&self.spec).ok().filter(|_| may_ask).and_then(|path| tools::dockerd_version(&path))
        };
        self.version.get_or_init(|| asked().unwrap_or_default())
    }

    fn runtime(&self) -> &str {
        let named = ["default-runtime", "runtimes"].iter().any(|key| self.spec.daemon.contains_key(*key));
        let unknown = named && !self.daemons.trusting();
        self.runtime.get_or_init(|| if unknown { String::new() } else { tools::runtime(&self.spec) })
    }

    fn current(&self) -> Option<Arc<Up>> {
        lock(&self.up).clone()
    }

    /// Does something with the daemon that is up; when that fails because the daemon has ended, says so.
    async fn with<T, F: Future<Output = Result<T, EngineError>>>(
        &self,
        operation: &str,
        work: impl FnOnce(Arc<Up>) -> F,
    ) -> Result<T, EngineError> {
        let up = self.current().ok_or_else(|| failed(operation, format!("the private daemon ({}) is not up", self.spec.label())))?;
        match work(Arc::clone(&up)).await {
            Err(error @ (EngineError::Call { .. } | EngineError::Image { .. })) => match up.end_noticed().await {
                Some(reason) => Err(failed(operation, reason)),
                None => Err(error),
            },
            other => other,
        }
    }

    /// Starts it, with every image that was made ready before.
    async fn begin(&self, run: &str) -> Result<(), EngineError> {
        let impossible = self.impossible();
        if !impossible.is_empty() {
            return Err(EngineError::Unsupported { what: impossible.join("\n") });
        }
        let up = Up::start(&self.spec, &self.daemons, run).await?;
        match self.load_again(&up).await {
            Ok(false) => {
                *lock(&self.up) = Some(Arc::new(up));
                Ok(())
            }
            // So that it costs time once and not at every start.
            Ok(true) => {
                up.end(&self.daemons).await?;
                *lock(&self.up) = Some(Arc::new(Up::start(&self.spec, &self.daemons, run).await?));
                Ok(())
            }
            Err(error) => {
                let _ = up.end(&self.daemons).await; // the first error is the one to tell
                Err(error)
            }
        }
    }

    /// Makes those images ready again that are not there; whether a seed can be made of the daemon now.
    async fn load_again(&self, up: &Up) -> Result<bool, EngineError> {
        let wanted = lock(&self.images).clone();
        for (image, folder) in &wanted {
            if !up.has(image, folder) {
                up.load(image, folder, self.daemons.elsewhere()).await?;
            }
        }
        Ok(up.is_worth_keeping())
    }

    async fn finish(&self) -> Result<(), EngineError> {
        let up = lock(&self.up).take();
        match up {
            Some(up) => up.end(&self.daemons).await,
            None => Ok(()),
        }
    }
}

impl Engine for Private {
    /// Answered without the daemon, and the same whether it is up or not; that it is so is checked when it comes up.
    fn facts(&self) -> Boxed<'_, Result<EngineFacts, EngineError>> {
        Box::pin(async {
            let memory = rustix::system::sysinfo();
            let cpus = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
            Ok(EngineFacts {
                kind: "docker".to_owned(),
                // A daemon's key may hold an address; this is none, and must not look like one.
                endpoint: format!("private: {}", self.spec.label()).replace("://", ":"),
                found_by: "manifest".to_owned(),
                version: self.version().to_owned(),
                api: String::new(),
                storage_driver: self.spec.storage_driver.clone(),
                backing_filesystem: self.spec.backing.filesystem.name().to_owned(),
                runtime: self.runtime().to_owned(),
                cgroup_driver: "cgroupfs".to_owned(),
                cpus: u32::try_from(cpus).unwrap_or(u32::MAX),
                memory_bytes: memory.totalram as u64 * u64::from(memory.mem_unit),
            })
        })
    }

    fn unsupported(&self, spec: &UnitSpec, facts: &EngineFacts) -> Vec<String> {
        let mut reasons = self.impossible();
        reasons.extend(docker::unsupported(spec, facts));
        reasons
    }

    fn up<'a>(&'a self, run: &'a str) -> Boxed<'a, Result<(), EngineError>> {
        Box::pin(async move {
            let _one = self.changing.lock().await;
            if let Some(up) = self.current() {
                if up.serves(run) {
                    return Ok(());
                }
                self.finish().await?;
            }
            self.begin(run).await
        })
    }

    fn down(&self) -> Boxed<'_, Result<(), EngineError>> {
        Box::pin(async {
            let _one = self.changing.lock().await;
            self.finish().await
        })
    }

    fn namespace(&self) -> Option<Arc<Namespace>> {
        self.current().map(|up| Arc::clone(&up.namespace))
    }

    fn own_group(&self) -> Option<String> {
        self.current().map(|up| up.group())
    }

    fn furnish<'a>(&'a self, name: &'a UnitName, furniture: Furniture<'a>) -> Boxed<'a, Result<(), EngineError>> {
        Box::pin(self.with("furnish the trial", move |up| async move {
            up.touch();
            up.docker.furnish(name, furniture).await
        }))
    }

    fn clear<'a>(&'a self, name: &'a UnitName, furniture: Furniture<'a>) -> Boxed<'a, Result<(), EngineError>> {
        Box::pin(async move {
            // What is down has nothing of it.
            match self.current() {
                None => Ok(()),
                Some(_) => self.with("clear the trial", move |up| async move { up.docker.clear(name, furniture).await }).await,
            }
        })
    }

    fn inspect<'a>(&'a self, unit: &'a Created) -> Boxed<'a, Result<Standing, EngineError>> {
        Box::pin(self.with("look at a unit", move |up| async move { up.docker.inspect(unit).await }))
    }

    fn exec<'a>(&'a self, unit: &'a Created, command: &'a [String]) -> Boxed<'a, Result<Executed, EngineError>> {
        Box::pin(self.with("run a command in a unit", move |up| async move { up.docker.exec(unit, command).await }))
    }

    fn image<'a>(&'a self, image: &'a ImageSpec, folder: &'a Path) -> Boxed<'a, Result<Image, EngineError>> {
        Box::pin(async move {
            let ready =
                self.with("make an image ready", move |up| async move { up.load(image, folder, self.daemons.elsewhere()).await }).await?;
            let key = (image.clone(), folder.to_owned());
            let mut images = lock(&self.images);
            if !images.contains(&key) {
                images.push(key);
            }
            Ok(ready)
        })
    }

    fn create<'a>(&'a self, name: &'a UnitName, spec: &'a UnitSpec, image: Option<&'a Image>) -> Boxed<'a, Result<Created, EngineError>> {
        Box::pin(self.with("create a unit", move |up| async move {
            up.touch();
            up.note(&name.cgroup());
            up.docker.create(name, spec, image).await
        }))
    }

    fn start<'a>(&'a self, unit: &'a Created) -> Boxed<'a, Result<(), EngineError>> {
        Box::pin(self.with("start a unit", move |up| async move { up.docker.start(unit).await }))
    }

    fn wait<'a>(&'a self, unit: &'a Created) -> Boxed<'a, Result<(), EngineError>> {
        Box::pin(self.with("wait for a unit", move |up| async move { up.docker.wait(unit).await }))
    }

    fn exit<'a>(&'a self, unit: &'a Created) -> Boxed<'a, Result<Exit, EngineError>> {
        Box::pin(self.with("read the exit of a unit", move |up| async move {
            let exit = up.docker.exit(unit).await?;
            if exit.code != 0
                && let Some(what) = up.full(exit.code)
            {
                return Err(EngineError::Unsupported { what });
            }
            Ok(exit)
        }))
    }

    fn output<'a>(&'a self, unit: &'a Created) -> Boxed<'a, Result<Output, EngineError>> {
        Box::pin(self.with("read the output of a unit", move |up| async move { up.docker.output(unit).await }))
    }

    fn remove<'a>(&'a self, unit: &'a Created) -> Boxed<'a, Result<(), EngineError>> {
        Box::pin(async move {
            // What is down has no units, and took their groups along.
            match self.current() {
                None => Ok(()),
                Some(_) => self.with("remove a unit", move |up| async move { up.docker.remove(unit).await }).await,
            }
        })
    }

    /// Goes down, too, when its own run counts as dead; the next [`Engine::up`] starts it afresh.
    fn sweep<'a>(&'a self, alive: &'a [String]) -> Boxed<'a, Result<Vec<String>, EngineError>> {
        Box::pin(async move {
            let mut removed = Vec::new();
            if let Some(up) = self.current() {
                if alive.iter().any(|run| run == up.run()) {
                    removed.extend(up.docker.inner().sweep(alive).await?);
                } else {
                    self.down().await?;
                    removed.push(format!("private daemon ({}) of run `{}`", self.spec.label(), up.run()));
                }
            }
            let alive = alive.to_vec();
            let swept = tokio::task::spawn_blocking(move || {
                let control = Control::new(control::layout().map_err(|error| failed("find the control groups", error))?);
                Ok([control.sweep(control::TOP, &alive)?, sweep_host(&alive)?].concat())
            });
            let swept = swept.await;
            removed.extend(swept.unwrap_or_else(|error| Err(failed("clean up private daemons", error)))?);
            Ok(removed)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::spec;
    use super::*;

    #[tokio::test]
    async fn what_is_down_is_told_and_leaves_nothing_to_remove() {
        let mut spec = spec("vfs", "tmpfs");
        spec.daemon.insert("http-proxy".into(), serde_json::json!("http://u:p@x"));
        let private = Private::new(spec, Daemons::new(None));
        let unit = Created { id: "x".into(), cgroup: "shakedown/none/x".into(), leaf: String::new() };
        let error = private.start(&unit).await.expect_err("down").to_string();
        assert_eq!(error, "start a unit: the private daemon (vfs on tmpfs, http-proxy=...) is not up");
        private.remove(&unit).await.expect("nothing there");
        private.down().await.expect("down already");
        let facts = private.facts().await.expect("facts");
        assert_eq!((facts.kind.as_str(), facts.endpoint.as_str()), ("docker", "private: vfs on tmpfs, http-proxy=..."));
        assert_eq!((private.namespace().is_none(), private.own_group()), (true, None));
    }
}
