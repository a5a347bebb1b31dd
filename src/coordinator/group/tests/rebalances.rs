//! Who joins again, and what that does.

use super::*;

#[test]
fn a_newcomer_rebalances_the_group() {
    let mut tale = Tale::new();
    let (generation, ids) = tale.stable("g", 1);
    let (new, joins) = tale.introduce("g");
    assert!(tale.waits(joins));
    assert_eq!(tale.beat("g", generation, &ids[0]), Err(GroupError::RebalanceInProgress));
    let again = tale.join(joining("g", &ids[0]));
    let (leader, follower) = (tale.joined(again), tale.joined(joins));
    assert_eq!((leader.generation, follower.generation), (generation + 1, generation + 1));
    assert_eq!((&*leader.leader, &*follower.leader), (ids[0].as_str(), ids[0].as_str()));
    assert_eq!((leader.members.len(), follower.members.len()), (2, 0));
    tale.share_out("g", generation + 1, &[ids[0].clone(), new]);
    assert_eq!(tale.state("g"), "Stable");
}

#[test]
fn who_does_not_come_back_in_time_is_out() {
    let mut tale = Tale::new();
    let (generation, ids) = tale.stable("g", 3);
    let rejoin = tale.join(Join { protocols: protocols(&["range", "sticky"]), ..joining("g", &ids[1]) });
    tale.story.sleep(4_999);
    assert!(tale.waits(rejoin));
    tale.story.sleep(1);
    let joined = tale.joined(rejoin);
    assert_eq!((&*joined.leader, joined.members.len()), (ids[1].as_str(), 1), "the leader did not come");
    assert_eq!(tale.beat("g", generation + 1, &ids[0]), Err(GroupError::UnknownMember));
}

#[test]
fn a_follower_that_has_not_changed_gets_the_same_generation() {
    let mut tale = Tale::new();
    let (generation, ids) = tale.stable("g", 2);
    let rejoin = tale.join(joining("g", &ids[1]));
    let joined = tale.joined(rejoin);
    assert_eq!((joined.error, joined.generation, joined.members.len()), (None, generation, 0));
    assert_eq!(tale.state("g"), "Stable");
    let changed = Join { protocols: protocols(&["range", "sticky"]), ..joining("g", &ids[1]) };
    let rejoin = tale.join(changed);
    assert!(tale.waits(rejoin));
    assert_eq!(tale.state("g"), "PreparingRebalance");
}

#[test]
fn the_leader_can_always_ask_for_a_rebalance() {
    let mut tale = Tale::new();
    let (generation, ids) = tale.stable("g", 1);
    let rejoin = tale.join(joining("g", &ids[0]));
    assert_eq!(tale.joined(rejoin).generation, generation + 1);
    // Its answer may have been lost: while shares are awaited, the same is said again.
    let rejoin = tale.join(joining("g", &ids[0]));
    let joined = tale.joined(rejoin);
    assert_eq!((joined.generation, joined.members.len()), (generation + 1, 1));
}

#[test]
fn members_that_leave_rebalance_the_rest() {
    let mut tale = Tale::new();
    let (generation, ids) = tale.stable("g", 2);
    assert_eq!(
        tale.leave("g", &[(&ids[0], None), ("nobody", None)]),
        [None, Some(GroupError::UnknownMember)]
    );
    assert_eq!(tale.beat("g", generation, &ids[1]), Err(GroupError::RebalanceInProgress));
    let rejoin = tale.join(joining("g", &ids[1]));
    assert_eq!(&*tale.joined(rejoin).leader, ids[1].as_str());
    assert_eq!(tale.leave("g", &[(&ids[1], None)]), [None]);
    let empty = tale.describe("g").unwrap();
    assert_eq!((empty.state, &*empty.protocol_type), ("Empty", "consumer"));
    assert_eq!(tale.leave("nowhere", &[("x", None)]), [Some(GroupError::UnknownMember)]);
}

#[test]
fn who_leaves_while_it_joins_is_answered() {
    let mut tale = Tale::new();
    let (id, reply) = tale.introduce("g");
    assert_eq!(tale.leave("g", &[(&id, None)]), [None]);
    assert_eq!(tale.joined(reply).error, Some(GroupError::UnknownMember));
    tale.story.sleep(DELAY_MS);
    assert_eq!(tale.state("g"), "Empty");
}

#[test]
fn a_pending_member_can_leave() {
    let mut tale = Tale::new();
    let first = tale.join(joining("g", ""));
    let id = tale.joined(first).member;
    assert_eq!(tale.leave("g", &[(&id, None)]), [None]);
    let back = tale.join(joining("g", &id));
    assert_eq!(tale.joined(back).error, Some(GroupError::UnknownMember));
}

#[test]
fn a_group_survives_a_reload() {
    let mut tale = Tale::new();
    let (generation, ids) = tale.stable("g", 2);
    let before = tale.describe("g").unwrap();
    tale.story.reload();
    assert_eq!(tale.describe("g").unwrap(), before);
    assert_eq!(tale.beat("g", generation, &ids[1]), Ok(()));
    let reply = tale.sync("g", generation, &ids[1], &[]);
    assert_eq!(&tale.synced(reply).assignment[..], ids[1].as_bytes());
    tale.story.sleep(30_000);
    assert_eq!(
        tale.beat("g", generation, &ids[0]),
        Err(GroupError::UnknownMember),
        "silent since the reload"
    );
}

#[test]
fn a_reload_in_a_rebalance_goes_back_to_the_last_shares() {
    let mut tale = Tale::new();
    let (generation, ids) = tale.stable("g", 1);
    let rejoin = tale.join(joining("g", &ids[0]));
    assert_eq!(tale.joined(rejoin).generation, generation + 1);
    tale.story.reload();
    assert_eq!(tale.beat("g", generation + 1, &ids[0]), Err(GroupError::IllegalGeneration));
    assert_eq!(tale.beat("g", generation, &ids[0]), Ok(()));
}

#[test]
fn a_group_that_is_too_large_after_a_reload_rebalances() {
    let mut tale = Tale::new();
    let (_, ids) = tale.stable("g", 3);
    tale.settings().max_size = 2;
    tale.story.reload();
    assert_eq!(tale.state("g"), "PreparingRebalance");
    let replies: Vec<_> = ids.iter().map(|id| tale.join(joining("g", id))).collect();
    tale.story.sleep(5_000);
    let errors: Vec<_> = replies.into_iter().map(|reply| tale.joined(reply).error).collect();
    assert_eq!(errors, [None, None, Some(GroupError::GroupFull)]);
}
