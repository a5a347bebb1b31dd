//! Silence.

use super::*;

#[test]
fn a_silent_member_is_put_out() {
    let mut tale = Tale::new();
    let (generation, ids) = tale.stable("g", 1);
    tale.story.sleep(29_999);
    assert_eq!(tale.beat("g", generation, &ids[0]), Ok(()));
    tale.story.sleep(29_999);
    assert_eq!(tale.state("g"), "Stable", "the heartbeat began a new session");
    tale.story.sleep(1);
    assert_eq!(tale.state("g"), "Empty");
    assert_eq!(tale.beat("g", generation, &ids[0]), Err(GroupError::UnknownMember));
}

#[test]
fn heartbeats_are_checked() {
    let mut tale = Tale::new();
    assert_eq!(tale.beat("g", 0, "nobody"), Err(GroupError::UnknownMember));
    assert_eq!(tale.beat("", 0, "nobody"), Err(GroupError::InvalidGroupId));
    let (generation, ids) = tale.stable("g", 1);
    assert_eq!(tale.beat("g", generation + 1, &ids[0]), Err(GroupError::IllegalGeneration));
    assert_eq!(tale.beat("g", 0, &ids[0]), Err(GroupError::IllegalGeneration));
    assert_eq!(tale.beat("g", generation, "nobody"), Err(GroupError::UnknownMember));
}

#[test]
fn a_commit_is_a_sign_of_life() {
    let mut tale = Tale::new();
    let (generation, ids) = tale.stable("g", 1);
    for offset in 0..4 {
        tale.story.sleep(20_000);
        let commit = Commit { member: ids[0].clone(), generation, ..committing("g", "t", 0, offset) };
        assert_eq!(tale.commit(commit), Ok(vec![]));
    }
    assert_eq!(tale.state("g"), "Stable");
}

#[test]
fn who_waits_in_a_rebalance_does_not_expire() {
    let mut tale = Tale::new();
    let patient = |member: &str| Join { rebalance_timeout_ms: 100_000, ..joining("g", member) };
    let first = tale.join(patient(""));
    let (a, second) = (tale.joined(first).member, tale.join(patient("")));
    let b = tale.joined(second).member;
    let (ja, jb) = (tale.join(patient(&a)), tale.join(patient(&b)));
    tale.story.sleep_until_answered(jb);
    let generation = tale.joined(ja).generation;
    let leader = tale.joined(jb).leader;
    let ids = if leader == a { [a.to_string(), b.to_string()] } else { [b.to_string(), a.to_string()] };
    tale.share_out("g", generation, &ids);
    let rejoin = tale.join(patient(&ids[0]));
    // The other one keeps its session but does not join again until much later.
    for _ in 0..4 {
        tale.story.sleep(20_000);
        assert_eq!(tale.beat("g", generation, &ids[1]), Err(GroupError::RebalanceInProgress));
    }
    assert!(tale.waits(rejoin), "80 s have passed, twice its session");
    let late = tale.join(patient(&ids[1]));
    assert_eq!(tale.joined(late).error, None);
    assert_eq!(tale.joined(rejoin).error, None);
}

#[test]
fn a_new_member_that_vanished_while_it_waits_expires() {
    let mut tale = Tale::new();
    let long = Join { rebalance_timeout_ms: 1_000_000, session_timeout_ms: 1_000_000, ..joining("g", "") };
    let first = tale.join(long.clone());
    let old = tale.joined(first).member;
    let reply = tale.join(Join { member: old.to_string(), ..long.clone() });
    tale.story.sleep(DELAY_MS);
    let generation = tale.joined(reply).generation;
    tale.share_out("g", generation, &[old.to_string()]);
    // A newcomer waits for the old member, which does not come back for more than five minutes.
    let (_, joins) = tale.introduce("g");
    tale.story.sleep(299_999);
    assert!(tale.waits(joins));
    tale.story.sleep(1);
    assert_eq!(tale.joined(joins).error, Some(GroupError::UnknownMember));
}
