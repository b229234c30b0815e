//! The CSV files: one row per trial, per estimate, per effect.
