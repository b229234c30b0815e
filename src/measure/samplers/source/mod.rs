//! One file per source: a text of the kernel becomes numbers.
