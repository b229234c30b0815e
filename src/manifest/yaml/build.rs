//! Parser events to a tree: anchors, merge keys, duplicate keys and the budgets that stop alias bombs.

use super::{MAX_DEPTH, MAX_KEY, MAX_REPEATED};
use crate::manifest::choices;
use crate::model::diagnostic::Diagnostic;
use crate::model::tree::{Key, Node, Scalar, Span, Tree};
use serde_yaml::granit_parser::{Event, ScalarStyle, Span as Range, Tag};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Collects events into the tree of one document.
pub(super) struct Builder<'t> {
    text: &'t str,
    open: Vec<Open>,
    anchors: HashMap<usize, Anchored>,
    anchor_names: Vec<String>,
    repeated: usize,
    documents: usize,
    root: Option<Tree>,
    /// Problems that did not stop the reading.
    pub(super) found: Vec<Diagnostic>,
}

/// A list or mapping whose end has not been seen.
struct Open {
    anchor: usize,
    span: Span,
    kind: Kind,
}

enum Kind {
    Seq(Vec<Tree>),
    Map {
        entries: Vec<Entry>,
        key: Option<Pending>,
        seen: HashMap<Arc<str>, Span>,
        /// Whether it is a template that lacks its quotes: `{{ name }}` is a mapping in a mapping to YAML.
        template: bool,
    },
}

struct Entry {
    key: Key,
    value: Tree,
    /// Whether it came from a merge key, so that a written key wins over it.
    merged: bool,
}

/// What stood before the `:`.
enum Pending {
    Name(Key),
    Merge(Span),
    /// A key that was refused; its value is dropped.
    Refused,
}

struct Anchored {
    tree: Tree,
    size: usize,
    depth: usize,
}

impl<'t> Builder<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self {
            text,
            open: Vec::new(),
            anchors: HashMap::new(),
            anchor_names: Vec::new(),
            repeated: 0,
            documents: 0,
            root: None,
            found: Vec::new(),
        }
    }

    /// Takes the next event; an error ends the reading.
    pub(super) fn event(&mut self, event: Event<'_>, range: &Range) -> Result<(), Diagnostic> {
        match event {
            Event::DocumentStart(..) => self.document(range)?,
            Event::Scalar(text, style, anchor, tag) => {
                let tree = self.scalar(&text, style, tag.as_deref(), range);
                self.complete(anchor, tree, style == ScalarStyle::Plain);
            }
            Event::SequenceStart(_, anchor, tag) => self.enter(anchor, tag.as_deref(), range, Kind::Seq(Vec::new()))?,
            Event::MappingStart(_, anchor, tag) => {
                let kind = Kind::Map { entries: Vec::new(), key: None, seen: HashMap::new(), template: false };
                self.enter(anchor, tag.as_deref(), range, kind)?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.leave(range),
            Event::Anchor(_, name) => self.anchor_names.push(name.into_owned()),
            Event::Alias(anchor) => self.alias(anchor, range)?,
            Event::UnresolvedAlias(name) if name.len() > MAX_KEY => return Err(Diagnostic::error(place(range), "the alias is too long")),
            Event::UnresolvedAlias(name) => {
                let span = place(range);
                let problem = Diagnostic::error(span, format!("no anchor `&{name}` stands before this alias"));
                self.found.push(problem.suggest(&name, choices(self.anchor_names.iter().map(String::as_str))));
                self.drop_value(span);
            }
            _ => {}
        }
        Ok(())
    }

    /// The tree, and the problems that were found on the way.
    pub(super) fn finish(self) -> (Option<Tree>, Vec<Diagnostic>) {
        let nothing = Tree { span: Span::default(), node: Node::Null };
        (Some(self.root.unwrap_or(nothing)), self.found)
    }

    fn document(&mut self, range: &Range) -> Result<(), Diagnostic> {
        self.documents += 1;
        if self.documents < 2 {
            return Ok(());
        }
        Err(Diagnostic::error(place(range), "a second document begins here").help("one file holds one manifest: remove the `---`"))
    }

    fn scalar(&mut self, text: &str, style: ScalarStyle, tag: Option<&Tag>, range: &Range) -> Tree {
        let mut span = place(range);
        let source = range.slice(self.text).unwrap_or("");
        span.len = u32::try_from(source.trim_end().len()).unwrap_or(0);
        let forced = self.tag(tag, range);
        let quoted = forced || style != ScalarStyle::Plain;
        // The parser spells an absent value `~`; only the source tells them apart.
        let text = if forced && source.is_empty() { "" } else { text };
        let node = match text {
            "~" | "null" | "Null" | "NULL" if !quoted => Node::Null,
            _ => Node::Scalar(Scalar { text: text.into(), quoted }),
        };
        Tree { span, node }
    }

    /// Whether the tag makes the node a text; other tags would be a second way to give a value a type, and are refused.
    fn tag(&mut self, tag: Option<&Tag>, range: &Range) -> bool {
        let Some(tag) = tag else { return false };
        if tag.core_suffix() == Some("str") || (tag.handle() == "!" && tag.suffix().is_empty()) || tag.suffix() == "!" {
            return true;
        }
        let span = range.tag_span().map_or_else(|| place(range), |tag| place(&tag));
        let name = range.tag_span().and_then(|tag| tag.slice(self.text)).unwrap_or("!").to_owned();
        let problem = Diagnostic::error(span, format!("the tag `{name}` means nothing here"));
        self.found.push(problem.help("write the value without a tag, or in quotes when it is a text"));
        false
    }

    fn enter(&mut self, anchor: usize, tag: Option<&Tag>, range: &Range, kind: Kind) -> Result<(), Diagnostic> {
        let span = place(range);
        self.tag(tag, range);
        if self.open.len() >= MAX_DEPTH {
            return Err(too_deep(span));
        }
        self.open.push(Open { anchor, span, kind });
        Ok(())
    }

    fn leave(&mut self, range: &Range) {
        let Some(Open { anchor, mut span, kind }) = self.open.pop() else { return };
        let start = span.start as usize;
        let end = range.byte_range().map_or(start, |bytes| bytes.end);
        let line = self.text.get(start..end).unwrap_or("").lines().next().unwrap_or("");
        span.len = u32::try_from(line.trim_end().len()).unwrap_or(0);
        let node = match kind {
            Kind::Seq(items) => Node::Seq(items),
            Kind::Map { template: true, .. } => Node::Scalar(Scalar { text: line.trim_end().into(), quoted: true }),
            Kind::Map { entries, .. } => Node::Map(settle(entries)),
        };
        self.complete(anchor, Tree { span, node }, false);
    }

    fn alias(&mut self, anchor: usize, range: &Range) -> Result<(), Diagnostic> {
        let span = place(range);
        let Some(anchored) = self.anchors.get(&anchor) else {
            return Err(Diagnostic::error(span, "the alias stands inside what it names"));
        };
        self.repeated += anchored.size;
        if self.repeated > MAX_REPEATED {
            return Err(Diagnostic::error(span, format!("aliases repeat more than {MAX_REPEATED} values")));
        }
        if self.open.len() + anchored.depth > MAX_DEPTH {
            return Err(too_deep(span));
        }
        let tree = Tree { span, node: anchored.tree.node.clone() };
        self.complete(0, tree, false);
        Ok(())
    }

    /// Leaves out what could not be read, with its key, so that nothing more is said of it.
    fn drop_value(&mut self, span: Span) {
        match self.open.last_mut().map(|open| &mut open.kind) {
            Some(Kind::Map { key, .. }) => *key = if key.is_none() { Some(Pending::Refused) } else { None },
            Some(Kind::Seq(_)) => {}
            None => self.root = Some(Tree { span, node: Node::Null }),
        }
    }

    /// Hands a finished node to what it stands in. `plain` tells `<<` from a quoted key of that text.
    fn complete(&mut self, anchor: usize, tree: Tree, plain: bool) {
        if anchor != 0 {
            let (size, depth) = measure(&tree);
            self.anchors.insert(anchor, Anchored { tree: tree.clone(), size, depth });
        }
        let Some(open) = self.open.last_mut() else {
            self.root = Some(tree);
            return;
        };
        match &mut open.kind {
            Kind::Seq(items) => items.push(tree),
            Kind::Map { entries, key, seen, template } => match key.take() {
                None if is_braced(&tree, self.text) => {
                    let problem = Diagnostic::error(open.span, "a template without quotes is read as a mapping");
                    self.found.push(problem.help("put the value in quotes: \"{{ name }}\""));
                    *template = true;
                    *key = Some(Pending::Refused);
                }
                None => *key = Some(as_key(&tree, plain, self.text, seen, &mut self.found)),
                Some(Pending::Name(key)) => entries.push(Entry { key, value: tree, merged: false }),
                Some(Pending::Merge(at)) => merge(entries, &tree, at, &mut self.found),
                Some(Pending::Refused) => {}
            },
        }
    }
}

/// Whether a node is the inner mapping of `{{ name }}`.
fn is_braced(tree: &Tree, text: &str) -> bool {
    matches!(tree.node, Node::Map(_)) && text.get(..=tree.span.start as usize).is_some_and(|before| before.ends_with("{{"))
}

/// Makes a key of a finished node.
fn as_key(tree: &Tree, plain: bool, text: &str, seen: &mut HashMap<Arc<str>, Span>, found: &mut Vec<Diagnostic>) -> Pending {
    let span = tree.span;
    let name: Arc<str> = match &tree.node {
        Node::Scalar(scalar) if plain && &*scalar.text == "<<" => return Pending::Merge(span),
        Node::Scalar(scalar) => scalar.text.clone(),
        Node::Null if span.len > 0 => text.get(span.start as usize..).map_or("", |rest| &rest[..span.len as usize]).into(),
        Node::Null => {
            found.push(Diagnostic::error(span, "a key is missing before the `:`"));
            return Pending::Refused;
        }
        Node::Seq(_) | Node::Map(_) => {
            found.push(Diagnostic::error(span, format!("a key is a single value, not {}", tree.kind())));
            return Pending::Refused;
        }
    };
    if name.len() > MAX_KEY {
        found.push(Diagnostic::error(span, format!("the key is longer than {MAX_KEY} bytes")));
        return Pending::Refused;
    }
    if let Some(first) = seen.get(&name) {
        let problem = Diagnostic::error(span, format!("the key `{name}` is given twice"));
        let problem = problem.label("given again here").related(*first, "first given here");
        found.push(problem.help(format!("it stands on line {} already: keep one of them", first.line)));
        return Pending::Refused;
    }
    seen.insert(name.clone(), span);
    Pending::Name(Key { name, span })
}

/// Lays what a merge key names under the entries.
fn merge(entries: &mut Vec<Entry>, source: &Tree, at: Span, found: &mut Vec<Diagnostic>) {
    let sources = match &source.node {
        Node::Map(_) => std::slice::from_ref(source),
        Node::Seq(items) => items,
        _ => &[],
    };
    if sources.is_empty() || sources.iter().any(|tree| !matches!(tree.node, Node::Map(_))) {
        let problem = Diagnostic::error(at, format!("`<<` merges a mapping or a list of mappings, not {}", source.kind()));
        found.push(problem.help("write it as `<<: *anchor`"));
        return;
    }
    for (key, value) in sources.iter().flat_map(Tree::entries) {
        entries.push(Entry { key: key.clone(), value: value.clone(), merged: true });
    }
}

/// Decides between merged and written keys: a written key wins wherever it stands, then the merge that came first.
fn settle(entries: Vec<Entry>) -> Vec<(Key, Tree)> {
    if !entries.iter().any(|entry| entry.merged) {
        return entries.into_iter().map(|entry| (entry.key, entry.value)).collect();
    }
    let mut taken: HashSet<Arc<str>> = entries.iter().filter(|entry| !entry.merged).map(|entry| entry.key.name.clone()).collect();
    let kept = entries.into_iter().filter(|entry| !entry.merged || taken.insert(entry.key.name.clone()));
    kept.map(|entry| (entry.key, entry.value)).collect()
}

/// How large a tree is, and how deep: a node counts one, and a long text more, since problems repeat it.
fn measure(tree: &Tree) -> (usize, usize) {
    let values = tree.items().iter().chain(tree.entries().iter().map(|(_, value)| value));
    let (size, depth) = values.map(measure).fold((0, 0), |(size, depth), (s, d)| (size + s, depth.max(d)));
    let size = size + 1 + tree.text().map_or(0, |text| text.len() / 16);
    (size, depth + usize::from(!matches!(tree.node, Node::Scalar(_) | Node::Null)))
}

fn too_deep(span: Span) -> Diagnostic {
    Diagnostic::error(span, format!("nested deeper than {MAX_DEPTH} levels"))
}

/// The place of a parser's range in our own terms.
fn place(range: &Range) -> Span {
    let small = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let bytes = range.byte_range().unwrap_or(0..0);
    Span { line: small(range.start.line()), column: small(range.start.col() + 1), start: small(bytes.start), len: small(bytes.len()) }
}
