//! A mock engine on a unix socket that answers each request as a script says.

use Reply::{Hang, Json, Reset, Stream, Torn, Upgrade};
use shakedown::engine::docker::{Docker, Env};
use shakedown::engine::{Created, Engine, EngineError, Image, UnitName};
use shakedown::model::spec::{ImageSpec, Place, UnitSpec};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};

/// How the mock answers a request.
#[derive(Debug, Clone, Copy)]
pub enum Reply {
    /// A status and a JSON body.
    Json(u16, &'static str),
    /// A chunked stream that ends as it should.
    Stream(&'static [u8]),
    /// A chunked stream whose connection breaks off before its end.
    Torn(&'static [u8]),
    /// The connection becomes a stream of bytes that ends.
    Upgrade(&'static [u8]),
    /// The connection is closed without an answer.
    Reset,
    /// No answer ever.
    Hang,
}

/// A line of the script: method, end of the path without query, reply. A line is used up unless it is the last that fits.
pub type Line = (&'static str, &'static str, Reply);

pub struct Mock {
    folder: tempfile::TempDir,
    pub seen: Arc<Mutex<Vec<String>>>,
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
pub const GONE: Reply = Json(404, r#"{"message":"No such container"}"#);

impl Mock {
    pub fn new(script: &[Line]) -> Self {
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

    pub async fn connect(&self) -> Result<Docker, EngineError> {
        let env = Env {
            vars: [].into(),
            home: None,
            read: Box::new(|_| Err(std::io::ErrorKind::NotFound.into())),
            is_socket: Box::new(|_| false),
        };
        Docker::connect(Some(&format!("unix://{}/s", self.folder.path().display())), &env).await
    }

    pub async fn engine(script: &[Line]) -> (Self, Docker) {
        let mock = Self::new(script);
        let engine = mock.connect().await.expect("connect");
        (mock, engine)
    }

    /// Requests so far, as `METHOD /path`, without those of connecting.
    pub fn seen(&self) -> Vec<String> {
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
        Upgrade(body) => [b"HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n", body].concat(),
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

pub fn name() -> UnitName {
    UnitName { run: "r".into(), experiment: "e".into(), trial: "t".into(), unit: "u".into() }
}

pub fn spec() -> UnitSpec {
    UnitSpec { image: Some(ImageSpec::Reference("x".into())), command: vec!["prog".into()], ..UnitSpec::bare(Place::Container) }
}

pub async fn create(engine: &Docker, spec: &UnitSpec) -> Result<Created, EngineError> {
    engine.create(&name(), spec, Some(&Image { reference: "sha256:1".into(), digest: "sha256:1".into() })).await
}

pub fn text<T: std::fmt::Debug>(result: Result<T, EngineError>) -> String {
    result.expect_err("a fault").to_string()
}

pub const CREATE: &str = "/containers/create";
pub const CREATED: Reply = Json(201, r#"{"Id":"id1","Warnings":[]}"#);

pub fn unit() -> Created {
    Created { id: "id1".into(), cgroup: "c".into(), leaf: "c/id1".into() }
}
