//! The bytes of one connection: requests out, whole frames in. No claimed length reserves memory.

use std::io::{self, IoSlice};
use std::task::{Context, Poll, ready};

use barnabas_protocol::frame::{self, Frame, LENGTH_SIZE};
use bytes::{Buf, Bytes, BytesMut};

use crate::net::Stream;

/// Bytes asked of the kernel at once, at least.
const STEP: usize = 64 * 1024;
/// Requests of this many bytes wait to be sent: no further one is written.
const OUT_PENDING: usize = 1024 * 1024;

/// See the module.
pub(super) struct Wire {
    stream: Stream,
    largest_answer: usize,
    out: Vec<u8>,
    sent: usize,
    /// `input[..received]` is what came, the rest is room.
    input: BytesMut,
    received: usize,
}

impl Wire {
    pub(super) fn new(stream: Stream, largest_answer: usize) -> Wire {
        Wire { stream, largest_answer, out: Vec::new(), sent: 0, input: BytesMut::new(), received: 0 }
    }

    /// True while more may be written.
    pub(super) fn has_room(&self) -> bool {
        self.out.len().saturating_sub(self.sent) < OUT_PENDING
    }

    /// Appends a frame: `write` gives what follows the length. False if it is too large to be one.
    pub(super) fn put(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> bool {
        let start = self.out.len();
        self.out.extend_from_slice(&[0; LENGTH_SIZE]);
        write(&mut self.out);
        let length = self.out.len().saturating_sub(start).saturating_sub(LENGTH_SIZE);
        let place = start..start.saturating_add(LENGTH_SIZE);
        match (i32::try_from(length), self.out.get_mut(place)) {
            (Ok(length), Some(place)) => {
                place.copy_from_slice(&length.to_be_bytes());
                true
            }
            _ => {
                self.out.truncate(start);
                false
            }
        }
    }

    /// Sends what was written; ready when all is gone.
    pub(super) fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while let Some(left @ [_, ..]) = self.out.get(self.sent..) {
            match ready!(self.stream.poll_write(cx, &[IoSlice::new(left)]))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                sent => self.sent = self.sent.saturating_add(sent),
            }
        }
        self.out.clear();
        self.sent = 0;
        // A large request was the exception.
        self.out.shrink_to(STEP);
        Poll::Ready(Ok(()))
    }

    /// The next whole frame, without its length.
    ///
    /// # Errors
    /// `InvalidData`: what came is no frame, or one that is too large. `UnexpectedEof`: the other end closed.
    pub(super) fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Bytes>> {
        loop {
            let came = self.input.get(..self.received).unwrap_or_default();
            let missing = match frame::check(came, self.largest_answer) {
                Frame::Complete { length } => return Poll::Ready(Ok(self.take(length))),
                Frame::Incomplete { missing } => missing,
                Frame::Invalid { .. } | Frame::TooLarge { .. } => {
                    return Poll::Ready(Err(io::ErrorKind::InvalidData.into()));
                }
            };
            // Room grows with what has come, never by what is only announced.
            let step = missing.min(self.received.max(STEP)).max(STEP);
            let wanted = self.received.saturating_add(step);
            if self.input.len() < wanted {
                self.input.resize(wanted, 0);
            }
            let room = self.input.get_mut(self.received..).unwrap_or_default();
            match ready!(self.stream.poll_read(cx, room))? {
                0 => return Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into())),
                received => self.received = self.received.saturating_add(received),
            }
        }
    }

    fn take(&mut self, length: usize) -> Bytes {
        let whole = length.saturating_add(LENGTH_SIZE);
        let mut frame = self.input.split_to(whole);
        frame.advance(LENGTH_SIZE);
        self.received = self.received.saturating_sub(whole);
        if self.received == 0 {
            // An idle connection owns no buffer, and a frame that is kept does not keep the next one's room.
            self.input = BytesMut::new();
        }
        frame.freeze()
    }
}
