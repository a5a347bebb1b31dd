//! The receiving side of a connection: one buffer, the frames that are whole in it, and the start of the next.

use std::io;
use std::ops::Range;
use std::task::{Context, Poll, ready};

use barnabas_protocol::frame::{self, Frame, LENGTH_SIZE};

use super::memory::{Buffer, Held, Memory, Place, SMALL_BUFFER, SMALL_FRAME};
use crate::handlers::CloseReason;
use crate::net::Stream;

/// While others wait for memory, a half-sent frame must have come at a decent pace after so many ms.
const DELIVER_MS: u64 = 10_000;
/// The pace: 64 KB a second, a slow mobile line.
const LEAST_BYTES_PER_MS: u64 = 64;

/// See the module.
pub struct Inbox {
    /// `socket.request.max.bytes`.
    largest_frame: usize,
    memory: Memory,
    buffer: Option<Buffer>,
    /// Unread bytes are `start..end`.
    start: usize,
    end: usize,
    /// Size of the buffer to ask for next: a producer of large batches gets a fitting one at once.
    hint: usize,
    place: Place,
    /// When the first byte of the frame that is not whole yet came, in monotonic ms.
    began_at: Option<u64>,
}

impl Inbox {
    /// An empty inbox that owns no buffer.
    pub fn new(memory: Memory, largest_frame: usize) -> Inbox {
        Inbox {
            largest_frame,
            memory,
            buffer: None,
            start: 0,
            end: 0,
            hint: SMALL_BUFFER,
            place: Place::default(),
            began_at: None,
        }
    }

    /// Counts what a waiting request holds of its frame; nothing is nothing.
    pub fn hold(&self, bytes: usize) -> Option<Held> {
        (bytes > 0).then(|| self.memory.hold(bytes))
    }

    fn unread(&self) -> &[u8] {
        self.buffer.as_ref().and_then(|buffer| buffer.get(self.start..self.end)).unwrap_or_default()
    }

    /// The next whole frame's place in the buffer, without its length field; `None` if it is not all there.
    ///
    /// # Errors
    /// The length is none that a client of Kafka sends, or above the limit.
    pub fn next_frame(&self) -> Result<Option<Range<usize>>, CloseReason> {
        match frame::check(self.unread(), self.largest_frame) {
            Frame::Complete { length } => {
                let from = self.start.saturating_add(LENGTH_SIZE);
                Ok(Some(from..from.saturating_add(length)))
            }
            Frame::Incomplete { .. } => Ok(None),
            Frame::Invalid { claimed } => Err(CloseReason::InvalidLength(claimed)),
            Frame::TooLarge { claimed } => {
                Err(CloseReason::TooLarge { claimed, allowed: self.largest_frame })
            }
        }
    }

    /// The bytes of a frame found by [`Inbox::next_frame`], to read and to patch.
    pub fn frame(&mut self, place: &Range<usize>) -> &mut [u8] {
        self.buffer.as_mut().and_then(|buffer| buffer.get_mut(place.clone())).unwrap_or_default()
    }

    /// Done with the frame.
    pub fn consume(&mut self, place: &Range<usize>) {
        let size = place.len().saturating_add(LENGTH_SIZE);
        self.hint = if size > SMALL_BUFFER { size.saturating_add(LENGTH_SIZE) } else { SMALL_BUFFER };
        self.start = place.end;
        self.began_at = None;
        if self.start >= self.end {
            (self.start, self.end) = (0, 0);
        }
    }

    /// When to look whether the peer is too slow, in monotonic ms; `None` while nothing is half here.
    pub fn next_check(&self, now_ms: u64) -> Option<u64> {
        let began_at = self.began_at?;
        let periods = now_ms.saturating_sub(began_at) / DELIVER_MS;
        Some(began_at.saturating_add(periods.saturating_add(1).saturating_mul(DELIVER_MS)))
    }

    /// A frame comes so slowly that the memory it holds, and that others wait for, had better be theirs.
    pub fn is_too_slow(&self, now_ms: u64) -> bool {
        let Some(began_at) = self.began_at.filter(|_| !self.place.is_taken()) else { return false };
        let elapsed_ms = now_ms.saturating_sub(began_at);
        let expected = elapsed_ms.saturating_mul(LEAST_BYTES_PER_MS);
        elapsed_ms >= DELIVER_MS && (self.unread().len() as u64) < expected && self.memory.contended()
    }

    /// Receives once; 0 bytes is the peer's end. Call only when no whole frame waits.
    /// A connection with nothing to read is left without a buffer.
    pub fn poll_fill(
        &mut self,
        cx: &mut Context<'_>,
        stream: &mut Stream,
        now_ms: u64,
    ) -> Poll<io::Result<usize>> {
        let missing = match frame::check(self.unread(), self.largest_frame) {
            Frame::Incomplete { missing } => missing,
            _ => LENGTH_SIZE,
        };
        let needed = self.end.saturating_sub(self.start).saturating_add(missing);
        ready!(self.poll_room(cx, stream, needed, now_ms))?;
        let Some(buffer) = self.buffer.as_mut() else { return Poll::Pending };
        // Of a large frame no more is read than the frame and the next one's length: what follows
        // would have to be moved to the front.
        let limit = if needed > SMALL_FRAME {
            self.start.saturating_add(needed).saturating_add(LENGTH_SIZE).min(buffer.len())
        } else {
            buffer.len()
        };
        let space = buffer.get_mut(self.end..limit).unwrap_or_default();
        match stream.poll_read(cx, space) {
            Poll::Ready(Ok(received)) => {
                self.end = self.end.saturating_add(received);
                self.began_at.get_or_insert(now_ms);
                Poll::Ready(Ok(received))
            }
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Pending => {
                if self.start == self.end {
                    self.buffer = None;
                }
                Poll::Pending
            }
        }
    }

    /// Makes sure that a frame of `needed` bytes fits behind `start`.
    fn poll_room(
        &mut self,
        cx: &mut Context<'_>,
        stream: &Stream,
        needed: usize,
        now_ms: u64,
    ) -> Poll<io::Result<()>> {
        let Some(buffer) = self.buffer.as_mut() else {
            ready!(stream.poll_readable(cx))?;
            self.buffer = Some(ready!(self.memory.poll_acquire(cx, self.hint, &mut self.place)));
            return Poll::Ready(Ok(()));
        };
        if self.start.saturating_add(needed) <= buffer.len() {
            return Poll::Ready(Ok(()));
        }
        if needed <= buffer.len() {
            buffer.copy_within(self.start..self.end, 0);
        } else {
            let wanted = needed.saturating_add(LENGTH_SIZE);
            let mut larger = ready!(self.memory.poll_acquire(cx, wanted, &mut self.place));
            let unread = buffer.get(self.start..self.end).unwrap_or_default();
            if let Some(front) = larger.get_mut(..unread.len()) {
                front.copy_from_slice(unread);
            }
            *buffer = larger;
            // While it waited for memory nothing could come.
            self.began_at = Some(now_ms);
        }
        self.end = self.end.saturating_sub(self.start);
        self.start = 0;
        Poll::Ready(Ok(()))
    }
}
