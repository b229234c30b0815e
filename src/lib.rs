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
//! 3. [`execute`] asks every [`engine::Engine`] of the plan whether it can run it (preflight), makes the images ready and walks the
//!    trials: the engine is brought up when it is a private one, networks and volumes are made, services rise until they are ready,
//!    then the workloads run in the window. [`measure`] reads the kernel's counters around it and, in `attest`, what the kernel
//!    says of the settings. Every row is in [`record`] before anyone sees it.
//! 4. [`record`] loads what was written into [`model::results::Results`]; [`analyse`] makes estimates, effects and verdicts of
//!    them; [`report`] turns both into bytes. No clock, no host and no engine takes part, so the same record gives the same bytes
//!    (one exception: characters that the embedded font lacks are drawn with a font of the system).
//! 5. `compare` loads two records, from folders or out of git, and [`analyse::compare()`] makes a [`model::change::Change`] of their
//!    results; `status` plans every manifest over its record and runs nothing.
//!
//! # Where to add a thing
//!
//! - a key of the manifest: a line in [`model::language`], where its value is resolved in `plan/resolve`, and `DOCS=rewrite` for its
//!   line in docs/manifest.md;
//! - a parser: a file in [`measure::parsers`], a line in its `PARSERS`, and fixtures;
//! - an engine: a folder in [`engine`] that passes `tests/engine_conformance.rs`, and a line in `cli/engines.rs`;
//! - a setting of private daemons: a field of [`model::private::PrivateSpec`], resolved in `plan/resolve/engine.rs`; what the daemon is
//!   told in `engine/dockerd/settings.rs`, what this host can give in `possible.rs`, how the data root is mounted in `command.rs`;
//! - a setting of units: a field of [`model::spec::UnitSpec`] and, in each engine, what it makes of it and what it refuses (`support`);
//! - a way to tell that a service is ready: [`model::stack::Probe`], and a file in `execute/probe`; what is done with services around
//!   that is in `execute/services.rs`;
//! - a name that is known only while a trial runs: [`model::symbol`], and its value in `execute/names.rs`;
//! - something read back: a file in [`measure::attest`] that turns texts of the kernel into rows, and where it is asked for in
//!   `execute/sight.rs`;
//! - a counter of the kernel: a file in `measure/samplers/source`, its value in `Moment`, and the check that it makes in
//!   [`model::hygiene::CHECKS`] and `measure/samplers/circumstances`;
//! - something that `doctor` tells: what is read of the host in `measure/doctor/sight.rs`, and the finding in the file of its area;
//! - a part of the CPU time: [`model::cpu::CpuPart`], its seconds in `analyse/cpu.rs`, its colour in [`report::charts::Paint`];
//! - something that the pages tell: a field of [`report::templates::view::View`], what fills it in `report/templates`, and its place in both
//!   `templates/report.*.j2`;
//! - a chart: a file in [`report::charts`]; its word in [`model::chart::ChartKind`], its options and where its plates come from in
//!   `report/gallery/kinds.rs`, when it is drawn unasked in `choice.rs`;
//! - a column of a CSV file: its name in `report/tables/columns.rs`, and its line in METHODOLOGY.md, which `tests/columns.rs` holds against it;
//! - something that makes two records differ: a line in `analyse/environment.rs`;
//! - a program that experiments use: a line in [`measure::doctor::TOOLS`], and in `scripts/machine` when its package has another name;
//! - a command: a file in [`cli`].
//!
//! Each module owns its error enum; there is no central one. One owner per dependency: see `tests/layers.rs`. What users must know
//! stands in README.md, METHODOLOGY.md and docs/manifest.md: `tests/readme.rs` runs their commands, checks their manifests, and
//! generates the table of metrics and that of the manifest's keys.

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
