//! What differs in the circumstances of two records: machine, engines, images, version, protocol.

use crate::model::change::{Difference, Machine};
use crate::model::facts::{EngineFacts, HostFacts};
use crate::model::results::{Results, RunSummary};
use std::collections::BTreeSet;

/// What one thing is in a run.
type Reader<'r> = Box<dyn Fn(&RunSummary) -> Vec<String> + 'r>;

/// A fact of a host: how it is called and read.
type HostFact = (&'static str, fn(&HostFacts) -> String);

/// Those that make it another machine first.
const HOST: [HostFact; 9] = [
    ("CPU", |host| host.cpu_model.clone()),
    ("CPUs", |host| positive(u64::from(host.cpus))),
    ("memory (GiB)", |host| positive((host.memory_bytes as f64 / f64::from(1 << 30)).round() as u64)),
    ("architecture", |host| host.arch.clone()),
    ("host", |host| host.name.clone()),
    ("kernel", |host| host.kernel.clone()),
    ("control groups", |host| host.cgroup.clone()),
    ("operating system", |host| host.os.clone()),
    ("clock source", |host| host.clocksource.clone()),
];

/// How many of those, from the first, make it another machine.
const MACHINE: usize = 4;

/// A fact of an engine: how it is called and read.
type EngineFact = (&'static str, fn(&EngineFacts) -> &str);

const ENGINE: [EngineFact; 6] = [
    ("version", |engine| &engine.version),
    ("storage driver", |engine| &engine.storage_driver),
    ("backing file system", |engine| &engine.backing_filesystem),
    ("runtime", |engine| &engine.runtime),
    ("cgroup driver", |engine| &engine.cgroup_driver),
    ("address", |engine| &engine.endpoint),
];

fn positive(number: u64) -> String {
    if number == 0 { String::new() } else { number.to_string() }
}

/// The differences, and whether the machines are the same. Runs whose trials do not count say nothing, unless no run's do.
pub(super) fn environment(a: &Results, b: &Results) -> (Vec<Difference>, Machine) {
    let (of_a, of_b) = (counting(a), counting(b));
    let mut found = Vec::new();
    let mut note = |what: &str, read: Reader<'_>| {
        let (a, b) = (values(&of_a, &read), values(&of_b, &read));
        let differs = a != b;
        if differs {
            found.push(Difference { what: what.to_owned(), a, b });
        }
        differs
    };
    let mut machine = Machine::Same;
    for (index, (what, read)) in HOST.into_iter().enumerate() {
        let differs = note(what, Box::new(move |run: &RunSummary| vec![read(&run.started.host)]));
        match what {
            _ if !differs => {}
            _ if index < MACHINE => machine = Machine::Other,
            "host" if machine == Machine::Same => machine = Machine::Renamed,
            _ => {}
        }
    }
    let engines = || of_a.iter().chain(&of_b).flat_map(|run| &run.started.engines);
    let kinds: BTreeSet<&str> = engines().map(|engine| engine.kind.as_str()).collect();
    for kind in &kinds {
        for (what, read) in ENGINE {
            let of_kind = move |run: &RunSummary| {
                let engines = run.started.engines.iter().filter(|engine| engine.kind == *kind);
                engines.map(|engine| read(engine).to_owned()).collect()
            };
            let differs = note(&format!("{kind} {what}"), Box::new(of_kind));
            if differs && what == "address" && engines().any(EngineFacts::is_remote) {
                machine = Machine::Other;
            }
        }
    }
    for image in of_a.iter().chain(&of_b).flat_map(|run| &run.images).map(|(image, _)| image.clone()).collect::<BTreeSet<String>>() {
        let of_image =
            |run: &RunSummary| run.images.iter().filter(|(asked, _)| *asked == image).map(|(_, digest)| digest.clone()).collect();
        note(&format!("image {image}"), Box::new(of_image));
    }
    note("shakedown", Box::new(|run: &RunSummary| vec![run.started.version.clone()]));
    note("seed", Box::new(|run: &RunSummary| vec![run.seed.to_string()]));
    note("blocks", Box::new(|run: &RunSummary| vec![run.blocks.to_string()]));
    for (what, a, b) in designs(a, b) {
        if a != b {
            found.push(Difference { what: what.to_owned(), a, b });
        }
    }
    (found, machine)
}

fn designs(a: &Results, b: &Results) -> [(&'static str, String, String); 6] {
    let both = |what, read: fn(&Results) -> String| (what, read(a), read(b));
    [
        both("design.min_effect", |results| results.design.min_effect.to_string()),
        both("design.margin", |results| results.design.margin.to_string()),
        both("design.min_window (s)", |results| results.design.min_window.as_secs_f64().to_string()),
        both("design.engine_starts", |results| results.design.engine_starts.map_or_else(String::new, |starts| starts.to_string())),
        both("baseline", |results| results.variants.get(results.baseline).map_or_else(String::new, |variant| variant.id.clone())),
        both("primary metric", |results| super::primary(results).map_or_else(String::new, |metric| results.metrics[metric].name.clone())),
    ]
}

/// The runs of which a trial counts; all when none does.
fn counting(results: &Results) -> Vec<&RunSummary> {
    let counting: BTreeSet<usize> = results.rows.iter().filter(|row| row.counts().is_some()).map(|row| row.run).collect();
    let runs = || results.runs.iter().enumerate();
    let found: Vec<&RunSummary> = runs().filter(|(index, _)| counting.contains(index)).map(|(_, run)| run).collect();
    if found.is_empty() { results.runs.iter().collect() } else { found }
}

/// What the runs say, each once, in their order.
fn values(runs: &[&RunSummary], read: &Reader<'_>) -> String {
    let mut found: Vec<String> = Vec::new();
    for value in runs.iter().flat_map(|run| read(run)).filter(|value| !value.is_empty()) {
        if !found.contains(&value) {
            found.push(value);
        }
    }
    found.join(", ")
}
