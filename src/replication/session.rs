//! A follower's side of an incremental fetch session (KIP-227): what the leader knows already is not said again.

use std::collections::BTreeMap;

use barnabas_protocol::ErrorCode;

use crate::ids::Uuid;

/// A partition by its topic's id and its index.
pub(super) type Key = (Uuid, i32);

/// What is asked of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ask {
    /// Leader epoch.
    pub(super) epoch: i32,
    /// The end of the follower's log.
    pub(super) offset: i64,
    /// Epoch of its last batch, or -1.
    pub(super) last_epoch: i32,
    /// The start of its log.
    pub(super) log_start: i64,
    /// What it knows to be committed.
    pub(super) high_watermark: i64,
}

/// The next request.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) session_id: i32,
    pub(super) session_epoch: i32,
    pub(super) asks: Vec<(Key, Ask)>,
    pub(super) forgotten: Vec<Key>,
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Session {
    /// 0: none.
    id: i32,
    /// Of the next request; 0 asks for a session.
    epoch: i32,
    /// What the leader knows.
    told: BTreeMap<Key, Ask>,
}

impl Session {
    /// The request that says what is wanted now.
    pub(super) fn plan(&mut self, wanted: &BTreeMap<Key, Ask>) -> Plan {
        if self.epoch == 0 {
            self.told.clear();
        }
        let asks = wanted.iter().filter(|(key, ask)| self.told.get(key) != Some(ask));
        let asks: Vec<(Key, Ask)> = asks.map(|(key, ask)| (*key, *ask)).collect();
        let forgotten = self.told.keys().filter(|key| !wanted.contains_key(key)).copied().collect();
        self.told = wanted.clone();
        Plan { session_id: self.id, session_epoch: self.epoch, asks, forgotten }
    }

    /// The leader has answered.
    pub(super) fn answered(&mut self, session_id: i32) {
        if session_id == 0 {
            self.lost();
        } else {
            self.id = session_id;
            self.epoch = if self.epoch == i32::MAX { 1 } else { self.epoch.saturating_add(1) };
        }
    }

    /// The leader has refused the request as a whole; true if another session mends that.
    pub(super) fn refused(&mut self, error: ErrorCode) -> bool {
        let had_one = self.id != 0;
        // A request of epoch 0 closes the session that it names.
        self.epoch = 0;
        if error == ErrorCode::FetchSessionIdNotFound {
            self.id = 0;
        }
        had_one
            && matches!(
                error,
                ErrorCode::FetchSessionIdNotFound
                    | ErrorCode::InvalidFetchSessionEpoch
                    | ErrorCode::FetchSessionTopicIdError
            )
    }

    /// Nobody knows what the leader knows.
    pub(super) fn lost(&mut self) {
        *self = Session::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(offset: i64) -> Ask {
        Ask { epoch: 1, offset, last_epoch: 1, log_start: 0, high_watermark: 0 }
    }

    #[test]
    fn only_what_changed_is_said_in_a_session() {
        let (a, b, c) = ((Uuid([1; 16]), 0), (Uuid([1; 16]), 1), (Uuid([2; 16]), 0));
        let mut session = Session::default();
        let mut wanted = BTreeMap::from([(a, ask(0)), (b, ask(0))]);
        let first = session.plan(&wanted);
        assert_eq!((first.session_id, first.session_epoch, first.asks.len()), (0, 0, 2));
        session.answered(7);
        let quiet = session.plan(&wanted);
        assert_eq!(quiet, Plan { session_id: 7, session_epoch: 1, ..Plan::default() });
        session.answered(7);
        wanted.remove(&a);
        wanted.insert(b, ask(5));
        wanted.insert(c, ask(0));
        let changed = session.plan(&wanted);
        assert_eq!(changed.session_epoch, 2);
        assert_eq!(changed.asks, [(b, ask(5)), (c, ask(0))]);
        assert_eq!(changed.forgotten, [a]);
    }

    #[test]
    fn a_lost_session_is_begun_anew_with_everything() {
        let wanted = BTreeMap::from([((Uuid([1; 16]), 0), ask(0))]);
        let mut session = Session::default();
        session.plan(&wanted);
        session.answered(7);
        assert!(session.refused(ErrorCode::InvalidFetchSessionEpoch));
        let again = session.plan(&wanted);
        assert_eq!(
            (again.session_id, again.session_epoch, again.asks.len()),
            (7, 0, 1),
            "the old one is closed"
        );
        session.answered(8);
        assert!(session.refused(ErrorCode::FetchSessionIdNotFound));
        assert_eq!(session.plan(&wanted).session_id, 0);
        // Without room for sessions on the leader every request is whole.
        session.answered(0);
        assert_eq!(session.plan(&wanted).asks.len(), 1);
        assert!(!session.refused(ErrorCode::UnknownServerError));
    }
}
