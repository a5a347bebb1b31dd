//! Three nodes that are broker and controller each: they elect, decide, and go on while one is away.

use std::sync::Arc;

use barnabas::broker::{Broker, write_meta};
use barnabas::clock::Clock;
use barnabas::controller::format::format;
use barnabas::controller::voters::{Endpoint, Voter, Voters};
use barnabas::disk::{Disk, RealDisk};
use barnabas_protocol::Uuid;
use barnabas_protocol::messages::create_topics::CreatableTopic;
use barnabas_protocol::messages::describe_quorum::{RequestPartitionData, RequestTopicData};
use barnabas_protocol::messages::{
    CreateTopicsRequest, DescribeClusterRequest, DescribeQuorumRequest, DescribeQuorumResponse,
    MetadataRequest, MetadataResponse,
};

use crate::support::{self, Client, Running, batch, eventually, fetch_request, produce_request};

const CLUSTER: &str = "AAAAAAAAAAAAAAAAAAAABQ";
const NODES: [i32; 3] = [1, 2, 3];

/// Three directories and ports.
struct Plan {
    home: tempfile::TempDir,
    ports: [u16; 3],
    /// The log says who votes (`format --initial-controllers`), not `controller.quorum.voters`.
    dynamic: bool,
}

fn directory_id(node: i32) -> Uuid {
    Uuid([node as u8; 16])
}

impl Plan {
    /// Formats the three nodes.
    fn new(dynamic: bool) -> Plan {
        let taken = NODES.map(|_| std::net::TcpListener::bind("127.0.0.1:0").expect("a port"));
        let ports = taken.map(|listener| listener.local_addr().expect("bound").port());
        let plan = Plan { home: tempfile::tempdir().expect("a directory"), ports, dynamic };
        let voter = |(node, port): (i32, u16)| {
            let endpoint = Endpoint { name: "CONTROLLER".to_owned(), host: "127.0.0.1".to_owned(), port };
            (node, Voter { directory: directory_id(node), endpoints: vec![endpoint] })
        };
        let voters = Voters::all_of(NODES.into_iter().zip(ports).map(voter));
        let disk: Arc<dyn Disk> = Arc::new(RealDisk);
        for node in NODES {
            let dir = plan.dir(node);
            std::fs::create_dir(&dir).expect("a directory");
            let now = Clock::system().now();
            format(disk.as_ref(), &dir, dynamic.then_some(&voters), now).expect("formatted");
            write_meta(&disk, &dir, CLUSTER, node, directory_id(node)).expect("formatted");
        }
        plan
    }

    fn dir(&self, node: i32) -> std::path::PathBuf {
        self.home.path().join(node.to_string())
    }

    fn more(&self, node: i32) -> Vec<(&'static str, String)> {
        let port = self.ports[usize::try_from(node - 1).expect("a node")];
        let listeners = format!("PLAINTEXT://127.0.0.1:0,CONTROLLER://127.0.0.1:{port}");
        let voters: Vec<String> =
            NODES.iter().zip(self.ports).map(|(node, port)| format!("{node}@127.0.0.1:{port}")).collect();
        let bootstrap: Vec<String> = self.ports.iter().map(|port| format!("127.0.0.1:{port}")).collect();
        let others = if self.dynamic {
            ("controller.quorum.bootstrap.servers", bootstrap.join(","))
        } else {
            ("controller.quorum.voters", voters.join(","))
        };
        vec![
            ("process.roles", "broker,controller".to_owned()),
            ("node.id", node.to_string()),
            ("listeners", listeners),
            ("controller.listener.names", "CONTROLLER".to_owned()),
            others,
        ]
    }

    async fn start(&self, node: i32) -> Running {
        let more = self.more(node);
        let more: Vec<(&str, &str)> = more.iter().map(|(key, value)| (*key, value.as_str())).collect();
        support::join(&self.dir(node), &more).await
    }

    /// Why a node does not start.
    async fn refused(&self, node: i32) -> String {
        let more = self.more(node);
        let more: Vec<(&str, &str)> = more.iter().map(|(key, value)| (*key, value.as_str())).collect();
        let config = support::settings(&self.dir(node), 0, &more);
        let refused = Broker::join(config, &support::real_doors()).await;
        refused.err().expect("it does not start").to_string()
    }

    async fn start_all(&self) -> [Running; 3] {
        tokio::join!(self.start(1), self.start(2), self.start(3)).into()
    }
}

async fn metadata(client: &mut Client) -> MetadataResponse {
    client.ask(12, &MetadataRequest { topics: None, ..Default::default() }).await
}

async fn brokers(client: &mut Client) -> Vec<i32> {
    metadata(client).await.brokers.iter().map(|broker| broker.node_id).collect()
}

/// Leader and ISR of the only partition of a topic.
async fn partition(client: &mut Client, name: &str) -> (i32, Vec<i32>) {
    let answer = metadata(client).await;
    let topic = answer.topics.iter().find(|topic| topic.name.as_deref() == Some(name));
    let Some(partition) = topic.and_then(|topic| topic.partitions.first()) else { return (-1, Vec::new()) };
    let mut isr = partition.isr_nodes.clone();
    isr.sort_unstable();
    (partition.leader_id, isr)
}

async fn create(client: &mut Client, name: &str, replication_factor: i16) -> Uuid {
    let topic =
        CreatableTopic { name: name.to_owned(), num_partitions: 1, replication_factor, ..Default::default() };
    let request = CreateTopicsRequest { topics: vec![topic], timeout_ms: 10_000, ..Default::default() };
    let created = client.ask(7, &request).await;
    assert_eq!(created.topics[0].error_code, 0, "{created:?}");
    created.topics[0].topic_id
}

async fn quorum(client: &mut Client) -> DescribeQuorumResponse {
    let topic = RequestTopicData {
        topic_name: "__cluster_metadata".to_owned(),
        partitions: vec![RequestPartitionData { partition_index: 0 }],
    };
    client.ask(2, &DescribeQuorumRequest { topics: vec![topic] }).await
}

/// Produces to the leader of `t` with acks=all.
async fn produce(nodes: &[Option<Running>], topic: Uuid, value: &[u8]) {
    let (mut leader, mut code) = (0, -1);
    for _ in 0..200 {
        let any = nodes.iter().flatten().next().expect("a node");
        leader = partition(&mut any.connect().await, "t").await.0;
        let at = usize::try_from(leader - 1).ok().and_then(|at| nodes.get(at)?.as_ref());
        if let Some(node) = at {
            let request = produce_request(topic, 0, batch(1, &[value]));
            let answer = node.connect().await.ask(13, &request).await;
            code = answer.responses[0].partition_responses[0].error_code;
            if code == 0 {
                return;
            }
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert_eq!(code, 0, "nobody takes records: leader {leader}");
}

async fn tells_everything(plan: &Plan) {
    let mut nodes = plan.start_all().await.map(Some);
    let at = |node: i32| usize::try_from(node - 1).expect("a node");
    let mut client = nodes[0].as_ref().expect("it runs").connect().await;
    eventually(async || brokers(&mut client).await == NODES).await;
    let topic = create(&mut client, "t", 3).await;
    eventually(async || partition(&mut client, "t").await.1 == NODES).await;
    produce(&nodes, topic, b"one").await;

    let described = quorum(&mut client).await;
    let seen = &described.topics[0].partitions[0];
    let voters: Vec<i32> = seen.current_voters.iter().map(|voter| voter.replica_id).collect();
    assert_eq!((voters, seen.observers.len()), (NODES.to_vec(), 0));
    let active = seen.leader_id;
    let mut controllers = nodes[0].as_ref().expect("it runs").connect_to("CONTROLLER").await;
    let who = DescribeClusterRequest { endpoint_type: 2, ..Default::default() };
    eventually(async || controllers.ask(1, &who).await.brokers.len() == 3).await;

    // The active controller goes, in order: another one leads, and both others serve.
    let left: Vec<i32> = NODES.into_iter().filter(|node| *node != active).collect();
    nodes[at(active)].take().expect("it runs").stop().await;
    let mut client = nodes[at(left[0])].as_ref().expect("it runs").connect().await;
    eventually(async || brokers(&mut client).await == left).await;
    eventually(async || partition(&mut client, "t").await.1 == left).await;
    create(&mut client, "u", 2).await;
    produce(&nodes, topic, b"two").await;

    // It comes back, and has everything again.
    nodes[at(active)] = Some(plan.start(active).await);
    eventually(async || brokers(&mut client).await == NODES).await;
    eventually(async || partition(&mut client, "t").await.1 == NODES).await;
    produce(&nodes, topic, b"three").await;

    // All stop, and all start.
    for node in nodes {
        node.expect("it runs").stop().await;
    }
    let nodes = plan.start_all().await.map(Some);
    let mut client = nodes[0].as_ref().expect("it runs").connect().await;
    eventually(async || partition(&mut client, "t").await.1 == NODES).await;
    let leader = partition(&mut client, "t").await.0;
    let mut client = nodes[at(leader)].as_ref().expect("it runs").connect().await;
    let fetched = client.ask(16, &fetch_request(topic, 0, 0)).await;
    let partition = &fetched.responses[0].partitions[0];
    assert_eq!((partition.error_code, partition.high_watermark), (0, 3));
    for node in nodes {
        node.expect("it runs").stop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn three_nodes_of_a_list_of_voters_elect_serve_and_come_back() {
    tells_everything(&Plan::new(false)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn three_nodes_that_were_formatted_as_voters_elect_serve_and_come_back() {
    tells_everything(&Plan::new(true)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_voter_that_lost_its_directory_does_not_start() {
    let plan = Plan::new(true);
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    write_meta(&disk, &plan.dir(2), CLUSTER, 2, Uuid([9; 16])).expect("another directory");
    let refused = plan.refused(2).await;
    assert!(refused.contains("must not vote as if it had not"), "{refused}");
    let log = plan.dir(3).join("__cluster_metadata-0");
    std::fs::remove_dir_all(log).expect("it was there");
    let refused = plan.refused(3).await;
    assert!(refused.contains("it is gone, though the directory is in use"), "{refused}");
}
