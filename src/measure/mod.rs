//! Measuring: what a tool printed ([`parsers`]), what the kernel counted of the units ([`window`]) and of all around them
//! ([`samplers`]), what was really set ([`attest`]), what the host is ([`host`]), and what it can do and what would disturb
//! ([`doctor`]). Knows no engine and no record.

pub mod attest;
pub mod doctor;
pub mod host;
pub mod parsers;
pub mod samplers;
pub mod window;
