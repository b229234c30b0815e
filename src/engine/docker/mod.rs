//! An existing daemon that speaks Docker's API, found the way the docker command finds it.
