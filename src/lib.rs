//! `shakedown`: experiments as code for container performance.
//!
//! # The house
//!
//! Folder names are the pipeline. Imports go strictly downwards, never sideways; `tests/layers.rs` enforces it.
//!
//! ```text
//! 4 cli                            terminal, exit codes               effects
//! 3 execute                        drives a Plan: time, signals       effects
//! 2 engine | measure | record      containers | counters | files      effects
//!   report                         Results + Analysis -> bytes        pure
//! 1 manifest | plan | analyse      text -> Experiment -> Plan; Results -> Analysis      pure
//! 0 model                          vocabulary, events, specs          data only
//! ```
//!
//! # The flow
//!
//! 1. [`manifest`] reads YAML into a [`model::tree::Tree`], checks it against the tables of [`model::language`] and gives a
//!    [`model::experiment::Experiment`], or every problem at once.
//! 2. [`plan`] multiplies the levels into variants, merges their patches, binds templates, resolves each variant to a typed
//!    [`model::spec::TrialSpec`] (its identity), compares with history and orders the trials into a [`model::plan::Plan`].
//! 3. [`execute`] walks the plan over an [`engine::Engine`], with [`measure`] reading the kernel's counters around the window,
//!    and hands every row to [`record`] before anyone sees it.
//! 4. [`record`] loads what was written into [`model::results::Results`]; [`analyse`] makes estimates, effects and verdicts of
//!    them; [`report`] turns both into bytes. No clock, no host and no engine takes part, so the same record gives the same bytes
//!    (one exception: characters that the embedded font lacks are drawn with a font of the system).
//!
//! # Where to add a thing
//!
//! - a key of the manifest: a line in [`model::language`], and where its value is resolved in [`plan`];
//! - a parser: a file in [`measure::parsers`], a line in its `PARSERS`, and fixtures;
//! - an engine: a folder in [`engine`] that passes `tests/engine_conformance.rs`, and a line in `cli/engines.rs`;
//! - a chart: a file in [`report::charts`], and a line in `report/gallery.rs`;
//! - a program that experiments use: a line in [`measure::doctor::TOOLS`], and in `scripts/machine` when its package has another name;
//! - a command: a file in [`cli`].
//!
//! Each module owns its error enum; there is no central one. One owner per dependency: see `tests/layers.rs`. What users must know
//! stands in README.md and METHODOLOGY.md, of which `tests/readme.rs` runs the commands and generates the table of metrics.

pub mod analyse;
pub mod cli;
pub mod engine;
pub mod execute;
pub mod manifest;
pub mod measure;
pub mod model;
pub mod plan;
pub mod record;
pub mod report;

#[cfg(test)]
#[path = "../tests/skipped.rs"]
mod skipped;
