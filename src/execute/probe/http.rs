//! An HTTP answer: the one proof that something behind a port is alive.

use super::tcp;
use crate::engine::namespace::Namespace;
use http_body_util::Empty;
use hyper::body::Bytes;
use hyper::header::{CONNECTION, HOST, USER_AGENT};
use hyper::{Request, Uri};
use hyper_util::rt::TokioIo;
use std::sync::Arc;

/// Whether a URL answers with a status below 400; a connection of its own each time.
pub(super) async fn answers(url: &str, namespace: Option<&Arc<Namespace>>) -> Result<(), String> {
    let uri: Uri = url.parse().map_err(|error| format!("`{url}`: {error}"))?;
    let authority = uri.authority().ok_or_else(|| format!("`{url}` names no host"))?.clone();
    let address = format!("{}:{}", authority.host(), authority.port_u16().unwrap_or(80));
    let stream = tcp::connect(&address, namespace).await?;
    stream.set_nonblocking(true).map_err(|error| error.to_string())?;
    let stream = tokio::net::TcpStream::from_std(stream).map_err(|error| error.to_string())?;
    let failed = |error: hyper::Error| format!("{url}: {error}");
    let (mut client, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(failed)?;
    let connection = tokio::spawn(connection);
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let request = Request::get(path)
        .header(HOST, authority.as_str())
        .header(USER_AGENT, "shakedown")
        .header(CONNECTION, "close")
        .body(Empty::<Bytes>::new())
        .map_err(|error| error.to_string())?;
    let answer = client.send_request(request).await.map_err(failed);
    connection.abort();
    let status = answer?.status();
    if status.as_u16() < 400 { Ok(()) } else { Err(format!("{url} answers {status}")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpListener;

    #[tokio::test]
    async fn only_a_good_answer_counts() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("port");
        let address = listener.local_addr().expect("address");
        let server = std::thread::spawn(move || {
            let mut asked = Vec::new();
            for answer in ["HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 302 Found\r\n\r\n", "HTTP/1.1 503 No\r\n\r\n", "nonsense\r\n\r\n", ""] {
                let (mut stream, _) = listener.accept().expect("connection");
                let mut request = [0; 1024];
                let read = stream.read(&mut request).expect("request");
                asked.push(String::from_utf8_lossy(&request[..read]).into_owned());
                stream.write_all(answer.as_bytes()).expect("answer");
            }
            asked
        });
        let url = format!("http://{address}/a?b");
        assert_eq!(answers(&url, None).await, Ok(()));
        assert_eq!(answers(&url, None).await, Ok(()));
        assert!(answers(&url, None).await.is_err_and(|why| why.contains("503")));
        assert!(answers(&url, None).await.is_err());
        assert!(answers(&url, None).await.is_err());
        let asked = server.join().expect("server");
        assert!(asked[0].starts_with("GET /a?b HTTP/1.1\r\n") && asked[0].contains(&format!("host: {address}")), "{}", asked[0]);
        assert!(answers("/x", None).await.is_err_and(|why| why.contains("names no host")));
    }
}
