//! Where the newest batches begin, without looking into a file.
//!
//! Consumers at the tail ask for offsets that were the log's end a moment ago, up to a high watermark that was the
//! log's end a moment ago. One writer, readers that never wait: a slot whose version changed under a reader is
//! taken for a miss.

use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering, fence};

const SLOTS: usize = 16;

/// The newest batch boundaries of a log.
#[derive(Debug)]
pub(super) struct Boundaries {
    slots: [Slot; SLOTS],
    next: AtomicUsize,
}

/// A boundary: the position of `offset` in the segment that starts at `base`.
#[derive(Debug, Default)]
struct Slot {
    /// Odd while the slot changes.
    version: AtomicU64,
    offset: AtomicI64,
    base: AtomicI64,
    position: AtomicU64,
}

impl Boundaries {
    pub(super) fn new() -> Boundaries {
        let boundaries = Boundaries { slots: Default::default(), next: AtomicUsize::new(0) };
        boundaries.clear();
        boundaries
    }

    /// Remembers one. For the one writer.
    pub(super) fn push(&self, offset: i64, base: i64, position: u64) {
        let next = self.next.load(Ordering::Relaxed);
        if let Some(slot) = self.slots.get(next % SLOTS) {
            slot.set(offset, base, position);
        }
        self.next.store(next.wrapping_add(1), Ordering::Relaxed);
    }

    /// Forgets all. For the one writer, when offsets may get other positions.
    pub(super) fn clear(&self) {
        self.slots.iter().for_each(|slot| slot.set(-1, -1, 0));
    }

    /// The position of `offset` in the segment that starts at `base`, if it is remembered.
    pub(super) fn position(&self, offset: i64, base: i64) -> Option<u64> {
        // The newest first: it is the most likely one.
        let next = self.next.load(Ordering::Relaxed);
        (1..=SLOTS).find_map(|back| self.slots.get(next.wrapping_sub(back) % SLOTS)?.get(offset, base))
    }
}

impl Slot {
    fn set(&self, offset: i64, base: i64, position: u64) {
        let version = self.version.load(Ordering::Relaxed);
        self.version.store(version.wrapping_add(1), Ordering::Relaxed);
        fence(Ordering::Release);
        self.offset.store(offset, Ordering::Relaxed);
        self.base.store(base, Ordering::Relaxed);
        self.position.store(position, Ordering::Relaxed);
        self.version.store(version.wrapping_add(2), Ordering::Release);
    }

    fn get(&self, offset: i64, base: i64) -> Option<u64> {
        let version = self.version.load(Ordering::Acquire);
        let same = self.offset.load(Ordering::Relaxed) == offset && self.base.load(Ordering::Relaxed) == base;
        let position = self.position.load(Ordering::Relaxed);
        fence(Ordering::Acquire);
        let steady = version.is_multiple_of(2) && self.version.load(Ordering::Relaxed) == version;
        (same && steady).then_some(position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_are_remembered() {
        let boundaries = Boundaries::new();
        assert_eq!(boundaries.position(0, 0), None);
        for n in 0..40 {
            boundaries.push(n * 10, 0, n.unsigned_abs() * 100);
        }
        assert_eq!(boundaries.position(390, 0), Some(3900));
        assert_eq!(boundaries.position(240, 0), Some(2400));
        assert_eq!(boundaries.position(230, 0), None, "too old");
        assert_eq!(boundaries.position(390, 7), None, "another segment");
        assert_eq!(boundaries.position(391, 0), None, "no boundary");
        boundaries.clear();
        assert_eq!(boundaries.position(390, 0), None);
    }

    #[test]
    fn readers_never_see_a_mixture() {
        let boundaries = Boundaries::new();
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let mut hits = 0_u32;
                for n in (0..200_000_i64).chain([199_999; 1]) {
                    if let Some(position) = boundaries.position(n, n / 1000) {
                        assert_eq!(position, n.unsigned_abs() * 3);
                        hits += 1;
                    }
                }
                hits
            });
            for n in 0..200_000_i64 {
                boundaries.push(n, n / 1000, n.unsigned_abs() * 3);
            }
            reader.join().unwrap();
        });
        assert_eq!(boundaries.position(199_999, 199), Some(599_997));
    }
}
