//! Why a pack cannot be made: every case names the path, and what to do when that is known.

use std::io;
use std::path::PathBuf;

/// A pack could not be made.
#[derive(Debug, thiserror::Error)]
pub enum PackError {
    /// Nothing was asked for.
    #[error("a pack needs at least one path")]
    Empty,
    /// A bare name: it is not searched for, because what is packed must not depend on who runs it.
    #[error("`{name}` is not a path{}", hint(suggestion, "write "))]
    BareName {
        /// As written.
        name: String,
        /// Where the search path has it.
        suggestion: Option<String>,
    },
    /// Nothing is there.
    #[error("`{}` does not exist{}", path.display(), hint(suggestion, "did you mean "))]
    Missing {
        /// The path that was followed.
        path: PathBuf,
        /// The path with the nearest existing name.
        suggestion: Option<String>,
    },
    /// A chain of symbolic links that is too long or does not end.
    #[error("`{}` leads through more than {limit} symbolic links", path.display())]
    Loop {
        /// The path that was followed.
        path: PathBuf,
        /// The most that are followed, as in the kernel.
        limit: usize,
    },
    /// The root, a device, a socket, a pipe, or a path of the kernel's own file systems.
    #[error("`{}` cannot be packed: name files and folders below it, not {what}", path.display())]
    Special {
        /// The path.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// A file or folder could not be read.
    #[error("read `{}`: {source}", path.display())]
    Read {
        /// The path.
        path: PathBuf,
        /// What happened.
        #[source]
        source: io::Error,
    },
    /// A library is not found on this host either.
    #[error("`{}` needs the library `{library}`, which is not found", needed_by.display())]
    Library {
        /// The library's name.
        library: String,
        /// The program or library that asks for it.
        needed_by: PathBuf,
    },
    /// A program's loader is missing, or is not one.
    #[error("`{}` asks for the loader `{}`, which {reason}", program.display(), loader.display())]
    Loader {
        /// The program.
        program: PathBuf,
        /// The loader that it names.
        loader: PathBuf,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The loader could not say what a program needs.
    #[error("list the libraries of `{}`: {reason}", program.display())]
    List {
        /// The program.
        program: PathBuf,
        /// What the loader said.
        reason: String,
    },
    /// A script's interpreter is not there.
    #[error("the script `{}` needs `{interpreter}`, which is not found", script.display())]
    Interpreter {
        /// The script.
        script: PathBuf,
        /// The interpreter, as the script writes it.
        interpreter: String,
    },
    /// Made for another machine.
    #[error("`{}` is made for {machine}, this host is {host}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// Its architecture.
        machine: String,
        /// The host's.
        host: &'static str,
    },
    /// A file changed while it was packed, or between packing and archiving.
    #[error("`{}` changed while it was packed; try again", path.display())]
    Changed {
        /// The file; the root when it cannot be told which.
        path: PathBuf,
    },
    /// The archive could not be put together.
    #[error("write the archive entry `{}`: {source}", path.display())]
    Write {
        /// The entry.
        path: PathBuf,
        /// What happened.
        #[source]
        source: io::Error,
    },
}

impl PackError {
    /// Wraps a failed reading of `path`; for use in `map_err`.
    pub(super) fn read(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Read { path, source }
    }

    /// Wraps a failed writing of the entry `path`; for use in `map_err`.
    pub(super) fn write(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Write { path, source }
    }
}

fn hint(suggestion: &Option<String>, verb: &str) -> String {
    let end = if verb.starts_with("did") { "?" } else { "" };
    suggestion.as_ref().map(|path| format!("; {verb}`{path}`{end}")).unwrap_or_default()
}
