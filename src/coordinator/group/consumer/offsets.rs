//! Who may commit and fetch offsets of a consumer group: members, in their epoch.

use crate::coordinator::group::GroupError;
use crate::coordinator::group::event::{Commit, Fetch};

use super::state::ConsumerGroup;

/// A commit comes from a member in its epoch, from one that has had all its partitions since an earlier epoch
/// (KIP-1251), or, where there are no members, from a tool.
pub(in crate::coordinator::group) fn may_commit(
    group: &ConsumerGroup,
    commit: &Commit,
) -> Result<(), GroupError> {
    let in_transaction = commit.producer.is_some();
    if commit.generation < 0 && group.members().is_empty() {
        return Ok(());
    }
    if in_transaction && commit.generation < 0 && commit.member.is_empty() && commit.instance.is_none() {
        // Old producers do not say whose offsets they write.
        return Ok(());
    }
    let member = group.member(&commit.member).ok_or(GroupError::UnknownMember)?;
    if member.about.classic.is_some() {
        return match commit.generation == member.current.epoch {
            true => Ok(()),
            false => Err(GroupError::IllegalGeneration),
        };
    }
    if !commit.knows_epochs && !in_transaction {
        return Err(GroupError::UnsupportedVersion);
    }
    if commit.generation == member.current.epoch {
        return Ok(());
    }
    let since = |topic, partition: &i32| member.current.assigned.get(&topic)?.get(partition).copied();
    let has_had = commit.topics.iter().all(|topic| {
        let mut partitions = topic.partitions.iter();
        partitions.all(|p| since(topic.id, &p.partition).is_some_and(|since| commit.generation >= since))
    });
    match commit.generation >= 0 && commit.generation < member.current.epoch && has_had {
        true => Ok(()),
        // TxnOffsetCommit knows no member epochs.
        false if in_transaction => Err(GroupError::IllegalGeneration),
        false => Err(GroupError::StaleMemberEpoch),
    }
}

/// A fetch comes from a member in its epoch, or from somebody who claims to be none.
pub(in crate::coordinator::group) fn may_fetch(
    group: &ConsumerGroup,
    fetch: &Fetch,
) -> Result<(), GroupError> {
    let Some(name) = &fetch.member else {
        return if fetch.epoch < 0 { Ok(()) } else { Err(GroupError::MemberIdMissing) };
    };
    let member = group.member(name).ok_or(GroupError::UnknownMember)?;
    match (fetch.epoch == member.current.epoch, member.about.classic.is_some()) {
        (true, _) => Ok(()),
        (false, true) => Err(GroupError::IllegalGeneration),
        (false, false) => Err(GroupError::StaleMemberEpoch),
    }
}
