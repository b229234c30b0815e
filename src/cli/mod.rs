//! The terminal: arguments, progress, tables, exit codes.
