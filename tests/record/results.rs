//! Runs joined under the design of the newest one.

use super::{MANIFEST, failed, finished, imaged, plan, primer, row, run, started, whole};
use shakedown::model::event::{Event, TrialRow};
use shakedown::model::results::Results;
use shakedown::record::{RecordError, Store, load, results};

fn joined(store: &Store) -> Results {
    results(store, "e", load(store).expect("load")).expect("results")
}

/// How many rows each variant has, those that belong to none last.
fn counts(results: &Results) -> Vec<(String, usize)> {
    let of = |variant: Option<usize>| results.rows.iter().filter(|row| row.variant == variant).count();
    let named = results.variants.iter().enumerate().map(|(index, variant)| (variant.id.clone(), of(Some(index))));
    named.chain([("none".to_owned(), of(None))]).collect()
}

fn counted(pairs: &[(&str, usize)]) -> Vec<(String, usize)> {
    pairs.iter().map(|(id, count)| ((*id).to_owned(), *count)).collect()
}

#[test]
fn without_a_run_there_is_nothing_to_join() {
    let folder = tempfile::tempdir().expect("folder");
    let store = Store::new(folder.path(), "e");
    let error = results(&store, "e", load(&store).expect("load")).expect_err("absent");
    assert!(matches!(error, RecordError::Absent { .. }));
    std::fs::create_dir_all(store.folder().join("runs/not-a-run")).expect("folder");
    assert!(load(&store).expect("a folder without a plan is no run").runs.is_empty());
}

#[test]
fn a_second_run_that_grew_a_factor_joins_the_first() {
    let folder = tempfile::tempdir().expect("folder");
    let store = Store::new(folder.path(), "e");
    let first = plan(MANIFEST);
    let second = plan(&MANIFEST.replace("[1, 2]", "[1, 2, 3]"));
    // Names sort against time on purpose.
    run(&store, "z-first", "2026-11-29T10:00:00.000Z", &first, whole(&first));
    let fresh = |id: &str| ["a=1", "a=3", "a=1#aa"].contains(&id);
    let rows = (0..second.trials.len()).map(|index| row(&second, index, 9.0)).filter(|row| fresh(&row.variant)).map(finished);
    run(&store, "a-second", "2026-11-30T10:00:00.000Z", &second, rows);
    let joined = joined(&store);
    assert_eq!(
        joined.runs.iter().map(|run| (run.run.as_str(), run.finished)).collect::<Vec<_>>(),
        [("z-first", true), ("a-second", false)]
    );
    assert_eq!(joined.factors[0].levels.len(), 3);
    assert_eq!(counts(&joined), counted(&[("a=1", 6), ("a=2", 3), ("a=3", 3), ("a=1#aa", 6), ("none", 0)]));
    assert!(joined.rows.is_sorted_by_key(|row| row.run));
    assert_eq!((joined.baseline, joined.variants.last().map(|variant| variant.id.as_str())), (0, Some("a=1#aa")));
}

#[test]
fn a_primer_is_kept_and_replaces_nothing() {
    let folder = tempfile::tempdir().expect("folder");
    let store = Store::new(folder.path(), "e");
    let plan = plan(MANIFEST);
    let trial = || TrialRow { engine_start: Some(1), ..row(&plan, 0, 1.0) };
    let first = || finished(primer(trial()));
    run(&store, "r1", "2026-11-29T10:00:00.000Z", &plan, [first(), finished(failed(trial())), first(), finished(trial())]);
    let joined = joined(&store);
    let seen: Vec<(&str, &str, bool)> =
        joined.rows.iter().map(|row| (row.row.trial.as_str(), row.row.outcome.name(), row.superseded)).collect();
    let expected = [("b1p1-primer", "primer", false), ("b1p1", "failed", true), ("b1p1-primer", "primer", false), ("b1p1", "ok", false)];
    assert_eq!(seen, expected);
    assert!(joined.rows.iter().all(|row| row.row.engine_start == Some(1) && row.variant.is_some()));
    assert!(joined.rows.iter().all(|row| row.row.taints.is_empty()), "{:?}", joined.warnings);
}

#[test]
fn rows_of_another_identity_or_of_a_variant_that_is_gone_belong_to_none() {
    let folder = tempfile::tempdir().expect("folder");
    let store = Store::new(folder.path(), "e");
    let first = plan(MANIFEST);
    run(&store, "r1", "2026-11-29T10:00:00.000Z", &first, whole(&first));
    let second = plan(
        "matrix: {a: {1: , 2: {workload: {cpus: 2}}}}\nworkload: {image: tool, command: 'run {{ a }}'}\ndesign: {blocks: 3}\nbaseline: {a: 2}\n",
    );
    run(&store, "r2", "2026-11-30T10:00:00.000Z", &second, whole(&second));
    assert_eq!(counts(&joined(&store)), counted(&[("a=1", 6), ("a=2", 3), ("a=2#aa", 3), ("none", 6)]));
    let third = plan(&MANIFEST.replace("[1, 2]", "[1]"));
    run(&store, "r3", "2026-11-30T11:00:00.000Z", &third, []);
    assert_eq!(counts(&joined(&store)), counted(&[("a=1", 6), ("a=1#aa", 3), ("none", 9)]));
}

#[test]
fn only_the_last_attempt_of_a_trial_counts() {
    let folder = tempfile::tempdir().expect("folder");
    let store = Store::new(folder.path(), "e");
    let plan = plan(MANIFEST);
    let attempt = |row: TrialRow, attempt: u32| finished(TrialRow { attempt, ..row });
    let events = [
        attempt(failed(row(&plan, 0, 1.0)), 1),
        attempt(failed(row(&plan, 0, 1.0)), 2),
        attempt(row(&plan, 0, 1.0), 3),
        attempt(row(&plan, 1, 1.0), 1),
    ];
    run(&store, "r1", "2026-11-29T10:00:00.000Z", &plan, events.clone());
    run(&store, "r2", "2026-11-30T10:00:00.000Z", &plan, events[3..].to_vec());
    let joined = joined(&store);
    let superseded: Vec<bool> = joined.rows.iter().map(|row| row.superseded).collect();
    assert_eq!(superseded, [true, true, false, false, false], "the same trial id in another run is another trial");
}

#[test]
fn a_run_that_went_on_keeps_its_first_start_and_is_whole_at_its_end() {
    let folder = tempfile::tempdir().expect("folder");
    let store = Store::new(folder.path(), "e");
    let plan = plan(MANIFEST);
    let image = || Event::ImageReady { image: "tool".into(), digest: "sha256:1".into(), seconds: 1.0 };
    let warned = || Event::Warned { kind: "k".into(), message: "busy".into() };
    let mut events = vec![image(), warned(), finished(row(&plan, 0, 1.0))];
    events.push(Event::RunInterrupted { at: "2026-11-30T10:10:00.000Z".into(), by: "SIGTERM".into() });
    let folder = run(&store, "r1", "2026-11-30T10:00:00.000Z", &plan, events);
    assert!(!joined(&store).runs[0].finished);
    let mut journal = shakedown::record::Journal::open(&folder.journal()).expect("journal");
    for event in [started("2026-11-30T12:00:00.000Z"), image(), warned()].into_iter().chain(whole(&plan).into_iter().skip(1)) {
        journal.append(&event).expect("append");
    }
    let joined = joined(&store);
    let [only] = &joined.runs[..] else { panic!("one run") };
    assert_eq!((only.started.at.as_str(), only.finished, only.blocks), ("2026-11-30T10:00:00.000Z", true, 3));
    assert_eq!(only.images, [("tool".to_owned(), "sha256:1".to_owned())]);
    assert_eq!(joined.warnings, ["busy"]);
    assert_eq!(counts(&joined), counted(&[("a=1", 3), ("a=2", 3), ("a=1#aa", 3), ("none", 0)]));
}

#[test]
fn formulas_and_columns_follow_the_newest_presentation() {
    let folder = tempfile::tempdir().expect("folder");
    let store = Store::new(folder.path(), "e");
    let first = plan(MANIFEST);
    let folder = run(&store, "r1", "2026-11-30T10:00:00.000Z", &first, whole(&first));
    let columns = |results: &Results| results.metrics.iter().map(|m| (m.name.clone(), m.primary, m.declared)).collect::<Vec<_>>();
    let before = joined(&store);
    assert_eq!((before.presentation.title.as_str(), columns(&before)), ("One", vec![("wall".to_owned(), true, true)]));
    let text = MANIFEST.replace("One", "Two").replace(
        "design:",
        "metrics: {ten: {expr: wall * 10, unit: ds}, never: {expr: throttled_seconds * 2}, torn: {expr: wall / (wall - wall)}, wall: {primary: true}}\ndesign:",
    );
    let later = plan(&text);
    assert_eq!(later.variants[0].identity, first.variants[0].identity);
    let mut journal = shakedown::record::Journal::open(&folder.journal()).expect("journal");
    journal.append(&Event::Presented(Box::new(later.presented()))).expect("append");
    let after = joined(&store);
    assert_eq!(after.presentation.title, "Two");
    let declared =
        [("ten", false), ("never", false), ("torn", false), ("wall", true)].map(|(name, primary)| (name.to_owned(), primary, true));
    assert_eq!(columns(&after), declared);
    assert_eq!(after.metrics[0].unit.symbol(), "ds");
    for row in &after.rows {
        let wall = row.row.metrics[0].value;
        let found: Vec<(&str, f64)> = row.row.metrics.iter().map(|metric| (metric.name.as_str(), metric.value)).collect();
        assert_eq!(found, [("wall", wall), ("ten", wall * 10.0)]);
    }
    assert_eq!(after.warnings.len(), 1, "{:?}", after.warnings);
    assert!(after.warnings[0].starts_with("metric `torn`: "), "{:?}", after.warnings);
}

#[test]
fn what_was_measured_on_another_machine_is_kept_and_does_not_count() {
    let folder = tempfile::tempdir().expect("folder");
    let store = Store::new(folder.path(), "e");
    let plan = plan(MANIFEST);
    run(&store, "r0", "2026-11-30T10:00:00.000Z", &plan, whole(&plan));
    let newer = run(&store, "r1", "2026-11-30T11:00:00.000Z", &plan, whole(&plan));
    let text = std::fs::read_to_string(newer.journal()).expect("journal").replace("\"cpus\":2", "\"cpus\":8");
    std::fs::write(newer.journal(), text).expect("journal");
    let results = joined(&store);
    let counted: Vec<usize> = results.rows.iter().filter(|row| row.variant.is_some()).map(|row| row.run).collect();
    assert!(!counted.is_empty() && counted.iter().all(|run| *run == 1), "{counted:?}");
    assert_eq!(results.rows.iter().filter(|row| row.run == 0).count(), counted.len());
    let told = format!("`r0` was measured on another machine (CPUs: 2 -> 8): its {} trials are recorded and do not count", counted.len());
    assert_eq!(results.warnings, [told]);
}

/// Appends an event to a run that is there.
fn append(folder: &shakedown::record::RunFolder, event: &Event) {
    shakedown::record::Journal::open(&folder.journal()).and_then(|mut journal| journal.append(event)).expect("append");
}

#[test]
fn the_whole_design_is_that_which_was_presented_last() {
    let folder = tempfile::tempdir().expect("folder");
    let store = Store::new(folder.path(), "e");
    let text =
        MANIFEST.replace("[1, 2]", "[1, 2, 3]").replace("design:", "vars: {v: 1}\nmetrics: {x: {expr: wall * v / host.cpus}}\ndesign:");
    let first = plan(&text);
    let folder = run(&store, "r1", "2026-11-30T10:00:00.000Z", &first, whole(&first));
    let values = |results: &Results, name: &str| -> Vec<f64> {
        results.rows.iter().flat_map(|row| &row.row.metrics).filter(|metric| metric.name == name).map(|metric| metric.value).collect()
    };
    let before = joined(&store);
    assert_eq!(values(&before, "x"), values(&before, "wall").iter().map(|wall| wall / 2.0).collect::<Vec<_>>(), "two CPUs");
    let later = plan(&format!("{}baseline: {{a: 2}}\n", text.replace("[1, 2, 3]", "[1, 2]").replace("v: 1", "v: 8")));
    append(&folder, &Event::Presented(Box::new(later.presented())));
    let after = joined(&store);
    assert_eq!(counts(&after), counted(&[("a=1", 3), ("a=2", 3), ("a=2#aa", 0), ("none", 6)]));
    assert_eq!((after.baseline, after.factors[0].levels.len()), (1, 2));
    let of_design =
        |results: &Results| results.rows.iter().filter(|row| row.variant.is_some()).map(|row| row.row.metrics[0].value).sum::<f64>();
    assert_eq!(values(&after, "x").iter().sum::<f64>(), 4.0 * of_design(&after));
    // An older program presented titles, metrics and margins only.
    let path = folder.journal();
    let journal = std::fs::read_to_string(&path).expect("journal");
    let (rows, last) = journal.trim_end().rsplit_once('\n').expect("lines");
    let mut old: serde_json::Value = serde_json::from_str(last).expect("event");
    let fields = old.as_object_mut().expect("mapping");
    ["factors", "variants", "baseline"].iter().for_each(|field| assert!(fields.remove(*field).is_some()));
    std::fs::write(&path, format!("{rows}\n{old}\n")).expect("journal");
    assert_eq!(counts(&joined(&store)), counts(&before));
}

#[test]
fn what_is_too_short_follows_the_newest_design() {
    let folder = tempfile::tempdir().expect("folder");
    let store = Store::new(folder.path(), "e");
    let first = plan(MANIFEST);
    let named = |name: &str, value: f64| shakedown::model::metric::Observation::finite(name, value, shakedown::model::metric::Unit::SECOND);
    let with = |index: usize, metrics: &[(&str, f64)]| {
        let metrics = metrics.iter().filter_map(|(name, value)| named(name, *value)).collect();
        TrialRow { metrics, taints: vec!["too-short".into(), "odd".into()], ..row(&first, index, 1.0) }
    };
    let rows = [
        with(0, &[("wall", 2.0)]),
        with(1, &[("a.wall", 9.0), ("b.wall", 0.5)]),
        with(2, &[("real", 9.0)]),
        TrialRow { taints: Vec::new(), ..with(3, &[("wall", 0.5)]) },
        failed(with(4, &[])),
    ];
    let folder = run(&store, "r1", "2026-11-30T10:00:00.000Z", &first, rows.map(finished));
    let short = || joined(&store).rows.iter().map(|row| row.row.taints.join(",")).collect::<Vec<_>>();
    assert_eq!(short(), ["odd", "odd,too-short", "odd,too-short", "too-short", "odd"]);
    let later = plan(&MANIFEST.replace("blocks: 3", "blocks: 3, min_window: 500ms"));
    append(&folder, &Event::Presented(Box::new(later.presented())));
    assert_eq!(short(), ["odd", "odd", "odd,too-short", "", "odd"]);
}

#[test]
fn what_another_engine_or_image_measured_is_kept_and_does_not_count() {
    let folder = tempfile::tempdir().expect("folder");
    let store = Store::new(folder.path(), "e");
    let plan = plan(MANIFEST);
    let rows = |digest: &str| -> Vec<Event> {
        let row = |index: usize| finished(if index == 0 { row(&plan, 0, 1.0) } else { imaged(row(&plan, index, 1.0), digest) });
        (0..plan.trials.len()).map(row).collect()
    };
    let older = run(&store, "r0", "2026-11-30T10:00:00.000Z", &plan, rows("sha256:1"));
    run(&store, "r1", "2026-11-30T11:00:00.000Z", &plan, rows("sha256:1"));
    assert_eq!((counts(&joined(&store)).last(), joined(&store).warnings), (Some(&("none".to_owned(), 0)), Vec::new()));
    run(&store, "r2", "2026-11-30T12:00:00.000Z", &plan, rows("sha256:2"));
    let of_run = |results: &Results, run: usize| results.rows.iter().filter(|row| row.run == run && row.variant.is_some()).count();
    let results = joined(&store);
    assert_eq!([0, 1, 2].map(|run| of_run(&results, run)), [1, 1, 9], "of the first one nobody knows the image");
    let told =
        |run: &str| format!("`{run}` ran another image `tool`: sha256:1 -> sha256:2: 8 trials with it are recorded and do not count");
    assert_eq!(results.warnings, [told("r0"), told("r1")]);
    let text =
        std::fs::read_to_string(older.journal()).expect("journal").replacen("\"storage_driver\":\"\"", "\"storage_driver\":\"vfs\"", 1);
    std::fs::write(older.journal(), text).expect("journal");
    let results = joined(&store);
    assert_eq!([0, 1, 2].map(|run| of_run(&results, run)), [0, 1, 9]);
    let other = "`r0` was measured on another engine (fake storage driver: vfs -> ): its 9 trials are recorded and do not count";
    assert_eq!(results.warnings, [other.to_owned(), told("r1")]);
}

#[test]
fn two_daemons_may_give_one_image_two_digests() {
    let folder = tempfile::tempdir().expect("folder");
    let store = Store::new(folder.path(), "e");
    let text = "matrix: {at: {x: {engine: {host: 'tcp://x:1'}}, y: {engine: {host: 'tcp://y:1'}}}}\nworkload: {image: tool}\ndesign: {blocks: 2}\n";
    let plan = plan(text);
    let rows = (0..plan.trials.len()).map(|index| row(&plan, index, 1.0));
    let rows = rows.map(|row| if row.variant == "at=y" { imaged(row, "sha256:y") } else { imaged(row, "sha256:x") });
    run(&store, "r0", "2026-11-30T10:00:00.000Z", &plan, rows.map(finished));
    let results = joined(&store);
    assert_eq!((counts(&results).last(), results.warnings), (Some(&("none".to_owned(), 0)), Vec::new()));
}

#[test]
fn blocks_that_an_interruption_spread_over_more_than_an_hour_are_named() {
    let folder = tempfile::tempdir().expect("folder");
    let store = Store::new(folder.path(), "e");
    let plan = plan(MANIFEST);
    let at = |index: usize, at: &str| finished(TrialRow { at: format!("2026-11-30T{at}:00.000Z"), ..row(&plan, index, 1.0) });
    // Three trials a block: the first is cut and late, the second is long by itself, the third is cut and goes on soon.
    let events = [
        at(0, "10:00"),
        started("2026-11-30T11:01:00.000Z"),
        at(1, "11:02"),
        at(2, "11:03"),
        at(3, "11:04"),
        at(4, "12:00"),
        at(5, "12:30"),
        at(6, "12:31"),
        started("2026-11-30T13:00:00.000Z"),
        at(7, "13:00"),
        at(8, "13:01"),
    ];
    run(&store, "r1", "2026-11-30T10:00:00.000Z", &plan, events);
    let told =
        "`r1`: block 1 was interrupted and finished more than an hour after the start: what changed meanwhile is part of the comparison";
    assert_eq!(joined(&store).warnings, [told]);
    assert_eq!(load(&store).expect("load").runs[0].starts().count(), 3);
}
