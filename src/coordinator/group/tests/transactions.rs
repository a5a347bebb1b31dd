//! Offsets committed in transactions.

use super::*;
use crate::coordinator::group::event::DeleteOffsets;

const PRODUCER: (i64, i16) = (77, 0);

pub(super) fn in_transaction(producer: (i64, i16), partition: i32, offset: i64) -> Commit {
    Commit { producer: Some(producer), ..committing("g", "t", partition, offset) }
}

pub(super) fn stable(tale: &mut Tale, partition: i32) -> Result<i64, GroupError> {
    let topics = Some(vec![("t".into(), vec![partition])]);
    let fetched = tale.fetch(Fetch { require_stable: true, ..fetching("g", topics) });
    let one = &fetched[0].partitions[0];
    one.error.map_or(Ok(one.offset), Err)
}

#[test]
fn they_count_once_the_transaction_commits() {
    let mut tale = Tale::new();
    tale.commit(in_transaction(PRODUCER, 0, 5)).unwrap();
    assert_eq!(tale.offset("g", "t", 0), -1, "not yet");
    assert_eq!(stable(&mut tale, 0), Err(GroupError::UnstableOffset));
    assert_eq!(stable(&mut tale, 1), Ok(-1), "the others are not held up");
    tale.story.reload();
    assert_eq!(stable(&mut tale, 0), Err(GroupError::UnstableOffset));
    tale.story.marker(PRODUCER.0, true);
    assert_eq!((tale.offset("g", "t", 0), stable(&mut tale, 0)), (5, Ok(5)));
    tale.story.marker(PRODUCER.0, true);
    tale.story.marker(PRODUCER.0, false);
    assert_eq!(stable(&mut tale, 0), Ok(5), "late and repeated markers do no harm");
}

#[test]
fn an_abort_leaves_what_was_there() {
    let mut tale = Tale::new();
    tale.commit(committing("g", "t", 0, 3)).unwrap();
    tale.commit(in_transaction(PRODUCER, 0, 5)).unwrap();
    assert_eq!(tale.offset("g", "t", 0), 3);
    tale.story.marker(PRODUCER.0, false);
    assert_eq!(stable(&mut tale, 0), Ok(3));
    tale.commit(in_transaction(PRODUCER, 0, 6)).unwrap();
    tale.story.marker(PRODUCER.0, true);
    assert_eq!(stable(&mut tale, 0), Ok(6), "the next transaction of the same producer");
}

#[test]
fn the_newest_commit_wins_whenever_its_transaction_ends() {
    let mut tale = Tale::new();
    tale.commit(in_transaction((1, 0), 0, 10)).unwrap();
    tale.commit(in_transaction((2, 0), 0, 20)).unwrap();
    tale.story.marker(2, true);
    assert_eq!(stable(&mut tale, 0), Err(GroupError::UnstableOffset));
    tale.story.marker(1, true);
    assert_eq!(stable(&mut tale, 0), Ok(20), "the older commit comes late");
    tale.commit(in_transaction((1, 0), 0, 30)).unwrap();
    tale.commit(committing("g", "t", 0, 40)).unwrap();
    tale.story.marker(1, true);
    assert_eq!(stable(&mut tale, 0), Ok(40));
}

#[test]
fn a_deleted_offset_does_not_come_back_with_the_marker() {
    let mut tale = Tale::new();
    tale.commit(in_transaction(PRODUCER, 0, 5)).unwrap();
    let delete = DeleteOffsets { group: "g".into(), topics: vec![("t".into(), vec![0])] };
    tale.ask(Request::DeleteOffsets(delete));
    assert_eq!(stable(&mut tale, 0), Ok(-1), "nobody waits for it any more");
    tale.story.marker(PRODUCER.0, true);
    assert_eq!(stable(&mut tale, 0), Ok(-1));
}

#[test]
fn pending_offsets_do_not_expire() {
    let mut tale = Tale::new();
    tale.commit(committing("g", "t", 0, 3)).unwrap();
    tale.commit(in_transaction(PRODUCER, 0, 5)).unwrap();
    tale.story.sleep(8 * 24 * 3_600_000);
    assert_eq!(tale.offset("g", "t", 0), 3);
    tale.story.marker(PRODUCER.0, true);
    assert_eq!(stable(&mut tale, 0), Ok(5));
}

#[test]
fn members_are_checked_if_they_are_named() {
    let mut tale = Tale::new();
    let stranger = Commit { generation: 3, member: "m".into(), ..in_transaction(PRODUCER, 0, 5) };
    assert_eq!(tale.commit(stranger.clone()), Err(GroupError::IllegalGeneration));
    let (generation, ids) = tale.stable("g", 1);
    assert_eq!(tale.commit(in_transaction(PRODUCER, 0, 5)), Ok(vec![]), "clients before KIP-447 name nobody");
    assert_eq!(tale.commit(Commit { generation, ..stranger.clone() }), Err(GroupError::UnknownMember));
    let member = ids[0].clone();
    let old = Commit { generation: generation - 1, member: member.clone(), ..stranger.clone() };
    assert_eq!(tale.commit(old), Err(GroupError::IllegalGeneration));
    assert_eq!(tale.commit(Commit { generation, member, ..stranger }), Ok(vec![]));
}
