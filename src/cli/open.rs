//! Finding and reading manifests, and the folders that belong to them.

use super::{exit, talk};
use crate::manifest::{self, Source};
use crate::model::diagnostic::{Diagnostic, Severity};
use crate::model::experiment::{Experiment, Problems};
use crate::model::tree::Span;
use crate::plan::{self, History, Options};
use crate::record::Store;
use fs_err as fs;
use std::path::{Path, PathBuf};

/// A manifest that was read.
pub struct Opened {
    /// As the person would name it.
    pub shown: String,
    /// Its text.
    pub text: String,
    /// What it says.
    pub experiment: Experiment,
    /// Where its record and report are.
    pub store: Store,
}

impl Opened {
    /// Draws problems that were found later.
    pub fn problems(&self, problems: &Problems) -> u8 {
        talk::diagnostics(&self.shown, &self.text, &problems.0);
        exit::USAGE
    }
}

/// The manifests that a word names: a file, a folder of manifests, or the name of one below `experiments/`.
///
/// # Errors
/// A message when there is no such thing.
pub fn manifests(word: &str) -> Result<Vec<PathBuf>, String> {
    let path = Path::new(word);
    if path.is_dir() {
        let mut found: Vec<PathBuf> = fs::read_dir(path)
            .map_err(|e| e.to_string())?
            .filter_map(|entry| entry.ok().map(|e| e.path()))
            .filter(|p| p.extension().is_some_and(|e| e == "yaml" || e == "yml") && p.is_file())
            .collect();
        found.sort();
        return if found.is_empty() { Err(format!("`{word}` has no *.yaml")) } else { Ok(found) };
    }
    if path.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    let named = PathBuf::from("experiments").join(format!("{word}.yaml"));
    if named.is_file() {
        return Ok(vec![named]);
    }
    let names = names_below(Path::new("experiments"));
    let hint = crate::model::diagnostic::suggestion(word, names.iter().map(String::as_str)).map(|h| format!("; {h}")).unwrap_or_default();
    Err(format!("no manifest `{word}`, nor `{}`{hint}", named.display()))
}

fn names_below(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|e| e.path().file_stem().map(|s| s.to_string_lossy().into_owned())).collect();
    names.sort();
    names
}

/// A manifest that cannot be used.
pub enum Unusable {
    /// It cannot be read, or has a name that no experiment can have.
    Message(String),
    /// It says something wrong.
    Problems {
        /// As the person would name it.
        shown: String,
        /// Its text.
        text: String,
        /// All that is wrong.
        problems: Problems,
    },
}

/// Reads a manifest; problems are drawn (or printed as JSON) and give the exit code.
///
/// # Errors
/// The exit code, after saying why.
pub fn open(path: &Path, reports: Option<&Path>, json: bool) -> Result<Opened, u8> {
    match examine(path, reports) {
        Ok((opened, warnings)) => {
            if json {
                match print_json(&opened.shown, &warnings) {
                    exit::OK => {}
                    code => return Err(code),
                }
            } else {
                talk::diagnostics(&opened.shown, &opened.text, &warnings);
            }
            Ok(opened)
        }
        Err(Unusable::Message(message)) => {
            talk::error(message);
            Err(exit::USAGE)
        }
        Err(Unusable::Problems { shown, text, problems }) => {
            if json {
                print_json(&shown, &problems.0);
            } else {
                talk::diagnostics(&shown, &text, &problems.0);
            }
            Err(exit::USAGE)
        }
    }
}

/// Reads a manifest with what should be known about it, and says nothing.
///
/// # Errors
/// When it cannot be read or is wrong.
pub fn examine(path: &Path, reports: Option<&Path>) -> Result<(Opened, Vec<Diagnostic>), Unusable> {
    let shown = path.display().to_string();
    let bytes = fs::read(path).map_err(|error| Unusable::Message(error.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|_| Unusable::Message(format!("{shown}: not UTF-8 text")))?;
    let name = path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    if name.is_empty() || !name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.')) || name.starts_with('.') {
        let message = format!("{shown}: the file's name is the experiment's name: letters, digits, `-`, `_` and `.` only");
        return Err(Unusable::Message(message));
    }
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let lookup = |template: &str| template_text(folder, template);
    let examined = manifest::examine(&Source { name: &name, folder, text: &text }, &lookup);
    let wrong = examined.found.iter().any(|problem| problem.severity == Severity::Error);
    match examined.experiment {
        Some(experiment) if !wrong => {
            let store = Store::new(&reports_folder(folder, reports), &name);
            Ok((Opened { shown, text, experiment, store }, examined.found))
        }
        partial => {
            let problems = with_planning(examined.found, partial.as_ref());
            Err(Unusable::Problems { shown, text, problems })
        }
    }
}

/// A manifest's own problems with those that planning finds in the rest of it: a person wants to see them all at once. What
/// planning says of a place that is wrong already is only a consequence.
fn with_planning(mut found: Vec<Diagnostic>, partial: Option<&Experiment>) -> Problems {
    let Some(experiment) = partial else { return Problems(found) };
    let options = Options { host: Some(crate::measure::host::facts()), ..Options::default() };
    if let Err(Problems(more)) = plan::plan(experiment, &super::catalog::catalog(), &History::new(), &options) {
        let touches = |a: Span, b: Span| a.start < b.start + b.len.max(1) && b.start < a.start + a.len.max(1);
        let known: Vec<Span> = found.iter().filter_map(|problem| problem.span).collect();
        found.extend(more.into_iter().filter(|problem| problem.span.is_none_or(|span| !known.iter().any(|other| touches(span, *other)))));
        found.sort_by_key(|problem| problem.span);
    }
    Problems(found)
}

/// Problems and warnings as JSON lines on stdout; gives the exit code of the writing.
pub fn print_json(shown: &str, problems: &[Diagnostic]) -> u8 {
    talk::data(|out| problems.iter().try_for_each(|problem| writeln!(out, "{}", talk::as_json(shown, problem))))
}

/// A template beside the manifest, then in the `templates/` beside its `experiments/`. A name cannot leave those folders.
fn template_text(folder: &Path, name: &str) -> Option<String> {
    let relative = Path::new(name);
    if relative.components().any(|part| !matches!(part, std::path::Component::Normal(_) | std::path::Component::CurDir)) {
        return None;
    }
    [folder.join(relative), folder.join("../templates").join(relative)].into_iter().find_map(|path| std::fs::read_to_string(path).ok())
}

/// `reports/` beside the `experiments/` folder that holds the manifest, or beside a manifest that stands alone.
pub fn reports_folder(folder: &Path, given: Option<&Path>) -> PathBuf {
    if let Some(given) = given {
        return given.to_owned();
    }
    let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let parent = absolute.ancestors().find(|a| a.file_name().is_some_and(|n| n == "experiments")).and_then(Path::parent);
    match parent {
        Some(parent) => {
            let here = std::env::current_dir().unwrap_or_default();
            parent.strip_prefix(&here).map_or_else(|_| parent.join("reports"), |relative| relative.join("reports"))
        }
        None => folder.join("reports"),
    }
}

/// Names of the experiments that have a record below a folder of reports.
///
/// # Errors
/// When the folder cannot be listed.
pub fn recorded(reports: &Path) -> std::io::Result<Vec<String>> {
    let entries = std::fs::read_dir(reports)?.flatten().filter(|entry| entry.path().join("runs").is_dir());
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    Ok(names)
}
