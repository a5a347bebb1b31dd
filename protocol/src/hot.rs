//! What the hot messages, Produce and Fetch, have in common.

use crate::Uuid;
use crate::cursor::{Cursor, put_length, put_text, put_uvarint};
use std::borrow::Cow;
use thiserror::Error;

/// The body is not what its schema says; the connection must be closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the request's body is malformed")]
pub struct Malformed;

/// How a request names a topic: by name, or by id from some version on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TopicRef<'a> {
    /// By name; what is not UTF-8 is replaced, as Kafka does.
    Name(Cow<'a, str>),
    /// By id.
    Id(Uuid),
}

impl<'a> TopicRef<'a> {
    pub(crate) fn read(at: &mut Cursor<'a>, flexible: bool, by_id: bool) -> Option<TopicRef<'a>> {
        Some(if by_id {
            TopicRef::Id(at.uuid()?)
        } else {
            TopicRef::Name(String::from_utf8_lossy(at.text(flexible)??))
        })
    }

    /// The name, where it goes by name.
    pub fn name(&self) -> Option<&str> {
        match self {
            TopicRef::Name(name) => Some(name),
            TopicRef::Id(_) => None,
        }
    }
}

/// Who leads a partition (KIP-951).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaderIdAndEpoch {
    /// -1: nobody.
    pub leader_id: i32,
    /// Its epoch, or -1.
    pub leader_epoch: i32,
}

impl LeaderIdAndEpoch {
    pub(crate) fn put_tagged(self, out: &mut Vec<u8>, tag: u32) {
        put_uvarint(out, tag);
        put_uvarint(out, 9);
        out.extend_from_slice(&self.leader_id.to_be_bytes());
        out.extend_from_slice(&self.leader_epoch.to_be_bytes());
        out.push(0);
    }
}

/// Where a leader named in an answer listens (KIP-951).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeEndpoint<'a> {
    /// The broker's id.
    pub node_id: i32,
    /// Its host on the listener of the request.
    pub host: &'a str,
    /// Its port.
    pub port: i32,
    /// Its rack, if it has one.
    pub rack: Option<&'a str>,
}

/// The tagged fields at the end of both answers: nothing, or the endpoints as tag 0.
pub(crate) fn put_endpoints(out: &mut Vec<u8>, endpoints: &[NodeEndpoint<'_>]) {
    if endpoints.is_empty() {
        out.push(0);
        return;
    }
    let mut field = Vec::new();
    put_length(&mut field, Some(endpoints.len()), true);
    for endpoint in endpoints {
        field.extend_from_slice(&endpoint.node_id.to_be_bytes());
        put_text(&mut field, Some(endpoint.host), true);
        field.extend_from_slice(&endpoint.port.to_be_bytes());
        put_text(&mut field, endpoint.rack, true);
        field.push(0);
    }
    put_uvarint(out, 1);
    put_uvarint(out, 0);
    put_uvarint(out, u32::try_from(field.len()).unwrap_or(u32::MAX));
    out.extend_from_slice(&field);
}
