//! What a trial's workloads wrote and how they ended, read into observations.

use super::trial::{self, Measured, Unit, limited};
use super::{Shared, readings};
use crate::engine::{Exit, Output};
use crate::measure::window::Closed;
use crate::model::event::{Attested, CLOCK_STEP};
use crate::model::outcome::{Failure, Phase};

/// Fetches and reads what every workload wrote. Output of a failed one is kept too: it says why.
pub(super) async fn collect(
    shared: &Shared<'_>,
    units: &[Unit<'_>],
    waits: Vec<Option<Result<(), Failure>>>,
    closed: &Closed,
    measured: &mut Measured,
) {
    let several = units.len() > 1;
    let mut waits = waits.into_iter();
    for unit in units {
        let Some(created) = &unit.created else { continue };
        let exit = match waits.next().flatten() {
            Some(waited) => Some(trial::exit(shared, unit, created, waited).await),
            None => None,
        };
        let output = match limited(Phase::Collect, shared.job.limits.collect, unit.engine.output(created)).await {
            Ok(output) => output,
            Err(failure) => {
                measured.fail(failure);
                Output::default()
            }
        };
        match exit {
            Some(Ok(exit)) => {
                if let (Some((asked, answered)), Some(ended)) = (unit.clock, unit.ended)
                    && readings::clock_stepped(&exit, ended - asked, ended.saturating_duration_since(answered))
                {
                    let told = "the engine's stamps do not fit the time that passed: its clock was set meanwhile";
                    measured.taint(CLOCK_STEP, format!("`{}`: {told}", unit.workload.name));
                }
                measured.attested.extend(image_attested(unit, &exit));
                let mut failure = readings::judge(&unit.workload.name, &unit.workload.parse, &exit);
                let mut reading = readings::read(unit.workload, &exit, &output);
                if let Some(failure) = &mut failure
                    && let Some(words) = readings::last_words(&output)
                {
                    failure.reason = format!("{}: {words}", failure.reason);
                }
                if let Some(failure) = failure.or(reading.failure) {
                    measured.fail(failure);
                }
                let own = closed
                    .units
                    .iter()
                    .filter(|counted| counted.unit == unit.workload.name)
                    .flat_map(|counted| counted.observations.clone());
                reading.metrics.extend(own);
                for mut metric in reading.metrics {
                    if several {
                        metric.name = format!("{}.{}", unit.workload.name, metric.name);
                    }
                    if !measured.metrics.iter().any(|known| known.name == metric.name) {
                        measured.metrics.push(metric);
                    }
                }
                measured.problems.append(&mut reading.problems);
            }
            Some(Err(failure)) => measured.fail(failure),
            None => {}
        }
        measured.outputs.push((unit.workload.name.clone(), output));
    }
}

/// Whether the container ran from the image that was made ready for it.
fn image_attested(unit: &Unit<'_>, exit: &Exit) -> Option<Attested> {
    let wanted = unit.image?;
    Some(Attested {
        unit: unit.workload.name.clone(),
        setting: "image".to_owned(),
        asked: wanted.digest.clone(),
        found: exit.image.clone(),
        source: "engine".to_owned(),
    })
}
