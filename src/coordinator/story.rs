//! A machine as a story: events in, records and replies out. However a story ends, its records are replayed from
//! their bytes and compared with the truth it lived by.

use std::collections::BTreeMap;
use std::fmt::Debug;

use crate::clock::Now;

use super::machine::{Output, ReplyId};
use super::records::{Names, Stored};
use super::timers::Timers;

/// A record's key and value.
type Bytes2 = (Vec<u8>, Option<Vec<u8>>);

/// The producer whose open transaction a record belongs to, or a marker in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Within {
    Nothing,
    Transaction(i64),
    Marker(i64, bool),
}

/// A machine without a broker around it.
pub struct Story<M: Stored>
where
    M::Hard: PartialEq + Debug,
{
    /// The truth.
    pub hard: M::Hard,
    /// What lives.
    pub soft: M::Soft,
    /// What the machine looks at.
    pub view: M::View,
    /// The time; moved by [`Story::sleep`].
    pub now: Now,
    /// What was written, as keys and values; markers have empty ones.
    pub log: Vec<Bytes2>,
    /// What the machine wants done.
    pub effects: Vec<M::Effect>,
    /// By position in the log; what is beyond is plain.
    within: Vec<Within>,
    timers: Timers<M::TimerKey>,
    replies: BTreeMap<ReplyId, M::Response>,
    asked: u64,
}

impl<M: Stored> Story<M>
where
    M::Hard: PartialEq + Debug,
{
    /// Nothing has happened yet.
    pub fn new(view: M::View) -> Story<M> {
        let mut story = Story {
            hard: M::Hard::default(),
            soft: M::Soft::default(),
            view,
            now: Now { wall_ms: 1_800_000_000_000, mono_ms: 1_000 },
            log: Vec::new(),
            effects: Vec::new(),
            within: Vec::new(),
            timers: Timers::default(),
            replies: BTreeMap::new(),
            asked: 0,
        };
        story.load();
        story
    }

    /// Something happens to which an answer is expected.
    pub fn ask(&mut self, event: impl FnOnce(ReplyId) -> M::Event) -> ReplyId {
        self.asked += 1;
        let id = ReplyId(self.asked);
        self.tell(event(id));
        id
    }

    /// Something happens.
    pub fn tell(&mut self, event: M::Event) {
        let mut out = Output::new();
        M::step(&self.hard, &mut self.soft, &self.view, self.now, event, &mut out);
        self.settle(out);
    }

    fn settle(&mut self, out: Output<M>) {
        let within = out.producer.map_or(Within::Nothing, |(id, _)| Within::Transaction(id));
        for record in out.records {
            self.within.resize(self.log.len(), Within::Nothing);
            self.within.push(within);
            let (mut key, mut value) = (Vec::new(), Vec::new());
            let has_value = M::encode(&record, &mut key, &mut value);
            self.log.push((key, has_value.then_some(value)));
            M::apply(&mut self.hard, record);
        }
        self.effects.extend(out.effects);
        for change in out.timers {
            self.timers.change(change);
        }
        for (to, response) in out.replies {
            assert!(to.0 <= self.asked, "an answer to nobody");
            assert!(self.replies.insert(to, response).is_none(), "answered twice: {to:?}");
        }
    }

    /// A transaction ends in the log of this machine.
    pub fn marker(&mut self, producer: i64, commit: bool) {
        self.within.resize(self.log.len(), Within::Nothing);
        self.within.push(Within::Marker(producer, commit));
        self.log.push((Vec::new(), None));
        if let Some(record) = M::marker(producer, commit) {
            M::apply(&mut self.hard, record);
        }
    }

    /// The answer, if it is there; it is given once.
    pub fn answer(&mut self, to: ReplyId) -> Option<M::Response> {
        self.replies.remove(&to)
    }

    /// Time passes in small steps until the answer is there.
    #[track_caller]
    pub fn sleep_until_answered(&mut self, to: ReplyId) {
        for _ in 0..100_000 {
            if self.replies.contains_key(&to) {
                return;
            }
            self.sleep(10);
        }
        panic!("no answer in a thousand seconds");
    }

    /// Time passes; timers fire when they are due.
    pub fn sleep(&mut self, ms: u64) {
        let until = self.now.mono_ms + ms;
        while let Some(next) = self.timers.next_ms().filter(|next| *next <= until) {
            self.advance_to(next.max(self.now.mono_ms));
            while let Some(key) = self.timers.pop_due(self.now.mono_ms) {
                self.tell(M::fired(key));
            }
        }
        self.advance_to(until);
    }

    fn advance_to(&mut self, mono_ms: u64) {
        self.now.wall_ms += i64::try_from(mono_ms - self.now.mono_ms).unwrap();
        self.now.mono_ms = mono_ms;
    }

    /// Another broker takes over: what is not on record is lost, and nobody gets an answer.
    pub fn reload(&mut self) {
        self.hard = self.replayed();
        self.load();
    }

    fn load(&mut self) {
        self.timers = Timers::default();
        // What was under way is lost with the broker.
        self.effects.clear();
        let mut out = Output::new();
        self.soft = M::loaded(&self.hard, &self.view, self.now, &mut out);
        self.settle(out);
    }

    fn replayed(&self) -> M::Hard {
        let mut hard = M::Hard::default();
        let mut names = Names::default();
        for (at, (key, value)) in self.log.iter().enumerate() {
            let within = self.within.get(at).copied().unwrap_or(Within::Nothing);
            let record = match within {
                Within::Marker(producer, commit) => M::marker(producer, commit),
                Within::Transaction(id) => M::decode(key, value.as_deref(), Some(id), &mut names).ok(),
                Within::Nothing => M::decode(key, value.as_deref(), None, &mut names).ok(),
            };
            assert!(record.is_some() || matches!(within, Within::Marker(..)), "a record of our own");
            record.into_iter().for_each(|record| M::apply(&mut hard, record));
        }
        hard
    }
}

impl<M: Stored> Drop for Story<M>
where
    M::Hard: PartialEq + Debug,
{
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert_eq!(self.replayed(), self.hard, "replay differs from what was lived");
        }
    }
}
