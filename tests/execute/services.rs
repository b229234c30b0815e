//! Services of a trial: who waits for whom, how it is told that they are ready, and what becomes of a trial when one of them fails.

use super::bench::Bench;
use shakedown::execute::Ended;
use shakedown::model::cgroup::CgroupLayout;
use shakedown::model::event::{Event, TrialRow};
use shakedown::model::outcome::{FailureKind, Outcome, Phase};
use shakedown::record::Store;

/// A service that is looked at, prepared inside and on the host, with a network and a volume. Two trials with the A/A copy.
const SERVED: &str = "
networks: {front: {}}
volumes: {data: {}}
services:
  web:
    image: nginx
    command: serve web
    networks: [front]
    volumes: ['data:/d']
    ready: {exec: look, successes: 1, interval: 1ms, timeout: 5s}
    prepare: [inside, {command: outside, on: host}]
workload: {image: nginx, command: work, timeout: 5s}
design: {blocks: 1}
";
/// What a service does unless a test says otherwise: it runs until it is removed.
const SERVES: &str = r#"{"match": "serve", "wait": {"hang": true}}"#;

fn script(rules: &str) -> String {
    if rules.is_empty() { format!("[{SERVES}]") } else { format!("[{rules}, {SERVES}]") }
}

/// The position of a call of the first trial.
fn at(calls: &[String], call: &str) -> usize {
    let (verb, unit) = call.split_once(' ').expect("a call and a unit");
    let call = format!("{verb} b1p1/{unit}");
    calls.iter().position(|known| *known == call).unwrap_or_else(|| panic!("{call}: {calls:#?}"))
}

#[tokio::test]
async fn each_service_waits_for_what_it_depends_on_and_the_workload_for_all() {
    let text = "
services:
  web: {image: x, command: serve web, depends_on: {init: {condition: service_completed_successfully}, log: {condition: service_started}}}
  init: {image: x, command: migrate, depends_on: [db]}
  db: {image: x, command: serve db, ready: {exec: look db, interval: 1ms}, prepare: [fill]}
  log: {image: x, command: serve log, ready: {exec: look log, interval: 1ms}}
workload: {image: x, command: work}
design: {blocks: 1}
";
    let mut bench = Bench::new(text, &script(""));
    // It would wait for ever if `web` waited until it is ready.
    bench.changes.gates = vec![("look log", "start web")];
    assert_eq!(bench.run().await.expect("run"), Ended { failed: 0, interrupted: false });
    let calls = bench.fake.calls();
    for (first, then) in [
        ("start db", "exec db look db"),
        ("exec db look db", "exec db fill"),
        ("exec db fill", "create init"),
        ("exit init", "create web"),
        ("start log", "create web"),
        ("start web", "create workload"),
        ("start workload", "remove db"),
    ] {
        assert!(at(&calls, first) < at(&calls, then), "{first} before {then}: {calls:#?}");
    }
    let looks = calls.iter().filter(|call| call.starts_with("exec b1p1/db look")).count();
    assert_eq!(looks, 3, "three good looks in a row unless told otherwise");
    let last_look = calls.iter().rposition(|call| call.starts_with("exec b1p1/log")).expect("look");
    assert!(last_look < at(&calls, "create workload"), "{calls:#?}");
    bench.nothing_is_left("services");
}

#[tokio::test]
async fn services_that_do_not_depend_on_each_other_rise_at_once() {
    let text = "
services:
  a: {image: x, command: serve a, ready: {exec: look a, interval: 1ms}}
  b: {image: x, command: serve b, ready: {exec: look b, interval: 1ms}}
workload: {image: x, command: work}
design: {blocks: 1}
";
    let mut bench = Bench::new(text, &script(""));
    bench.changes.gates = vec![("look a", "start b"), ("look b", "start a")];
    assert_eq!(bench.run().await.expect("run"), Ended { failed: 0, interrupted: false });
    bench.nothing_is_left("services");
}

#[tokio::test]
async fn a_service_is_ready_after_so_many_good_looks_in_a_row_or_one_line() {
    let bad = |times: u32| format!(r#"{{"match": "look", "times": {times}, "wait": {{"exit": 1}}}}"#);
    let good = |times: u32| format!(r#"{{"match": "look", "times": {times}}}"#);
    let text = |ready: &str| SERVED.replace("exec: look, successes: 1", ready);
    let table = [
        ("exec: look, successes: 1", String::new(), 1),
        ("exec: look, successes: 3", String::new(), 3),
        ("exec: look, successes: 2", bad(3), 3 + 2),
        ("exec: look, successes: 2", format!("{}, {}", good(1), bad(1)), 1 + 1 + 2),
        ("exec: look, successes: 3", format!("{}, {}, {}, {}", good(2), bad(1), good(2), bad(2)), 2 + 1 + 2 + 2 + 3),
        ("log: 'accepts \\w+'", r#"{"match": "serve", "stderr": "x\naccepts connections\n", "wait": {"hang": true}}"#.to_owned(), 0),
    ];
    for (ready, rules, looks) in table {
        let bench = Bench::new(&text(ready), &script(&rules));
        assert_eq!(bench.run().await.expect(ready), Ended { failed: 0, interrupted: false }, "{ready} {rules}");
        let calls = bench.fake.calls();
        assert_eq!(calls.iter().filter(|call| *call == "exec b1p1/web look").count(), looks, "{ready} {rules}");
        bench.nothing_is_left(ready);
    }
}

#[tokio::test]
async fn every_way_in_which_a_service_fails_is_named_and_leaves_nothing() {
    use FailureKind::{ExitCode, Infrastructure, NotStarted, OutOfMemory, Signal, Timeout};
    use Phase::{Networks, Prepare, Services, Teardown};
    let cases: &[(&str, Phase, FailureKind, &str, usize)] = &[
        (r#"{"match": "front", "furnish_error": "no pool"}"#, Networks, Infrastructure, "furnish `b1p1`: no pool", 2),
        (r#"{"match": "front", "clear_error": "busy"}"#, Teardown, Infrastructure, "clear `b1p1`: busy", 2),
        (r#"{"match": "serve", "create_error": "no space"}"#, Services, Infrastructure, "create `b1p1/web`: no space", 2),
        (r#"{"match": "serve", "start_error": "refused"}"#, Services, Infrastructure, "refused", 2),
        (r#"{"match": "serve", "not_started": "no such file"}"#, Services, NotStarted, "`serve` could not be started", 1),
        (r#"{"match": "serve", "inspect_error": "gone", "wait": {"hang": true}}"#, Services, Infrastructure, "gone", 2),
        (r#"{"match": "serve", "hangs": ["create"]}"#, Services, Infrastructure, "not done within 0.02 s", 2),
        (r#"{"match": "serve", "hangs": ["start"]}"#, Services, Infrastructure, "not done within 0.02 s", 2),
        (
            r#"{"match": "serve", "wait": {"exit": 3}, "stderr": "one\nbad config\n"}"#,
            Services,
            ExitCode,
            "`web` ended with exit code 3: bad config",
            1,
        ),
        (r#"{"match": "serve", "wait": {"exit": 0}}"#, Services, ExitCode, "`web` ended with exit code 0", 1),
        (r#"{"match": "serve", "wait": {"exit": 139}}"#, Services, Signal, "`web` ended with exit code 139", 1),
        (
            r#"{"match": "serve", "wait": {"exit": 137, "oom": true}}"#,
            Services,
            OutOfMemory,
            "`web` was killed by the kernel for memory",
            1,
        ),
        (
            r#"{"match": "inside", "wait": {"exit": 4}, "stderr": "no table"}"#,
            Prepare,
            ExitCode,
            "`web`: `inside` ended with exit code 4: no table",
            1,
        ),
        (r#"{"match": "inside", "not_started": "no such file"}"#, Prepare, NotStarted, "`inside` could not be started", 1),
        (r#"{"match": "inside", "start_error": "refused"}"#, Prepare, Infrastructure, "refused", 2),
        (r#"{"match": "outside", "wait": {"exit": 5}, "stderr": "denied"}"#, Prepare, ExitCode, "`web-prepare2`: exit code 5: denied", 1),
        (r#"{"match": "outside", "create_error": "no group"}"#, Prepare, Infrastructure, "no group", 2),
        (r#"{"match": "outside", "remove_error": "busy"}"#, Prepare, Infrastructure, "busy", 2),
        (r#"{"match": "serve", "remove_error": "busy", "wait": {"hang": true}}"#, Teardown, Infrastructure, "busy", 2),
        (
            r#"{"match": "look", "wait": {"exit": 7}, "stderr": "no route"}, {"match": "serve", "stdout": "hi", "wait": {"hang": true}}"#,
            Services,
            Timeout,
            "`web` is not ready within 5ms: `look` ended with exit code 7: no route; it said: hi",
            1,
        ),
        (r#"{"match": "inside", "wait": {"hang": true}}"#, Prepare, Timeout, "`web`: `inside`: not done within 0.02 s", 1),
        (r#"{"match": "outside", "wait": {"hang": true}}"#, Prepare, Timeout, "not done within 0.02 s", 1),
    ];
    for (rule, phase, kind, reason, tries) in cases {
        let mut text = SERVED.to_owned();
        if rule.contains("look") {
            text = text.replace("timeout: 5s}\n    prepare", "timeout: 5ms}\n    prepare");
        }
        if *kind == Timeout {
            text = text.replace(
                "[inside, {command: outside, on: host}]",
                "[{command: inside, timeout: 20ms}, {command: outside, on: host, timeout: 20ms}]",
            );
        }
        let bench = Bench::new(&text, &script(rule));
        assert_eq!(bench.run().await.expect(rule), Ended { failed: 2, interrupted: false }, "{rule}");
        let rows = bench.rows();
        assert_eq!(rows.len(), 2 * tries, "{rule}");
        let failure = rows[0].failure.as_ref().expect("failure");
        assert_eq!((failure.phase, failure.kind), (*phase, *kind), "{rule}: {}", failure.reason);
        assert!(failure.reason.contains(reason), "{rule}: {}", failure.reason);
        assert!(rows.iter().all(|row| row.outcome == Outcome::Failed && row.metrics.is_empty()), "{rule}");
        bench.nothing_is_left(rule);
        assert!(matches!(bench.events().last(), Some(Event::RunFinished { .. })), "{rule}");
    }
}

#[tokio::test]
async fn all_services_together_have_a_limit_and_who_is_late_is_named() {
    let text = "
services:
  slow: {image: x, command: serve slow, ready: {exec: look, interval: 1ms}}
  quick: {image: x, command: serve quick}
  after: {image: x, command: serve after, depends_on: [slow]}
workload: {image: x, command: work}
limits: {services: 30ms}
design: {blocks: 1}
";
    let bench = Bench::new(text, &script(r#"{"match": "look", "wait": {"exit": 1}}"#));
    assert_eq!(bench.run().await.expect("run"), Ended { failed: 2, interrupted: false });
    let failure = bench.rows()[0].failure.clone().expect("failure");
    assert_eq!((failure.phase, failure.kind), (Phase::Services, FailureKind::Timeout));
    assert_eq!(failure.reason, "not ready within 30ms (`limits.services`): slow, after");
    assert_eq!(bench.rows().len(), 2, "a service that takes its time is no fault of the engine");
    bench.nothing_is_left("late");
}

/// The service of a trial, ended at some time: what the rows say.
#[tokio::test]
async fn a_service_must_last_until_the_window_is_closed() {
    let ends = r#"{"match": "serve", "wait": {"hang": true, "exit": 9}, "stderr": "worker died\n"}"#;
    for (after, phase) in [("create workload", Some(Phase::Services)), ("start workload", Some(Phase::Measure)), ("exit workload", None)] {
        let mut bench = Bench::new(SERVED, &script(ends));
        bench.changes.ends_after = Some(("web", after));
        assert_eq!(bench.run().await.expect(after).failed, if phase.is_some() { 2 } else { 0 }, "{after}");
        let rows = bench.rows();
        assert_eq!(rows.len(), 2, "{after}");
        for row in &rows {
            assert_eq!(row.failure.as_ref().map(|failure| failure.phase), phase, "{after}");
            if let Some(failure) = &row.failure {
                let expected = (FailureKind::ExitCode, "`web` ended with exit code 9: worker died");
                assert_eq!((failure.kind, failure.reason.as_str()), expected, "{after}");
            }
        }
        bench.nothing_is_left(after);
    }
}

#[tokio::test]
async fn one_that_is_waited_for_must_end_well() {
    let text = "
services:
  init: {image: x, command: migrate}
  web: {image: x, command: serve web, depends_on: {init: {condition: service_completed_successfully}}}
workload: {image: x, command: work}
design: {blocks: 1}
";
    let bench = Bench::new(text, &script(r#"{"match": "migrate", "wait": {"exit": 2}, "stderr": "locked"}"#));
    assert_eq!(bench.run().await.expect("run").failed, 2);
    let failure = bench.rows()[0].failure.clone().expect("failure");
    assert_eq!((failure.phase, failure.kind), (Phase::Services, FailureKind::ExitCode));
    assert_eq!(failure.reason, "`init` ended with exit code 2: locked");
    assert!(!bench.fake.calls().iter().any(|call| call.ends_with("/web")), "what waits for it never began");
    bench.nothing_is_left("init");
}

#[tokio::test]
async fn what_services_said_is_kept_of_failed_trials_only() {
    let said = |rows: &[TrialRow]| -> Vec<(String, Option<String>)> {
        rows[0].outputs.iter().map(|output| (format!("{} {}", output.unit, output.stream), output.text.clone())).collect()
    };
    let serves = r#"{"match": "serve", "wait": {"hang": true}, "stdout": "served\n"}"#;
    let bench = Bench::new(SERVED, &script(serves));
    bench.run().await.expect("run");
    assert_eq!(said(&bench.rows()), []);
    let bench = Bench::new(SERVED, &script(&format!(r#"{serves}, {{"match": "work", "wait": {{"exit": 1}}, "stderr": "no"}}"#)));
    bench.run().await.expect("run");
    let expected = [("workload stderr".to_owned(), Some("no".to_owned())), ("web stdout".to_owned(), Some("served\n".to_owned()))];
    assert_eq!(said(&bench.rows()), expected);
}

#[tokio::test]
async fn cancelled_while_services_rise_or_fall_a_trial_is_no_row_unless_it_was_measured() {
    // Which call of which number, what it is about, and how many rows there are.
    let table = [
        ("furnish", 1, "networks and volumes", 0),
        ("create", 1, "web", 0),
        ("start", 1, "web", 0),
        ("inspect", 1, "web", 0),
        ("exec", 1, "the look", 0),
        ("exec", 2, "the step inside", 0),
        ("create", 2, "the step on the host", 0),
        ("start", 2, "the step on the host", 0),
        ("create", 3, "the workload", 0),
        ("output", 1, "the workload's output", 1),
        ("remove", 2, "teardown after the step's own removal", 1),
        ("clear", 1, "networks and volumes", 1),
    ];
    for (call, number, what, rows) in table {
        let mut bench = Bench::new(SERVED, &script(""));
        bench.changes.cancel_at = Some((call, number));
        let ended = bench.run().await.expect(call);
        assert_eq!(ended, Ended { failed: 0, interrupted: true }, "{call} {number}: {what}");
        assert_eq!(bench.failures(), vec![None; rows], "{call} {number}: {what}");
        bench.nothing_is_left(what);
    }
}

#[tokio::test]
async fn with_keep_services_and_networks_go_and_the_volumes_of_an_ended_container_stay() {
    let mut bench = Bench::new(SERVED, &script(""));
    bench.job.keep = true;
    crate::alive::hold(&bench.job.run);
    assert_eq!(bench.run().await.expect("run").failed, 0);
    let run = &bench.job.run;
    let kept = |trial: &str| [format!("shakedown-{run}-{trial}-vol-data")];
    let expected: Vec<String> =
        ["b1p1/workload", "b1p2/workload"].map(str::to_owned).into_iter().chain(kept("b1p1")).chain(kept("b1p2")).collect();
    assert_eq!(bench.fake.live(), expected);
}

#[tokio::test]
async fn what_is_known_only_while_it_runs_is_filled_in_everywhere() {
    let text = "
networks: {front: {}}
services:
  web:
    image: x
    command: serve web
    networks: [front]
    ports: ['127.0.0.1:5000:80']
    prepare: ['fill {{ web.ip }}']
  side: {image: x, command: 'serve {{ web.ip }}', network_mode: 'service:web'}
workload:
  image: x
  command: 'get http://{{ web.host }}:{{ web.port }}/ {{ web.name }}'
  environment: {DB: '{{ web.ip }}:80'}
  files: [{target: /conf, content: 'upstream {{ web.ip }}'}]
  prepare: ['ping {{ web.ip }}']
  warmup: {command: 'warm {{ web.port }}'}
design: {blocks: 1}
";
    let bench = Bench::new(text, &script(r#"{"match": "serve web", "standing": {"addresses": ["198.51.100.7"]}, "wait": {"hang": true}}"#));
    assert_eq!(bench.run().await.expect("run").failed, 0);
    let container = format!("shakedown-{}-b1p1-web", bench.job.run);
    let made = |unit: &str| bench.notes.made(&format!("b1p1/{unit}"));
    assert_eq!(made("workload").command, ["get".to_owned(), "http://127.0.0.1:5000/".to_owned(), container.clone()]);
    assert_eq!(made("workload").environment, [("DB".to_owned(), "198.51.100.7:80".to_owned())]);
    assert_eq!(made("workload").files[0].content, "upstream 198.51.100.7");
    assert_eq!(made("workload-prepare1").command, ["ping", "198.51.100.7"]);
    assert_eq!(made("workload-warmup").command, ["warm", "5000"]);
    assert_eq!(made("side").command, ["serve", "198.51.100.7"]);
    assert_eq!(made("side").container.network_mode, Some(format!("container:{container}")));
    assert_eq!(made("web").container.networks, [format!("shakedown-{}-b1p1-net-front", bench.job.run)]);
    assert!(bench.fake.calls().contains(&"exec b1p1/web fill 198.51.100.7".to_owned()));
}

#[tokio::test]
async fn services_have_counters_of_their_own_below_their_names() {
    let groups = tempfile::tempdir().expect("folder");
    let text = "
services: {web: {image: x, command: serve web}}
workload: {image: x, command: work, parse: {regex: {requests: 'requests: (\\d+)'}}}
metrics:
  web.cpu_seconds: {better: lower}
  cost: {expr: web.cpu_seconds / requests, unit: s}
  proxy_cost: {expr: docker_proxy_cpu_seconds / requests, unit: s}
design: {blocks: 1}
";
    let mut bench = Bench::new(text, &script(r#"{"match": "work", "stdout": "requests: 8"}"#));
    bench.changes.counters = Some(groups.path().to_owned());
    bench.job.layout = CgroupLayout::from_mountinfo(&format!("1 0 0:1 / {} rw - cgroup2 cgroup2 rw", groups.path().display()));
    assert_eq!(bench.run().await.expect("run").failed, 0);
    for row in bench.rows() {
        let metrics: Vec<(&str, f64)> = row.metrics.iter().map(|metric| (metric.name.as_str(), metric.value)).collect();
        let expected = [
            ("requests", 8.0),
            ("wall", 0.1),
            ("cpu_seconds", 2.0),
            ("memory_peak", 4096.0),
            ("web.cpu_seconds", 2.0),
            ("web.memory_peak", 4096.0),
        ];
        assert_eq!(metrics, expected);
    }
    let store = Store::new(bench.folder.path(), "e");
    let results = shakedown::record::results(&store, "e", shakedown::record::load(&store).expect("load")).expect("results");
    assert_eq!(results.rows.len(), 2);
    for row in &results.rows {
        let of = |name: &str| row.row.metrics.iter().find(|metric| metric.name == name).map(|metric| metric.value);
        assert_eq!((of("cost"), of("proxy_cost")), (Some(0.25), None), "what was not measured is absent");
    }
}
