//! `check`: whether manifests are right, down to every template of every variant. Runs nothing.

use super::{catalog, exit, open, talk};
use crate::plan::{self, History, Options};

/// Check manifests: every problem at once, each with its place.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Manifests, folders of manifests, or names below experiments/.
    #[arg(required = true, value_name = "EXPERIMENT")]
    experiments: Vec<String>,
    /// Problems as text on stderr, or as JSON lines on stdout.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Text,
    Json,
}

pub fn run(arguments: &Arguments) -> u8 {
    let catalog = catalog::catalog();
    let json = arguments.format == Format::Json;
    let mut worst = exit::OK;
    for word in &arguments.experiments {
        let paths = match open::manifests(word) {
            Ok(paths) => paths,
            Err(message) => {
                talk::error(message);
                worst = exit::USAGE;
                continue;
            }
        };
        for path in paths {
            let opened = match open::open(&path, None, json) {
                Ok(opened) => opened,
                Err(code) => {
                    worst = worst.max(code);
                    continue;
                }
            };
            let options = Options { host: Some(crate::measure::host::facts()), enforce_limit: true, ..Options::default() };
            match plan::plan(&opened.experiment, &catalog, &History::new(), &options) {
                Ok(planned) => {
                    if json {
                        worst = worst.max(open::print_json(&opened.shown, &planned.warnings));
                    } else {
                        talk::diagnostics(&opened.shown, &opened.text, &planned.warnings);
                        let (variants, trials) = (planned.plan.variants.len() - 1, planned.plan.trials.len());
                        talk::note(format!("{}: ok, {}, {}", opened.shown, talk::count(variants, "variant"), talk::count(trials, "trial")));
                    }
                }
                Err(problems) if json => {
                    open::print_json(&opened.shown, &problems.0);
                    worst = exit::USAGE;
                }
                Err(problems) => worst = opened.problems(&problems),
            }
        }
    }
    worst
}
