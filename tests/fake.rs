//! The scripted engine does what its script says, and remembers what was asked of it.

use shakedown::engine::fake::FakeEngine;
use shakedown::engine::{Created, Engine, EngineError, Furniture, UnitName};
use shakedown::model::spec::{ImageSpec, Place, UnitSpec};
use shakedown::model::stack::{MountSource, MountSpec, NetworkSpec, PortSpec, VolumeSpec};
use std::path::Path;

fn spec(command: &str) -> UnitSpec {
    UnitSpec { command: command.split(' ').map(str::to_owned).collect(), ..UnitSpec::bare(Place::Host) }
}

fn name(trial: &str) -> UnitName {
    UnitName { run: "r1".into(), experiment: "e".into(), trial: trial.into(), unit: "a".into() }
}

async fn create(engine: &FakeEngine, trial: &str, command: &str) -> Result<Created, EngineError> {
    engine.create(&name(trial), &spec(command), None).await
}

#[tokio::test]
async fn each_step_can_fail_and_a_rule_can_be_used_up() {
    let script = r#"[
        {"match": "flaky", "times": 1, "create_error": "no space"},
        {"match": "bad start", "start_error": "refused"},
        {"match": "no program", "not_started": "no such file"},
        {"match": "lost", "wait": {"error": "connection closed"}},
        {"match": "stays", "remove_error": "busy"},
        {"match": "privileged", "unsupported": "not here"},
        {"match": "nginx", "image_error": "no such image"},
        {"match": "slow", "wait": {"wall_ms": 1500.5, "exit": 2, "oom": true}, "stdout": "x"}
    ]"#;
    let engine = FakeEngine::from_json(script).expect("script");
    let facts = engine.facts().await.expect("facts");
    assert_eq!(engine.unsupported(&spec("privileged x"), &facts), ["not here"]);
    assert!(engine.image(&ImageSpec::Reference("nginx:1".into()), Path::new(".")).await.is_err());
    assert!(engine.image(&ImageSpec::Reference("redis".into()), Path::new(".")).await.is_ok());
    assert!(create(&engine, "t1", "flaky thing").await.is_err());
    let second = create(&engine, "t1", "flaky thing").await.expect("the rule is used up");
    engine.remove(&second).await.expect("remove");
    let bad = create(&engine, "t2", "bad start").await.expect("create");
    assert!(matches!(engine.start(&bad).await, Err(EngineError::Call { .. })));
    let none = create(&engine, "t3", "no program").await.expect("create");
    assert!(matches!(engine.start(&none).await, Err(EngineError::NotStarted { program, .. }) if program == "no"));
    let lost = create(&engine, "t4", "lost").await.expect("create");
    assert!(engine.wait(&lost).await.is_err(), "not started");
    engine.start(&lost).await.expect("start");
    assert!(engine.wait(&lost).await.is_err());
    let slow = create(&engine, "t5", "slow").await.expect("create");
    engine.start(&slow).await.expect("start");
    engine.wait(&slow).await.expect("wait");
    let exit = engine.exit(&slow).await.expect("exit");
    assert_eq!((exit.code, exit.oom, exit.finished_ns - exit.started_ns), (2, true, 1_500_500_000));
    assert_eq!(engine.output(&slow).await.expect("output").stdout.bytes, b"x");
    let stays = create(&engine, "t6", "stays").await.expect("create");
    assert!(engine.remove(&stays).await.is_err());
    assert_eq!(engine.live(), ["t2/a", "t3/a", "t4/a", "t5/a", "t6/a"]);
    assert_eq!(engine.clone().calls().last().map(String::as_str), Some("remove t6/a"));
}

#[tokio::test]
async fn a_hanging_unit_ends_when_it_is_removed() {
    let engine = FakeEngine::from_json(r#"[{"match": "", "wait": {"hang": true}}]"#).expect("script");
    let unit = create(&engine, "t1", "anything").await.expect("create");
    engine.start(&unit).await.expect("start");
    let (waited, removed) = tokio::join!(engine.wait(&unit), engine.remove(&unit));
    assert!(waited.is_err());
    removed.expect("remove");
    assert_eq!(engine.live(), Vec::<String>::new());
}

#[tokio::test]
async fn furniture_is_found_by_units_and_cleared_by_trials() {
    let script = r#"[{"match": "back", "times": 1, "furnish_error": "no space"}, {"match": "stuck", "clear_error": "in use"}]"#;
    let engine = FakeEngine::from_json(script).expect("script");
    let network = |name: &str| NetworkSpec {
        name: name.into(),
        driver: "bridge".into(),
        driver_opts: Vec::new(),
        subnet: None,
        internal: false,
        ipv6: false,
    };
    let (networks, stuck) = ([network("front"), network("back")], [network("stuck")]);
    let volume = |name: &str, keep| VolumeSpec { name: name.into(), tmpfs_bytes: None, keep, from: None };
    let volumes = [volume("data", false), volume("cache", true)];
    let furniture = Furniture { networks: &networks, volumes: &volumes };
    let name = name("t1");
    let mut unit = UnitSpec { place: Place::Container, ..spec("serve") };
    unit.container.networks = vec![name.network("front")];
    unit.volumes = vec![MountSpec { source: MountSource::Volume(name.volume("data", false)), target: "/data".into(), read_only: false }];
    let error = engine.create(&name, &unit, None).await.expect_err("nothing is there").to_string();
    assert_eq!(error, "create `t1/a`: `shakedown-r1-t1-net-front` is not there");
    assert_eq!(engine.furnish(&name, furniture).await.expect_err("once").to_string(), "furnish `t1`: no space");
    engine.furnish(&name, furniture).await.expect("furnish");
    let made = engine.create(&name, &unit, None).await.expect("create");
    assert_eq!(
        engine.live(),
        ["t1/a", "shakedown-r1-t1-net-back", "shakedown-r1-t1-net-front", "shakedown-r1-t1-vol-data", "shakedown-r1-vol-cache"]
    );
    engine.remove(&made).await.expect("remove");
    engine.clear(&name, furniture).await.expect("clear");
    assert_eq!(engine.live(), ["shakedown-r1-vol-cache"]);
    assert_eq!(engine.sweep(&["r1".to_owned()]).await.expect("sweep"), Vec::<String>::new());
    assert_eq!(engine.sweep(&[]).await.expect("sweep"), ["shakedown-r1-vol-cache"]);
    assert!(engine.clear(&name, Furniture { networks: &stuck, volumes: &[] }).await.is_err());
    assert!(engine.calls().contains(&"furnish t1 front back data cache".to_owned()), "{:?}", engine.calls());
}

#[tokio::test]
async fn a_unit_is_seen_as_it_was_asked_for_or_as_the_script_says() {
    let script = r#"[{"match": "liar", "standing": {"addresses": ["10.0.0.9"], "pid": 7, "settings": {"network_mode": "host", "mount /m": null}}},
        {"match": "broken", "inspect_error": "lost"}]"#;
    let engine = FakeEngine::from_json(script).expect("script");
    let port = |host_port| PortSpec { host_ip: None, host_port, port: 80, protocol: "tcp".into() };
    let seen = async |trial: &str, command: &str| {
        let mut unit = spec(command);
        (unit.container.network_mode, unit.container.ports) = (Some("bridge".into()), vec![port(Some(8080)), port(None)]);
        unit.volumes = vec![MountSpec { source: MountSource::Tmpfs(None), target: "/m".into(), read_only: false }];
        let made = engine.create(&name(trial), &unit, None).await.expect("create");
        engine.inspect(&made).await
    };
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let honest = seen("t1", "honest").await.expect("inspect");
    assert_eq!((honest.addresses[0].to_string().as_str(), honest.pid), ("192.0.2.1", None));
    assert_eq!(honest.ports, [port(Some(8080)), port(Some(49_153))]);
    assert_eq!(honest.settings, [pair("mount /m", "tmpfs"), pair("network_mode", "bridge")]);
    let liar = seen("t2", "liar").await.expect("inspect");
    assert_eq!(
        (liar.addresses[0].to_string().as_str(), liar.pid, liar.settings),
        ("10.0.0.9", Some(7), vec![pair("network_mode", "host")])
    );
    assert_eq!(seen("t3", "broken").await.expect_err("lost").to_string(), "inspect `t3/a`: lost");
}

#[tokio::test]
async fn commands_inside_a_unit_follow_the_rules() {
    let script = r#"[{"match": "ping", "times": 1, "wait": {"exit": 1}, "stderr": "refused"}, {"match": "ping", "stdout": "pong"},
        {"match": "nope", "not_started": "no such file"}, {"match": "lost", "wait": {"error": "gone"}}, {"match": "stays", "wait": {"hang": true}}]"#;
    let engine = FakeEngine::from_json(script).expect("script");
    let unit = create(&engine, "t1", "serve").await.expect("create");
    let exec = async |command: &str| engine.exec(&unit, &spec(command).command).await;
    assert!(exec("ping").await.is_err(), "it was not started");
    engine.start(&unit).await.expect("start");
    let told = |done: shakedown::engine::Executed| (done.code, done.output.stdout.bytes, done.output.stderr.bytes);
    assert_eq!(told(exec("redis ping").await.expect("exec")), (1, Vec::new(), b"refused".to_vec()));
    assert_eq!(told(exec("redis ping").await.expect("exec")), (0, b"pong".to_vec(), Vec::new()));
    assert!(matches!(exec("nope x").await, Err(EngineError::NotStarted { program, .. }) if program == "nope"));
    assert!(matches!(exec("lost").await, Err(EngineError::Call { .. })));
    let (stays, removed) = tokio::join!(exec("stays"), engine.remove(&unit));
    removed.expect("remove");
    assert!(stays.is_err());
    assert!(engine.calls().contains(&"exec t1/a redis ping".to_owned()), "{:?}", engine.calls());
}

#[test]
fn a_script_with_a_slip_is_refused() {
    for script in ["{}", r#"[{"mtach": "x"}]"#, r#"[{"wait": {"exti": 1}}]"#] {
        assert!(FakeEngine::from_json(script).is_err(), "{script}");
    }
}
