//! The scripted engine does what its script says, and remembers what was asked of it.

use shakedown::engine::fake::FakeEngine;
use shakedown::engine::{Created, Engine, EngineError, UnitName};
use shakedown::model::spec::{ImageSpec, Place, UnitSpec};
use std::path::Path;

fn spec(command: &str) -> UnitSpec {
    UnitSpec { command: command.split(' ').map(str::to_owned).collect(), ..UnitSpec::bare(Place::Host) }
}

async fn create(engine: &FakeEngine, trial: &str, command: &str) -> Result<Created, EngineError> {
    let name = UnitName { run: "r1".into(), experiment: "e".into(), trial: trial.into(), unit: "a".into() };
    engine.create(&name, &spec(command), None).await
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

#[test]
fn a_script_with_a_slip_is_refused() {
    for script in ["{}", r#"[{"mtach": "x"}]"#, r#"[{"wait": {"exti": 1}}]"#] {
        assert!(FakeEngine::from_json(script).is_err(), "{script}");
    }
}
