//! Engine starts as what is replicated: known answers, which comparisons are about engines, and noise of starts without an effect.

use super::{Noise, add_run, add_variant, fail, near, of, row};
use shakedown::analyse::analyse;
use shakedown::model::estimate::{Analysis, Comparison, Subject, Verdict};
use shakedown::model::experiment::Design;
use shakedown::model::outcome::{Outcome, Phase};
use shakedown::model::plan::primer_id;
use shakedown::model::private::{BACKING_BYTES, Backing, Filesystem, PrivateSpec};
use shakedown::model::results::{ResultRow, Results};
use shakedown::model::spec::EngineSpec;

/// A private engine with this storage driver.
pub fn private(storage_driver: &str) -> EngineSpec {
    let backing = Backing { filesystem: Filesystem::default_for(storage_driver), bytes: BACKING_BYTES };
    let (storage_driver, daemon) = (storage_driver.to_owned(), Default::default());
    EngineSpec {
        host: None,
        private: Some(PrivateSpec { storage_driver, backing, userland_proxy: true, iptables: true, binary: None, daemon }),
    }
}

/// Puts the variants on these engines, the trials of private ones under `starts` starts of each run of `blocks` blocks.
pub fn hosted(results: &mut Results, engines: &[EngineSpec], starts: u32, blocks: u32) {
    let design = Design { engine_starts: Some(starts), ..Design::default() };
    for (variant, engine) in results.variants.iter_mut().zip(engines) {
        variant.spec.engine = engine.clone();
    }
    for row in &mut results.rows {
        let started = engines[row.variant.expect("variant")].private.is_some();
        row.row.engine_start = started.then(|| design.engine_start(row.row.block, blocks));
    }
    results.design.engine_starts = Some(starts);
}

fn compared(analysis: &Analysis, variant: usize) -> &Comparison {
    analysis.comparisons.iter().find(|c| c.subject == Subject::Variant(variant)).expect("the comparison")
}

const BASE: &[f64] = &[100.0, 104.0, 98.0, 101.0, 97.0, 103.0, 99.0, 102.0, 100.0, 96.0];
const OTHER: &[f64] = &[95.0, 101.0, 94.0, 96.0, 94.0, 97.0, 96.0, 96.0, 95.0, 93.0];

/// Ten blocks under five starts of two engines.
fn five_starts() -> Results {
    let mut results = of(BASE, &[("v", OTHER)]);
    hosted(&mut results, &[private("overlay2"), private("btrfs")], 5, 10);
    results
}

/// By hand: the means of ln(v/b) over blocks 1-2, 3-4, ... are -0.040282, -0.046223, -0.045717, -0.045698 and -0.041521; their mean is
/// -0.043888, their standard error 0.0012385 and t(0.975, 4) is 2.776445. For 4 degrees of freedom p has a closed form.
#[test]
fn the_logs_of_one_start_are_averaged_before_the_test() {
    let analysis = analyse(&five_starts());
    let found = compared(&analysis, 1);
    near(found.effect.ratio, 0.9570610296143772, 1e-13);
    near(found.effect.low.expect("low"), 0.9537756180996908, 1e-10);
    near(found.effect.high.expect("high"), 0.9603577581816449, 1e-10);
    near(found.effect.p.expect("p"), 3.78522204824705e-06, 1e-8);
    assert_eq!((found.effect.n, found.engine_starts, found.effect.verdict), (5, Some(5), Verdict::Different));
    assert_eq!(analysis.cautions, [""; 0]);
}

#[test]
fn below_five_starts_there_are_numbers_and_no_verdict() {
    for (starts, words) in [(2, "2 of 5"), (4, "4 of 5")] {
        let mut results = of(BASE, &[("v", OTHER)]);
        hosted(&mut results, &[private("overlay2"), private("btrfs")], starts, 10);
        let analysis = analyse(&results);
        let found = compared(&analysis, 1);
        assert_eq!((found.effect.n, found.engine_starts), (starts as usize, Some(starts as usize)));
        assert_eq!((found.effect.verdict, found.lacks_engine_starts()), (Verdict::Undecided, Some(starts as usize)));
        assert!(found.effect.p_adjusted.is_some() && found.effect.low.is_some() && found.effect.detectable.is_some());
        let [said] = &analysis.cautions[..] else { panic!("{:?}", analysis.cautions) };
        assert!(said.starts_with(&format!("insufficient engine starts ({words}): no verdict on `f=v`")), "{said}");
        assert!(said.ends_with("`design.engine_starts` to 5 at least"), "{said}");
    }
    let mut results = of(BASE, &[("v", OTHER)]);
    hosted(&mut results, &[private("overlay2"), private("btrfs")], 1, 10);
    let found = analyse(&results);
    let found = compared(&found, 1);
    assert_eq!(
        (found.effect.n, found.effect.low, found.effect.p, found.effect.detectable),
        (1, None, None, None),
        "no number of one start"
    );
    near(found.effect.ratio, 0.9570610296143772, 1e-13);
}

#[test]
fn only_what_is_about_engines_is_counted_in_starts() {
    let (overlay, btrfs, plain) = (private("overlay2"), private("btrfs"), EngineSpec::default());
    let remote = EngineSpec { host: Some("tcp://other:2375".into()), private: None };
    // Baseline, variant: the n of the variant and of the A/A copy over ten blocks under five starts.
    let table = [
        (&overlay, &btrfs, 5, 5),
        (&overlay, &plain, 5, 5),
        (&plain, &overlay, 5, 10),
        (&overlay, &overlay, 10, 10),
        (&plain, &plain, 10, 10),
        (&plain, &remote, 10, 10),
    ];
    for (base, other, n, control) in table {
        let mut results = of(BASE, &[("v", OTHER)]);
        let copy = add_variant(&mut results, "base#aa", &["workload"]);
        for (block, value) in (1..).zip(BASE) {
            let row = row(&results, copy, block, &[("wall", value * if block % 3 == 0 { 1.01 } else { 0.99 })]);
            results.rows.push(row);
        }
        hosted(&mut results, &[base.clone(), other.clone(), base.clone()], 5, 10);
        let analysis = analyse(&results);
        let of = |variant: usize| (compared(&analysis, variant).effect.n, compared(&analysis, variant).engine_starts);
        let counted = |n: usize| (n, (n == 5).then_some(5));
        assert_eq!((of(1), of(copy)), (counted(n), counted(control)), "{base:?} and {other:?}");
    }
}

#[test]
fn a_start_of_another_run_is_another_start() {
    let mut results = five_starts();
    add_run(&mut results);
    for (variant, values) in [BASE, OTHER].into_iter().enumerate() {
        for (block, value) in (1..).zip(values) {
            let mut again = row(&results, variant, block, &[("wall", *value)]);
            again.row.engine_start = Some(1);
            results.rows.push(again);
        }
    }
    assert_eq!(compared(&analyse(&results), 1).effect.n, 6);
    for row in &mut results.rows {
        row.row.engine_start = None;
    }
    assert_eq!(compared(&analyse(&results), 1).effect.n, 2, "what is not known to be another start is the same one");
}

#[test]
fn a_lost_trial_takes_its_block_out_of_both_means_and_a_fifth_may_be_lost() {
    let mut results = five_starts();
    let of_block = |row: &&mut ResultRow, block: u32| row.variant == Some(1) && row.row.block == block;
    fail(results.rows.iter_mut().find(|row| of_block(row, 2)).expect("row"), Phase::Measure, "exit code 1");
    let found = analyse(&results);
    let found = compared(&found, 1);
    // Start 1 is block 1 alone now: ln(95/100) in place of the mean with ln(101/104).
    let logs = [0.95_f64.ln(), -0.046222510886995666, -0.045717102979815925, -0.04569814024159426, -0.04152099635106544];
    near(found.effect.ratio, (logs.iter().sum::<f64>() / 5.0).exp(), 1e-13);
    assert_eq!((found.effect.n, found.lost, found.effect.verdict), (5, None, Verdict::Different));
    for block in [4, 6] {
        fail(results.rows.iter_mut().find(|row| of_block(row, block)).expect("row"), Phase::Measure, "exit code 1");
    }
    let found = analyse(&results);
    let found = compared(&found, 1);
    assert_eq!((found.effect.n, found.lost, found.effect.verdict), (5, Some((3, 10)), Verdict::Undecided), "lost are blocks, not starts");
}

#[test]
fn primers_move_nothing() {
    let mut results = five_starts();
    let before = analyse(&results);
    let primers: Vec<ResultRow> = results.rows.iter().filter(|row| row.row.block % 2 == 1).cloned().collect();
    for mut primer in primers {
        primer.row.trial = primer_id(&primer.row.trial);
        primer.row.outcome = Outcome::Primer;
        primer.row.metrics[0].value *= 3.0;
        results.rows.push(primer);
    }
    assert_eq!(analyse(&results), before);
    assert_eq!(results.rows.len(), 30);
}

/// Two identical engines: each start of each is 2 % (standard deviation) from the others, each trial 2.6 %. Ten blocks.
#[test]
fn restarts_make_no_difference_out_of_noise() {
    // Over 2,000 experiments a true rate of 5 % has a standard error of 0.49 points: both bounds are more than 3.5 of them away.
    const EXPERIMENTS: u32 = 2_000;
    let mut noise = Noise(0x5EED);
    let ones = vec![1.0; 10];
    for (starts, least_of_blocks) in [(2, 0.2), (5, 0.08)] {
        let mut by_start = of(&ones, &[("v", &ones)]);
        by_start.design.min_effect = 0.0;
        hosted(&mut by_start, &[private("overlay2"), private("btrfs")], starts, 10);
        let mut by_block = by_start.clone();
        by_block.variants[1].spec.engine = private("overlay2");
        let (mut ours, mut naive, mut verdicts) = (0, 0, 0);
        for _ in 0..EXPERIMENTS {
            let of_starts: Vec<f64> = (0..2 * starts).map(|_| 0.02 * noise.normal()).collect();
            for (row, same) in by_start.rows.iter_mut().zip(&mut by_block.rows) {
                let start = row.row.engine_start.expect("start") - 1 + starts * row.row.position.saturating_sub(1);
                let value = 38_000.0 * (of_starts[start as usize] + 0.026 * noise.normal()).exp();
                row.row.metrics[0].value = value;
                same.row.metrics[0].value = value;
            }
            let positive = |results: &Results| {
                let analysis = analyse(results);
                let found = compared(&analysis, 1);
                (found.effect.p.is_some_and(|p| p <= 0.05), found.effect.verdict)
            };
            let (found, verdict) = positive(&by_start);
            ours += u32::from(found);
            verdicts += u32::from(verdict == Verdict::Different);
            naive += u32::from(positive(&by_block).0);
        }
        let rate = |positives: u32| f64::from(positives) / f64::from(EXPERIMENTS);
        assert!((0.032..=0.068).contains(&rate(ours)), "{starts} starts: {}", rate(ours));
        assert!(rate(naive) > least_of_blocks, "{starts} starts, by block: {}", rate(naive));
        assert_eq!(verdicts, if starts < 5 { 0 } else { ours }, "{starts} starts");
    }
}
