//! Which partitions are copied from whom, as the metadata says.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::mpsc;

use super::fetcher::{Fetcher, Order};
use super::session::Key;
use crate::clock::Clock;
use crate::controller::image::{NO_LEADER, TopicImage};
use crate::controller::{Delta, Image};
use crate::partition::Partitions;
use crate::peer::{Address, Identity, Peers};
use crate::spawn::Spawner;

/// What fetchers are told at the start.
#[derive(Clone, Debug)]
pub struct FetchSettings {
    /// `node.id`.
    pub node: i32,
    /// The listener that brokers reach one another by (`inter.broker.listener.name`).
    pub listener: String,
    /// The cluster's id.
    pub cluster_id: String,
    /// `num.replica.fetchers`: tasks per leader.
    pub fetchers: usize,
    /// `replica.fetch.wait.max.ms`.
    pub wait_max_ms: i32,
    /// `replica.fetch.min.bytes`.
    pub min_bytes: i32,
    /// `replica.fetch.max.bytes`, of one partition.
    pub partition_max_bytes: i32,
    /// `replica.fetch.response.max.bytes`.
    pub response_max_bytes: i32,
    /// `replica.fetch.backoff.ms`.
    pub backoff_ms: u64,
    /// `replica.socket.timeout.ms`.
    pub timeout_ms: u64,
}

/// What every fetcher of a broker has.
#[derive(Clone)]
pub(super) struct Common {
    pub(super) settings: Arc<FetchSettings>,
    pub(super) partitions: Arc<Partitions>,
    pub(super) clock: Clock,
    pub(super) spawner: Spawner,
    /// This broker's epoch now, -1 before it registered.
    pub(super) broker_epoch: Arc<dyn Fn() -> i64 + Send + Sync>,
}

/// See the module.
pub struct Fetchers {
    common: Common,
    peers: Peers,
    state: Mutex<State>,
}

/// A leader and which of the tasks that copy from it.
type Task = (i32, usize);

#[derive(Default)]
struct State {
    tasks: BTreeMap<Task, (Address, mpsc::UnboundedSender<Order>)>,
    /// From whom each partition is copied, in which epoch.
    followed: BTreeMap<Key, (Task, i32)>,
}

impl Fetchers {
    /// Nothing is copied yet.
    pub fn new(
        settings: FetchSettings,
        partitions: Arc<Partitions>,
        peers: Peers,
        clock: Clock,
        spawner: Spawner,
        broker_epoch: Arc<dyn Fn() -> i64 + Send + Sync>,
    ) -> Arc<Fetchers> {
        let common = Common { settings: Arc::new(settings), partitions, clock, spawner, broker_epoch };
        Arc::new(Fetchers { common, peers, state: Mutex::default() })
    }

    /// Follows a change of the metadata, after the partitions have.
    pub fn apply(&self, image: &Image, delta: &Delta) {
        let mut state = self.state.lock();
        for topic in delta.removed.values() {
            for partition in topic.partitions() {
                state.leave((topic.id, partition.index));
            }
        }
        if delta.nodes {
            state.forget_moved(|leader| self.address(image, leader));
            image.topics().for_each(|topic| self.follow(&mut state, image, topic));
        } else {
            delta.changed.values().for_each(|topic| self.follow(&mut state, image, topic));
        }
    }

    /// Nothing is copied any more.
    pub fn stop(&self) {
        *self.state.lock() = State::default();
    }

    fn address(&self, image: &Image, broker: i32) -> Option<Address> {
        let endpoint = image.broker(broker)?.endpoint(&self.common.settings.listener)?;
        Some(Address { host: endpoint.host.to_string(), port: endpoint.port })
    }

    fn follow(&self, state: &mut State, image: &Image, topic: &TopicImage) {
        let node = self.common.settings.node;
        for partition in topic.partitions() {
            let key = (topic.id, partition.index);
            let here = partition.replicas.contains(&node);
            let leader = (here && partition.leader != node && partition.leader != NO_LEADER)
                .then(|| Some((partition.leader, self.address(image, partition.leader)?)))
                .flatten();
            let Some((leader, address)) = leader else {
                state.leave(key);
                continue;
            };
            let task = (leader, self.task_of(&key));
            if state.followed.get(&key) == Some(&(task, partition.leader_epoch)) {
                continue;
            }
            let replica = self.common.partitions.topic_by_id(topic.id);
            let Some(replica) = replica.and_then(|topic| topic.partition(partition.index)) else { continue };
            state.leave(key);
            let order = Order::Follow { key, partition: replica, epoch: partition.leader_epoch };
            // A task ends only when its sender is gone.
            let _never = self.task(state, task, address).send(order);
            state.followed.insert(key, (task, partition.leader_epoch));
        }
    }

    fn task_of(&self, (topic, index): &Key) -> usize {
        let spread = topic.0.iter().fold(index.unsigned_abs() as usize, |sum, byte| {
            sum.wrapping_mul(31).wrapping_add(usize::from(*byte))
        });
        spread.checked_rem(self.common.settings.fetchers).unwrap_or_default()
    }

    fn task(&self, state: &mut State, task: Task, address: Address) -> mpsc::UnboundedSender<Order> {
        let (_, orders) = state.tasks.entry(task).or_insert_with(|| {
            let (sender, orders) = mpsc::unbounded_channel();
            let identity = Identity { cluster_id: self.common.settings.cluster_id.clone(), node_id: task.0 };
            let peer = self.peers.open_node(address.clone(), identity);
            self.common.spawner.spawn(Fetcher::new(self.common.clone(), task.0, peer, orders).run());
            (address, sender)
        });
        orders.clone()
    }
}

impl State {
    fn leave(&mut self, key: Key) {
        let Some((task, _)) = self.followed.remove(&key) else { return };
        if let Some((_, orders)) = self.tasks.get(&task) {
            let _never = orders.send(Order::Leave { key });
        }
        if !self.followed.values().any(|(other, _)| *other == task) {
            self.tasks.remove(&task);
        }
    }

    /// Leaders that are reached elsewhere now are followed anew.
    fn forget_moved(&mut self, address: impl Fn(i32) -> Option<Address>) {
        self.tasks.retain(|(leader, _), (known, _)| address(*leader).as_ref() == Some(known));
        let tasks = &self.tasks;
        self.followed.retain(|_, (task, _)| tasks.contains_key(task));
    }
}
