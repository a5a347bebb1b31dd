//! A broker on its way in: its rooms stand and its controller speaks with other nodes, but nobody else is let in before
//! the metadata is there that tells which partitions this broker has.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use super::follow::Follower;
use super::listen::{self, Bound};
use super::source::Source;
use super::{
    Broker, BrokerError, Claim, Doors, claim_dirs, group_settings, lifecycle, log_dirs, maintain,
    open_partitions, replicate, request_memory, source, tell_chosen, transaction_settings,
};
use crate::config::Config;
use crate::controller::Channel;
use crate::controller::image::Endpoint;
use crate::coordinator::{Elsewhere, Groups, Markers, Transactions};
use crate::handlers::{FetchSessions, Rooms, Side};
use crate::replication::Fetchers;
use crate::server::{self, Connections, Door, HangUps, Memory};
use crate::shutdown::{Shutdown, Trigger, channel};
use crate::spawn::Lane;

/// See the module.
pub(super) struct Entrance {
    rooms: Arc<Rooms>,
    doors: Doors,
    claim: Claim,
    doorkeeper: Doorkeeper,
    /// The listeners for clients.
    bound: Vec<Bound>,
    endpoints: Vec<Endpoint>,
    listeners: Vec<(String, u16)>,
    follower: Arc<Follower>,
    fetchers: Arc<Fetchers>,
    caught_up: Option<watch::Receiver<bool>>,
    tasks: Vec<JoinHandle<()>>,
    stop: Trigger,
    shutdown: Shutdown,
    failed_dirs: mpsc::UnboundedReceiver<PathBuf>,
    failed_metadata: mpsc::UnboundedReceiver<String>,
    chosen_dirs: mpsc::UnboundedReceiver<()>,
}

impl Entrance {
    /// Claims directories and ports, opens the metadata log, and lets other nodes speak to the controller. Blocks.
    ///
    /// # Errors
    /// See [`BrokerError`]; nothing is left running.
    pub(super) fn open(config: Config, doors: &Doors) -> Result<Entrance, BrokerError> {
        let config = Arc::new(config);
        let bound = listen::bind(&doors.network, &config.network)?;
        let claim = claim_dirs(&config, doors)?;
        let (stop, shutdown) = channel();
        let source = Source::open(&config, doors, &claim, &bound, &shutdown)?;
        Ok(Entrance::furnish(config, doors, bound, claim, source, (stop, shutdown)))
    }

    /// Makes the rooms.
    fn furnish(
        config: Arc<Config>,
        doors: &Doors,
        bound: Vec<Bound>,
        claim: Claim,
        source: Source,
        (stop, shutdown): (Trigger, Shutdown),
    ) -> Entrance {
        let (dir_failures, failed_dirs) = mpsc::unbounded_channel();
        let (metadata_failures, failed_metadata) = mpsc::unbounded_channel();
        let (chosen, chosen_dirs) = mpsc::unbounded_channel();
        let partitions = Arc::new(open_partitions(&config, doors, log_dirs(&claim, &dir_failures)));
        let groups =
            Groups::new(group_settings(&config), doors.clock.clone(), doors.rng.clone(), doors.spawner);
        let Source { metadata, controller, leadership, peers, follows, among_others, caught_up } = source;
        let listener = config.network.inter_broker_listener.clone();
        let elsewhere = Elsewhere::new(config.node_id, metadata.clone(), listener, peers.clone());
        let markers = Markers::new(partitions.clone(), groups.clone(), elsewhere, doors.clock.clone());
        let transactions = Transactions::new(
            transaction_settings(&config),
            markers.clone(),
            doors.clock.clone(),
            doors.spawner,
        );
        let (local, clock) = (controller.clone(), doors.clock.clone());
        let channel = Channel::new(config.node_id, local, leadership, peers.clone(), clock, doors.spawner);
        let cluster_id = claim.cluster_id.clone();
        let fetchers = replicate::fetchers(&config, doors, cluster_id, &partitions, &peers, &channel);
        let follower = Follower::new(
            partitions.clone(),
            fetchers.clone(),
            groups.clone(),
            transactions.clone(),
            doors.clock.clone(),
            metadata_failures,
            chosen,
        );
        let slots = usize::try_from(config.replication.fetch_session_slots).unwrap_or(usize::MAX);
        let endpoints = source::endpoints(&config.network.advertised, &bound);
        let listeners = bound.iter().map(|bound| (bound.name.clone(), bound.port)).collect();
        let doorkeeper = Doorkeeper::new(&config);
        let rooms = Arc::new(Rooms {
            clock: doors.clock.clone(),
            rng: doors.rng.clone(),
            spawner: doors.spawner,
            unpacking: Lane::beside_the_workers(doors.spawner),
            metadata,
            controller,
            channel,
            partitions,
            groups,
            transactions,
            markers,
            fetch_sessions: FetchSessions::new(slots, doors.rng.clone()),
            config,
        });
        let (nodes, bound) = bound.into_iter().partition(|bound| bound.side == Side::Controller);
        let mut tasks = doorkeeper.let_in(&rooms, nodes, &shutdown);
        tasks.extend(follows);
        if let Some(controller) = rooms.controller.clone() {
            tasks.push(rooms.spawner.spawn(controller.keep_time(shutdown.clone())));
        }
        if let Some(identity) = among_others {
            let (channel, metadata, clock) =
                (rooms.channel.own_line(), rooms.metadata.clone(), rooms.clock.clone());
            tasks.push(rooms.spawner.spawn(identity.keep_registered(
                channel,
                metadata,
                clock,
                shutdown.clone(),
            )));
        }
        Entrance {
            rooms,
            doors: doors.clone(),
            claim,
            doorkeeper,
            bound,
            endpoints,
            listeners,
            follower,
            fetchers,
            caught_up,
            tasks,
            stop,
            shutdown,
            failed_dirs,
            failed_metadata,
            chosen_dirs,
        }
    }

    /// Waits until this node has the metadata that the cluster had when it came.
    ///
    /// # Errors
    /// The metadata log failed meanwhile.
    pub(super) async fn caught_up(&mut self) -> Result<(), BrokerError> {
        let Some(caught_up) = &mut self.caught_up else { return Ok(()) };
        tracing::info!("waiting for the cluster's metadata");
        let mut failed = self.rooms.metadata.failed();
        tokio::select! {
            biased;
            Ok(_) = failed.wait_for(|failed| *failed) => {
                return Err(BrokerError::Disk("the metadata log failed".to_owned()));
            }
            _caught_up = caught_up.wait_for(|caught_up| *caught_up) => {}
        }
        Ok(())
    }

    /// Opens the partitions, joins the cluster, and lets clients in. Blocks.
    pub(super) fn enter(self) -> Broker {
        let Entrance { rooms, doors, claim, shutdown, mut tasks, .. } = self;
        let clean: Vec<bool> = claim.dirs.iter().map(|dir| dir.clean).collect();
        rooms.metadata.subscribe(self.follower, |image| rooms.partitions.load(image, &clean));
        tasks.extend(self.doorkeeper.let_in(&rooms, self.bound, &shutdown));
        tasks.extend(maintain(&rooms, &shutdown));
        replicate::start(&rooms, self.fetchers, &shutdown, &mut tasks);
        tasks.push(rooms.spawner.spawn(tell_chosen(rooms.clone(), self.chosen_dirs, shutdown.clone())));
        let life = if self.caught_up.is_none() {
            // The controller that is alone has registered its own broker.
            let own = rooms.image().broker(rooms.config.node_id).map_or(-1, |broker| broker.epoch);
            rooms.channel.set_broker_epoch(own);
            None
        } else if rooms.config.roles.broker {
            let (life, handle) = lifecycle(&rooms, &doors, self.endpoints, &claim);
            tasks.push(rooms.spawner.spawn(life.run(shutdown)));
            Some(handle)
        } else {
            None
        };
        Broker {
            groups: rooms.groups.clone(),
            rooms,
            listeners: self.listeners,
            tasks,
            stop: self.stop,
            life,
            failed_dirs: self.failed_dirs,
            failed_metadata: self.failed_metadata,
            _claim: claim,
        }
    }
}

/// What all listeners share.
struct Doorkeeper {
    connections: Arc<Connections>,
    memory: Memory,
    hang_ups: Arc<HangUps>,
}

impl Doorkeeper {
    fn new(config: &Config) -> Doorkeeper {
        let network = &config.network;
        let number = |limit: u32| usize::try_from(limit).unwrap_or(usize::MAX);
        let overrides = network.max_connections_per_ip_overrides.iter();
        let overrides: BTreeMap<_, _> =
            overrides.filter_map(|(host, limit)| Some((host.parse().ok()?, number(*limit)))).collect();
        let per_ip = number(network.max_connections_per_ip);
        Doorkeeper {
            connections: Connections::new(number(network.max_connections), per_ip, overrides),
            memory: Memory::new(request_memory(network.queued_max_request_bytes)),
            hang_ups: Arc::default(),
        }
    }

    fn let_in(&self, rooms: &Arc<Rooms>, bound: Vec<Bound>, shutdown: &Shutdown) -> Vec<JoinHandle<()>> {
        let mut tasks = Vec::new();
        for bound in bound {
            let door = Door {
                rooms: rooms.clone(),
                name: bound.name.into(),
                side: bound.side,
                memory: self.memory.clone(),
                connections: self.connections.clone(),
                hang_ups: self.hang_ups.clone(),
                shutdown: shutdown.clone(),
            };
            for listener in bound.listeners {
                tasks.push(rooms.spawner.spawn(server::accept(listener, door.clone())));
            }
        }
        tasks
    }
}
