//! Committed offsets.

use super::*;
use crate::coordinator::group::event::DeleteOffsets;
use crate::coordinator::group::record::{OffsetValue, Record};
use crate::coordinator::machine::Machine;

fn everything(group: &str) -> Fetch {
    fetching(group, None)
}

#[track_caller]
fn delete_offsets(tale: &mut Tale, group: &str, topic: &str) -> Result<Vec<usize>, GroupError> {
    let topics = vec![(topic.into(), vec![0, 7])];
    let reply = tale.ask(Request::DeleteOffsets(DeleteOffsets { group: group.into(), topics }));
    match tale.said(reply) {
        Response::DeleteOffsets(result) => result,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_consumer_without_a_group_commits_and_reads() {
    let mut tale = Tale::new();
    assert_eq!(tale.offset("g", "t", 0), -1);
    assert_eq!(tale.commit(committing("g", "t", 0, 5)), Ok(vec![]));
    assert_eq!(tale.commit(committing("g", "t", 2, 6)), Ok(vec![]));
    assert_eq!(tale.commit(committing("g", "a", 1, 7)), Ok(vec![]));
    tale.story.reload();
    assert_eq!(tale.offset("g", "t", 0), 5);
    assert_eq!(tale.offset("g", "t", 1), -1);
    let all = tale.fetch(everything("g"));
    let flat: Vec<_> =
        all.iter().flat_map(|t| t.partitions.iter().map(|p| (&*t.topic, p.partition, p.offset))).collect();
    assert_eq!(flat, [("a", 1, 7), ("t", 0, 5), ("t", 2, 6)]);
    assert_eq!(tale.fetch(everything("other")), []);
    assert_eq!(tale.state("g"), "Empty");
    assert_eq!(tale.commit(committing("", "t", 0, 1)), Ok(vec![]), "even without a name");
    assert_eq!(tale.offset("", "t", 0), 1);
}

#[test]
fn commits_of_members_are_checked() {
    let mut tale = Tale::new();
    let unknown = Commit { generation: 1, member: "m".into(), ..committing("g", "t", 0, 1) };
    assert_eq!(tale.commit(unknown.clone()), Err(GroupError::IllegalGeneration));
    let newer = Commit { knows_epochs: true, ..unknown };
    assert_eq!(tale.commit(newer), Err(GroupError::GroupIdNotFound));
    let (generation, ids) = tale.stable("g", 1);
    let good = Commit { generation, member: ids[0].clone(), ..committing("g", "t", 0, 1) };
    assert_eq!(tale.commit(good.clone()), Ok(vec![]));
    assert_eq!(tale.commit(Commit { generation: 9, ..good.clone() }), Err(GroupError::IllegalGeneration));
    assert_eq!(tale.commit(Commit { member: "m".into(), ..good.clone() }), Err(GroupError::UnknownMember));
    let nobody = committing("g", "t", 0, 9);
    assert_eq!(tale.commit(nobody), Err(GroupError::UnknownMember), "the group has members");
    let instance = Some("i".to_owned());
    assert_eq!(tale.commit(Commit { instance, ..good.clone() }), Err(GroupError::UnknownMember));
    let rejoin = tale.join(joining("g", &ids[0]));
    let generation = tale.joined(rejoin).generation;
    assert_eq!(tale.commit(Commit { generation, ..good }), Err(GroupError::RebalanceInProgress));
    assert_eq!(tale.offset("g", "t", 0), 1);
}

#[test]
fn a_member_may_still_commit_while_others_join() {
    let mut tale = Tale::new();
    let (generation, ids) = tale.stable("g", 1);
    tale.introduce("g");
    assert_eq!(tale.state("g"), "PreparingRebalance");
    let commit = Commit { generation, member: ids[0].clone(), ..committing("g", "t", 0, 3) };
    assert_eq!(tale.commit(commit), Ok(vec![]));
}

#[test]
fn too_long_metadata_is_refused_by_partition() {
    let mut tale = Tale::new();
    let mut commit = committing("g", "t", 0, 1);
    commit.topics[0].partitions[0].metadata = "\u{1F600}".repeat(2048);
    let mut second = commit.topics[0].partitions[0].clone();
    second.partition = 1;
    second.metadata.push('x');
    commit.topics[0].partitions.push(second);
    assert_eq!(tale.commit(commit), Ok(vec![(0, 1)]), "4096 units fit, one more does not");
    assert_eq!((tale.offset("g", "t", 0), tale.offset("g", "t", 1)), (1, -1));
}

#[test]
fn a_commit_that_fits_no_batch_is_refused_whole() {
    let mut tale = Tale::new();
    let mut commit = committing("g", "t", 0, 1);
    let one = commit.topics[0].partitions[0].clone();
    commit.topics[0].partitions =
        (0..20_000).map(|partition| CommitPartition { partition, ..one.clone() }).collect();
    assert_eq!(tale.commit(commit), Err(GroupError::RecordsTooLarge));
    assert_eq!(tale.fetch(everything("g")), []);
    assert!(tale.story.log.is_empty());
}

#[test]
fn offsets_of_topics_that_are_read_cannot_be_deleted() {
    let mut tale = Tale::new();
    assert_eq!(delete_offsets(&mut tale, "g", "t"), Err(GroupError::GroupIdNotFound));
    tale.commit(committing("g", "t", 0, 1)).unwrap();
    tale.commit(committing("g", "u", 0, 1)).unwrap();
    assert_eq!(delete_offsets(&mut tale, "g", "t"), Ok(vec![]));
    assert_eq!((tale.offset("g", "t", 0), tale.offset("g", "u", 0)), (-1, 1));
    let (generation, ids) = tale.stable("g", 1);
    let commit = Commit { generation, member: ids[0].clone(), ..committing("g", "t", 0, 1) };
    tale.commit(commit).unwrap();
    assert_eq!(delete_offsets(&mut tale, "g", "t"), Ok(vec![0]), "members subscribe to t");
    assert_eq!(delete_offsets(&mut tale, "g", "u"), Ok(vec![]));
    assert_eq!((tale.offset("g", "t", 0), tale.offset("g", "u", 0)), (1, -1));
}

#[test]
fn members_of_another_protocol_hide_what_they_read() {
    let mut tale = Tale::new();
    let connect = Join { protocol_type: "connect".into(), member_id_required: false, ..joining("g", "") };
    let reply = tale.join(connect);
    tale.story.sleep(DELAY_MS);
    assert_eq!(tale.joined(reply).error, None);
    assert_eq!(delete_offsets(&mut tale, "g", "t"), Err(GroupError::NonEmptyGroup));
}

#[test]
fn offsets_go_with_their_topic() {
    let mut tale = Tale::new();
    tale.commit(committing("g", "t", 0, 1)).unwrap();
    tale.commit(committing("g", "u", 0, 1)).unwrap();
    tale.commit(committing("h", "t", 3, 1)).unwrap();
    tale.story.tell(Event::TopicsDeleted(vec!["t".into()]));
    let offsets = (tale.offset("g", "t", 0), tale.offset("h", "t", 3), tale.offset("g", "u", 0));
    assert_eq!(offsets, (-1, -1, 1));
}

#[test]
fn many_offsets_of_a_deleted_topic_go_in_several_batches() {
    let mut tale = Tale::new();
    for from in (0..40_000).step_by(4_000) {
        let mut commit = committing("g", "t", 0, 1);
        let one = commit.topics[0].partitions[0].clone();
        let partitions = (from..from + 4_000).map(|partition| CommitPartition { partition, ..one.clone() });
        commit.topics[0].partitions = partitions.collect();
        tale.commit(commit).unwrap();
    }
    tale.story.tell(Event::TopicsDeleted(vec!["t".into()]));
    tale.story.sleep(1);
    assert_eq!(tale.fetch(everything("g")), []);
}

/// Records of transactions, as a replay meets them.
fn in_transaction(partition: i32, offset: i64, producer: i64) -> Record {
    let value = OffsetValue {
        offset,
        leader_epoch: -1,
        metadata: "".into(),
        commit_ms: 0,
        expire_ms: None,
        topic_id: Uuid::ZERO,
    };
    let (group, topic) = ("g".into(), "t".into());
    Record::Offset { group, topic, partition, value: Some(value), producer: Some(producer) }
}

#[test]
fn offsets_in_transactions_count_when_they_commit() {
    let mut hard = super::super::Hard::default();
    let mut apply = |record| GroupMachine::apply(&mut hard, record);
    apply(in_transaction(0, 5, 1));
    apply(in_transaction(1, 6, 2));
    apply(Record::Marker { producer: 1, commit: true });
    apply(in_transaction(0, 9, 2));
    assert_eq!(hard.offset("g", "t", 0).map(|value| value.offset), Some(5));
    assert!(hard.is_pending("g", &"t".into(), 0) && hard.is_pending("g", &"t".into(), 1));
    GroupMachine::apply(&mut hard, Record::Marker { producer: 2, commit: false });
    assert_eq!(hard.offset("g", "t", 0).map(|value| value.offset), Some(5));
    assert_eq!(hard.offset("g", "t", 1), None);
    assert!(!hard.is_pending("g", &"t".into(), 0));
}

#[test]
fn a_later_plain_commit_stands_against_a_transaction() {
    let mut hard = super::super::Hard::default();
    GroupMachine::apply(&mut hard, in_transaction(0, 5, 1));
    let Record::Offset { group, topic, partition, value, .. } = in_transaction(0, 9, 0) else {
        unreachable!()
    };
    GroupMachine::apply(&mut hard, Record::Offset { group, topic, partition, value, producer: None });
    GroupMachine::apply(&mut hard, Record::Marker { producer: 1, commit: true });
    assert_eq!(hard.offset("g", "t", 0).map(|value| value.offset), Some(9));
}
