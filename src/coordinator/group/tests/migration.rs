//! Groups that change their protocol while they have members.

use barnabas_protocol::messages::records::consumer_protocol::{ConsumerProtocolSubscription, TopicPartition};
use barnabas_protocol::messages::records::to_versioned;

use super::consumers::{joining_beat, staying_beat};
use super::*;
use crate::coordinator::group::event::Beat;
use crate::coordinator::group::settings::MigrationPolicy;
use crate::coordinator::group::subscription::{assignment, assignment_bytes};

const NEXT_MS: u64 = 1_100;

/// A classic member's JoinGroup that says what it still holds of topic `t`.
pub(super) fn classic_join(member: &str, instance: Option<&str>, owned: &[i32]) -> Join {
    let topic = |partitions: &[i32]| TopicPartition { topic: "t".into(), partitions: partitions.to_vec() };
    let said = ConsumerProtocolSubscription {
        topics: vec!["t".into()],
        owned_partitions: if owned.is_empty() { Vec::new() } else { vec![topic(owned)] },
        ..Default::default()
    };
    Join {
        instance: instance.map(str::to_owned),
        protocols: vec![("range".into(), to_versioned(&said, 3).into())],
        ..joining("g", member)
    }
}

/// Partitions of topic `t` as an assignment.
pub(super) fn share_bytes(partitions: &[i32]) -> Bytes {
    assignment_bytes(&[0, 3], std::iter::once(("t".into(), partitions.to_vec())))
}

/// The partitions of topic `t` in an assignment.
pub(super) fn share_of(bytes: &Bytes) -> Vec<i32> {
    assignment(bytes).unwrap().topics.into_iter().flat_map(|(_, partitions)| partitions).collect()
}

impl Tale {
    /// A stable classic group of one member that has all four partitions of `t`.
    fn classic_group(instance: Option<&str>) -> (Tale, String) {
        let mut tale = Tale::with_topics(&[("t", 4)]);
        let mut first = tale.join(classic_join("", instance, &[]));
        if instance.is_none() {
            let member = tale.joined(first).member;
            first = tale.join(classic_join(&member, None, &[]));
        }
        tale.story.sleep_until_answered(first);
        let member = tale.joined(first).member.to_string();
        let shares = vec![(member.clone(), share_bytes(&[0, 1, 2, 3]))];
        let reply = tale.ask(Request::Sync(Sync {
            assignments: shares,
            instance: instance.map(str::to_owned),
            ..syncing("g", 1, &member)
        }));
        assert_eq!(tale.synced(reply).error, None);
        (tale, member)
    }

    fn joins_mixed(&mut self, member: &str, owned: &[i32]) -> Joined {
        let reply = self.join(classic_join(member, None, owned));
        self.joined(reply)
    }

    fn syncs_mixed(&mut self, generation: i32, member: &str) -> Result<Vec<i32>, GroupError> {
        let reply = self.sync("g", generation, member, &[]);
        let synced = self.synced(reply);
        synced.error.map_or_else(|| Ok(share_of(&synced.assignment)), Err)
    }

    fn share_of_consumer(&mut self, beat: Beat) -> Vec<i32> {
        let told = self.consumer_beat(beat).unwrap().assignment.unwrap_or_default();
        told.into_iter().flat_map(|(_, partitions)| partitions).collect()
    }
}

#[test]
fn a_group_goes_over_to_the_consumers_and_back() {
    let (mut tale, m) = Tale::classic_group(None);
    let t = tale.id("t");
    let joined = tale.consumer_beat(joining_beat("b", &["t"])).unwrap();
    assert_eq!((joined.epoch, joined.assignment), (2, Some(Vec::new())), "the other one has them still");
    assert_eq!(tale.state("g"), "Dead", "it is no classic group");
    tale.story.reload();
    assert_eq!(tale.beat("g", 1, &m), Err(GroupError::RebalanceInProgress));
    let joined = tale.joins_mixed(&m, &[0, 1, 2, 3]);
    assert_eq!((joined.error, joined.generation, &*joined.leader), (None, 1, ""), "to give up two");
    assert_eq!(tale.syncs_mixed(1, &m), Ok(vec![0, 1]));
    assert_eq!(tale.beat("g", 1, &m), Err(GroupError::RebalanceInProgress), "it is to say that it has");
    assert_eq!(tale.share_of_consumer(staying_beat("b", 2)), [] as [i32; 0]);
    assert_eq!(tale.joins_mixed(&m, &[0, 1]).generation, 2);
    assert_eq!(tale.syncs_mixed(2, &m), Ok(vec![0, 1]));
    assert_eq!(tale.beat("g", 2, &m), Ok(()));
    assert_eq!(tale.share_of_consumer(staying_beat("b", 2)), [2, 3]);
    assert_eq!(tale.consumers().state, "Stable");
    tale.story.reload();
    assert_eq!(tale.beat("g", 2, &m), Ok(()));
    assert_eq!(tale.beat("g", 1, &m), Err(GroupError::IllegalGeneration));
    assert_eq!(tale.beat("g", 2, "b"), Err(GroupError::UnknownMember), "a consumer");
    assert_eq!(tale.story.hard.consumer("g").unwrap().owner(t, 3).map(|owner| &**owner), Some("b"));

    tale.consumer_beat(staying_beat("b", -1)).unwrap();
    assert_eq!(tale.state("g"), "PreparingRebalance");
    assert_eq!(tale.beat("g", 2, &m), Err(GroupError::RebalanceInProgress));
    tale.story.reload();
    assert_eq!(tale.state("g"), "Stable", "of the kind that it was turned into");
    let reply = tale.join(classic_join(&m, None, &[0, 1]));
    let joined = tale.joined(reply);
    assert_eq!((joined.generation, &*joined.leader), (3, &*m));
    tale.share_out("g", 3, &[m]);
}

#[test]
fn what_a_member_still_reads_is_not_given_away_while_its_group_turns_to_and_fro() {
    let (mut tale, m) = Tale::classic_group(None);
    assert_eq!(tale.share_of_consumer(joining_beat("b", &["t"])), [] as [i32; 0]);
    tale.consumer_beat(staying_beat("b", -1)).unwrap();
    assert_eq!(tale.state("g"), "PreparingRebalance");
    assert_eq!(
        tale.share_of_consumer(joining_beat("c", &["t"])),
        [] as [i32; 0],
        "nobody has asked the other for any"
    );
    let joined = tale.joins_mixed(&m, &[0, 1, 2, 3]);
    assert_eq!(tale.syncs_mixed(joined.generation, &m), Ok(vec![0, 1]));
}

#[test]
fn a_static_member_that_turns_its_group_in_the_middle_of_a_rebalance_gets_a_share() {
    let mut tale = Tale::with_topics(&[("t", 4)]);
    let first = tale.join(classic_join("", Some("fixed"), &[]));
    tale.story.sleep_until_answered(first);
    assert_eq!(tale.state("g"), "CompletingRebalance");
    let comes_back = Beat { instance: Some("fixed".into()), ..joining_beat("b", &["t"]) };
    assert_eq!(tale.share_of_consumer(comes_back), [0, 1, 2, 3]);
}

#[test]
fn a_static_member_that_turns_its_group_back_takes_nothing_that_another_still_reads() {
    let (mut tale, m) = Tale::classic_group(None);
    let fixed = Some("fixed".to_owned());
    assert_eq!(
        tale.share_of_consumer(Beat { instance: fixed.clone(), ..joining_beat("b", &["t"]) }),
        [] as [i32; 0]
    );
    let reply = tale.join(classic_join("", Some("fixed"), &[]));
    let joined = tale.joined(reply);
    assert_eq!((joined.error, tale.state("g")), (None, "PreparingRebalance"));
    let sync = Sync { instance: fixed, ..syncing("g", joined.generation, &joined.member) };
    let reply = tale.ask(Request::Sync(sync));
    assert_eq!(tale.synced(reply).error, Some(GroupError::RebalanceInProgress));
    assert_eq!(tale.beat("g", 2, &m), Err(GroupError::RebalanceInProgress));
}

#[test]
fn a_classic_member_joins_consumers() {
    let mut tale = Tale::with_topics(&[("t", 4)]);
    tale.consumer_beat(joining_beat("b", &["t"])).unwrap();
    let bad = |join: Join| (join, GroupError::InconsistentProtocol);
    for (join, error) in [
        bad(Join { protocol_type: "connect".into(), ..classic_join("", None, &[]) }),
        bad(Join { protocols: Vec::new(), ..classic_join("", None, &[]) }),
        bad(Join {
            protocols: vec![("range".into(), Bytes::from_static(b"zz"))],
            ..classic_join("", None, &[])
        }),
        (classic_join("nobody", Some("i"), &[]), GroupError::UnknownMember),
    ] {
        let reply = tale.join(join);
        assert_eq!(tale.joined(reply).error, Some(error));
    }
    let required = tale.joins_mixed("", &[]);
    assert_eq!(required.error, Some(GroupError::MemberIdRequired));
    let joined = tale.joins_mixed(&required.member, &[]);
    assert_eq!((joined.error, joined.generation), (None, 2), "the assignment waits for more changes");
    assert_eq!(tale.beat("g", 2, &joined.member), Ok(()));
    assert_eq!(tale.syncs_mixed(2, &joined.member), Ok(vec![]));
    let other = tale.join(Join { protocols: protocols(&["sticky"]), ..joining("g", "x") });
    assert_eq!(tale.joined(other).error, Some(GroupError::InconsistentProtocol), "no protocol in common");
    assert_eq!(tale.leave("g", &[(&joined.member, None), ("b", None)]), [None, None]);
    assert_eq!(tale.consumers().state, "Empty");
}

#[test]
fn a_classic_member_is_to_join_and_sync_in_time() {
    let mut tale = Tale::with_topics(&[("t", 4)]);
    tale.consumer_beat(joining_beat("b", &["t"])).unwrap();
    let joined = tale.joins_mixed("late", &[]);
    tale.story.sleep(4_900);
    assert_eq!(tale.beat("g", joined.generation, "late"), Ok(()));
    tale.story.sleep(200);
    assert_eq!(tale.beat("g", joined.generation, "late"), Err(GroupError::UnknownMember), "it did not sync");
    tale.consumer_beat(staying_beat("b", 2)).unwrap();

    let joined = tale.joins_mixed("lazy", &[]);
    assert_eq!(tale.syncs_mixed(joined.generation, "lazy"), Ok(vec![]));
    tale.story.sleep(NEXT_MS);
    tale.consumer_beat(staying_beat("b", joined.generation)).unwrap();
    for _ in 0..6 {
        assert_eq!(tale.beat("g", joined.generation, "lazy"), Err(GroupError::RebalanceInProgress));
        tale.story.sleep(900);
    }
    assert_eq!(tale.beat("g", joined.generation, "lazy"), Err(GroupError::UnknownMember), "it did not join");

    let joined = tale.joins_mixed("silent", &[]);
    tale.syncs_mixed(joined.generation, "silent").unwrap();
    let mut epoch = tale.story.hard.consumer("g").unwrap().member("b").unwrap().current.epoch;
    for _ in 0..4 {
        tale.story.sleep(8_000);
        epoch =
            tale.consumer_beat(Beat { owned: Some(Vec::new()), ..staying_beat("b", epoch) }).unwrap().epoch;
    }
    assert_eq!(tale.consumers().members.len(), 1, "it was silent for longer than it said");
}

#[test]
fn static_members_come_back_with_the_other_protocol() {
    let (mut tale, m) = Tale::classic_group(Some("i"));
    let back = |member: &str| Beat { instance: Some("i".into()), ..joining_beat(member, &["t"]) };
    let joined = tale.consumer_beat(back("b")).unwrap();
    assert_eq!((joined.epoch, joined.assignment.map(|all| all[0].1.len())), (1, Some(4)), "all at once");
    assert_eq!(tale.beat_as("g", 1, &m, Some("i")), Err(GroupError::FencedInstance));
    let reply = tale.join(classic_join("", Some("i"), &[]));
    let joined = tale.joined(reply);
    assert_eq!((joined.error, joined.generation, &*joined.leader), (None, 1, ""));
    assert_eq!(tale.state("g"), "Stable", "the group is classic again and need not rebalance");
    let reply =
        tale.ask(Request::Sync(Sync { instance: Some("i".into()), ..syncing("g", 1, &joined.member) }));
    assert_eq!(share_of(&tale.synced(reply).assignment), [0, 1, 2, 3]);
    tale.story.reload();
    assert_eq!(tale.beat_as("g", 1, &joined.member, Some("i")), Ok(()));
}

#[test]
fn groups_that_cannot_change_are_left_alone() {
    let (mut tale, m) = Tale::classic_group(None);
    tale.settings().consumer.migration = MigrationPolicy::named("downgrade");
    let refused = tale.consumer_beat(joining_beat("b", &["t"])).unwrap_err();
    assert_eq!(refused.error, GroupError::GroupIdNotFound);
    assert_eq!(tale.beat("g", 1, &m), Ok(()));
    tale.settings().consumer.migration = MigrationPolicy::named("upgrade");
    tale.consumer_beat(joining_beat("b", &["t"])).unwrap();
    tale.consumer_beat(staying_beat("b", -1)).unwrap();
    assert_eq!(tale.state("g"), "Dead", "a consumer group without consumers");
    assert_eq!(tale.joins_mixed(&m, &[]).error, None);

    for share in [Bytes::from_static(b"one"), Bytes::from_static(b"\0\x03\0\0\0\0\0\0\0\x01u")] {
        let mut tale = Tale::with_topics(&[("t", 4)]);
        let (id, reply) = tale.introduce("g");
        tale.story.sleep_until_answered(reply);
        let generation = tale.joined(reply).generation;
        let sync = Sync { assignments: vec![(id.clone(), share)], ..syncing("g", generation, &id) };
        tale.ask(Request::Sync(sync));
        let refused = tale.consumer_beat(joining_beat("b", &["t"])).unwrap_err();
        assert!(
            refused.message.unwrap().starts_with("Cannot upgrade classic group g to consumer group because")
        );
        assert_eq!((tale.beat("g", generation, &id), tale.state("g")), (Ok(()), "Stable"));
    }
}

#[test]
fn who_waits_in_a_classic_group_is_told_when_it_changes() {
    let (mut tale, m) = Tale::classic_group(None);
    let waiting = tale.join(Join { member_id_required: false, ..classic_join("", None, &[]) });
    assert!(tale.waits(waiting));
    tale.consumer_beat(joining_beat("b", &["t"])).unwrap();
    assert_eq!(tale.joined(waiting).error, Some(GroupError::RebalanceInProgress));
    assert_eq!(tale.consumers().members.len(), 3);
    assert_eq!(tale.beat("g", 1, &m), Err(GroupError::RebalanceInProgress));
}
