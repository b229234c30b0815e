//! The trials in the order in which they ran: what is left of each when its variant's own level is taken away.

/// Whether the machine changed while the experiment ran.
#[derive(Debug, Clone, PartialEq)]
pub struct Drift {
    /// What is left of each trial that counts, in the order in which they ran.
    pub residuals: Vec<Residual>,
    /// Two-sided p of the Mann-Kendall test for a trend within the runs.
    pub p: Option<f64>,
    /// Change from the first to the last trial of a run by the least-squares line, as a fraction: the largest of the runs.
    pub change: f64,
    /// Correlation of each residual with the next one.
    pub autocorrelation: Option<f64>,
}

impl Drift {
    /// From this p downwards the sequence is said to drift: one pooled test per experiment, so it may be strict.
    pub const ALPHA: f64 = 0.01;

    /// Whether there is a trend.
    #[must_use]
    pub fn is_drifting(&self) -> bool {
        self.p.is_some_and(|p| p < Self::ALPHA)
    }

    /// Whether neighbours in time are alike, so that it is the blocks that keep the comparisons honest: a correlation above 0.3 over
    /// at least 20 trials.
    #[must_use]
    pub fn is_slow_noise(&self) -> bool {
        self.residuals.len() >= 20 && self.autocorrelation.is_some_and(|r| r > 0.3)
    }
}

/// What is left of one trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Residual {
    /// Index into the results' rows.
    pub row: usize,
    /// Natural logarithm of the value over the geometric mean of its variant in the same run.
    pub log: f64,
}

/// Two groups of values where one was expected.
#[derive(Debug, Clone, PartialEq)]
pub struct Modes {
    /// The variant; none where the residuals of all variants are looked at together.
    pub variant: Option<usize>,
    /// Trials that were looked at.
    pub n: usize,
    /// Share of them in the lower group.
    pub lower: f64,
    /// Ratio of the upper group's geometric mean to the lower one's.
    pub gap: f64,
}
