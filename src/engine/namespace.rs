//! A network namespace that is not ours: held open, entered by threads and fresh processes of ours only.

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::fs::File;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

/// A network namespace; it lives at least as long as this.
#[derive(Debug)]
pub struct Namespace {
    file: File,
    id: u64,
}

impl Namespace {
    /// That of a process.
    ///
    /// # Errors
    /// When there is no such process, or it may not be looked at.
    pub fn of_process(pid: u32) -> io::Result<Self> {
        let file = File::open(format!("/proc/{pid}/ns/net"))?;
        let id = file.metadata()?.ino();
        Ok(Self { file, id })
    }

    /// The kernel's number of it, as in the link `net:[4026531840]`.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Does `work` inside, on a thread of its own: a thread that went in stays there. Blocks.
    ///
    /// # Errors
    /// When it may not be entered.
    pub fn within<T: Send>(&self, work: impl FnOnce() -> T + Send) -> io::Result<T> {
        std::thread::scope(|scope| {
            let entered = scope.spawn(|| {
                move_into_link_name_space(self.as_fd(), Some(LinkNameSpaceType::Network))?;
                Ok(work())
            });
            entered.join().unwrap_or_else(|_| Err(io::Error::other("the thread in the network namespace panicked")))
        })
    }

    /// Connects from inside. Blocks up to `limit`.
    ///
    /// # Errors
    /// When nobody accepts.
    pub fn connect(&self, address: SocketAddr, limit: Duration) -> io::Result<TcpStream> {
        self.within(|| TcpStream::connect_timeout(&address, limit)).flatten()
    }
}

/// The address that a namespace, or ours, has besides loopback: that of the way out, else of a private daemon's own link. Blocks.
///
/// # Errors
/// When there is none.
pub fn own_address(namespace: Option<&Namespace>) -> io::Result<IpAddr> {
    match namespace {
        Some(namespace) => namespace.within(source_address).flatten(),
        None => source_address(),
    }
}

/// Asks the kernel from where it would send; nothing is sent. The addresses are of the ranges for documentation and benchmarks.
fn source_address() -> io::Result<IpAddr> {
    let towards = |to: &str| {
        let socket = UdpSocket::bind("0.0.0.0:0")?;
        socket.connect(to)?;
        socket.local_addr().map(|address| address.ip())
    };
    towards("192.0.2.1:9").or_else(|_| towards("198.18.0.2:9"))
}

impl AsFd for Namespace {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_namespace_is_the_one_that_the_kernel_names() {
        let own = Namespace::of_process(std::process::id()).expect("our own");
        let link = std::fs::read_link("/proc/self/ns/net").expect("link");
        assert_eq!(link.to_string_lossy(), format!("net:[{}]", own.id()));
        assert!(Namespace::of_process(u32::MAX).is_err());
    }
}
