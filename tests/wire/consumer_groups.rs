//! Consumer groups (KIP-848) against the whole broker: expressions are looked up, topics that grow are seen, and a
//! member lives on when the broker starts again.

use barnabas_protocol::messages::consumer_group_heartbeat::ConsumerGroupHeartbeatResponse;
use barnabas_protocol::messages::create_partitions::CreatePartitionsTopic;
use barnabas_protocol::messages::{
    ConsumerGroupHeartbeatRequest, CreatePartitionsRequest, FindCoordinatorRequest,
};

use crate::support::{self, Client};

async fn find_coordinator(client: &mut Client) {
    let request =
        FindCoordinatorRequest { coordinator_keys: vec!["g".into()], ..FindCoordinatorRequest::default() };
    support::eventually(async || client.ask(4, &request).await.coordinators[0].error_code == 0).await;
}

fn staying(epoch: i32) -> ConsumerGroupHeartbeatRequest {
    ConsumerGroupHeartbeatRequest {
        group_id: "g".into(),
        member_id: "m".into(),
        member_epoch: epoch,
        instance_id: None,
        rack_id: None,
        subscribed_topic_names: None,
        subscribed_topic_regex: None,
        server_assignor: None,
        topic_partitions: None,
        ..ConsumerGroupHeartbeatRequest::default()
    }
}

fn share(answer: &ConsumerGroupHeartbeatResponse) -> Option<usize> {
    let assignment = answer.assignment.as_ref()?;
    Some(assignment.topic_partitions.iter().map(|topic| topic.partitions.len()).sum())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_member_by_expression_sees_topics_grow_and_outlives_a_restart() {
    let dir = tempfile::tempdir().expect("a directory");
    let more = [("group.consumer.assignment.interval.ms", "0")];
    let broker = support::start(dir.path(), &more);
    let mut client = broker.connect().await;
    support::create_topic(&mut client, "t-1", 2).await;
    find_coordinator(&mut client).await;
    let joining = ConsumerGroupHeartbeatRequest {
        subscribed_topic_regex: Some("t-[0-9]".into()),
        topic_partitions: Some(Vec::new()),
        rebalance_timeout_ms: 10_000,
        ..staying(0)
    };
    let mut epoch = 0;
    support::eventually(async || {
        let answer = client.ask(1, &joining).await;
        epoch = answer.member_epoch;
        answer.error_code == 0
    })
    .await;
    support::eventually(async || {
        let answer = client.ask(1, &staying(epoch)).await;
        epoch = answer.member_epoch;
        share(&answer) == Some(2)
    })
    .await;

    let topic = CreatePartitionsTopic { name: "t-1".into(), count: 3, assignments: None };
    let grow = CreatePartitionsRequest { topics: vec![topic], timeout_ms: 5000, ..Default::default() };
    assert_eq!(client.ask(3, &grow).await.results[0].error_code, 0);
    support::eventually(async || {
        let answer = client.ask(1, &staying(epoch)).await;
        epoch = answer.member_epoch;
        share(&answer) == Some(3)
    })
    .await;
    broker.stop().await;

    let broker = support::start(dir.path(), &more);
    let mut client = broker.connect().await;
    find_coordinator(&mut client).await;
    support::eventually(async || {
        let answer = client.ask(1, &staying(epoch)).await;
        answer.error_code == 0 && answer.member_epoch == epoch
    })
    .await;
    broker.stop().await;
}
