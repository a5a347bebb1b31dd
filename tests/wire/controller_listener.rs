//! The controller's own listener: who may ask what there, and brokers that come and go by it.

use barnabas_protocol::messages::broker_registration::{Feature, Listener};
use barnabas_protocol::messages::create_topics::CreatableTopic;
use barnabas_protocol::messages::default_principal::DefaultPrincipalData;
use barnabas_protocol::messages::{
    AllocateProducerIdsRequest, ApiVersionsRequest, BrokerHeartbeatRequest, BrokerRegistrationRequest,
    CreateTopicsRequest, CreateTopicsResponse, DescribeClusterRequest, EnvelopeRequest, Message,
    MetadataRequest,
};
use barnabas_protocol::{ApiKey, ErrorCode, Uuid};

use crate::support::{self, Client, Running, eventually};

fn start(dir: &std::path::Path) -> Running {
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

/// A broker that is not there, as far as the controller can tell: it registers, and says that it has caught up.
async fn join(controller: &mut Client, cluster_id: &str, id: i32) -> i64 {
    let versions = controller.ask(4, &versions_request()).await;
    let feature = |feature: &barnabas_protocol::messages::api_versions::SupportedFeatureKey| Feature {
        name: feature.name.clone(),
        min_supported_version: feature.min_version,
        max_supported_version: feature.max_version,
    };
    let request = BrokerRegistrationRequest {
        broker_id: id,
        cluster_id: cluster_id.to_owned(),
        incarnation_id: Uuid([id as u8; 16]),
        listeners: vec![Listener {
            name: "PLAINTEXT".to_owned(),
            host: "nowhere".to_owned(),
            port: 9,
            security_protocol: 0,
        }],
        features: versions.supported_features.iter().map(feature).collect(),
        rack: None,
        log_dirs: vec![Uuid([id as u8 + 100; 16])],
        ..Default::default()
    };
    let registered = controller.ask(4, &request).await;
    assert_eq!(registered.error_code, 0);
    let beat = BrokerHeartbeatRequest {
        broker_id: id,
        broker_epoch: registered.broker_epoch,
        current_metadata_offset: i64::MAX,
        ..Default::default()
    };
    assert!(!controller.ask(1, &beat).await.is_fenced);
    registered.broker_epoch
}

fn versions_request() -> ApiVersionsRequest {
    ApiVersionsRequest {
        client_software_name: "test".to_owned(),
        client_software_version: "1".to_owned(),
        ..Default::default()
    }
}

async fn brokers(client: &mut Client) -> Vec<i32> {
    let answer = client.ask(12, &MetadataRequest { topics: Some(Vec::new()), ..Default::default() }).await;
    answer.brokers.iter().map(|broker| broker.node_id).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_and_nodes_have_listeners_of_their_own() {
    let dir = tempfile::tempdir().expect("a directory");
    let node = start(dir.path());
    let mut controller = node.connect_to("CONTROLLER").await;
    let keys = |answer: barnabas_protocol::messages::ApiVersionsResponse| -> Vec<i16> {
        answer.api_keys.iter().map(|api| api.api_key).collect()
    };
    let here = keys(controller.ask(4, &versions_request()).await);
    assert!(here.contains(&ApiKey::BrokerHeartbeat.key()) && !here.contains(&ApiKey::Produce.key()));
    let mut client = node.connect().await;
    let there = keys(client.ask(4, &versions_request()).await);
    assert!(!there.contains(&ApiKey::BrokerHeartbeat.key()) && there.contains(&ApiKey::Produce.key()));
    let controllers = DescribeClusterRequest { endpoint_type: 2, ..Default::default() };
    let told = controller.ask(1, &controllers).await;
    assert_eq!((told.controller_id, told.brokers[0].broker_id), (1, 1));
    let wrong = client.ask(1, &controllers).await;
    assert_eq!(wrong.error_code, ErrorCode::MismatchedEndpointType.code());
    assert!(controller.try_ask(12, &MetadataRequest::default()).await.is_none(), "not for controllers");
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broker_is_in_the_cluster_while_its_heartbeats_connection_stands() {
    let dir = tempfile::tempdir().expect("a directory");
    let node = start(dir.path());
    let mut client = node.connect().await;
    let cluster_id =
        client.ask(1, &DescribeClusterRequest { endpoint_type: 1, ..Default::default() }).await.cluster_id;
    let mut other = node.connect_to("CONTROLLER").await;
    let epoch = join(&mut other, &cluster_id, 2).await;
    assert_eq!(brokers(&mut client).await, [1, 2]);
    let block = AllocateProducerIdsRequest { broker_id: 2, broker_epoch: epoch };
    assert_eq!(other.ask(0, &block).await.producer_id_len, 1000);
    let stale = AllocateProducerIdsRequest { broker_id: 2, broker_epoch: epoch + 1 };
    assert_eq!(other.ask(0, &stale).await.error_code, ErrorCode::StaleBrokerEpoch.code());

    let topic = CreatableTopic {
        name: "t".to_owned(),
        num_partitions: 2,
        replication_factor: 2,
        ..Default::default()
    };
    let created =
        forwarded(&mut other, &CreateTopicsRequest { topics: vec![topic], ..Default::default() }).await;
    assert_eq!(created.topics[0].error_code, 0, "{created:?}");

    drop(other);
    eventually(async || brokers(&mut client).await == [1]).await;
    let all = client.ask(12, &MetadataRequest { topics: None, ..Default::default() }).await;
    let led = all.topics[0].partitions.iter().map(|partition| partition.leader_id).collect::<Vec<_>>();
    assert_eq!(led, [1, 1], "what the other one led is led here");
    node.stop().await;
}

/// What a broker does with a request of a client's that only the controller can answer.
async fn forwarded(controller: &mut Client, request: &CreateTopicsRequest) -> CreateTopicsResponse {
    let frame = support::frame(ApiKey::CreateTopics, 7, 5, |out| out.extend(request.to_bytes(7)));
    let who = DefaultPrincipalData {
        r#type: "User".to_owned(),
        name: "ANONYMOUS".to_owned(),
        ..Default::default()
    };
    let mut principal = vec![0, 0];
    principal.extend(who.to_bytes(0));
    let envelope = EnvelopeRequest {
        request_data: frame[4..].to_vec().into(),
        request_principal: Some(principal.into()),
        client_host_address: vec![127, 0, 0, 1].into(),
    };
    let answer = controller.ask(0, &envelope).await;
    assert_eq!(answer.error_code, 0);
    let data = answer.response_data.expect("an answer inside");
    // Correlation id and tagged fields.
    CreateTopicsResponse::from_bytes(&data[5..], 7).expect("a body")
}
