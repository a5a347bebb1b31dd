//! Transactions whose coordinator is another broker: asked of it (AddPartitionsToTxn for brokers, KIP-890).

use barnabas_protocol::ErrorCode;
use barnabas_protocol::messages::add_partitions_to_txn::{
    AddPartitionsToTxnTopic, AddPartitionsToTxnTransaction,
};
use barnabas_protocol::messages::{AddPartitionsToTxnRequest, AddPartitionsToTxnResponse};
use tracing::debug;

use super::transaction::{Add, Partitions, Response, TransactionError};
use crate::peer::Peer;

/// Brokers ask in these versions.
const VERSIONS: std::ops::RangeInclusive<i16> = 4..=5;
/// How long the coordinator may take, in ms (Kafka's `request.timeout.ms` between brokers).
const TIMEOUT_MS: u64 = 30_000;

/// Has the coordinator add the partitions, or look whether they are in the transaction.
pub(super) async fn ask(coordinator: Peer, add: Add, only_look: bool) -> Response {
    let request = request(&add, only_look);
    match coordinator.ask_within(&request, VERSIONS, TIMEOUT_MS).await {
        Ok(response) => told(&add, only_look, &response),
        Err(error) => {
            debug!(id = add.id, "the transaction's coordinator does not answer: {error}");
            refused(only_look, TransactionError::NotAvailable)
        }
    }
}

fn request(add: &Add, verify_only: bool) -> AddPartitionsToTxnRequest {
    let topics = add.partitions.iter().map(|(topic, indexes)| AddPartitionsToTxnTopic {
        name: topic.to_string(),
        partitions: indexes.iter().copied().collect(),
    });
    let transaction = AddPartitionsToTxnTransaction {
        transactional_id: add.id.clone(),
        producer_id: add.producer_id,
        producer_epoch: add.epoch,
        verify_only,
        topics: topics.collect(),
    };
    AddPartitionsToTxnRequest { transactions: vec![transaction], ..Default::default() }
}

fn refused(only_look: bool, error: TransactionError) -> Response {
    if only_look { Response::Verify(Err(error)) } else { Response::Add(Err(error)) }
}

/// What the coordinator says of every partition that it was asked for.
fn told(add: &Add, only_look: bool, response: &AddPartitionsToTxnResponse) -> Response {
    let mut missing = add.partitions.clone();
    let mut lacking = Partitions::new();
    if let Some(error) = fault(response.error_code) {
        return refused(only_look, error);
    }
    let results = response.results_by_transaction.iter().filter(|result| result.transactional_id == add.id);
    for topic in results.flat_map(|result| &result.topic_results) {
        for partition in &topic.results_by_partition {
            let index = partition.partition_index;
            if only_look && partition.partition_error_code == ErrorCode::TransactionAbortable.code() {
                lacking.entry(topic.name.as_str().into()).or_default().insert(index);
            } else if let Some(error) = fault(partition.partition_error_code) {
                return refused(only_look, error);
            }
            if let Some(indexes) = missing.get_mut(topic.name.as_str()) {
                indexes.remove(&index);
            }
        }
    }
    if missing.values().any(|indexes| !indexes.is_empty()) {
        return refused(only_look, TransactionError::NotAvailable);
    }
    if only_look { Response::Verify(Ok(lacking)) } else { Response::Add(Ok(())) }
}

/// What a code of the answer means here. Whatever a coordinator may get over is that it is not available.
fn fault(code: i16) -> Option<TransactionError> {
    match ErrorCode::from_code(code) {
        Some(ErrorCode::None) => None,
        Some(ErrorCode::NotCoordinator) => Some(TransactionError::NotCoordinator),
        Some(ErrorCode::CoordinatorLoadInProgress) => Some(TransactionError::Loading),
        Some(ErrorCode::ConcurrentTransactions) => Some(TransactionError::Concurrent),
        Some(ErrorCode::InvalidProducerIdMapping) => Some(TransactionError::UnknownMapping),
        Some(ErrorCode::ProducerFenced | ErrorCode::InvalidProducerEpoch) => Some(TransactionError::Fenced),
        Some(ErrorCode::InvalidTxnState) => Some(TransactionError::InvalidState),
        _ => Some(TransactionError::NotAvailable),
    }
}

#[cfg(test)]
mod tests {
    use barnabas_protocol::messages::add_partitions_to_txn::{
        AddPartitionsToTxnPartitionResult, AddPartitionsToTxnResult, AddPartitionsToTxnTopicResult,
    };

    use super::*;

    fn add() -> Add {
        let partitions = Partitions::from([("t".into(), (0..3).collect())]);
        Add { id: "x".to_owned(), producer_id: 9, epoch: 1, partitions, client_version: 0 }
    }

    fn said(codes: &[ErrorCode]) -> AddPartitionsToTxnResponse {
        let results = codes.iter().zip(0..).map(|(code, partition_index)| {
            AddPartitionsToTxnPartitionResult { partition_index, partition_error_code: code.code() }
        });
        let topic =
            AddPartitionsToTxnTopicResult { name: "t".to_owned(), results_by_partition: results.collect() };
        let result =
            AddPartitionsToTxnResult { transactional_id: "x".to_owned(), topic_results: vec![topic] };
        AddPartitionsToTxnResponse { results_by_transaction: vec![result], ..Default::default() }
    }

    #[test]
    fn the_coordinators_word_counts_for_every_partition_or_for_none() {
        use ErrorCode::{None, OperationNotAttempted, ProducerFenced, TransactionAbortable};
        let wanted = request(&add(), true);
        assert!(wanted.transactions[0].verify_only);
        assert_eq!(wanted.transactions[0].topics[0].partitions, [0, 1, 2]);

        assert_eq!(told(&add(), false, &said(&[None; 3])), Response::Add(Ok(())));
        let lacking = Partitions::from([("t".into(), [1].into())]);
        let one_lacks = said(&[None, TransactionAbortable, None]);
        assert_eq!(told(&add(), true, &one_lacks), Response::Verify(Ok(lacking)));
        let fenced = said(&[None, ProducerFenced, None]);
        assert_eq!(told(&add(), true, &fenced), Response::Verify(Err(TransactionError::Fenced)));
        // The coordinator does not know the topic yet, or does not speak of a partition.
        let unavailable = Response::Add(Err(TransactionError::NotAvailable));
        assert_eq!(told(&add(), false, &said(&[OperationNotAttempted; 3])), unavailable);
        assert_eq!(told(&add(), false, &said(&[None; 2])), unavailable);
    }
}
