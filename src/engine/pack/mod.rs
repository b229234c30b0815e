//! `pack`: a FROM-scratch image of host binaries with their shared-library closure, byte-reproducible.
