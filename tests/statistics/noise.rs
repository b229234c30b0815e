//! Seven kinds of noise, each a sequence of trials in the order of time: a value is its expectation times 1 + noise. All but the last three
//! have a deviation of 2.6 %.

use shakedown::plan::random::Random;

/// The deviation of most kinds.
const CV: f64 = 0.026;

/// The kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Noise {
    /// Independent and normal.
    Normal,
    /// Independent, with dips of a long tail: lognormal of sigma 1, skew 6.
    Lognormal,
    /// Independent, 30 % of the trials 5.4 % slower than the others, 0.8 % within.
    Bimodal,
    /// With a memory: AR(1), phi 0.9, 2.4 %, and 1 % of independent noise.
    Ar1,
    /// Falling by 6 % over the experiment, and 1.5 % of independent noise.
    Trend,
    /// Normal, 8 % of the trials 20 % slower.
    Outlier,
    /// A neighbour that comes for 4 trials on average, a fifth of the time, and takes 10 %; and 1.5 % of independent noise.
    Neighbour,
}

/// All of them.
pub const KINDS: [Noise; 7] = [Noise::Normal, Noise::Lognormal, Noise::Bimodal, Noise::Ar1, Noise::Trend, Noise::Outlier, Noise::Neighbour];

impl Noise {
    pub fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Lognormal => "lognormal",
            Self::Bimodal => "bimodal",
            Self::Ar1 => "AR(1)",
            Self::Trend => "trend",
            Self::Outlier => "outlier",
            Self::Neighbour => "neighbour",
        }
    }

    /// The noise of `m` trials one after the other.
    pub fn draw(self, draws: &mut Draws, m: usize) -> Vec<f64> {
        let white = |draws: &mut Draws, sd: f64| sd * draws.normal();
        match self {
            Self::Normal => (0..m).map(|_| white(draws, CV)).collect(),
            Self::Lognormal => {
                let (mean, sd) = (0.5_f64.exp(), ((std::f64::consts::E - 1.0) * std::f64::consts::E).sqrt());
                (0..m).map(|_| (-CV * (draws.normal().exp() - mean) / sd).max(-0.5)).collect()
            }
            Self::Bimodal => {
                let slow = |draws: &mut Draws| f64::from(u8::from(draws.uniform() < 0.3));
                (0..m).map(|_| -0.054 * (slow(draws) - 0.3) + white(draws, 0.008)).collect()
            }
            Self::Ar1 => {
                let (phi, sd) = (0.9_f64, 0.024);
                let mut x = white(draws, sd);
                let next = |at: usize| {
                    if at > 0 {
                        x = phi * x + white(draws, sd * (1.0 - phi * phi).sqrt());
                    }
                    x + white(draws, 0.01)
                };
                (0..m).map(next).collect()
            }
            Self::Trend => (0..m).map(|at| -0.06 * (at as f64 / (m - 1) as f64 - 0.5) + white(draws, 0.015)).collect(),
            Self::Outlier => (0..m).map(|_| white(draws, CV) - if draws.uniform() < 0.08 { 0.2 } else { 0.0 }).collect(),
            Self::Neighbour => {
                let mut there = draws.uniform() < 0.2;
                let next = |at: usize| {
                    if at > 0 {
                        there = if there { draws.uniform() >= 0.25 } else { draws.uniform() < 1.0 / 16.0 };
                    }
                    white(draws, 0.015) - if there { 0.1 } else { 0.0 }
                };
                (0..m).map(next).collect()
            }
        }
    }
}

/// Numbers of a seeded stream.
pub struct Draws {
    random: Random,
    /// The second of a pair of normal numbers.
    spare: Option<f64>,
}

impl Draws {
    pub fn new(seed: u64) -> Self {
        Self { random: Random::new(seed), spare: None }
    }

    pub fn seed(&mut self) -> u64 {
        self.random.next_u64()
    }

    /// Between 0 and 1.
    fn uniform(&mut self) -> f64 {
        (self.random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Standard normal, by the transformation of Box and Muller.
    fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        let (radius, turn) = ((-2.0 * (1.0 - self.uniform()).ln()).sqrt(), std::f64::consts::TAU * self.uniform());
        self.spare = Some(radius * turn.sin());
        radius * turn.cos()
    }
}
