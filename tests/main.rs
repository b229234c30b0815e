//! The one test binary: each module is a topic.

mod alive;
mod analyse;
mod attest;
mod cgroup_v2;
mod charts;
mod cli;
mod docker_endpoint;
mod docker_faults;
mod engine_conformance;
mod engine_conformance_docker;
mod execute;
mod fake;
mod kill;
mod layers;
mod manifests;
mod native;
mod pack;
mod page;
mod parsers;
mod plan;
mod program;
mod readme;
mod record;
mod report;
mod tables;
