//! Faults of a daemon: a mock engine on a unix socket answers each request as a script says.

use shakedown::engine::control::Control;
use shakedown::engine::docker::{Docker, Env};
use shakedown::engine::grouped::Grouped;
use shakedown::engine::{Created, Engine, EngineError, Image, UnitName};
use shakedown::model::cgroup::CgroupLayout;
use shakedown::model::spec::{ImageSpec, Place, UnitSpec};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};

/// How the mock answers a request.
#[derive(Debug, Clone, Copy)]
enum Reply {
    /// A status and a JSON body.
    Json(u16, &'static str),
    /// A chunked stream that ends as it should.
    Stream(&'static [u8]),
    /// A chunked stream whose connection breaks off before its end.
    Torn(&'static [u8]),
    /// The connection is closed without an answer.
    Reset,
    /// No answer ever.
    Hang,
}
use Reply::{Hang, Json, Reset, Stream, Torn};

/// A line of the script: method, end of the path without query, reply. A line is used up unless it is the last that fits.
type Line = (&'static str, &'static str, Reply);

struct Mock {
    folder: tempfile::TempDir,
    seen: Arc<Mutex<Vec<String>>>,
    server: tokio::task::JoinHandle<()>,
}

impl Drop for Mock {
    fn drop(&mut self) {
        self.server.abort();
    }
}

const VERSION: Line = ("GET", "/version", Json(200, r#"{"Version":"9","ApiVersion":"1.43","MinAPIVersion":"1.12","Arch":"amd64"}"#));
const INFO: Line =
    ("GET", "/info", Json(200, r#"{"NCPU":4,"MemTotal":1024,"Driver":"overlay2","CgroupDriver":"cgroupfs","DefaultRuntime":"runc"}"#));
const GONE: Reply = Json(404, r#"{"message":"No such container"}"#);

impl Mock {
    fn new(script: &[Line]) -> Self {
        let folder = tempfile::tempdir().expect("folder");
        let listener = UnixListener::bind(folder.path().join("s")).expect("socket");
        let lines = Arc::new(Mutex::new([script, &[VERSION, INFO]].concat()));
        let seen = Arc::new(Mutex::new(Vec::new()));
        let told = Arc::clone(&seen);
        let server = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&lines), Arc::clone(&told)));
            }
        });
        Self { folder, seen, server }
    }

    async fn connect(&self) -> Result<Docker, EngineError> {
        let env = Env {
            vars: [].into(),
            home: None,
            read: Box::new(|_| Err(std::io::ErrorKind::NotFound.into())),
            is_socket: Box::new(|_| false),
        };
        Docker::connect(Some(&format!("unix://{}/s", self.folder.path().display())), &env).await
    }

    async fn engine(script: &[Line]) -> (Self, Docker) {
        let mock = Self::new(script);
        let engine = mock.connect().await.expect("connect");
        (mock, engine)
    }

    /// Requests so far, as `METHOD /path`, without those of connecting.
    fn seen(&self) -> Vec<String> {
        self.seen.lock().expect("requests").iter().skip(2).cloned().collect()
    }
}

/// Answers one request; the client opens a connection for each.
async fn serve(mut stream: UnixStream, lines: Arc<Mutex<Vec<Line>>>, seen: Arc<Mutex<Vec<String>>>) {
    let Some((method, path)) = request(&mut stream).await else { return };
    let reply = {
        let mut lines = lines.lock().expect("script");
        let fits = |line: &Line| line.0 == method && path.ends_with(line.1);
        let at = lines.iter().position(fits);
        let more = lines.iter().filter(|line| fits(line)).count() > 1;
        at.map_or(Json(404, r#"{"message":"not in the script"}"#), |at| if more { lines.remove(at).2 } else { lines[at].2 })
    };
    seen.lock().expect("requests").push(format!("{method} {path}"));
    let chunk = |body: &[u8]| [format!("{:x}\r\n", body.len()).as_bytes(), body, b"\r\n"].concat();
    const STREAM: &[u8] = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let bytes = match reply {
        Json(status, body) => format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\n\r\n{body}", body.len()).into_bytes(),
        Stream(body) => [STREAM, &chunk(body), b"0\r\n\r\n"].concat(),
        Torn(body) => [STREAM, &chunk(body), b"40\r\nhalf"].concat(),
        Reset => return,
        Hang => return std::future::pending().await,
    };
    // A client that has gone away is no fault of the mock.
    drop(stream.write_all(&bytes).await);
    drop(stream.shutdown().await);
}

/// Reads a request with its body; method and path without query.
async fn request(stream: &mut UnixStream) -> Option<(String, String)> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break at + 4;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
    let length = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next()?.trim().parse().ok()).unwrap_or(0);
    while bytes.len() < end + length {
        stream.read_buf(&mut bytes).await.ok().filter(|read| *read > 0)?;
    }
    let text = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut words = text.split(' ');
    let (method, target) = (words.next()?, words.next()?);
    Some((method.to_owned(), target.split('?').next()?.to_owned()))
}

fn name() -> UnitName {
    UnitName { run: "r".into(), experiment: "e".into(), trial: "t".into(), unit: "u".into() }
}

fn spec() -> UnitSpec {
    UnitSpec { image: Some(ImageSpec::Reference("x".into())), command: vec!["prog".into()], ..UnitSpec::bare(Place::Container) }
}

async fn create(engine: &Docker, spec: &UnitSpec) -> Result<Created, EngineError> {
    engine.create(&name(), spec, Some(&Image { reference: "sha256:1".into(), digest: "sha256:1".into() })).await
}

fn text<T: std::fmt::Debug>(result: Result<T, EngineError>) -> String {
    result.expect_err("a fault").to_string()
}

const CREATE: &str = "/containers/create";
const CREATED: Reply = Json(201, r#"{"Id":"id1","Warnings":[]}"#);
const CONFLICT: Reply = Json(409, r#"{"message":"Conflict. The container name is already in use"}"#);
const BY_NAME: &str = "/containers/shakedown-r-t-u/json";

#[tokio::test]
async fn the_agreed_version_is_sent_and_recorded() {
    let (mock, engine) = Mock::engine(&[]).await;
    let facts = engine.facts().await.expect("facts");
    assert_eq!((facts.api.as_str(), facts.version.as_str(), facts.cpus, facts.found_by.as_str()), ("1.43", "9", 4, "engine host"));
    assert_eq!(*mock.seen.lock().expect("requests"), ["GET /version", "GET /v1.43/info"]);
}

#[tokio::test]
async fn versions_that_do_not_meet_say_which_side_to_update() {
    let old = Json(200, r#"{"ApiVersion":"1.40","MinAPIVersion":"1.12"}"#);
    let new = Json(200, r#"{"ApiVersion":"1.99","MinAPIVersion":"1.90"}"#);
    for (reply, ranges, side) in [(old, "1.12 to 1.40", "update the engine"), (new, "1.90 to 1.99", "update shakedown")] {
        let mock = Mock::new(&[("GET", "/version", reply)]);
        let error = text(mock.connect().await.map(|_| ()));
        assert!(error.contains(ranges) && error.contains("shakedown 1.41 to") && error.contains(side), "{error}");
    }
}

#[tokio::test]
async fn an_engine_that_resets_is_unreachable() {
    let mock = Mock::new(&[("GET", "/version", Reset)]);
    let error = mock.connect().await.map(|_| ()).expect_err("a fault");
    assert!(matches!(&error, EngineError::Unreachable { reason, .. } if reason.contains("is the daemon running?")), "{error}");
}

#[tokio::test]
async fn a_foreign_container_of_the_name_is_left_alone() {
    let foreign = Json(200, r#"{"Id":"theirs","Config":{"Labels":{"a":"b"}}}"#);
    let (mock, engine) = Mock::engine(&[("POST", CREATE, CONFLICT), ("GET", BY_NAME, foreign)]).await;
    let error = text(create(&engine, &spec()).await);
    assert!(error.contains("create container `shakedown-r-t-u`") && error.contains("not ours"), "{error}");
    assert!(!mock.seen().iter().any(|request| request.starts_with("DELETE")), "{:?}", mock.seen());
}

#[tokio::test]
async fn a_stale_container_of_ours_is_removed_and_the_name_used() {
    let stale = Json(200, r#"{"Id":"old","Config":{"Labels":{"shakedown.run":"r"}}}"#);
    let script = [
        ("POST", CREATE, CONFLICT),
        ("POST", CREATE, CREATED),
        ("GET", BY_NAME, stale),
        ("DELETE", "/containers/old", Json(204, "")),
        ("GET", "/containers/old/json", GONE),
    ];
    let (mock, engine) = Mock::engine(&script).await;
    let unit = create(&engine, &spec()).await.expect("created");
    assert_eq!((unit.id.as_str(), unit.leaf.as_str()), ("id1", "shakedown/r/t-u/id1"));
    assert!(mock.seen().contains(&"DELETE /v1.43/containers/old".to_owned()), "{:?}", mock.seen());
}

#[tokio::test]
async fn under_systemd_containers_stay_where_the_engine_puts_them() {
    let info = Json(200, r#"{"NCPU":4,"CgroupDriver":"systemd","DefaultRuntime":"runc"}"#);
    let (_mock, engine) = Mock::engine(&[("GET", "/info", info), ("POST", CREATE, CREATED)]).await;
    assert!(!engine.takes_our_groups());
    let unit = create(&engine, &spec()).await.expect("created");
    assert_eq!((unit.cgroup.as_str(), unit.leaf.as_str()), ("system.slice/docker-id1.scope", "system.slice/docker-id1.scope"));
    let (_mock, engine) = Mock::engine(&[]).await;
    assert!(engine.takes_our_groups());
}

#[tokio::test]
async fn a_name_that_stays_taken_is_tried_once_more_only() {
    let stale = Json(200, r#"{"Id":"old","Config":{"Labels":{"shakedown.run":"r"}}}"#);
    let (mock, engine) = Mock::engine(&[("POST", CREATE, CONFLICT), ("GET", BY_NAME, stale), ("DELETE", "/containers/old", GONE)]).await;
    assert!(text(create(&engine, &spec()).await).contains("409"));
    assert_eq!(mock.seen().iter().filter(|request| request.ends_with(CREATE)).count(), 2);
}

#[tokio::test]
async fn a_refused_create_tells_the_engine_s_words() {
    let (_mock, engine) = Mock::engine(&[("POST", CREATE, Json(500, r#"{"message":"no space left on device"}"#))]).await;
    let error = text(create(&engine, &spec()).await);
    assert_eq!(error, "create container `shakedown-r-t-u`: the engine answered 500: no space left on device");
}

#[tokio::test]
async fn a_limit_that_the_engine_drops_fails_and_leaves_nothing() {
    let dropped = Json(201, r#"{"Id":"id1","Warnings":["Your kernel does not support CPU shares. Shares discarded."]}"#);
    let script = [("POST", CREATE, dropped), ("DELETE", "/containers/id1", Json(204, "")), ("GET", "/containers/id1/json", GONE)];
    let (mock, engine) = Mock::engine(&script).await;
    assert!(matches!(create(&engine, &spec()).await, Err(EngineError::Unsupported { .. })));
    assert!(mock.seen().contains(&"DELETE /v1.43/containers/id1".to_owned()), "{:?}", mock.seen());
}

#[tokio::test]
async fn a_hung_engine_is_left_to_the_caller_s_limit() {
    let (_mock, engine) = Mock::engine(&[("POST", CREATE, Hang)]).await;
    assert!(tokio::time::timeout(Duration::from_millis(50), create(&engine, &spec())).await.is_err());
}

/// A unit whose start went well and whose wait is answered by `wait`, and whose inspect by `state`.
async fn waited(wait: Reply, state: &'static str) -> Result<shakedown::engine::Exit, EngineError> {
    let script = [
        ("POST", CREATE, CREATED),
        ("POST", "/containers/id1/wait", wait),
        ("POST", "/containers/id1/start", Json(204, "")),
        ("GET", "/containers/id1/json", Json(200, state)),
    ];
    let (_mock, engine) = Mock::engine(&script).await;
    let unit = create(&engine, &spec()).await.expect("created");
    engine.start(&unit).await.expect("started");
    engine.wait(&unit).await?;
    engine.exit(&unit).await
}

const EXITED_0: &str =
    r#"{"State":{"Running":false,"ExitCode":0,"OOMKilled":false,"StartedAt":"1970-01-01T00:00:01Z","FinishedAt":"1970-01-01T00:00:02Z"}}"#;
const EXITED_7: &str =
    r#"{"State":{"Running":false,"ExitCode":7,"OOMKilled":true,"StartedAt":"1970-01-01T00:00:01Z","FinishedAt":"1970-01-01T00:00:02Z"}}"#;

#[tokio::test]
async fn exit_codes_are_results_and_not_errors() {
    let exit = waited(Stream(b"{\"StatusCode\":7,\"Error\":null}\n"), EXITED_7).await.expect("exit");
    assert_eq!((exit.code, exit.oom, exit.finished_ns - exit.started_ns), (7, true, 1_000_000_000));
    assert_eq!(waited(Stream(b"{\"StatusCode\":0}\n"), EXITED_0).await.expect("exit").code, 0);
}

#[tokio::test]
async fn an_exit_that_cannot_be_learned_is_never_0() {
    let table = [
        (GONE, "No such container"),
        (Reset, "wait for the exit"),
        (Torn(b""), "wait for the exit"),
        (Stream(b""), "wait for the exit"),
        (Torn(b"{\"Stat"), "wait for the exit"),
        (Stream(b"{\"StatusCode\":0,\"Error\":{\"Message\":\"shim died\"}}\n"), "shim died"),
        (Stream(b"{\"StatusCode\":-1}\n"), "-1, then 0"),
    ];
    for (reply, expected) in table {
        let error = text(waited(reply, EXITED_0).await);
        assert!(error.contains(expected), "{reply:?}: {error}");
    }
}

#[tokio::test]
async fn a_program_that_cannot_be_executed_is_not_started() {
    let refused = Json(400, r#"{"message":"OCI runtime create failed: exec: \"prog\": executable file not found in $PATH: unknown"}"#);
    let script = [("POST", CREATE, CREATED), ("POST", "/wait", Hang), ("POST", "/start", refused)];
    let (_mock, engine) = Mock::engine(&script).await;
    let unit = create(&engine, &spec()).await.expect("created");
    match engine.start(&unit).await {
        Err(EngineError::NotStarted { program, reason }) => assert!(program == "prog" && reason.contains("not found in $PATH")),
        other => panic!("{other:?}"),
    }
}

fn unit() -> Created {
    Created { id: "id1".into(), cgroup: "c".into(), leaf: "c/id1".into() }
}

#[tokio::test]
async fn output_is_whole_or_an_error() {
    let whole = Stream(b"\x01\0\0\0\0\0\0\x04out\n\x02\0\0\0\0\0\0\x03er\xff\x01\0\0\0\0\0\0\x02\x01\x02");
    let (_mock, engine) = Mock::engine(&[("GET", "/containers/id1/logs", whole)]).await;
    let output = engine.output(&unit()).await.expect("output");
    assert_eq!((output.stdout.bytes.as_slice(), output.stderr.bytes.as_slice()), (b"out\n\x01\x02".as_slice(), b"er\xff".as_slice()));
    assert_eq!((output.stdout.total, output.stderr.total), (6, 3));
    for torn in [Torn(b"\x01\0\0\0\0\0\0\x04out\n"), Stream(b"\x01\0\0\0\0\0\0\x09out\n"), Reset, Json(500, "{}")] {
        let (_mock, engine) = Mock::engine(&[("GET", "/containers/id1/logs", torn)]).await;
        assert!(text(engine.output(&unit()).await).contains("read the output"));
    }
}

#[tokio::test]
async fn removing_is_tried_again_and_what_is_gone_is_fine() {
    let (_mock, engine) = Mock::engine(&[("DELETE", "/containers/id1", GONE)]).await;
    engine.remove(&unit()).await.expect("gone already");
    let busy = Json(409, r#"{"message":"removal of container id1 is already in progress"}"#);
    let script =
        [("DELETE", "/containers/id1", busy), ("GET", "/containers/id1/json", Json(200, EXITED_0)), ("GET", "/containers/id1/json", GONE)];
    let (_mock, engine) = Mock::engine(&script).await;
    engine.remove(&unit()).await.expect("gone in the end");
    let (_mock, engine) = Mock::engine(&[("DELETE", "/containers/id1", busy), ("GET", "/containers/id1/json", Json(200, EXITED_0))]).await;
    assert!(text(engine.remove(&unit()).await).contains("already in progress"));
}

#[tokio::test]
async fn a_pull_that_fails_inside_its_stream_fails() {
    let limited = b"{\"status\":\"Pulling\"}\n{\"status\":\"Waiting\"}\n{\"errorDetail\":{\"message\":\"toomanyrequests: slow down\"},\"error\":\"toomanyrequests\"}\n";
    let table = [
        (Stream(limited), "rate limit"),
        (Torn(b"{\"status\":\"Pulling\"}\n"), "could not be pulled"),
        (Stream(b"{\"status\":\"ok\"}\n"), "does not have it"),
    ];
    for (reply, expected) in table {
        let (_mock, engine) = Mock::engine(&[("POST", "/images/create", reply)]).await;
        let error = text(engine.image(&ImageSpec::Reference("app:1".into()), Path::new("/")).await);
        assert!(error.starts_with("image `app:1`") && error.contains(expected), "{error}");
    }
}

#[tokio::test]
async fn an_image_that_is_there_is_not_pulled_and_must_fit_the_machine() {
    let found = Json(200, r#"{"Id":"sha256:1","Architecture":"amd64"}"#);
    let (mock, engine) = Mock::engine(&[("GET", "/images/app:1/json", found)]).await;
    let image = engine.image(&ImageSpec::Reference("app:1".into()), Path::new("/")).await.expect("image");
    assert_eq!((image.digest.as_str(), mock.seen()), ("sha256:1", vec!["GET /v1.43/images/app:1/json".to_owned()]));
    let other = Json(200, r#"{"Id":"sha256:1","Architecture":"arm64"}"#);
    let (_mock, engine) = Mock::engine(&[("GET", "/images/app:1/json", other)]).await;
    let error = text(engine.image(&ImageSpec::Reference("app:1".into()), Path::new("/")).await);
    assert!(error.contains("`arm64`") && error.contains("`amd64`"), "{error}");
}

#[tokio::test]
async fn the_sweep_removes_dead_runs_only_and_tells_what_is_left() {
    let list = Json(
        200,
        r#"[{"Id":"c1","Names":["/a"],"Labels":{"shakedown.run":"dead"}},{"Id":"c2","Names":["/b"],"Labels":{"shakedown.run":"live"}},
            {"Id":"c3","Names":["/c"],"Labels":{"x":"y"}}]"#,
    );
    let networks = Json(200, r#"[{"Id":"n1","Name":"net","Labels":{"shakedown.run":"dead"}},{"Id":"n2","Name":"bridge","Labels":{}}]"#);
    let volumes = Json(
        200,
        r#"{"Volumes":[{"Name":"v1","Driver":"local","Mountpoint":"/","Scope":"local","Labels":{"shakedown.run":"dead"},"Options":null},
            {"Name":"v2","Driver":"local","Mountpoint":"/","Scope":"local","Labels":null,"Options":null}],"Warnings":null}"#,
    );
    let gone = [
        ("GET", "/containers/json", list),
        ("GET", "/networks", networks),
        ("GET", "/volumes", volumes),
        ("DELETE", "/containers/c1", GONE),
        ("DELETE", "/volumes/v1", GONE),
    ];
    let alive = ["live".to_owned()];
    let (mock, engine) = Mock::engine(&[gone.as_slice(), &[("DELETE", "/networks/n1", Json(204, ""))]].concat()).await;
    assert_eq!(
        engine.sweep(&alive).await.expect("sweep"),
        ["container `a` of run `dead`", "network `net` of run `dead`", "volume `v1` of run `dead`"]
    );
    let deleted: Vec<String> = mock.seen().into_iter().filter(|request| request.starts_with("DELETE")).collect();
    assert_eq!(deleted, ["DELETE /v1.43/containers/c1", "DELETE /v1.43/networks/n1", "DELETE /v1.43/volumes/v1"]);
    let (_mock, engine) =
        Mock::engine(&[gone.as_slice(), &[("DELETE", "/networks/n1", Json(403, r#"{"message":"in use"}"#))]].concat()).await;
    let error = text(engine.sweep(&alive).await);
    assert!(error.contains("network `net`") && error.contains("in use") && !error.contains("`a`"), "{error}");
}

#[tokio::test]
async fn neighbours_are_what_runs_without_our_label() {
    let running = r#"[{"Id":"1","Names":["/web"],"Labels":{}},{"Id":"2","Names":["/ours"],"Labels":{"shakedown.run":"r"}}]"#;
    let (mock, engine) = Mock::engine(&[("GET", "/containers/json", Json(200, running))]).await;
    assert_eq!(engine.neighbours().await.expect("answer"), ["web"]);
    assert_eq!(mock.seen(), ["GET /v1.43/containers/json"]);
    let grouped = Grouped::new(engine, Control::new(CgroupLayout::default()));
    assert_eq!(grouped.neighbours().await.expect("answer"), ["web"], "with groups around containers, too");
    let (_mock, engine) = Mock::engine(&[("GET", "/containers/json", Json(500, "{}"))]).await;
    assert!(text(engine.neighbours().await.map(drop)).contains("list containers"));
}
