//! Which recorded trials stand apart: measured on another machine, on another engine or with another image than the newest ones.
//! They are kept and shown; no number counts them, and planning measures them again.

use super::RunRecord;
use super::load::newest_host;
use crate::model::event::TrialRow;
use crate::model::facts::{EngineFacts, HostFacts, engine_differences};
use crate::model::plan::SavedVariant;
use crate::model::spec::{EngineSpec, ImageSpec, Place, TrialSpec, UnitSpec};
use std::collections::HashMap;

/// What the trials that count were measured with.
pub(super) struct Circumstances {
    host: HostFacts,
    /// Of each kind, those that were used last.
    engines: Vec<EngineFacts>,
    /// Digests that the images had last; two daemons may give one image two.
    images: HashMap<(EngineSpec, ImageSpec), String>,
}

/// An image that was another one when a trial ran.
pub(super) struct OtherImage {
    pub(super) image: String,
    pub(super) old: String,
    pub(super) new: String,
}

impl OtherImage {
    /// `nginx: sha256:a -> sha256:b`.
    pub(super) fn words(&self) -> String {
        format!("image `{}`: {} -> {}", self.image, short(&self.old), short(&self.new))
    }
}

/// The first twelve digits of a digest, which tell any two apart; the journal has all.
fn short(digest: &str) -> String {
    match digest.get(..19) {
        Some(start) if digest.len() > 20 => format!("{start}…"),
        _ => digest.to_owned(),
    }
}

impl Circumstances {
    /// Those of `here`, else of the newest run that has trials; `engines` come before those that runs used, where it is known what is used now.
    pub(super) fn new(runs: &[RunRecord], here: Option<&HostFacts>, engines: &[EngineFacts]) -> Self {
        let host = here.or_else(|| newest_host(runs)).cloned().unwrap_or_default();
        let mut known = Self { host, engines: engines.to_vec(), images: HashMap::new() };
        for run in runs.iter().rev().filter(|run| !run.rows.is_empty()) {
            if !known.machine(run).is_empty() {
                continue;
            }
            let new: Vec<EngineFacts> = run.starts().last().map(|started| started.engines.clone()).unwrap_or_default();
            let new = new.into_iter().filter(|engine| known.engines.iter().all(|other| other.kind != engine.kind));
            let new: Vec<EngineFacts> = new.collect();
            known.engines.extend(new);
            if !known.engine(run).is_empty() {
                continue;
            }
            for (engine, image, digest) in images(run).into_iter().rev().flatten() {
                known.images.entry((engine.clone(), image.clone())).or_insert_with(|| digest.to_owned());
            }
        }
        known
    }

    /// In what the machine of a run was another one.
    pub(super) fn machine(&self, run: &RunRecord) -> Vec<String> {
        run.starts().map(|started| self.host.differences(&started.host)).find(|found| !found.is_empty()).unwrap_or_default()
    }

    /// In what an engine of a run was another one.
    pub(super) fn engine(&self, run: &RunRecord) -> Vec<String> {
        run.starts().map(|started| engine_differences(&self.engines, &started.engines)).find(|found| !found.is_empty()).unwrap_or_default()
    }

    /// For each row of a run, the image that was another one, if any.
    pub(super) fn other_images(&self, run: &RunRecord) -> Vec<Option<OtherImage>> {
        let other = |(engine, image, old): Ran<'_>| {
            let new = self.images.get(&(engine.clone(), image.clone())).filter(|new| *new != old)?;
            Some(OtherImage { image: image.to_string(), old: old.to_owned(), new: new.clone() })
        };
        images(run).into_iter().map(|of_row| of_row.into_iter().find_map(other)).collect()
    }
}

/// An image that a trial ran: where, what was declared, and the digest that it was asked for by.
type Ran<'r> = (&'r EngineSpec, &'r ImageSpec, &'r str);

/// The images of each row of a run.
fn images(run: &RunRecord) -> Vec<Vec<Ran<'_>>> {
    let known: HashMap<&str, &SavedVariant> = run.plan.variants.iter().map(|variant| (variant.id.as_str(), variant)).collect();
    let rows = run.rows.iter().map(|row| {
        let variant = known.get(row.variant.as_str()).filter(|variant| variant.identity == row.identity);
        variant.map(|variant| images_of(&variant.spec, row)).unwrap_or_default()
    });
    rows.collect()
}

fn images_of<'r>(spec: &'r TrialSpec, row: &'r TrialRow) -> Vec<Ran<'r>> {
    let containers = spec.units().filter(|(_, unit)| unit.place == Place::Container);
    let image = |(name, unit): (&str, &'r UnitSpec)| {
        let attested = row.attested.iter().find(|attested| attested.setting == "image" && attested.unit == name)?;
        Some((&spec.engine, unit.image.as_ref()?, attested.asked.as_str()))
    };
    containers.filter_map(image).collect()
}
