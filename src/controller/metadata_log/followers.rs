//! Who copies the log, and how far each is: what DescribeQuorum shows.

use std::collections::BTreeMap;

use parking_lot::Mutex;

use crate::ids::Uuid;

/// An observer that has not fetched for so long is no longer shown, in ms, as in Kafka.
const FORGOTTEN_MS: i64 = 300_000;

/// A copy of the log, as the leader sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Follower {
    /// `node.id`.
    pub node: i32,
    /// Its metadata directory.
    pub directory: Uuid,
    /// The first offset that it lacks.
    pub log_end: i64,
    /// When it fetched last, ms since 1970.
    pub last_fetch_ms: i64,
    /// When it had last everything, ms since 1970; -1 if never.
    pub last_caught_up_ms: i64,
}

impl Follower {
    /// One that has everything now.
    pub fn current(node: i32, directory: Uuid, log_end: i64, now_ms: i64) -> Follower {
        Follower { node, directory, log_end, last_fetch_ms: now_ms, last_caught_up_ms: now_ms }
    }
}

/// The observers that have fetched of late.
#[derive(Debug, Default)]
pub struct Followers(Mutex<BTreeMap<(i32, Uuid), (Follower, i64)>>);

impl Followers {
    /// Somebody fetches from an offset of a log that ends at another.
    pub fn fetched(&self, node: i32, directory: Uuid, offset: i64, log_end: i64, now_ms: i64) {
        let mut followers = self.0.lock();
        let known = followers.get(&(node, directory));
        let caught_up = match known {
            _ if offset >= log_end => now_ms,
            // It has now what there was when it asked last.
            Some((before, end_then)) if offset >= *end_then => {
                before.last_fetch_ms.max(before.last_caught_up_ms)
            }
            Some((before, _)) => before.last_caught_up_ms,
            None => -1,
        };
        let follower = Follower {
            node,
            directory,
            log_end: offset,
            last_fetch_ms: now_ms,
            last_caught_up_ms: caught_up,
        };
        followers.insert((node, directory), (follower, log_end));
    }

    /// Those that have fetched of late, by node.
    pub fn list(&self, now_ms: i64) -> Vec<Follower> {
        let mut followers = self.0.lock();
        followers.retain(|_, (follower, _)| now_ms.saturating_sub(follower.last_fetch_ms) < FORGOTTEN_MS);
        followers.values().map(|(follower, _)| *follower).collect()
    }

    /// Forgets all: another epoch begins.
    pub fn clear(&self) {
        self.0.lock().clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_observer_is_seen_falling_behind_and_catching_up() {
        let followers = Followers::default();
        let caught_up = |now_ms: i64| followers.list(now_ms)[0].last_caught_up_ms;
        followers.fetched(4, Uuid::ZERO, 0, 10, 100);
        assert_eq!(caught_up(100), -1);
        followers.fetched(4, Uuid::ZERO, 10, 20, 200);
        assert_eq!(caught_up(200), 100, "it had at 100 all there was then");
        followers.fetched(4, Uuid::ZERO, 20, 20, 300);
        assert_eq!(caught_up(300), 300);
        assert_eq!(followers.list(300 + FORGOTTEN_MS), []);
    }
}
