//! OffsetCommit and TxnOffsetCommit.

use crate::coordinator::group::classic::expire::touch;
use crate::coordinator::group::classic::state::{ClassicGroup, State};
use crate::coordinator::group::event::{Commit, CommitPartition};
use crate::coordinator::group::record::{OffsetValue, Record};
use crate::coordinator::group::{GroupError, GroupId, Soft, Step, consumer};

/// Writes offsets; a commit of a member is a sign of life. Returns the partitions with too long metadata.
pub(in crate::coordinator::group) fn commit(
    cx: &mut Step<'_>,
    soft: &mut Soft,
    request: Commit,
) -> Result<Vec<(usize, usize)>, GroupError> {
    let id = may_commit(cx, soft, &request)?;
    let mut refused = Vec::new();
    let (first, mut size) = (cx.out.records.len(), 0);
    let expire_ms = request.retention_ms.map(|ms| cx.now.wall_ms.saturating_add(ms));
    for (t, topic) in request.topics.into_iter().enumerate() {
        for (p, partition) in topic.partitions.into_iter().enumerate() {
            if is_too_long(&partition, cx.settings.offset_metadata_max) {
                refused.push((t, p));
                continue;
            }
            let record = Record::Offset {
                group: id.clone(),
                topic: topic.topic.clone(),
                partition: partition.partition,
                value: Some(OffsetValue {
                    offset: partition.offset,
                    leader_epoch: partition.leader_epoch,
                    metadata: partition.metadata.into(),
                    commit_ms: cx.now.wall_ms,
                    expire_ms,
                    topic_id: topic.id,
                }),
                producer: request.producer.map(|(id, _)| id),
            };
            size += record.size();
            cx.out.records.push(record);
        }
    }
    if size > cx.settings.max_batch_bytes {
        cx.out.records.truncate(first);
        return Err(GroupError::RecordsTooLarge);
    }
    if cx.out.records.len() > first {
        cx.out.producer = request.producer;
    }
    if cx.out.records.len() > first && !soft.groups.contains_key(&id) && cx.hard.consumer(&id).is_none() {
        // A consumer that only commits: a group without members.
        soft.groups.insert(id.clone(), ClassicGroup::new(id, cx.now.wall_ms));
    }
    Ok(refused)
}

fn is_too_long(partition: &CommitPartition, max: usize) -> bool {
    // Kafka counts UTF-16 units, of which there are never more than bytes.
    partition.metadata.len() > max && partition.metadata.encode_utf16().count() > max
}

fn may_commit(cx: &mut Step<'_>, soft: &mut Soft, request: &Commit) -> Result<GroupId, GroupError> {
    if let Some(group) = cx.hard.consumer(&request.group) {
        consumer::offsets::may_commit(group, request)?;
        return Ok(request.group.as_str().into());
    }
    let Some(group) = soft.groups.get_mut(request.group.as_str()) else {
        if request.generation < 0 {
            return Ok(request.group.as_str().into());
        }
        let known =
            if request.knows_epochs { GroupError::GroupIdNotFound } else { GroupError::IllegalGeneration };
        return Err(known);
    };
    let id = group.id.clone();
    if request.generation < 0 && group.state() == State::Empty {
        return Ok(id);
    }
    let in_transaction = request.producer.is_some();
    if request.generation < 0 && request.member.is_empty() && request.instance.is_none() {
        // Transactional producers of old clients do not say for which member they commit (before KIP-447).
        return if in_transaction { Ok(id) } else { Err(GroupError::UnknownMember) };
    }
    group.check_member(&request.member, request.instance.as_deref())?;
    if request.generation != group.generation {
        return Err(GroupError::IllegalGeneration);
    }
    if in_transaction {
        return Ok(id);
    }
    if group.state() == State::CompletingRebalance {
        return Err(GroupError::RebalanceInProgress);
    }
    if let Some(member) = group.member_mut(&request.member) {
        touch(cx, &id, member, None);
    }
    Ok(id)
}
