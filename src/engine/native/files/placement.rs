//! What is to appear where, and where that is: found out before anything is mounted.

use super::Host;
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

/// One thing that a unit sees at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::engine::native) struct Placement<'s> {
    /// Absolute path inside.
    pub target: PathBuf,
    pub thing: Thing<'s>,
}

/// What appears.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::engine::native) enum Thing<'s> {
    /// A file with this text.
    Text { content: &'s str, mode: u32 },
    /// A folder of the host, laid over what stands at its target: names of both are seen, its own come first.
    Layer(PathBuf),
    /// A file or folder instead of what stands at its target. Where it is `ours`, not the user's, names may be made in it.
    Mount { source: Source, read_only: bool, ours: bool },
}

/// What is mounted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::engine::native) enum Source {
    Folder(PathBuf),
    File(PathBuf),
    /// Fresh memory, of so many bytes at most when given.
    Memory(Option<u64>),
}

impl Thing<'_> {
    pub(super) fn is_folder(&self) -> bool {
        match self {
            Self::Text { .. } | Self::Mount { source: Source::File(_), .. } => false,
            Self::Layer(_) | Self::Mount { .. } => true,
        }
    }

    /// Whether what is missing in it may be made.
    fn takes_names(&self) -> bool {
        matches!(self, Self::Layer(_) | Self::Mount { ours: true, .. })
    }
}

/// A placement whose place is known.
#[derive(Debug)]
pub(super) struct Placed<'p> {
    pub thing: &'p Thing<'p>,
    /// Which of the placements it is.
    pub number: usize,
    /// Its target; links of the host above it are followed.
    pub at: PathBuf,
    /// The deepest folder above `at` that is there, when nothing is there yet.
    pub missing_below: Option<PathBuf>,
    /// Whether it stands in another placed thing, which must come first.
    pub inner: bool,
    /// The folders whose names are seen below it, the first before the next.
    layers: Vec<PathBuf>,
}

/// Finds every place; outermost first.
pub(super) fn locate<'p>(placements: &'p [Placement<'p>], host: &dyn Host) -> Result<Vec<Placed<'p>>, String> {
    let mut order: Vec<usize> = (0..placements.len()).collect();
    order.sort_by_key(|number| placements[*number].target.components().count());
    let mut placed: Vec<Placed<'p>> = Vec::new();
    let mut taken = BTreeSet::new();
    for number in order {
        let Placement { target, thing } = &placements[number];
        let shown = target.display();
        if !target.is_absolute() || target.components().any(|part| part == Component::ParentDir) {
            return Err(format!("`{shown}` must be an absolute path without `..`"));
        }
        let holder = placed
            .iter()
            .filter(|outer| outer.thing.is_folder() && target.starts_with(&placements[outer.number].target))
            .max_by_key(|outer| outer.at.components().count());
        let found = match holder {
            Some(outer) if placements[outer.number].target != *target => {
                let inside = target.strip_prefix(&placements[outer.number].target).unwrap_or(target);
                let (missing_below, below) = look(inside, outer, host).map_err(|why| format!("`{shown}` {why}"))?;
                Placed { thing, number, at: outer.at.join(inside), missing_below, inner: true, layers: below }
            }
            _ => {
                let at = host.resolve(target);
                let missing_below = (!host.exists(&at)).then(|| folder_above(&at, host));
                Placed {
                    thing,
                    number,
                    layers: if host.is_folder(&at) { vec![at.clone()] } else { Vec::new() },
                    at,
                    missing_below,
                    inner: false,
                }
            }
        };
        if found.missing_below.is_none() {
            match (found.layers.is_empty(), thing.is_folder()) {
                (false, false) => return Err(format!("`{shown}` is a folder")),
                (true, true) => return Err(format!("`{shown}` is not a folder")),
                _ => {}
            }
        }
        if found.at == Path::new("/") {
            return Err("nothing can be placed at `/` itself".to_owned());
        }
        if !taken.insert(found.at.clone()) {
            return Err(format!("two things are placed at `{shown}`"));
        }
        placed.push(with_own_layers(found));
    }
    Ok(placed)
}

/// From the folders that were seen at its place to those that are seen in it.
fn with_own_layers(mut placed: Placed<'_>) -> Placed<'_> {
    match placed.thing {
        Thing::Layer(from) => placed.layers.insert(0, from.clone()),
        Thing::Mount { source: Source::Folder(from), .. } => placed.layers = vec![from.clone()],
        _ => placed.layers.clear(),
    }
    placed
}

fn folder_above(path: &Path, host: &dyn Host) -> PathBuf {
    path.ancestors().skip(1).find(|path| host.is_folder(path)).unwrap_or(Path::new("/")).to_path_buf()
}

/// What stands at `inside` of another thing: the deepest folder that is there when it is missing, and its own layers when it is a
/// folder.
fn look(inside: &Path, outer: &Placed<'_>, host: &dyn Host) -> Result<(Option<PathBuf>, Vec<PathBuf>), String> {
    let mut layers = outer.layers.clone();
    let mut there = outer.at.clone();
    let parts: Vec<Component<'_>> = inside.components().collect();
    for (depth, part) in parts.iter().enumerate() {
        let names: Vec<PathBuf> =
            layers.iter().map(|layer| layer.join(part)).filter(|name| host.is_link(name) || host.exists(name)).collect();
        let Some(first) = names.first() else {
            if outer.thing.takes_names() {
                return Ok((Some(there), Vec::new()));
            }
            return Err(format!("lies in the mount at `{}`, and is not there: make it in what is mounted", outer.at.display()));
        };
        // A link leads to one place on the host and to another one inside.
        if host.is_link(first) {
            return Err(format!("leads through the link `{}`", first.display()));
        }
        if !host.is_folder(first) {
            return if depth + 1 == parts.len() {
                Ok((None, Vec::new()))
            } else {
                Err(format!("leads through `{}`, which is a file", first.display()))
            };
        }
        layers = names.into_iter().take_while(|name| !host.is_link(name) && host.is_folder(name)).collect();
        there.push(part);
    }
    Ok((None, layers))
}
