//! Every performance bar beside its limit.

fn main() {}
