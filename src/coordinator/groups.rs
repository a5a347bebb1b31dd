//! The group coordinator as handlers use it.

use std::sync::Arc;

use crate::clock::Clock;
use crate::ids::TopicName;
use crate::rng::Rng;
use crate::spawn::Spawner;
use crate::storage::ProducerMark;

use super::group::view::NoCluster;
use super::group::{
    Cluster, Event, GroupError, GroupMachine, GroupSettings, Request, Response, View, perform,
};
use super::log::{LogFault, Marker, ShardLog};
use super::router::{Performer, Router};
use super::shard::{Answer, Unavailable};

/// The topic of groups and committed offsets.
pub const OFFSETS_TOPIC: &str = "__consumer_offsets";

/// The groups that this broker coordinates. Cheap to clone.
///
/// ```ignore
/// match rooms.groups.ask(Request::Heartbeat(heartbeat)) {
///     Answer::Ready(reply) => …,        // the usual case: decided, written and committed at once
///     Answer::Pending(receiver) => …,   // a join that waits for others; replicas that lag
/// }
/// ```
#[derive(Clone)]
pub struct Groups {
    router: Arc<Router<GroupMachine>>,
    rng: Rng,
    settings: Arc<GroupSettings>,
}

impl Groups {
    /// No shards yet. Must be called inside the runtime.
    pub fn new(settings: GroupSettings, clock: Clock, rng: Rng, spawner: Spawner) -> Groups {
        let partitions = settings.offsets_partitions;
        let settings = Arc::new(settings);
        let view = View { settings: settings.clone(), cluster: Arc::new(NoCluster) };
        let work: Performer<GroupMachine> = Box::new(move |router, partition, effect| {
            let router = Arc::clone(router);
            drop(spawner.blocking(move || {
                // A shard that is gone does not need it; whoever leads now looks for itself.
                let _ = router.tell(partition, perform(effect));
            }));
        });
        let router = Router::new(OFFSETS_TOPIC, partitions, view, clock, spawner, work);
        Groups { router, rng, settings }
    }

    /// How many partitions the topic has, once it exists.
    pub fn set_partitions(&self, partitions: i32) {
        self.router.set_partitions(partitions);
    }

    /// The partition of the topic that a group belongs to; its leader coordinates the group.
    pub fn partition_of(&self, group: &str) -> i32 {
        self.router.partition_of(group)
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

    /// Asks about the group that the request names.
    pub fn ask(&self, mut request: Request) -> Answer<Response> {
        if let Request::Join(join) = &mut request {
            join.fresh = u128::from_be_bytes(self.rng.uuid().0);
        }
        if let Request::Beat(beat) = &mut request
            && beat.member.is_empty()
        {
            // The first version of the request leaves it to the broker to name its members.
            beat.member = self.rng.uuid().to_string();
        }
        let partition = self.router.partition_of(request.group());
        self.router.ask(partition, |reply| Event::Ask(reply, request))
    }

    /// Commits offsets in a transaction; see [`Router::ask_in_transaction`].
    pub fn ask_in_transaction(
        &self,
        producer: (i64, i16),
        known: ProducerMark,
        request: Request,
    ) -> Answer<Response> {
        let partition = self.router.partition_of(request.group());
        self.router.ask_in_transaction(partition, producer, known, |reply| Event::Ask(reply, request))
    }

    /// What the log of a partition knows of a producer.
    pub fn producer(&self, partition: i32, id: i64) -> Result<ProducerMark, Unavailable> {
        self.router.producer(partition, id)
    }

    /// Ends a transaction in a partition: its offsets count, or are forgotten.
    pub fn marker(&self, partition: i32, marker: Marker) -> Result<Result<(), LogFault>, Unavailable> {
        self.router.marker(partition, marker)
    }

    /// Asks every shard of this broker (ListGroups).
    pub fn ask_all(&self, request: &Request) -> Vec<Answer<Response>> {
        self.router.ask_all(|reply| Event::Ask(reply, request.clone()))
    }

    /// The cluster's metadata from now on.
    pub fn set_cluster(&self, cluster: Arc<dyn Cluster>) {
        self.router.set_view(View { settings: self.settings.clone(), cluster });
    }

    /// Topics are new, larger, on other brokers or gone; call after [`Groups::set_cluster`].
    pub fn topics_changed(&self, topics: &Arc<[TopicName]>, new: bool) {
        self.router.tell_all(|| Event::TopicsChanged { topics: topics.clone(), new });
    }

    /// Topics are gone: their offsets go, too.
    pub fn topics_deleted(&self, topics: &[TopicName]) {
        self.router.tell_all(|| Event::TopicsDeleted(topics.to_vec()));
    }
}

impl From<Unavailable> for GroupError {
    fn from(unavailable: Unavailable) -> GroupError {
        match unavailable {
            Unavailable::NotHere => GroupError::NotCoordinator,
            Unavailable::Loading => GroupError::Loading,
            Unavailable::Lost => GroupError::NotAvailable,
            Unavailable::ProducerFenced => GroupError::ProducerFenced,
            Unavailable::TransactionEnded => GroupError::TransactionEnded,
        }
    }
}
