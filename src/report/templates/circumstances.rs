//! Everything around the numbers: failures, method, hosts and engines, settings that were read back, and how to do it again.

use super::inline::{Inline, code, console, joined, link, sentence, strong};
use super::number;
use super::view::{DataFile, Environment, Fact, FailedTrial, Setting};
use crate::analyse::significance;
use crate::model::estimate::{Analysis, Comparison, ENOUGH_ENGINE_STARTS, Subject};
use crate::model::event::{Attested, Enough};
use crate::model::experiment::Adaptive;
use crate::model::facts::EngineFacts;
use crate::model::metric::Unit;
use crate::model::outcome::Outcome;
use crate::model::results::{Results, RunSummary};
use crate::report::visible::one_line;
use std::collections::BTreeSet;

/// Most failed trials, and most settings, that a page lists.
const MOST_ROWS: usize = 50;

/// Longest reason of a failure, in characters; `trials.csv` has all of it.
const LONGEST_REASON: usize = 200;

/// The failed trials in the order of the record, and how many there are in all.
pub(in crate::report) fn failures(results: &Results) -> (Vec<FailedTrial>, usize) {
    let failed = || results.rows.iter().filter(|row| row.row.outcome == Outcome::Failed);
    let rows = failed().take(MOST_ROWS).map(|row| {
        let failure = row.row.failure.as_ref();
        FailedTrial {
            run: results.runs.get(row.run).map_or_else(Inline::default, |run| code(run.run.as_str())),
            trial: code(row.row.trial.as_str()),
            variant: code(row.row.variant.as_str()),
            phase: failure.map_or("", |failure| failure.phase.name()).into(),
            reason: failure.map_or_else(Inline::default, |failure| shortened(&failure.reason).into()),
            replaced: if row.superseded { "yes" } else { "no" }.into(),
        }
    });
    (rows.collect(), failed().count())
}

fn shortened(reason: &str) -> String {
    let kept: String = reason.chars().take(LONGEST_REASON).collect();
    if kept.len() < reason.len() { format!("{kept} …") } else { kept }
}

/// How it was measured.
pub(in crate::report) fn method(results: &Results, analysis: &Analysis) -> Vec<Inline> {
    let compared = results.compared();
    let runs = if compared == 1 { "the one variant".to_owned() } else { format!("each of the {compared} variants") };
    let mut said: Vec<Inline> =
        vec![
        format!(
        "A block runs {runs} once, in an order shuffled from the run's seed and saved before the first trial; a trial is one execution \
         in fresh containers or processes."
    ).into()];
    let counted = |comparison: &&Comparison| comparison.engine_starts.is_some();
    let by_starts: Vec<&Comparison> = analysis.comparisons.iter().filter(counted).collect();
    if compared < results.variants.len() {
        let is_copy = |c: &&Comparison| matches!(c.subject, Subject::Variant(v) if results.variants[v].is_copy());
        let engine = if by_starts.iter().any(is_copy) { ", on an engine that is started for it alone" } else { "" };
        said.push(format!("A second copy of the baseline runs in every block as A/A control{engine}: what differs there is noise.").into());
    }
    said.extend(results.runs.iter().enumerate().map(|(index, run)| {
        let blocks = if run.blocks == 1 { "1 block".to_owned() } else { format!("{} blocks", run.blocks) };
        let end = if run.finished { "" } else { ", not finished" };
        Inline::from("Run ").and(code(run.run.as_str())).and(format!(": {blocks}{}, seed {}{end}.", starts(results, index), run.seed))
    }));
    said.extend(adaptive(results));
    if results.rows.iter().any(|row| row.row.is_primer()) {
        said.push(sentence("Right after each start of an engine a trial was measured and thrown away (`primer` in trials.csv)."));
    }
    let design = &results.design;
    said.push(
        "An effect is the geometric mean of the ratios within the blocks, with the 95 % interval of a paired t test on their logarithms."
            .into(),
    );
    if !by_starts.is_empty() {
        said.push(format!(
            "Where the two sides run on different engines, of which one at least is started for its setting, the engine start is what is \
             repeated: the logarithms of its blocks are averaged first, the same t test is made of these means, and n counts starts. Fewer \
             than {ENOUGH_ENGINE_STARTS} give no verdict."
        ).into());
    }
    said.push(
        format!(
            "Different: adjusted p of at most {}, called small when the ratio is less than {} from 1. Equivalent: the 90 % interval lies \
         within {}. Undecided is everything else, and never means the same.",
            significance(results),
            number::percent(design.min_effect),
            number::percent(design.margin)
        )
        .into(),
    );
    said.push("A level is a median with its 95 % order-statistic interval, which exists from 6 observations on.".into());
    said
}

/// By which rule the number of blocks was found, where it was.
fn adaptive(results: &Results) -> Option<Inline> {
    let asked = results.design.adaptive?;
    let looked = results.runs.iter().rev().find_map(|run| run.looked)?;
    let place = Adaptive::LOOKS.iter().filter(|look| **look <= looked.blocks).count();
    let looks = Adaptive::LOOKS.len();
    let how = match looked.enough {
        Some(Enough::Narrow) => format!("stopped at look {place} of {looks}"),
        Some(Enough::Last) => format!("stopped at the last of {looks} looks"),
        Some(Enough::Budget) => format!("stopped after {} blocks because its time was over", looked.blocks),
        None => format!("not finished, {place} of {looks} looks so far"),
    };
    let width = looked.half_width.map(|half| format!(", intervals of ± {}", number::percent(half))).unwrap_or_default();
    let said = format!(
        "Adaptive: {how}{width}. Blocks are added until the common spread of all variants gives intervals of ± {}, and no effect enters that \
         rule; for the looking the adjusted p of a difference must be at most {}.",
        number::percent(asked.target),
        significance(results)
    );
    Some(said.into())
}

/// How often the private engines of a run were started for its blocks; nothing where there were none.
fn starts(results: &Results, run: usize) -> String {
    let of_run = results.rows.iter().filter(|row| row.run == run);
    match of_run.filter_map(|row| row.row.engine_start).collect::<BTreeSet<u32>>().len() {
        0 => String::new(),
        1 => " under 1 start of each private engine".to_owned(),
        starts => format!(" under {starts} starts of each private engine"),
    }
}

/// The distinct environments, each with its runs.
pub(in crate::report) fn environments(results: &Results) -> Vec<Environment> {
    let mut found: Vec<(Vec<&RunSummary>, Vec<Fact>)> = Vec::new();
    for run in &results.runs {
        let facts = facts(run);
        match found.iter_mut().find(|(_, known)| *known == facts) {
            Some((runs, _)) => runs.push(run),
            None => found.push((vec![run], facts)),
        }
    }
    let named = |run: &&RunSummary| code(run.run.as_str()).and(format!(" ({})", run.started.at));
    let whole = |(runs, facts): (Vec<&RunSummary>, Vec<Fact>)| Environment { runs: joined(runs.iter().map(named), ", "), facts };
    found.into_iter().map(whole).collect()
}

fn facts(run: &RunSummary) -> Vec<Fact> {
    let host = &run.started.host;
    let memory = if host.memory_bytes == 0 { String::new() } else { number::quantity(host.memory_bytes as f64, &Unit::BYTE) };
    let cpus = match (host.cpus, host.cpu_model.as_str()) {
        (0, model) => model.to_owned(),
        (cpus, "") => cpus.to_string(),
        (cpus, model) => format!("{cpus} × {model}"),
    };
    let mut facts = vec![
        ("host", host.name.clone()),
        ("operating system", host.os.clone()),
        ("kernel", join(&[&host.kernel, &host.arch])),
        ("CPUs", cpus),
        ("memory", memory),
        ("cgroups", host.cgroup.clone()),
        ("clock source", host.clocksource.clone()),
    ];
    facts.extend(run.started.engines.iter().map(|engine| ("engine", engine_words(engine))));
    facts.push(("shakedown", run.started.version.clone()));
    let known = facts.into_iter().filter(|(_, value)| !value.is_empty());
    let mut facts: Vec<Fact> = known.map(|(name, value)| Fact { name: name.into(), value: value.into() }).collect();
    let image = |(asked, digest): &(String, String)| code(asked.as_str()).and(" → ").and(code(short_digest(digest)));
    facts.extend(run.images.iter().map(|named| Fact { name: "image".into(), value: image(named) }));
    facts
}

/// The first twelve digits of a digest, which tell any two apart; the journal has all. Any other text stays as it is.
fn short_digest(text: &str) -> String {
    match text.strip_prefix("sha256:") {
        Some(digits) if digits.len() == 64 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()) => format!("sha256:{}…", &digits[..12]),
        _ => text.to_owned(),
    }
}

fn engine_words(engine: &EngineFacts) -> String {
    let mut words = vec![join(&[&engine.kind, &engine.version])];
    let named = [
        ("API", &engine.api),
        ("storage driver", &engine.storage_driver),
        ("on", &engine.backing_filesystem),
        ("runtime", &engine.runtime),
        ("cgroup driver", &engine.cgroup_driver),
    ];
    words.extend(named.iter().filter(|(_, value)| !value.is_empty()).map(|(name, value)| format!("{name} {value}")));
    // The address of an existing daemon tells nothing that a reader could use; that of a private one is its setting.
    words.extend(engine.endpoint.strip_prefix("private: ").map(|setting| format!("started as {setting}")));
    words.join(", ")
}

fn join(words: &[&str]) -> String {
    words.iter().copied().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The settings that were read back, equal ones counted, by unit and setting; and how many there are in all.
pub(in crate::report) fn attested(results: &Results) -> (Vec<Setting>, usize) {
    type Seen<'a> = (&'a str, &'a str, &'a str, Option<&'a str>);
    let mut counts: std::collections::HashMap<Seen, usize> = std::collections::HashMap::new();
    let mut order: Vec<(Seen, &Attested)> = Vec::new();
    for attested in results.rows.iter().filter(|row| row.variant.is_some() && !row.row.is_primer()).flat_map(|row| &row.row.attested) {
        let seen = (attested.unit.as_str(), attested.setting.as_str(), attested.asked.as_str(), attested.found.as_deref());
        let count = counts.entry(seen).or_insert(0);
        if *count == 0 {
            order.push((seen, attested));
        }
        *count += 1;
    }
    let by_number = |a: &Seen, b: &Seen| leading_number(a.2).total_cmp(&leading_number(b.2));
    order.sort_by(|(a, _), (b, _)| (a.0, a.1).cmp(&(b.0, b.1)).then_with(|| by_number(a, b)).then_with(|| a.cmp(b)));
    let all = order.len();
    let setting = |(seen, attested): (Seen, &Attested)| Setting {
        unit: code(attested.unit.as_str()),
        setting: code(attested.setting.as_str()),
        asked: code(short_digest(&attested.asked)),
        found: match &attested.found {
            None => "not observable".into(),
            Some(found) if attested.differs() => strong(code(found.as_str())),
            Some(found) => code(short_digest(found)),
        },
        trials: number::count(counts.get(&seen).copied().unwrap_or_default()),
    };
    (order.into_iter().take(MOST_ROWS).map(setting).collect(), all)
}

/// The number at the start of a text; texts without one come last.
fn leading_number(text: &str) -> f64 {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    text[..end].parse().unwrap_or(f64::INFINITY)
}

/// The commands that measure again, and that write this page again from the record.
pub(in crate::report) fn commands(results: &Results) -> Inline {
    let manifest = shell(&format!("experiments/{}.yaml", results.experiment));
    console(vec![format!("shakedown run {manifest} --fresh"), format!("shakedown report {manifest}")])
}

/// A word of a shell's command line, quoted where the shell would read more into it.
fn shell(word: &str) -> String {
    let line = one_line(word);
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._/=".contains(c);
    if !line.is_empty() && line.chars().all(plain) { line } else { format!("'{}'", line.replace('\'', "'\\''")) }
}

/// The data files beside the page.
pub(in crate::report) fn files(results: &Results, analysis: &Analysis) -> Vec<DataFile> {
    let read = results.rows.iter().any(|row| !row.row.readings.is_empty());
    let circumstances = read.then_some(("circumstances.csv", "what was read around every trial, and what it means"));
    let cpu = (!analysis.cpu.is_empty()).then_some(("cpu.csv", "where the CPU time went, by variant and part"));
    let main_effects = (!analysis.main_effects.is_empty()).then_some(("main_effects.csv", "what each factor does over all others"));
    let interactions = (!analysis.interactions.is_empty()).then_some(("interactions.csv", "what two factors do to each other"));
    let files = [
        ("trials.csv", "every attempt with its outcome and its metrics in base units"),
        ("summary.csv", "the level of every metric in every variant"),
        ("effects.csv", "every comparison with interval, adjusted p and verdict"),
        ("factors.csv", "the factors and their levels"),
        ("metrics.csv", "what each metric is, and its unit"),
    ];
    files
        .into_iter()
        .chain(main_effects)
        .chain(interactions)
        .chain(circumstances)
        .chain(cpu)
        .map(|(file, about)| DataFile { file: link(file), about: about.into() })
        .collect()
}
