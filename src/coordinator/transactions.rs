//! The transaction coordinator as handlers use it.

use std::sync::Arc;

use tokio::sync::oneshot;

use crate::clock::Clock;
use crate::spawn::Spawner;

use super::log::{Marker, ShardLog};
use super::markers::Markers;
use super::remote_markers::Elsewhere;
use super::remote_transactions;
use super::router::{Performer, Router};
use super::shard::{Answer, Unavailable};
use super::transaction::{
    Add, Effect, Event, Partitions, Request, Response, TransactionError, TransactionMachine,
    TransactionSettings,
};

/// The topic of transactions.
pub const TRANSACTIONS_TOPIC: &str = "__transaction_state";

/// The transactional ids that this broker coordinates. Cheap to clone.
#[derive(Clone)]
pub struct Transactions {
    router: Arc<Router<TransactionMachine>>,
    elsewhere: Elsewhere,
    spawner: Spawner,
}

impl Transactions {
    /// No shards yet. Must be called inside the runtime.
    pub fn new(
        settings: TransactionSettings,
        markers: Markers,
        clock: Clock,
        spawner: Spawner,
    ) -> Transactions {
        let (partitions, elsewhere) = (settings.partitions, markers.elsewhere.clone());
        let perform: Performer<TransactionMachine> =
            Box::new(move |router, partition, effect| perform(&markers, spawner, router, partition, effect));
        Transactions {
            router: Router::new(TRANSACTIONS_TOPIC, partitions, settings, clock, spawner, perform),
            elsewhere,
            spawner,
        }
    }

    /// How many partitions the topic has, once it exists.
    pub fn set_partitions(&self, partitions: i32) {
        self.router.set_partitions(partitions);
    }

    /// This broker leads a partition of the topic from now on (call again with each leader epoch).
    pub fn lead(&self, partition: i32, log: Arc<dyn ShardLog>) {
        self.router.lead(partition, log);
    }

    /// This broker does not lead a partition of the topic any more.
    pub fn resign(&self, partition: i32) {
        self.router.resign(partition);
    }

    /// The broker stops: every waiter is answered.
    pub fn stop(&self) {
        self.router.resign_all();
    }

    /// Asks about the transactional id that the request names.
    pub fn ask(&self, request: Request) -> Answer<Response> {
        let partition = self.router.partition_of(request.id());
        self.router.ask(partition, |reply| Event::Ask(reply, request))
    }

    /// Has partitions of this broker join the transaction, or looks whether they have, wherever it is coordinated.
    pub fn admit(&self, add: Add, only_look: bool) -> Answer<Response> {
        let partition = self.router.partition_of(&add.id);
        let Some(coordinator) = self.elsewhere.leader_of(TRANSACTIONS_TOPIC, partition) else {
            return self.ask(if only_look { Request::Verify(add) } else { Request::Add(add) });
        };
        let (sender, receiver) = oneshot::channel();
        self.spawner.spawn(async move {
            // Nobody waits for it any more if the connection is gone.
            let _gone = sender.send(Ok(remote_transactions::ask(coordinator, add, only_look).await));
        });
        Answer::Pending(receiver)
    }

    /// Asks every shard of this broker (ListTransactions).
    pub fn ask_all(&self, request: &Request) -> Vec<Answer<Response>> {
        self.router.ask_all(|reply| Event::Ask(reply, request.clone()))
    }
}

/// The outcome is committed: it is written everywhere, at once where this broker leads.
fn perform(
    markers: &Markers,
    spawner: Spawner,
    router: &Arc<Router<TransactionMachine>>,
    partition: i32,
    effect: Effect,
) {
    let Effect::WriteMarkers { id, producer_id, epoch, commit, transaction_version, partitions, attempt } =
        effect;
    // Gone: whoever leads the partition now does it.
    let Some(coordinator_epoch) = router.leader_epoch(partition) else { return };
    let marker =
        Marker { producer_id, producer_epoch: epoch, commit, coordinator_epoch, transaction_version };
    let split = markers.elsewhere.split(&partitions);
    let (mut left, unsettled) = markers.write_all(&split.here, marker);
    merge(&mut left, split.nowhere);
    if unsettled.is_empty() && split.there.is_empty() {
        return tell(router, partition, Event::Marked { id, attempt, left });
    }
    let asked = split.there.into_iter().map(|(leader, wanted)| {
        let elsewhere = markers.elsewhere.clone();
        spawner.spawn(async move { elsewhere.write(leader, wanted, marker).await })
    });
    let (router, asked) = (router.clone(), asked.collect::<Vec<_>>());
    spawner.spawn(async move {
        for answer in asked {
            // It is aborted only with the whole process.
            merge(&mut left, answer.await.unwrap_or_default());
        }
        for marker in unsettled {
            if !marker.settles().await {
                let (topic, index) = marker.place();
                left.entry(topic).or_default().insert(index);
            }
        }
        tell(&router, partition, Event::Marked { id, attempt, left });
    });
}

fn merge(left: &mut Partitions, more: Partitions) {
    for (topic, indexes) in more {
        left.entry(topic).or_default().extend(indexes);
    }
}

fn tell(router: &Arc<Router<TransactionMachine>>, partition: i32, event: Event) {
    let told = router.tell(partition, event);
    if let Err(unavailable) = told {
        // It is loaded again and finds the transaction prepared.
        tracing::debug!(partition, %unavailable, "nobody to tell that markers are written");
    }
}

impl From<Unavailable> for TransactionError {
    fn from(unavailable: Unavailable) -> TransactionError {
        match unavailable {
            Unavailable::NotHere => TransactionError::NotCoordinator,
            Unavailable::Loading => TransactionError::Loading,
            Unavailable::Lost => TransactionError::NotAvailable,
            Unavailable::ProducerFenced => TransactionError::Fenced,
            Unavailable::TransactionEnded => TransactionError::InvalidState,
        }
    }
}
