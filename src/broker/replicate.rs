//! Replication's place in the broker: who copies, and how leaders reach the controller.

use std::sync::Arc;

use barnabas_protocol::messages::AlterPartitionRequest;
use tokio::task::JoinHandle;

use super::Doors;
use crate::clock::Clock;
use crate::config::Config;
use crate::controller::Channel;
use crate::handlers::Rooms;
use crate::partition::Partitions;
use crate::peer::Peers;
use crate::replication::{Asked, FetchSettings, Fetchers, IsrController, propose, watch_lag};
use crate::shutdown::Shutdown;

/// One attempt to reach the controller may take so long, in ms; what waits is asked for again.
const ASK_MS: u64 = 10_000;

/// The active controller, wherever it is.
struct ByChannel {
    channel: Channel,
    clock: Clock,
}

impl IsrController for ByChannel {
    fn alter_partition(&self, request: AlterPartitionRequest) -> Asked {
        let channel = self.channel.clone();
        let deadline_ms = self.clock.now().mono_ms.saturating_add(ASK_MS);
        Box::pin(async move { channel.ask(&request, deadline_ms).await.map_err(|error| error.to_string()) })
    }

    fn broker_epoch(&self) -> i64 {
        self.channel.broker_epoch()
    }
}

/// The followers' side, which follows the metadata with the partitions.
pub(super) fn fetchers(
    config: &Config,
    doors: &Doors,
    cluster_id: String,
    partitions: &Arc<Partitions>,
    peers: &Peers,
    channel: &Channel,
) -> Arc<Fetchers> {
    let replication = &config.replication;
    let settings = FetchSettings {
        node: config.node_id,
        listener: config.network.inter_broker_listener.clone(),
        cluster_id,
        fetchers: replication.fetchers,
        wait_max_ms: replication.replica_fetch_wait_max_ms,
        min_bytes: replication.replica_fetch_min_bytes,
        partition_max_bytes: replication.replica_fetch_max_bytes,
        response_max_bytes: replication.replica_fetch_response_max_bytes,
        backoff_ms: replication.replica_fetch_backoff_ms,
        timeout_ms: replication.replica_socket_timeout_ms,
    };
    let channel = channel.clone();
    let broker_epoch = Arc::new(move || channel.broker_epoch());
    let (clock, spawner) = (doors.clock.clone(), doors.spawner);
    Fetchers::new(settings, partitions.clone(), peers.clone(), clock, spawner, broker_epoch)
}

/// The leaders' side: tasks that run until the broker stops.
pub(super) fn start(
    rooms: &Arc<Rooms>,
    fetchers: Arc<Fetchers>,
    shutdown: &Shutdown,
    tasks: &mut Vec<JoinHandle<()>>,
) {
    let mut stopping = shutdown.clone();
    tasks.push(rooms.spawner.spawn(async move {
        stopping.requested().await;
        fetchers.stop();
    }));
    let (node, clock) = (rooms.config.node_id, rooms.clock.clone());
    let lag_ms = rooms.config.replication.lag_time_max_ms;
    if let Some(proposals) = rooms.partitions.take_proposals() {
        let controller = ByChannel { channel: rooms.channel.own_line(), clock: clock.clone() };
        let proposing = propose(node, proposals, Arc::new(controller), clock.clone(), shutdown.clone());
        tasks.push(rooms.spawner.spawn(proposing));
    }
    let watching = watch_lag(rooms.partitions.clone(), lag_ms, clock, shutdown.clone());
    tasks.push(rooms.spawner.spawn(watching));
}
