//! `plan`: what would run, in which order, and why. Runs nothing and writes nothing.

use super::{catalog, engines, exit, job, open, talk};
use crate::model::plan::{Plan, VariantHistory};
use crate::plan::{self, History, Options, Planned};
use crate::record;
use comfy_table::{CellAlignment, Table, presets};
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

/// Rows of a table beyond which the rest is counted, not shown: a person reads the start, a machine takes `--format`.
const MOST_ROWS: usize = 60;

/// Show variants, reasons and every trial in order.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// A manifest, or the name of one below experiments/.
    #[arg(value_name = "EXPERIMENT")]
    experiment: String,
    /// How to print.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    #[command(flatten)]
    choice: Choice,
    /// Then ask engine and host, without running anything, whether they can run every variant.
    #[arg(long)]
    preflight: bool,
    /// Address of the engine that `--preflight` asks.
    #[arg(long, value_name = "URL", env = "SHAKEDOWN_ENGINE")]
    engine: Option<String>,
}

/// What to run: shared by `plan` and `run`, so that one shows what the other does; except that `run` first finishes an
/// unfinished run that still fits, in the order saved there.
#[derive(Debug, Clone, clap::Args)]
pub struct Choice {
    /// Only variants with this level (and the baseline); more than once: all must hold, levels of one factor either.
    #[arg(long, value_name = "FACTOR=LEVEL", value_parser = factor_level)]
    pub only: Vec<(String, String)>,
    /// Blocks instead of the design's.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub blocks: Option<u32>,
    /// Five blocks: a first look.
    #[arg(long, conflicts_with = "blocks")]
    pub quick: bool,
    /// Run every variant again, whatever is recorded.
    #[arg(long)]
    pub fresh: bool,
    /// Folder of reports instead of the one beside experiments/.
    #[arg(long, value_name = "DIR")]
    pub reports: Option<PathBuf>,
}

impl Choice {
    /// Options for planning.
    pub fn options(&self, earlier_runs: usize, enforce_limit: bool) -> Options {
        Options {
            blocks: self.blocks.or(self.quick.then_some(5)),
            fresh: self.fresh,
            only: self.only.clone(),
            earlier_runs: earlier_runs as u64,
            host: Some(crate::measure::host::facts()),
            enforce_limit,
        }
    }
}

fn factor_level(text: &str) -> Result<(String, String), String> {
    text.split_once('=').map(|(factor, level)| (factor.to_owned(), level.to_owned())).ok_or_else(|| "not FACTOR=LEVEL".to_owned())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Table,
    Json,
    Csv,
}

pub fn run(arguments: &Arguments) -> u8 {
    let path = match open::manifests(&arguments.experiment) {
        Ok(paths) if paths.len() == 1 => paths.into_iter().next().unwrap_or_default(),
        Ok(_) => {
            talk::error("plan takes one experiment");
            return exit::USAGE;
        }
        Err(message) => {
            talk::error(message);
            return exit::USAGE;
        }
    };
    let opened = match open::open(&path, arguments.choice.reports.as_deref(), false) {
        Ok(opened) => opened,
        Err(code) => return code,
    };
    let loaded = match record::load(&opened.store) {
        Ok(loaded) => loaded,
        Err(error) => {
            talk::error(error);
            return exit::RECORD;
        }
    };
    let history = record::history(&loaded, &crate::measure::host::facts(), &[]);
    let catalog = catalog::catalog();
    let options = arguments.choice.options(loaded.runs.len(), false);
    let planned = match plan::plan(&opened.experiment, &catalog, &history, &options) {
        Ok(planned) => planned,
        Err(problems) => return opened.problems(&problems),
    };
    talk::diagnostics(&opened.shown, &opened.text, &planned.warnings);
    let written = match arguments.format {
        Format::Table => talk::data(|out| table(out, &planned.plan, &history)),
        Format::Json => talk::data(|out| as_json(out, &planned.plan)),
        Format::Csv => talk::data(|out| as_csv(out, &planned.plan)),
    };
    if written == exit::OK && arguments.preflight {
        return preflight(arguments, &opened, &planned, &history).unwrap_or_else(|code| code);
    }
    written
}

fn preflight(arguments: &Arguments, opened: &open::Opened, planned: &Planned<'_>, history: &History) -> Result<u8, u8> {
    let machine = |error: &dyn std::fmt::Display| {
        talk::error(error);
        exit::MACHINE
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| machine(&error))?;
    let source = engines::Engines::new(arguments.engine.as_deref()).map_err(|error| machine(&error))?;
    let variants = job::variants(opened, planned, history)?;
    let ready = runtime.block_on(job::check(&variants, &source))?;
    let engines: Vec<String> = ready.facts.iter().map(|facts| format!("{} {}", facts.kind, facts.version).trim_end().to_owned()).collect();
    talk::note(format!("{}: every variant can run here ({})", opened.experiment.name, engines.join(", ")));
    Ok(exit::OK)
}

fn new_table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(header.to_vec());
    table
}

fn table(out: &mut dyn Write, plan: &Plan, history: &History) -> std::io::Result<()> {
    let copy = plan.variants.len() - 1;
    writeln!(
        out,
        "{}: {} x {} = {}, seed {}, digest {}",
        plan.experiment,
        talk::count(copy, "variant"),
        talk::count(plan.blocks as usize, "block"),
        talk::count(plan.trials.len(), "trial"),
        plan.seed,
        plan.digest
    )?;
    let mut variants = new_table(&["variant", "trials", "why"]);
    let mut counts = vec![0_u32; plan.variants.len()];
    plan.trials.iter().for_each(|trial| counts[trial.variant as usize] += 1);
    for (index, variant) in plan.variants.iter().enumerate().take(MOST_ROWS.min(copy)) {
        let mark = if index == plan.baseline { " (baseline)" } else { "" };
        variants.add_row([format!("{}{mark}", variant.id), counts[index].to_string(), variant.reason.to_string()]);
    }
    if let Some(column) = variants.column_mut(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    print(out, &variants)?;
    more(out, copy, "variants")?;
    if plan.trials.is_empty() {
        return writeln!(out, "everything is up to date: `run` has nothing to do (`--fresh` runs it again)");
    }
    writeln!(out, "order (the A/A copy of the baseline ends in #aa):")?;
    let mut trials = new_table(&["block", "batch", "position", "trial", "variant"]);
    for trial in plan.trials.iter().take(MOST_ROWS) {
        let variant = &plan.variants[trial.variant as usize];
        trials.add_row([trial.block.to_string(), trial.batch.to_string(), trial.position.to_string(), trial.id(), variant.id.to_string()]);
    }
    print(out, &trials)?;
    more(out, plan.trials.len(), "trials")?;
    match estimate(plan, history) {
        Some((time, guessed)) if guessed => writeln!(out, "about {} (new variants guessed from the others)", show_time(time)),
        Some((time, _)) => writeln!(out, "about {}", show_time(time)),
        None => writeln!(out, "time: unknown until something has run"),
    }
}

/// A table without the blanks that pad its last column.
fn print(out: &mut dyn Write, table: &Table) -> std::io::Result<()> {
    table.lines().try_for_each(|line| writeln!(out, "{}", line.trim_end()))
}

fn more(out: &mut dyn Write, all: usize, what: &str) -> std::io::Result<()> {
    if all > MOST_ROWS { writeln!(out, "... and {} more {what} (`--format csv` has all)", all - MOST_ROWS) } else { Ok(()) }
}

/// Time from earlier trials; whether some of it is guessed.
fn estimate(plan: &Plan, history: &History) -> Option<(Duration, bool)> {
    let seconds: Vec<Option<f64>> = plan
        .variants
        .iter()
        .map(|v| history.get(v.id.trim_end_matches(crate::model::plan::AA_SUFFIX)).and_then(|past: &VariantHistory| past.seconds))
        .collect();
    let known: Vec<f64> = seconds.iter().filter_map(|s| *s).collect();
    if known.is_empty() {
        return None;
    }
    let average = known.iter().sum::<f64>() / known.len() as f64;
    let total: f64 = plan.trials.iter().map(|trial| seconds[trial.variant as usize].unwrap_or(average)).sum();
    let guessed = plan.trials.iter().any(|trial| seconds[trial.variant as usize].is_none());
    Duration::try_from_secs_f64(total).ok().map(|time| (time, guessed))
}

/// `1 h 05 min`, `2 min 30 s`, `12 s`.
pub fn show_time(time: Duration) -> String {
    let seconds = time.as_secs_f64().round() as u64;
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, s) => format!("{s} s"),
        (0, m, s) => format!("{m} min {s:02} s"),
        (h, m, _) => format!("{h} h {m:02} min"),
    }
}

/// One document, written as it goes: a plan may have a million trials.
fn as_json(out: &mut dyn Write, plan: &Plan) -> std::io::Result<()> {
    let ids: Vec<String> = plan.variants.iter().map(|v| json!(*v.id).to_string()).collect();
    let head = json!({"experiment": plan.experiment, "digest": plan.digest, "seed": plan.seed, "factors": plan.factors}).to_string();
    write!(out, "{},\n\"variants\":[", head.trim_end_matches('}'))?;
    for (index, variant) in plan.variants.iter().enumerate() {
        let separator = if index == 0 { "\n" } else { ",\n" };
        let levels: serde_json::Map<String, serde_json::Value> =
            plan.factors.iter().zip(variant.levels.iter()).map(|(f, l)| (f.name.to_string(), json!(*f.levels[*l as usize]))).collect();
        write!(out, "{separator}{{\"id\":{},\"levels\":{},\"reason\":{}}}", ids[index], json!(levels), json!(variant.reason.to_string()))?;
    }
    write!(out, "\n],\n\"trials\":[")?;
    for (index, trial) in plan.trials.iter().enumerate() {
        let separator = if index == 0 { "\n" } else { ",\n" };
        let (variant, block, position, batch) = (&ids[trial.variant as usize], trial.block, trial.position, trial.batch);
        write!(
            out,
            "{separator}{{\"id\":\"b{block}p{position}\",\"variant\":{variant},\"block\":{block},\"position\":{position},\"batch\":{batch}}}"
        )?;
    }
    writeln!(out, "\n]}}")
}

fn as_csv(out: &mut dyn Write, plan: &Plan) -> std::io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(["trial", "variant", "block", "position", "batch"])?;
    for trial in &plan.trials {
        let variant = &plan.variants[trial.variant as usize].id;
        writer.write_record([&trial.id(), &**variant, &trial.block.to_string(), &trial.position.to_string(), &trial.batch.to_string()])?;
    }
    writer.flush()
}
