//! Three nodes that are one cluster.

use std::time::{Duration, Instant};

use barnabas_protocol::messages::MetadataRequest;

use crate::Wire;
use crate::broker::{Broker, fail, pause};

/// How long a cluster may take to be whole again.
const PATIENCE: Duration = Duration::from_secs(90);

const SETTINGS: &[(&str, &str)] = &[
    ("group.initial.rebalance.delay.ms", "500"),
    ("default.replication.factor", "3"),
    ("min.insync.replicas", "2"),
    ("offsets.topic.replication.factor", "3"),
    ("offsets.topic.num.partitions", "10"),
    ("transaction.state.log.replication.factor", "3"),
    ("transaction.state.log.num.partitions", "10"),
    ("transaction.state.log.min.isr", "2"),
];

/// Ids of the directories of three voters.
const DIRECTORIES: [&str; 3] = ["JEXY6aqzQY-32P5TStzaFg", "MvDxzVmcRsaTz33bUuRU6A", "07R5amHmR32VDA6jHkGbTA"];

/// Which nodes vote for the controller. Every node is a broker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Voters {
    /// The first one.
    One,
    /// All three.
    Three,
}

/// See the module. Nodes are numbered from 1.
#[derive(Debug)]
pub struct Cluster {
    nodes: Vec<Broker>,
}

impl Cluster {
    /// Starts all nodes and waits until each knows of all.
    pub fn start(voters: Voters) -> Cluster {
        let mut nodes: Vec<Broker> = (0..3).map(|_| Broker::node()).collect();
        let controllers: Vec<String> = nodes.iter().map(Broker::controller).collect();
        let voting = if voters == Voters::One { 1 } else { controllers.len() };
        let quorum: Vec<String> = controllers.into_iter().take(voting).collect();
        let initial = (1..).zip(quorum.iter().zip(DIRECTORIES));
        let initial: Vec<String> =
            initial.map(|(id, (address, directory))| format!("{id}@{address}:{directory}")).collect();
        for (id, node) in (1..).zip(&mut nodes) {
            let (votes, at) = (id <= voting, node.bootstrap());
            let (roles, listener) = if votes {
                ("broker,controller", format!(",CONTROLLER://{}", node.controller()))
            } else {
                ("broker", String::new())
            };
            let place = format!(
                "process.roles={roles}\nnode.id={id}\nlisteners=PLAINTEXT://{at}{listener}\n\
                 controller.listener.names=CONTROLLER\ncontroller.quorum.bootstrap.servers={}\n",
                quorum.join(",")
            );
            let initial = initial.join(",");
            let format: &[&str] = match (votes, voters) {
                (false, _) => &["--no-initial-controllers"],
                (true, Voters::One) => &["--standalone"],
                (true, Voters::Three) => &["--initial-controllers", &initial],
            };
            node.is_to_be(&place, SETTINGS, format);
        }
        let mut cluster = Cluster { nodes };
        cluster.power_on();
        cluster
    }

    /// Addresses of all nodes, between commas.
    pub fn bootstrap(&self) -> String {
        self.nodes.iter().map(Broker::bootstrap).collect::<Vec<_>>().join(",")
    }

    /// A node by its id, from 1 on.
    pub fn node(&mut self, id: usize) -> &mut Broker {
        match id.checked_sub(1).and_then(|index| self.nodes.get_mut(index)) {
            Some(node) => node,
            None => fail(&format!("there is no node {id}")),
        }
    }

    /// Kills every node at once.
    pub fn power_off(&mut self) {
        for node in &mut self.nodes {
            node.kill();
        }
    }

    /// Starts every node that does not run, and waits until each knows of all.
    pub fn power_on(&mut self) {
        for node in &mut self.nodes {
            if !node.is_running() {
                node.spawn();
            }
        }
        for node in &mut self.nodes {
            node.wait_until_it_answers();
        }
        self.wait_until_whole();
    }

    /// Waits until every node says that all are there, and every replica in sync.
    pub fn wait_until_whole(&self) {
        let start = Instant::now();
        for node in &self.nodes {
            while let Err(why) = self.is_whole_for(node) {
                if start.elapsed() > PATIENCE {
                    fail(&format!(
                        "the cluster is not whole for {}: {why}\n{}",
                        node.bootstrap(),
                        node.log()
                    ));
                }
                pause();
            }
        }
    }

    fn is_whole_for(&self, node: &Broker) -> Result<(), String> {
        let asked = Wire::connect(&node.bootstrap())
            .and_then(|mut wire| wire.call(12, &MetadataRequest { topics: None, ..Default::default() }));
        let metadata = asked.map_err(|error| error.to_string())?;
        if metadata.brokers.len() != self.nodes.len() {
            return Err(format!("{} brokers", metadata.brokers.len()));
        }
        let lacking = metadata.topics.iter().flat_map(|topic| {
            let name = topic.name.clone().unwrap_or_default();
            let lacking = topic.partitions.iter().filter(|p| {
                p.leader_id < 0 || p.isr_nodes.len() < p.replica_nodes.len() || !p.offline_replicas.is_empty()
            });
            lacking.map(move |p| {
                format!("{name}-{}: leader {}, in sync {:?}", p.partition_index, p.leader_id, p.isr_nodes)
            })
        });
        match lacking.collect::<Vec<_>>() {
            none if none.is_empty() => Ok(()),
            lacking => Err(lacking.join("; ")),
        }
    }
}
