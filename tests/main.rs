//! The one test binary: each module is a topic.

mod layers;
mod parsers;
