//! Stable facts of this host.
