//! Where the node has its metadata from: a controller in this process, or the log of another one.

use std::sync::Arc;

use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::claim::Claim;
use super::listen::{self, Bound};
use super::{BrokerError, Doors, rules};
use crate::broker_lifecycle::ControllerIdentity;
use crate::config::{self, Config};
use crate::controller::image::Endpoint;
use crate::controller::observer::{self, Observer};
use crate::controller::voters::{self, Voter, Voters};
use crate::controller::{self, Controller, Leadership, Metadata, Node, Opening, Way, raft};
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
    /// What the controller in this process says of itself to the others.
    pub among_others: Option<ControllerIdentity>,
    /// Turns true when the metadata is as new as the cluster's at the start; none if it is from the start.
    pub caught_up: Option<watch::Receiver<bool>>,
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
    /// Opens the log. The wish to stop ends the following of others. Blocks.
    ///
    /// # Errors
    /// The metadata log cannot be read or written.
    pub fn open(
        config: &Arc<Config>,
        doors: &Doors,
        claim: &Claim,
        bound: &[Bound],
        shutdown: &Shutdown,
    ) -> Result<Source, BrokerError> {
        if config.roles.controller {
            Source::here(config, doors, claim, bound)
        } else {
            Source::elsewhere(config, doors, claim, shutdown.clone())
        }
    }

    /// A controller in this process; one that is alone leads when this returns.
    fn here(
        config: &Arc<Config>,
        doors: &Doors,
        claim: &Claim,
        bound: &[Bound],
    ) -> Result<Source, BrokerError> {
        let opening = opening(config, doors, claim);
        let seats = raft::seats(&opening, &configured_voters(config), metadata_directory(config, claim))?;
        let node = Node {
            id: config.node_id,
            joins_alone: config.roles.broker && seats.is_none(),
            incarnation: doors.rng.uuid(),
            endpoints: endpoints(&config.network.advertised, bound),
            controller_endpoints: endpoints(&config.network.controller_listeners, bound),
            rack: config.rack.clone(),
            directories: claim.dirs.iter().map(|dir| dir.id).collect(),
            min_insync_replicas: config.topic_defaults.config().min_insync_replicas,
            stopped_cleanly: claim.dirs.iter().all(|dir| dir.clean),
        };
        let (settings, rules) = (settings(config), Arc::new(rules::Rules(config.clone())));
        let (peers, leadership, doors) = (peers(config, doors), leadership(config), controller_doors(doors));
        let among_others = seats.is_some().then(|| ControllerIdentity {
            node_id: node.id,
            incarnation: node.incarnation,
            endpoints: node.controller_endpoints.clone(),
            features: controller::state::features::supported(),
        });
        let (controller, caught_up) = match seats {
            None => (Controller::open(&opening, &node, settings, rules, doors)?, None),
            Some(seats) => {
                let way = Way {
                    peers: peers.clone(),
                    leadership: leadership.clone(),
                    fetch_timeout_ms: config.metadata.fetch_timeout_ms,
                };
                let (controller, caught_up) =
                    Controller::vote(&opening, &seats, way, &node, settings, rules, doors)?;
                (controller, Some(caught_up))
            }
        };
        let (metadata, controller) = (controller.metadata().clone(), Some(controller));
        Ok(Source { metadata, controller, leadership, peers, follows: None, among_others, caught_up })
    }

    /// The log of the active controller, which is elsewhere.
    fn elsewhere(
        config: &Arc<Config>,
        doors: &Doors,
        claim: &Claim,
        shutdown: Shutdown,
    ) -> Result<Source, BrokerError> {
        let (peers, leadership) = (peers(config, doors), leadership(config));
        let settings = observer::Settings {
            directory: metadata_directory(config, claim),
            snapshot_bytes: snapshot_bytes(config),
        };
        let opening = opening(config, doors, claim);
        let (peers_too, leadership_too) = (peers.clone(), leadership.clone());
        let (observer, metadata) =
            Observer::open(&opening, settings, peers_too, leadership_too, controller_doors(doors))?;
        let caught_up = Some(observer.caught_up());
        let follows = Some(doors.spawner.spawn(observer.run(shutdown)));
        Ok(Source { metadata, controller: None, leadership, peers, follows, among_others: None, caught_up })
    }
}

fn settings(config: &Config) -> controller::Settings {
    let (topics, replication) = (config.topic_defaults.config(), &config.replication);
    controller::Settings {
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
    }
}

/// `controller.quorum.voters`.
fn configured_voters(config: &Config) -> Voters {
    let name = config.network.controller_listener_names.first().cloned().unwrap_or_default();
    let voter = |voter: &config::broker::Voter| {
        let endpoint = voters::Endpoint { name: name.clone(), host: voter.host.clone(), port: voter.port };
        (voter.id, Voter { directory: Uuid::ZERO, endpoints: vec![endpoint] })
    };
    Voters::all_of(config.metadata.voters.iter().map(voter))
}

fn metadata_directory(config: &Config, claim: &Claim) -> Uuid {
    let metadata = claim.dirs.iter().find(|dir| dir.path == config.metadata_log_dir);
    metadata.map_or(Uuid::ZERO, |dir| dir.id)
}

fn snapshot_bytes(config: &Config) -> u64 {
    u64::try_from(config.metadata.max_record_bytes_between_snapshots).unwrap_or_default()
}
