//! Records as they come out of a decompressor.

use super::codec::{Caps, Codec};
use super::cursor::{Cursor, Feed};
use super::fault::Fault;
use super::unpack::{Source, fault_of};
use std::io::Read;

/// The longest varlong.
const VARLONG_BYTES: usize = 10;

/// A decompressor read through a window: memory does not depend on their size.
pub(crate) struct Stream<'a> {
    source: Source<'a>,
    window: &'a mut [u8],
    from: usize,
    to: usize,
    read: u64,
    caps: Caps,
    codec: Codec,
    ended: bool,
    failure: Option<Fault>,
}

impl<'a> Stream<'a> {
    /// Reads `source` through `window`, as far as the caps allow.
    pub(crate) fn new(source: Source<'a>, window: &'a mut [u8], codec: Codec, caps: Caps) -> Stream<'a> {
        Stream { source, window, from: 0, to: 0, read: 0, caps, codec, ended: false, failure: None }
    }

    /// Bytes that came out so far.
    pub(crate) fn plain_bytes(&self) -> u64 {
        self.read
    }

    /// Whether all has been read; an error if the stream is broken or too long.
    pub(crate) fn finish(&mut self) -> Result<bool, Fault> {
        self.ensure(1);
        self.failure.take().map_or(Ok(self.from == self.to), Err)
    }

    /// Makes `count` bytes readable, if there are so many.
    #[inline]
    fn ensure(&mut self, count: usize) {
        while self.to - self.from < count && self.fill() {}
    }

    fn fill(&mut self) -> bool {
        if self.ended || self.failure.is_some() {
            return false;
        }
        self.window.copy_within(self.from..self.to, 0);
        (self.from, self.to) = (0, self.to - self.from);
        let room = self.window.get_mut(self.to..).unwrap_or_default();
        match self.source.read(room) {
            Ok(0) => self.ended = true,
            Ok(count) => {
                self.to += count;
                self.read = self.read.saturating_add(count as u64);
                if self.read > self.caps.bytes {
                    self.failure = Some(Fault::Bomb(self.caps.bytes));
                }
            }
            Err(error) => self.failure = Some(fault_of(&error, self.codec, self.caps.bytes)),
        }
        !self.ended && self.failure.is_none()
    }

    fn scan<T>(&mut self, read: impl FnOnce(&mut Cursor<'_>) -> Option<T>) -> Option<T> {
        self.ensure(VARLONG_BYTES);
        let mut at = Cursor(self.window.get(self.from..self.to)?);
        let value = read(&mut at)?;
        self.from = self.to - at.0.len();
        Some(value)
    }
}

impl Feed for Stream<'_> {
    type Span = usize;
    type Mark = ();

    fn i8(&mut self) -> Option<i8> {
        self.scan(|at| at.i8())
    }

    fn varint(&mut self) -> Option<i32> {
        self.scan(|at| at.varint())
    }

    fn varlong(&mut self) -> Option<i64> {
        self.scan(|at| at.varlong())
    }

    fn span(&mut self, length: usize) -> Option<usize> {
        let mut left = length;
        loop {
            let there = (self.to - self.from).min(left);
            self.from += there;
            left -= there;
            if left == 0 {
                return Some(length);
            }
            if !self.fill() {
                return None;
            }
        }
    }

    fn left(&self) -> u64 {
        let read = self.read - (self.to - self.from) as u64;
        u64::MAX - read
    }

    fn mark(&self) {}

    fn longest(&self) -> u64 {
        self.caps.record_bytes
    }

    fn has_endless_varint(&self) -> bool {
        // To Kafka's reader of streams it is a record like any other that cannot be read.
        false
    }

    fn length_of(span: usize) -> usize {
        span
    }
}
