//! A connection that is accepted, and not closed at once: what stands before a dead service accepts and hangs up.

use crate::engine::namespace::Namespace;
use std::io::{ErrorKind, Read};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

/// How long connecting may take.
const CONNECT_LIMIT: Duration = Duration::from_secs(2);
/// Who hangs up does so within this.
const HANG_UP: Duration = Duration::from_millis(20);

/// Whether `host:port` accepts and stays.
pub(super) async fn accepts(address: &str, namespace: Option<&Arc<Namespace>>) -> Result<(), String> {
    let stream = connect(address, namespace).await?;
    let (address, limit) = (address.to_owned(), Some(HANG_UP));
    let stays = move || {
        let mut stream = stream;
        stream.set_read_timeout(limit).map_err(|error| error.to_string())?;
        match stream.read(&mut [0]) {
            Ok(0) => Err(format!("{address} accepts and hangs up")),
            Ok(_) => Ok(()),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => Ok(()),
            Err(error) => Err(format!("{address}: {error}")),
        }
    };
    tokio::task::spawn_blocking(stays).await.map_err(|error| error.to_string())?
}

/// Connects from inside the namespace; of several addresses of a name the first that accepts counts.
pub(super) async fn connect(address: &str, namespace: Option<&Arc<Namespace>>) -> Result<TcpStream, String> {
    let (address, namespace) = (address.to_owned(), namespace.cloned());
    let connect = move || {
        let found = address.to_socket_addrs().map_err(|error| format!("`{address}`: {error}"))?;
        let mut last = format!("`{address}` has no address");
        for one in found {
            match within(one, namespace.as_deref()) {
                Ok(stream) => return Ok(stream),
                Err(error) => last = format!("{one}: {error}"),
            }
        }
        Err(last)
    };
    tokio::task::spawn_blocking(connect).await.map_err(|error| error.to_string())?
}

fn within(address: SocketAddr, namespace: Option<&Namespace>) -> std::io::Result<TcpStream> {
    match namespace {
        Some(namespace) => namespace.connect(address, CONNECT_LIMIT),
        None => TcpStream::connect_timeout(&address, CONNECT_LIMIT),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[tokio::test]
    async fn who_hangs_up_or_is_not_there_is_not_ready() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("port");
        let address = listener.local_addr().expect("address").to_string();
        assert_eq!(accepts(&address, None).await, Ok(()));
        let server = std::thread::spawn(move || {
            for _ in 0..2 {
                drop(listener.accept().expect("connection"));
            }
        });
        assert!(accepts(&address, None).await.is_err_and(|why| why.contains("hangs up") || why.contains("reset")));
        server.join().expect("server");
        assert!(accepts(&address, None).await.is_err_and(|why| why.contains("refused")));
        assert!(accepts("nowhere", None).await.is_err());
    }
}
