//! The order of trials: complete blocks, balanced positions, whole batches, one order per seed.

use super::{done, experiment, planned};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use shakedown::model::experiment::Design;
use shakedown::model::plan::{Plan, Trial};
use shakedown::model::private::{BACKING_BYTES, Backing, Filesystem, PrivateSpec};
use shakedown::model::spec::EngineSpec;
use shakedown::plan::batches::groups as groups_of;
use shakedown::plan::order::{Group, order};
use shakedown::plan::{History, Options};
use std::collections::{BTreeMap, HashSet};

fn all(_: u32, _: u32) -> bool {
    true
}

/// Groups of the given sizes over variants numbered from 0.
fn groups(sizes: &[usize]) -> Vec<Group> {
    let mut next = 0..;
    sizes.iter().map(|size| Group { variants: next.by_ref().take(*size).collect() }).collect()
}

fn block(trials: &[Trial], block: u32) -> Vec<u32> {
    trials.iter().filter(|trial| trial.block == block).map(|trial| trial.variant).collect()
}

#[test]
fn every_block_holds_every_variant_once_in_whole_batches() {
    let strategy = (prop::collection::vec(1..6_usize, 1..5), 1..12_u32, any::<u64>());
    TestRunner::deterministic()
        .run(&strategy, |(sizes, blocks, seed)| {
            let groups = groups(&sizes);
            let count: usize = sizes.iter().sum();
            let trials = order(&groups, blocks, seed, &all);
            prop_assert_eq!(trials.len(), count * blocks as usize);
            for block in 1..=blocks {
                let inside: Vec<&Trial> = trials.iter().filter(|trial| trial.block == block).collect();
                let variants: HashSet<u32> = inside.iter().map(|trial| trial.variant).collect();
                prop_assert_eq!(variants.len(), count);
                let positions: Vec<u32> = inside.iter().map(|trial| trial.position).collect();
                prop_assert_eq!(positions, (1..=count as u32).collect::<Vec<_>>());
            }
            let ids: HashSet<String> = trials.iter().map(Trial::id).collect();
            prop_assert_eq!(ids.len(), trials.len());
            prop_assert!(trials.is_sorted_by_key(|trial| (trial.block, trial.batch, trial.position)));
            let mut batches: BTreeMap<u32, Vec<(u32, usize)>> = BTreeMap::new();
            for trial in &trials {
                let group = groups.iter().position(|group| group.variants.contains(&trial.variant)).expect("group");
                batches.entry(trial.batch).or_default().push((trial.block, group));
            }
            prop_assert_eq!(batches.len(), sizes.len() * blocks as usize);
            prop_assert!(batches.values().all(|inside| inside.iter().all(|member| *member == inside[0])));
            Ok(())
        })
        .expect("blocks");
}

#[test]
fn over_a_cycle_every_variant_stands_once_at_every_position() {
    let strategy = (1..9_u32, 1..4_u32, any::<u64>());
    TestRunner::deterministic()
        .run(&strategy, |(size, cycles, seed)| {
            let trials = order(&groups(&[size as usize]), size * cycles, seed, &all);
            for cycle in 0..cycles {
                let inside = trials.iter().filter(|trial| (trial.block - 1) / size == cycle);
                let places: HashSet<(u32, u32)> = inside.map(|trial| (trial.variant, trial.position)).collect();
                prop_assert_eq!(places.len(), (size * size) as usize);
            }
            Ok(())
        })
        .expect("cycles");
}

/// Computed with a separate program from the definitions of SplitMix64, the bounded draw, the shuffle and the cyclic square: an
/// order that was saved must be made again by every later version.
#[test]
fn the_order_of_a_seed_is_fixed_for_ever() {
    let trials = order(&groups(&[5]), 6, 7, &all);
    let orders: Vec<Vec<u32>> = (1..=6).map(|number| block(&trials, number)).collect();
    assert_eq!(orders, GOLDEN);
    assert_eq!(order(&groups(&[5]), 6, 7, &all), trials);
}

const GOLDEN: [[u32; 5]; 6] = [[1, 4, 2, 0, 3], [3, 2, 1, 4, 0], [4, 3, 0, 1, 2], [2, 0, 4, 3, 1], [0, 1, 3, 2, 4], [2, 4, 0, 1, 3]];

#[test]
fn different_seeds_give_different_orders() {
    let orders: HashSet<Vec<u32>> =
        (0..50).map(|seed| order(&groups(&[6]), 6, seed, &all).iter().map(|trial| trial.variant).collect()).collect();
    assert_eq!(orders.len(), 50);
}

#[test]
fn each_run_has_an_order_of_its_own_and_none_depends_on_anything_but_the_manifest() {
    let text = "workload: {on: host, command: 'run {{ a }}'}\nmatrix: {a: [1, 2, 3, 4]}\ndesign: {blocks: 5}\n";
    let plan = |earlier_runs: u64| {
        let experiment = experiment(text);
        planned(&experiment, &History::new(), &Options { earlier_runs, ..Options::default() }).plan
    };
    assert_eq!(plan(0), plan(0));
    assert_eq!(plan(1).seed, plan(0).seed + 1);
    assert_eq!(plan(1).digest, plan(0).digest);
    assert_ne!(plan(1).trials, plan(0).trials);
}

#[test]
fn a_batch_never_mixes_engines() {
    let text = "engine: {host: 'tcp://{{ engine }}:2375'}\nworkload: {image: alpine, command: 'run {{ a }}'}\n\
                matrix: {a: [1, 2, 3], engine: [e1, e2]}\ndesign: {blocks: 12, seed: 1}\n";
    let experiment = experiment(text);
    let Plan { trials, variants, .. } = planned(&experiment, &History::new(), &Options::default()).plan;
    assert_eq!(trials.len(), 12 * 7);
    let engine = |trial: &Trial| experiment.factors[1].levels[variants[trial.variant as usize].levels[1] as usize].text.to_string();
    let mut batches: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    trials.iter().for_each(|trial| batches.entry(trial.batch).or_default().push(engine(trial)));
    assert_eq!(batches.len(), 24, "two batches a block");
    let mut sizes: Vec<(usize, String)> = batches.values().map(|inside| (inside.len(), inside[0].clone())).collect();
    assert!(batches.values().all(|inside| inside.iter().all(|name| *name == inside[0])));
    sizes.sort();
    sizes.dedup();
    assert_eq!(sizes, [(3, "e2".to_owned()), (4, "e1".to_owned())], "the A/A copy runs beside its baseline");
    let first = trials.iter().filter(|trial| trial.position == 1 && engine(trial) == "e1").count();
    assert_eq!(first, 6, "each engine begins every second block");
}

fn private(storage_driver: &str) -> EngineSpec {
    let backing = Backing { filesystem: Filesystem::default_for(storage_driver), bytes: BACKING_BYTES };
    let private = PrivateSpec {
        storage_driver: storage_driver.into(),
        backing,
        userland_proxy: true,
        iptables: true,
        binary: None,
        daemon: BTreeMap::new(),
    };
    EngineSpec { host: None, private: Some(private) }
}

fn batches(engines: &[EngineSpec], baseline: usize, needs: &[u32]) -> Vec<Vec<u32>> {
    groups_of(engines, baseline, needs).into_iter().map(|group| group.variants).collect()
}

#[test]
fn the_copy_of_a_baseline_on_a_private_engine_has_one_of_its_own_where_engines_are_compared() {
    let (overlay, btrfs, plain) = (private("overlay2"), private("btrfs"), EngineSpec::default());
    let four = [overlay.clone(), btrfs.clone(), overlay.clone(), btrfs.clone()];
    assert_eq!(batches(&four, 0, &[5; 5]), [vec![0, 2], vec![1, 3], vec![4]]);
    assert_eq!(batches(&four, 1, &[5; 5]), [vec![0, 2], vec![1, 3], vec![4]]);
    assert_eq!(batches(&four, 0, &[5, 0, 5, 0, 5]), [vec![0, 2], vec![4]], "whatever runs this time");
    assert_eq!(batches(&[overlay.clone(), plain.clone()], 0, &[5; 3]), [vec![0], vec![1], vec![2]]);
    assert_eq!(batches(&[plain.clone(), overlay.clone()], 0, &[5; 3]), [vec![0, 2], vec![1]], "the baseline's engine runs anyway");
    assert_eq!(batches(&[overlay.clone(), overlay], 0, &[5; 3]), [vec![0, 1, 2]], "one engine, nothing of engines is compared");
    let other = EngineSpec { host: Some("tcp://other:2375".into()), private: None };
    assert_eq!(batches(&[plain, other], 0, &[5; 3]), [vec![0, 2], vec![1]], "as ever");
}

#[test]
fn blocks_are_cut_into_equal_runs_of_consecutive_blocks() {
    let cut = |engine_starts: Option<u32>, blocks: u32| {
        let design = Design { engine_starts, ..Design::default() };
        (1..=blocks).map(|block| design.engine_start(block, blocks)).collect::<Vec<u32>>()
    };
    assert_eq!(cut(Some(5), 10), [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]);
    assert_eq!(cut(Some(3), 10), [1, 1, 1, 1, 2, 2, 2, 3, 3, 3]);
    assert_eq!(cut(Some(4), 6), [1, 1, 2, 3, 3, 4]);
    assert_eq!(cut(Some(1), 4), [1, 1, 1, 1]);
    assert_eq!(cut(None, 4), [1, 2, 3, 4], "anew for each block");
    assert_eq!(cut(Some(9), 4), [1, 2, 3, 4], "never more than blocks");
    for blocks in 1..40 {
        for starts in 1..=blocks {
            let cut = cut(Some(starts), blocks);
            let lengths: Vec<usize> = cut.chunk_by(|a, b| a == b).map(<[u32]>::len).collect();
            assert_eq!((lengths.len() as u32, cut[0], cut[blocks as usize - 1]), (starts, 1, starts));
            assert!(lengths.iter().max().zip(lengths.iter().min()).is_some_and(|(most, least)| most - least <= 1), "{cut:?}");
        }
    }
    let design = Design { engine_starts: Some(2), ..Design::default() };
    assert_eq!((design.engine_start(0, 4), design.engine_start(9, 4), design.engine_start(1, 0)), (1, 2, 1), "nothing out of range");
}

#[test]
fn how_often_engines_are_started_is_of_the_protocol() {
    let text = "workload: {on: host, command: 'run {{ a }}'}\nmatrix: {a: [1, 2]}\n";
    let plan = |design: &str| {
        let experiment = experiment(&format!("{text}{design}"));
        planned(&experiment, &History::new(), &Options::default()).plan
    };
    let (plain, two, three) = (plan(""), plan("design: {engine_starts: 2}\n"), plan("design: {engine_starts: 3}\n"));
    assert_ne!(plain.digest, two.digest);
    assert_ne!(two.digest, three.digest);
    assert_eq!(plain.variants, two.variants, "no trial is stale");
    assert!(two.engine_starts.is_empty(), "no private engine, no start");
    assert_eq!(two.engine_start(&two.trials[0]), None);
}

/// Each executed trial makes the machine 1 % slower, whatever the variant.
#[test]
fn a_steady_drift_cancels_in_the_paired_comparison() {
    let text = "workload: {on: host, command: 'run {{ a }}'}\nmatrix: {a: [1, 2]}\n";
    for seed in 0..40 {
        for (blocks, bound) in [(3, 1e-12), (9, 1e-12), (30, 1e-12), (10, 2.0 * 1.01_f64.ln() / 10.0 + 1e-12)] {
            let experiment = experiment(&format!("{text}design: {{blocks: {blocks}, seed: {seed}}}\n"));
            let plan = planned(&experiment, &History::new(), &Options::default()).plan;
            let mut seconds: BTreeMap<(u32, u32), f64> = BTreeMap::new();
            for (index, trial) in plan.trials.iter().enumerate() {
                seconds.insert((trial.variant, trial.block), 1.01_f64.powi(index as i32));
            }
            let ratios: Vec<f64> = (1..=blocks).map(|block| (seconds[&(1, block)] / seconds[&(0, block)]).ln()).collect();
            let mean = ratios.iter().sum::<f64>() / f64::from(blocks);
            assert!(mean.abs() <= bound, "seed {seed}, {blocks} blocks: {mean}");
            assert!(ratios.iter().any(|ratio| ratio.abs() > 0.009), "the drift is there");
        }
    }
}

#[test]
fn a_grown_factor_runs_its_new_variants_beside_the_baseline_in_fresh_blocks() {
    let small = "workload: {on: host, command: 'run {{ a }} {{ b }}'}\nmatrix: {a: [1, 2], b: [x, y]}\ndesign: {blocks: 3}\n";
    let grown = small.replace("[x, y]", "[x, y, z]");
    let experiment = experiment(&grown);
    let plan = planned(&experiment, &done(small, 3), &Options { earlier_runs: 1, ..Options::default() }).plan;
    assert_eq!((plan.blocks, plan.trials.len()), (3, 12));
    for number in 1..=3 {
        let mut ids: Vec<&str> = block(&plan.trials, number).into_iter().map(|variant| &*plan.variants[variant as usize].id).collect();
        ids.sort_unstable();
        assert_eq!(ids, ["a=1,b=x", "a=1,b=x#aa", "a=1,b=z", "a=2,b=z"]);
    }
}
