//! Views of groups, and their deletion.

use super::*;
use crate::coordinator::group::Record;

#[test]
fn groups_are_listed_by_state_and_type() {
    let mut tale = Tale::new();
    tale.stable("busy", 1);
    tale.commit(committing("lone", "t", 0, 1)).unwrap();
    let names = |listed: Vec<Listed>| listed.into_iter().map(|g| g.group.to_string()).collect::<Vec<_>>();
    let all = tale.list(&[], &[]);
    assert_eq!(names(all.clone()), ["busy", "lone"]);
    assert_eq!((&*all[0].protocol_type, all[0].state, all[0].kind), ("consumer", "Stable", "classic"));
    assert_eq!((&*all[1].protocol_type, all[1].state), ("", "Empty"));
    assert_eq!(names(tale.list(&["sTaBlE"], &[])), ["busy"]);
    assert_eq!(names(tale.list(&["Nonsense"], &[])), [""; 0]);
    assert_eq!(names(tale.list(&["Empty"], &["Classic", "share"])), ["lone"]);
    assert_eq!(names(tale.list(&[], &["consumer"])), [""; 0]);
}

#[test]
fn metadata_is_shown_of_a_stable_group_only() {
    let mut tale = Tale::new();
    assert_eq!(tale.describe("g"), Err(GroupError::GroupIdNotFound));
    let (_, ids) = tale.stable("g", 2);
    let stable = tale.describe("g").unwrap();
    assert_eq!((stable.state, &*stable.protocol), ("Stable", "range"));
    let member = stable.members.iter().find(|member| *member.member == *ids[1]).unwrap();
    assert_eq!((&member.metadata, &member.assignment[..]), (&subscribing(&["t"]), ids[1].as_bytes()));
    assert_eq!((&*member.client_id, &*member.client_host), ("client", "/127.0.0.1"));
    tale.join(joining("g", &ids[0]));
    let moving = tale.describe("g").unwrap();
    assert_eq!((moving.state, &*moving.protocol, moving.members.len()), ("PreparingRebalance", "", 2));
    assert!(moving.members.iter().all(|member| member.metadata.is_empty() && !member.assignment.is_empty()));
}

#[test]
fn only_empty_groups_can_be_deleted() {
    let mut tale = Tale::new();
    assert_eq!(tale.delete("g"), Err(GroupError::GroupIdNotFound));
    tale.commit(committing("g", "t", 0, 1)).unwrap();
    let (_, ids) = tale.stable("g", 1);
    assert_eq!(tale.delete("g"), Err(GroupError::NonEmptyGroup));
    tale.leave("g", &[(&ids[0], None)]);
    assert_eq!(tale.delete("g"), Ok(()));
    assert_eq!(tale.delete("g"), Err(GroupError::GroupIdNotFound));
    assert_eq!(tale.offset("g", "t", 0), -1);
    tale.story.reload();
    assert_eq!(tale.state("g"), "Dead", "it does not come back");
}

#[test]
fn groups_of_other_protocols_are_left_alone() {
    let mut tale = Tale::new();
    let key = [0, 11, 0, 1, b'c'];
    tale.story.log.push((key.to_vec(), Some(vec![0, 0, 0, 0, 0, 1, 0])));
    tale.story.reload();
    let listed = tale.list(&[], &[]);
    assert_eq!((listed.len(), &*listed[0].group, listed[0].kind), (1, "c", "share"));
    let reply = tale.join(joining("c", ""));
    assert_eq!(tale.joined(reply).error, Some(GroupError::InconsistentProtocol));
    assert_eq!(tale.delete("c"), Err(GroupError::NonEmptyGroup));
    assert!(matches!(Record::Marker { producer: 0, commit: true }.size(), 1..));
}
