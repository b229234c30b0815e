//! The vocabulary that two or more rooms share: data only, no clock, no files, no engine.
//!
//! One word per concept: an *experiment* varies *factors* over *levels*; a *variant* is one combination; a *trial* is one
//! execution of a variant; a *block* is one pass over all variants; a *batch* is the part of a block that shares one engine
//! set-up; a *run* is one invocation; an *observation* is the value of a *metric* for one trial.

pub mod catalog;
pub mod cgroup;
pub mod change;
pub mod chart;
pub mod cpu;
pub mod cpus;
pub mod diagnostic;
pub mod estimate;
pub mod event;
pub mod experiment;
pub mod factorial;
pub mod facts;
pub mod hygiene;
pub mod language;
pub mod metric;
pub mod mounts;
pub mod observe;
pub mod outcome;
pub mod percentile;
pub mod plan;
pub mod possible;
pub mod private;
pub mod quantity;
pub mod results;
pub mod sequence;
pub mod shape;
pub mod spec;
pub mod stack;
pub mod symbol;
pub mod target;
pub mod tree;
