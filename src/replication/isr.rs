//! The leader's way to the controller: who is to be in sync (AlterPartition, KIP-497).

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use barnabas_protocol::ErrorCode;
use barnabas_protocol::messages::alter_partition::{BrokerState, RequestPartitionData, RequestTopicData};
use barnabas_protocol::messages::{AlterPartitionRequest, AlterPartitionResponse};
use tokio::sync::mpsc;
use tracing::{debug, info};

use crate::clock::Clock;
use crate::ids::Uuid;
use crate::partition::{IsrState, Partitions, Proposal};
use crate::shutdown::Shutdown;

/// After a failure the controller is asked again after so many ms, as Kafka does.
const RETRY_MS: u64 = 50;

/// Whoever reaches the active controller. An error is a text for the log: it is asked again.
pub trait IsrController: Send + Sync + 'static {
    /// Asks; the broker's own id and epoch are filled in by then.
    fn alter_partition(&self, request: AlterPartitionRequest) -> Asked;

    /// This broker's epoch, -1 before it registered.
    fn broker_epoch(&self) -> i64;
}

/// The answer, later.
pub type Asked = Pin<Box<dyn Future<Output = Result<AlterPartitionResponse, String>> + Send>>;

type Pending = BTreeMap<(Uuid, i32), Proposal>;

/// Carries proposals to the controller, one request at a time, until the broker stops.
pub async fn propose(
    node: i32,
    mut proposals: mpsc::UnboundedReceiver<Proposal>,
    controller: Arc<dyn IsrController>,
    clock: Clock,
    mut shutdown: Shutdown,
) {
    let mut pending = Pending::new();
    loop {
        if pending.is_empty() {
            tokio::select! {
                biased;
                () = shutdown.requested() => return,
                proposal = proposals.recv() => match proposal {
                    Some(proposal) => add(&mut pending, proposal),
                    None => return,
                },
            }
        }
        while let Ok(proposal) = proposals.try_recv() {
            add(&mut pending, proposal);
        }
        let request = request(node, controller.broker_epoch(), &pending);
        let answer = tokio::select! {
            biased;
            () = shutdown.requested() => return,
            answer = controller.alter_partition(request) => answer,
        };
        let retry = match answer {
            Ok(response) if response.error_code == 0 => {
                answered(&mut pending, response);
                // What the controller said nothing of.
                !pending.is_empty()
            }
            Ok(response) => {
                let code = ErrorCode::from_code(response.error_code).unwrap_or_default();
                info!("the controller does not change in-sync sets: {}", code.name());
                true
            }
            Err(why) => {
                debug!("the controller was not reached: {why}");
                true
            }
        };
        if retry {
            let until = clock.now().mono_ms.saturating_add(RETRY_MS);
            tokio::select! {
                biased;
                () = shutdown.requested() => return,
                () = clock.sleep_until(until) => {}
            }
        }
    }
}

/// A newer proposal of a partition takes the place of an older one.
fn add(pending: &mut Pending, proposal: Proposal) {
    let key = (proposal.partition.topic_id(), proposal.partition.id().partition);
    pending.insert(key, proposal);
}

fn request(node: i32, broker_epoch: i64, pending: &Pending) -> AlterPartitionRequest {
    let mut topics: Vec<RequestTopicData> = Vec::new();
    for ((topic_id, index), proposal) in pending {
        if topics.last().is_none_or(|topic| topic.topic_id != *topic_id) {
            topics.push(RequestTopicData { topic_id: *topic_id, partitions: Vec::new() });
        }
        let with_epochs = proposal.isr.iter().map(|(id, known)| BrokerState {
            broker_id: *id,
            broker_epoch: if *id == node { broker_epoch } else { *known },
        });
        let partition = RequestPartitionData {
            partition_index: *index,
            leader_epoch: proposal.change.leader_epoch,
            new_isr: proposal.change.isr.clone(),
            new_isr_with_epochs: with_epochs.collect(),
            leader_recovery_state: 0,
            partition_epoch: proposal.change.partition_epoch,
        };
        if let Some(topic) = topics.last_mut() {
            topic.partitions.push(partition);
        }
    }
    AlterPartitionRequest { broker_id: node, broker_epoch, topics }
}

fn answered(pending: &mut Pending, response: AlterPartitionResponse) {
    for topic in response.topics {
        for data in topic.partitions {
            let Some(proposal) = pending.remove(&(topic.topic_id, data.partition_index)) else { continue };
            let answer = match ErrorCode::from_code(data.error_code) {
                Some(ErrorCode::None) => Ok(IsrState {
                    isr: data.isr,
                    leader_epoch: data.leader_epoch,
                    partition_epoch: data.partition_epoch,
                }),
                code => Err(code.unwrap_or(ErrorCode::UnknownServerError)),
            };
            match &answer {
                Ok(state) => {
                    info!(partition = %proposal.partition.id(), isr = ?state.isr, "in-sync replicas changed");
                }
                Err(code) => {
                    info!(
                        partition = %proposal.partition.id(), isr = ?proposal.change.isr,
                        "in-sync replicas are not changed: {}", code.name()
                    );
                }
            }
            proposal.partition.isr_answered(&proposal.change, answer);
        }
    }
}

/// Looks every half `replica.lag.time.max.ms` who has lagged too long.
pub async fn watch_lag(partitions: Arc<Partitions>, lag_ms: u64, clock: Clock, mut shutdown: Shutdown) {
    let every_ms = (lag_ms / 2).max(1);
    loop {
        let next = clock.now().mono_ms.saturating_add(every_ms);
        tokio::select! {
            biased;
            () = shutdown.requested() => return,
            () = clock.sleep_until(next) => {}
        }
        let now_ms = clock.now().mono_ms;
        partitions.partitions().iter().for_each(|partition| partition.shrink_isr(now_ms));
    }
}
