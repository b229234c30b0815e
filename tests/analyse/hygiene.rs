//! Readings judged, verdicts without the tainted trials, limiters, and the sentences that teach.

use super::{B1, V1, of};
use shakedown::analyse::{analyse, judge};
use shakedown::model::estimate::{Comparison, Subject, Verdict};
use shakedown::model::hygiene::{Reading, State, Threshold};
use shakedown::model::results::Results;

/// Gives every trial of a variant a reading, the values in turn.
pub fn read(results: &mut Results, variant: usize, check: &str, values: &[f64]) {
    let of_variant = results.rows.iter_mut().filter(|row| row.variant == Some(variant));
    for (row, value) in of_variant.zip(values.iter().cycle()) {
        row.row.readings.push(Reading::of(check, *value));
    }
}

fn compared(results: &Results, variant: usize) -> Comparison {
    analyse(results).comparisons.into_iter().find(|c| c.subject == Subject::Variant(variant)).expect("the comparison")
}

fn taints(results: &Results, variant: usize) -> Vec<String> {
    results.rows.iter().filter(|row| row.variant == Some(variant)).map(|row| row.row.taints.join(";")).collect()
}

#[test]
fn a_neighbour_taints_the_trials_that_it_touched_and_no_other() {
    let mut results = of(B1, &[("v", V1)]);
    read(&mut results, 0, "foreign-cpu", &[0.01]);
    read(&mut results, 1, "foreign-cpu", &[0.0, 0.51, 0.01, 0.05, 0.02]);
    judge(&mut results);
    assert_eq!(taints(&results, 0), ["", "", "", "", ""]);
    assert_eq!(taints(&results, 1), ["", "foreign-cpu", "", "", ""]);
    let states: Vec<State> = results.rows.iter().filter(|row| row.variant == Some(1)).map(|row| row.states[0]).collect();
    assert_eq!(states, [State::Ok, State::Taint, State::Ok, State::Warn, State::Ok]);
    let cautions = analyse(&results).cautions;
    let said = "`foreign-cpu` up to 51 % in 2 of 10 trials, 1 of them tainted: end what runs beside the measurement";
    assert!(cautions.iter().any(|caution| caution.starts_with(said)), "{cautions:?}");
}

#[test]
fn what_could_not_be_read_is_neither_fine_nor_bad() {
    let mut results = of(B1, &[]);
    results.rows[0].row.readings.push(Reading::unobservable("foreign-cpu"));
    judge(&mut results);
    assert_eq!((results.rows[0].states.as_slice(), results.rows[0].row.taints.len()), ([State::Unobservable].as_slice(), 0));
    assert_eq!(analyse(&results).cautions, Vec::<String>::new());
}

#[test]
fn thresholds_of_the_experiment_judge_anew() {
    let mut results = of(B1, &[("v", V1)]);
    read(&mut results, 1, "io-pressure", &[0.5]);
    let mut own = results.clone();
    judge(&mut results);
    assert_eq!(taints(&results, 1), ["io-pressure"; 5]);
    own.design.hygiene.0.insert("io-pressure".to_owned(), Threshold::default());
    judge(&mut own);
    assert_eq!(taints(&own, 1), [""; 5]);
}

/// In the last block of two the variant is disturbed; without it nothing differs.
#[test]
fn the_verdict_without_tainted_trials_stands_beside_that_of_all() {
    let base: &[f64] = &[100.0, 101.0, 99.5, 100.2, 99.9, 100.4];
    let disturbed: &[f64] = &[100.1, 100.8, 99.7, 100.0, 150.0, 151.0];
    let mut results = of(base, &[("v", disturbed)]);
    read(&mut results, 1, "foreign-cpu", &[0.0, 0.0, 0.0, 0.0, 0.9, 0.9]);
    judge(&mut results);
    let found = compared(&results, 1);
    let alone = compared(&of(&base[..4], &[("v", &disturbed[..4])]), 1).effect;
    let clean = found.clean.expect("some trials are tainted");
    assert_eq!((found.effect.n, found.effect.verdict, clean.tainted), (6, Verdict::Undecided, 2));
    assert_eq!(clean.effect, Some(alone.clone()));
    assert_eq!(alone.verdict, Verdict::Equivalent);
    let cautions = analyse(&results).cautions;
    let said = "without the 2 tainted trials the verdict on `wall` in `f=v` is not undecided but equivalent (n = 4)";
    assert!(cautions.iter().any(|caution| caution == said), "{cautions:?}");
}

#[test]
fn without_taints_there_is_no_second_verdict_and_without_clean_trials_none_at_all() {
    let mut results = of(B1, &[("v", V1), ("w", V1)]);
    read(&mut results, 1, "swap", &[7.0]);
    judge(&mut results);
    let [tainted, untouched] = [1, 2].map(|variant| compared(&results, variant).clean);
    assert_eq!(tainted.map(|clean| (clean.tainted, clean.effect)), Some((5, None)));
    assert_eq!(untouched, None);
}

/// A path through docker-proxy in one variant is what is compared; in all of them it is what is measured instead.
#[test]
fn what_the_variants_differ_in_does_not_taint() {
    let mut one = of(B1, &[("v", V1)]);
    let mut all = one.clone();
    read(&mut one, 1, "docker-proxy", &[0.8]);
    judge(&mut one);
    assert_eq!(taints(&one, 1), [""; 5]);
    assert!(one.rows.iter().filter(|row| row.variant == Some(1)).all(|row| row.states == [State::Warn]));
    for variant in 0..2 {
        read(&mut all, variant, "docker-proxy", &[0.8]);
    }
    judge(&mut all);
    assert_eq!(taints(&all, 0), ["docker-proxy"; 5]);
}

#[test]
fn trials_are_compared_with_their_own_kind() {
    let mut results = of(B1, &[("v", V1)]);
    read(&mut results, 0, "cold-cache", &[0.0]);
    read(&mut results, 1, "cold-cache", &[4096.0, 4096.0, 5e8, 4096.0, 4096.0]);
    read(&mut results, 0, "frequency", &[2.0e9, 2.4e9, 2.4e9, 2.4e9, 2.4e9]);
    judge(&mut results);
    assert_eq!(taints(&results, 0), ["frequency", "", "", "", ""]);
    let states: Vec<State> = results.rows.iter().filter(|row| row.variant == Some(1)).map(|row| row.states[0]).collect();
    assert_eq!(states, [State::Ok, State::Ok, State::Warn, State::Ok, State::Ok]);
}

#[test]
fn the_limiter_is_the_first_suspect_that_the_medians_convict() {
    let table: &[(&[(&str, f64)], &str)] = &[
        (&[], "nothing that was observed: a lock, or latency"),
        (
            &[("host-cpu", 0.99), ("generator", 0.9), ("busiest-proxy", 0.99)],
            "the load generator (bench), at 90 % of what its threads and limits allow",
        ),
        (&[("host-cpu", 0.99), ("generator", 0.5), ("busiest-proxy", 0.98)], "docker-proxy, one CPU at 98 %"),
        (&[("throttled-periods", 0.2), ("busiest-cpu", 0.97)], "one CPU at 97 % (bench)"),
        (&[("throttled-periods", 0.9), ("host-cpu", 0.99)], "the CPU limit (bench), throttled in 90 % of its periods"),
        (&[("host-cpu", 0.96), ("busiest-cpu", 0.99)], "the host's CPUs, all at 96 %"),
        (&[("disk-busy", 0.95), ("memory-pressure", 0.5)], "a disk (bench), busy for 95 % of the time"),
        (&[("listen-drops", 3.0)], "the queue of a listening socket: connections were refused"),
    ];
    for (readings, words) in table {
        let mut results = of(B1, &[("v", V1)]);
        for row in results.rows.iter_mut().filter(|row| row.variant == Some(1)) {
            if !readings.iter().any(|(check, _)| *check == "host-cpu") {
                row.row.readings.push(Reading::of("host-cpu", 0.5));
            }
            row.row.readings.extend(readings.iter().map(|(check, value)| Reading::of(check, *value).about("bench")));
        }
        judge(&mut results);
        let limiters = analyse(&results).limiters;
        let [limiter] = limiters.as_slice() else { panic!("{limiters:?}") };
        assert_eq!((limiter.variant, limiter.words.as_str()), (1, *words));
    }
}
