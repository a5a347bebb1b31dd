//! Who is in sync and what is committed, without logs or clocks.

use super::*;

const LAG_MS: u64 = 1000;

fn assignment(isr: &[i32], partition_epoch: i32) -> Assignment {
    Assignment { replicas: vec![1, 2, 3], isr: isr.to_vec(), leader_epoch: 5, partition_epoch }
}

fn live() -> Live {
    Live::from([(1, 10), (2, 20), (3, 30)])
}

fn at(live: &Live, leader_end: i64, now_ms: u64) -> Moment<'_> {
    Moment { leader_end, now_ms, lag_ms: LAG_MS, min_isr: 2, live }
}

fn fetch(broker: i32, offset: i64) -> FollowerFetch {
    FollowerFetch { broker, broker_epoch: i64::from(broker) * 10, offset, log_start: 0 }
}

fn leading(isr: &[i32]) -> InSync {
    let mut in_sync = InSync::default();
    assert!(in_sync.lead(1, assignment(isr, 0), 100, 0));
    in_sync
}

#[test]
fn what_all_in_sync_have_is_committed() {
    let (live, mut in_sync) = (live(), leading(&[1, 2, 3]));
    assert_eq!(in_sync.high_watermark(&at(&live, 110, 0)), Some(-1), "nobody was heard");
    in_sync.fetched(&fetch(2, 110), 110, 1);
    assert_eq!(in_sync.high_watermark(&at(&live, 110, 1)), Some(-1));
    in_sync.fetched(&fetch(3, 105), 110, 1);
    assert_eq!(in_sync.high_watermark(&at(&live, 110, 1)), Some(105));
    assert!(!in_sync.fetched(&fetch(4, 105), 110, 1), "no replica");
}

#[test]
fn below_the_minimum_nothing_is_committed() {
    let (live, in_sync) = (live(), leading(&[1]));
    assert!(!in_sync.has_min_isr(2));
    assert_eq!(in_sync.high_watermark(&at(&live, 110, 0)), None);
    // A minimum above the number of replicas means all of them.
    assert!(leading(&[1, 2, 3]).has_min_isr(7));
}

#[test]
fn who_lags_leaves_and_is_counted_until_the_controller_agrees() {
    let (live, mut in_sync) = (live(), leading(&[1, 2, 3]));
    in_sync.fetched(&fetch(2, 110), 110, 900);
    in_sync.fetched(&fetch(3, 90), 110, 900);
    assert_eq!(in_sync.shrink(&at(&live, 110, 1000)), None);
    let change = in_sync.shrink(&at(&live, 120, 1001)).expect("3 lags");
    assert_eq!(change.isr, [1, 2]);
    assert_eq!(in_sync.shrink(&at(&live, 120, 5000)), None, "one change at a time");
    assert_eq!(in_sync.high_watermark(&at(&live, 120, 1001)), Some(90));
    assert!(in_sync.accepted(&change, vec![1, 2], 5, 1));
    assert_eq!(in_sync.high_watermark(&at(&live, 120, 1001)), Some(110));
}

#[test]
fn who_has_everything_joins_and_is_counted_at_once() {
    let (live, mut in_sync) = (live(), leading(&[1, 2]));
    in_sync.fetched(&fetch(2, 110), 110, 1);
    in_sync.fetched(&fetch(3, 99), 110, 1);
    // The high watermark may still be that of an earlier leader: all of the log before this one is needed.
    assert_eq!(in_sync.expand(3, 90, &at(&live, 110, 1)), None);
    in_sync.fetched(&fetch(3, 104), 110, 2);
    assert_eq!(in_sync.expand(3, 105, &at(&live, 110, 2)), None, "below the high watermark");
    let fenced = Live::from([(1, 10), (2, 20)]);
    assert_eq!(in_sync.expand(3, 104, &at(&fenced, 110, 2)), None);
    let reborn = Live::from([(1, 10), (2, 20), (3, 31)]);
    assert_eq!(in_sync.expand(3, 104, &at(&reborn, 110, 2)), None, "another process has fetched");
    let change = in_sync.expand(3, 104, &at(&live, 110, 2)).expect("it has everything");
    assert_eq!(change, Change { isr: vec![1, 2, 3], leader_epoch: 5, partition_epoch: 0 });
    assert_eq!(in_sync.with_epochs(&change.isr, &live), [(1, 10), (2, 20), (3, 30)]);
    in_sync.fetched(&fetch(2, 120), 120, 3);
    assert_eq!(in_sync.high_watermark(&at(&live, 120, 3)), Some(104), "it may be elected already");
}

#[test]
fn a_refusal_is_forgotten_or_waits_for_the_metadata() {
    let (live, mut in_sync) = (live(), leading(&[1, 2]));
    in_sync.fetched(&fetch(3, 110), 110, 1);
    let change = in_sync.expand(3, 100, &at(&live, 110, 1)).expect("it has everything");
    assert_eq!(in_sync.retry(&change), Some(change.clone()));
    in_sync.refused(&change, false);
    assert_eq!(in_sync.expand(3, 100, &at(&live, 110, 1)), None, "the metadata comes first");
    assert!(in_sync.lead(1, assignment(&[1, 2], 3), 110, 2));
    assert_eq!(in_sync.retry(&change), None, "overtaken");
    let change = in_sync.expand(3, 100, &at(&live, 110, 2)).expect("again");
    assert_eq!(change.partition_epoch, 3);
    in_sync.refused(&change, true);
    assert!(in_sync.expand(3, 100, &at(&live, 110, 2)).is_some());
}

#[test]
fn answers_and_metadata_may_come_in_any_order() {
    let (live, mut in_sync) = (live(), leading(&[1, 2]));
    in_sync.fetched(&fetch(3, 110), 110, 1);
    let change = in_sync.expand(3, 100, &at(&live, 110, 1)).expect("it has everything");
    assert!(in_sync.lead(1, assignment(&[1, 2, 3], 2), 110, 2));
    assert!(!in_sync.accepted(&change, vec![1, 2], 5, 1), "old news");
    assert_eq!(in_sync.assignment().isr, [1, 2, 3]);
    assert!(!in_sync.lead(1, assignment(&[1], 1), 110, 2), "old news");
    in_sync.follow(assignment(&[2, 3], 4));
    assert!(!in_sync.accepted(&change, vec![1, 2], 5, 9), "another broker leads");
    assert_eq!(in_sync.high_watermark(&at(&live, 110, 2)), None);
}

#[test]
fn a_follower_that_keeps_up_with_a_busy_leader_is_caught_up() {
    let (live, mut in_sync) = (live(), leading(&[1, 2, 3]));
    // It never reaches the end, but always what was the end at its last fetch.
    for round in 0..50 {
        let end = 110 + round * 10;
        let now_ms = u64::try_from(round).unwrap() * 100;
        in_sync.fetched(&fetch(2, end), end, now_ms);
        in_sync.fetched(&fetch(3, end - 10), end, now_ms);
        assert_eq!(in_sync.shrink(&at(&live, end, now_ms)), None);
    }
}

#[test]
fn bytes_become_readable_as_they_are_committed() {
    let mut in_sync = leading(&[1, 2]);
    for end in 1..=1000 {
        in_sync.hold(end, 10);
    }
    assert_eq!(in_sync.release(100), 1000);
    assert_eq!(in_sync.release(1000), 9000);
    assert!(in_sync.held.is_empty());
}
