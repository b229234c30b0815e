//! What a unit's process and the commands run beside it have in common.

use super::fresh::Fresh;
use super::user::{self, Identity};
use crate::engine::EngineError;
use crate::engine::namespace::Namespace;
use crate::model::spec::UnitSpec;
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// `PATH` when the spec declares none: the one that container engines give.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Ready made before the fork.
#[derive(Debug)]
pub(super) struct Setting {
    /// What is not inherited.
    pub fresh: Fresh,
    /// The network namespace to enter; none is ours.
    pub namespace: Option<Arc<Namespace>>,
    /// The control files to enter.
    pub cgroups: Vec<CString>,
    /// Who to become.
    pub identity: Option<Identity>,
    /// Where to be.
    pub folder: CString,
    pub environment: Vec<(String, String)>,
}

impl Setting {
    /// That of `spec`, with the control files of its group.
    pub(super) fn new(spec: &UnitSpec, fresh: Fresh, namespace: Option<Arc<Namespace>>, entries: &[PathBuf]) -> Result<Self, EngineError> {
        let unsupported = |what| EngineError::Unsupported { what };
        let identity = match &spec.user {
            None => None,
            Some(user) => {
                let accounts = Accounts::read();
                Some(user::resolve(user, &accounts.passwd, &accounts.group).map_err(unsupported)?)
            }
        };
        let cgroups = entries.iter().map(|path| text(path)).collect::<Result<_, _>>()?;
        let folder = text(Path::new(spec.working_dir.as_deref().unwrap_or("/")))?;
        Ok(Self { fresh, namespace, cgroups, identity, folder, environment: environment(spec) })
    }
}

/// The host's account files.
#[derive(Debug, Default)]
pub(super) struct Accounts {
    pub passwd: String,
    pub group: String,
}

impl Accounts {
    pub(super) fn read() -> Self {
        let text = |path| std::fs::read_to_string(path).unwrap_or_default();
        Self { passwd: text("/etc/passwd"), group: text("/etc/group") }
    }
}

/// A path as system calls take it.
pub(super) fn text(path: &Path) -> Result<CString, EngineError> {
    let zero = || EngineError::Unsupported { what: "a path contains a zero byte".to_owned() };
    CString::new(path.as_os_str().as_bytes()).map_err(|_| zero())
}

/// What the spec declares, over `PATH`, `LC_ALL=C` and `HOME`: nothing of the caller's own environment.
fn environment(spec: &UnitSpec) -> Vec<(String, String)> {
    let home = spec.user.as_ref().map_or("/root".to_owned(), |user| user::home(user, &Accounts::read().passwd).to_owned());
    let mut variables = vec![("PATH".to_owned(), PATH.to_owned()), ("LC_ALL".to_owned(), "C".to_owned()), ("HOME".to_owned(), home)];
    variables.extend(spec.environment.iter().cloned());
    variables
}
