//! What planning learns of earlier runs.

use super::{MANIFEST, failed, finished, imaged, plan, primer, row, run, whole};
use shakedown::model::event::{Event, TrialRow};
use shakedown::model::facts::{EngineFacts, HostFacts};
use shakedown::model::plan::{SavedPlan, VariantHistory};
use shakedown::plan::History;
use shakedown::record::{Store, history, load};

/// Index in the plan of the n-th trial of a variant.
fn nth(plan: &SavedPlan, variant: &str, n: usize) -> usize {
    let of = |trial: &[u32; 4]| plan.variants[trial[3] as usize].id == variant;
    plan.trials.iter().enumerate().filter(|(_, trial)| of(trial)).nth(n).expect("trial").0
}

fn learned(runs: &[(&SavedPlan, Vec<Event>)]) -> History {
    let folder = tempfile::tempdir().expect("folder");
    let store = Store::new(folder.path(), "e");
    for (index, (plan, events)) in runs.iter().enumerate() {
        run(&store, &format!("r{index}"), &format!("2026-11-30T1{index}:00:00.000Z"), plan, events.clone());
    }
    history(&load(&store).expect("load"), &HostFacts { cpus: 2, ..HostFacts::default() }, &[])
}

fn told(past: &VariantHistory) -> (usize, Option<&str>) {
    (past.good.len(), past.failure.as_deref())
}

#[test]
fn nothing_is_known_before_the_first_row() {
    assert_eq!(learned(&[]), History::new());
    assert_eq!(learned(&[(&plan(MANIFEST), Vec::new())]), History::new());
}

#[test]
fn good_trials_are_known_by_run_and_block() {
    let plan = plan(MANIFEST);
    let history = learned(&[(&plan, whole(&plan))]);
    assert_eq!(history.keys().collect::<Vec<_>>(), ["a=1", "a=1#aa", "a=2"]);
    assert!(history.values().all(|past| past.good == [(0, 1), (0, 2), (0, 3)].into() && past.failure.is_none()));
    assert_eq!(history["a=2"].identity, plan.variants[1].identity);
    assert_eq!(history["a=2"].spec, serde_json::to_value(&plan.variants[1].spec).expect("spec"));
    // Each row's seconds are its wall time and one more.
    let mut seconds: Vec<f64> = (0..3).map(|n| nth(&plan, "a=2", n) as f64 + 2.0).collect();
    seconds.sort_by(f64::total_cmp);
    assert_eq!(history["a=2"].seconds, Some(seconds[1]));
}

/// A primer is no trial: neither does it count, nor does it make a failure good, nor is it one.
#[test]
fn nothing_is_learned_from_primers() {
    let plan = plan(MANIFEST);
    let first = primer(row(&plan, nth(&plan, "a=2", 0), 1.0));
    assert_eq!(learned(&[(&plan, vec![finished(first.clone())])]), History::new());
    let bad = failed(row(&plan, nth(&plan, "a=2", 1), 1.0));
    let history = learned(&[(&plan, vec![finished(bad)]), (&plan, vec![finished(first), finished(primer(failed(row(&plan, 0, 1.0))))])]);
    assert_eq!(told(&history["a=2"]), (0, Some("measure: exit code 1")));
    assert_eq!(history.len(), 1);
}

#[test]
fn a_failure_counts_until_it_is_made_good() {
    let plan = plan(MANIFEST);
    let at = |n: usize| row(&plan, nth(&plan, "a=2", n), 1.0);
    let reason = Some("measure: exit code 1");
    let again = |row: TrialRow| TrialRow { attempt: 2, ..row };
    type Runs = Vec<Vec<TrialRow>>;
    let table: Vec<(Runs, (usize, Option<&str>))> = vec![
        (vec![vec![at(0), failed(at(1)), at(2)]], (2, reason)),
        // The second attempt replaces the first.
        (vec![vec![at(0), failed(at(1)), again(at(1)), at(2)]], (3, None)),
        (vec![vec![at(0), failed(at(1)), again(failed(at(1))), at(2)]], (2, reason)),
        // Made good by a later run, and failed again in a third one.
        (vec![vec![at(0), failed(at(1))], vec![at(0)]], (2, None)),
        (vec![vec![at(0), failed(at(1))], vec![at(0)], vec![failed(at(0))]], (2, reason)),
        (vec![vec![failed(at(0))], vec![failed(at(0))]], (0, reason)),
        (vec![vec![failed(at(0))], vec![]], (0, reason)),
    ];
    for (index, (runs, expected)) in table.into_iter().enumerate() {
        let runs: Vec<(&SavedPlan, Vec<Event>)> = runs.into_iter().map(|rows| (&plan, rows.into_iter().map(finished).collect())).collect();
        assert_eq!(told(&learned(&runs)["a=2"]), expected, "{index}");
    }
}

#[test]
fn a_changed_identity_begins_anew() {
    let old = plan(MANIFEST);
    let new = plan(&MANIFEST.replace("run {{ a }}", "run -v {{ a }}"));
    let two = vec![finished(row(&new, 0, 5.0)), finished(row(&new, 1, 5.0)), finished(row(&new, 2, 5.0))];
    let history = learned(&[(&old, whole(&old)), (&new, two)]);
    assert_eq!(told(&history["a=1"]), (1, None));
    assert_eq!((&history["a=1"].identity, history["a=1"].seconds), (&new.variants[0].identity, Some(6.0)));
    assert_eq!(history["a=1"].spec, serde_json::to_value(&new.variants[0].spec).expect("spec"));
}

#[test]
fn what_was_measured_on_another_machine_is_measured_again() {
    let plan = plan(MANIFEST);
    let folder = tempfile::tempdir().expect("folder");
    let store = Store::new(folder.path(), "e");
    run(&store, "r0", "2026-11-30T10:00:00.000Z", &plan, whole(&plan));
    let here = HostFacts { cpus: 8, ..HostFacts::default() };
    let history = history(&load(&store).expect("load"), &here, &[]);
    assert_eq!(history.keys().collect::<Vec<_>>(), ["a=1", "a=2"]);
    for past in history.values() {
        assert_eq!((past.good.len(), past.identity.as_str(), past.elsewhere.as_deref()), (0, "", Some("CPUs: 2 -> 8")));
    }
}

#[test]
fn what_another_engine_or_image_measured_is_measured_again() {
    let plan = plan(MANIFEST);
    let folder = tempfile::tempdir().expect("folder");
    let store = Store::new(folder.path(), "e");
    run(&store, "r0", "2026-11-30T10:00:00.000Z", &plan, whole(&plan));
    let here = HostFacts { cpus: 2, ..HostFacts::default() };
    let learned = |engines: &[EngineFacts]| history(&load(&store).expect("load"), &here, engines);
    assert_eq!(learned(&[]), learned(&[EngineFacts { kind: "native".into(), version: "2".into(), ..EngineFacts::default() }]));
    let newer = EngineFacts { kind: "fake".into(), version: "2".into(), ..EngineFacts::default() };
    for past in learned(&[newer]).values() {
        assert_eq!((past.good.len(), past.elsewhere.as_deref()), (0, Some("fake version:  -> 2")));
    }
    // A newer run had another image under the same name for one variant: the trials with the older one do not count any more.
    let index = nth(&plan, "a=2", 0);
    let rows = [("r1", "sha256:1"), ("r2", "sha256:2")].map(|(name, digest)| (name, imaged(row(&plan, index, 5.0), digest)));
    let [(r1, old), (r2, new)] = rows;
    run(
        &store,
        r1,
        "2026-11-30T11:00:00.000Z",
        &plan,
        [finished(old), finished(imaged(row(&plan, nth(&plan, "a=1", 0), 5.0), "sha256:1"))],
    );
    let before = learned(&[]);
    assert_eq!((before["a=1"].good.len(), before["a=2"].good.len()), (4, 4));
    run(&store, r2, "2026-11-30T12:00:00.000Z", &plan, [finished(new)]);
    let after = learned(&[]);
    assert_eq!((after["a=1"].good.len(), after["a=2"].good.len()), (3, 4), "both variants run one image");
}
