//! Faults of a daemon while a stack is made, looked at and cleared: nothing is left, nothing is taken for something else.

use crate::docker_mock::Reply::{self, Hang, Json, Reset, Stream, Torn, Upgrade};
use crate::docker_mock::{CREATE, CREATED, GONE, Line, Mock, create, name, spec, text, unit};
use shakedown::engine::{Engine, EngineError, Furniture};
use shakedown::model::spec::FileSpec;
use shakedown::model::stack::{NetworkSpec, VolumeSpec};
use std::time::Duration;

fn networks() -> [NetworkSpec; 1] {
    [NetworkSpec { name: "n".into(), driver: "bridge".into(), driver_opts: Vec::new(), subnet: None, internal: false, ipv6: false }]
}

fn volumes() -> [VolumeSpec; 1] {
    [VolumeSpec { name: "v".into(), tmpfs_bytes: None, keep: false, from: None }]
}

const NO_NETWORKS: Line = ("GET", "/networks", Json(200, "[]"));
const NO_VOLUMES: Line = ("GET", "/volumes", Json(200, r#"{"Volumes":[],"Warnings":null}"#));
const BOOM: Reply = Json(500, r#"{"message":"boom"}"#);

#[tokio::test]
async fn a_network_that_is_refused_is_told_and_ends_the_furnishing() {
    let (networks, volumes) = (networks(), volumes());
    let furniture = Furniture { networks: &networks, volumes: &volumes };
    let (mock, engine) = Mock::engine(&[NO_NETWORKS, NO_VOLUMES, ("POST", "/networks/create", BOOM)]).await;
    let error = engine.furnish(&name(), furniture).await.expect_err("a fault");
    assert!(matches!(error, EngineError::Call { .. }));
    assert_eq!(error.to_string(), "create network `shakedown-r-t-net-n`: the engine answered 500: boom");
    assert!(!mock.seen().iter().any(|request| request.ends_with("/volumes/create")), "{:?}", mock.seen());
    engine.clear(&name(), furniture).await.expect("nothing is left");
}

#[tokio::test]
async fn a_driver_that_the_engine_lacks_is_unsupported_and_nothing_is_made() {
    let info = Json(200, r#"{"NCPU":4,"Plugins":{"Volume":["local"],"Network":["host","macvlan"]}}"#);
    let (mock, engine) = Mock::engine(&[("GET", "/info", info)]).await;
    let networks = networks();
    let error = engine.furnish(&name(), Furniture { networks: &networks, volumes: &[] }).await.expect_err("no driver");
    assert_eq!(error.to_string(), "network `n`: the engine has no driver `bridge`; use one of host, macvlan");
    assert!(matches!(error, EngineError::Unsupported { .. }) && mock.seen().is_empty());
}

#[tokio::test]
async fn a_volume_of_somebody_else_is_not_used() {
    let volumes = volumes();
    let furniture = Furniture { networks: &[], volumes: &volumes };
    for labels in ["null", r#"{"shakedown.run":"other"}"#] {
        let foreign = format!(
            r#"{{"Name":"shakedown-r-t-vol-v","Driver":"local","Mountpoint":"/","Scope":"local","Labels":{labels},"Options":null}}"#
        );
        let (mock, engine) = Mock::engine(&[NO_VOLUMES, ("POST", "/volumes/create", Json(201, foreign.leak()))]).await;
        assert!(text(engine.furnish(&name(), furniture).await).contains("not ours"), "{labels}");
        engine.clear(&name(), furniture).await.expect("clear");
        assert!(!mock.seen().iter().any(|request| request.starts_with("DELETE")), "{:?}", mock.seen());
    }
}

#[tokio::test]
async fn clearing_is_tried_again_takes_only_the_trial_s_and_minds_nothing_that_is_gone() {
    let (networks, volumes) = (networks(), volumes());
    let furniture = Furniture { networks: &networks, volumes: &volumes };
    // As from an engine that does not filter.
    let list = Json(
        200,
        r#"[{"Id":"n1","Name":"ours","Labels":{"shakedown.run":"r","shakedown.trial":"t"}},{"Id":"n2","Labels":{"shakedown.run":"r"}},
            {"Id":"n3","Labels":{"shakedown.run":"x","shakedown.trial":"t"}},{"Id":"n4","Labels":{}}]"#,
    );
    let held = Json(
        200,
        r#"{"Volumes":[{"Name":"v1","Driver":"local","Mountpoint":"/","Scope":"local","Labels":{"shakedown.run":"r","shakedown.trial":"t"},"Options":null},
            {"Name":"v2","Driver":"local","Mountpoint":"/","Scope":"local","Labels":{"shakedown.run":"r"},"Options":null}],"Warnings":null}"#,
    );
    let active = Json(403, r#"{"message":"error while removing network: network has active endpoints"}"#);
    let script = [
        ("GET", "/networks", list),
        ("GET", "/volumes", held),
        ("DELETE", "/networks/n1", active),
        ("DELETE", "/networks/n1", Json(204, "")),
        ("DELETE", "/volumes/v1", GONE),
    ];
    let (mock, engine) = Mock::engine(&script).await;
    engine.clear(&name(), furniture).await.expect("clear");
    let mut deleted = mock.seen();
    deleted.retain(|request| request.starts_with("DELETE"));
    assert_eq!(deleted, ["DELETE /v1.43/networks/n1", "DELETE /v1.43/networks/n1", "DELETE /v1.43/volumes/v1"]);

    // What stays is told, and does not keep the rest.
    let (mock, engine) = Mock::engine(&[script.as_slice(), &[("DELETE", "/networks/n1", active)]].concat()[..3]).await;
    let error = text(engine.clear(&name(), furniture).await);
    assert!(error.starts_with("remove network `ours`") && error.contains("active endpoints"), "{error}");
    assert!(mock.seen().contains(&"DELETE /v1.43/volumes/v1".to_owned()), "{:?}", mock.seen());
}

#[tokio::test]
async fn a_container_that_cannot_join_its_networks_is_removed() {
    let script = [("POST", CREATE, CREATED), ("POST", "/networks/b/connect", BOOM), ("DELETE", "/containers/id1", Json(204, ""))];
    let (mock, engine) = Mock::engine(&script).await;
    let mut spec = spec();
    spec.container.networks = vec!["a".into(), "b".into(), "c".into()];
    let error = text(create(&engine, &spec).await);
    assert_eq!(error, "connect container `shakedown-r-t-u` to network `b`: the engine answered 500: boom");
    assert_eq!(mock.seen().last().map(String::as_str), Some("DELETE /v1.43/containers/id1"));
}

#[tokio::test]
async fn files_that_are_refused_leave_no_container_and_tell_the_engine_s_words() {
    let folder = tempfile::tempdir().expect("folder");
    std::fs::write(folder.path().join("large"), vec![0; 8 << 20]).expect("file");
    let full = Json(500, r#"{"message":"no space left on device"}"#);
    let script = [("POST", CREATE, CREATED), ("PUT", "/containers/id1/archive", full), ("DELETE", "/containers/id1", Json(204, ""))];
    for source in [None, Some(folder.path().to_path_buf())] {
        let (mock, engine) = Mock::engine(&script).await;
        let mut spec = spec();
        spec.files = vec![FileSpec { source: source.clone(), ..FileSpec::text("/x", "", 0o644) }];
        let error = text(create(&engine, &spec).await);
        // An engine that hangs up in the middle may not be heard.
        assert!(error.starts_with("place files in the container: "), "{error}");
        assert!(source.is_some() || error.ends_with("no space left on device"), "{error}");
        assert_eq!(mock.seen().last().map(String::as_str), Some("DELETE /v1.43/containers/id1"));
    }
}

#[tokio::test]
async fn a_look_that_fails_is_an_error() {
    for reply in [GONE, BOOM, Reset, Json(200, "[]")] {
        let (_mock, engine) = Mock::engine(&[("GET", "/containers/id1/json", reply)]).await;
        assert!(text(engine.inspect(&unit()).await).starts_with("look at container `id1`: "), "{reply:?}");
    }
    let (_mock, engine) = Mock::engine(&[("GET", "/containers/id1/json", Hang)]).await;
    assert!(tokio::time::timeout(Duration::from_millis(50), engine.inspect(&unit())).await.is_err());
    let (_mock, engine) = Mock::engine(&[("GET", "/containers/id1/json", Json(200, "{}"))]).await;
    assert_eq!(engine.inspect(&unit()).await.expect("an engine that tells nothing"), shakedown::engine::Standing::default());
}

/// A command whose start is answered by `start`, and whose inspect by `state`.
async fn executed(start: Reply, state: &'static str) -> Result<(i64, Vec<u8>), EngineError> {
    let script = [
        ("POST", "/containers/id1/exec", Json(201, r#"{"Id":"e1"}"#)),
        ("POST", "/exec/e1/start", start),
        ("GET", "/exec/e1/json", Json(200, r#"{"Running":true,"ExitCode":null}"#)),
        ("GET", "/exec/e1/json", Json(200, state)),
    ];
    let (_mock, engine) = Mock::engine(&script).await;
    let done = engine.exec(&unit(), &["prog".to_owned(), "arg".to_owned()]).await?;
    Ok((done.code, done.output.stdout.bytes))
}

#[tokio::test]
async fn a_command_s_end_is_known_or_an_error() {
    const ENDED: &str = r#"{"Running":false,"ExitCode":3}"#;
    let whole = Upgrade(b"\x01\0\0\0\0\0\0\x04out\n");
    assert_eq!(executed(whole, ENDED).await.expect("exec"), (3, b"out\n".to_vec()));
    let cannot = Upgrade(b"\x01\0\0\0\0\0\0\x4fOCI runtime exec failed: exec failed: exec: \"prog\": executable file not found\r\n");
    assert!(
        matches!(executed(cannot, r#"{"Running":false,"ExitCode":126}"#).await, Err(EngineError::NotStarted { program, .. }) if program == "prog")
    );
    let stopped = Upgrade(b"\x01\0\0\0\0\0\0\x4aOCI runtime exec failed: exec failed: cannot exec in a stopped container\r\n");
    assert!(matches!(executed(stopped, r#"{"Running":false,"ExitCode":126}"#).await, Err(EngineError::Call { .. })));
    assert!(executed(cannot, ENDED).await.is_ok(), "a program that writes these words has run");
    let early = Json(400, r#"{"message":"exec: \"prog\": executable file not found in $PATH"}"#);
    assert!(matches!(executed(early, ENDED).await, Err(EngineError::NotStarted { .. })));
    for fault in [Upgrade(b"\x01\0\0\0\0\0\0\x09out\n"), Reset, Torn(b""), Stream(b""), BOOM] {
        let error = text(executed(fault, ENDED).await);
        assert!(error.starts_with("run `prog` in container `id1`: "), "{fault:?}: {error}");
    }
    let error = text(executed(whole, r#"{"Running":false}"#).await);
    assert!(error.contains("tells no exit code"), "{error}");
}
