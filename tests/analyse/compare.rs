//! Two records against each other: known answers, invariances, trials that both hold, and what stands before the numbers.

use super::starts::{hosted, private};
use super::{B1, B2, Noise, V1, V2, add_metric, add_run, fail, near, of, row};
use shakedown::analyse::compare;
use shakedown::model::change::{Change, Machine, Shift, ShiftKind};
use shakedown::model::estimate::Verdict;
use shakedown::model::event::TOO_SHORT;
use shakedown::model::metric::{Better, Observation, Unit};
use shakedown::model::outcome::Phase;
use shakedown::model::results::Results;

/// Results of a run of another name.
fn other(baseline: &[f64], others: &[(&str, &[f64])]) -> Results {
    let mut results = of(baseline, others);
    results.runs[0].run = "2026-02-01-box-bbbb".into();
    results
}

fn shift<'c>(change: &'c Change, kind: ShiftKind, variant: &str) -> &'c Shift {
    let is_it = |shift: &&Shift| shift.kind == kind && shift.variant == variant && shift.metric == "wall";
    change.shifts.iter().find(is_it).unwrap_or_else(|| panic!("{variant} in {:?}", change.shifts))
}

/// scipy 1.17.1, `ttest_ind(log b, log a, equal_var=False)` with its `confidence_interval(0.95)` and `(0.9)`.
#[test]
fn levels_give_the_reference_numbers_of_welch() {
    let change = compare(&of(B1, &[("v", V1)]), &other(B2, &[("v", V2)]));
    let base = shift(&change, ShiftKind::Level, "f=base");
    near(base.effect.ratio, 0.9973346118774779, 1e-13);
    near(base.effect.low.expect("low"), 0.973171264472193, 1e-11);
    near(base.effect.high.expect("high"), 1.0220979229059644, 1e-11);
    near(base.effect.p.expect("p"), 0.8129485556297507, 1e-9);
    let (low, high) = base.effect.equivalence.expect("interval");
    near(low, 0.9776466355574625, 1e-11);
    near(high, 1.0174190672498213, 1e-11);
    assert_eq!((base.n, base.effect.n, base.paired, base.effect.verdict), ((5, 8), 5, false, Verdict::Equivalent));
    near(base.sides.0, 38000.0, 1e-13);
    near(base.sides.1, 38045.0, 1e-3);
    let v = shift(&change, ShiftKind::Level, "f=v");
    near(v.effect.ratio, 1.037678857731849, 1e-13);
    near(v.effect.low.expect("low"), 1.015727958934143, 1e-11);
    near(v.effect.p.expect("p"), 0.0030625819330490143, 1e-9);
    near(v.effect.p_adjusted.expect("p"), 2.0 * 0.0030625819330490143, 1e-9);
    assert_eq!((v.effect.verdict, v.is_worse()), (Verdict::Different, Some(true)), "walls are better lower");
}

/// The same of the logs of each record's ratios by block: of `V1 / B1` and of `V2 / B2`.
#[test]
fn relative_changes_give_the_reference_numbers_of_welch() {
    let change = compare(&of(B1, &[("v", V1)]), &other(B2, &[("v", V2)]));
    let v = shift(&change, ShiftKind::Relative, "f=v");
    near(v.effect.ratio, 1.0404520663114503, 1e-13);
    near(v.effect.low.expect("low"), 1.032530350781555, 1e-11);
    near(v.effect.high.expect("high"), 1.0484345583375414, 1e-11);
    near(v.effect.p.expect("p"), 4.124227768402829e-07, 1e-7);
    near(v.sides.0, 0.9611310564346892, 1e-13);
    near(v.sides.1, 1.0000107936635794, 1e-13);
    let of_baseline = change.shifts.iter().filter(|shift| shift.kind == ShiftKind::Relative && shift.variant == "f=base").count();
    assert_eq!(of_baseline, 0, "the baseline has no ratio to itself");
}

#[test]
fn a_machine_twice_as_slow_changes_levels_and_no_relative_effect() {
    let slower = |values: &[f64]| values.iter().map(|value| value * 2.0).collect::<Vec<f64>>();
    let change = compare(&of(B2, &[("v", V2)]), &other(&slower(B2), &[("v", &slower(V2))]));
    near(shift(&change, ShiftKind::Level, "f=v").effect.ratio, 2.0, 1e-13);
    assert_eq!(shift(&change, ShiftKind::Level, "f=v").effect.verdict, Verdict::Different);
    let relative = shift(&change, ShiftKind::Relative, "f=v");
    near(relative.effect.ratio, 1.0, 1e-13);
    assert_eq!(relative.effect.verdict, Verdict::Equivalent);
}

#[test]
fn swapping_the_records_gives_reciprocals() {
    let (a, b) = (of(B1, &[("v", V1)]), other(B2, &[("v", V2)]));
    let (one, back) = (compare(&a, &b), compare(&b, &a));
    assert_eq!((one.shifts.len(), back.shifts.len()), (3, 3));
    for (one, back) in one.shifts.iter().zip(&back.shifts) {
        near(one.effect.ratio * back.effect.ratio, 1.0, 1e-13);
        near(one.effect.low.expect("low") * back.effect.high.expect("high"), 1.0, 1e-12);
        near(one.effect.p_adjusted.expect("p"), back.effect.p_adjusted.expect("p"), 1e-9);
        assert_eq!((one.n, one.sides), ((back.n.1, back.n.0), (back.sides.1, back.sides.0)));
    }
}

#[test]
fn a_record_against_itself_has_not_changed() {
    let record = of(B1, &[("v", V1), ("base#aa", B2)]);
    let change = compare(&record, &record);
    assert_eq!((change.environment.as_slice(), change.machine), (&[][..], Machine::Same));
    assert_eq!(change.shifts.len(), 4, "two levels, a relative change, and the A/A copy's");
    for shift in &change.shifts {
        assert_eq!((shift.effect.ratio, shift.effect.p, shift.paired), (1.0, Some(1.0), true), "{shift:?}");
        assert_eq!(shift.effect.verdict, Verdict::Equivalent);
    }
    assert_eq!(change.cautions, ["both records hold the same trials: what differs, if anything, is how they are read"]);
}

#[test]
fn trials_that_stand_in_both_records_are_no_evidence_of_a_change() {
    let a = of(B1, &[("v", V1)]);
    let mut grown = a.clone();
    add_run(&mut grown);
    for (variant, values) in [B2, V2].into_iter().enumerate() {
        for (block, value) in (1..).zip(values) {
            let row = row(&grown, variant, block, &[("wall", *value)]);
            grown.rows.push(row);
        }
    }
    let apart = compare(&a, &other(B2, &[("v", V2)]));
    let joined = compare(&a, &grown);
    for (one, other) in apart.shifts.iter().zip(&joined.shifts) {
        assert_eq!((one.effect.clone(), one.n), (other.effect.clone(), other.n), "as if only the new trials were there");
    }
    assert!(joined.cautions.iter().any(|caution| caution.starts_with("10 trials stand in both records")), "{:?}", joined.cautions);
    let back = compare(&grown, &a);
    near(back.shifts[0].effect.ratio * joined.shifts[0].effect.ratio, 1.0, 1e-13);
}

#[test]
fn holm_counts_the_variants_and_the_copy_stands_alone() {
    let a = of(B1, &[("v", V1), ("w", V1), ("base#aa", B1)]);
    let b = other(B2, &[("v", V2), ("w", V1), ("base#aa", B2)]);
    let change = compare(&a, &b);
    let p = |kind, variant| {
        let effect = &shift(&change, kind, variant).effect;
        (effect.p.expect("p"), effect.p_adjusted)
    };
    let (plain, adjusted) = p(ShiftKind::Level, "f=v");
    near(adjusted.expect("p"), 3.0 * plain, 1e-12);
    let (plain, adjusted) = p(ShiftKind::Relative, "f=v");
    near(adjusted.expect("p"), 2.0 * plain, 1e-12);
    let copy = shift(&change, ShiftKind::Relative, "f=base#aa");
    assert!(copy.control && copy.effect.p_adjusted.is_none());
    assert!(!change.shifts.iter().any(|shift| shift.kind == ShiftKind::Level && shift.control));
}

/// The copy of B is 6 % slower than its baseline: a change of 4 % against the baseline is worth nothing.
#[test]
fn a_copy_that_changed_takes_small_relative_changes_back() {
    let slower: Vec<f64> = B2.iter().map(|value| value * 1.06).collect();
    let a = of(B1, &[("v", V1), ("base#aa", &[38010.0, 37190.0, 38910.0, 37590.0, 38500.0])]);
    let b = other(B2, &[("v", V2), ("base#aa", &slower)]);
    let change = compare(&a, &b);
    assert_eq!(shift(&change, ShiftKind::Relative, "f=v").effect.verdict, Verdict::Undecided);
    assert_eq!(shift(&change, ShiftKind::Level, "f=v").effect.verdict, Verdict::Different, "levels have no such control");
    assert!(change.cautions.iter().any(|caution| caution.starts_with("the A/A copy")), "{:?}", change.cautions);
}

#[test]
fn few_or_failed_or_short_trials_give_no_verdict_to_act_on() {
    let (a, b) = (of(B1, &[("v", V1)]), other(B2, &[("v", V2)]));
    let mut lossy = b.clone();
    lossy.rows.iter_mut().filter(|row| row.variant == Some(1)).take(2).for_each(|row| fail(row, Phase::Measure, "boom"));
    let change = compare(&a, &lossy);
    let found = shift(&change, ShiftKind::Level, "f=v");
    assert_eq!(
        (found.lost, found.effect.verdict, found.words().as_str()),
        (Some((2, 8)), Verdict::Undecided, "undecided, 2 of 8 blocks lost")
    );
    assert_eq!(shift(&change, ShiftKind::Relative, "f=v").lost, Some((2, 8)));

    let mut short = b.clone();
    short.rows.iter_mut().for_each(|row| row.row.taints.push(TOO_SHORT.into()));
    let found = compare(&a, &short);
    let found = shift(&found, ShiftKind::Level, "f=v");
    assert_eq!((found.words().as_str(), found.is_different(), found.is_worse()), ("different, too short", false, None));

    let single = compare(&of(&[1.0], &[("v", &[2.0])]), &other(&[1.0], &[("v", &[3.0])]));
    let found = shift(&single, ShiftKind::Level, "f=v");
    near(found.effect.ratio, 1.5, 1e-13);
    assert_eq!((found.effect.low, found.effect.p, found.effect.verdict), (None, None, Verdict::Undecided));

    let nothing = compare(&of(B1, &[("v", V1)]), &other(&[0.0; 3], &[("v", V1)]));
    assert!(!nothing.shifts.iter().any(|shift| shift.variant == "f=base"), "no log of 0: {:?}", nothing.shifts);
}

#[test]
fn levels_on_private_engines_count_their_starts() {
    let engines = [private("overlay2"), private("btrfs")];
    let values: Vec<f64> = (0..10).map(|n| 100.0 + f64::from(n % 3)).collect();
    for (starts, enough) in [(5, true), (4, false)] {
        let mut a = of(&values, &[("v", &values)]);
        let mut b = other(&values, &[("v", &values)]);
        [&mut a, &mut b].into_iter().for_each(|results| hosted(results, &engines, starts, 10));
        let change = compare(&a, &b);
        for kind in [ShiftKind::Level, ShiftKind::Relative] {
            let found = shift(&change, kind, "f=v");
            assert_eq!((found.n, found.lacks_engine_starts().is_none()), ((starts as usize, starts as usize), enough));
            assert_eq!(found.effect.verdict == Verdict::Undecided, !enough, "{found:?}");
        }
    }
}

#[test]
fn only_declared_metrics_are_compared_and_units_must_agree() {
    let measured = |mut results: Results, unit: Unit| {
        add_metric(&mut results, "latency", unit.clone(), Some(Better::Lower));
        add_metric(&mut results, "requests", Unit::ONE, None);
        for (at, row) in (0..).zip(&mut results.rows) {
            for (name, unit) in [("latency", unit.clone()), ("requests", Unit::ONE)] {
                row.row.metrics.push(Observation { name: name.into(), value: 1.0 + f64::from(at % 5) / 100.0, unit });
            }
        }
        results
    };
    let change = compare(&measured(of(B1, &[("v", V1)]), Unit::SECOND), &measured(other(B2, &[("v", V2)]), Unit::SECOND));
    let names: Vec<(&str, bool)> = change.shifts.iter().map(|shift| (shift.metric.as_str(), shift.primary)).collect();
    assert_eq!(names, [("wall", true), ("wall", true), ("wall", true), ("latency", false), ("latency", false), ("latency", false)]);
    let change = compare(&measured(of(B1, &[("v", V1)]), Unit::SECOND), &measured(other(B2, &[("v", V2)]), Unit::BYTE));
    assert!(change.shifts.iter().all(|shift| shift.metric == "wall"));
    let said = "`latency` is not compared: its unit is `s` in A and `B` in B";
    assert_eq!(change.cautions.iter().filter(|caution| *caution == said).count(), 1, "{:?}", change.cautions);
}

#[test]
fn what_the_circumstances_differ_in_stands_first() {
    let (a, mut b) = (of(B1, &[("v", V1)]), other(B2, &[("v", V2), ("w", V2)]));
    b.runs[0].started.host.name = "boxer".into();
    assert_eq!(compare(&a, &b).machine, Machine::Renamed);
    b.runs[0].started.host.kernel = "6.2.0".into();
    assert_eq!(compare(&a, &b).machine, Machine::Renamed, "a kernel is software");
    b.runs[0].started.host.cpus = 8;
    b.runs[0].started.engines[0].version = "29.0.1".into();
    b.runs[0].started.version = "0.2.0".into();
    b.runs[0].images = vec![("web".into(), "sha256:b".into())];
    b.runs[0].seed = 8;
    b.design.margin = 0.05;
    b.variants[1].identity = "f".repeat(32);
    let change = compare(&a, &b);
    let told: Vec<String> = change.environment.iter().map(|found| format!("{}: {} -> {}", found.what, found.a, found.b)).collect();
    let expected = [
        "CPUs: 4 -> 8",
        "host: box -> boxer",
        "kernel: 6.1.0 -> 6.2.0",
        "docker version: 29.0.0 -> 29.0.1",
        "image web:  -> sha256:b",
        "shakedown: 0.1.0 -> 0.2.0",
        "seed: 7 -> 8",
        "design.margin: 0.03 -> 0.05",
    ];
    assert_eq!(told, expected);
    assert_eq!(
        (change.machine, change.altered.as_slice(), change.only_b.as_slice()),
        (Machine::Other, &[(1, 1)][..], &["f=w".to_owned()][..])
    );
    let starts: Vec<&str> = change.cautions.iter().filter_map(|caution| caution.split(':').next()).collect();
    assert_eq!(starts, ["the machines differ", "measured one after the other", "1 variant runs something else in B than in A"]);
}

#[test]
fn other_baselines_leave_levels_only_and_nothing_in_common_leaves_nothing() {
    let a = of(B1, &[("v", V1)]);
    let mut b = other(B2, &[("v", V2)]);
    b.baseline = 1;
    let change = compare(&a, &b);
    assert!(change.shifts.len() == 2 && change.shifts.iter().all(|shift| shift.kind == ShiftKind::Level));
    assert!(change.cautions.iter().any(|caution| caution.starts_with("the baselines are different")), "{:?}", change.cautions);
    let mut renamed = other(B2, &[("v", V2)]);
    renamed.variants.iter_mut().for_each(|variant| variant.id.insert(0, 'g'));
    let change = compare(&a, &renamed);
    assert_eq!((change.shifts.len(), change.only_a.len(), change.only_b.len()), (0, 2, 2));
    assert_eq!(change.cautions, ["the two records have no variant in common"]);
}

/// Each record has a machine of its own, up to 30 % faster or slower, and nothing else differs. Over 4,000 experiments a true rate of 5 %
/// has a standard error of 0.34 points; Welch's test stays below its level where few replicates estimate the degrees of freedom.
#[test]
fn another_machine_is_no_relative_change_in_nineteen_of_twenty_comparisons() {
    const EXPERIMENTS: u32 = 4_000;
    let mut noise = Noise(0x5EED);
    for n in [3, 5, 10] {
        let (mut a, mut b) = (of(&vec![1.0; n], &[("v", &vec![1.0; n])]), other(&vec![1.0; n], &[("v", &vec![1.0; n])]));
        b.design.min_effect = 0.0;
        let (mut relative, mut levels) = (0, 0);
        for _ in 0..EXPERIMENTS {
            for results in [&mut a, &mut b] {
                let machine = 38_000.0 * (0.6 * noise.uniform() - 0.3).exp();
                results.rows.iter_mut().for_each(|row| row.row.metrics[0].value = machine * (1.0 + 0.026 * noise.normal()));
            }
            let change = compare(&a, &b);
            relative += u32::from(shift(&change, ShiftKind::Relative, "f=v").effect.verdict == Verdict::Different);
            levels += u32::from(shift(&change, ShiftKind::Level, "f=v").effect.verdict == Verdict::Different);
        }
        let rate = |count: u32| f64::from(count) / f64::from(EXPERIMENTS);
        assert!((0.025..=0.06).contains(&rate(relative)), "n = {n}: {}", rate(relative));
        assert!(rate(levels) > 0.6, "n = {n}: levels are about the machines: {}", rate(levels));
    }
}
