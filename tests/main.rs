//! The one test binary: each module is a topic.

mod analyse;
mod layers;
mod page;
mod tables;
