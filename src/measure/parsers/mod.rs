//! Parsers: one file per tool, each with an `ok` rule that catches exit 0 after total failure.
