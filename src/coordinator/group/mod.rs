//! The group coordinator's machine: who is in which group, and what has been committed.
//!
//! [`Hard`] is what the records of `__consumer_offsets` say; [`Soft`] holds the groups as they live, with their
//! members and who waits. A group exists if `Soft` has it: it is made by a first join or commit, and ends by
//! DeleteGroups or when its last offset has expired. One file per verb.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::clock::Now;
use crate::coordinator::machine::{Machine, Output};
use crate::ids::TopicName;

pub mod apply;
pub mod classic;
mod codec;
mod delete;
mod describe;
mod error;
pub mod event;
pub mod java_hash;
mod loaded;
pub mod offsets;
pub mod record;
pub mod response;
mod retention;
mod settings;
mod subscription;
#[cfg(test)]
mod tests;

pub use apply::Hard;
pub use classic::state::ClassicGroup;
pub use error::GroupError;
pub use event::{Event, Request, TimerKey};
pub use record::Record;
pub use response::Response;
pub use settings::GroupSettings;

/// A group's name, unique in the cluster.
pub type GroupId = Arc<str>;

/// A member's name, unique in its group.
pub type MemberId = Arc<str>;

/// The protocol a group's members speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// JoinGroup and SyncGroup, or offsets alone.
    Classic,
    /// KIP-848.
    Consumer,
    /// KIP-932.
    Share,
    /// KIP-1071.
    Streams,
}

impl Kind {
    /// Kafka's name.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Classic => "classic",
            Kind::Consumer => "consumer",
            Kind::Share => "share",
            Kind::Streams => "streams",
        }
    }
}

/// What is not durable: the groups as they live.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Soft {
    groups: BTreeMap<GroupId, ClassicGroup>,
    /// Deleted topics whose offsets are on their way out.
    gone_topics: BTreeSet<TopicName>,
}

impl Soft {
    /// A group as it lives.
    pub fn group(&self, group: &str) -> Option<&ClassicGroup> {
        self.groups.get(group)
    }
}

/// The group coordinator.
#[derive(Clone, Copy, Debug)]
pub struct GroupMachine;

/// No effects yet: assignors and regular expressions of KIP-848 will be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {}

/// What every verb needs besides its group.
struct Step<'a> {
    hard: &'a Hard,
    settings: &'a GroupSettings,
    now: Now,
    out: &'a mut Output<GroupMachine>,
}

impl Machine for GroupMachine {
    type Hard = Hard;
    type Soft = Soft;
    type View = GroupSettings;
    type Event = Event;
    type Record = Record;
    type Response = Response;
    type Effect = Effect;
    type TimerKey = TimerKey;

    fn step(
        hard: &Hard,
        soft: &mut Soft,
        view: &GroupSettings,
        now: Now,
        event: Event,
        out: &mut Output<GroupMachine>,
    ) {
        let cx = &mut Step { hard, settings: view, now, out };
        match event {
            Event::Ask(reply, request) => match request {
                Request::Join(request) => classic::join::join(cx, soft, reply, &request),
                Request::Sync(request) => classic::sync::sync(cx, soft, reply, request),
                Request::Heartbeat(request) => {
                    let answer = classic::heartbeat::heartbeat(cx, soft, &request);
                    cx.out.reply(reply, Response::Heartbeat(answer));
                }
                Request::Leave(request) => {
                    let answer = classic::leave::leave(cx, soft, &request);
                    cx.out.reply(reply, Response::Leave(answer));
                }
                Request::Commit(request) => {
                    let answer = offsets::commit::commit(cx, soft, request);
                    cx.out.reply(reply, Response::Commit(answer));
                }
                Request::Fetch(request) => {
                    let answer = offsets::fetch::fetch(cx.hard, soft, &request);
                    cx.out.reply(reply, Response::Fetch(answer));
                }
                Request::DeleteOffsets(request) => {
                    let answer = offsets::delete::delete(cx, soft, &request);
                    cx.out.reply(reply, Response::DeleteOffsets(answer));
                }
                Request::List(filter) => {
                    let answer = describe::list(cx.hard, soft, &filter);
                    cx.out.reply(reply, Response::List(answer));
                }
                Request::Describe(group) => {
                    let answer = describe::describe(soft, &group);
                    cx.out.reply(reply, Response::Describe(answer));
                }
                Request::Delete(group) => {
                    let answer = delete::delete(cx, soft, &group);
                    cx.out.reply(reply, Response::Delete(answer));
                }
            },
            Event::Timer(TimerKey::Session { group, member }) => {
                classic::expire::session(cx, soft, &group, &member);
            }
            Event::Timer(TimerKey::Join(group)) => classic::rebalance::join_time_is_up(cx, soft, &group),
            Event::Timer(TimerKey::Sync(group)) => classic::expire::unsynced(cx, soft, &group),
            Event::Timer(TimerKey::Retention) => retention::expire(cx, soft),
            Event::Timer(TimerKey::GoneTopics) => offsets::delete::forget_topics(cx, soft, Vec::new()),
            Event::TopicsDeleted(topics) => offsets::delete::forget_topics(cx, soft, topics),
        }
    }

    fn apply(hard: &mut Hard, record: Record) {
        apply::apply(hard, record);
    }

    fn loaded(hard: &Hard, view: &GroupSettings, now: Now, out: &mut Output<GroupMachine>) -> Soft {
        loaded::loaded(&mut Step { hard, settings: view, now, out })
    }

    fn fired(key: TimerKey) -> Event {
        Event::Timer(key)
    }
}
