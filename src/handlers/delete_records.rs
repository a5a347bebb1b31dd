//! DeleteRecords (21), versions 0-2: nothing before an offset is readable any more (KIP-107). Answered once every replica
//! that lives has followed.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::task::{Context, Poll};

use barnabas_protocol::ErrorCode;
use barnabas_protocol::messages::delete_records::{
    DeleteRecordsPartitionResult, DeleteRecordsTopic, DeleteRecordsTopicResult,
};
use barnabas_protocol::messages::{DeleteRecordsRequest, DeleteRecordsResponse};

use super::{Answer, Ctx, Operation, Out, Outcome, Resource, Ticket, error};
use crate::partition::{Partition, Waiter};

/// A partition whose followers still have what its leader has deleted.
struct Lagging {
    /// Its place in the answer.
    at: (usize, usize),
    partition: Arc<Partition>,
    /// Where every log is to begin.
    offset: i64,
    waiter: Arc<Waiter>,
}

impl Lagging {
    fn new(at: (usize, usize), partition: Arc<Partition>, offset: i64) -> Lagging {
        let waiter = Waiter::for_bytes(i64::MAX);
        partition.waiters().watch_low_watermark(waiter.clone());
        if partition.low_watermark() >= offset || partition.leader_epoch().is_err() {
            waiter.fire();
        }
        Lagging { at, partition, offset, waiter }
    }
}

/// The answer that waits.
struct Waiting {
    response: DeleteRecordsResponse,
    lagging: Vec<Lagging>,
    /// Monotonic ms.
    deadline: u64,
}

/// See the module.
pub fn start(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out) -> Answer {
    let request: DeleteRecordsRequest = ctx.decode(body)?;
    let wait_ms = u64::try_from(request.timeout_ms).unwrap_or_default();
    let mut lagging = Vec::new();
    let mut topics = Vec::new();
    for (name, offsets) in merged(request.topics) {
        let allowed = ctx.authorize(Operation::Delete, Resource::Topic(&name));
        let mut partitions = Vec::with_capacity(offsets.len());
        for (partition_index, offset) in offsets {
            let done = match allowed {
                true => delete(ctx, &name, partition_index, offset),
                false => Err(ErrorCode::TopicAuthorizationFailed),
            };
            let done = done.map(|(partition, offset)| {
                if !partition.is_alone() && partition.low_watermark() < offset {
                    let at = (topics.len(), partitions.len());
                    lagging.push(Lagging::new(at, partition, offset));
                }
                offset
            });
            partitions.push(DeleteRecordsPartitionResult {
                partition_index,
                low_watermark: *done.as_ref().unwrap_or(&-1),
                error_code: done.err().unwrap_or_default().code(),
            });
        }
        topics.push(DeleteRecordsTopicResult { partitions, name });
    }
    let response = DeleteRecordsResponse { topics, ..Default::default() };
    if lagging.is_empty() {
        return ctx.respond(out, &response);
    }
    let deadline = ctx.now.mono_ms.saturating_add(wait_ms);
    Ok(Outcome::Parked(Box::new(Waiting { response, lagging, deadline })))
}

/// Offsets by topic and partition, for topics that have any; of a partition that is named twice the last counts, as in Kafka.
fn merged(topics: Vec<DeleteRecordsTopic>) -> BTreeMap<String, BTreeMap<i32, i64>> {
    let mut merged: BTreeMap<String, BTreeMap<i32, i64>> = BTreeMap::new();
    for topic in topics.into_iter().filter(|topic| !topic.partitions.is_empty()) {
        let offsets = topic.partitions.iter().map(|wanted| (wanted.partition_index, wanted.offset));
        merged.entry(topic.name).or_default().extend(offsets);
    }
    merged
}

/// The first offset that is left here. A compacted-only topic is only ever cleaned by its keys.
fn delete(ctx: &Ctx<'_>, name: &str, index: i32, offset: i64) -> Result<(Arc<Partition>, i64), ErrorCode> {
    let topic = ctx.rooms.partitions.topic(name).ok_or(ErrorCode::UnknownTopicOrPartition)?;
    let partition = topic.find(index).map_err(|cause| error::partition(&cause))?;
    if !topic.config().delete {
        return Err(ErrorCode::PolicyViolation);
    }
    let deleted = partition.delete_records(offset);
    deleted.map(|offset| (partition, offset)).map_err(|cause| error::partition(&cause))
}

impl Ticket for Waiting {
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        for one in &self.lagging {
            if one.waiter.poll(cx).is_pending() {
                return Poll::Pending;
            }
        }
        Poll::Ready(())
    }

    fn deadline(&self) -> Option<u64> {
        Some(self.deadline)
    }

    fn finish(mut self: Box<Self>, ctx: &Ctx<'_>, out: &mut Out) -> Answer {
        let due = ctx.stopping || ctx.now.mono_ms >= self.deadline;
        let mut waiting = Vec::new();
        for one in std::mem::take(&mut self.lagging) {
            let low = one.partition.low_watermark();
            let outcome = match one.partition.leader_epoch() {
                Err(cause) => Some(error::partition(&cause)),
                Ok(_) if low >= one.offset => Some(ErrorCode::None),
                Ok(_) => due.then_some(ErrorCode::RequestTimedOut),
            };
            let Some(code) = outcome else {
                waiting.push(Lagging::new(one.at, one.partition, one.offset));
                continue;
            };
            let topic = self.response.topics.get_mut(one.at.0);
            if let Some(result) = topic.and_then(|topic| topic.partitions.get_mut(one.at.1)) {
                result.error_code = code.code();
                result.low_watermark = if code.is_none() { low } else { -1 };
            }
        }
        if waiting.is_empty() {
            return ctx.respond(out, &self.response);
        }
        self.lagging = waiting;
        Ok(Outcome::Parked(self))
    }
}

#[cfg(test)]
mod tests {
    use barnabas_protocol::messages::delete_records::DeleteRecordsPartition;

    use super::*;

    #[test]
    fn what_is_named_twice_is_done_once() {
        let topic = |name: &str, offsets: &[(i32, i64)]| DeleteRecordsTopic {
            name: name.to_owned(),
            partitions: offsets
                .iter()
                .map(|(partition_index, offset)| DeleteRecordsPartition {
                    partition_index: *partition_index,
                    offset: *offset,
                })
                .collect(),
        };
        let merged = merged(vec![topic("t", &[(0, 1), (0, 2)]), topic("u", &[]), topic("t", &[(1, 3)])]);
        let expected = [("t", vec![(0, 2), (1, 3)])];
        let expected = expected.map(|(name, offsets)| (name.to_owned(), offsets.into_iter().collect()));
        assert_eq!(merged, BTreeMap::from(expected));
    }
}
