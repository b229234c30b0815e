//! The kernel's counters of a cgroup at both ends of the measured window.
