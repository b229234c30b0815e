//! The bare host as an engine: a process in a cgroup of its own with the same limits a container would have.
