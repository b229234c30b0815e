//! Product, then exclude, then include; the baseline; ids.

use super::{experiment, ids, planned, saved_plan, wrong, wrong_with};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use shakedown::model::facts::HostFacts;
use shakedown::plan::{History, Options, variant_id};
use std::collections::HashSet;

const WORKLOAD: &str = "workload: {on: host, command: 'true'}\n";

fn with(rest: &str) -> String {
    format!("{WORKLOAD}{rest}")
}

#[test]
fn the_product_loses_what_is_excluded_and_gains_what_is_included() {
    let table: &[(&str, &[&str])] = &[
        ("", &["all"]),
        ("matrix: {a: 1}\n", &["a=1"]),
        ("matrix: {b: [x, y], a: [1, 2]}\n", &["a=1,b=x", "a=2,b=x", "a=1,b=y", "a=2,b=y"]),
        ("matrix: {a: [1, 2], b: [x, y]}\nexclude: [{a: 2, b: y}]\n", &["a=1,b=x", "a=1,b=y", "a=2,b=x"]),
        ("matrix: {a: [1, 2], b: [x, y, z]}\nexclude: [{b: [y, z]}]\n", &["a=1,b=x", "a=2,b=x"]),
        ("matrix: {a: [1, 2, 3]}\nexclude: [{when: a > 1 and a != 3}]\n", &["a=1", "a=3"]),
        ("matrix: {a: [1, 2]}\nexclude: [{when: a > 5}]\n", &["a=1", "a=2"]),
        ("matrix: {a: [3.9, 3.10]}\nexclude: [{when: a > 3.5}]\n", &["a=3.10"]),
        ("matrix: {a: [1, 2], b: [x, y]}\nexclude: [{a: 2}, {b: y}]\ninclude: [{a: 2, b: y}]\n", &["a=1,b=x", "a=2,b=y"]),
        (
            "matrix: {a: [1, 2], b: [x, y]}\nexclude: [{b: y}]\ninclude: [{a: [1, 2], b: y}]\n",
            &["a=1,b=x", "a=2,b=x", "a=1,b=y", "a=2,b=y"],
        ),
    ];
    for (rest, expected) in table {
        assert_eq!(ids(&with(rest)), *expected, "{rest}");
    }
}

/// The worked input of the best-known confusion: partial includes, values that only an include knows, excludes that match nothing.
#[test]
fn partial_includes_and_unknown_values_are_errors_and_the_honest_form_works() {
    let found = wrong(&with(
        "matrix: {a: [1, 2], b: [x, y]}\ninclude: [{c: 9}, {a: 1, c: 8}, {a: 3}, {a: 1, b: z}]\nexclude: [{a: 2}, {a: 5}, {a: 2, b: x}]\n",
    ));
    for expected in ["unknown factor `c` in `include`", "`a` has no level `3`", "`b` has no level `z`", "`a` has no level `5`"] {
        assert!(found.iter().any(|said| said.contains(expected)), "{expected}: {found:#?}");
    }
    assert_eq!(
        ids(&with("matrix: {a: [1, 2, 3], b: [x, y, z]}\nexclude: [{a: 3}, {b: z}]\ninclude: [{a: 3, b: x}, {a: 1, b: z}]\n")),
        ["a=1,b=x", "a=1,b=y", "a=2,b=x", "a=2,b=y", "a=3,b=x", "a=1,b=z"]
    );
}

#[test]
fn rules_that_do_nothing_or_everything_are_errors_with_a_place() {
    let table = [
        (
            "matrix: {a: [1, 2], b: [x, y]}\nexclude:\n  - {when: a == 2}\n  - {when: a == 1}\n  - {b: x}\n",
            "5:5: the matrix expands to nothing: all 4 combinations are excluded",
        ),
        ("matrix: {a: [1, 2]}\nexclude:\n  - {a: [1, 2]}\n", "4:5: every variant is left out, so there is nothing to run"),
        (
            "matrix: {a: [1, 2], b: [x, y]}\nexclude: [{when: 'a > 0 and b == \"x\"'}]\ninclude: [{a: 1, b: y}]\n",
            "4:11: include repeats the variant `a=1,b=y` / an include only ever adds whole variants",
        ),
        ("matrix: {a: [1, 2]}\nexclude: [{when: c > 1}]\n", "3:11: `c` in `c > 1` is not known; known: a, host"),
        ("matrix: {a: [1, 2]}\nexclude: [{when: a}]\n", "3:11: `a` gives number, not true or false"),
        ("matrix: {a: [1, 2]}\nexclude: [{when: a >}]\n", "3:11: `a >` cannot be read: "),
        (
            "matrix: {a: []}\n",
            "2:10: the factor `a` has no levels, so there is nothing to run / give it at least one level, or remove the factor",
        ),
    ];
    for (rest, expected) in table {
        let found = wrong(&with(rest));
        assert!(found.len() == 1 && found[0].starts_with(expected), "{rest}: {found:#?}");
    }
}

#[test]
fn an_exclude_that_repeats_another_does_not_stop_the_plan() {
    let rest = "matrix: {a: [1, 2], b: [x, y]}\nexclude: [{a: 1, b: x}, {a: 1, b: x}]\n";
    assert_eq!(ids(&with(rest)).len(), 3);
}

#[test]
fn a_condition_may_read_the_host() {
    let text = with("matrix: {cpus: [1, 2, 8]}\nexclude: [{when: cpus > host.cpus}]\n");
    let experiment = experiment(&text);
    let small = Options { host: Some(HostFacts { cpus: 2, ..HostFacts::default() }), ..Options::default() };
    let plan = planned(&experiment, &History::new(), &small).plan;
    let ids: Vec<&str> = plan.variants.iter().map(|variant| &*variant.id).collect();
    assert_eq!(ids, ["cpus=1", "cpus=2", "cpus=1#aa"]);
    assert_eq!(wrong(&text).len(), 1, "without facts the condition cannot be told");
}

#[test]
fn only_a_run_is_bound_by_the_largest_number_of_variants() {
    let text = with("matrix: {a: [1, 2, 3], b: [1, 2, 3]}\ndesign: {max_variants: 8}\n");
    assert_eq!(wrong(&text), Vec::<String>::new());
    let run = Options { enforce_limit: true, ..Options::default() };
    assert_eq!(
        wrong_with(&text, &run),
        [
            "2:10: the matrix expands to 9 variants, more than `design.max_variants` of 8 / drop levels, or raise `max_variants` if you mean it"
        ]
    );
    assert_eq!(wrong_with(&text.replace("8}", "9}"), &run), Vec::<String>::new());
}

#[test]
fn a_choice_of_levels_must_leave_something() {
    let text = with("matrix: {size: [small, large], b: [x, y]}\nexclude: [{size: large, b: y}]\n");
    let chosen = |only: &[(&str, &str)]| Options {
        only: only.iter().map(|(factor, level)| ((*factor).to_owned(), (*level).to_owned())).collect(),
        ..Options::default()
    };
    type Chosen = &'static [(&'static str, &'static str)];
    let table: &[(Chosen, &[&str])] = &[
        (&[("siz", "small")], &["-: --only: unknown factor `siz` / did you mean `size`?"]),
        (
            &[("size", "smal"), ("c", "1")],
            &["-: --only: `size` has no level `smal` / did you mean `small`?", "-: --only: unknown factor `c` / known: size, b"],
        ),
        (&[("size", "large"), ("b", "y")], &["-: --only leaves no variant: no variant of the matrix has all these levels"]),
        (&[("size", "large"), ("size", "small"), ("b", "y")], &[]),
    ];
    for (only, expected) in table {
        assert_eq!(wrong_with(&text, &chosen(only)), *expected, "{only:?}");
    }
    let experiment = experiment(&text);
    let plan = planned(&experiment, &History::new(), &chosen(&[("size", "large")])).plan;
    let mut run: Vec<&str> = plan.trials.iter().map(|trial| &*plan.variants[trial.variant as usize].id).collect();
    run.sort_unstable();
    run.dedup();
    assert_eq!(run, ["b=x,size=large", "b=x,size=small", "b=x,size=small#aa"], "the baseline runs beside what was chosen");
}

#[test]
fn the_baseline_takes_first_levels_where_it_says_nothing() {
    let table = [
        ("", "a=1,b=x"),
        ("baseline: {b: y}\n", "a=1,b=y"),
        ("baseline: {a: 2, b: y}\n", "a=2,b=y"),
        ("exclude: [{a: 1, b: x}]\nbaseline: {a: 2}\n", "a=2,b=x"),
        ("exclude: [{a: 1, b: x}]\n", "a=1,b=y"),
        ("exclude: [{b: y}]\ninclude: [{a: 2, b: y}]\nbaseline: {a: 2, b: y}\n", "a=2,b=y"),
    ];
    for (rest, expected) in table {
        let text = with(&format!("matrix: {{a: [1, 2], b: [x, y]}}\n{rest}"));
        let experiment = experiment(&text);
        let planned = planned(&experiment, &History::new(), &Options::default());
        let plan = &planned.plan;
        let baseline = &plan.variants[plan.baseline];
        assert_eq!(&*baseline.id, expected, "{rest}");
        assert_eq!(planned.warnings.len(), usize::from(rest == "exclude: [{a: 1, b: x}]\n"), "{rest}");
        let copy = plan.variants.last().expect("copy");
        assert_eq!((copy.id.to_string(), &copy.identity, &copy.levels), (format!("{expected}#aa"), &baseline.identity, &baseline.levels));
        let last = plan.variants.len() as u32 - 1;
        for block in 1..=10 {
            assert_eq!(plan.trials.iter().filter(|trial| trial.block == block && trial.variant == last).count(), 1, "{rest}");
        }
    }
    let excluded = wrong(&with("matrix: {a: [1, 2], b: [x, y]}\nexclude: [{when: a == 1}]\nbaseline: {b: y}\n"));
    assert_eq!(
        excluded,
        [
            "4:11: the baseline `a=1,b=y` is not one of the variants / name the level of every factor, so that it is a variant that the matrix keeps"
        ]
    );
}

#[test]
fn levels_are_spelled_as_written() {
    let text = "workload: {image: 'python:{{ tag }}', command: python}\nmatrix: {tag: [3.9, 3.10, 3.20, 1e3, 1_000, on, 0755, 9022:22]}\n";
    let saved = saved_plan(text);
    let images: Vec<String> = saved.variants.iter().map(|variant| format!("{:?}", variant.spec.workloads[0].unit.image)).collect();
    for (index, tag) in ["3.9", "3.10", "3.20", "1e3", "1_000", "on", "0755", "9022:22"].iter().enumerate() {
        assert_eq!(saved.variants[index].id, format!("tag={tag}"));
        assert_eq!(images[index], format!("Some(Reference(\"python:{tag}\"))"));
    }
}

#[test]
fn only_punctuation_of_ids_is_encoded() {
    let text = with("matrix: {b: ['50%', 'x,a=1', 'y#aa', 'a b/c:ü'], a: [1]}\n");
    assert_eq!(ids(&text), ["a=1,b=50%25", "a=1,b=x%2Ca%3D1", "a=1,b=y%23aa", "a=1,b=a b/c:ü"]);
}

/// Any two different variants have different ids, none of which can be taken for an A/A copy.
#[test]
fn different_variants_never_share_an_id() {
    let piece = prop::sample::select(vec![",", "%2C", "%", "2C", "=", "%3D", "#", "%23", "\u{7f}", "%7F", "b", "x"]);
    let level = prop::collection::vec(piece, 0..3).prop_map(|pieces| pieces.concat());
    let levels = prop::collection::vec(prop::collection::hash_set(level, 1..8), 1..4);
    TestRunner::deterministic()
        .run(&levels, |sets| {
            let base = experiment(&with("matrix: {b: [x], a: [x], c: [x]}\n"));
            let mut factors = base.factors[..sets.len()].to_vec();
            for (factor, texts) in factors.iter_mut().zip(&sets) {
                let template = factor.levels[0].clone();
                factor.levels = texts
                    .iter()
                    .map(|text| shakedown::model::experiment::Level { text: text.as_str().into(), ..template.clone() })
                    .collect();
            }
            let mut combinations: Vec<Vec<u32>> = vec![Vec::new()];
            for factor in &factors {
                let counts = 0..factor.levels.len() as u32;
                combinations = combinations.iter().flat_map(|base| counts.clone().map(|level| [&base[..], &[level]].concat())).collect();
            }
            let ids: Vec<String> = combinations.iter().map(|levels| variant_id(&factors, levels)).collect();
            prop_assert!(ids.iter().all(|id| !id.contains('#')));
            prop_assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len(), "{:?}", ids);
            Ok(())
        })
        .expect("ids");
}
