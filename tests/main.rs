//! The one test binary: each module is a topic.

mod cgroup_v2;
mod engine_conformance;
mod fake;
mod layers;
mod native;
