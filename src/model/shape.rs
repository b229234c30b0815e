//! Shapes: what a part of the manifest may look like, as data. `manifest` checks trees against them; editors' schemas derive from them.

/// The word that switches something off.
pub const OFF: &str = "off";

/// What a node may be. A scalar below `engine`, `workload(s)` or `vars` may hold a template instead.
#[derive(Debug, Clone, Copy)]
pub enum Shape {
    /// Any text.
    Text,
    /// `true` or `false`.
    Bool,
    /// A whole number within bounds, inclusive.
    Integer(i64, i64),
    /// A number greater than the first and at most the second.
    Number(f64, f64),
    /// Such as `90s`.
    Duration,
    /// Such as `512m`.
    Size,
    /// Such as `3%`.
    Percent,
    /// Such as `3%`, or a plain number.
    Amount,
    /// `off`, or a scalar of a shape.
    OrOff(&'static Shape),
    /// A CPU list such as `0,2-3`.
    CpuList,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A command: text split as a shell would (without running one), or a list.
    Command,
    /// A list of items of a shape; a single item stands for a list of one.
    List(&'static Shape),
    /// Names with text values: a mapping, or a list of `NAME=value`.
    Pairs,
    /// A mapping from any name to a shape.
    Named(&'static Shape),
    /// A mapping with known keys.
    Record(&'static Record),
    /// One of several shapes, told apart by the kind of node: scalar, list, mapping.
    Either(&'static [Shape]),
    /// Anything; checked elsewhere.
    Any,
}

/// A mapping with known keys.
#[derive(Debug, Clone, Copy)]
pub struct Record {
    /// What a person calls it, such as "a workload".
    pub name: &'static str,
    /// Its keys.
    pub fields: &'static [Field],
    /// Keys of which exactly one must be given; empty when there is no such rule.
    pub one_of: &'static [&'static str],
}

/// A key of a record.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// The key.
    pub name: &'static str,
    /// What it may hold.
    pub shape: Shape,
    /// One sentence for `--help`, the schema and the reference.
    pub about: &'static str,
    /// Whether it works.
    pub support: Support,
    /// Whether it must be given.
    pub required: bool,
}

/// Whether a key works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Support {
    /// It does.
    Yes,
    /// It is part of the language and not supported yet: an error that says so.
    Later,
}

impl Field {
    /// A supported, optional key.
    #[must_use]
    pub const fn new(name: &'static str, shape: Shape, about: &'static str) -> Self {
        Self { name, shape, about, support: Support::Yes, required: false }
    }

    /// A key that is part of the language and not supported yet.
    #[must_use]
    pub const fn later(name: &'static str, about: &'static str) -> Self {
        Self { name, shape: Shape::Any, about, support: Support::Later, required: false }
    }

    /// The same key, which must be given.
    #[must_use]
    pub const fn required(mut self) -> Self {
        self.required = true;
        self
    }
}

impl Record {
    /// The field named `name`.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().find(|f| f.name == name)
    }

    /// All keys that work.
    pub fn known(&self) -> impl Iterator<Item = &'static str> {
        self.fields.iter().filter(|f| f.support == Support::Yes).map(|f| f.name)
    }
}
