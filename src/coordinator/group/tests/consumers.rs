//! Consumer groups (KIP-848).

use std::collections::BTreeSet;

use super::topics::Topics;
use super::*;
use crate::coordinator::group::consumer::Refused;
use crate::coordinator::group::consumer::describe::Described as Consumers;
use crate::coordinator::group::event::Beat;
use crate::coordinator::group::response::Beaten;

/// Long enough for the next assignment, not for a session to end.
const NEXT_MS: u64 = 1_100;

pub(super) type Share = Vec<(Uuid, Vec<i32>)>;

/// What a joining member of group `g` says.
pub(super) fn joining_beat(member: &str, topics: &[&str]) -> Beat {
    Beat {
        rebalance_timeout_ms: 20_000,
        topics: Some(topics.iter().map(|topic| (*topic).to_owned()).collect()),
        owned: Some(Vec::new()),
        ..staying_beat(member, 0)
    }
}

/// What a member of group `g` says that has nothing to say.
pub(super) fn staying_beat(member: &str, epoch: i32) -> Beat {
    Beat {
        group: "g".into(),
        member: member.into(),
        epoch,
        rebalance_timeout_ms: -1,
        client_id: "client".into(),
        client_host: "/127.0.0.1".into(),
        ..Beat::default()
    }
}

impl Tale {
    pub(super) fn with_topics(topics: &[(&str, i32)]) -> Tale {
        let mut tale = Tale::new();
        tale.metadata(|cluster| {
            for (name, partitions) in topics {
                cluster.set(name, *partitions);
            }
        });
        tale
    }

    /// The metadata changes; returns what the change returns.
    pub(super) fn metadata<T>(&mut self, change: impl FnOnce(&mut Topics) -> T) -> T {
        let names = self.story.view.cluster.names();
        let mut topics = Topics { version: self.story.view.cluster.version(), ..Topics::default() };
        for name in &names {
            topics.by_name.insert(name.clone(), self.story.view.cluster.topic(name).unwrap());
        }
        let before = topics.clone();
        let result = change(&mut topics);
        let all = before.by_name.keys().chain(topics.by_name.keys()).cloned().collect::<BTreeSet<_>>();
        let new = topics.by_name.keys().any(|name| !before.by_name.contains_key(name));
        self.story.view.cluster = Arc::new(topics);
        self.story.tell(Event::TopicsChanged { topics: all.into_iter().collect(), new });
        result
    }

    pub(super) fn id(&self, topic: &str) -> Uuid {
        self.story.view.cluster.topic(topic).unwrap().id
    }

    pub(super) fn consumer_beat(&mut self, beat: Beat) -> Result<Beaten, Refused> {
        let reply = self.ask(Request::Beat(Box::new(beat)));
        match self.said(reply) {
            Response::Beat(result) => result,
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    fn joins(&mut self, member: &str, topics: &[&str]) -> Beaten {
        self.consumer_beat(joining_beat(member, topics)).unwrap()
    }

    #[track_caller]
    fn stays(&mut self, member: &str, epoch: i32) -> Beaten {
        self.consumer_beat(staying_beat(member, epoch)).unwrap()
    }

    #[track_caller]
    fn owns(&mut self, member: &str, epoch: i32, owned: Share) -> Beaten {
        self.consumer_beat(Beat { owned: Some(owned), ..staying_beat(member, epoch) }).unwrap()
    }

    #[track_caller]
    fn refused(&mut self, beat: Beat) -> GroupError {
        self.consumer_beat(beat).unwrap_err().error
    }

    #[track_caller]
    pub(super) fn consumers(&mut self) -> Consumers {
        let reply = self.ask(Request::DescribeConsumers("g".into()));
        match self.said(reply) {
            Response::DescribeConsumers(result) => result.unwrap(),
            other => panic!("{other:?}"),
        }
    }
}

fn share(topic: Uuid, partitions: impl IntoIterator<Item = i32>) -> Share {
    vec![(topic, partitions.into_iter().collect())]
}

#[test]
fn a_lone_member_gets_everything_at_once() {
    let mut tale = Tale::with_topics(&[("t", 3)]);
    let t = tale.id("t");
    let joined = tale.joins("a", &["t"]);
    assert_eq!((joined.epoch, joined.assignment), (2, Some(share(t, 0..3))));
    let kept = tale.owns("a", 2, share(t, 0..3));
    assert_eq!((kept.epoch, kept.assignment, kept.interval_ms), (2, None, 5_000));
    assert_eq!(tale.consumers().state, "Stable");
    assert_eq!(tale.list(&["stable"], &["consumer"]).len(), 1);
    let gone = tale.stays("a", -1);
    assert_eq!((gone.epoch, gone.interval_ms), (-1, 0));
    let empty = tale.consumers();
    assert_eq!((empty.state, empty.epoch, empty.assignment_epoch), ("Empty", 3, 3));
    assert_eq!(tale.delete("g"), Ok(()));
    assert_eq!(tale.list(&[], &[]), [], "deleted");
    tale.story.reload();
    assert_eq!(tale.list(&[], &[]), [], "and not revived");
}

#[test]
fn a_partition_changes_hands_only_after_its_owner_has_given_it_up() {
    let mut tale = Tale::with_topics(&[("t", 4)]);
    let t = tale.id("t");
    tale.joins("a", &["t"]);
    let joined = tale.joins("b", &["t"]);
    assert_eq!(
        (joined.epoch, joined.assignment),
        (2, Some(Vec::new())),
        "the assignment waits for more changes"
    );
    assert_eq!(tale.consumers().state, "Assigning");
    tale.story.sleep(NEXT_MS);
    let told = tale.stays("a", 2);
    assert_eq!((told.epoch, told.assignment), (2, Some(share(t, 0..2))), "gives up two");
    let waits = tale.stays("b", 2);
    assert_eq!((waits.epoch, waits.assignment), (3, None));
    assert_eq!(tale.consumers().state, "Reconciling");
    let still = tale.owns("a", 2, share(t, 0..4));
    assert_eq!((still.epoch, still.assignment), (2, None), "it has not given up anything yet");
    assert_eq!(tale.stays("b", 3).assignment, None);
    assert_eq!(tale.owns("a", 2, share(t, 0..2)).epoch, 3);
    assert_eq!(tale.stays("b", 3).assignment, Some(share(t, 2..4)));
    assert_eq!(tale.consumers().state, "Stable");
    assert_eq!(tale.stays("a", 3).epoch, 3);
}

#[test]
fn a_lost_answer_is_no_reason_to_fence() {
    let mut tale = Tale::with_topics(&[("t", 4), ("u", 1)]);
    let t = tale.id("t");
    tale.joins("a", &["t"]);
    tale.joins("b", &["t"]);
    tale.story.sleep(NEXT_MS);
    tale.stays("a", 2);
    tale.owns("a", 2, share(t, 0..2));
    // The answer with epoch 3 is lost; what it holds is what it was told to hold.
    assert_eq!(tale.owns("a", 2, share(t, 0..2)).epoch, 3);
    let owned = Some(share(t, 0..3));
    let other = Beat { owned, ..staying_beat("a", 2) };
    assert_eq!(tale.refused(other), GroupError::FencedMemberEpoch, "it holds what is not its own");
    assert_eq!(
        tale.refused(staying_beat("a", 2)),
        GroupError::FencedMemberEpoch,
        "it does not say what it holds"
    );
    assert_eq!(tale.refused(staying_beat("a", 4)), GroupError::FencedMemberEpoch);
    assert_eq!(tale.refused(staying_beat("nobody", 2)), GroupError::UnknownMember);
    let back = tale.joins("a", &["t"]);
    assert_eq!(
        (back.epoch, back.assignment),
        (3, Some(share(t, 0..2))),
        "a member that starts again keeps its share"
    );
}

#[test]
fn silence_and_slowness_end_a_membership() {
    let mut tale = Tale::with_topics(&[("t", 4)]);
    let t = tale.id("t");
    tale.joins("a", &["t"]);
    tale.joins("b", &["t"]);
    for _ in 0..4 {
        tale.story.sleep(10_000);
        // It is told to give up two partitions and does not, in 20 s.
        let _ = tale.consumer_beat(staying_beat("a", 2));
        tale.story.sleep(1);
    }
    assert_eq!(tale.refused(staying_beat("a", 2)), GroupError::UnknownMember, "too slow");
    let all = tale.stays("b", 2);
    assert_eq!((all.epoch, all.assignment), (4, Some(share(t, 0..4))));
    tale.story.sleep(45_001);
    assert_eq!(tale.consumers().state, "Empty", "silent for 45 s");
}

#[test]
fn a_static_member_comes_back_to_its_share() {
    let mut tale = Tale::with_topics(&[("t", 2)]);
    let t = tale.id("t");
    let with = |beat: Beat| Beat { instance: Some("i".into()), ..beat };
    tale.consumer_beat(with(joining_beat("a", &["t"]))).unwrap();
    assert_eq!(tale.refused(with(joining_beat("b", &["t"]))), GroupError::UnreleasedInstance);
    assert_eq!(tale.refused(with(staying_beat("b", 2))), GroupError::FencedInstance);
    assert_eq!(tale.consumer_beat(with(staying_beat("a", -2))).unwrap().epoch, -2);
    let back = tale.consumer_beat(with(joining_beat("b", &["t"]))).unwrap();
    assert_eq!((back.epoch, back.assignment), (2, Some(share(t, 0..2))), "no new epoch, no new assignment");
    tale.consumer_beat(with(staying_beat("b", -2))).unwrap();
    tale.story.sleep(45_001);
    assert_eq!(tale.consumers().state, "Empty", "it has not come back in time");
}

#[test]
fn topics_come_grow_and_go() {
    let mut tale = Tale::with_topics(&[("t", 1)]);
    let t = tale.id("t");
    tale.joins("a", &["t", "u"]);
    tale.story.sleep(NEXT_MS);
    tale.metadata(|cluster| cluster.set("t", 2));
    let grown = tale.stays("a", 2);
    assert_eq!((grown.epoch, grown.assignment), (3, Some(share(t, 0..2))));
    tale.story.sleep(NEXT_MS);
    let u = tale.metadata(|cluster| cluster.set("u", 1));
    let both = tale.stays("a", 3).assignment.unwrap();
    assert_eq!(both, [share(t, 0..2), share(u, 0..1)].concat());
    tale.story.sleep(NEXT_MS);
    tale.metadata(|cluster| cluster.remove("t"));
    assert_eq!(tale.stays("a", 4).assignment, Some(share(u, 0..1)));
    assert_eq!(tale.owns("a", 4, share(u, 0..1)).epoch, 5);
    tale.story.sleep(NEXT_MS);
    tale.metadata(|cluster| cluster.rack = Some("r".into()));
    assert_eq!(tale.stays("a", 5).epoch, 6, "other racks, another epoch");
}

#[test]
fn a_regular_expression_is_looked_up() {
    let mut tale = Tale::with_topics(&[("t-1", 1), ("at-1", 1)]);
    let by_regex = |member: &str, regex: &str| Beat {
        topics: None,
        regex: Some(regex.to_owned()),
        ..joining_beat(member, &[])
    };
    assert_eq!(tale.refused(by_regex("a", "([")), GroupError::InvalidRegex);
    assert_eq!(tale.list(&[], &[]), [], "nothing is left of a refused member");
    let joined = tale.consumer_beat(by_regex("a", "t-.*")).unwrap();
    assert_eq!((joined.epoch, joined.assignment), (1, Some(Vec::new())));
    let found = tale.stays("a", 1);
    let first = tale.id("t-1");
    assert_eq!((found.epoch, found.assignment), (2, Some(share(first, 0..1))));
    let second = tale.metadata(|cluster| cluster.set("t-2", 1));
    assert_eq!(tale.stays("a", 2).epoch, 2, "not looked up again so soon");
    tale.story.sleep(10_001);
    tale.stays("a", 2);
    let found = tale.stays("a", 2);
    assert_eq!(
        (found.epoch, found.assignment),
        (3, Some([share(first, 0..1), share(second, 0..1)].concat()))
    );
}

#[test]
fn commits_need_the_members_epoch_or_one_since_which_it_has_had_the_partition() {
    let mut tale = Tale::with_topics(&[("t", 4)]);
    let t = tale.id("t");
    tale.joins("a", &["t"]);
    tale.story.sleep(NEXT_MS);
    tale.joins("b", &["t"]);
    tale.stays("a", 2);
    tale.owns("a", 2, share(t, 0..2));
    tale.stays("b", 3);
    let commit = |member: &str, epoch, partition| {
        let mut commit = Commit {
            member: member.into(),
            generation: epoch,
            knows_epochs: true,
            ..committing("g", "t", partition, 7)
        };
        commit.topics[0].id = t;
        commit
    };
    assert_eq!(tale.commit(commit("a", 3, 0)), Ok(Vec::new()));
    assert_eq!(tale.commit(commit("a", 2, 0)), Ok(Vec::new()), "it has had the partition since epoch 2");
    assert_eq!(tale.commit(commit("b", 2, 2)), Err(GroupError::StaleMemberEpoch));
    assert_eq!(tale.commit(commit("b", 4, 2)), Err(GroupError::StaleMemberEpoch));
    assert_eq!(tale.commit(commit("nobody", 3, 0)), Err(GroupError::UnknownMember));
    let old = Commit { knows_epochs: false, ..commit("a", 3, 0) };
    assert_eq!(tale.commit(old), Err(GroupError::UnsupportedVersion));
    assert_eq!(
        tale.commit(committing("g", "t", 0, 8)),
        Err(GroupError::UnknownMember),
        "a tool, while there are members"
    );
    tale.stays("a", -1);
    tale.stays("b", -1);
    assert_eq!(tale.commit(committing("g", "t", 0, 8)), Ok(Vec::new()));
    assert_eq!(tale.offset("g", "t", 0), 8);
}

#[test]
fn a_group_outlives_its_coordinator() {
    let mut tale = Tale::with_topics(&[("t", 4)]);
    let t = tale.id("t");
    tale.joins("a", &["t"]);
    tale.joins("b", &["t"]);
    tale.story.sleep(NEXT_MS);
    tale.stays("a", 2);
    let before = tale.consumers();
    tale.story.reload();
    assert_eq!(tale.consumers(), before);
    assert_eq!(tale.owns("a", 2, share(t, 0..2)).epoch, 3);
    assert_eq!(tale.stays("b", 2).assignment, Some(share(t, 2..4)));
    tale.story.reload();
    tale.story.sleep(45_001);
    assert_eq!(tale.consumers().state, "Empty", "sessions go on after a fail-over");
}

#[test]
fn a_full_group_takes_nobody() {
    let mut tale = Tale::with_topics(&[("t", 4)]);
    tale.settings().consumer.max_size = 1;
    tale.joins("a", &["t"]);
    assert_eq!(tale.refused(joining_beat("b", &["t"])), GroupError::GroupFull);
    tale.joins("a", &["t"]);
}

#[test]
fn groups_of_the_two_protocols_give_way_when_they_are_empty() {
    let mut tale = Tale::with_topics(&[("t", 1)]);
    tale.commit(committing("g", "t", 0, 5)).unwrap();
    assert_eq!(tale.refused(staying_beat("a", 1)), GroupError::GroupIdNotFound);
    tale.joins("a", &["t"]);
    assert_eq!(tale.offset("g", "t", 0), 5);
    assert_eq!(tale.list(&[], &[]).len(), 1, "listed once");
    tale.stays("a", -1);
    let (_, waiting) = tale.introduce("g");
    tale.story.sleep_until_answered(waiting);
    assert_eq!(tale.joined(waiting).error, None);
    assert_eq!(tale.list(&[], &["consumer"]), []);
    tale.story.reload();
    assert_eq!(tale.list(&[], &[]).len(), 1);
}

#[test]
fn offsets_of_topics_nobody_reads_expire() {
    let mut tale = Tale::with_topics(&[("t", 1), ("u", 1)]);
    tale.joins("a", &["t"]);
    let mut commit = committing("g", "t", 0, 5);
    commit.topics.extend(committing("g", "u", 0, 6).topics);
    commit.member = "a".into();
    commit.generation = 2;
    commit.knows_epochs = true;
    tale.commit(commit).unwrap();
    let week_ms = 7 * 24 * 3_600_000;
    tale.settings().consumer.max_session_ms = i32::MAX;
    tale.metadata(|cluster| cluster.overrides.session_ms = Some(i32::MAX));
    tale.stays("a", 2);
    tale.story.sleep(week_ms + 600_000);
    assert_eq!((tale.offset("g", "t", 0), tale.offset("g", "u", 0)), (5, -1));
    tale.stays("a", -1);
    tale.story.sleep(600_000);
    assert_eq!(tale.list(&[], &[]), [], "nobody and nothing left");
}
