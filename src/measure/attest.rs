//! What was asked against what the kernel says: quota, shares, cpuset, memory limit of a cgroup.
