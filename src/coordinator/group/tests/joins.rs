//! Who may join, and with which id.

use super::*;

#[track_caller]
fn refusal(join: Join) -> GroupError {
    let mut tale = Tale::new();
    let reply = tale.join(join);
    let joined = tale.joined(reply);
    assert_eq!(joined.generation, -1);
    joined.error.expect("a refusal")
}

#[test]
fn bad_requests_are_refused() {
    assert_eq!(refusal(joining("", "")), GroupError::InvalidGroupId);
    let short = Join { session_timeout_ms: 100, ..joining("g", "") };
    assert_eq!(refusal(short), GroupError::InvalidSessionTimeout);
    let long = Join { session_timeout_ms: 100_000_000, ..joining("g", "") };
    assert_eq!(refusal(long), GroupError::InvalidSessionTimeout);
    assert_eq!(refusal(Join { protocols: vec![], ..joining("g", "") }), GroupError::InconsistentProtocol);
    let twice = Join { protocols: protocols(&["a", "a"]), ..joining("g", "") };
    assert_eq!(refusal(twice), GroupError::InconsistentProtocol);
    let nameless = Join { protocol_type: String::new(), ..joining("g", "") };
    assert_eq!(refusal(nameless), GroupError::InconsistentProtocol);
    assert_eq!(refusal(joining("g", "nobody")), GroupError::UnknownMember);
}

#[test]
fn a_new_member_is_sent_back_for_its_id() {
    let mut tale = Tale::new();
    let first = tale.join(joining("g", ""));
    let required = tale.joined(first);
    assert_eq!(required.error, Some(GroupError::MemberIdRequired));
    assert_eq!(&*required.member, "client-00000000-0000-0000-0000-000000000001");
    assert_eq!(tale.state("g"), "Empty", "the group exists, and is on record");
    assert_eq!(tale.story.log.len(), 1);
    let reply = tale.join(joining("g", &required.member));
    assert!(tale.waits(reply));
    assert_eq!(tale.state("g"), "PreparingRebalance");
    tale.story.sleep(DELAY_MS);
    let joined = tale.joined(reply);
    assert_eq!((joined.error, joined.generation), (None, 1));
    assert_eq!(joined.member, joined.leader);
    assert_eq!(
        (joined.protocol.as_deref(), joined.protocol_type.as_deref()),
        (Some("range"), Some("consumer"))
    );
    assert_eq!(joined.members.len(), 1);
}

#[test]
fn old_versions_join_at_once() {
    let mut tale = Tale::new();
    let reply = tale.join(Join { member_id_required: false, ..joining("g", "") });
    tale.story.sleep(DELAY_MS);
    assert_eq!(tale.joined(reply).generation, 1);
}

#[test]
fn an_id_that_does_not_come_back_is_forgotten() {
    let mut tale = Tale::new();
    let first = tale.join(joining("g", ""));
    let id = tale.joined(first).member;
    tale.story.sleep(30_001);
    let late = tale.join(joining("g", &id));
    assert_eq!(tale.joined(late).error, Some(GroupError::UnknownMember));
}

#[test]
fn a_rebalance_waits_for_ids_that_are_out() {
    let mut tale = Tale::new();
    let (generation, ids) = tale.stable("g", 1);
    let first = tale.join(joining("g", ""));
    let _ = tale.joined(first);
    let rejoin = tale.join(joining("g", &ids[0]));
    assert!(tale.waits(rejoin), "another member was promised a place");
    tale.story.sleep(5_000);
    assert_eq!(tale.joined(rejoin).generation, generation + 1);
}

#[test]
fn the_first_wait_is_extended_while_members_come() {
    let mut tale = Tale::new();
    let (_, first) = tale.introduce("g");
    tale.story.sleep(DELAY_MS - 1);
    let (_, second) = tale.introduce("g");
    tale.story.sleep(DELAY_MS - 1);
    assert!(tale.waits(first), "a member came during the first wait");
    let (_, third) = tale.introduce("g");
    tale.story.sleep(DELAY_MS * 3);
    for reply in [first, second, third] {
        assert_eq!(tale.joined(reply).generation, 1);
    }
}

#[test]
fn the_first_wait_ends_with_the_rebalance_timeout() {
    let mut tale = Tale::new();
    let (_, first) = tale.introduce("g");
    for _ in 0..12 {
        tale.story.sleep(DELAY_MS - 10);
        tale.introduce("g");
    }
    let joined = tale.joined(first);
    assert_eq!((joined.error, joined.generation), (None, 1), "5 s are over, though members still come");
}

#[test]
fn members_without_a_common_protocol_cannot_meet() {
    let mut tale = Tale::new();
    tale.stable("g", 1);
    let other = tale.join(Join { protocols: protocols(&["sticky"]), ..joining("g", "") });
    assert_eq!(tale.joined(other).error, Some(GroupError::InconsistentProtocol));
    let other = tale.join(Join { protocol_type: "connect".into(), ..joining("g", "") });
    assert_eq!(tale.joined(other).error, Some(GroupError::InconsistentProtocol));
}

#[test]
fn the_protocol_with_most_votes_among_the_common_ones_wins() {
    let mut tale = Tale::new();
    let mut replies = Vec::new();
    for choice in [&["a", "b", "c"][..], &["c", "b"], &["b", "c"], &["c", "b", "a"]] {
        let join = Join { member_id_required: false, protocols: protocols(choice), ..joining("g", "") };
        replies.push(tale.join(join));
    }
    tale.story.sleep(5_000);
    for reply in replies {
        // Votes for what all of them know: b, c, b, c: the hash table lists b first.
        assert_eq!(tale.joined(reply).protocol.as_deref(), Some("b"));
    }
}

#[test]
fn a_full_group_takes_nobody() {
    let settings =
        GroupSettings { max_size: 2, initial_rebalance_delay_ms: DELAY_MS, ..GroupSettings::default() };
    let mut tale = Tale::with(settings);
    let (_, ids) = tale.stable("g", 2);
    let extra = tale.join(joining("g", ""));
    let refused = tale.joined(extra);
    assert_eq!((refused.error, &*refused.member), (Some(GroupError::GroupFull), ""));
    let rejoin = tale.join(joining("g", &ids[0]));
    let again = tale.join(joining("g", &ids[1]));
    assert_eq!(tale.joined(rejoin).error, None, "members stay");
    assert_eq!(tale.joined(again).error, None);
}

#[test]
fn a_second_join_of_one_member_replaces_the_first() {
    let mut tale = Tale::new();
    let (id, first) = tale.introduce("g");
    let second = tale.join(joining("g", &id));
    assert_eq!(tale.joined(first).error, Some(GroupError::RebalanceInProgress));
    tale.story.sleep(DELAY_MS);
    assert_eq!(tale.joined(second).error, None);
}
