//! The sending side of a connection: replies leave in order, with few calls and few copies.
//!
//! Encoded bytes and shared chunks leave together in one vectored write. A range of a file leaves by sendfile,
//! announced by MSG_MORE on what stands before it; small ones have been read into the reply before they get here,
//! unless they were cold. A range that is not in memory is read elsewhere first.

use std::future::Future;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::task::JoinHandle;

use crate::disk::Chunk;
use crate::handlers::{Out, cut_short};
use crate::net::Stream;
use crate::spawn::Spawner;

/// At most so much of a file leaves in one call; whether it is in memory is asked once for each piece.
const PIECE: u64 = 1024 * 1024;
/// At most so much is read at once for a stream that cannot send files.
const LOADED: u64 = 256 * 1024;
/// A cold range is brought into memory in steps of this size, in bytes.
const WARM: u64 = 1024 * 1024;
/// Slices offered to one vectored write.
const SLICES: usize = 16;
/// Room kept for the next replies; what a burst needed beyond it is given back.
const KEPT: usize = 64 * 1024;

/// See the module.
pub struct Outbox {
    spawner: Spawner,
    /// Replies end here; the server adds to it while an earlier part may be half sent.
    out: Out,
    /// Encoded bytes already sent.
    sent: usize,
    /// Bytes of the chunk in front already sent.
    chunk_sent: usize,
    /// Bytes of the chunk in front that are in memory as far as we know.
    chunk_warm: u64,
    /// A cold range is being read elsewhere, so that no worker waits for the disk.
    warming: Option<JoinHandle<io::Result<()>>>,
}

impl Outbox {
    /// Nothing to send yet.
    pub fn new(spawner: Spawner) -> Outbox {
        Outbox { spawner, out: Out::default(), sent: 0, chunk_sent: 0, chunk_warm: 0, warming: None }
    }

    /// Where replies are put.
    pub fn out(&mut self) -> &mut Out {
        &mut self.out
    }

    /// Bytes not yet sent, those in files included.
    pub fn pending(&self) -> usize {
        self.out.len().saturating_sub(self.sent)
    }

    /// Sends until all is gone, the socket is full, or the disk is waited for.
    pub fn poll_flush(&mut self, cx: &mut Context<'_>, stream: &mut Stream) -> Poll<io::Result<()>> {
        while !self.out.is_empty() {
            if self.file_is_next() {
                ready!(self.poll_warm(cx))?;
                if stream.can_send_files() {
                    ready!(self.poll_send_file(cx, stream))?;
                    continue;
                }
                self.load_front()?;
            }
            ready!(self.poll_send_bytes(cx, stream))?;
        }
        Poll::Ready(Ok(()))
    }

    /// A range of a file stands at the very front.
    fn file_is_next(&mut self) -> bool {
        let sent = self.sent;
        let (_, splices) = self.out.parts();
        matches!(splices.front(), Some((at, Chunk::File { .. })) if *at == sent)
    }

    /// Makes sure that the next piece of the file in front is in memory.
    fn poll_warm(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if let Some(warming) = self.warming.as_mut() {
            let done = ready!(Pin::new(warming).poll(cx));
            self.warming = None;
            done.map_err(io::Error::other)??;
        }
        let at = self.chunk_sent as u64;
        let (_, splices) = self.out.parts();
        let Some((_, Chunk::File { file, position, length })) = splices.front() else {
            return Poll::Ready(Ok(()));
        };
        if at < self.chunk_warm {
            return Poll::Ready(Ok(()));
        }
        let piece = length.saturating_sub(at).min(PIECE);
        let from = position.saturating_add(at);
        let last = from.saturating_add(piece.saturating_sub(1));
        let cached = |position| file.read_cached(position, &mut [0]).map(|read| read.is_some());
        if cached(from)? && cached(last)? {
            self.chunk_warm = at.saturating_add(piece);
            return Poll::Ready(Ok(()));
        }
        let file = file.clone();
        let size = length.saturating_sub(at).min(WARM);
        self.chunk_warm = at.saturating_add(size);
        let mut warming = self.spawner.blocking(move || file.warm(from, size));
        let polled = Pin::new(&mut warming).poll(cx);
        if polled.is_pending() {
            self.warming = Some(warming);
        }
        polled.map(|done| done.map_err(io::Error::other)?)
    }

    fn poll_send_file(&mut self, cx: &mut Context<'_>, stream: &mut Stream) -> Poll<io::Result<()>> {
        let (warm, sent) = (self.chunk_warm, self.chunk_sent as u64);
        let (_, splices) = self.out.parts();
        let Some((_, Chunk::File { file, position, length })) = splices.front() else {
            return Poll::Ready(Ok(()));
        };
        let from = position.saturating_add(sent);
        let piece = usize::try_from(warm.min(*length).saturating_sub(sent)).unwrap_or(usize::MAX);
        let taken = ready!(stream.poll_send_file(cx, file.as_ref(), from, piece))?;
        if taken == 0 {
            return Poll::Ready(Err(cut_short()));
        }
        self.advance(taken);
        Poll::Ready(Ok(()))
    }

    /// The piece of the file at the very front becomes bytes.
    fn load_front(&mut self) -> io::Result<()> {
        let warm = std::mem::take(&mut self.chunk_warm);
        let (_, splices) = self.out.parts();
        let Some((at, Chunk::File { file, position, length })) = splices.front_mut() else { return Ok(()) };
        let size = warm.min(LOADED).min(*length);
        let mut piece = vec![0; usize::try_from(size).unwrap_or_default()];
        if file.read_at(*position, &mut piece)? < piece.len() {
            return Err(cut_short());
        }
        let at = *at;
        *position = position.saturating_add(size);
        *length = length.saturating_sub(size);
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
                self.chunk_warm = 0;
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
