//! The record of a run: folder, journal, plan, raw output. Knows no engine.
