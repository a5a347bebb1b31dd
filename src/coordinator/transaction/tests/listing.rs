//! What tools see.

use super::super::event::List;
use super::super::{Listed, Pattern};
use super::*;

fn list(tale: &mut Tale, list: List) -> Vec<String> {
    let Response::List(listed) = tale.ask(Request::List(list)) else { panic!() };
    listed.into_iter().map(|Listed { id, state, .. }| format!("{id}:{}", state.name())).collect()
}

#[test]
fn filters_narrow_the_list() {
    let mut tale = Tale::new();
    tale.init("idle").unwrap();
    let open = tale.init("open").unwrap();
    tale.add("open", open, &[0], 0).unwrap();
    tale.story.sleep(5_000);
    let all = List { longer_than_ms: -1, ..List::default() };
    assert_eq!(list(&mut tale, all.clone()), ["idle:Empty", "open:Ongoing"]);
    let ongoing = List { states: Some(vec![State::Ongoing]), ..all.clone() };
    assert_eq!(list(&mut tale, ongoing), ["open:Ongoing"]);
    let none_known = List { states: Some(vec![]), ..all.clone() };
    assert!(list(&mut tale, none_known).is_empty());
    let mine = List { producer_ids: vec![open.0], ..all.clone() };
    assert_eq!(list(&mut tale, mine), ["open:Ongoing"]);
    assert_eq!(list(&mut tale, List { longer_than_ms: 6_000, ..all.clone() }), ["idle:Empty"]);
    let pattern = Pattern::parse("op.*");
    assert_eq!(list(&mut tale, List { pattern, ..all }), ["open:Ongoing"]);
}

#[test]
fn a_description_has_the_partitions_of_the_open_transaction() {
    let mut tale = Tale::new();
    let producer = tale.init("x").unwrap();
    tale.add("x", producer, &[2, 1], 0).unwrap();
    let Response::Describe(Ok(described)) = tale.ask(Request::Describe("x".into())) else { panic!() };
    assert_eq!((described.state, described.producer), (State::Ongoing, producer));
    assert_eq!((described.timeout_ms, described.partitions), (TIMEOUT_MS, parts(&[1, 2])));
    let unknown = tale.ask(Request::Describe("y".into()));
    assert_eq!(unknown, Response::Describe(Err(TransactionError::NotFound)));
}
