//! The one test binary: each module is a topic.

mod docker_endpoint;
mod docker_faults;
mod engine_conformance;
mod engine_conformance_docker;
mod layers;
mod pack;
