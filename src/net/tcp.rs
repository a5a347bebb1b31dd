//! Plain TCP by the machine's sockets.

use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use rustix::net::SendFlags;
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

use super::SocketOptions;
use crate::disk::DiskFile;

/// Kafka's `socket.listen.backlog.size`.
const BACKLOG: u32 = 50;

pub(super) fn listen(address: SocketAddr, options: SocketOptions) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_reuseaddr(true)?;
    // Buffers are set before listening: accepted sockets inherit them, and the receive window is
    // agreed upon in the handshake.
    if let Some(bytes) = options.send_buffer {
        socket.set_send_buffer_size(bytes)?;
    }
    if let Some(bytes) = options.receive_buffer {
        socket.set_recv_buffer_size(bytes)?;
    }
    if address.is_ipv6() {
        // 0.0.0.0 may be bound beside it.
        rustix::net::sockopt::set_ipv6_v6only(&socket, true)?;
    }
    socket.bind(address)?;
    socket.listen(options.backlog.unwrap_or(BACKLOG))
}

pub(super) async fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// tokio's own poll functions are used for the plain cases: after a short read or write they know that
/// the socket is drained or full and spare the call that would only say so.
pub(super) fn poll_read(
    stream: &mut TcpStream,
    cx: &mut Context<'_>,
    buffer: &mut [u8],
) -> Poll<io::Result<usize>> {
    let mut buffer = ReadBuf::new(buffer);
    ready!(Pin::new(stream).poll_read(cx, &mut buffer))?;
    Poll::Ready(Ok(buffer.filled().len()))
}

pub(super) fn poll_write(
    stream: &mut TcpStream,
    cx: &mut Context<'_>,
    slices: &[IoSlice<'_>],
) -> Poll<io::Result<usize>> {
    Pin::new(stream).poll_write_vectored(cx, slices)
}

pub(super) fn poll_write_more(
    stream: &TcpStream,
    cx: &mut Context<'_>,
    bytes: &[u8],
) -> Poll<io::Result<usize>> {
    let flags = SendFlags::MORE | SendFlags::NOSIGNAL;
    writing(stream, cx, || rustix::net::send(stream, bytes, flags).map_err(io::Error::from))
}

pub(super) fn poll_send_file(
    stream: &TcpStream,
    cx: &mut Context<'_>,
    file: &dyn DiskFile,
    position: u64,
    length: usize,
) -> Poll<io::Result<usize>> {
    let Some(source) = file.fd() else {
        return Poll::Ready(Err(io::ErrorKind::Unsupported.into()));
    };
    writing(stream, cx, || {
        let mut from = position;
        rustix::fs::sendfile(stream, source, Some(&mut from), length).map_err(io::Error::from)
    })
}

fn writing(
    stream: &TcpStream,
    cx: &mut Context<'_>,
    mut call: impl FnMut() -> io::Result<usize>,
) -> Poll<io::Result<usize>> {
    loop {
        ready!(stream.poll_write_ready(cx))?;
        match stream.try_io(Interest::WRITABLE, &mut call) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return Poll::Ready(result),
        }
    }
}
