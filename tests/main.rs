//! The one test binary: each module is a topic.

mod analyse;
mod cgroup_v2;
mod engine_conformance;
mod layers;
mod manifests;
mod native;
mod pack;
mod page;
mod parsers;
mod tables;
