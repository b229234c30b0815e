//! The error rates of the whole chain, planner's order to verdict, over seven kinds of noise. `make bench-statistics` repeats this with
//! numbers large enough to publish; here a broken rule must show within seconds.

pub mod noise;
pub mod trials;

use noise::{Draws, KINDS, Noise};
use trials::{Order, Trials};

const BLOCKS: [usize; 6] = [3, 5, 8, 10, 20, 30];

/// Experiments per cell: of so few a true 5 % shows as up to 8 % (three standard errors).
const EXPERIMENTS: usize = 500;

/// The share of experiments in which an event happened.
fn share(experiments: usize, mut happens: impl FnMut() -> bool) -> f64 {
    (0..experiments).filter(|_| happens()).count() as f64 / experiments as f64
}

fn within(rate: f64) -> f64 {
    rate + 3.0 * (rate * (1.0 - rate) / EXPERIMENTS as f64).sqrt()
}

#[test]
fn identical_variants_are_hardly_ever_called_different() {
    for noise in KINDS {
        for blocks in BLOCKS {
            let mut draws = Draws::new(blocks as u64);
            let mut two = Trials::new(2, blocks);
            let false_alarms = share(EXPERIMENTS, || two.measure(noise, Order::Planned, 0.0, &mut draws).different > 0);
            assert!(false_alarms <= within(0.05), "{}, {blocks} blocks of 2: {false_alarms}", noise.name());
        }
        let mut draws = Draws::new(6);
        let mut six = Trials::new(6, 5);
        let (mut significant, mut comparisons) = (0, 0);
        let false_alarms = share(EXPERIMENTS, || {
            let judged = six.measure(noise, Order::Planned, 0.0, &mut draws);
            (significant, comparisons) = (significant + judged.significant, comparisons + judged.comparisons);
            judged.different > 0
        });
        assert!(false_alarms <= within(0.05), "{}, 5 blocks of 6: {false_alarms}", noise.name());
        let single = f64::from(significant) / f64::from(comparisons);
        assert!(single <= within(0.05), "{}, each comparison of 6 by itself: {single}", noise.name());
    }
}

/// The check above can fail: without shuffled blocks it does.
#[test]
fn an_order_without_blocks_calls_identical_variants_different() {
    let mut draws = Draws::new(5);
    let mut trials = Trials::new(2, 5);
    let false_alarms = share(EXPERIMENTS, || trials.measure(Noise::Ar1, Order::Sequential, 0.0, &mut draws).different > 0);
    assert!(false_alarms >= 0.2, "{false_alarms}");
}

#[test]
fn real_differences_are_found() {
    // STATISTICS: power of one comparison at a difference of 5 %.
    for (noise, blocks, power) in [(Noise::Normal, 10, 0.97), (Noise::Ar1, 5, 0.995), (Noise::Outlier, 20, 0.67)] {
        let mut draws = Draws::new(1);
        let mut trials = Trials::new(2, blocks);
        let found = share(EXPERIMENTS, || trials.measure(noise, Order::Planned, 0.05, &mut draws).different > 0);
        let error = 3.0 * (power * (1.0 - power) / EXPERIMENTS as f64).sqrt();
        assert!((found - power).abs() <= error + 0.01, "{}, {blocks} blocks: {found} is not {power}", noise.name());
    }
}

#[test]
fn a_number_of_blocks_that_is_found_by_looking_keeps_the_error_rate() {
    let mut draws = Draws::new(2);
    for variants in [2, 3] {
        let mut trials = Trials::adaptive(variants);
        let mut blocks = 0;
        let false_alarms = share(EXPERIMENTS, || {
            let (judged, taken) = trials.measure_until_narrow(Noise::Normal, 0.0, &mut draws);
            blocks += taken;
            judged.different > 0
        });
        assert!(false_alarms <= within(0.05), "{variants} variants: {false_alarms}");
        let mean = blocks as f64 / EXPERIMENTS as f64;
        assert!((10.0..25.0).contains(&mean), "{mean} blocks on average: neither always the fewest nor always the most");
    }
}
