//! `plan`: what would run, in which order, and why. Runs nothing and writes nothing.

use super::{catalog, engines, exit, job, open, planned, talk};
use crate::model::experiment::Design;
use crate::plan::{self, History, Options, Planned};
use crate::record::{self, Loaded};
use std::path::PathBuf;

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
    /// The number of blocks that was asked for instead of the design's.
    pub fn asked_blocks(&self) -> Option<u32> {
        self.blocks.or(self.quick.then_some(5))
    }

    /// Options for planning an experiment after its earlier runs.
    pub fn options(&self, loaded: &Loaded, design: &Design, enforce_limit: bool) -> Options {
        Options {
            blocks: self.asked_blocks().or_else(|| loaded.enough_blocks(design).filter(|_| !self.fresh)),
            fresh: self.fresh,
            only: self.only.clone(),
            earlier_runs: loaded.runs.len() as u64,
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
    let options = arguments.choice.options(&loaded, &opened.experiment.design, false);
    let planned = match plan::plan(&opened.experiment, &catalog, &history, &options) {
        Ok(planned) => planned,
        Err(problems) => return opened.problems(&problems),
    };
    talk::diagnostics(&opened.shown, &opened.text, &planned.warnings);
    let adaptive = opened.experiment.design.adaptive.filter(|_| options.blocks.is_none());
    let written = match arguments.format {
        Format::Table => talk::data(|out| planned::table(out, &planned.plan, &history, adaptive)),
        Format::Json => talk::data(|out| planned::as_json(out, &planned.plan)),
        Format::Csv => talk::data(|out| planned::as_csv(out, &planned.plan)),
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
    let source = engines::Engines::new(arguments.engine.as_deref()).map_err(|error| machine(&error))?.only_looking();
    let variants = job::variants(opened, planned, history)?;
    let ready = runtime.block_on(job::check(&variants, std::sync::Arc::new(source)))?;
    let engines: Vec<String> = ready.facts.iter().map(|facts| format!("{} {}", facts.kind, facts.version).trim_end().to_owned()).collect();
    talk::note(format!("{}: every variant can run here ({})", opened.experiment.name, engines.join(", ")));
    Ok(exit::OK)
}
