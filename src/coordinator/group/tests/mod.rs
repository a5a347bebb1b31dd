//! The group machine as stories.

mod consumers;
mod consumers_random;
mod joins;
mod listing;
mod migration;
mod migration_random;
mod offsets;
mod random;
mod rebalances;
mod retention;
mod sessions;
mod statics;
mod syncs;
mod topics;
mod transactions;
mod transactions_random;

use std::sync::Arc;

use bytes::Bytes;

use super::event::{Commit, CommitPartition, CommitTopic, Fetch, Heartbeat, Join, Leave, List, Sync};
use super::response::{Described, FetchedTopic, Joined, Listed, Synced};
use super::subscription::subscribing;
use super::view::NoCluster;
use super::{Event, GroupError, GroupMachine, GroupSettings, Request, Response, View};
use crate::coordinator::machine::ReplyId;
use crate::coordinator::story::Story;
use crate::ids::Uuid;

/// How long an empty group waits for more members here.
const DELAY_MS: u64 = 500;

/// A story about groups.
struct Tale {
    story: Story<GroupMachine>,
    fresh: u128,
}

impl Tale {
    fn new() -> Tale {
        Tale::with(GroupSettings { initial_rebalance_delay_ms: DELAY_MS, ..GroupSettings::default() })
    }

    fn with(settings: GroupSettings) -> Tale {
        Tale { story: Story::new(View { settings: settings.into(), cluster: Arc::new(NoCluster) }), fresh: 0 }
    }

    fn settings(&mut self) -> &mut GroupSettings {
        Arc::make_mut(&mut self.story.view.settings)
    }

    fn ask(&mut self, request: Request) -> ReplyId {
        let reply = self.story.ask(|reply| Event::Ask(reply, request));
        while let Some(effect) = self.story.effects.pop() {
            self.story.tell(super::perform(effect));
        }
        reply
    }

    #[track_caller]
    fn said(&mut self, to: ReplyId) -> Response {
        self.story.answer(to).expect("no answer yet")
    }

    fn waits(&mut self, to: ReplyId) -> bool {
        self.story.answer(to).is_none()
    }

    fn join(&mut self, mut join: Join) -> ReplyId {
        self.fresh += 1;
        join.fresh = self.fresh;
        self.ask(Request::Join(Box::new(join)))
    }

    #[track_caller]
    fn joined(&mut self, to: ReplyId) -> Joined {
        match self.said(to) {
            Response::Join(joined) => *joined,
            other => panic!("{other:?}"),
        }
    }

    /// The member id for a new dynamic member that comes back with it at once.
    #[track_caller]
    fn introduce(&mut self, group: &str) -> (String, ReplyId) {
        let first = self.join(joining(group, ""));
        let required = self.joined(first);
        assert_eq!(required.error, Some(GroupError::MemberIdRequired));
        let reply = self.join(joining(group, &required.member));
        (required.member.to_string(), reply)
    }

    /// A stable group of so many dynamic members, the leader first; each one's share is its own id.
    #[track_caller]
    fn stable(&mut self, group: &str, members: usize) -> (i32, Vec<String>) {
        let waiting: Vec<_> = (0..members).map(|_| self.introduce(group)).collect();
        waiting.iter().for_each(|(_, reply)| self.story.sleep_until_answered(*reply));
        let (mut generation, mut leader) = (-1, String::new());
        let mut ids = Vec::new();
        for (id, reply) in waiting {
            let joined = self.joined(reply);
            assert_eq!(joined.error, None);
            (generation, leader) = (joined.generation, joined.leader.to_string());
            ids.push(id);
        }
        ids.sort_by_key(|id| *id != leader);
        self.share_out(group, generation, &ids);
        (generation, ids)
    }

    /// Everybody syncs, the leader (the first) last.
    #[track_caller]
    fn share_out(&mut self, group: &str, generation: i32, ids: &[String]) {
        let mut replies = Vec::new();
        for id in ids.iter().skip(1) {
            replies.push((id, self.sync(group, generation, id, &[])));
        }
        let shares: Vec<_> = ids.iter().map(|id| (id.as_str(), id.as_str())).collect();
        replies.push((&ids[0], self.sync(group, generation, &ids[0], &shares)));
        for (id, reply) in replies {
            let synced = self.synced(reply);
            assert_eq!((synced.error, &synced.assignment[..]), (None, id.as_bytes()));
        }
    }

    fn sync(&mut self, group: &str, generation: i32, member: &str, shares: &[(&str, &str)]) -> ReplyId {
        let assignments =
            shares.iter().map(|(id, share)| ((*id).to_owned(), Bytes::copy_from_slice(share.as_bytes())));
        self.ask(Request::Sync(Sync {
            assignments: assignments.collect(),
            ..syncing(group, generation, member)
        }))
    }

    #[track_caller]
    fn synced(&mut self, to: ReplyId) -> Synced {
        match self.said(to) {
            Response::Sync(synced) => synced,
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    fn beat(&mut self, group: &str, generation: i32, member: &str) -> Result<(), GroupError> {
        self.beat_as(group, generation, member, None)
    }

    #[track_caller]
    fn beat_as(
        &mut self,
        group: &str,
        generation: i32,
        member: &str,
        instance: Option<&str>,
    ) -> Result<(), GroupError> {
        let instance = instance.map(str::to_owned);
        let heartbeat = Heartbeat { group: group.into(), member: member.into(), instance, generation };
        let reply = self.ask(Request::Heartbeat(heartbeat));
        match self.said(reply) {
            Response::Heartbeat(result) => result,
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    fn leave(&mut self, group: &str, members: &[(&str, Option<&str>)]) -> Vec<Option<GroupError>> {
        let members = members.iter().map(|(id, instance)| ((*id).to_owned(), instance.map(str::to_owned)));
        let reply = self.ask(Request::Leave(Leave { group: group.into(), members: members.collect() }));
        match self.said(reply) {
            Response::Leave(Ok(fates)) => fates,
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    fn commit(&mut self, commit: Commit) -> Result<Vec<(usize, usize)>, GroupError> {
        let reply = self.ask(Request::Commit(commit));
        match self.said(reply) {
            Response::Commit(result) => result,
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    fn fetch(&mut self, fetch: Fetch) -> Vec<FetchedTopic> {
        let reply = self.ask(Request::Fetch(fetch));
        match self.said(reply) {
            Response::Fetch(result) => result.unwrap(),
            other => panic!("{other:?}"),
        }
    }

    /// The committed offset, -1 if there is none.
    #[track_caller]
    fn offset(&mut self, group: &str, topic: &str, partition: i32) -> i64 {
        let topics = Some(vec![(topic.into(), vec![partition])]);
        let fetched = self.fetch(fetching(group, topics));
        fetched[0].partitions[0].offset
    }

    #[track_caller]
    fn list(&mut self, states: &[&str], types: &[&str]) -> Vec<Listed> {
        let own = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let reply = self.ask(Request::List(List { states: own(states), types: own(types) }));
        match self.said(reply) {
            Response::List(listed) => listed,
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    fn describe(&mut self, group: &str) -> Result<Described, GroupError> {
        let reply = self.ask(Request::Describe(group.into()));
        match self.said(reply) {
            Response::Describe(described) => described.map_err(|refused| refused.error),
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    fn state(&mut self, group: &str) -> &'static str {
        self.describe(group).map_or("Dead", |described| described.state)
    }

    #[track_caller]
    fn delete(&mut self, group: &str) -> Result<(), GroupError> {
        let reply = self.ask(Request::Delete(group.into()));
        match self.said(reply) {
            Response::Delete(result) => result,
            other => panic!("{other:?}"),
        }
    }
}

/// A JoinGroup of a consumer of topic `t` with a session of 30 s and a rebalance timeout of 5 s.
fn joining(group: &str, member: &str) -> Join {
    Join {
        group: group.into(),
        member: member.into(),
        instance: None,
        client_id: "client".into(),
        client_host: "/127.0.0.1".into(),
        session_timeout_ms: 30_000,
        rebalance_timeout_ms: 5_000,
        protocol_type: "consumer".into(),
        protocols: protocols(&["range"]),
        member_id_required: true,
        can_skip_assignment: true,
        fresh: 0,
    }
}

/// Protocols by name, all with a subscription to topic `t`.
fn protocols(names: &[&str]) -> Vec<(String, Bytes)> {
    names.iter().map(|name| ((*name).to_owned(), subscribing(&["t"]))).collect()
}

fn syncing(group: &str, generation: i32, member: &str) -> Sync {
    Sync {
        group: group.into(),
        member: member.into(),
        instance: None,
        generation,
        protocol_type: Some("consumer".into()),
        protocol: Some("range".into()),
        assignments: Vec::new(),
    }
}

/// A fetch by nobody in particular.
fn fetching(group: &str, topics: Option<Vec<(Arc<str>, Vec<i32>)>>) -> Fetch {
    Fetch { group: group.into(), member: None, epoch: -1, require_stable: false, topics }
}

/// A commit of one partition by nobody in particular.
fn committing(group: &str, topic: &str, partition: i32, offset: i64) -> Commit {
    let metadata = String::new();
    Commit {
        group: group.into(),
        member: String::new(),
        instance: None,
        generation: -1,
        retention_ms: None,
        knows_epochs: false,
        producer: None,
        topics: vec![CommitTopic {
            topic: topic.into(),
            id: Uuid::ZERO,
            partitions: vec![CommitPartition { partition, offset, leader_epoch: -1, metadata }],
        }],
    }
}
