//! Drives a plan over engines: time, signals, phases.
