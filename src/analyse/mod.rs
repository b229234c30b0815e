//! Results -> Analysis: estimates, effects, verdicts. Pure and seeded; knows no files and no engine.
