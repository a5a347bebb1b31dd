//! What the group machine answers.

use std::sync::Arc;

use bytes::Bytes;

use crate::ids::{TopicName, Uuid};

use super::consumer::{self, Refused};
use super::{GroupError, GroupId, MemberId};

/// Answers to [`super::Request`], each to the one of its name.
#[derive(Clone, Debug, PartialEq)]
pub enum Response {
    /// To Join.
    Join(Box<Joined>),
    /// To Sync.
    Sync(Synced),
    /// To Beat.
    Beat(Result<Beaten, Refused>),
    /// To DescribeConsumers.
    DescribeConsumers(Result<consumer::describe::Described, Refused>),
    /// To Heartbeat.
    Heartbeat(Result<(), GroupError>),
    /// To Leave: each member's fate, in the order of the request.
    Leave(Result<Vec<Option<GroupError>>, GroupError>),
    /// To Commit: the partitions that were refused, as positions (topic, partition) in the request.
    Commit(Result<Vec<(usize, usize)>, GroupError>),
    /// To Fetch.
    Fetch(Result<Vec<FetchedTopic>, GroupError>),
    /// To DeleteOffsets: the topics (positions in the request) that are still being read.
    DeleteOffsets(Result<Vec<usize>, GroupError>),
    /// To List.
    List(Vec<Listed>),
    /// To Describe.
    Describe(Result<Described, Refused>),
    /// To Delete.
    Delete(Result<(), GroupError>),
}

/// To a member of a consumer group.
#[derive(Clone, Debug, PartialEq)]
pub struct Beaten {
    /// Its id.
    pub member: MemberId,
    /// Its epoch from now on.
    pub epoch: i32,
    /// Milliseconds until its next heartbeat.
    pub interval_ms: i32,
    /// What it may read; none if that has not changed.
    pub assignment: Option<Vec<(Uuid, Vec<i32>)>>,
}

/// A join's end.
#[derive(Clone, Debug, PartialEq)]
pub struct Joined {
    /// Why not.
    pub error: Option<GroupError>,
    /// -1 with an error.
    pub generation: i32,
    /// The group's.
    pub protocol_type: Option<Arc<str>>,
    /// The one that was voted for.
    pub protocol: Option<Arc<str>>,
    /// Member id of the leader.
    pub leader: MemberId,
    /// The leader must not assign: the group's assignment stands.
    pub skip_assignment: bool,
    /// The member's id.
    pub member: MemberId,
    /// Everybody, for the leader.
    pub members: Vec<JoinedMember>,
}

impl Joined {
    /// A refusal.
    pub fn refused(error: GroupError, member: impl Into<MemberId>) -> Joined {
        Joined {
            error: Some(error),
            generation: -1,
            protocol_type: None,
            protocol: None,
            leader: "".into(),
            skip_assignment: false,
            member: member.into(),
            members: Vec::new(),
        }
    }
}

/// A member as the leader sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct JoinedMember {
    /// Member id.
    pub member: MemberId,
    /// `group.instance.id`.
    pub instance: Option<Arc<str>>,
    /// Its metadata for the chosen protocol.
    pub metadata: Bytes,
}

/// A sync's end.
#[derive(Clone, Debug, PartialEq)]
pub struct Synced {
    /// Why not.
    pub error: Option<GroupError>,
    /// The group's.
    pub protocol_type: Option<Arc<str>>,
    /// The group's.
    pub protocol: Option<Arc<str>>,
    /// The member's share.
    pub assignment: Bytes,
}

impl Synced {
    /// A refusal.
    pub fn refused(error: GroupError) -> Synced {
        Synced { error: Some(error), protocol_type: None, protocol: None, assignment: Bytes::new() }
    }
}

/// A topic's committed offsets.
#[derive(Clone, Debug, PartialEq)]
pub struct FetchedTopic {
    /// Name.
    pub topic: TopicName,
    /// Offsets.
    pub partitions: Vec<FetchedPartition>,
}

/// A partition's committed offset; -1 if there is none.
#[derive(Clone, Debug, PartialEq)]
pub struct FetchedPartition {
    /// Index.
    pub partition: i32,
    /// The next offset to read.
    pub offset: i64,
    /// -1 if unknown.
    pub leader_epoch: i32,
    /// The client's own note.
    pub metadata: Arc<str>,
    /// Why not.
    pub error: Option<GroupError>,
}

/// A group in a list.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    /// Group id.
    pub group: GroupId,
    /// Empty for groups without members' protocol.
    pub protocol_type: Arc<str>,
    /// Kafka's name of the state.
    pub state: &'static str,
    /// `classic`, `consumer`, `share`, `streams`.
    pub kind: &'static str,
}

/// A group in full.
#[derive(Clone, Debug, PartialEq)]
pub struct Described {
    /// Kafka's name of the state.
    pub state: &'static str,
    /// Empty for groups without members' protocol.
    pub protocol_type: Arc<str>,
    /// The chosen protocol, in a stable group.
    pub protocol: Arc<str>,
    /// Members.
    pub members: Vec<DescribedMember>,
}

/// A member in full.
#[derive(Clone, Debug, PartialEq)]
pub struct DescribedMember {
    /// Member id.
    pub member: MemberId,
    /// `group.instance.id`.
    pub instance: Option<Arc<str>>,
    /// As the connection said.
    pub client_id: Arc<str>,
    /// Address.
    pub client_host: Arc<str>,
    /// For the chosen protocol, in a stable group.
    pub metadata: Bytes,
    /// The last one it was given.
    pub assignment: Bytes,
}
