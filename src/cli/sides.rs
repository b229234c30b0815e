//! The two records of `compare`, wherever they are: a report folder, one run, or a folder as it was committed.

use super::{exit, open};
use crate::model::diagnostic::suggestion;
use crate::model::results::Results;
use crate::record::{self, Committed, CommittedError, Loaded, RecordError, RunFolder, Store};
use std::path::{Path, PathBuf};

/// Why a record cannot be compared, and the exit code.
pub struct Unread {
    /// What to say.
    pub message: String,
    /// The exit code.
    pub code: u8,
}

impl Unread {
    fn usage(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: exit::USAGE }
    }
}

/// Where a record is.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    /// A report folder.
    Report(PathBuf),
    /// The folder of one run.
    Run(PathBuf),
    /// A revision, and a path in it.
    Committed(String, String),
    /// A run's name, or its beginning.
    Name(String),
}

/// Reads A and B; everything that is wrong with either.
///
/// # Errors
/// When one is not there or cannot be read.
pub fn read(words: [&str; 2], experiment: Option<&str>, reports: &Path) -> Result<[Results; 2], Vec<Unread>> {
    let places = words.map(|word| place(word, reports));
    let home = |of: usize| match experiment {
        Some(name) => Some(reports.join(name)),
        None => match &places[1 - of] {
            Place::Report(folder) => Some(folder.clone()),
            Place::Run(folder) => folder.parent().and_then(Path::parent).map(Path::to_owned),
            Place::Committed(..) | Place::Name(_) => None,
        },
    };
    let [a, b] = [0, 1].map(|of| load(words[of], &places[of], home(of)));
    match (a, b) {
        (Ok((name_a, a)), Ok((name_b, b))) if name_a == name_b => Ok([a, b]),
        (Ok((a, _)), Ok((b, _))) => Err(vec![Unread::usage(format!("`{a}` and `{b}` are two experiments: records of one are compared"))]),
        (a, b) => Err([a.err(), b.err()].into_iter().flatten().collect()),
    }
}

fn place(word: &str, reports: &Path) -> Place {
    let path = Path::new(word);
    if path.join("plan.json").is_file() {
        return Place::Run(path.to_owned());
    }
    if path.is_dir() {
        return Place::Report(path.to_owned());
    }
    let below = reports.join(word);
    match word.split_once(':') {
        Some((revision, path)) => Place::Committed(revision.to_owned(), path.to_owned()),
        None if !word.is_empty() && below.join("runs").is_dir() => Place::Report(below),
        None => Place::Name(word.to_owned()),
    }
}

/// The experiment's name as its newest run says it, and the results.
fn load(word: &str, place: &Place, home: Option<PathBuf>) -> Result<(String, Results), Unread> {
    match place {
        Place::Report(folder) => whole(word, &store(folder)),
        Place::Run(folder) => single(word, folder),
        Place::Name(name) => single(word, &named(name, home)?),
        Place::Committed(revision, path) => {
            let committed = Committed::read(revision, path).map_err(|error| {
                let code = match &error {
                    CommittedError::NoGit { .. } => exit::MACHINE,
                    CommittedError::Record(_) => exit::RECORD,
                    CommittedError::Unknown { .. } | CommittedError::Empty { .. } => exit::USAGE,
                };
                Unread { message: error.to_string(), code }
            })?;
            match committed.run() {
                Some(folder) => single(word, &folder),
                None => whole(word, &committed.store()),
            }
        }
    }
}

/// The store whose folder this is.
fn store(folder: &Path) -> Store {
    let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let name = absolute.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let parent = absolute.parent().unwrap_or(Path::new("/"));
    Store::new(parent, &name)
}

fn whole(word: &str, store: &Store) -> Result<(String, Results), Unread> {
    joined(word, store, record::load(store))
}

fn single(word: &str, folder: &Path) -> Result<(String, Results), Unread> {
    joined(word, &store(folder), record::load_single(RunFolder::existing(folder.to_owned())))
}

fn joined(word: &str, store: &Store, loaded: Result<Loaded, RecordError>) -> Result<(String, Results), Unread> {
    let loaded = loaded.map_err(|error| Unread { message: format!("{word}: {error}"), code: exit::RECORD })?;
    let rows = loaded.runs.iter().any(|run| !run.rows.is_empty());
    let Some(name) = loaded.runs.last().map(|run| run.plan.experiment.clone()).filter(|_| rows) else {
        return Err(Unread::usage(format!(
            "there is no record in `{word}`: a report folder has `runs/`, a run has `plan.json` and trials"
        )));
    };
    let results = record::results_without_samples(store, &name, loaded);
    results.map(|results| (name, results)).map_err(|error| Unread { message: format!("{word}: {error}"), code: exit::RECORD })
}

/// The folder of the run that a name, or the beginning of one, means.
fn named(name: &str, home: Option<PathBuf>) -> Result<PathBuf, Unread> {
    let Some(home) = home else {
        let help = "name a report folder, the folder of a run, `REV:reports/NAME`, or give `--experiment` with the name of a run";
        return Err(Unread::usage(format!("there is no record `{name}`: {help}")));
    };
    let runs = store(&home).runs().map_err(|error| Unread { message: error.to_string(), code: exit::RECORD })?;
    let named = |path: &PathBuf| path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let found: Vec<&PathBuf> = runs.iter().filter(|path| !name.is_empty() && named(path).starts_with(name)).collect();
    match found.iter().find(|path| named(path) == name).or(found.first().filter(|_| found.len() == 1)) {
        Some(path) => Ok((*path).clone()),
        None if found.is_empty() => {
            let names: Vec<String> = runs.iter().map(named).collect();
            let hint = suggestion(name, names.iter().map(String::as_str)).map_or_else(String::new, |hint| format!("; {hint}"));
            Err(Unread::usage(format!("no run of {} begins with `{name}`{hint}", home.display())))
        }
        None => {
            let names: Vec<String> = found.iter().map(|path| format!("`{}`", named(path))).collect();
            Err(Unread::usage(format!("`{name}` is the beginning of {} runs: {}", names.len(), names.join(", "))))
        }
    }
}

/// The folder of reports that names stand for.
#[must_use]
pub fn reports(given: Option<&Path>) -> PathBuf {
    open::reports_folder(Path::new("experiments"), given)
}
