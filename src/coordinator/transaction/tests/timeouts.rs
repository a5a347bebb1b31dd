//! What nobody ends, and what nobody uses.

use super::*;

const TIMEOUT: u64 = TIMEOUT_MS as u64;

#[test]
fn an_abandoned_transaction_is_aborted_promptly_and_its_producer_fenced() {
    let mut tale = Tale::new();
    let producer = tale.init("x").unwrap();
    tale.add("x", producer, &[0], 0).unwrap();
    tale.story.sleep(TIMEOUT - 1);
    assert_eq!(tale.state("x"), State::Ongoing);
    tale.story.sleep(1);
    assert_eq!(tale.state("x"), State::PrepareAbort);
    assert_eq!(tale.markers(), ((producer.0, producer.1 + 1), false, parts(&[0])));
    tale.write_markers();
    assert_eq!(tale.end("x", producer, true, 0), Err(TransactionError::Fenced));
    let recovered = tale.init_as("x", Some(producer));
    assert_eq!(recovered, Ok((producer.0, producer.1 + 1)), "who was only slow may go on (KIP-588)");
}

#[test]
fn each_transaction_has_the_whole_timeout() {
    let mut tale = Tale::new();
    let producer = tale.init("x").unwrap();
    for _ in 0..3 {
        tale.add("x", producer, &[0], 0).unwrap();
        tale.story.sleep(TIMEOUT - 10);
        assert_eq!(tale.end("x", producer, true, 0), Ok(producer));
        tale.write_markers();
    }
    tale.add("x", producer, &[0], 0).unwrap();
    tale.story.sleep(TIMEOUT - 1);
    assert_eq!(tale.state("x"), State::Ongoing);
    tale.story.sleep(1);
    assert_eq!(tale.state("x"), State::PrepareAbort);
}

#[test]
fn the_timeout_goes_on_where_another_broker_takes_over() {
    let mut tale = Tale::new();
    let producer = tale.init("x").unwrap();
    tale.add("x", producer, &[0], 2).unwrap();
    tale.story.sleep(TIMEOUT / 2);
    tale.story.reload();
    tale.story.sleep(TIMEOUT / 2 - 1);
    assert_eq!(tale.state("x"), State::Ongoing);
    tale.story.sleep(1);
    assert_eq!(tale.state("x"), State::PrepareAbort);
}

#[test]
fn a_wall_clock_that_jumps_aborts_nothing() {
    let mut tale = Tale::new();
    let producer = tale.init("x").unwrap();
    tale.add("x", producer, &[0], 0).unwrap();
    tale.story.now.wall_ms += 10 * i64::from(TIMEOUT_MS);
    tale.story.sleep(TIMEOUT - 1);
    assert_eq!(tale.state("x"), State::Ongoing);
}

#[test]
fn unused_ids_are_forgotten_but_none_with_an_open_transaction() {
    let mut tale = Tale::new();
    let week_ms = 7 * 24 * 3_600_000;
    tale.init("unused").unwrap();
    let busy = tale.init("busy").unwrap();
    tale.add("busy", busy, &[0], 0).unwrap();
    tale.end("busy", busy, true, 0).unwrap();
    tale.story.sleep(week_ms + 3_600_000);
    assert_eq!(tale.state("unused"), State::Dead);
    assert_eq!(tale.state("busy"), State::PrepareCommit);
    assert_eq!(tale.end("unused", (101, 0), true, 0), Err(TransactionError::UnknownMapping));
    tale.write_markers();
    tale.story.sleep(week_ms - 3_600_000);
    assert_eq!(tale.state("busy"), State::CompleteCommit);
    tale.story.sleep(2 * 3_600_000);
    assert_eq!(tale.state("busy"), State::Dead);
}
