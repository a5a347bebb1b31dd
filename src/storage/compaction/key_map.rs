//! The last offset of every key, in bounded memory.

use std::hash::{DefaultHasher, Hasher};

/// Memory of an entry: 16 bytes that stand for the key, 8 for the offset. Kafka's map has the same.
const ENTRY_BYTES: u64 = 24;

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
        KeyMap { places: vec![[0; 3]; places], seed, keys: 0, most, latest: -1 }
    }

    /// Notes the offset of a key; false if there is no room for more keys.
    pub(super) fn put(&mut self, key: &[u8], offset: i64) -> bool {
        if self.keys >= self.most {
            return false;
        }
        let hash = self.hash(key);
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
    pub(super) fn get(&self, key: &[u8]) -> i64 {
        let place = self.place(self.hash(key)).and_then(|at| self.places.get(at));
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
    fn place(&self, hash: [u64; 2]) -> Option<usize> {
        let len = self.places.len();
        // The upper half of a product spreads the hash over any length.
        let start = (u128::from(hash[0]) * len as u128) >> 64;
        let mut at = usize::try_from(start).ok()?;
        for _ in 0..len {
            let place = self.places.get(at)?;
            if place[2] == 0 || (place[0] == hash[0] && place[1] == hash[1]) {
                return Some(at);
            }
            at = if at + 1 == len { 0 } else { at + 1 };
        }
        None
    }

    fn hash(&self, key: &[u8]) -> [u64; 2] {
        [self.seed, !self.seed].map(|seed| {
            let mut hasher = DefaultHasher::new();
            hasher.write_u64(seed);
            hasher.write(key);
            hasher.finish()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_offset_of_a_key_counts() {
        let mut map = KeyMap::new(1 << 20, 0.9, 100, 7);
        assert_eq!((map.get(b"a"), map.latest()), (-1, -1));
        assert!(map.put(b"a", 0) && map.put(b"b", 1) && map.put(b"a", 5));
        assert_eq!((map.get(b"a"), map.get(b"b"), map.get(b"c"), map.latest()), (5, 1, -1, 5));
        map.seen(9);
        map.seen(3);
        assert_eq!(map.latest(), 9);
    }

    #[test]
    fn memory_bounds_the_number_of_keys() {
        // 1000 places, of which 900 may be filled, although there may be a million records.
        let mut map = KeyMap::new(24_000, 0.9, 1_000_000, 7);
        let taken = (0..2000_i64).take_while(|n| map.put(&n.to_be_bytes(), *n)).count();
        assert_eq!((taken, map.latest()), (900, 899));
        assert!(!map.put(&0_i64.to_be_bytes(), 5000), "full is full, for known keys too");
        assert!((0..900_i64).all(|n| map.get(&n.to_be_bytes()) == n));
        assert_eq!(map.get(&950_i64.to_be_bytes()), -1);
    }

    #[test]
    fn few_records_take_little_memory() {
        let map = KeyMap::new(128 << 20, 0.9, 10, 7);
        assert!(map.places.len() < 100);
    }
}
