//! DeleteGroups.

use tracing::info;

use super::classic::state::State;
use super::record::Record;
use super::{GroupError, GroupId, Soft, Step, TimerKey, consumer};

/// Deletes an empty group with all it has committed.
pub(super) fn delete(cx: &mut Step<'_>, soft: &mut Soft, id: &str) -> Result<(), GroupError> {
    let group_id: GroupId = id.into();
    let end = match (soft.groups.get(id), cx.hard.consumer(id)) {
        (Some(group), _) if group.state() == State::Empty => {
            vec![Record::Group { group: group_id.clone(), value: None }]
        }
        (None, Some(group)) if group.members().is_empty() => consumer::leave::tombstones(&group_id, group),
        (None, None) if cx.hard.kind(id).is_none() => return Err(GroupError::GroupIdNotFound),
        _ => return Err(GroupError::NonEmptyGroup),
    };
    let mut records: Vec<Record> = Vec::new();
    for (topic, partitions) in cx.hard.offsets(id) {
        records.extend(partitions.map(|(partition, _)| tombstone(&group_id, topic, partition)));
    }
    for (topic, partition) in cx.hard.pending(id) {
        if cx.hard.offset(id, topic, *partition).is_none() {
            records.push(tombstone(&group_id, topic, *partition));
        }
    }
    records.extend(end);
    if records.iter().map(Record::size).sum::<usize>() > cx.settings.max_batch_bytes {
        return Err(GroupError::RecordsTooLarge);
    }
    info!(group = %id, "group deleted");
    cx.out.records.append(&mut records);
    soft.consumers.remove(id);
    for member in soft.groups.remove(id).into_iter().flat_map(|group| group.pending) {
        cx.out.cancel(TimerKey::Session { group: group_id.clone(), member });
    }
    Ok(())
}

/// A record that deletes an offset.
pub(super) fn tombstone(group: &super::GroupId, topic: &crate::ids::TopicName, partition: i32) -> Record {
    Record::Offset { group: group.clone(), topic: topic.clone(), partition, value: None, producer: None }
}
