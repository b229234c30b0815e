//! The one test binary: each module is a topic.

mod charts;
mod layers;
