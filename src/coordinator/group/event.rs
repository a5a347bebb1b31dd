//! What may happen to groups.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;

use crate::coordinator::machine::ReplyId;
use crate::ids::{TopicName, Uuid};

use super::GroupId;

/// An event of the group machine.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// Somebody asks and waits for the answer.
    Ask(ReplyId, Request),
    /// A timer's deadline.
    Timer(TimerKey),
    /// Topics are gone: their offsets go, too.
    TopicsDeleted(Vec<TopicName>),
    /// Topics are new, larger, on other brokers or gone.
    TopicsChanged {
        /// Which.
        topics: Arc<[TopicName]>,
        /// Some are new.
        new: bool,
    },
    /// The topics that regular expressions of a group stand for.
    Resolved {
        /// The group.
        group: GroupId,
        /// Version of the metadata that was looked at.
        version: i64,
        /// By expression.
        found: Vec<(Arc<str>, BTreeSet<TopicName>)>,
    },
}

/// What can be asked. Facts that depend on an API version are fields, so that the machine knows no versions.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// JoinGroup.
    Join(Box<Join>),
    /// SyncGroup.
    Sync(Sync),
    /// ConsumerGroupHeartbeat.
    Beat(Box<Beat>),
    /// ConsumerGroupDescribe, one group of it.
    DescribeConsumers(String),
    /// Heartbeat.
    Heartbeat(Heartbeat),
    /// LeaveGroup.
    Leave(Leave),
    /// OffsetCommit.
    Commit(Commit),
    /// OffsetFetch, one group of it.
    Fetch(Fetch),
    /// OffsetDelete.
    DeleteOffsets(DeleteOffsets),
    /// ListGroups, this shard's part.
    List(List),
    /// DescribeGroups, one group of it.
    Describe(String),
    /// DeleteGroups, one group of it.
    Delete(String),
}

impl Request {
    /// The group it speaks of; empty for List, which every shard is asked.
    pub fn group(&self) -> &str {
        match self {
            Request::Join(request) => &request.group,
            Request::Sync(request) => &request.group,
            Request::Beat(request) => &request.group,
            Request::Heartbeat(request) => &request.group,
            Request::Leave(request) => &request.group,
            Request::Commit(request) => &request.group,
            Request::Fetch(request) => &request.group,
            Request::DeleteOffsets(request) => &request.group,
            Request::List(_) => "",
            Request::Describe(group) | Request::Delete(group) | Request::DescribeConsumers(group) => group,
        }
    }
}

/// JoinGroup.
#[derive(Clone, Debug, PartialEq)]
pub struct Join {
    /// The group.
    pub group: String,
    /// Empty: not a member yet.
    pub member: String,
    /// `group.instance.id` of a static member.
    pub instance: Option<String>,
    /// As the connection said.
    pub client_id: String,
    /// The peer's address, in Kafka's form `/127.0.0.1`.
    pub client_host: String,
    /// Milliseconds without a heartbeat until the member is put out.
    pub session_timeout_ms: i32,
    /// Milliseconds a rebalance waits for this member; versions that lack it send the session timeout.
    pub rebalance_timeout_ms: i32,
    /// `consumer`, `connect`, …
    pub protocol_type: String,
    /// Names and metadata, preferred first.
    pub protocols: Vec<(String, Bytes)>,
    /// The version makes new dynamic members join twice (KIP-394, from v4).
    pub member_id_required: bool,
    /// The version knows `skip_assignment` (from v9).
    pub can_skip_assignment: bool,
    /// Random, drawn by the runner: becomes part of a new member's id.
    pub fresh: u128,
}

/// SyncGroup.
#[derive(Clone, Debug, PartialEq)]
pub struct Sync {
    /// The group.
    pub group: String,
    /// The member.
    pub member: String,
    /// Its `group.instance.id`.
    pub instance: Option<String>,
    /// The generation it joined.
    pub generation: i32,
    /// Checked against the group's if given.
    pub protocol_type: Option<String>,
    /// Checked against the group's if given.
    pub protocol: Option<String>,
    /// The leader's decision: member id and assignment.
    pub assignments: Vec<(String, Bytes)>,
}

/// Heartbeat.
#[derive(Clone, Debug, PartialEq)]
pub struct Heartbeat {
    /// The group.
    pub group: String,
    /// The member.
    pub member: String,
    /// Its `group.instance.id`.
    pub instance: Option<String>,
    /// The generation it is in.
    pub generation: i32,
}

/// ConsumerGroupHeartbeat. What is none has not changed since the member said it last.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Beat {
    /// The group.
    pub group: String,
    /// The member.
    pub member: String,
    /// The member's epoch: 0 joins, -1 leaves, -2 leaves for a while.
    pub epoch: i32,
    /// `group.instance.id` of a static member.
    pub instance: Option<String>,
    /// `client.rack`.
    pub rack: Option<String>,
    /// Milliseconds it may take to give partitions up; -1 if not said.
    pub rebalance_timeout_ms: i32,
    /// Topics by name.
    pub topics: Option<Vec<String>>,
    /// Topics by regular expression.
    pub regex: Option<String>,
    /// The assignor it prefers.
    pub assignor: Option<String>,
    /// Partitions it has.
    pub owned: Option<Vec<(Uuid, Vec<i32>)>>,
    /// As the connection said.
    pub client_id: String,
    /// The peer's address, in Kafka's form `/127.0.0.1`.
    pub client_host: String,
}

/// LeaveGroup.
#[derive(Clone, Debug, PartialEq)]
pub struct Leave {
    /// The group.
    pub group: String,
    /// Who leaves: member id (may be empty for static members) and `group.instance.id`.
    pub members: Vec<(String, Option<String>)>,
}

/// OffsetCommit.
#[derive(Clone, Debug, PartialEq)]
pub struct Commit {
    /// The group; may be empty.
    pub group: String,
    /// Empty for consumers that only commit.
    pub member: String,
    /// Its `group.instance.id`.
    pub instance: Option<String>,
    /// -1 for consumers that only commit.
    pub generation: i32,
    /// Milliseconds the offsets are to be kept, from versions 2-4 that say so.
    pub retention_ms: Option<i64>,
    /// The version knows member epochs and tells an unknown group apart from a wrong generation (from v9).
    pub knows_epochs: bool,
    /// Id and epoch of the transactional producer: the offsets count once its transaction commits.
    pub producer: Option<(i64, i16)>,
    /// Topics that exist.
    pub topics: Vec<CommitTopic>,
}

/// A topic of a commit.
#[derive(Clone, Debug, PartialEq)]
pub struct CommitTopic {
    /// Name.
    pub topic: TopicName,
    /// Id, zero if unknown.
    pub id: Uuid,
    /// Offsets.
    pub partitions: Vec<CommitPartition>,
}

/// A partition of a commit.
#[derive(Clone, Debug, PartialEq)]
pub struct CommitPartition {
    /// Index.
    pub partition: i32,
    /// The next offset to read.
    pub offset: i64,
    /// Leader epoch of the last record read, or -1.
    pub leader_epoch: i32,
    /// The client's own note.
    pub metadata: String,
}

/// OffsetFetch of one group.
#[derive(Clone, Debug, PartialEq)]
pub struct Fetch {
    /// The group; may be empty.
    pub group: String,
    /// Who asks, if it says so (from v9).
    pub member: Option<String>,
    /// Its epoch, or -1.
    pub epoch: i32,
    /// Offsets in open transactions are an error (KIP-447).
    pub require_stable: bool,
    /// None: everything.
    pub topics: Option<Vec<(TopicName, Vec<i32>)>>,
}

/// OffsetDelete.
#[derive(Clone, Debug, PartialEq)]
pub struct DeleteOffsets {
    /// The group.
    pub group: String,
    /// Topics and partitions.
    pub topics: Vec<(TopicName, Vec<i32>)>,
}

/// ListGroups.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct List {
    /// State names in lower case; empty for all.
    pub states: Vec<String>,
    /// Types in lower case; empty for all.
    pub types: Vec<String>,
}

/// Timers of the group machine.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TimerKey {
    /// A member's session, or a pending member's time to come back.
    Session {
        /// The group.
        group: GroupId,
        /// The member.
        member: super::MemberId,
    },
    /// A member of a consumer group is to have done something.
    Task {
        /// The group.
        group: GroupId,
        /// The member.
        member: super::MemberId,
        /// What.
        task: super::consumer::live::Task,
    },
    /// The end of a rebalance's join phase.
    Join(GroupId),
    /// The end of a rebalance's sync phase.
    Sync(GroupId),
    /// Time to look for expired offsets.
    Retention,
    /// More offsets of deleted topics are left.
    GoneTopics,
}
