//! The door of chance: every random number of the broker comes from here, so that one seed replays a run.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::ids::Uuid;

/// A seeded generator (xoshiro256++), shared by clones. Not for secrets.
#[derive(Clone, Debug)]
pub struct Rng(Arc<Mutex<[u64; 4]>>);

impl Rng {
    /// Seeds from the operating system.
    pub fn from_system() -> std::io::Result<Rng> {
        let mut seed = [0; 8];
        std::io::Read::read_exact(&mut std::fs::File::open("/dev/urandom")?, &mut seed)?;
        Ok(Rng::from_seed(u64::from_le_bytes(seed)))
    }

    /// The same seed gives the same numbers.
    pub fn from_seed(seed: u64) -> Rng {
        // Splitmix64 spreads the seed over the state, as the generator's authors advise.
        let mut z = seed;
        let state = std::array::from_fn(|_| {
            z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut x = z;
            x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            x ^ (x >> 31)
        });
        Rng(Arc::new(Mutex::new(state)))
    }

    /// 64 random bits.
    pub fn next_u64(&self) -> u64 {
        let mut state = self.0.lock();
        let [a, b, c, d] = *state;
        let result = a.wrapping_add(d).rotate_left(23).wrapping_add(a);
        let t = b << 17;
        let (c, d) = (c ^ a, d ^ b);
        *state = [a ^ d, b ^ c, c ^ t, d.rotate_left(45)];
        result
    }

    /// A number below `bound`; 0 if the bound is 0.
    pub fn below(&self, bound: u64) -> u64 {
        self.next_u64().checked_rem(bound).unwrap_or_default()
    }

    /// A random (version 4) id; its text never starts with a dash, which tools would read as an option.
    pub fn uuid(&self) -> Uuid {
        loop {
            let mut bits = (u128::from(self.next_u64()) << 64) | u128::from(self.next_u64());
            bits &= !(0xf << 76) & !(0b11 << 62);
            bits |= (4 << 76) | (0b10 << 62);
            let id = Uuid(bits.to_be_bytes());
            if !id.to_string().starts_with('-') {
                return id;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_replays() {
        let (a, b) = (Rng::from_seed(7), Rng::from_seed(7));
        let first: Vec<u64> = (0..10).map(|_| a.next_u64()).collect();
        assert_eq!(first, (0..10).map(|_| b.next_u64()).collect::<Vec<_>>());
        assert_ne!(first[0], Rng::from_seed(8).next_u64());
        assert_ne!(a.uuid(), a.uuid());
    }
}
