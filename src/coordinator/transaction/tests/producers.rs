//! Producers begin, and fence the ones before.

use super::*;

#[test]
fn each_incarnation_has_an_epoch_of_its_own() {
    let mut tale = Tale::new();
    let first = tale.init("x").unwrap();
    let second = tale.init("x").unwrap();
    assert_eq!(second, (first.0, first.1 + 1));
    assert_eq!(tale.add("x", first, &[0], 0), Err(TransactionError::Fenced));
    assert_ne!(tale.init("y").unwrap().0, first.0);
}

#[test]
fn a_new_incarnation_aborts_what_the_old_one_has_open() {
    let mut tale = Tale::new();
    let old = tale.init("x").unwrap();
    tale.add("x", old, &[0, 1], 0).unwrap();
    assert_eq!(tale.init("x"), Err(TransactionError::Concurrent), "ask again");
    assert_eq!(tale.markers(), ((old.0, old.1 + 1), false, parts(&[0, 1])));
    tale.write_markers();
    assert_eq!(tale.init("x"), Ok((old.0, old.1 + 2)));
    assert_eq!(tale.end("x", old, true, 0), Err(TransactionError::Fenced));
}

#[test]
fn a_producer_raises_its_own_epoch_and_may_ask_twice() {
    let mut tale = Tale::new();
    let first = tale.init("x").unwrap();
    let second = (first.0, first.1 + 1);
    assert_eq!(tale.init_as("x", Some(first)), Ok(second));
    assert_eq!(tale.init_as("x", Some(first)), Ok(second), "the answer may have been lost");
    assert_eq!(tale.init_as("x", Some((first.0, 77))), Err(TransactionError::Fenced));
    assert_eq!(tale.init_as("x", Some((first.0 + 50, 0))), Err(TransactionError::Fenced));
    tale.init("x").unwrap();
    assert_eq!(tale.init_as("x", Some(first)), Err(TransactionError::Fenced));
    assert_eq!(tale.init_as("new", Some((4242, 3))).map(|(_, epoch)| epoch), Ok(0), "a forgotten id");
}

#[test]
fn used_up_epochs_bring_a_new_producer_id_here_too() {
    let mut tale = Tale::new();
    let mut producer = tale.init("x").unwrap();
    while producer.1 < i16::MAX - 1 {
        producer = tale.init("x").unwrap();
    }
    let next = tale.init_as("x", Some(producer)).unwrap();
    assert!(next.0 != producer.0 && next.1 == 0, "{next:?}");
    assert_eq!(tale.init_as("x", Some(producer)).map(|(id, _)| id), Ok(next.0), "repeated");
}

#[test]
fn timeouts_have_bounds() {
    let mut tale = Tale::new();
    for (timeout_ms, good) in [(0, false), (-1, false), (1, true), (900_000, true), (900_001, false)] {
        let request =
            InitProducer { id: "x".into(), timeout_ms, expected: None, fresh: Some(7), cluster_version: 2 };
        let Response::InitProducer(answer) = tale.ask(Request::InitProducer(request)) else { panic!() };
        assert_eq!(answer == Err(TransactionError::InvalidTimeout), !good, "{timeout_ms}");
    }
    assert_eq!(tale.init(""), Err(TransactionError::EmptyId));
}
