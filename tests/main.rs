//! The one test binary: each module is a topic.

mod analyse;
mod layers;
mod manifests;
mod pack;
mod page;
mod parsers;
mod tables;
