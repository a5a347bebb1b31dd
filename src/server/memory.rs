//! What all receive buffers together may hold (`queued.max.request.bytes`), and the buffers themselves.
//!
//! A connection owns a buffer only while bytes of a request are in it. A buffer is granted whole, from
//! one account for the broker, before the first byte of a large frame is read into it; so what peers
//! announce costs nothing, and what they send is bounded.

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use parking_lot::Mutex;

/// What a connection starts reading into: room for a burst of small requests.
pub const SMALL_BUFFER: usize = 16 * 1024;
/// Frames up to this size draw on the share that large ones cannot touch.
pub const SMALL_FRAME: usize = 64 * 1024;
/// Buffers above this are given back to the allocator at once.
const LARGEST_KEPT: usize = 1024 * 1024;
/// Bytes of buffers kept for the next connection that wants one.
const KEPT: usize = 4 * 1024 * 1024;

/// The account. Cheap to clone.
#[derive(Clone)]
pub struct Memory(Arc<Mutex<State>>);

struct State {
    total: usize,
    used: usize,
    used_by_small: usize,
    kept: Vec<Vec<u8>>,
    kept_bytes: usize,
    next_ticket: u64,
    /// Who waits for how much, in the order of asking.
    waiting: BTreeMap<u64, (usize, Waker)>,
}

impl State {
    /// Whoever comes while anything is free gets all it asks for, as in Kafka: otherwise a large frame could
    /// wait for ever behind small ones. So at most one frame more than the account is granted. Small ones have
    /// a share of their own, whatever large ones hold.
    fn fits(&self, bytes: usize) -> bool {
        let share = self.total / 8;
        if bytes <= SMALL_FRAME {
            self.used < self.total || self.used_by_small < share
        } else {
            self.used < self.total.saturating_sub(share)
        }
    }

    fn take(&mut self, bytes: usize) -> Vec<u8> {
        self.used = self.used.saturating_add(bytes);
        if bytes <= SMALL_FRAME {
            self.used_by_small = self.used_by_small.saturating_add(bytes);
        }
        if let Some(at) = self.kept.iter().rposition(|buffer| buffer.len() == bytes) {
            self.kept_bytes = self.kept_bytes.saturating_sub(bytes);
            return self.kept.swap_remove(at);
        }
        vec![0; bytes]
    }
}

/// A place in the queue of those who wait for memory; leaving drops it.
#[derive(Default)]
pub struct Place(Option<(u64, Memory)>);

impl Place {
    /// True while waiting.
    pub fn is_taken(&self) -> bool {
        self.0.is_some()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some((ticket, memory)) = self.0.take() {
            memory.leave(ticket);
        }
    }
}

impl Memory {
    /// An account of `total` bytes.
    pub fn new(total: usize) -> Memory {
        Memory(Arc::new(Mutex::new(State {
            total,
            used: 0,
            used_by_small: 0,
            kept: Vec::new(),
            kept_bytes: 0,
            next_ticket: 0,
            waiting: BTreeMap::new(),
        })))
    }

    /// A buffer for `bytes` (rounded up to a power of two), or a place in the queue for it.
    /// Small requests pass large ones that wait; among equals the first come is the first served.
    pub fn poll_acquire(&self, cx: &Context<'_>, bytes: usize, place: &mut Place) -> Poll<Buffer> {
        let bytes = bytes.max(SMALL_BUFFER).checked_next_power_of_two().unwrap_or(bytes);
        let mut state = self.0.lock();
        let mine = place.0.as_ref().map(|(ticket, _)| *ticket);
        let small = bytes <= SMALL_FRAME;
        let behind = state
            .waiting
            .iter()
            .take_while(|(ticket, _)| mine.is_none_or(|mine| **ticket < mine))
            .any(|(_, (wanted, _))| !small || *wanted <= SMALL_FRAME);
        if !behind && state.fits(bytes) {
            let buffer = state.take(bytes);
            drop(state);
            *place = Place::default();
            return Poll::Ready(Buffer { bytes: buffer, memory: self.clone() });
        }
        let ticket = mine.unwrap_or(state.next_ticket);
        if mine.is_none() {
            state.next_ticket = ticket.wrapping_add(1);
        }
        state.waiting.insert(ticket, (bytes, cx.waker().clone()));
        if mine.is_none() {
            place.0 = Some((ticket, self.clone()));
        }
        Poll::Pending
    }

    /// Counts `bytes` that a request has copied and holds on to while it waits: the frame they came in is given back.
    pub fn hold(&self, bytes: usize) -> Held {
        let mut state = self.0.lock();
        state.used = state.used.saturating_add(bytes);
        Held { bytes, memory: self.clone() }
    }

    /// True while somebody waits: then who holds a buffer must fill it at a decent pace.
    pub fn contended(&self) -> bool {
        !self.0.lock().waiting.is_empty()
    }

    /// Bytes granted now.
    pub fn used(&self) -> usize {
        self.0.lock().used
    }

    /// Changes the account, and wakes whoever can go on by that.
    fn free(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.0.lock();
        change(&mut state);
        let wakers = front(&state);
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }

    fn leave(&self, ticket: u64) {
        self.free(|state| {
            state.waiting.remove(&ticket);
        });
    }

    fn give_back(&self, buffer: Vec<u8>) {
        let bytes = buffer.len();
        self.free(|state| {
            state.used = state.used.saturating_sub(bytes);
            if bytes <= SMALL_FRAME {
                state.used_by_small = state.used_by_small.saturating_sub(bytes);
            }
            if bytes <= LARGEST_KEPT && state.kept_bytes.saturating_add(bytes) <= KEPT {
                state.kept_bytes = state.kept_bytes.saturating_add(bytes);
                state.kept.push(buffer);
            }
        });
    }
}

/// The next in line, and the next small one, which may pass it.
fn front(state: &State) -> Vec<Waker> {
    let first = state.waiting.iter().next();
    let small = state.waiting.iter().find(|(_, (bytes, _))| *bytes <= SMALL_FRAME);
    let small = small.filter(|(ticket, _)| first.is_some_and(|(other, _)| other != *ticket));
    first.into_iter().chain(small).map(|(_, (_, waker))| waker.clone()).collect()
}

/// A granted buffer, returned to the account when dropped. Its contents are whatever was there before.
pub struct Buffer {
    bytes: Vec<u8>,
    memory: Memory,
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.memory.give_back(std::mem::take(&mut self.bytes));
    }
}

/// Bytes that a waiting request holds, given back when dropped.
pub struct Held {
    bytes: usize,
    memory: Memory,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.memory.free(|state| state.used = state.used.saturating_sub(self.bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn acquire(memory: &Memory, bytes: usize, place: &mut Place) -> Option<Buffer> {
        let cx = Context::from_waker(Waker::noop());
        match memory.poll_acquire(&cx, bytes, place) {
            Poll::Ready(buffer) => Some(buffer),
            Poll::Pending => None,
        }
    }

    #[test]
    fn large_frames_wait_in_order_and_small_ones_pass_them() {
        let memory = Memory::new(1024 * 1024);
        let first = acquire(&memory, 512 * 1024, &mut Place::default()).expect("there is room");
        let second = acquire(&memory, 512 * 1024, &mut Place::default()).expect("something is free");
        let (mut third_place, mut fourth_place) = (Place::default(), Place::default());
        assert!(acquire(&memory, 512 * 1024, &mut third_place).is_none(), "nothing is free");
        assert!(acquire(&memory, 100 * 1024, &mut fourth_place).is_none(), "it would overtake the third");
        let small = acquire(&memory, 1000, &mut Place::default()).expect("small ones have their share");
        assert!(memory.contended());
        drop(first);
        let third = acquire(&memory, 512 * 1024, &mut third_place).expect("its turn");
        assert!(acquire(&memory, 100 * 1024, &mut fourth_place).is_none(), "not yet");
        drop(second);
        let fourth = acquire(&memory, 100 * 1024, &mut fourth_place).expect("and then the next one's");
        assert!(!memory.contended());
        drop((third, fourth, small));
        assert_eq!(memory.used(), 0);
    }

    #[test]
    fn what_waiting_requests_hold_is_missing_to_large_frames() {
        let memory = Memory::new(1024 * 1024);
        let held = memory.hold(2 * 1024 * 1024);
        let mut place = Place::default();
        assert!(acquire(&memory, 100 * 1024, &mut place).is_none());
        let small = acquire(&memory, 1000, &mut Place::default()).expect("small ones have their share");
        drop(held);
        let large = acquire(&memory, 100 * 1024, &mut place).expect("it was given back");
        drop((small, large));
        assert_eq!(memory.used(), 0);
    }

    #[test]
    fn a_frame_larger_than_the_account_passes_and_then_only_the_share_of_small_ones_is_left() {
        let memory = Memory::new(256 * 1024);
        let only = acquire(&memory, 1024 * 1024, &mut Place::default()).expect("something is free");
        let mut place = Place::default();
        assert!(acquire(&memory, 100 * 1024, &mut place).is_none());
        drop(place);
        assert!(!memory.contended(), "who leaves the queue is forgotten");
        let small: Vec<Buffer> = (0..10).map_while(|_| acquire(&memory, 10, &mut Place::default())).collect();
        assert_eq!(small.len(), 2, "an eighth");
        drop((only, small));
        assert_eq!(memory.used(), 0);
    }
}
