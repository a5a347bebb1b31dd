//! The broker: opens the rooms in order and closes them in reverse. The only place that knows them all.
//!
//! Listeners are bound first, since what is advertised needs their ports; then the log directories are claimed,
//! the metadata log is replayed, other nodes are let in to the controller, the logs are opened, the coordinators
//! loaded, and only then are clients let in.

mod claim;
mod cluster;
mod directories;
mod entrance;
mod follow;
mod listen;
mod replicate;
mod rules;
mod source;

use std::path::PathBuf;
use std::sync::Arc;

use barnabas_protocol::batch::Codec;
use thiserror::Error;
use tokio::sync::mpsc;
use tracing::{error, info};

pub use claim::{Claim, ClaimError, Claimed, Fresh, claim, write_meta};
pub use listen::ListenError;

use self::entrance::Entrance;
use crate::broker_lifecycle::{self, Lifecycle, Standing};
use crate::clock::Clock;
use crate::config::Config;
use crate::controller::image::Endpoint;
use crate::controller::{self, Controller, ControllerError};
use crate::coordinator::group::{ConsumerSettings, MigrationPolicy};
use crate::coordinator::{GroupSettings, Groups, TransactionSettings};
use crate::disk::Disk;
use crate::handlers::Rooms;
use crate::ids::Uuid;
use crate::net::Network;
use crate::partition::{self, CleanerSettings, LogDir, Partitions, Schedule};
use crate::rng::Rng;
use crate::shutdown::{Shutdown, Trigger};
use crate::spawn::Spawner;

/// How long a stop waits at most for others to take over what this broker leads, in ms.
const LEAVE_WITHIN_MS: u64 = 30_000;
/// How long the controller has to note directories, and the pause before it is told again, in ms.
const TELL_WITHIN_MS: u64 = 1_000;

/// What the broker reaches the world through.
#[derive(Clone)]
pub struct Doors {
    /// Files.
    pub disk: Arc<dyn Disk>,
    /// Sockets.
    pub network: Network,
    /// Time.
    pub clock: Clock,
    /// Chance.
    pub rng: Rng,
    /// Tasks and threads.
    pub spawner: Spawner,
}

/// Why a broker does not start, or had to stop.
#[derive(Debug, Error)]
pub enum BrokerError {
    /// A port is taken or a host unknown.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// A directory of `log.dirs` cannot be used.
    #[error(transparent)]
    Claim(#[from] ClaimError),
    /// The metadata log cannot be read or written.
    #[error(transparent)]
    Controller(#[from] ControllerError),
    /// A log directory failed that the broker cannot do without.
    #[error("{0}")]
    Disk(String),
    /// The controller did not let the broker in.
    #[error("the cluster's controller did not register this broker")]
    Refused,
}

/// A broker that serves.
pub struct Broker {
    rooms: Arc<Rooms>,
    groups: Groups,
    listeners: Vec<(String, u16)>,
    tasks: Vec<tokio::task::JoinHandle<()>>,
    stop: Trigger,
    /// The broker's place in a cluster whose controller may be elsewhere.
    life: Option<broker_lifecycle::Handle>,
    failed_dirs: mpsc::UnboundedReceiver<PathBuf>,
    failed_metadata: mpsc::UnboundedReceiver<String>,
    /// Keeps other processes out of the directories.
    _claim: Claim,
}

impl Broker {
    /// Opens everything and starts to serve, where the controller in this process decides alone. Blocks while logs are
    /// opened.
    ///
    /// # Errors
    /// See [`BrokerError`]; nothing is left running.
    pub fn start(config: Config, doors: &Doors) -> Result<Broker, BrokerError> {
        Ok(Entrance::open(config, doors)?.enter())
    }

    /// As [`Broker::start`], where other nodes may have a say, who are waited for.
    ///
    /// # Errors
    /// See [`BrokerError`]; nothing is left running.
    pub async fn join(config: Config, doors: &Doors) -> Result<Broker, BrokerError> {
        let mut entrance = doors.spawner.in_place(|| Entrance::open(config, doors))?;
        entrance.caught_up().await?;
        Ok(doors.spawner.in_place(|| entrance.enter()))
    }

    /// Names and ports of the listeners.
    pub fn listeners(&self) -> &[(String, u16)] {
        &self.listeners
    }

    /// Serves until asked to stop, or until the broker cannot go on; then stops in order.
    ///
    /// # Errors
    /// The last log directory, or the one with the metadata log, failed.
    pub async fn run(mut self, mut shutdown: Shutdown) -> Result<(), BrokerError> {
        let end = loop {
            tokio::select! {
                biased;
                () = shutdown.requested() => break Ok(()),
                Some(cause) = self.failed_metadata.recv() => break Err(BrokerError::Disk(cause)),
                () = refused(self.life.as_ref()) => break Err(BrokerError::Refused),
                Some(dir) = self.failed_dirs.recv() => {
                    let partitions = self.rooms.partitions.clone();
                    partitions.dir_failed(&dir);
                    if let Some(error) = self.fatal(&dir) {
                        break Err(error);
                    }
                    if let Some(dir) = partitions.dirs().iter().find(|known| known.path() == dir) {
                        // Nobody waits for it: clients see it in the metadata.
                        drop(self.rooms.controller.as_ref().map(|known| known.directory_failed(dir.id())));
                    }
                }
            }
        };
        if end.is_ok() {
            self.take_leave().await;
        }
        self.stop().await;
        end
    }

    /// Can the broker not do without this directory?
    fn fatal(&self, dir: &std::path::Path) -> Option<BrokerError> {
        let shown = dir.display();
        if dir == self.rooms.config.metadata_log_dir {
            return Some(BrokerError::Disk(format!("{shown} has failed, and it holds the metadata log")));
        }
        let online = self.rooms.partitions.dirs().iter().any(|dir| dir.is_online());
        (!online).then(|| BrokerError::Disk(format!("{shown} has failed, and it was the last log directory")))
    }

    /// Hands over what this broker leads, if there is somebody to take it.
    async fn take_leave(&self) {
        if !self.rooms.config.replication.controlled_shutdown {
            return;
        }
        let clock = &self.rooms.clock;
        let patience_ms = clock.now().mono_ms.saturating_add(LEAVE_WITHIN_MS);
        let left = async {
            match &self.life {
                Some(life) => life.leave().await,
                None => broker_lifecycle::leave_alone(&self.rooms.channel, &self.rooms.metadata, clock).await,
            }
            if let Some(controller) = &self.rooms.controller {
                controller.resign().await;
            }
        };
        tokio::select! {
            biased;
            () = left => {}
            () = clock.sleep_until(patience_ms) => {
                error!("the controller did not take over in time what this broker leads; it stops all the same");
            }
        }
    }

    async fn stop(self) {
        info!("stopping: answering who waits, closing the logs");
        self.stop.request();
        for task in self.tasks {
            if let Err(error) = task.await {
                error!(%error, "a task had failed");
            }
        }
        self.rooms.transactions.stop();
        self.groups.stop();
        let rooms = self.rooms.clone();
        let closing = self.rooms.spawner.blocking(move || {
            let epoch = rooms.image().broker(rooms.config.node_id).map_or(-1, |broker| broker.epoch);
            let metadata = rooms.controller.as_ref().map_or(Ok(()), Controller::close);
            rooms.partitions.close(epoch);
            metadata
        });
        match closing.await {
            Ok(Ok(())) => info!("stopped"),
            Ok(Err(error)) => error!(%error, "the metadata log was not closed in order"),
            Err(error) => error!(%error, "the logs were not closed in order"),
        }
    }
}

/// The directories as the partitions see them; those that do not work are offline from the start.
fn log_dirs(claim: &Claim, failures: &mpsc::UnboundedSender<PathBuf>) -> Vec<Arc<LogDir>> {
    let working = claim.dirs.iter().map(|dir| LogDir::new(dir.path.clone(), dir.id, failures.clone()));
    let failed = claim.failed.iter().map(|(path, error)| {
        let dir = LogDir::new(path.clone(), Uuid::ZERO, failures.clone());
        dir.fail(error);
        dir
    });
    working.chain(failed).collect()
}

fn open_partitions(config: &Arc<Config>, doors: &Doors, dirs: Vec<Arc<LogDir>>) -> Partitions {
    let settings = partition::Settings {
        node_id: config.node_id,
        config: config.clone(),
        recovery_threads_per_dir: usize::try_from(config.log.recovery_threads_per_dir).unwrap_or(1),
    };
    let doors = partition::Doors {
        disk: doors.disk.clone(),
        clock: doors.clock.clone(),
        rng: doors.rng.clone(),
        spawner: doors.spawner,
    };
    Partitions::new(settings, doors, dirs)
}

fn claim_dirs(config: &Config, doors: &Doors) -> Result<Claim, BrokerError> {
    // A node that names no others is a cluster of its own and may make itself a home.
    let others = config.metadata.voters.len() > 1 || config.metadata.bootstrap_servers.len() > 1;
    let alone = config.roles.broker && config.roles.controller && !others;
    let fresh = if alone { Fresh::Format } else { Fresh::Refuse };
    let metadata_dir = &config.metadata_log_dir;
    let claim = claim(&doors.disk, &doors.rng, &config.log_dirs, metadata_dir, config.node_id, fresh)?;
    if claim.fresh {
        let now = doors.clock.now();
        controller::format::format(doors.disk.as_ref(), metadata_dir, None, now)?;
        if let Some(dir) = claim.dirs.iter().find(|dir| dir.path == *metadata_dir) {
            let written = write_meta(&doors.disk, &dir.path, &claim.cluster_id, config.node_id, dir.id);
            written.map_err(ClaimError::Storage)?;
        }
        info!(cluster = claim.cluster_id, "new log directories formatted");
    }
    Ok(claim)
}

fn group_settings(config: &Config) -> GroupSettings {
    let (groups, offsets) = (&config.groups, &config.offsets);
    GroupSettings {
        min_session_ms: groups.min_session_timeout_ms,
        max_session_ms: groups.max_session_timeout_ms,
        initial_rebalance_delay_ms: u64::try_from(groups.initial_rebalance_delay_ms).unwrap_or_default(),
        max_size: usize::try_from(groups.max_size).unwrap_or(usize::MAX),
        offset_metadata_max: usize::try_from(offsets.metadata_max_bytes).unwrap_or_default(),
        offsets_retention_ms: offsets.retention_ms,
        offsets_retention_check_ms: offsets.retention_check_interval_ms,
        max_batch_bytes: usize::try_from(config.topic_defaults.config().max_message_bytes)
            .unwrap_or_default(),
        codec: Codec::from_id(i16::from(offsets.compression_codec)).unwrap_or(Codec::None),
        consumer: consumer_settings(&config.consumer_groups),
        offsets_partitions: offsets.num_partitions,
    }
}

fn transaction_settings(config: &Config) -> TransactionSettings {
    let settings = &config.transactions;
    TransactionSettings {
        max_timeout_ms: settings.max_timeout_ms,
        id_expiration_ms: i64::from(settings.transactional_id_expiration_ms),
        expiry_check_ms: settings.remove_expired_interval_ms,
        max_batch_bytes: usize::try_from(config.topic_defaults.config().max_message_bytes)
            .unwrap_or_default(),
        partitions: settings.num_partitions,
    }
}

fn consumer_settings(config: &crate::config::broker::ConsumerGroups) -> ConsumerSettings {
    ConsumerSettings {
        session_ms: config.session_timeout_ms,
        min_session_ms: config.min_session_timeout_ms,
        max_session_ms: config.max_session_timeout_ms,
        heartbeat_ms: config.heartbeat_interval_ms,
        min_heartbeat_ms: config.min_heartbeat_interval_ms,
        max_heartbeat_ms: config.max_heartbeat_interval_ms,
        assignment_interval_ms: config.assignment_interval_ms,
        regex_refresh_ms: i64::from(config.regex_refresh_interval_ms),
        max_size: usize::try_from(config.max_size).unwrap_or(usize::MAX),
        assignors: config.assignors.clone(),
        migration: MigrationPolicy::named(&config.migration_policy),
    }
}

/// The tasks that look after the logs.
fn maintain(rooms: &Arc<Rooms>, shutdown: &Shutdown) -> Vec<tokio::task::JoinHandle<()>> {
    let mut tasks = Vec::new();
    let log = &rooms.config.log;
    let schedule = Schedule {
        initial_delay: log.initial_task_delay_ms,
        retention: log.retention_check_interval_ms,
        checkpoints: log.recovery_point_checkpoint_interval_ms.min(log.start_offset_checkpoint_interval_ms),
        high_watermarks: rooms.config.replication.high_watermark_checkpoint_interval_ms,
        producers: rooms.config.transactions.producer_id_expiration_check_interval_ms,
        flush: log.flush_scheduler_interval_ms,
    };
    tasks.push(rooms.spawner.spawn(rooms.partitions.clone().maintain(schedule, shutdown.clone())));
    let cleaner = CleanerSettings {
        threads: usize::try_from(log.cleaner_threads).unwrap_or(1),
        key_bytes: log.cleaner_key_bytes,
        load_factor: log.cleaner_load_factor,
        io_bytes: log.cleaner_io_bytes,
        bytes_per_second: log.cleaner_bytes_per_second,
        backoff_ms: log.cleaner_backoff_ms,
    };
    for _ in 0..if log.cleaner_enable { cleaner.threads } else { 0 } {
        tasks.push(rooms.spawner.spawn(rooms.partitions.clone().compact(cleaner, shutdown.clone())));
    }
    tasks
}

/// Notes in the metadata which directories were chosen for partitions.
async fn tell_chosen(rooms: Arc<Rooms>, mut bell: mpsc::UnboundedReceiver<()>, mut shutdown: Shutdown) {
    let mut chosen = Vec::new();
    loop {
        chosen.extend(rooms.partitions.take_chosen());
        let (node, epoch, now_ms) =
            (rooms.config.node_id, rooms.channel.broker_epoch(), rooms.clock.now().mono_ms);
        if !chosen.is_empty() && epoch >= 0 {
            let request = directories::request(node, epoch, &chosen);
            let answer = rooms.channel.ask(&request, now_ms.saturating_add(TELL_WITHIN_MS)).await;
            if answer.is_ok_and(|answer| answer.error_code == 0) {
                chosen.clear();
            }
        }
        let again_ms = if chosen.is_empty() { u64::MAX } else { now_ms.saturating_add(TELL_WITHIN_MS) };
        tokio::select! {
            biased;
            () = shutdown.requested() => return,
            Some(()) = bell.recv() => {}
            () = rooms.clock.sleep_until(again_ms) => {}
        }
    }
}

/// The broker's life in its cluster.
fn lifecycle(
    rooms: &Rooms,
    doors: &Doors,
    endpoints: Vec<Endpoint>,
    claim: &Claim,
) -> (Lifecycle, broker_lifecycle::Handle) {
    let config = &rooms.config;
    let identity = broker_lifecycle::Identity {
        node_id: config.node_id,
        cluster_id: claim.cluster_id.clone(),
        incarnation: doors.rng.uuid(),
        endpoints,
        features: controller::state::features::supported(),
        rack: config.rack.clone(),
        directories: claim.dirs.iter().map(|dir| dir.id).collect(),
        previous_epoch: claim.previous_epoch(),
    };
    let times = broker_lifecycle::Times {
        heartbeat_ms: config.replication.heartbeat_interval_ms,
        session_ms: config.replication.session_timeout_ms,
        registration_ms: config.replication.registration_timeout_ms,
    };
    Lifecycle::new(identity, times, &rooms.channel, rooms.metadata.clone(), doors.clock.clone())
}

/// Waits until the controller has refused the broker for too long.
async fn refused(life: Option<&broker_lifecycle::Handle>) {
    let Some(life) = life else { return std::future::pending().await };
    let mut standing = life.standing();
    let refused = standing.wait_for(|standing| *standing == Standing::Refused).await.is_ok();
    if !refused {
        // The life has ended in order.
        std::future::pending::<()>().await;
    }
}

/// Memory for requests in flight: what is configured, or a quarter of the machine's.
fn request_memory(configured: Option<u64>) -> usize {
    let bytes = configured.unwrap_or_else(|| {
        let info = rustix::system::sysinfo();
        info.totalram.saturating_mul(u64::from(info.mem_unit)) / 4
    });
    usize::try_from(bytes).unwrap_or(usize::MAX)
}
