//! Brokers that join a cluster whose controller is another node.

use std::path::Path;
use std::sync::Arc;

use barnabas::broker::write_meta;
use barnabas::disk::{Disk, RealDisk};
use barnabas_protocol::messages::create_topics::CreatableTopic;
use barnabas_protocol::messages::{
    CreateTopicsRequest, DescribeClusterRequest, InitProducerIdRequest, MetadataRequest, MetadataResponse,
};
use barnabas_protocol::{ErrorCode, Uuid};

use crate::support::{self, Client, Running, eventually};

/// A controller that is a broker, too.
fn first(dir: &Path) -> Running {
    support::start(
        dir,
        &[
            ("process.roles", "broker,controller"),
            ("listeners", "PLAINTEXT://127.0.0.1:0,CONTROLLER://127.0.0.1:0"),
            ("controller.listener.names", "CONTROLLER"),
            ("controller.quorum.voters", "1@127.0.0.1:9093"),
        ],
    )
}

/// A broker, in the cluster of the first node.
async fn another(id: i32, dir: &Path, first: &Running) -> Running {
    let mut client = first.connect().await;
    let who = DescribeClusterRequest { endpoint_type: 1, ..Default::default() };
    let cluster_id = client.ask(1, &who).await.cluster_id;
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    if !dir.join("meta.properties").exists() {
        write_meta(&disk, dir, &cluster_id, id, Uuid([id as u8; 16])).expect("a directory");
    }
    let (node_id, voter) = (id.to_string(), format!("1@127.0.0.1:{}", first.port("CONTROLLER")));
    support::join(
        dir,
        &[
            ("process.roles", "broker"),
            ("node.id", &node_id),
            ("listeners", "PLAINTEXT://127.0.0.1:0"),
            ("controller.listener.names", "CONTROLLER"),
            ("controller.quorum.voters", &voter),
        ],
    )
    .await
}

async fn metadata(client: &mut Client) -> MetadataResponse {
    client.ask(12, &MetadataRequest { topics: None, ..Default::default() }).await
}

async fn brokers(client: &mut Client) -> Vec<i32> {
    metadata(client).await.brokers.iter().map(|broker| broker.node_id).collect()
}

/// The leaders of the topic's partitions; empty while it is not known.
async fn leaders(client: &mut Client) -> Vec<i32> {
    let answer = metadata(client).await;
    let topic = answer.topics.iter().find(|topic| topic.name.as_deref() == Some("t"));
    topic
        .map_or_else(Vec::new, |topic| topic.partitions.iter().map(|partition| partition.leader_id).collect())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broker_joins_asks_the_controller_and_hands_over_when_it_stops() {
    let (one, two) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    let node_one = first(one.path());
    let node_two = another(2, two.path(), &node_one).await;
    let (mut client_one, mut client_two) = (node_one.connect().await, node_two.connect().await);
    eventually(async || brokers(&mut client_one).await == [1, 2]).await;
    eventually(async || brokers(&mut client_two).await == [1, 2]).await;

    let topic = CreatableTopic {
        name: "t".to_owned(),
        num_partitions: 4,
        replication_factor: 1,
        ..Default::default()
    };
    let request = CreateTopicsRequest { topics: vec![topic], timeout_ms: 10_000, ..Default::default() };
    let created = client_two.ask(7, &request).await;
    assert_eq!(created.topics[0].error_code, 0, "{created:?}");
    let again = client_two.ask(7, &request).await;
    assert_eq!(again.topics[0].error_code, ErrorCode::TopicAlreadyExists.code());
    eventually(async || leaders(&mut client_one).await.len() == 4).await;
    eventually(async || leaders(&mut client_two).await == leaders(&mut client_one).await).await;

    let ids = [&mut client_one, &mut client_two];
    let mut given = Vec::new();
    let fresh = InitProducerIdRequest {
        transactional_id: None,
        producer_id: -1,
        producer_epoch: -1,
        ..Default::default()
    };
    for client in ids {
        given.push(client.ask(4, &fresh).await.producer_id);
    }
    assert_eq!(given, [0, 1000], "each broker has its own block");

    node_two.stop().await;
    assert_eq!(brokers(&mut client_one).await, [1], "it took its leave");
    let node_two = another(2, two.path(), &node_one).await;
    eventually(async || brokers(&mut client_one).await == [1, 2]).await;
    node_two.stop().await;
    node_one.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broker_that_is_not_let_in_yet_serves_nobody() {
    let dirs = [(); 3].map(|()| tempfile::tempdir().expect("a directory"));
    let node_one = first(dirs[0].path());
    let node_two = another(2, dirs[1].path(), &node_one).await;
    let mut client_one = node_one.connect().await;
    eventually(async || brokers(&mut client_one).await == [1, 2]).await;

    // The controller does not register it while the other one of this id is there.
    let twin = another(2, dirs[2].path(), &node_one).await;
    let mut client_twin = twin.connect().await;
    let asked = tokio::spawn(async move { metadata(&mut client_twin).await });
    node_two.stop().await;
    let answer = asked.await.expect("an answer");
    // Nor does it serve before it is unfenced: whoever asks it finds it among the brokers.
    let itself = answer.brokers.iter().find(|broker| broker.node_id == 2).map(|broker| broker.port);
    assert_eq!(itself, Some(i32::from(twin.port("PLAINTEXT"))), "{answer:?}");
    twin.stop().await;
    node_one.stop().await;
}
