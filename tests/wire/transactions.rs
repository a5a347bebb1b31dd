//! Transactional writes of clients before KIP-890, and what DeleteRecords does to an open transaction. The answers are
//! those of Apache Kafka 4.4.

use barnabas_protocol::Uuid;
use barnabas_protocol::batch::BatchBuilder;
use barnabas_protocol::messages::add_partitions_to_txn::AddPartitionsToTxnTopic;
use barnabas_protocol::messages::delete_records::{DeleteRecordsPartition, DeleteRecordsTopic};
use barnabas_protocol::messages::incremental_alter_configs::{AlterConfigsResource, AlterableConfig};
use barnabas_protocol::messages::produce::{PartitionProduceData, TopicProduceData};
use barnabas_protocol::messages::{
    AddPartitionsToTxnRequest, DeleteRecordsRequest, FetchRequest, FindCoordinatorRequest,
    IncrementalAlterConfigsRequest, InitProducerIdRequest, ProduceRequest,
};

use crate::support::{self, Client, Running};

/// The last version before partitions join by themselves.
const OLD_PRODUCE: i16 = 11;
const OUT_OF_ORDER: i16 = 45;
const TRANSACTION_ABORTABLE: i16 = 120;

struct Producer {
    client: Client,
    topic: Uuid,
    id: i64,
    epoch: i16,
}

async fn producer(broker: &Running) -> Producer {
    let mut client = broker.connect().await;
    let topic = support::create_topic(&mut client, "t", 1).await;
    let find = FindCoordinatorRequest {
        key_type: 1,
        coordinator_keys: vec!["x".into()],
        ..FindCoordinatorRequest::default()
    };
    let init = InitProducerIdRequest {
        transactional_id: Some("x".into()),
        transaction_timeout_ms: 60_000,
        ..InitProducerIdRequest::default()
    };
    support::eventually(async || client.ask(4, &find).await.coordinators[0].error_code == 0).await;
    let (mut id, mut epoch) = (-1, -1);
    support::eventually(async || {
        let response = client.ask(5, &init).await;
        (id, epoch) = (response.producer_id, response.producer_epoch);
        response.error_code == 0
    })
    .await;
    Producer { client, topic, id, epoch }
}

impl Producer {
    async fn send(&mut self, sequence: i32) -> i16 {
        let mut batch = BatchBuilder::new().producer(self.id, self.epoch, sequence).transactional();
        batch.append(1_767_225_600_000, None, Some(b"value"));
        let records = batch.finish().expect("a batch");
        let data = PartitionProduceData { index: 0, records: Some(records.into()) };
        let topic = TopicProduceData { name: "t".into(), partition_data: vec![data], ..Default::default() };
        let transactional_id = Some("x".into());
        let request =
            ProduceRequest { acks: -1, timeout_ms: 1000, topic_data: vec![topic], transactional_id };
        let response = self.client.ask(OLD_PRODUCE, &request).await;
        response.responses[0].partition_responses[0].error_code
    }

    async fn add(&mut self) {
        let topic = AddPartitionsToTxnTopic { name: "t".into(), partitions: vec![0] };
        let request = AddPartitionsToTxnRequest {
            v3_and_below_transactional_id: "x".into(),
            v3_and_below_producer_id: self.id,
            v3_and_below_producer_epoch: self.epoch,
            v3_and_below_topics: vec![topic],
            ..AddPartitionsToTxnRequest::default()
        };
        let response = self.client.ask(3, &request).await;
        let code = response.results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code;
        assert_eq!(code, 0);
    }

    async fn verify(&mut self, on: bool) {
        let config = AlterableConfig {
            name: "transaction.partition.verification.enable".into(),
            config_operation: 0,
            value: Some(on.to_string()),
        };
        let brokers =
            AlterConfigsResource { resource_type: 4, resource_name: String::new(), configs: vec![config] };
        let request = IncrementalAlterConfigsRequest { resources: vec![brokers], validate_only: false };
        let response = self.client.ask(1, &request).await;
        assert_eq!(response.responses[0].error_code, 0, "{response:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_old_clients_first_batch_is_the_one_with_the_lowest_sequence() {
    let dir = tempfile::tempdir().expect("a directory");
    let broker = support::start(dir.path(), &[("transaction.state.log.replication.factor", "1")]);
    let mut producer = producer(&broker).await;
    assert_eq!(producer.send(0).await, TRANSACTION_ABORTABLE, "the partition was not added");
    producer.add().await;
    assert_eq!(producer.send(1).await, OUT_OF_ORDER, "0 was seen and is not there");
    assert_eq!(producer.send(0).await, 0);
    assert_eq!(producer.send(1).await, 0);
    broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn verification_can_be_switched_off_and_on_while_the_broker_runs() {
    let dir = tempfile::tempdir().expect("a directory");
    let broker = support::start(dir.path(), &[("transaction.state.log.replication.factor", "1")]);
    let mut producer = producer(&broker).await;
    producer.verify(false).await;
    // As the reference: neither the coordinator nor the lowest sequence is asked for.
    assert_eq!(producer.send(3).await, 0);
    assert_eq!(producer.send(9).await, OUT_OF_ORDER);
    producer.verify(true).await;
    producer.epoch += 1;
    assert_ne!(producer.send(0).await, 0, "no such epoch");
    broker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_stable_offset_is_never_before_the_logs_start() {
    let dir = tempfile::tempdir().expect("a directory");
    let broker = support::start(dir.path(), &[("transaction.state.log.replication.factor", "1")]);
    let mut producer = producer(&broker).await;
    producer.add().await;
    assert_eq!(producer.send(0).await, 0);
    assert_eq!(producer.send(1).await, 0);
    let all = DeleteRecordsPartition { partition_index: 0, offset: -1 };
    let topic = DeleteRecordsTopic { name: "t".into(), partitions: vec![all] };
    let delete = DeleteRecordsRequest { topics: vec![topic], timeout_ms: 5000 };
    assert_eq!(producer.client.ask(2, &delete).await.topics[0].partitions[0].error_code, 0);
    let fetch = FetchRequest { isolation_level: 1, ..support::fetch_request(producer.topic, 0, 2) };
    let response = producer.client.ask(17, &fetch).await;
    let partition = &response.responses[0].partitions[0];
    assert_eq!((partition.error_code, partition.log_start_offset), (0, 2));
    assert_eq!(partition.last_stable_offset, 2);
    broker.stop().await;
}
