//! The network door: every byte to and from a peer passes here.
//!
//! Three kinds of ends share one shape: plain TCP, TLS (with the security work) and the
//! simulator's pipes. A [`Stream`] is polled, not awaited, because one connection waits for several
//! things at once and must not pay for a future each.

mod simulated;
mod tcp;

use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::sync::Arc;
use std::task::{Context, Poll};

use crate::disk::DiskFile;

pub use simulated::SimulatedNetwork;

/// Where listeners are bound and peers are reached. Cheap to clone.
#[derive(Clone, Default)]
pub enum Network {
    /// The machine's own sockets.
    #[default]
    Tcp,
    /// Pipes in memory, for the simulator.
    Simulated(Arc<SimulatedNetwork>),
}

/// Sizes asked of the kernel for each connection, in bytes; `None` leaves the system's default.
#[derive(Clone, Copy, Debug, Default)]
pub struct SocketOptions {
    /// `socket.send.buffer.bytes`.
    pub send_buffer: Option<u32>,
    /// `socket.receive.buffer.bytes`.
    pub receive_buffer: Option<u32>,
    /// `socket.listen.backlog.size`, in connections.
    pub backlog: Option<u32>,
}

impl Network {
    /// Listens on an address; port 0 takes a free one.
    pub fn listen(&self, address: SocketAddr, options: SocketOptions) -> io::Result<Listener> {
        match self {
            Network::Tcp => tcp::listen(address, options).map(Listener::Tcp),
            Network::Simulated(network) => network.listen(address).map(Listener::Simulated),
        }
    }

    /// The addresses of a name; the simulator knows only addresses and `localhost`.
    pub async fn resolve(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        match self {
            Network::Tcp => Ok(tokio::net::lookup_host((host, port)).await?.collect()),
            Network::Simulated(_) => simulated::resolve(host, port),
        }
    }

    /// Connects to a peer.
    pub async fn connect(&self, address: SocketAddr) -> io::Result<Stream> {
        match self {
            Network::Tcp => tcp::connect(address).await.map(Stream::Tcp),
            Network::Simulated(network) => network.connect(address).map(Stream::Simulated),
        }
    }
}

/// A bound listener.
pub enum Listener {
    /// See [`Network::Tcp`].
    Tcp(tokio::net::TcpListener),
    /// See [`Network::Simulated`].
    Simulated(simulated::SimulatedListener),
}

impl Listener {
    /// The address it is bound to, with the real port.
    pub fn local_address(&self) -> io::Result<SocketAddr> {
        match self {
            Listener::Tcp(listener) => listener.local_addr(),
            Listener::Simulated(listener) => Ok(listener.address()),
        }
    }

    /// The next connection and who it is from.
    pub async fn accept(&mut self) -> io::Result<(Stream, SocketAddr)> {
        match self {
            Listener::Tcp(listener) => {
                let (stream, peer) = listener.accept().await?;
                stream.set_nodelay(true)?;
                Ok((Stream::Tcp(stream), peer))
            }
            Listener::Simulated(listener) => {
                let (stream, peer) = listener.accept().await?;
                Ok((Stream::Simulated(stream), peer))
            }
        }
    }
}

/// One end of a connection.
pub enum Stream {
    /// See [`Network::Tcp`].
    Tcp(tokio::net::TcpStream),
    /// See [`Network::Simulated`].
    Simulated(tokio::io::DuplexStream),
}

impl Stream {
    /// Ready when a read would give bytes or the end; asks for no buffer.
    /// A simulated pipe cannot tell without reading and says yes.
    pub fn poll_readable(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Stream::Tcp(stream) => stream.poll_read_ready(cx),
            Stream::Simulated(_) => Poll::Ready(Ok(())),
        }
    }

    /// One receive into `buffer`; 0 bytes is the end.
    pub fn poll_read(&mut self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        match self {
            Stream::Tcp(stream) => tcp::poll_read(stream, cx, buffer),
            Stream::Simulated(pipe) => simulated::poll_read(pipe, cx, buffer),
        }
    }

    /// One send of several slices; gives the bytes taken.
    pub fn poll_write(&mut self, cx: &mut Context<'_>, slices: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        match self {
            Stream::Tcp(stream) => tcp::poll_write(stream, cx, slices),
            Stream::Simulated(pipe) => simulated::poll_write(pipe, cx, slices),
        }
    }

    /// Like [`Stream::poll_write`], with a promise that more follows at once (MSG_MORE), so that the
    /// kernel does not send a short packet first.
    pub fn poll_write_more(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self {
            Stream::Tcp(stream) => tcp::poll_write_more(stream, cx, bytes),
            Stream::Simulated(pipe) => simulated::poll_write(pipe, cx, &[IoSlice::new(bytes)]),
        }
    }

    /// True if ranges of files can leave without passing through this process.
    pub fn can_send_files(&self) -> bool {
        matches!(self, Stream::Tcp(_))
    }

    /// Sends from a file (sendfile); gives the bytes taken, 0 if the file ends before the range does.
    pub fn poll_send_file(
        &mut self,
        cx: &mut Context<'_>,
        file: &dyn DiskFile,
        position: u64,
        length: usize,
    ) -> Poll<io::Result<usize>> {
        match self {
            Stream::Tcp(stream) => tcp::poll_send_file(stream, cx, file, position, length),
            Stream::Simulated(_) => Poll::Ready(Err(io::ErrorKind::Unsupported.into())),
        }
    }
}
