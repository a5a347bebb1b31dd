//! Shards on a log in memory: answers now and later, loading, faults.

use std::sync::Arc;

use bytes::Bytes;
use parking_lot::Mutex;
use tokio::sync::Notify;

use super::Answer;
use crate::clock::Clock;
use crate::coordinator::group::event::{
    Commit, CommitPartition, CommitTopic, Fetch, Heartbeat, Join, Leave, List,
};
use crate::coordinator::group::{GroupError, GroupSettings, Request, Response};
use crate::coordinator::log::{LogFault, Marker, ShardLog, Waiting};
use crate::coordinator::{Groups, Unavailable};
use crate::ids::Uuid;
use crate::rng::Rng;
use crate::spawn::Spawner;
use crate::storage::ProducerMark;

/// A partition in memory, whose replicas may lag and whose disk may fail.
#[derive(Default)]
struct MemoryLog {
    state: Mutex<State>,
    moved: Arc<Notify>,
}

#[derive(Default)]
struct State {
    batches: Vec<(i64, Vec<u8>)>,
    end: i64,
    /// None: everything is committed at once.
    committed: Option<i64>,
    fails: bool,
}

impl MemoryLog {
    fn hold_commits(&self) {
        let mut state = self.state.lock();
        state.committed = Some(state.end);
    }

    fn commit_all(&self) {
        let mut state = self.state.lock();
        state.committed = None;
        self.moved.notify_waiters();
    }

    fn fail(&self, fails: bool) {
        self.state.lock().fails = fails;
    }
}

impl ShardLog for MemoryLog {
    fn append(&self, mut batch: Vec<u8>) -> Result<i64, LogFault> {
        let mut state = self.state.lock();
        if state.fails {
            return Err(LogFault::NotLeader);
        }
        let base = state.end;
        batch[..8].copy_from_slice(&base.to_be_bytes());
        let count = i64::from(i32::from_be_bytes(batch[57..61].try_into().unwrap()));
        state.batches.push((base, batch));
        state.end += count;
        Ok(state.end - 1)
    }

    fn append_marker(&self, _: Marker) -> Result<i64, LogFault> {
        self.append(vec![0; 61])
    }

    fn producer(&self, _: i64) -> ProducerMark {
        ProducerMark::NONE
    }

    fn leader_epoch(&self) -> i32 {
        0
    }

    fn committed(&self) -> i64 {
        let state = self.state.lock();
        state.committed.unwrap_or(state.end)
    }

    fn wait_committed(&self, offset: i64) -> Waiting {
        let moved = self.moved.clone();
        let (now, notified) = (self.committed() > offset, Box::pin(moved.notified_owned()));
        Box::pin(async move {
            if !now {
                notified.await;
            }
        })
    }

    fn start(&self) -> i64 {
        0
    }

    fn end(&self) -> i64 {
        self.state.lock().end
    }

    fn read(&self, offset: i64, _max_bytes: usize) -> Result<Bytes, LogFault> {
        let state = self.state.lock();
        let mut later = state.batches.iter().rev().skip_while(|(base, _)| *base > offset);
        Ok(later.next().map(|(_, batch)| Bytes::copy_from_slice(batch)).unwrap_or_default())
    }
}

fn groups() -> (Groups, Arc<MemoryLog>) {
    let settings = GroupSettings { offsets_partitions: 1, ..GroupSettings::default() };
    let clock = Clock::simulated(1_800_000_000_000);
    let groups = Groups::new(settings, clock, Rng::from_seed(1), Spawner::simulated());
    let log = Arc::new(MemoryLog::default());
    groups.lead(0, log.clone());
    (groups, log)
}

fn commit(offset: i64) -> Request {
    commit_of("g", offset)
}

fn commit_of(group: &str, offset: i64) -> Request {
    let metadata = String::new();
    Request::Commit(Commit {
        group: group.into(),
        member: String::new(),
        instance: None,
        generation: -1,
        retention_ms: None,
        knows_epochs: true,
        producer: None,
        topics: vec![CommitTopic {
            topic: "t".into(),
            id: Uuid::ZERO,
            partitions: vec![CommitPartition { partition: 0, offset, leader_epoch: -1, metadata }],
        }],
    })
}

fn fetch() -> Request {
    let topics = Some(vec![("t".into(), vec![0])]);
    Request::Fetch(Fetch { group: "g".into(), member: None, epoch: -1, require_stable: false, topics })
}

fn join(member: &str) -> Request {
    Request::Join(Box::new(Join {
        group: "g".into(),
        member: member.into(),
        instance: None,
        client_id: "c".into(),
        client_host: "/h".into(),
        session_timeout_ms: 10_000,
        rebalance_timeout_ms: 10_000,
        protocol_type: "consumer".into(),
        protocols: vec![("range".into(), Bytes::new())],
        member_id_required: false,
        can_skip_assignment: true,
        fresh: 0,
    }))
}

#[track_caller]
fn ready(answer: Answer<Response>) -> Response {
    match answer {
        Answer::Ready(reply) => reply.unwrap(),
        Answer::Pending(_) => panic!("not decided at once"),
    }
}

#[track_caller]
fn offset(answer: Response) -> i64 {
    match answer {
        Response::Fetch(Ok(topics)) => topics[0].partitions[0].offset,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn with_one_replica_commits_and_heartbeats_are_answered_at_once() {
    let (groups, _log) = groups();
    assert_eq!(ready(groups.ask(commit(5))), Response::Commit(Ok(vec![])));
    assert_eq!(offset(ready(groups.ask(fetch()))), 5);
    let heartbeat = Heartbeat { group: "g".into(), member: "m".into(), instance: None, generation: 1 };
    let answer = ready(groups.ask(Request::Heartbeat(heartbeat)));
    assert_eq!(answer, Response::Heartbeat(Err(GroupError::UnknownMember)));
}

#[tokio::test(start_paused = true)]
async fn answers_wait_for_their_commit_and_reads_do_too() {
    let (groups, log) = groups();
    ready(groups.ask(commit(5)));
    log.hold_commits();
    let Answer::Pending(mut first) = groups.ask(commit(6)) else { panic!("not committed yet") };
    let Answer::Pending(read) = groups.ask(fetch()) else { panic!("it speaks of what may be lost") };
    tokio::time::sleep(std::time::Duration::from_secs(5)).await;
    assert!(first.try_recv().is_err());
    log.commit_all();
    assert_eq!(first.await.unwrap(), Ok(Response::Commit(Ok(vec![]))));
    assert_eq!(offset(read.await.unwrap().unwrap()), 6);
    assert_eq!(ready(groups.ask(commit(7))), Response::Commit(Ok(vec![])));
}

#[tokio::test(start_paused = true)]
async fn timers_fire_by_themselves() {
    let (groups, _log) = groups();
    let reply = groups.ask(join("")).wait().await;
    let Ok(Response::Join(joined)) = reply else { panic!("{reply:?}") };
    assert_eq!((joined.error, joined.generation), (None, 1));
    // Nothing more is heard of the member.
    tokio::time::sleep(std::time::Duration::from_secs(11)).await;
    let Response::List(listed) = ready(groups.ask_all(&Request::List(List::default())).remove(0)) else {
        panic!()
    };
    assert_eq!(listed[0].state, "Empty");
}

#[tokio::test(start_paused = true)]
async fn a_new_leader_finds_everything_again() {
    let (groups, log) = groups();
    ready(groups.ask(commit(5)));
    let waiting = groups.ask(join(""));
    groups.resign(0);
    assert_eq!(waiting.wait().await, Err(Unavailable::NotHere));
    assert_eq!(groups.ask(fetch()).wait().await, Err(Unavailable::NotHere));
    groups.lead(0, log);
    assert_eq!(offset(ready(groups.ask(fetch()))), 5);
}

#[tokio::test(start_paused = true)]
async fn a_failed_append_drops_the_shard_and_loads_it_again() {
    let (groups, log) = groups();
    ready(groups.ask(commit(5)));
    let waiting = groups.ask(join(""));
    log.fail(true);
    assert_eq!(groups.ask(commit_of("h", 6)).wait().await, Err(Unavailable::NotHere));
    assert_eq!(waiting.wait().await, Err(Unavailable::NotHere));
    log.fail(false);
    assert_eq!(offset(ready(groups.ask(fetch()))), 5, "the truth is untouched");
    let members = vec![("m".to_owned(), None)];
    let leave = Request::Leave(Leave { group: "g".into(), members });
    let left = ready(groups.ask(leave));
    assert_eq!(left, Response::Leave(Ok(vec![Some(GroupError::UnknownMember)])), "who waited is forgotten");
}
