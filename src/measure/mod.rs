//! Measuring: what a tool printed ([`parsers`]), what the kernel counted ([`window`]), what was really set ([`attest`]), and
//! what the host is ([`host`]). Knows no engine and no record.

pub mod attest;
pub mod host;
pub mod parsers;
pub mod window;
