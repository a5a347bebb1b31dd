//! Pipes in memory between the parts of a simulated cluster: no sockets, no threads, one order.

use std::collections::BTreeMap;
use std::io::{self, IoSlice};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf};
use tokio::sync::mpsc;

/// Bytes a pipe holds before its writer waits, about a socket's buffer.
const PIPE: usize = 64 * 1024;
/// First of the ports given to those who ask for port 0 and to connecting ends.
const FIRST_PORT: u16 = 32_768;

type Arrival = (DuplexStream, SocketAddr);

/// The addresses of one simulated world.
#[derive(Default)]
pub struct SimulatedNetwork {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    listeners: BTreeMap<SocketAddr, mpsc::UnboundedSender<Arrival>>,
    ports_given: u16,
}

impl State {
    fn port(&mut self) -> u16 {
        let port = FIRST_PORT.wrapping_add(self.ports_given);
        self.ports_given = self.ports_given.wrapping_add(1) % FIRST_PORT;
        port
    }
}

impl SimulatedNetwork {
    /// A world without listeners.
    pub fn new() -> Arc<SimulatedNetwork> {
        Arc::default()
    }

    pub(super) fn listen(&self, mut address: SocketAddr) -> io::Result<SimulatedListener> {
        let mut state = self.state.lock();
        if address.port() == 0 {
            address.set_port(state.port());
        }
        if state.listeners.get(&address).is_some_and(|other| !other.is_closed()) {
            return Err(io::ErrorKind::AddrInUse.into());
        }
        let (arrivals, queue) = mpsc::unbounded_channel();
        state.listeners.insert(address, arrivals);
        Ok(SimulatedListener { address, queue })
    }

    pub(super) fn connect(&self, address: SocketAddr) -> io::Result<DuplexStream> {
        let mut state = self.state.lock();
        let from = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), state.port());
        let listener = state.listeners.get(&address).ok_or(io::ErrorKind::ConnectionRefused)?;
        let (near, far) = tokio::io::duplex(PIPE);
        listener.send((far, from)).map_err(|_| io::ErrorKind::ConnectionRefused)?;
        Ok(near)
    }
}

/// See [`Network::resolve`](super::Network::resolve).
pub(super) fn resolve(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    let host = if host == "localhost" { "127.0.0.1" } else { host };
    let ip: IpAddr = host.parse().map_err(|_| io::Error::from(io::ErrorKind::NotFound))?;
    Ok(vec![SocketAddr::new(ip, port)])
}

/// A listener of a [`SimulatedNetwork`].
pub struct SimulatedListener {
    address: SocketAddr,
    queue: mpsc::UnboundedReceiver<Arrival>,
}

impl SimulatedListener {
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(super) async fn accept(&mut self) -> io::Result<Arrival> {
        self.queue.recv().await.ok_or_else(|| io::ErrorKind::ConnectionAborted.into())
    }
}

pub(super) fn poll_read(
    pipe: &mut DuplexStream,
    cx: &mut Context<'_>,
    buffer: &mut [u8],
) -> Poll<io::Result<usize>> {
    let mut buffer = ReadBuf::new(buffer);
    ready!(Pin::new(pipe).poll_read(cx, &mut buffer))?;
    Poll::Ready(Ok(buffer.filled().len()))
}

pub(super) fn poll_write(
    pipe: &mut DuplexStream,
    cx: &mut Context<'_>,
    slices: &[IoSlice<'_>],
) -> Poll<io::Result<usize>> {
    Pin::new(pipe).poll_write_vectored(cx, slices)
}
