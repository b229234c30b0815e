//! A scripted engine for fault injection: the whole program runs over it without a daemon.
