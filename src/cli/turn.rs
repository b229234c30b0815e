//! What a command that starts engines takes before: its turn on this host, and an id for its run.

use super::run::record_failure;
use super::signals::Stop;
use super::{exit, talk};
use crate::record::Turn;

/// What is done about others who measure on this host.
#[derive(Debug, clap::Args)]
pub struct Others {
    /// Wait while another experiment is measured on this host.
    #[arg(long)]
    pub wait: bool,
    /// Start beside other experiments of this host: they disturb each other unless they share nothing.
    #[arg(long, conflicts_with = "wait", env = "SHAKEDOWN_TOGETHER", value_parser = clap::builder::FalseyValueParser::new())]
    pub together: bool,
}

/// The host for ourselves, or none of it when nobody cares; `name` is what others hear of us. Blocks while it waits.
///
/// # Errors
/// The exit code, after saying who has it.
pub fn take(others: &Others, name: &str, stop: &Stop) -> Result<Option<Turn>, u8> {
    if others.together {
        return Ok(None);
    }
    let turn = if others.wait {
        let mut told = |owner: &str| talk::note(format!("{name}: waiting for {owner}"));
        tokio::task::block_in_place(|| Turn::wait(name, &mut told, &|| stop.code().is_some()))
    } else {
        Turn::take(name)
    };
    match turn {
        Ok(turn) => Ok(Some(turn)),
        Err(_) if stop.code().is_some() => Err(stop.code().unwrap_or(exit::INTERRUPTED)),
        Err(error) => Err(record_failure(&error)),
    }
}

/// Six hexadecimal digits that no other run on this host has.
pub fn new_id() -> String {
    use std::hash::{BuildHasher, Hasher};
    let mut hasher = std::collections::hash_map::RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    format!("{:06x}", hasher.finish() & 0xff_ffff)
}
