//! The sending side of a connection: replies leave in order, with few calls and few copies.
//!
//! Encoded bytes and shared chunks leave together in one vectored write. A range of a file from
//! [`SEND_FILE`] bytes on leaves by sendfile, announced by MSG_MORE on what stands before it.

use std::io::{self, IoSlice};
use std::task::{Context, Poll, ready};

use crate::disk::Chunk;
use crate::handlers::{Out, SEND_FILE, cut_short};
use crate::net::Stream;

/// A file range on a stream that cannot send files is read in pieces of this size.
const PIECE: usize = 256 * 1024;
/// Slices offered to one vectored write.
const SLICES: usize = 16;
/// Room kept for the next replies; what a burst needed beyond it is given back.
const KEPT: usize = 64 * 1024;

/// See the module.
#[derive(Default)]
pub struct Outbox {
    /// Replies end here; the server adds to it while an earlier part may be half sent.
    out: Out,
    /// Encoded bytes already sent.
    sent: usize,
    /// Bytes of the chunk in front already sent.
    chunk_sent: usize,
}

impl Outbox {
    /// Where replies are put.
    pub fn out(&mut self) -> &mut Out {
        &mut self.out
    }

    /// Bytes not yet sent, those in files included.
    pub fn pending(&self) -> usize {
        self.out.len().saturating_sub(self.sent)
    }

    /// Sends until all is gone or the socket is full.
    pub fn poll_flush(&mut self, cx: &mut Context<'_>, stream: &mut Stream) -> Poll<io::Result<()>> {
        while !self.out.is_empty() {
            if self.file_is_next(stream) {
                ready!(self.poll_send_file(cx, stream))?;
            } else {
                self.load_front()?;
                ready!(self.poll_send_bytes(cx, stream))?;
            }
        }
        Poll::Ready(Ok(()))
    }

    /// A range of a file stands at the very front and may leave by sendfile.
    fn file_is_next(&mut self, stream: &Stream) -> bool {
        let sent = self.sent;
        let (_, splices) = self.out.parts();
        splices.front().is_some_and(|(at, chunk)| *at == sent && by_send_file(stream, chunk))
    }

    fn poll_send_file(&mut self, cx: &mut Context<'_>, stream: &mut Stream) -> Poll<io::Result<()>> {
        let (_, splices) = self.out.parts();
        let Some((_, Chunk::File { file, position, length })) = splices.front() else {
            return Poll::Ready(Ok(()));
        };
        let from = position.saturating_add(self.chunk_sent as u64);
        let rest = usize::try_from(*length).unwrap_or(usize::MAX).saturating_sub(self.chunk_sent);
        let taken = ready!(stream.poll_send_file(cx, file.as_ref(), from, rest))?;
        if taken == 0 {
            return Poll::Ready(Err(cut_short()));
        }
        self.advance(taken);
        Poll::Ready(Ok(()))
    }

    /// A range of a file at the very front that cannot leave by sendfile becomes bytes, a piece at a time.
    fn load_front(&mut self) -> io::Result<()> {
        let sent = self.sent;
        let (_, splices) = self.out.parts();
        let Some((at, Chunk::File { file, position, length })) = splices.front_mut() else { return Ok(()) };
        if *at != sent {
            return Ok(());
        }
        let mut piece = vec![0; usize::try_from(*length).unwrap_or(usize::MAX).min(PIECE)];
        if file.read_at(*position, &mut piece)? < piece.len() {
            return Err(cut_short());
        }
        let at = *at;
        *position = position.saturating_add(piece.len() as u64);
        *length = length.saturating_sub(piece.len() as u64);
        if *length == 0 {
            splices.pop_front();
        }
        splices.push_front((at, Chunk::Bytes(piece.into())));
        Ok(())
    }

    /// One vectored write of what stands before the next range for sendfile.
    fn poll_send_bytes(&mut self, cx: &mut Context<'_>, stream: &mut Stream) -> Poll<io::Result<()>> {
        let (sent, chunk_sent) = (self.sent, self.chunk_sent);
        let (bytes, splices) = self.out.parts();
        let mut slices = [IoSlice::new(&[]); SLICES];
        let mut count = 0;
        let mut from = sent;
        let mut file_follows = false;
        for (nth, (at, chunk)) in splices.iter().enumerate() {
            let Chunk::Bytes(shared) = chunk else {
                file_follows = true;
                push(&mut slices, &mut count, bytes.get(from..*at).unwrap_or_default());
                from = *at;
                break;
            };
            if count.saturating_add(3) > SLICES {
                file_follows = true;
                break;
            }
            push(&mut slices, &mut count, bytes.get(from..*at).unwrap_or_default());
            let skip = if nth == 0 && *at == sent { chunk_sent } else { 0 };
            push(&mut slices, &mut count, shared.get(skip..).unwrap_or_default());
            from = *at;
        }
        if !file_follows {
            push(&mut slices, &mut count, bytes.get(from..).unwrap_or_default());
        }
        let slices = slices.get(..count).unwrap_or_default();
        let taken = match slices {
            [only] if file_follows => ready!(stream.poll_write_more(cx, only))?,
            _ => ready!(stream.poll_write(cx, slices))?,
        };
        if taken == 0 {
            return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
        }
        self.advance(taken);
        Poll::Ready(Ok(()))
    }

    fn advance(&mut self, mut taken: usize) {
        let (bytes, splices) = self.out.parts();
        let total = bytes.len();
        while taken > 0 {
            let next = splices.front().map_or(total, |(at, _)| *at);
            let step = next.saturating_sub(self.sent).min(taken);
            self.sent = self.sent.saturating_add(step);
            taken = taken.saturating_sub(step);
            let Some((at, chunk)) = splices.front() else { break };
            if *at > self.sent {
                break;
            }
            let length = usize::try_from(chunk.len()).unwrap_or(usize::MAX);
            let step = length.saturating_sub(self.chunk_sent).min(taken);
            self.chunk_sent = self.chunk_sent.saturating_add(step);
            taken = taken.saturating_sub(step);
            if self.chunk_sent >= length {
                splices.pop_front();
                self.chunk_sent = 0;
            } else {
                break;
            }
        }
        if self.sent >= total && splices.is_empty() {
            self.out.clear();
            self.out.bytes().shrink_to(KEPT);
            self.sent = 0;
        }
    }
}

fn push<'a>(slices: &mut [IoSlice<'a>; SLICES], count: &mut usize, bytes: &'a [u8]) {
    if bytes.is_empty() {
        return;
    }
    if let Some(slot) = slices.get_mut(*count) {
        *slot = IoSlice::new(bytes);
        *count = count.saturating_add(1);
    }
}

fn by_send_file(stream: &Stream, chunk: &Chunk) -> bool {
    match chunk {
        Chunk::Bytes(_) => false,
        Chunk::File { file, length, .. } => {
            *length >= SEND_FILE && stream.can_send_files() && file.fd().is_some()
        }
    }
}
