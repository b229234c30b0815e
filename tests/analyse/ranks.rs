//! The cross-checks of the t test against numbers of scipy and of counting by hand, and the flag that rests on them.

use super::{B1, B2, V1, V2, effect, near, of};
use shakedown::analyse::{analyse, hodges_lehmann, signed_rank};

#[test]
fn signed_ranks_give_the_reference_numbers() {
    let seven = [1.1, -0.3, 2.5, 0.7, 1.9, -0.2, 3.1];
    near(signed_rank(&seven).expect("p"), 0.078125, 1e-12);
    let tied = [0.5, 0.5, 0.5, -0.5, 1.0, 1.0, 0.0, 2.0];
    near(signed_rank(&tied).expect("p"), 0.078125, 1e-12);
    let eighty: Vec<f64> = (0..80).map(|i| f64::from((i * 37) % 101 - 45) / 10.0).collect();
    near(signed_rank(&eighty).expect("p"), 0.14460725630381063, 1e-9);
    // At n = 5 no outcome is below 1/16; at n = 6 the most extreme one is 1/32.
    near(signed_rank(&[1.0, 2.0, 3.0, 4.0, 5.0]).expect("p"), 0.0625, 1e-12);
    near(signed_rank(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).expect("p"), 0.03125, 1e-12);
    assert_eq!((signed_rank(&[]), signed_rank(&[0.0, 0.0]), signed_rank(&[1.0, f64::NAN])), (None, None, None));
}

#[test]
fn the_middle_of_all_means_is_found_without_writing_them_down() {
    let seven = [1.1, -0.3, 2.5, 0.7, 1.9, -0.2, 3.1];
    near(hodges_lehmann(&seven).expect("centre"), 1.225, 1e-12);
    let eighty: Vec<f64> = (0..80).map(|i| f64::from((i * 37) % 101 - 45) / 10.0).collect();
    near(hodges_lehmann(&eighty).expect("centre"), 0.5, 1e-12);
    assert_eq!((hodges_lehmann(&[3.0]), hodges_lehmann(&[2.0, 2.0]), hodges_lehmann(&[])), (Some(3.0), Some(2.0), None));
    let many: Vec<f64> = (0..50_000).map(|i| f64::from((i * 31) % 50_000)).collect();
    near(hodges_lehmann(&many).expect("centre"), 24_999.5, 1e-12);
    let effect = effect(&analyse(&of(B2, &[("v", V2)])), 1).clone();
    near(effect.hodges_lehmann.expect("centre"), 1.0000762765586821, 1e-12);
    assert!(!effect.fragile);
}

#[test]
fn simultaneous_intervals_widen_with_the_family() {
    let one = analyse(&of(B1, &[("v", V1)]));
    let alone = effect(&one, 1);
    assert_eq!(alone.simultaneous, alone.low.zip(alone.high));
    let three = analyse(&of(B1, &[("v", V1), ("w", V1), ("x", V1)]));
    let (low, high) = effect(&three, 1).simultaneous.expect("an interval");
    // t(1 - .05/6, 4) = 3.9608 by scipy, times the standard error of the reference vector.
    let error = 0.005505939148219492 / 5.0_f64.sqrt();
    near(low, (-0.03964450424796642 - 3.960_790 * error).exp(), 1e-6);
    near(high, (-0.03964450424796642 + 3.960_790 * error).exp(), 1e-6);
}

#[test]
fn a_verdict_that_hangs_on_few_blocks_is_fragile() {
    let base = [1.0; 8];
    let fragile = |values: &[f64; 8]| effect(&analyse(&of(&base, &[("v", values)])), 1).fragile;
    assert!(!fragile(&[1.05, 1.06, 1.04, 1.055, 1.045, 1.05, 1.052, 1.049]), "clear to both tests");
    assert!(!fragile(&[1.01, 0.99, 1.02, 0.98, 1.005, 0.995, 1.01, 0.985]), "nothing to both tests");
    assert!(fragile(&[1.02, 1.015, 1.018, 1.022, 1.017, 1.019, 1.021, 2.0]), "one wild block hides it from the t test");
    let five = effect(&analyse(&of(&[1.0; 5], &[("v", &[1.02, 1.015, 1.018, 1.022, 2.0])])), 1).fragile;
    assert!(!five, "below six blocks ranks cannot say anything");
}
