//! Shares.

use super::*;

#[track_caller]
fn refused(tale: &mut Tale, sync: Sync) -> Option<GroupError> {
    let reply = tale.ask(Request::Sync(sync));
    tale.synced(reply).error
}

#[test]
fn syncs_are_checked() {
    let mut tale = Tale::new();
    assert_eq!(refused(&mut tale, syncing("g", 1, "x")), Some(GroupError::UnknownMember));
    let (generation, ids) = tale.stable("g", 1);
    let good = syncing("g", generation, &ids[0]);
    let nobody = syncing("g", generation, "nobody");
    assert_eq!(refused(&mut tale, nobody), Some(GroupError::UnknownMember));
    let ahead = Sync { generation: generation + 1, ..good.clone() };
    assert_eq!(refused(&mut tale, ahead), Some(GroupError::IllegalGeneration));
    let other = Sync { protocol: Some("roundrobin".into()), ..good.clone() };
    assert_eq!(refused(&mut tale, other), Some(GroupError::InconsistentProtocol));
    let other = Sync { protocol_type: Some("connect".into()), ..good.clone() };
    assert_eq!(refused(&mut tale, other), Some(GroupError::InconsistentProtocol));
    let old = Sync { protocol_type: None, protocol: None, ..good.clone() };
    assert_eq!(refused(&mut tale, old), None, "old versions do not say");
    assert_eq!(refused(&mut tale, Sync { group: String::new(), ..good }), Some(GroupError::InvalidGroupId));
}

#[test]
fn followers_wait_for_the_leader() {
    let mut tale = Tale::new();
    let (ids, replies): (Vec<_>, Vec<_>) = (0..3).map(|_| tale.introduce("g")).unzip();
    tale.story.sleep(5_000);
    let joined: Vec<_> = replies.into_iter().map(|reply| tale.joined(reply)).collect();
    let (leader, generation) = (joined[0].leader.to_string(), joined[0].generation);
    let others: Vec<_> = ids.iter().filter(|id| **id != leader).collect();
    let first = tale.sync("g", generation, others[0], &[]);
    assert!(tale.waits(first));
    let share = [(others[0].as_str(), "x")];
    let lead = tale.sync("g", generation, &leader, &share);
    assert_eq!(&tale.synced(first).assignment[..], b"x");
    assert_eq!(&tale.synced(lead).assignment[..], b"", "it gave itself nothing");
    let late = tale.sync("g", generation, others[1], &[]);
    assert_eq!(tale.synced(late).error, None);
    assert_eq!(tale.state("g"), "Stable");
}

#[test]
fn a_rebalance_sends_waiting_syncs_back() {
    let mut tale = Tale::new();
    let (ids, replies): (Vec<_>, Vec<_>) = (0..2).map(|_| tale.introduce("g")).unzip();
    tale.story.sleep(5_000);
    let joined: Vec<_> = replies.into_iter().map(|reply| tale.joined(reply)).collect();
    let (leader, generation) = (joined[0].leader.to_string(), joined[0].generation);
    let follower = ids.iter().find(|id| **id != leader).unwrap();
    let waiting = tale.sync("g", generation, follower, &[]);
    assert_eq!(tale.leave("g", &[(&leader, None)]), [None]);
    assert_eq!(tale.synced(waiting).error, Some(GroupError::RebalanceInProgress));
    assert_eq!(refused(&mut tale, syncing("g", generation, follower)), Some(GroupError::RebalanceInProgress));
    let again = tale.join(joining("g", follower));
    assert_eq!(&*tale.joined(again).leader, follower);
}

#[test]
fn who_does_not_sync_in_time_is_out() {
    let mut tale = Tale::new();
    let (ids, replies): (Vec<_>, Vec<_>) = (0..3).map(|_| tale.introduce("g")).unzip();
    tale.story.sleep(DELAY_MS * 3);
    let joined: Vec<_> = replies.into_iter().map(|reply| tale.joined(reply)).collect();
    let (leader, generation) = (joined[0].leader.to_string(), joined[0].generation);
    let lead = tale.sync("g", generation, &leader, &[]);
    assert_eq!(tale.synced(lead).error, None);
    let others: Vec<_> = ids.iter().filter(|id| **id != leader).collect();
    let in_time = tale.sync("g", generation, others[0], &[]);
    assert_eq!(tale.synced(in_time).error, None);
    tale.story.sleep(5_000);
    assert_eq!(tale.beat("g", generation, others[1]), Err(GroupError::UnknownMember));
    assert_eq!(tale.beat("g", generation, others[0]), Err(GroupError::RebalanceInProgress));
}

#[test]
fn an_assignment_that_fits_no_batch_is_refused() {
    let mut tale = Tale::new();
    let (id, reply) = tale.introduce("g");
    tale.story.sleep(DELAY_MS);
    let generation = tale.joined(reply).generation;
    let huge = "x".repeat(2_000_000);
    let sync = tale.sync("g", generation, &id, &[(&id, &huge)]);
    assert_eq!(tale.synced(sync).error, Some(GroupError::RecordsTooLarge));
    assert_eq!(tale.beat("g", generation, &id), Err(GroupError::RebalanceInProgress));
}
