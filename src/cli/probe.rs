//! `doctor --probe`: starts a private daemon of every kind that may work here, and on one of them a container in every network mode.

use super::run::record_failure;
use super::signals::Stop;
use super::{exit, talk, turn};
use crate::engine::dockerd::{Daemons, Private};
use crate::engine::once::once;
use crate::engine::{Engine, EngineError, Furniture, Image, UnitName};
use crate::measure::doctor::modes;
use crate::model::possible::{Answer, Possible, Survey};
use crate::model::private::PARENT_DEVICE;
use crate::model::private::PrivateSpec;
use crate::model::spec::{ContainerSpec, ImageSpec, Place, UnitSpec};
use crate::model::stack::NetworkSpec;
use crate::record::Lease;
use std::path::Path;
use std::sync::Arc;

/// What a container does that shows whether any can run.
const TRUE: &str = "/bin/true";
/// The network of a try, as a manifest would name it.
const NETWORK: &str = "probe";

/// Tries everything that may work, and puts what became of it into `survey`. Of storage drivers only the pairs `DRIVER/FILESYSTEM`
/// in `only`, unless that is empty. Whatever was started is gone when it returns, and what a killed one leaves is found by its run.
///
/// # Errors
/// The exit code, after saying why; that of the signal when one came.
pub async fn probe(survey: &mut Survey, only: &[String], stop: &Stop) -> Result<(), u8> {
    if !survey.general.is_empty() {
        talk::error(format!("--probe starts private daemons, and none can be started here: {}", survey.general.join("; ")));
        return Err(exit::MACHINE);
    }
    let run = turn::new_id();
    let _alive = Lease::take(&run).map_err(|error| record_failure(&error))?;
    let daemons = Daemons::new(None);
    let Survey { pairs, networks, .. } = survey;
    let wanted = |pair: &Possible| only.is_empty() || only.contains(&format!("{}/{}", pair.storage_driver, pair.filesystem.name()));
    let mut tried: Vec<&mut Possible> = pairs.iter_mut().filter(|pair| pair.answer.may_work() && wanted(pair)).collect();
    let count = tried.len();
    talk::note(format!("probing as run `{run}`"));
    for (index, pair) in tried.iter_mut().enumerate() {
        go_on(stop)?;
        let spec = PrivateSpec::plain(pair.storage_driver, pair.filesystem);
        talk::note(format!("trying {} ({} of {count})", spec.label(), index + 1));
        let private = Private::new(spec, Arc::clone(&daemons));
        // Not raced with the signal: what is half started could not be torn down. It has limits of its own.
        pair.answer = match private.up(&run).await {
            Ok(()) => Answer::Ran,
            Err(error) => Answer::No(error.to_string()),
        };
        pair.ready_after = private.ready_after();
        if pair.answer == Answer::Ran && networks.is_empty() {
            for mode in modes().take_while(|_| stop.code().is_none()) {
                talk::note(format!("trying the network mode {mode}"));
                networks.insert(mode, network(&private, &run, mode).await);
            }
        }
        private.down().await.map_err(|error| {
            talk::error(error);
            exit::MACHINE
        })?;
    }
    go_on(stop)
}

/// The signal's exit code as soon as one came.
fn go_on(stop: &Stop) -> Result<(), u8> {
    stop.code().map_or(Ok(()), Err)
}

/// Whether a container runs in a network mode: some fail only when one starts.
async fn network(engine: &Private, run: &str, mode: &'static str) -> Answer {
    let (run, trial) = (run.to_owned(), format!("probe-{mode}"));
    let name = UnitName { run, experiment: "doctor".to_owned(), trial, unit: "true".to_owned() };
    let networks = made(mode);
    let furniture = Furniture { networks: &networks, volumes: &[] };
    let container = if networks.is_empty() {
        ContainerSpec { network_mode: Some(mode.to_owned()), ..ContainerSpec::default() }
    } else {
        ContainerSpec { networks: vec![name.network(NETWORK)], ..ContainerSpec::default() }
    };
    let spec = UnitSpec { command: vec![TRUE.to_owned()], container, ..UnitSpec::bare(Place::Container) };
    let ran = async {
        let image: Image = engine.image(&ImageSpec::Pack(vec![TRUE.into()]), Path::new("/")).await?;
        engine.furnish(&name, furniture).await?;
        Ok::<_, EngineError>(once(engine, &name, &spec, Some(&image)).await?.code)
    };
    let ran = ran.await;
    let _ = engine.clear(&name, furniture).await; // what is left goes with the daemon
    match ran {
        Ok(0) => Answer::Ran,
        Ok(code) => Answer::No(format!("`{TRUE}` ended with {code}")),
        Err(error) => Answer::No(error.to_string()),
    }
}

/// The network that a mode needs; none for those that are there always.
fn made(mode: &str) -> Vec<NetworkSpec> {
    let driver_opts = match mode {
        "host" | "none" => return Vec::new(),
        "macvlan" | "ipvlan" => vec![("parent".to_owned(), PARENT_DEVICE.to_owned())],
        _ => Vec::new(),
    };
    vec![NetworkSpec { name: NETWORK.to_owned(), driver: mode.to_owned(), driver_opts, subnet: None, internal: false, ipv6: false }]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn where_no_private_daemon_can_be_started_none_is_tried() {
        let mut survey = Survey { general: vec!["needs root".to_owned()], ..Survey::default() };
        assert_eq!(probe(&mut survey, &[], &Stop::default()).await, Err(exit::MACHINE));
        assert!(survey.networks.is_empty());
    }

    #[test]
    fn only_networks_that_are_not_there_always_are_made() {
        let drivers = |mode: &str| made(mode).into_iter().map(|spec| (spec.driver, spec.driver_opts)).collect::<Vec<_>>();
        let parent = || vec![("parent".to_owned(), "sd1".to_owned())];
        for mode in modes() {
            let expected = match mode {
                "host" | "none" => vec![],
                "bridge" => vec![(mode.to_owned(), vec![])],
                _ => vec![(mode.to_owned(), parent())],
            };
            assert_eq!(drivers(mode), expected, "{mode}");
        }
    }
}
