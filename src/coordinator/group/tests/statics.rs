//! Static members (KIP-345).

use super::*;

fn fixed(instance: &str, member: &str) -> Join {
    Join { instance: Some(instance.into()), ..joining("g", member) }
}

/// A stable group of static members, the leader first: instances `i0`, `i1`, … and their member ids.
fn settle(tale: &mut Tale, members: usize) -> (i32, Vec<(String, String)>) {
    let replies: Vec<_> = (0..members).map(|n| tale.join(fixed(&format!("i{n}"), ""))).collect();
    tale.story.sleep(5_000);
    let joined: Vec<_> = replies.into_iter().map(|reply| tale.joined(reply)).collect();
    let (generation, leader) = (joined[0].generation, joined[0].leader.clone());
    let mut ids: Vec<_> =
        joined.iter().enumerate().map(|(n, j)| (format!("i{n}"), j.member.to_string())).collect();
    ids.sort_by_key(|(_, id)| **id != *leader);
    let members: Vec<_> = ids.iter().map(|(_, id)| id.clone()).collect();
    tale.share_out("g", generation, &members);
    (generation, ids)
}

#[test]
fn a_static_member_gets_its_id_at_once_and_named_after_its_instance() {
    let mut tale = Tale::new();
    let (_, ids) = settle(&mut tale, 1);
    assert!(ids[0].1.starts_with("i0-"), "{}", ids[0].1);
}

#[test]
fn a_restart_does_not_rebalance() {
    let mut tale = Tale::new();
    let (generation, ids) = settle(&mut tale, 2);
    let (instance, old) = ids[1].clone();
    let reply = tale.join(fixed(&instance, ""));
    let joined = tale.joined(reply);
    assert_eq!((joined.error, joined.generation, joined.skip_assignment), (None, generation, false));
    assert_ne!(*joined.member, *old);
    assert_eq!(tale.state("g"), "Stable");
    let sync = tale.sync("g", generation, &joined.member, &[]);
    assert_eq!(&tale.synced(sync).assignment[..], old.as_bytes(), "the share of old");
    assert_eq!(tale.beat_as("g", generation, &old, Some(&instance)), Err(GroupError::FencedInstance));
    assert_eq!(tale.beat_as("g", generation, &joined.member, Some(&instance)), Ok(()));
    assert_eq!(tale.beat("g", generation, &old), Err(GroupError::UnknownMember));
    // The new id is on record.
    tale.story.reload();
    assert_eq!(tale.beat_as("g", generation, &joined.member, Some(&instance)), Ok(()));
}

#[test]
fn a_leader_that_restarts_must_not_assign() {
    let mut tale = Tale::new();
    let (_, ids) = settle(&mut tale, 2);
    let reply = tale.join(fixed(&ids[0].0, ""));
    let joined = tale.joined(reply);
    assert!(joined.skip_assignment);
    assert_eq!((&joined.leader, joined.members.len()), (&joined.member, 2));
    // Versions that cannot say so are told that somebody else leads.
    let reply = tale.join(Join { can_skip_assignment: false, ..fixed(&ids[0].0, "") });
    let again = tale.joined(reply);
    assert_eq!((&again.leader, again.members.len(), again.skip_assignment), (&joined.member, 0, false));
    assert_ne!(again.member, joined.member);
}

#[test]
fn a_restart_with_another_protocol_rebalances() {
    let mut tale = Tale::new();
    settle(&mut tale, 1);
    let reply = tale.join(Join { protocols: protocols(&["sticky"]), ..fixed("i0", "") });
    assert_eq!(
        tale.joined(reply).error,
        Some(GroupError::InconsistentProtocol),
        "as in Kafka: the old one counts"
    );
    let reply = tale.join(Join { protocols: protocols(&["sticky", "range"]), ..fixed("i0", "") });
    let joined = tale.joined(reply);
    assert_eq!((joined.generation, joined.protocol.as_deref()), (2, Some("sticky")));
}

#[test]
fn a_twin_is_fenced() {
    let mut tale = Tale::new();
    let first = tale.join(fixed("i0", ""));
    let second = tale.join(fixed("i0", ""));
    let fenced = tale.joined(first);
    assert_eq!(fenced.error, Some(GroupError::FencedInstance));
    tale.story.sleep(5_000);
    assert_eq!(tale.joined(second).error, None);
    let ghost = tale.join(fixed("i0", &fenced.member));
    assert_eq!(tale.joined(ghost).error, Some(GroupError::FencedInstance));
    let stranger = tale.join(fixed("i9", &fenced.member));
    assert_eq!(tale.joined(stranger).error, Some(GroupError::UnknownMember));
}

#[test]
fn a_restart_while_shares_are_awaited_rebalances() {
    let mut tale = Tale::new();
    let first = tale.join(fixed("i0", ""));
    tale.story.sleep(5_000);
    assert_eq!(tale.joined(first).generation, 1);
    let again = tale.join(fixed("i0", ""));
    assert_eq!(tale.joined(again).generation, 2);
}

#[test]
fn static_members_keep_their_place_through_a_rebalance() {
    let mut tale = Tale::new();
    let (generation, ids) = settle(&mut tale, 2);
    let rejoin = tale.join(fixed(&ids[0].0, &ids[0].1));
    tale.story.sleep(5_000);
    let joined = tale.joined(rejoin);
    assert_eq!(
        (joined.generation, joined.members.len()),
        (generation + 1, 2),
        "the other one is still a member"
    );
}

#[test]
fn an_administrator_removes_static_members_by_instance() {
    let mut tale = Tale::new();
    let (_, ids) = settle(&mut tale, 2);
    let fates = tale.leave("g", &[("", Some(&ids[1].0)), ("", Some("nobody")), ("", None)]);
    assert_eq!(fates, [None, Some(GroupError::UnknownMember), Some(GroupError::UnknownMember)]);
    let fates = tale.leave("g", &[("somebody", Some(&ids[0].0))]);
    assert_eq!(fates, [Some(GroupError::FencedInstance)]);
    assert_eq!(tale.describe("g").unwrap().members.len(), 1);
}
