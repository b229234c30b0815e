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
                image: describe(source),
                reason: format!("not ready within {limit:?} (`limits.images`)"),
            })??;
            let seconds = clock.elapsed().as_secs_f64();
            log.publish(Event::ImageReady { image: describe(source), digest: image.digest.clone(), seconds })?;
            images.0.insert(key, image);
        }
    }
    Ok(images)
}

fn describe(image: &ImageSpec) -> String {
    match image {
        ImageSpec::Reference(reference) => reference.clone(),
        ImageSpec::Build { context, .. } => format!("build {}", context.display()),
        ImageSpec::Archive(path) => format!("archive {}", path.display()),
        ImageSpec::Pack(paths) => format!("pack {}", paths.iter().map(|p| p.display().to_string()).collect::<Vec<_>>().join(" ")),
    }
}
