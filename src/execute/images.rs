//! Every image of the plan, before the first trial: time spent here never counts.

use super::stage::Instance;
use super::{ExecuteError, Job, Log, Ready};
use crate::engine::{Engine, EngineError, Image};
use crate::model::event::Event;
use crate::model::spec::{ImageSpec, Place};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Instant;
use tokio_util::sync::CancellationToken;

/// Ready images by engine and source.
#[derive(Debug, Default)]
pub(super) struct Images(HashMap<(Instance, ImageSpec), Image>);

impl Images {
    pub(super) fn get(&self, engine: &Instance, image: &ImageSpec) -> Option<&Image> {
        self.0.get(&(engine.clone(), image.clone()))
    }
}

/// Makes every image ready, each once per engine, and says so as soon as it is; none when it is cancelled. A private engine is up
/// meanwhile only, and neither its start nor its end is given up half-way.
pub(super) async fn prepare(
    job: &Job,
    ready: &Ready,
    log: &mut Log<'_>,
    cancel: &CancellationToken,
) -> Result<Option<Images>, ExecuteError> {
    let mut images = Images::default();
    let mut seen = HashSet::new();
    for instance in job.variants.iter().map(super::JobVariant::instance).filter(|instance| seen.insert(instance.clone())) {
        let Some(engine) = ready.engines.get(&instance) else { continue };
        engine.up(&job.run).await?;
        let loaded = tokio::select! {
            loaded = load(job, &instance, engine, &mut images, log) => loaded,
            () = cancel.cancelled() => Ok(()),
        };
        let down = engine.down().await;
        loaded?;
        down?;
        if cancel.is_cancelled() {
            return Ok(None);
        }
    }
    Ok(Some(images))
}

async fn load(
    job: &Job,
    instance: &Instance,
    engine: &Arc<dyn Engine>,
    images: &mut Images,
    log: &mut Log<'_>,
) -> Result<(), ExecuteError> {
    let on_it = job.variants.iter().filter(|variant| variant.instance() == *instance);
    let containers = on_it.flat_map(|variant| variant.spec.units()).filter(|(_, unit)| unit.place == Place::Container);
    for source in containers.filter_map(|(_, unit)| unit.image.as_ref()) {
        let key = (instance.clone(), source.clone());
        if images.0.contains_key(&key) {
            continue;
        }
        let clock = Instant::now();
        let limit = job.limits.images;
        let image = tokio::time::timeout(limit, engine.image(source, &job.folder)).await.map_err(|_| EngineError::Image {
            image: source.to_string(),
            reason: format!("not ready within {limit:?} (`limits.images`)"),
        })??;
        unchanged(&job.images, &source.to_string(), &image.digest)?;
        let seconds = clock.elapsed().as_secs_f64();
        log.publish(Event::ImageReady { image: source.to_string(), digest: image.digest.clone(), seconds })?;
        images.0.insert(key, image);
    }
    Ok(())
}

/// Refuses an image that is another one than an interrupted run had: half of each would be compared as one.
fn unchanged(before: &[(String, String)], image: &str, digest: &str) -> Result<(), ExecuteError> {
    let mut known = before.iter().filter(|(name, _)| name == image).peekable();
    match known.peek().copied() {
        Some((_, old)) if known.all(|(_, known)| known != digest) => {
            Err(ExecuteError::ImageChanged { image: image.to_owned(), old: old.clone(), new: digest.to_owned() })
        }
        _ => Ok(()),
    }
}
