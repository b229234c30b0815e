//! From a record to the files of a report: load, analyse, draw, write or compare.

use super::{exit, fonts, talk};
use crate::analyse;
use crate::record::{self, RecordError, Store, write_atomically};
use crate::report::page::Own;
use crate::report::templates::Language;
use crate::report::{self, Rendered, ReportError};
use std::path::{Path, PathBuf};

/// What stood in the way of a report.
pub enum Failure {
    /// The record.
    Record(RecordError),
    /// The drawing.
    Report(ReportError),
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Record(error) => error.fmt(f),
            Self::Report(error) => error.fmt(f),
        }
    }
}

impl Failure {
    /// Says it, and gives the exit code.
    pub fn tell(&self) -> u8 {
        talk::error(self);
        exit::RECORD
    }
}

/// A report before it is on disk.
struct Report {
    /// Path below the experiment's report folder, and content.
    files: Vec<(String, Vec<u8>)>,
    /// The answers in plain words.
    answers: Vec<String>,
}

/// Makes a report from the record alone, with an SVG of every chart if so wanted, and warns of declared charts that it cannot have.
///
/// # Errors
/// When the record cannot be read, or something cannot be drawn.
fn make(store: &Store, experiment: &str, vectors: bool) -> Result<Report, Failure> {
    let loaded = record::load(store).map_err(Failure::Record)?;
    let results = record::results(store, experiment, loaded).map_err(Failure::Record)?;
    let analysis = analyse::analyse(&results);
    let fonts = fonts::for_texts(&report::texts(&results));
    let Rendered { files, absent } =
        report::render(&results, &analysis, &fonts, &own_templates(store)?, vectors).map_err(Failure::Report)?;
    absent.iter().for_each(|absent| talk::note(format!("warning: {experiment}: {absent}")));
    Ok(Report { files, answers: report::answers(&results, &analysis) })
}

/// A user's templates instead of the built-in ones: those of their names in the `templates/` beside `reports/`.
///
/// # Errors
/// When one is there and cannot be read.
fn own_templates(store: &Store) -> Result<Own, Failure> {
    let Some(root) = store.folder().parent().and_then(Path::parent) else { return Ok(Own::default()) };
    let own = |language: Language| {
        let path = root.join("templates").join(language.template());
        match std::fs::read_to_string(&path) {
            Ok(text) => Ok(Some(text)),
            Err(absent) if absent.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(Failure::Record(RecordError::Io { operation: format!("read {}", path.display()), source })),
        }
    };
    Ok(Own { markdown: own(Language::Markdown)?, html: own(Language::Html)? })
}

/// What was written where.
pub struct Written {
    folder: PathBuf,
    names: Vec<String>,
    removed: Vec<String>,
    answers: Vec<String>,
}

impl Written {
    /// Says what the numbers answer.
    pub fn answer(&self) {
        self.answers.iter().for_each(talk::note);
    }

    /// Prints the paths, data for whoever called, and gives the exit code.
    pub fn tell(&self) -> u8 {
        for name in &self.removed {
            talk::note(format!("removed {}: the record no longer gives it", self.folder.join(name).display()));
        }
        talk::data(|out| self.names.iter().try_for_each(|name| writeln!(out, "{}", self.folder.join(name).display())))
    }
}

/// Writes a report. Files that are already right are not touched, and charts of an earlier one that are no longer drawn are removed.
///
/// # Errors
/// When the record cannot be read, something cannot be drawn, or a file cannot be written or removed.
pub fn write_report(store: &Store, experiment: &str, vectors: bool) -> Result<Written, Failure> {
    let Report { files, answers } = make(store, experiment, vectors)?;
    let removed = stale(store, &files);
    let mut names = Vec::new();
    for (name, bytes) in files {
        let path = store.folder().join(&name);
        if std::fs::read(&path).ok().as_deref() != Some(&bytes) {
            write_atomically(&path, &bytes).map_err(Failure::Record)?;
        }
        names.push(name);
    }
    for name in &removed {
        let path = store.folder().join(name);
        std::fs::remove_file(&path)
            .map_err(|source| Failure::Record(RecordError::Io { operation: format!("remove {}", path.display()), source }))?;
    }
    Ok(Written { folder: store.folder().to_owned(), names, removed, answers })
}

/// What writing a report would do to what is on disk.
pub struct Difference {
    /// Files that are absent or have other bytes.
    pub changed: Vec<String>,
    /// Charts of an earlier report that this one no longer has.
    pub removed: Vec<String>,
}

/// How a report differs from what is on disk.
///
/// # Errors
/// When the record cannot be read or something cannot be drawn.
pub fn difference(store: &Store, experiment: &str, vectors: bool) -> Result<Difference, Failure> {
    let files = make(store, experiment, vectors)?.files;
    let removed = stale(store, &files);
    let on_disk = |name: &str| std::fs::read(store.folder().join(name)).ok();
    let differs = |(name, bytes): &(String, Vec<u8>)| on_disk(name).as_deref() != Some(bytes);
    Ok(Difference { changed: files.into_iter().filter(differs).map(|(name, _)| name).collect(), removed })
}

/// Files beside the page that a report makes under such names, and that this one does not; sorted.
fn stale(store: &Store, files: &[(String, Vec<u8>)]) -> Vec<String> {
    let entries = std::fs::read_dir(store.folder()).into_iter().flatten().flatten();
    let plain = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    let names = plain.filter_map(|entry| entry.file_name().into_string().ok());
    let page = std::fs::read_to_string(store.folder().join("README.md")).unwrap_or_default();
    let mut stale: Vec<String> = names.filter(|name| report::is_of(name, &page) && !files.iter().any(|(made, _)| made == name)).collect();
    stale.sort();
    stale
}
