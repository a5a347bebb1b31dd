//! Incremental fetch sessions (KIP-227): a client names its partitions once and then only what changes.
//!
//! The broker keeps, for each session, the partitions in the order they will be served and what it last
//! said of each. A partition that got records goes to the end, so that a full answer does not starve others.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use barnabas_protocol::ErrorCode;
use parking_lot::Mutex;

use crate::ids::{TopicName, Uuid};
use crate::rng::Rng;

/// "No session": the id of requests and replies without one.
pub const NO_SESSION: i32 = 0;
/// Epoch of a request that opens a session.
const FIRST_EPOCH: i32 = 0;
/// Epoch of a request that wants none, and closes the one it names.
const LAST_EPOCH: i32 = -1;
/// A session unused for this long may be put out by a new one, in ms.
const STALE_AFTER_MS: u64 = 120_000;

/// A topic as the request names it: by id from version 13 on, by name before.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TopicKey {
    /// Versions 13 and later.
    Id(Uuid),
    /// Versions up to 12.
    Name(TopicName),
}

/// What a client wants of a partition.
#[derive(Clone, Debug, PartialEq)]
pub struct Wanted {
    /// The topic.
    pub topic: TopicKey,
    /// The partition's index.
    pub partition: i32,
    /// The leader epoch the client knows, or -1.
    pub current_leader_epoch: i32,
    /// The offset to start at.
    pub fetch_offset: i64,
    /// Epoch of the last record a follower has, or -1.
    pub last_fetched_epoch: i32,
    /// Log start offset of a follower, or -1.
    pub log_start_offset: i64,
    /// The most bytes to return.
    pub max_bytes: i32,
    /// High watermark of a follower, `i64::MAX` if it does not say.
    pub high_watermark: i64,
}

/// What the client was last told of a partition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// High watermark; -1 after an error, so that the next good answer is sent in any case.
    pub high_watermark: i64,
    /// Log start offset.
    pub log_start_offset: i64,
}

/// A partition of a session.
#[derive(Clone, Debug)]
pub struct Entry {
    /// What is wanted.
    pub wanted: Wanted,
    /// What was said.
    pub told: Told,
}

/// One session.
#[derive(Debug, Default)]
pub struct FetchSession {
    id: i32,
    epoch: i32,
    by_id: bool,
    follower: bool,
    last_used_ms: u64,
    /// By place in the order of serving.
    entries: BTreeMap<u64, Entry>,
    places: HashMap<(TopicKey, i32), u64>,
    next_place: u64,
}

impl FetchSession {
    /// The id that replies carry.
    pub fn id(&self) -> i32 {
        self.id
    }

    /// The partitions with their places, in the order of serving.
    pub fn entries(&self) -> impl Iterator<Item = (u64, &Entry)> {
        self.entries.iter().map(|(place, entry)| (*place, entry))
    }

    /// Adds a partition or changes what is wanted of it.
    pub fn want(&mut self, wanted: Wanted) {
        let key = (wanted.topic.clone(), wanted.partition);
        if let Some(entry) = self.places.get(&key).and_then(|place| self.entries.get_mut(place)) {
            entry.wanted = wanted;
            return;
        }
        // Nothing has been said of it yet: -1 differs from whatever will be.
        self.push(key, Entry { wanted, told: Told { high_watermark: -1, log_start_offset: -1 } });
    }

    fn push(&mut self, key: (TopicKey, i32), entry: Entry) {
        let place = self.next_place;
        self.next_place = place.wrapping_add(1);
        self.entries.insert(place, entry);
        self.places.insert(key, place);
    }

    /// The client wants no more of a partition.
    pub fn forget(&mut self, topic: &TopicKey, partition: i32) {
        if let Some(place) = self.places.remove(&(topic.clone(), partition)) {
            self.entries.remove(&place);
        }
    }

    /// The client has been told of the partition at `place`. If that came with records, others go first next time.
    pub fn tell(&mut self, place: u64, told: Told, served: bool) {
        if served {
            if let Some(entry) = self.entries.remove(&place) {
                let key = (entry.wanted.topic.clone(), entry.wanted.partition);
                self.push(key, Entry { told, ..entry });
            }
        } else if let Some(entry) = self.entries.get_mut(&place) {
            entry.told = told;
        }
    }
}

/// What a request's session fields mean.
pub enum Begun {
    /// No session.
    Sessionless,
    /// Answer everything, then open a session if there is room.
    Full,
    /// Answer what changed.
    Incremental(Arc<Mutex<FetchSession>>),
}

/// The sessions of a broker.
pub struct FetchSessions {
    /// `max.incremental.fetch.session.cache.slots`.
    slots: usize,
    rng: Rng,
    open: Mutex<HashMap<i32, Arc<Mutex<FetchSession>>>>,
}

impl FetchSessions {
    /// Room for `slots` sessions.
    pub fn new(slots: usize, rng: Rng) -> FetchSessions {
        FetchSessions { slots, rng, open: Mutex::default() }
    }

    /// Finds the session that a request names and moves its epoch on.
    ///
    /// # Errors
    /// The session is not known, its epoch is another, or it was opened with the other kind of topic names.
    pub fn begin(&self, id: i32, epoch: i32, by_id: bool, now_ms: u64) -> Result<Begun, ErrorCode> {
        if epoch == FIRST_EPOCH || epoch == LAST_EPOCH {
            if id != NO_SESSION {
                self.open.lock().remove(&id);
            }
            return Ok(if epoch == FIRST_EPOCH { Begun::Full } else { Begun::Sessionless });
        }
        let found = self.open.lock().get(&id).cloned();
        let found = found.ok_or(ErrorCode::FetchSessionIdNotFound)?;
        let mut session = found.lock();
        if session.epoch != epoch {
            return Err(ErrorCode::InvalidFetchSessionEpoch);
        }
        if session.by_id != by_id {
            return Err(ErrorCode::FetchSessionTopicIdError);
        }
        session.epoch = if epoch == i32::MAX { 1 } else { epoch.wrapping_add(1) };
        session.last_used_ms = now_ms;
        drop(session);
        Ok(Begun::Incremental(found))
    }

    /// A session whose last partition was forgotten is closed.
    pub fn close_if_empty(&self, session: &Mutex<FetchSession>) -> bool {
        let session = session.lock();
        let empty = session.entries.is_empty();
        let id = session.id;
        drop(session);
        if empty {
            self.open.lock().remove(&id);
        }
        empty
    }

    /// Opens a session with the partitions just answered; its id, or [`NO_SESSION`] if there is no room.
    pub fn open(
        &self,
        entries: impl Iterator<Item = Entry>,
        by_id: bool,
        follower: bool,
        now_ms: u64,
    ) -> i32 {
        let mut open = self.open.lock();
        if open.len() >= self.slots && !make_room(&mut open, follower, now_ms) {
            return NO_SESSION;
        }
        let id = loop {
            let id = i32::try_from(self.rng.below(i32::MAX as u64)).unwrap_or_default().saturating_add(1);
            if !open.contains_key(&id) {
                break id;
            }
        };
        let mut session =
            FetchSession { id, epoch: 1, by_id, follower, last_used_ms: now_ms, ..FetchSession::default() };
        for entry in entries {
            session.push((entry.wanted.topic.clone(), entry.wanted.partition), entry);
        }
        open.insert(id, Arc::new(Mutex::new(session)));
        id
    }
}

/// Puts out a session for a new one: a stale one, or a consumer's for a follower. False if none may go.
fn make_room(open: &mut HashMap<i32, Arc<Mutex<FetchSession>>>, follower: bool, now_ms: u64) -> bool {
    let oldest = open
        .values()
        // A session being answered right now is locked, and not idle.
        .filter_map(|session| {
            session.try_lock().map(|session| (session.last_used_ms, session.id, session.follower))
        })
        .filter(|(used_ms, _, theirs)| {
            now_ms.saturating_sub(*used_ms) > STALE_AFTER_MS || (follower && !theirs)
        })
        .min();
    oldest.is_some_and(|(_, id, _)| open.remove(&id).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(partition: i32) -> Wanted {
        Wanted {
            topic: TopicKey::Name("t".into()),
            partition,
            current_leader_epoch: -1,
            fetch_offset: 0,
            last_fetched_epoch: -1,
            log_start_offset: -1,
            max_bytes: 1000,
            high_watermark: i64::MAX,
        }
    }

    fn entries(count: i32) -> impl Iterator<Item = Entry> {
        (0..count).map(|partition| Entry { wanted: wanted(partition), told: Told::default() })
    }

    fn sessions(slots: usize) -> FetchSessions {
        FetchSessions::new(slots, Rng::from_seed(1))
    }

    #[test]
    fn epochs_must_follow_one_another() {
        let sessions = sessions(10);
        assert!(matches!(sessions.begin(0, 0, false, 0), Ok(Begun::Full)));
        let id = sessions.open(entries(2), false, false, 0);
        assert_ne!(id, NO_SESSION);
        assert!(matches!(sessions.begin(id, 1, false, 0), Ok(Begun::Incremental(_))));
        assert_eq!(sessions.begin(id, 1, false, 0).err(), Some(ErrorCode::InvalidFetchSessionEpoch));
        assert_eq!(sessions.begin(id, 2, true, 0).err(), Some(ErrorCode::FetchSessionTopicIdError));
        assert!(matches!(sessions.begin(id, -1, false, 0), Ok(Begun::Sessionless)));
        assert_eq!(sessions.begin(id, 2, false, 0).err(), Some(ErrorCode::FetchSessionIdNotFound));
    }

    #[test]
    fn who_got_records_comes_last_next_time() {
        let sessions = sessions(10);
        let id = sessions.open(entries(3), false, false, 0);
        let Ok(Begun::Incremental(session)) = sessions.begin(id, 1, false, 0) else { panic!("it is open") };
        let mut session = session.lock();
        let first = session.entries().next().map(|(place, _)| place).expect("three partitions");
        session.tell(first, Told::default(), true);
        session.forget(&TopicKey::Name("t".into()), 1);
        session.want(wanted(7));
        session.want(Wanted { fetch_offset: 9, ..wanted(2) });
        let order: Vec<(i32, i64)> =
            session.entries().map(|(_, entry)| (entry.wanted.partition, entry.wanted.fetch_offset)).collect();
        assert_eq!(order, [(2, 9), (0, 0), (7, 0)]);
    }

    #[test]
    fn a_full_house_admits_only_over_stale_sessions_or_for_followers() {
        let sessions = sessions(2);
        let (first, second) =
            (sessions.open(entries(1), false, false, 0), sessions.open(entries(1), false, false, 1));
        assert_eq!(sessions.open(entries(1), false, false, 100), NO_SESSION);
        let follower = sessions.open(entries(1), false, true, 100);
        assert_ne!(follower, NO_SESSION);
        assert_eq!(sessions.begin(first, 1, false, 0).err(), Some(ErrorCode::FetchSessionIdNotFound));
        assert_ne!(sessions.open(entries(1), false, false, STALE_AFTER_MS + 2), NO_SESSION);
        assert_eq!(sessions.begin(second, 1, false, 0).err(), Some(ErrorCode::FetchSessionIdNotFound));
    }
}
