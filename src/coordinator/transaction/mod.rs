//! The transaction coordinator's machine: which transaction each transactional id has open, and how it ends.
//!
//! [`Hard`] is what the records of `__transaction_state` say. A transaction that is to end is first *prepared*: once that
//! record is committed nothing can change its outcome. Then markers are written to its partitions ([`Effect`]), however
//! often that takes, and at last it is *complete*. One file per verb.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::clock::Now;
use crate::coordinator::machine::{Machine, Output};
use crate::ids::TopicName;

mod add;
mod apply;
mod codec;
mod complete;
mod describe;
mod end;
mod error;
mod event;
mod expire;
mod init_producer;
mod loaded;
mod pattern;
mod record;
mod response;
mod settings;
#[cfg(test)]
mod tests;

pub use apply::Hard;
pub use error::TransactionError;
pub use event::{Add, End, Event, InitProducer, List, Request, TimerKey};
pub use pattern::Pattern;
pub use record::{Record, State, Transaction};
pub use response::{Described, Listed, Producer, Response};
pub use settings::TransactionSettings;

/// A producer's name for itself, the same over restarts.
pub type TransactionalId = Arc<str>;

/// The partitions of a transaction.
pub type Partitions = BTreeMap<TopicName, BTreeSet<i32>>;

/// No id, no epoch.
pub const NONE: i64 = -1;
/// See [`NONE`].
pub const NO_EPOCH: i16 = -1;
/// From this epoch on a producer needs a new id: the one above is kept for fencing.
const LAST_EPOCH: i16 = i16::MAX - 1;

/// What is not durable.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Soft {
    live: BTreeMap<TransactionalId, Live>,
    /// Of the last markers that were asked for; never the same again, whoever coordinates.
    attempt: u64,
}

/// A transactional id as it lives.
#[derive(Clone, Debug, PartialEq)]
struct Live {
    /// The epoch before the present one, for a request that is repeated; lost on fail-over, as in Kafka.
    last_epoch: i16,
    /// When the open transaction is abandoned, monotonic ms.
    deadline_ms: u64,
    /// The timer of the deadline is armed. It may fire early and is armed again then: most transactions end soon.
    timed: bool,
    /// The markers that are being written; news of others are late.
    attempt: u64,
    /// Where the marker still has to be written, after a failure.
    unmarked: Option<Partitions>,
}

impl Default for Live {
    fn default() -> Live {
        Live { last_epoch: NO_EPOCH, deadline_ms: 0, timed: false, attempt: 0, unmarked: None }
    }
}

/// The transaction coordinator.
#[derive(Clone, Copy, Debug)]
pub struct TransactionMachine;

/// What the machine wants done.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Write a transaction's end to these partitions, then tell with [`Event::Marked`].
    WriteMarkers {
        /// Whose.
        id: TransactionalId,
        /// Producer id in the markers.
        producer_id: i64,
        /// Epoch in the markers.
        epoch: i16,
        /// Or aborted.
        commit: bool,
        /// 2 if each transaction has an epoch of its own.
        transaction_version: i8,
        /// Where.
        partitions: Partitions,
        /// To be told back.
        attempt: u64,
    },
}

/// What every verb needs besides its transaction.
struct Step<'a> {
    hard: &'a Hard,
    settings: &'a TransactionSettings,
    now: Now,
    out: &'a mut Output<TransactionMachine>,
}

impl Machine for TransactionMachine {
    type Hard = Hard;
    type Soft = Soft;
    type View = TransactionSettings;
    type Event = Event;
    type Record = Record;
    type Response = Response;
    type Effect = Effect;
    type TimerKey = TimerKey;

    fn step(
        hard: &Hard,
        soft: &mut Soft,
        view: &TransactionSettings,
        now: Now,
        event: Event,
        out: &mut Output<TransactionMachine>,
    ) {
        let cx = &mut Step { hard, settings: view, now, out };
        match event {
            Event::Ask(reply, request) => {
                let response = match request {
                    Request::InitProducer(request) => {
                        Response::InitProducer(init_producer::init(cx, soft, &request))
                    }
                    Request::Add(request) => Response::Add(add::add(cx, soft, &request)),
                    Request::Verify(request) => Response::Verify(add::verify(cx, &request)),
                    Request::End(request) => Response::End(end::end(cx, soft, &request)),
                    Request::Describe(id) => Response::Describe(describe::describe(cx, &id)),
                    Request::List(list) => Response::List(describe::list(cx, &list)),
                };
                cx.out.reply(reply, response);
            }
            Event::Marked { id, attempt, left } => complete::marked(cx, soft, &id, attempt, left),
            Event::Timer(TimerKey::Deadline(id)) => expire::deadline(cx, soft, &id),
            Event::Timer(TimerKey::Markers(id)) => complete::again(cx, soft, &id),
            Event::Timer(TimerKey::Expiry) => expire::unused(cx, soft),
        }
    }

    fn apply(hard: &mut Hard, record: Record) {
        hard.apply(record);
    }

    fn loaded(
        hard: &Hard,
        view: &TransactionSettings,
        now: Now,
        out: &mut Output<TransactionMachine>,
    ) -> Soft {
        loaded::loaded(&mut Step { hard, settings: view, now, out })
    }

    fn fired(key: TimerKey) -> Event {
        Event::Timer(key)
    }
}
