use std::hash::{BuildHasher, DefaultHasher, Hasher};

/// Hashes with a seed that the broker drew: the same seed gives the same order, another one other collisions.
#[derive(Clone, Copy, Debug, Default)]
pub struct SeededHash(pub u64);

impl BuildHasher for SeededHash {
    type Hasher = DefaultHasher;

    fn build_hasher(&self) -> DefaultHasher {
        let mut hasher = DefaultHasher::new();
        hasher.write_u64(self.0);
        hasher
    }
}
