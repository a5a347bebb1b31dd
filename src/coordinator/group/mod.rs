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
mod assignor;
pub mod classic;
mod codec;
pub mod consumer;
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
pub mod view;

pub use apply::Hard;
pub use classic::state::ClassicGroup;
pub use error::GroupError;
pub use event::{Event, Request, TimerKey};
pub use record::Record;
pub use response::Response;
pub use settings::{ConsumerSettings, GroupSettings, MigrationPolicy};
pub use view::{Cluster, View};

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
    consumers: BTreeMap<GroupId, consumer::Live>,
    /// Version of the metadata that brought the newest topics.
    newest_topics: i64,
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

/// Work for another thread.
#[derive(Clone, Debug)]
pub enum Effect {
    /// Look up which topics regular expressions stand for.
    Resolve {
        /// The group.
        group: GroupId,
        /// The expressions of its members.
        regexes: Vec<Arc<str>>,
        /// Where to look.
        cluster: Arc<dyn Cluster>,
    },
}

/// What every verb needs besides its group.
struct Step<'a> {
    hard: &'a Hard,
    settings: &'a GroupSettings,
    cluster: &'a Arc<dyn Cluster>,
    now: Now,
    out: &'a mut Output<GroupMachine>,
}

impl<'a> Step<'a> {
    fn new(hard: &'a Hard, view: &'a View, now: Now, out: &'a mut Output<GroupMachine>) -> Step<'a> {
        Step { hard, settings: &view.settings, cluster: &view.cluster, now, out }
    }

    fn consumer_record(&mut self, group: &GroupId, change: consumer::Change) {
        self.out.record(Record::Consumer { group: group.clone(), change });
    }

    /// How long a member of a consumer group may be silent, in milliseconds.
    fn session_ms(&self, group: &str) -> i32 {
        let consumer = &self.settings.consumer;
        let own = self.cluster.overrides(group).session_ms;
        own.map_or(consumer.session_ms, |own| own.max(consumer.min_session_ms).min(consumer.max_session_ms))
    }

    /// The same for one member: those that speak the classic protocol have said it themselves.
    fn member_session_ms(&self, group: &str, about: &consumer::state::About) -> i32 {
        about.classic.as_ref().map_or_else(|| self.session_ms(group), |classic| classic.session_timeout_ms)
    }

    /// How often members of a consumer group report, in milliseconds.
    fn heartbeat_ms(&self, group: &str) -> i32 {
        let consumer = &self.settings.consumer;
        let own = self.cluster.overrides(group).heartbeat_ms;
        own.map_or(consumer.heartbeat_ms, |own| {
            own.max(consumer.min_heartbeat_ms).min(consumer.max_heartbeat_ms)
        })
    }

    /// Shortest time between two assignments of a consumer group, in milliseconds.
    fn assignment_interval_ms(&self, group: &str) -> i64 {
        let own = self.cluster.overrides(group).assignment_interval_ms;
        i64::from(own.unwrap_or(self.settings.consumer.assignment_interval_ms))
    }
}

impl Machine for GroupMachine {
    type Hard = Hard;
    type Soft = Soft;
    type View = View;
    type Event = Event;
    type Record = Record;
    type Response = Response;
    type Effect = Effect;
    type TimerKey = TimerKey;

    fn step(
        hard: &Hard,
        soft: &mut Soft,
        view: &View,
        now: Now,
        event: Event,
        out: &mut Output<GroupMachine>,
    ) {
        let cx = &mut Step::new(hard, view, now, out);
        match event {
            Event::Ask(reply, request) => match request {
                Request::Join(request) => classic::join::join(cx, soft, reply, &request),
                Request::Sync(request) => classic::sync::sync(cx, soft, reply, request),
                Request::Beat(request) => {
                    let answer = consumer::heartbeat::heartbeat(cx, soft, &request);
                    cx.out.reply(reply, Response::Beat(answer));
                }
                Request::DescribeConsumers(group) => {
                    let answer = consumer::describe::describe(cx, soft, &group);
                    cx.out.reply(reply, Response::DescribeConsumers(answer));
                }
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
                    let answer = describe::describe(cx.hard, soft, &group);
                    cx.out.reply(reply, Response::Describe(answer));
                }
                Request::Delete(group) => {
                    let answer = delete::delete(cx, soft, &group);
                    cx.out.reply(reply, Response::Delete(answer));
                }
            },
            Event::Timer(TimerKey::Session { group, member }) => {
                if soft.groups.contains_key(&group) {
                    classic::expire::session(cx, soft, &group, &member);
                } else {
                    consumer::live::session(cx, soft, &group, &member);
                }
            }
            Event::Timer(TimerKey::Task { group, member, task }) => {
                consumer::live::overdue(cx, soft, &group, &member, task);
            }
            Event::Timer(TimerKey::Join(group)) => classic::rebalance::join_time_is_up(cx, soft, &group),
            Event::Timer(TimerKey::Sync(group)) => classic::expire::unsynced(cx, soft, &group),
            Event::Timer(TimerKey::Retention) => retention::expire(cx, soft),
            Event::Timer(TimerKey::GoneTopics) => offsets::delete::forget_topics(cx, soft, Vec::new()),
            Event::TopicsDeleted(topics) => offsets::delete::forget_topics(cx, soft, topics),
            Event::TopicsChanged { topics, new } => topics_changed(cx, soft, &topics, new),
            Event::Resolved { group, version, found } => {
                consumer::regex::resolved(cx, soft, &group, version, found);
            }
        }
    }

    fn apply(hard: &mut Hard, record: Record) {
        apply::apply(hard, record);
    }

    fn loaded(hard: &Hard, view: &View, now: Now, out: &mut Output<GroupMachine>) -> Soft {
        loaded::loaded(&mut Step::new(hard, view, now, out))
    }

    fn fired(key: TimerKey) -> Event {
        Event::Timer(key)
    }
}

/// Does an effect: costly but pure, for a blocking thread. What comes out is an event.
pub fn perform(effect: Effect) -> Event {
    match effect {
        Effect::Resolve { group, regexes, cluster } => consumer::regex::resolve(group, regexes, &*cluster),
    }
}

/// Consumer groups that read these topics look at them again with their next heartbeat.
fn topics_changed(cx: &Step<'_>, soft: &mut Soft, topics: &[TopicName], new: bool) {
    if new {
        soft.newest_topics = cx.cluster.version();
    }
    for (id, live) in &mut soft.consumers {
        let Some(group) = cx.hard.consumer(id) else { continue };
        if topics.iter().any(|topic| group.is_subscribed_to(topic)) {
            live.forget_topics();
        }
    }
}
