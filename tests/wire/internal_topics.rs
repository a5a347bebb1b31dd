//! The topics behind the coordinators may be deleted, and come again.

use barnabas_protocol::messages::delete_topics::DeleteTopicState;
use barnabas_protocol::messages::offset_commit::{OffsetCommitRequestPartition, OffsetCommitRequestTopic};
use barnabas_protocol::messages::offset_fetch::{OffsetFetchRequestGroup, OffsetFetchRequestTopics};
use barnabas_protocol::messages::{
    DeleteTopicsRequest, FindCoordinatorRequest, OffsetCommitRequest, OffsetFetchRequest,
};

use crate::support::{self, Client};

async fn find_coordinator(client: &mut Client) {
    let request =
        FindCoordinatorRequest { coordinator_keys: vec!["g".into()], ..FindCoordinatorRequest::default() };
    support::eventually(async || client.ask(4, &request).await.coordinators[0].error_code == 0).await;
}

/// Commits an offset for the group; true if it was taken.
async fn commit(client: &mut Client, offset: i64) -> bool {
    let partition = OffsetCommitRequestPartition { committed_offset: offset, ..Default::default() };
    let topic =
        OffsetCommitRequestTopic { name: "t".into(), partitions: vec![partition], ..Default::default() };
    let request = OffsetCommitRequest {
        group_id: "g".into(),
        generation_id_or_member_epoch: -1,
        topics: vec![topic],
        ..OffsetCommitRequest::default()
    };
    client.ask(8, &request).await.topics[0].partitions[0].error_code == 0
}

/// The group's offset; none while its coordinator still loads.
async fn committed(client: &mut Client) -> Option<i64> {
    let topic =
        OffsetFetchRequestTopics { name: "t".into(), partition_indexes: vec![0], ..Default::default() };
    let group = OffsetFetchRequestGroup {
        group_id: "g".into(),
        topics: Some(vec![topic]),
        member_id: None,
        ..Default::default()
    };
    let request = OffsetFetchRequest { groups: vec![group], ..OffsetFetchRequest::default() };
    let answer = client.ask(8, &request).await;
    answer.groups[0].topics.first().map(|topic| topic.partitions[0].committed_offset)
}

#[tokio::test(flavor = "multi_thread")]
async fn offsets_are_gone_with_their_topic_and_new_ones_are_kept() {
    let dir = tempfile::tempdir().expect("a directory");
    let broker = support::start(dir.path(), &[]);
    let mut client = broker.connect().await;
    support::create_topic(&mut client, "t", 1).await;
    find_coordinator(&mut client).await;
    support::eventually(async || commit(&mut client, 7).await).await;
    assert_eq!(committed(&mut client).await, Some(7));

    let doomed = DeleteTopicState { name: Some("__consumer_offsets".into()), ..Default::default() };
    let request = DeleteTopicsRequest { topics: vec![doomed], timeout_ms: 5000, ..Default::default() };
    assert_eq!(client.ask(6, &request).await.responses[0].error_code, 0);
    find_coordinator(&mut client).await;
    support::eventually(async || commit(&mut client, 9).await).await;
    assert_eq!(committed(&mut client).await, Some(9));
    broker.stop().await;

    let broker = support::start(dir.path(), &[]);
    let mut client = broker.connect().await;
    find_coordinator(&mut client).await;
    support::eventually(async || committed(&mut client).await == Some(9)).await;
    broker.stop().await;
}
