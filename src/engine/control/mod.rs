//! Control groups of our own: made before a unit starts, limited, killed and removed. Serves every engine on this host.
