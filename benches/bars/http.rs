//! The least client that speaks HTTP/1.1 over a Unix socket, on one kept connection: nothing but the engine's own time.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// A kept connection.
pub struct Http {
    stream: BufReader<UnixStream>,
}

impl Http {
    /// Connects to the socket that `docker` would use, when it is a local one.
    ///
    /// # Errors
    /// When nobody answers there.
    pub fn connect() -> Result<Self, String> {
        let host = std::env::var("DOCKER_HOST").unwrap_or_default();
        let path = if host.is_empty() { "/var/run/docker.sock" } else { host.strip_prefix("unix://").ok_or("DOCKER_HOST is no socket")? };
        Self::at(std::path::Path::new(path))
    }

    /// Connects to a socket.
    ///
    /// # Errors
    /// When nobody answers there.
    pub fn at(path: &std::path::Path) -> Result<Self, String> {
        let stream = UnixStream::connect(path).map_err(|error| format!("{}: {error}", path.display()))?;
        stream.set_read_timeout(Some(Duration::from_secs(60))).map_err(|error| error.to_string())?;
        Ok(Self { stream: BufReader::new(stream) })
    }

    /// Sends a request and reads the whole answer.
    ///
    /// # Errors
    /// When the connection breaks, or the engine says no.
    pub fn call(&mut self, method: &str, path: &str, body: &str) -> Result<Vec<u8>, String> {
        let length = body.len();
        let request =
            format!("{method} {path} HTTP/1.1\r\nHost: docker\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}");
        let (status, answer) = self.exchange(&request).map_err(|error| format!("{method} {path}: {error}"))?;
        if (200..300).contains(&status) {
            Ok(answer)
        } else {
            Err(format!("{method} {path}: {status} {}", String::from_utf8_lossy(&answer).trim()))
        }
    }

    fn exchange(&mut self, request: &str) -> std::io::Result<(u16, Vec<u8>)> {
        self.stream.get_mut().write_all(request.as_bytes())?;
        let first = self.line()?;
        let status = first.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
        let (mut length, mut chunked) = (0, false);
        loop {
            let line = self.line()?.to_ascii_lowercase();
            match line.split_once(": ") {
                None => break,
                Some(("content-length", value)) => length = value.parse().unwrap_or(0),
                Some(("transfer-encoding", value)) => chunked = value == "chunked",
                Some(_) => {}
            }
        }
        let mut body = Vec::new();
        if !chunked {
            self.take(length, &mut body)?;
            return Ok((status, body));
        }
        loop {
            let size = usize::from_str_radix(&self.line()?, 16).unwrap_or(0);
            self.take(size, &mut body)?;
            self.line()?;
            if size == 0 {
                return Ok((status, body));
            }
        }
    }

    fn line(&mut self) -> std::io::Result<String> {
        let mut line = String::new();
        if self.stream.read_line(&mut line)? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        Ok(line.trim_end().to_owned())
    }

    fn take(&mut self, length: usize, body: &mut Vec<u8>) -> std::io::Result<()> {
        let start = body.len();
        body.resize(start + length, 0);
        self.stream.read_exact(&mut body[start..])
    }
}
