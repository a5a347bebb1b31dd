//! The last offset of every key, in bounded memory.

use rustix::mm::{Advice, madvise};
use siphasher::sip128::SipHasher13;

/// Memory of an entry: 16 bytes that stand for the key, 8 for the offset. Kafka's map has the same.
const ENTRY_BYTES: u64 = 24;

/// Tables of this size and more are kept in large pages, in bytes: keys lie anywhere, and with small ones finding the page
/// costs more than reading it.
const LARGE_BYTES: usize = 8 << 20;
/// A power of two no smaller than a small page.
const PAGE_BYTES: usize = 64 << 10;

/// What stands for a key.
pub(super) type KeyHash = [u64; 2];

/// Key → last offset. Keys are known by 128 bits of a seeded hash only.
#[derive(Debug)]
pub(super) struct KeyMap {
    /// Two halves of the hash and the offset + 1; 0 is an empty place.
    places: Vec<[u64; 3]>,
    seed: u64,
    keys: u64,
    /// At most so many keys.
    most: u64,
    /// Everything up to here has been seen; -1 before the first.
    latest: i64,
}

impl KeyMap {
    /// A map that uses at most `memory_bytes`, of which `load_factor` (0 to 1) may be filled, and no more than
    /// `records` records need.
    pub(super) fn new(memory_bytes: u64, load_factor: f64, records: u64, seed: u64) -> KeyMap {
        let slots = (memory_bytes / ENTRY_BYTES).max(1);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "a share of a number that fits; casts saturate"
        )]
        let most = ((slots as f64) * load_factor.clamp(0.0, 1.0)) as u64;
        let most = most.clamp(1, slots);
        // A third of the places stays empty, unless the memory is all used.
        let needed = records.saturating_add(records / 2).saturating_add(16).min(slots);
        let places = usize::try_from(needed).unwrap_or(usize::MAX);
        let mut places = vec![[0; 3]; places];
        in_large_pages(&mut places);
        KeyMap { places, seed, keys: 0, most, latest: -1 }
    }

    /// Notes the offset of a key; false if there is no room for more keys.
    pub(super) fn put(&mut self, hash: KeyHash, offset: i64) -> bool {
        if self.keys >= self.most {
            return false;
        }
        let Some(at) = self.place(hash) else { return false };
        if let Some(place) = self.places.get_mut(at) {
            if place[2] == 0 {
                self.keys += 1;
            }
            *place = [hash[0], hash[1], offset.saturating_add(1).unsigned_abs()];
        }
        self.latest = self.latest.max(offset);
        true
    }

    /// The last offset of a key; -1 if it was not seen.
    pub(super) fn get(&self, hash: KeyHash) -> i64 {
        let place = self.place(hash).and_then(|at| self.places.get(at));
        place.and_then(|place| i64::try_from(place[2]).ok()).map_or(-1, |offset| offset.saturating_sub(1))
    }

    /// Everything up to `offset` has been seen.
    pub(super) fn seen(&mut self, offset: i64) {
        self.latest = self.latest.max(offset);
    }

    /// The last offset that was seen; what comes later is unknown.
    pub(super) fn latest(&self) -> i64 {
        self.latest
    }

    /// Where a key is, or would be; `None` if it is not there and there is no room.
    fn place(&self, hash: KeyHash) -> Option<usize> {
        let len = self.places.len();
        let mut at = self.home(hash)?;
        for _ in 0..len {
            let place = self.places.get(at)?;
            if place[2] == 0 || (place[0] == hash[0] && place[1] == hash[1]) {
                return Some(at);
            }
            at = if at + 1 == len { 0 } else { at + 1 };
        }
        None
    }

    /// Where the search for a key begins.
    fn home(&self, hash: KeyHash) -> Option<usize> {
        // The upper half of a product spreads the hash over any length.
        let start = (u128::from(hash[0]) * self.places.len() as u128) >> 64;
        usize::try_from(start).ok()
    }

    /// Has the places of many keys brought nearer. Reads that do not wait for each other are under way together, so that
    /// the accesses that follow find their places in the cache.
    pub(super) fn approach(&self, hashes: impl Iterator<Item = KeyHash>) {
        let mut sum = 0;
        for home in hashes.filter_map(|hash| self.home(hash)) {
            // Its beginning and the end of its neighbour lie in all the lines that are looked at first.
            sum ^= self.places.get(home).map_or(0, |place| place[0]);
            sum ^= self.places.get(home + 1).map_or(0, |place| place[2]);
        }
        std::hint::black_box(sum);
    }

    /// What stands for a key in this map.
    pub(super) fn hash(&self, key: &[u8]) -> KeyHash {
        let hash = SipHasher13::new_with_keys(self.seed, !self.seed).hash(key);
        [hash.h1, hash.h2]
    }
}

/// Asks for large pages before any is touched. A system that has none goes on with small ones.
fn in_large_pages(places: &mut [[u64; 3]]) {
    let range = places.as_mut_ptr_range();
    let (start, end) = (range.start as usize, range.end as usize);
    let (first, last) = (start.next_multiple_of(PAGE_BYTES), end - end % PAGE_BYTES);
    if last.saturating_sub(first) < LARGE_BYTES {
        return;
    }
    // SAFETY: whole pages of memory that is borrowed exclusively; the advice changes none of its bytes.
    #[allow(unsafe_code)]
    let _ = unsafe { madvise(first as *mut _, last - first, Advice::LinuxHugepage) };
}

#[cfg(test)]
mod tests {
    use super::*;

    impl KeyMap {
        fn note(&mut self, key: &[u8], offset: i64) -> bool {
            self.put(self.hash(key), offset)
        }

        fn last(&self, key: &[u8]) -> i64 {
            self.get(self.hash(key))
        }
    }

    #[test]
    fn the_last_offset_of_a_key_counts() {
        let mut map = KeyMap::new(1 << 20, 0.9, 100, 7);
        assert_eq!((map.last(b"a"), map.latest()), (-1, -1));
        assert!(map.note(b"a", 0) && map.note(b"b", 1) && map.note(b"a", 5));
        assert_eq!((map.last(b"a"), map.last(b"b"), map.last(b"c"), map.latest()), (5, 1, -1, 5));
        map.seen(9);
        map.seen(3);
        assert_eq!(map.latest(), 9);
    }

    #[test]
    fn memory_bounds_the_number_of_keys() {
        // 1000 places, of which 900 may be filled, although there may be a million records.
        let mut map = KeyMap::new(24_000, 0.9, 1_000_000, 7);
        let taken = (0..2000_i64).take_while(|n| map.note(&n.to_be_bytes(), *n)).count();
        assert_eq!((taken, map.latest()), (900, 899));
        assert!(!map.note(&0_i64.to_be_bytes(), 5000), "full is full, for known keys too");
        assert!((0..900_i64).all(|n| map.last(&n.to_be_bytes()) == n));
        assert_eq!(map.last(&950_i64.to_be_bytes()), -1);
    }

    #[test]
    fn few_records_take_little_memory() {
        let map = KeyMap::new(128 << 20, 0.9, 10, 7);
        assert!(map.places.len() < 100);
    }

    #[test]
    fn a_table_in_large_pages_is_a_table() {
        let mut map = KeyMap::new(64 << 20, 0.9, 1_000_000, 7);
        assert!((0..300_000_i64).all(|n| map.note(&n.to_be_bytes(), n)));
        map.approach((0..100_i64).map(|n| map.hash(&n.to_be_bytes())));
        assert!((0..300_000_i64).all(|n| map.last(&n.to_be_bytes()) == n));
        assert_eq!(map.last(&300_000_i64.to_be_bytes()), -1);
    }
}
