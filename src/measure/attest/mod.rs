//! What was asked against what the kernel says: one file per kind of setting.
//!
//! Asked and found are spelled alike, so that equal settings are equal texts. Only what was asked for is read; what could not be
//! read is none. Texts of the kernel are read by pure functions, and thin readers over `/proc` hand them in.

pub mod daemon;
pub mod limits;
mod links;
pub mod network;
pub mod path;
pub mod processes;
pub mod proxies;
pub mod storage;
