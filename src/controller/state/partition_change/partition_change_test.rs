use super::super::Decision;
use super::super::story::{self, Story};
use super::*;

/// A cluster of three brokers and one partition on all of them, led by the first; `min.insync.replicas` as given.
fn three(min_isr: &str) -> Story {
    let mut story = Story::started();
    story.join(2);
    story.join(3);
    story.topic("t", &[1, 2, 3]);
    story.configure("t", "min.insync.replicas", min_isr);
    story
}

fn state(story: &Story) -> (i32, Vec<i32>, Vec<i32>, Vec<i32>) {
    let partition = story.image().topic("t").unwrap().partition(0).unwrap();
    (partition.leader, partition.isr.clone(), partition.elr.clone(), partition.last_known_elr.clone())
}

fn goes(story: &mut Story, id: i32) {
    story.run(|image, view| Decision { records: touched(image, view, Touched::Gone(id)), reply: () });
    story.fence(id, true);
}

fn comes(story: &mut Story, id: i32) {
    story.fence(id, false);
    story.run(|image, view| Decision { records: touched(image, view, Touched::Back(id)), reply: () });
}

#[test]
fn the_next_in_sync_leads_when_the_leader_goes() {
    let mut story = three("1");
    goes(&mut story, 1);
    assert_eq!(state(&story), (2, vec![2, 3], vec![], vec![]));
    let partition = story.image().topic("t").unwrap().partition(0).unwrap();
    assert_eq!((partition.leader_epoch, partition.partition_epoch), (1, 1));
    goes(&mut story, 3);
    assert_eq!(state(&story), (2, vec![2], vec![], vec![]));
    let partition = story.image().topic("t").unwrap().partition(0).unwrap();
    assert_eq!(partition.leader_epoch, 1, "a follower's going is no reason for a new epoch");
    story.the_end();
}

#[test]
fn below_the_minimum_those_that_go_stay_eligible() {
    let mut story = three("2");
    goes(&mut story, 3);
    goes(&mut story, 2);
    assert_eq!(state(&story), (1, vec![1], vec![2], vec![]));
    goes(&mut story, 1);
    assert_eq!(state(&story), (NO_LEADER, vec![], vec![1, 2], vec![1]));
    comes(&mut story, 2);
    assert_eq!(state(&story), (2, vec![2], vec![1], vec![]));
    story.the_end();
}

#[test]
fn the_last_one_to_go_is_remembered_and_leads_again() {
    let mut story = three("1");
    for id in [3, 2, 1] {
        goes(&mut story, id);
    }
    assert_eq!(state(&story), (NO_LEADER, vec![], vec![1], vec![1]));
    comes(&mut story, 2);
    assert_eq!(state(&story).0, NO_LEADER, "it misses what the last one committed alone");
    comes(&mut story, 1);
    assert_eq!(state(&story), (1, vec![1], vec![], vec![]));
    story.the_end();
}

#[test]
fn whoever_lost_what_it_had_is_not_eligible() {
    let mut story = three("2");
    for id in [3, 2, 1] {
        goes(&mut story, id);
    }
    story.run(|image, view| Decision { records: touched(image, view, Touched::Lost(2)), reply: () });
    assert_eq!(state(&story), (NO_LEADER, vec![], vec![1], vec![1]));
    story.the_end();
}

#[test]
fn an_unclean_leader_is_taken_only_where_that_is_allowed() {
    let mut story = three("1");
    for id in [3, 2, 1] {
        goes(&mut story, id);
    }
    story.configure("t", "unclean.leader.election.enable", "true");
    comes(&mut story, 3);
    assert_eq!(state(&story), (3, vec![3], vec![], vec![]));
    assert!(story.image().topic("t").unwrap().partition(0).unwrap().recovering);
    story.the_end();
}

#[test]
fn leaders_go_back_to_where_they_are_preferred() {
    let mut story = three("1");
    goes(&mut story, 1);
    story.fence(1, false);
    assert!(rebalance(story.image(), &story::view(), 10).is_empty(), "not in sync yet");
    let change =
        PartitionChangeRecord { isr: Some(vec![1, 2, 3]), ..partitions::change(story::topic_id("t"), 0) };
    story.write(vec![change.into()]);
    story.run(|image, view| Decision { records: rebalance(image, view, 10), reply: () });
    assert_eq!(state(&story).0, 1);
    story.the_end();
}
