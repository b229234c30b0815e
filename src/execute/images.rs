//! Every image of the plan, before the first trial: time spent here never counts.

use super::{ExecuteError, Job, Log};
use crate::engine::{Engine, EngineError, Image};
use crate::model::event::Event;
use crate::model::spec::{EngineSpec, ImageSpec, Place};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

/// Ready images by engine and source.
#[derive(Debug, Default)]
pub(super) struct Images(HashMap<(EngineSpec, ImageSpec), Image>);

impl Images {
    pub(super) fn get(&self, engine: &EngineSpec, image: &ImageSpec) -> Option<&Image> {
        self.0.get(&(engine.clone(), image.clone()))
    }
}

/// Makes every image ready, each once per engine, and says so as soon as it is.
pub(super) async fn prepare(job: &Job, engines: &HashMap<EngineSpec, Arc<dyn Engine>>, log: &mut Log<'_>) -> Result<Images, ExecuteError> {
    let mut images = Images::default();
    for variant in &job.variants {
        let Some(engine) = engines.get(&variant.spec.engine) else { continue };
        for workload in variant.spec.workloads.iter().filter(|w| w.unit.place == Place::Container) {
            let Some(source) = &workload.unit.image else { continue };
            let key = (variant.spec.engine.clone(), source.clone());
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
    }
    Ok(images)
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
