//! The metadata log from outside: what is asked of its leader on the controller's listener, and a node that follows it.

use std::path::Path;
use std::sync::Arc;

use barnabas::clock::Clock;
use barnabas::controller::{Doors, Leadership, Observer, Opening, TOPIC_ID, TOPIC_NAME, observer};
use barnabas::disk::RealDisk;
use barnabas::net::Network;
use barnabas::peer::{Address, Peers};
use barnabas::rng::Rng;
use barnabas::shutdown;
use barnabas::spawn::Spawner;
use barnabas_protocol::messages::describe_quorum::{RequestPartitionData, RequestTopicData};
use barnabas_protocol::messages::fetch::{FetchPartition, FetchTopic, ReplicaState};
use barnabas_protocol::messages::fetch_snapshot::{
    RequestPartitionSnapshot, RequestTopicSnapshot, SnapshotId,
};
use barnabas_protocol::messages::{
    DescribeClusterRequest, DescribeQuorumRequest, FetchRequest, FetchResponse, FetchSnapshotRequest,
};
use barnabas_protocol::{ErrorCode, Uuid};

use crate::support::{self, Running, create_topic, eventually};

fn start(dir: &Path) -> Running {
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

fn fetch(epoch: i32, offset: i64, last_epoch: i32) -> FetchRequest {
    let partition = FetchPartition {
        current_leader_epoch: epoch,
        fetch_offset: offset,
        last_fetched_epoch: last_epoch,
        replica_directory_id: Uuid([9; 16]),
        ..Default::default()
    };
    FetchRequest {
        max_wait_ms: 60_000,
        replica_state: ReplicaState { replica_id: 7, replica_epoch: -1 },
        topics: vec![FetchTopic { topic_id: TOPIC_ID, partitions: vec![partition], ..Default::default() }],
        ..Default::default()
    }
}

fn code(answer: &FetchResponse) -> i16 {
    answer.responses[0].partitions[0].error_code
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_who_knows_the_leaders_epoch_gets_the_log() {
    let dir = tempfile::tempdir().expect("a directory");
    let node = start(dir.path());
    let mut controller = node.connect_to("CONTROLLER").await;
    let behind = controller.ask(17, &fetch(0, 0, 0)).await;
    assert_eq!(code(&behind), ErrorCode::FencedLeaderEpoch.code());
    let leader = behind.responses[0].partitions[0].current_leader.clone();
    assert_eq!((leader.leader_id, leader.leader_epoch), (1, 1), "who leads is said all the same");
    assert_eq!(behind.node_endpoints[0].node_id, 1, "and where it is");
    let ahead = controller.ask(17, &fetch(2, 0, 0)).await;
    assert_eq!(code(&ahead), ErrorCode::UnknownLeaderEpoch.code());

    let foreign = FetchRequest { cluster_id: Some("another".to_owned()), ..fetch(1, 0, 0) };
    assert_eq!(controller.ask(17, &foreign).await.error_code, ErrorCode::InconsistentClusterId.code());
    let mut other_topic = fetch(1, 0, 0);
    other_topic.topics[0].topic_id = Uuid([3; 16]);
    assert_eq!(controller.ask(17, &other_topic).await.error_code, ErrorCode::InvalidRequest.code());
    assert_eq!(code(&controller.ask(17, &fetch(1, -5, 0)).await), ErrorCode::InvalidRequest.code());

    let all = controller.ask(17, &fetch(1, 0, 0)).await;
    let partition = &all.responses[0].partitions[0];
    assert!(partition.records.as_ref().is_some_and(|records| records.len() > 100));
    let past = controller.ask(17, &fetch(1, partition.high_watermark + 10, 1)).await;
    let diverging = past.responses[0].partitions[0].diverging_epoch.clone();
    assert_eq!((diverging.epoch, diverging.end_offset), (1, partition.high_watermark));

    let none = SnapshotId { end_offset: 5, epoch: 1 };
    let asked = RequestPartitionSnapshot { current_leader_epoch: 1, snapshot_id: none, ..Default::default() };
    let topic = RequestTopicSnapshot { name: TOPIC_NAME.to_owned(), partitions: vec![asked] };
    let snapshot = FetchSnapshotRequest { topics: vec![topic], ..Default::default() };
    let answer = controller.ask(1, &snapshot).await;
    assert_eq!(answer.topics[0].partitions[0].error_code, ErrorCode::SnapshotNotFound.code());
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_has_everything_waits_for_the_next_change() {
    let dir = tempfile::tempdir().expect("a directory");
    let node = start(dir.path());
    let mut controller = node.connect_to("CONTROLLER").await;
    let all = controller.ask(17, &fetch(1, 0, 0)).await;
    let end = all.responses[0].partitions[0].high_watermark;
    let id = controller.send(17, &fetch(1, end, 1)).await;
    let mut client = node.connect().await;
    create_topic(&mut client, "t", 1).await;
    let news = controller.receive::<FetchRequest>(17, id).await;
    let partition = &news.responses[0].partitions[0];
    assert!(partition.high_watermark > end && partition.records.as_ref().is_some_and(|it| !it.is_empty()));

    let partitions = vec![RequestPartitionData::default()];
    let topics = vec![RequestTopicData { topic_name: TOPIC_NAME.to_owned(), partitions }];
    let quorum = client.ask(2, &DescribeQuorumRequest { topics }).await;
    let observers = &quorum.topics[0].partitions[0].observers;
    assert_eq!(observers.iter().map(|observer| observer.replica_id).collect::<Vec<_>>(), [7]);
    assert_eq!((observers[0].log_end_offset, observers[0].replica_directory_id), (end, Uuid([9; 16])));
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_observer_has_the_leaders_image_also_after_restarts() {
    let (dir, own) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    let mut node = start(dir.path());
    let mut client = node.connect().await;
    let about = DescribeClusterRequest { endpoint_type: 1, ..Default::default() };
    let cluster_id = client.ask(1, &about).await.cluster_id;
    for round in 0..3 {
        let name = format!("t{round}");
        create_topic(&mut client, &name, 3).await;
        let bootstrap = vec![Address { host: "127.0.0.1".to_owned(), port: node.port("CONTROLLER") }];
        let (clock, rng) = (Clock::system(), Rng::from_seed(round));
        let spawner = Spawner::threads();
        let peers = Peers::new(Network::Tcp, spawner, clock.clone(), rng.clone(), "observer");
        let opening = Opening {
            disk: Arc::new(RealDisk),
            dir: own.path().to_path_buf(),
            node: 7,
            cluster_id: cluster_id.clone(),
            clean: round == 1,
            log_dirs: vec![own.path().to_path_buf()],
            fresh: false,
            segment_bytes: 1 << 20,
            hash_seed: 1,
        };
        let settings = observer::Settings { directory: Uuid([9; 16]), snapshot_bytes: 2000 };
        let leadership = Leadership::new(Vec::new(), bootstrap);
        let doors = Doors { clock, rng, spawner };
        let (observer, metadata) =
            Observer::open(&opening, settings, peers, leadership.clone(), doors).expect("it opens");
        let (stop, stopped) = shutdown::channel();
        let mut caught_up = observer.caught_up();
        let running = tokio::spawn(observer.run(stopped));
        caught_up.wait_for(|caught_up| *caught_up).await.expect("it runs");
        assert_eq!(leadership.get().map(|leader| leader.id), Some(1));
        assert!(metadata.image().topic(&name).is_some());
        create_topic(&mut client, &format!("u{round}"), 1).await;
        eventually(async || metadata.image().topic(&format!("u{round}")).is_some()).await;
        stop.request();
        running.await.expect("it stops");
        if round == 1 {
            drop(client);
            node.stop().await;
            node = start(dir.path());
            client = node.connect().await;
        }
    }
    node.stop().await;
}
