//! DeleteGroups.

use tracing::info;

use super::classic::state::State;
use super::record::Record;
use super::{GroupError, Soft, Step, TimerKey};

/// Deletes an empty group with all it has committed.
pub(super) fn delete(cx: &mut Step<'_>, soft: &mut Soft, id: &str) -> Result<(), GroupError> {
    let Some(group) = soft.groups.get(id) else {
        let foreign = cx.hard.kind(id).is_some();
        return Err(if foreign { GroupError::NonEmptyGroup } else { GroupError::GroupIdNotFound });
    };
    if group.state() != State::Empty {
        return Err(GroupError::NonEmptyGroup);
    }
    let group_id = group.id.clone();
    let mut records: Vec<Record> = Vec::new();
    for (topic, partitions) in cx.hard.offsets(id) {
        records.extend(partitions.map(|(partition, _)| tombstone(&group_id, topic, partition)));
    }
    for (topic, partition) in cx.hard.pending(id) {
        if cx.hard.offset(id, topic, *partition).is_none() {
            records.push(tombstone(&group_id, topic, *partition));
        }
    }
    records.push(Record::Group { group: group_id.clone(), value: None });
    if records.iter().map(Record::size).sum::<usize>() > cx.settings.max_batch_bytes {
        return Err(GroupError::RecordsTooLarge);
    }
    info!(group = %id, "group deleted");
    for member in &group.pending {
        cx.out.cancel(TimerKey::Session { group: group_id.clone(), member: member.clone() });
    }
    cx.out.records.append(&mut records);
    soft.groups.remove(id);
    Ok(())
}

/// A record that deletes an offset.
pub(super) fn tombstone(group: &super::GroupId, topic: &crate::ids::TopicName, partition: i32) -> Record {
    Record::Offset { group: group.clone(), topic: topic.clone(), partition, value: None, producer: None }
}
