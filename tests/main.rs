//! The one test binary: each module is a topic.

mod engine_conformance;
mod layers;
mod pack;
