//! The ends of transactions in partitions that other brokers lead: asked of them (WriteTxnMarkers).

use std::collections::BTreeMap;
use std::sync::Arc;

use barnabas_protocol::ErrorCode;
use barnabas_protocol::messages::write_txn_markers::{WritableTxnMarker, WritableTxnMarkerTopic};
use barnabas_protocol::messages::{WriteTxnMarkersRequest, WriteTxnMarkersResponse};
use parking_lot::Mutex;
use tracing::{debug, warn};

use super::log::Marker;
use super::transaction::Partitions as Wanted;
use crate::controller::Metadata;
use crate::peer::{Address, Peer, Peers};

/// How long a broker may take to have markers replicated, in ms (Kafka's `request.timeout.ms` between brokers).
const TIMEOUT_MS: u64 = 30_000;

/// Who leads which partitions, and the connections to them. Cheap to clone.
#[derive(Clone)]
pub struct Elsewhere {
    shared: Arc<Shared>,
}

struct Shared {
    node: i32,
    metadata: Metadata,
    /// The listener that brokers reach one another by.
    listener: String,
    peers: Peers,
    lines: Mutex<BTreeMap<i32, (Address, Peer)>>,
}

/// The partitions of a transaction by who leads them.
#[derive(Debug, Default)]
pub(super) struct Split {
    /// This broker, or nobody that is known: tried here, which tells.
    pub(super) here: Wanted,
    /// Another one.
    pub(super) there: BTreeMap<i32, Wanted>,
    /// Nobody: later perhaps.
    pub(super) nowhere: Wanted,
}

impl Elsewhere {
    /// Of the broker `node`; others are reached by their `listener`.
    pub fn new(node: i32, metadata: Metadata, listener: String, peers: Peers) -> Elsewhere {
        let shared = Shared { node, metadata, listener, peers, lines: Mutex::default() };
        Elsewhere { shared: Arc::new(shared) }
    }

    /// Who leads what. Partitions that are no more are left out: there is nothing to end.
    pub(super) fn split(&self, wanted: &Wanted) -> Split {
        let image = self.shared.metadata.image();
        let mut split = Split::default();
        for (topic, indexes) in wanted {
            let Some(known) = image.topic(topic) else { continue };
            for index in indexes {
                let Some(partition) = known.partition(*index) else { continue };
                let place = match partition.leader {
                    leader if leader == self.shared.node => &mut split.here,
                    leader if leader < 0 => &mut split.nowhere,
                    leader => split.there.entry(leader).or_default(),
                };
                place.entry(topic.clone()).or_default().insert(*index);
            }
        }
        split
    }

    /// Has a broker write a marker; gives what must be tried again.
    pub(super) async fn write(&self, leader: i32, wanted: Wanted, marker: Marker) -> Wanted {
        let Some(peer) = self.peer(leader) else { return wanted };
        match peer.ask(&request(&wanted, marker), TIMEOUT_MS).await {
            Ok(response) => left(wanted, &response, marker),
            Err(error) => {
                debug!(leader, "markers were not written: {error}");
                wanted
            }
        }
    }

    /// Whoever leads a partition, if that is another broker.
    pub(super) fn leader_of(&self, topic: &str, index: i32) -> Option<Peer> {
        let leader = self.shared.metadata.image().topic(topic)?.partition(index)?.leader;
        if leader == self.shared.node { None } else { self.peer(leader) }
    }

    fn peer(&self, leader: i32) -> Option<Peer> {
        let image = self.shared.metadata.image();
        let endpoint = image.broker(leader)?.endpoint(&self.shared.listener)?;
        let address = Address { host: endpoint.host.to_string(), port: endpoint.port };
        let mut lines = self.shared.lines.lock();
        if let Some((_, peer)) = lines.get(&leader).filter(|(known, _)| *known == address) {
            return Some(peer.clone());
        }
        let peer = self.shared.peers.open(address.clone());
        lines.insert(leader, (address, peer.clone()));
        Some(peer)
    }
}

fn request(wanted: &Wanted, marker: Marker) -> WriteTxnMarkersRequest {
    let topics = wanted.iter().map(|(topic, indexes)| WritableTxnMarkerTopic {
        name: topic.to_string(),
        partition_indexes: indexes.iter().copied().collect(),
    });
    WriteTxnMarkersRequest {
        markers: vec![WritableTxnMarker {
            producer_id: marker.producer_id,
            producer_epoch: marker.producer_epoch,
            transaction_result: marker.commit,
            topics: topics.collect(),
            coordinator_epoch: marker.coordinator_epoch,
            transaction_version: marker.transaction_version,
        }],
    }
}

/// What is not done after an answer.
fn left(mut wanted: Wanted, response: &WriteTxnMarkersResponse, marker: Marker) -> Wanted {
    let topics = response.markers.iter().filter(|result| result.producer_id == marker.producer_id);
    for topic in topics.flat_map(|result| &result.topics) {
        let Some(indexes) = wanted.get_mut(topic.name.as_str()) else { continue };
        for partition in &topic.partitions {
            match ErrorCode::from_code(partition.error_code) {
                Some(ErrorCode::None) => {}
                Some(fault @ (ErrorCode::InvalidProducerEpoch | ErrorCode::TransactionCoordinatorFenced)) => {
                    let (index, producer) = (partition.partition_index, marker.producer_id);
                    warn!(topic = topic.name, index, producer, "a marker came too late: {}", fault.name());
                }
                _ => continue,
            }
            indexes.remove(&partition.partition_index);
        }
    }
    wanted.retain(|_, indexes| !indexes.is_empty());
    wanted
}

#[cfg(test)]
mod tests {
    use barnabas_protocol::messages::write_txn_markers::{
        WritableTxnMarkerPartitionResult, WritableTxnMarkerResult, WritableTxnMarkerTopicResult,
    };

    use super::*;

    #[test]
    fn what_was_written_or_came_too_late_is_done() {
        let marker = Marker {
            producer_id: 9,
            producer_epoch: 0,
            commit: true,
            coordinator_epoch: 1,
            transaction_version: 2,
        };
        let wanted = Wanted::from([("t".into(), (0..5).collect())]);
        assert_eq!(request(&wanted, marker).markers[0].topics[0].partition_indexes, [0, 1, 2, 3, 4]);
        let codes = [
            ErrorCode::None,
            ErrorCode::NotLeaderOrFollower,
            ErrorCode::InvalidProducerEpoch,
            ErrorCode::NotEnoughReplicas,
        ];
        let partitions = codes.iter().zip(0..).map(|(code, partition_index)| {
            WritableTxnMarkerPartitionResult { partition_index, error_code: code.code() }
        });
        let topics =
            vec![WritableTxnMarkerTopicResult { name: "t".into(), partitions: partitions.collect() }];
        let response =
            WriteTxnMarkersResponse { markers: vec![WritableTxnMarkerResult { producer_id: 9, topics }] };
        // The last one was not answered at all.
        assert_eq!(left(wanted, &response, marker), Wanted::from([("t".into(), [1, 3, 4].into())]));
    }
}
