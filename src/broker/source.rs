//! Where the node has its metadata from: a controller in this process, or the log of another one.

use std::sync::Arc;

use tokio::task::JoinHandle;

use super::claim::Claim;
use super::listen::{self, Bound};
use super::{BrokerError, Doors, rules};
use crate::config::{self, Config};
use crate::controller::image::Endpoint;
use crate::controller::observer::{self, Observer};
use crate::controller::{self, Controller, Leadership, Metadata, Node, Opening};
use crate::ids::Uuid;
use crate::peer::{Address, Peers};
use crate::shutdown::Shutdown;

/// See the module.
pub struct Source {
    /// What is known of the cluster.
    pub metadata: Metadata,
    /// The controller in this process.
    pub controller: Option<Controller>,
    /// Who leads the metadata log.
    pub leadership: Leadership,
    /// Calls to other nodes.
    pub peers: Peers,
    /// Follows the log of another node.
    pub follows: Option<JoinHandle<()>>,
}

fn peers(config: &Config, doors: &Doors) -> Peers {
    let name = format!("barnabas-{}", config.node_id);
    Peers::new(doors.network.clone(), doors.spawner, doors.clock.clone(), doors.rng.clone(), &name)
}

fn leadership(config: &Config) -> Leadership {
    let voters = config.metadata.voters.iter();
    let voters = voters.map(|voter| (voter.id, Address { host: voter.host.clone(), port: voter.port }));
    let bootstrap = config.metadata.bootstrap_servers.iter().filter_map(|text| {
        let (host, port) = text.rsplit_once(':')?;
        Some(Address { host: host.to_owned(), port: port.parse().ok()? })
    });
    Leadership::new(voters.collect(), bootstrap.collect())
}

fn opening(config: &Config, doors: &Doors, claim: &Claim) -> Opening {
    let metadata = claim.dirs.iter().find(|dir| dir.path == config.metadata_log_dir);
    Opening {
        disk: doors.disk.clone(),
        dir: config.metadata_log_dir.clone(),
        node: config.node_id,
        cluster_id: claim.cluster_id.clone(),
        clean: metadata.is_none_or(|dir| dir.clean),
        log_dirs: claim.dirs.iter().map(|dir| dir.path.clone()).collect(),
        fresh: claim.fresh,
        segment_bytes: u32::try_from(config.metadata.segment_bytes).unwrap_or_default(),
        hash_seed: doors.rng.next_u64(),
    }
}

fn controller_doors(doors: &Doors) -> controller::Doors {
    controller::Doors { clock: doors.clock.clone(), rng: doors.rng.clone(), spawner: doors.spawner }
}

/// Listeners as others are told of them, with the ports that were bound.
pub fn endpoints(told: &[config::Listener], bound: &[Bound]) -> Vec<Endpoint> {
    let endpoint = |listener: config::Listener| Endpoint {
        listener: listener.name.into(),
        host: listener.host.into(),
        port: listener.port,
        security_protocol: listener.protocol.code(),
    };
    listen::advertised(told, bound).into_iter().map(endpoint).collect()
}

impl Source {
    /// A controller in this process, which leads when this returns. Blocks.
    ///
    /// # Errors
    /// The metadata log cannot be read or written.
    pub fn here(
        config: &Arc<Config>,
        doors: &Doors,
        claim: &Claim,
        bound: &[Bound],
    ) -> Result<Source, BrokerError> {
        let topics = config.topic_defaults.config();
        let node = Node {
            id: config.node_id,
            joins_alone: config.roles.broker,
            incarnation: doors.rng.uuid(),
            endpoints: endpoints(&config.network.advertised, bound),
            controller_endpoints: endpoints(&config.network.controller_listeners, bound),
            rack: config.rack.clone(),
            directories: claim.dirs.iter().map(|dir| dir.id).collect(),
            min_insync_replicas: topics.min_insync_replicas,
            stopped_cleanly: claim.dirs.iter().all(|dir| dir.clean),
        };
        let replication = &config.replication;
        let settings = controller::Settings {
            node_id: config.node_id,
            num_partitions: config.topics.num_partitions,
            default_replication_factor: config.topics.default_replication_factor,
            min_insync_replicas: usize::try_from(topics.min_insync_replicas).unwrap_or(1),
            unclean_leader_election: topics.unclean_leader_election,
            snapshot_bytes: snapshot_bytes(config),
            session_timeout_ms: replication.session_timeout_ms,
            disconnect_grace_ms: replication.disconnect_grace_ms,
            rebalance_interval_ms: replication
                .auto_leader_rebalance
                .then_some(replication.leader_imbalance_check_interval_ms),
        };
        let rules = Arc::new(rules::Rules(config.clone()));
        let opening = opening(config, doors, claim);
        let controller = Controller::open(&opening, &node, settings, rules, controller_doors(doors))?;
        Ok(Source {
            metadata: controller.metadata().clone(),
            controller: Some(controller),
            leadership: leadership(config),
            peers: peers(config, doors),
            follows: None,
        })
    }

    /// The log of the active controller, which is elsewhere; followed up to its end when this returns.
    ///
    /// # Errors
    /// The copy of the log cannot be read or written.
    pub async fn elsewhere(
        config: &Arc<Config>,
        doors: &Doors,
        claim: &Claim,
        shutdown: Shutdown,
    ) -> Result<Source, BrokerError> {
        let (peers, leadership) = (peers(config, doors), leadership(config));
        let metadata = claim.dirs.iter().find(|dir| dir.path == config.metadata_log_dir);
        let settings = observer::Settings {
            directory: metadata.map_or(Uuid::ZERO, |dir| dir.id),
            snapshot_bytes: snapshot_bytes(config),
        };
        let opening = opening(config, doors, claim);
        let (peers_too, leadership_too) = (peers.clone(), leadership.clone());
        let (observer, metadata) =
            Observer::open(&opening, settings, peers_too, leadership_too, controller_doors(doors))?;
        let mut caught_up = observer.caught_up();
        let follows = doors.spawner.spawn(observer.run(shutdown));
        tracing::info!("waiting for the cluster's metadata");
        // An error means that the observer has ended, which is told elsewhere.
        let _ended = caught_up.wait_for(|caught_up| *caught_up).await;
        Ok(Source { metadata, controller: None, leadership, peers, follows: Some(follows) })
    }
}

fn snapshot_bytes(config: &Config) -> u64 {
    u64::try_from(config.metadata.max_record_bytes_between_snapshots).unwrap_or_default()
}
