//! How transactions end: once, and as was decided first.

use super::*;

#[test]
fn a_commit_is_answered_when_decided_and_complete_when_every_marker_is_written() {
    let mut tale = Tale::new();
    let producer = tale.init("x").unwrap();
    tale.add("x", producer, &[0, 1], 0).unwrap();
    assert_eq!(tale.state("x"), State::Ongoing);
    assert_eq!(tale.end("x", producer, true, 0), Ok(producer));
    assert_eq!(tale.state("x"), State::PrepareCommit);
    assert_eq!(tale.markers(), (producer, true, parts(&[0, 1])));
    for refused in [tale.end("x", producer, true, 0), tale.end("x", producer, false, 0), tale.init("x")] {
        assert_eq!(refused, Err(TransactionError::Concurrent), "until then nothing else happens");
    }
    assert_eq!(tale.add("x", producer, &[2], 0), Err(TransactionError::Concurrent));
    tale.write_markers();
    assert_eq!(tale.state("x"), State::CompleteCommit);
    assert_eq!(tale.end("x", producer, true, 0), Ok(producer), "the answer may have been lost");
    assert_eq!(tale.end("x", producer, false, 0), Err(TransactionError::InvalidState));
}

#[test]
fn with_the_new_protocol_each_transaction_has_its_epoch() {
    let mut tale = Tale::new();
    let first = tale.init("x").unwrap();
    tale.add("x", first, &[0], 2).unwrap();
    let second = (first.0, first.1 + 1);
    assert_eq!(tale.end("x", first, true, 2), Ok(second));
    assert_eq!(tale.markers().0, second, "the marker fences whatever is still on its way");
    assert_eq!(tale.end("x", first, true, 2), Err(TransactionError::Concurrent));
    assert_eq!(tale.end("x", second, true, 2), Err(TransactionError::Fenced), "that is the next one");
    tale.write_markers();
    assert_eq!(tale.end("x", first, true, 2), Ok(second), "the answer may have been lost");
    assert_eq!(tale.end("x", first, false, 2), Err(TransactionError::InvalidState));
    assert_eq!(tale.add("x", first, &[0], 2), Err(TransactionError::Fenced));
    assert_eq!(tale.add("x", second, &[0], 2), Ok(()));
}

#[test]
fn an_abort_without_a_transaction_makes_sure_of_it_with_the_new_protocol_only() {
    let mut tale = Tale::new();
    let producer = tale.init("x").unwrap();
    assert_eq!(tale.end("x", producer, false, 0), Err(TransactionError::InvalidState));
    assert_eq!(tale.end("x", producer, true, 2), Err(TransactionError::InvalidState));
    let next = (producer.0, producer.1 + 1);
    assert_eq!(tale.end("x", producer, false, 2), Ok(next));
    tale.write_markers();
    assert_eq!(tale.state("x"), State::CompleteAbort);
    assert_eq!(tale.end("x", producer, false, 2), Ok(next), "repeated");
    assert_eq!(tale.end("x", next, false, 2), Ok((next.0, next.1 + 1)), "the next one");
}

#[test]
fn used_up_epochs_bring_a_new_producer_id() {
    let mut tale = Tale::new();
    let mut producer = tale.init("x").unwrap();
    while producer.1 < i16::MAX - 1 {
        producer = tale.end("x", producer, false, 2).unwrap();
        tale.write_markers();
    }
    tale.add("x", producer, &[0], 2).unwrap();
    let next = tale.end("x", producer, true, 2).unwrap();
    assert!(next.0 != producer.0 && next.1 == 0, "{next:?}");
    assert_eq!(tale.markers().0, (producer.0, i16::MAX), "the marker is of the old one");
    tale.write_markers();
    assert_eq!(tale.producer("x"), next);
    assert_eq!(tale.end("x", producer, true, 2), Ok(next), "repeated");
    assert_eq!(tale.end("x", producer, false, 2), Err(TransactionError::InvalidState));
    assert_eq!(tale.add("x", next, &[0], 2), Ok(()));
}

#[test]
fn what_was_decided_is_carried_out_by_whoever_takes_over() {
    let mut tale = Tale::new();
    let producer = tale.init("x").unwrap();
    tale.add("x", producer, &[0, 3], 2).unwrap();
    let next = tale.end("x", producer, true, 2).unwrap();
    tale.story.reload();
    assert_eq!(tale.markers(), (next, true, parts(&[0, 3])));
    tale.write_markers();
    assert_eq!(tale.state("x"), State::CompleteCommit);
    assert_eq!(tale.end("x", producer, true, 2), Ok(next), "the client asks again");
}

#[test]
fn markers_that_cannot_be_written_are_tried_again() {
    let mut tale = Tale::new();
    let producer = tale.init("x").unwrap();
    tale.add("x", producer, &[0, 1], 0).unwrap();
    tale.end("x", producer, false, 0).unwrap();
    let Some(Effect::WriteMarkers { attempt, .. }) = tale.story.effects.pop() else { panic!() };
    let marked = |left| Event::Marked { id: "x".into(), attempt, left };
    tale.story.tell(marked(parts(&[1])));
    assert_eq!(tale.state("x"), State::PrepareAbort);
    tale.story.sleep(200);
    assert_eq!(tale.markers(), (producer, false, parts(&[1])));
    tale.write_markers();
    assert_eq!(tale.state("x"), State::CompleteAbort);
    tale.story.tell(marked(Partitions::new()));
    tale.add("x", producer, &[0], 0).unwrap();
    tale.end("x", producer, true, 0).unwrap();
    tale.story.tell(marked(Partitions::new()));
    assert_eq!(tale.state("x"), State::PrepareCommit, "late news of an earlier end");
}

#[test]
fn strangers_change_nothing() {
    let mut tale = Tale::new();
    let producer = tale.init("x").unwrap();
    tale.add("x", producer, &[0], 0).unwrap();
    let (stranger, old) = ((producer.0 + 99, producer.1), (producer.0, producer.1 + 1));
    for version in [0, 2] {
        assert_eq!(tale.end("y", producer, true, version), Err(TransactionError::UnknownMapping));
        assert_eq!(tale.end("", producer, true, version), Err(TransactionError::EmptyId));
        assert_eq!(tale.end("x", stranger, true, version), Err(TransactionError::UnknownMapping));
        assert_eq!(tale.end("x", old, true, version), Err(TransactionError::Fenced));
    }
    assert_eq!(tale.add("x", stranger, &[1], 0), Err(TransactionError::UnknownMapping));
    assert_eq!(tale.add("x", old, &[1], 0), Err(TransactionError::Fenced));
    assert_eq!(tale.verify("x", producer, &[0, 1]), Ok(parts(&[1])));
    assert_eq!(tale.state("x"), State::Ongoing);
}
