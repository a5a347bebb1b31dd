//! The logs of this broker follow the metadata: opened, created, led and deleted as the image says.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use arc_swap::ArcSwap;
use barnabas_protocol::Uuid;
use parking_lot::Mutex;
use tokio::sync::{Notify, mpsc};
use tracing::warn;

use super::cleaner::Cleaner;
use super::in_sync::Assignment;
use super::log_dir::LogDir;
use super::neighbours::{Neighbours, Proposal};
use super::{Partition, PartitionError, Table, Topic};
use crate::clock::Clock;
use crate::config::{Config, Layers, TopicConfig, TopicDefaults};
use crate::controller::image::{PartitionImage, ResourceKind, TopicImage};
use crate::controller::state::directories::is_reserved;
use crate::controller::{Delta, Image};
use crate::disk::{Disk, Space};
use crate::ids::{TopicName, TopicPartition};
use crate::rng::Rng;
use crate::spawn::Spawner;
use crate::storage::log_dir::{DirKind, DirName, note_topic_id};
use crate::storage::{Log, LogConfig, Opening, Removal, StorageError};

/// The doors that this room uses.
#[derive(Clone)]
pub struct Doors {
    /// Files.
    pub disk: Arc<dyn Disk>,
    /// Time.
    pub clock: Clock,
    /// Chance.
    pub rng: Rng,
    /// Threads.
    pub spawner: Spawner,
}

/// What the room must know of the broker's settings.
#[derive(Clone, Debug)]
pub struct Settings {
    /// `node.id`.
    pub node_id: i32,
    /// The settings of the start; dynamic ones come with the image.
    pub config: Arc<Config>,
    /// `num.recovery.threads.per.data.dir`.
    pub recovery_threads_per_dir: usize,
}

/// See the module.
pub struct Partitions {
    pub(super) settings: Settings,
    pub(super) doors: Doors,
    pub(super) dirs: Vec<Arc<LogDir>>,
    pub(super) table: Table,
    /// What a topic has that sets nothing itself, dynamic settings of the brokers included.
    topic_defaults: ArcSwap<TopicDefaults>,
    /// `producer.id.expiration.ms`.
    producer_expiry_ms: AtomicI64,
    /// `transaction.partition.verification.enable`.
    verifies_transactions: AtomicBool,
    /// Files and directories to be removed once their time has come (monotonic ms).
    pub(super) condemned: Mutex<Vec<(u64, Condemned)>>,
    /// Rings when something was condemned.
    pub(super) bell: Notify,
    pub(super) cleaner: Cleaner,
    /// What the partitions know in common.
    pub(super) neighbours: Arc<Neighbours>,
    /// What they ask of the controller, until somebody takes it.
    proposals: Mutex<Option<mpsc::UnboundedReceiver<Proposal>>>,
    /// Directories chosen for partitions that the metadata has elsewhere or nowhere: topic, partition, directory.
    chosen: Mutex<Vec<(Uuid, i32, Uuid)>>,
}

/// What is no longer part of any log.
pub(super) enum Condemned {
    Segments(Arc<LogDir>, Removal),
    Directory(Arc<LogDir>, PathBuf),
}

impl Partitions {
    /// The room, with no log open yet.
    pub fn new(settings: Settings, doors: Doors, dirs: Vec<Arc<LogDir>>) -> Partitions {
        let topic_defaults = ArcSwap::from_pointee(settings.config.topic_defaults.clone());
        let transactions = &settings.config.transactions;
        let producer_expiry_ms = AtomicI64::new(i64::from(transactions.producer_id_expiration_ms));
        let verifies_transactions = AtomicBool::new(transactions.partition_verification);
        let (sender, proposals) = mpsc::unbounded_channel();
        let lag_ms = settings.config.replication.lag_time_max_ms;
        Partitions {
            neighbours: Neighbours::new(settings.node_id, lag_ms, doors.clock.clone(), sender),
            proposals: Mutex::new(Some(proposals)),
            settings,
            topic_defaults,
            producer_expiry_ms,
            verifies_transactions,
            doors,
            dirs,
            table: Table::default(),
            condemned: Mutex::default(),
            bell: Notify::new(),
            cleaner: Cleaner::default(),
            chosen: Mutex::default(),
        }
    }

    /// The directories of `log.dirs`, those that failed included.
    pub fn dirs(&self) -> &[Arc<LogDir>] {
        &self.dirs
    }

    /// `producer.id.expiration.ms`, as it is now.
    pub(super) fn producer_expiry_ms(&self) -> i64 {
        self.producer_expiry_ms.load(Ordering::Relaxed)
    }

    /// `transaction.partition.verification.enable`, as it is now.
    pub fn verifies_transactions(&self) -> bool {
        self.verifies_transactions.load(Ordering::Relaxed)
    }

    /// How full a directory's volume is.
    ///
    /// # Errors
    /// The system does not tell.
    pub fn space(&self, dir: &LogDir) -> std::io::Result<Space> {
        self.doors.disk.space(dir.path())
    }

    /// A topic of which this broker has partitions, by name.
    pub fn topic(&self, name: &str) -> Option<Arc<Topic>> {
        self.table.topic(name)
    }

    /// A topic of which this broker has partitions, by id.
    pub fn topic_by_id(&self, id: Uuid) -> Option<Arc<Topic>> {
        self.table.topic_by_id(id)
    }

    /// A partition by name and index.
    ///
    /// # Errors
    /// This broker has no such partition.
    pub fn partition(&self, topic: &str, index: i32) -> Result<Arc<Partition>, PartitionError> {
        self.table.partition(topic, index)
    }

    /// All partitions, by topic name and index.
    pub fn partitions(&self) -> Vec<Arc<Partition>> {
        self.table.partitions()
    }

    /// What partitions ask of the controller; to be taken once.
    pub fn take_proposals(&self) -> Option<mpsc::UnboundedReceiver<Proposal>> {
        self.proposals.lock().take()
    }

    /// Makes the logs follow a change of the metadata. Done before the change is answered to whoever asked for it.
    pub fn apply(&self, image: &Image, delta: &Delta) {
        let mut renamed_in = BTreeMap::new();
        for id in delta.removed.keys() {
            for partition in self.table.remove(*id).iter().flat_map(|topic| topic.partitions()) {
                if self.condemn(&partition) {
                    renamed_in.insert(partition.dir().id(), partition.dir().clone());
                }
            }
        }
        // A crash before it leaves directories that the metadata does not know any more.
        renamed_in.values().for_each(|dir| self.sync_names(dir));
        if delta.configs.iter().any(|resource| resource.kind == ResourceKind::Broker) {
            self.defaults_changed(image);
        }
        for name in delta.topic_configs() {
            if let Some(topic) = self.table.topic(&name) {
                self.reconfigure(&topic, image);
            }
        }
        if delta.nodes {
            self.neighbours.follow(image);
        }
        for changed in delta.changed.values() {
            self.apply_topic(image, changed);
        }
    }

    /// The directories that were chosen since the last call and that the metadata does not know: topic, partition,
    /// directory.
    pub fn take_chosen(&self) -> Vec<(Uuid, i32, Uuid)> {
        std::mem::take(&mut self.chosen.lock())
    }

    /// A log directory has failed: who waits for its partitions is told.
    pub fn dir_failed(&self, path: &Path) {
        for partition in self.partitions() {
            if partition.dir().path() == path {
                partition.close();
            }
        }
    }

    fn apply_topic(&self, image: &Image, changed: &TopicImage) {
        let here = |partition: &&Arc<PartitionImage>| partition.replicas.contains(&self.settings.node_id);
        for partition in changed.partitions().iter().filter(here) {
            let topic = self.topic_here(image, &changed.name, changed.id);
            let Some(replica) = topic.partition(partition.index).or_else(|| {
                let dir = self.place(partition)?;
                self.open(&topic, partition.index, &dir, None).ok()
            }) else {
                if topic.set_offline(partition.index) {
                    warn!("{}-{} is offline: its log directory does not work", changed.name, partition.index);
                }
                continue;
            };
            let dir = replica.dir().id();
            if partition.directory_of(self.settings.node_id).is_some_and(|known| known != dir) {
                self.chosen.lock().push((changed.id, partition.index, dir));
            }
            let assignment = Assignment {
                replicas: partition.replicas.clone(),
                isr: partition.isr.clone(),
                leader_epoch: partition.leader_epoch,
                partition_epoch: partition.partition_epoch,
            };
            if partition.leader == self.settings.node_id {
                // A failure has been reported, and shows in every answer.
                let _reported = replica.lead(assignment);
            } else {
                replica.follow(assignment);
            }
        }
    }

    /// The topic in the table, made if this is its first partition here.
    pub(super) fn topic_here(&self, image: &Image, name: &TopicName, id: Uuid) -> Arc<Topic> {
        self.table.topic_by_id(id).unwrap_or_else(|| {
            let config = self.topic_defaults.load().resolve(image.topic_config(name));
            let topic = Topic::new(name.clone(), id, Arc::new(config));
            self.table.insert(topic.clone());
            topic
        })
    }

    fn defaults_changed(&self, image: &Image) {
        let layers = Layers {
            config: &self.settings.config,
            broker: image.broker_config(self.settings.node_id),
            all_brokers: image.cluster_config(),
        };
        match layers.topic_defaults() {
            Ok(defaults) => self.topic_defaults.store(Arc::new(defaults)),
            Err(problem) => return warn!("dynamic settings of the brokers are left out: {problem}"),
        }
        let (expiry_ms, verifies) = layers.transactional_writes();
        self.producer_expiry_ms.store(expiry_ms, Ordering::Relaxed);
        self.verifies_transactions.store(verifies, Ordering::Relaxed);
        self.table.topics().iter().for_each(|topic| self.reconfigure(topic, image));
    }

    fn reconfigure(&self, topic: &Topic, image: &Image) {
        let config = Arc::new(self.topic_defaults.load().resolve(image.topic_config(&topic.name)));
        for partition in topic.partitions() {
            partition.log().set_config(log_config(&config));
            partition.set_min_isr(config.min_insync_replicas);
        }
        topic.set_config(config);
    }

    /// The directory that the metadata names, or the one with the fewest partitions. None if the one that it names
    /// does not work: the records are there, a new log would hide them.
    fn place(&self, partition: &PartitionImage) -> Option<Arc<LogDir>> {
        let mut online = self.dirs.iter().filter(|dir| dir.is_online());
        let assigned = partition.directory_of(self.settings.node_id);
        if let Some(assigned) = assigned.filter(|id| !is_reserved(*id)) {
            return online.find(|dir| dir.id() == assigned).cloned();
        }
        online.min_by_key(|dir| dir.logs()).cloned()
    }

    /// Opens a partition's log, or makes it where nothing is remembered of it (`opening` is `None`).
    pub(super) fn open(
        &self,
        topic: &Arc<Topic>,
        index: i32,
        dir: &Arc<LogDir>,
        remembered: Option<(Opening, i64)>,
    ) -> Result<Arc<Partition>, StorageError> {
        let id = TopicPartition::new(topic.name.clone(), index);
        let opened = self.open_log(&id, topic, dir, remembered);
        let (opened, high_watermark) = opened.inspect_err(|error| dir.fail(error))?;
        if opened.report.cut_bytes > 0 {
            let reason = opened.report.cut_reason.as_deref().unwrap_or("unknown");
            let (bytes, end) = (opened.report.cut_bytes, opened.log.end_offset());
            let later = match opened.report.cut_segments {
                0 => String::new(),
                segments => format!(", {segments} later segments were deleted"),
            };
            warn!(partition = %id, "cut {bytes} bytes off the log, which now ends at offset {end}{later}: {reason}");
        }
        dir.log_came();
        let (spawner, neighbours) = (self.doors.spawner, self.neighbours.clone());
        let id = (id, topic.id);
        let partition = Partition::new(id, opened.appender, high_watermark, dir.clone(), neighbours, spawner);
        let partition = Arc::new(partition);
        partition.set_min_isr(topic.config().min_insync_replicas);
        topic.insert(partition.clone());
        Ok(partition)
    }

    fn open_log(
        &self,
        id: &TopicPartition,
        topic: &Topic,
        dir: &LogDir,
        remembered: Option<(Opening, i64)>,
    ) -> Result<(crate::storage::Opened, i64), StorageError> {
        let path = dir.path().join(id.to_string());
        let config = log_config(&topic.config());
        let disk = &self.doors.disk;
        let (opening, high_watermark) = remembered.unwrap_or((self.new_log(), 0));
        let opened = Log::open(disk.clone(), &path, config, opening, self.doors.clock.now())?;
        if remembered.is_none() {
            note_topic_id(disk.as_ref(), &path, topic.id)?;
        }
        Ok((opened, high_watermark))
    }

    /// How a log is opened of which nothing is known.
    pub(super) fn new_log(&self) -> Opening {
        Opening {
            clean: false,
            recovery_point: 0,
            log_start: 0,
            producer_expiry_ms: self.producer_expiry_ms(),
            jitter_seed: self.doors.rng.next_u64(),
        }
    }

    /// A deleted topic's partition: its directory gets another name now and is removed later. True if it has the name:
    /// names are to be synced.
    fn condemn(&self, partition: &Partition) -> bool {
        partition.log().abandon();
        if partition.close().is_none() {
            return false;
        }
        partition.dir().log_went();
        let (id, dir) = (partition.id(), partition.dir());
        self.cleaner.forget(dir, id);
        let doomed = DirName { partition: id.clone(), kind: DirKind::Delete(self.doors.rng.uuid()) };
        let Some(doomed) = self.rename(dir, &id.to_string(), &doomed) else { return false };
        let delay = u64::try_from(partition.log().config().file_delete_delay_ms).unwrap_or_default();
        self.remove_later(delay, Condemned::Directory(dir.clone(), doomed));
        true
    }

    /// Renames a directory in a log directory; the new path, or `None` if the log directory has failed.
    pub(super) fn rename(&self, dir: &LogDir, from: &str, to: &DirName) -> Option<PathBuf> {
        let (from, to) = (dir.path().join(from), dir.path().join(to.to_string()));
        match self.doors.disk.rename(&from, &to) {
            Ok(()) => Some(to),
            Err(source) => {
                dir.fail(&StorageError::Io { doing: "rename", path: from, source });
                None
            }
        }
    }

    /// Makes the names in a log directory durable.
    pub(super) fn sync_names(&self, dir: &LogDir) {
        if let Err(source) = self.doors.disk.sync_dir(dir.path()) {
            dir.fail(&StorageError::Io { doing: "sync", path: dir.path().to_owned(), source });
        }
    }

    pub(super) fn remove_later(&self, delay_ms: u64, condemned: Condemned) {
        let due = self.doors.clock.now().mono_ms.saturating_add(delay_ms);
        self.condemned.lock().push((due, condemned));
        self.bell.notify_one();
    }

    /// The path of a partition's directory in a log directory.
    pub(super) fn checkpoint(dir: &LogDir, name: &str) -> PathBuf {
        Path::join(dir.path(), name)
    }
}

/// The part of a topic's settings that its logs follow.
pub(super) fn log_config(topic: &TopicConfig) -> LogConfig {
    let size = |bytes: i32| u32::try_from(bytes).unwrap_or_default();
    LogConfig {
        segment_bytes: size(topic.segment_bytes),
        segment_ms: topic.segment_ms,
        segment_jitter_ms: topic.segment_jitter_ms,
        index_interval_bytes: size(topic.index_interval_bytes),
        segment_index_bytes: size(topic.segment_index_bytes),
        retention_ms: topic.retention_ms,
        retention_bytes: topic.retention_bytes,
        flush_messages: topic.flush_messages,
        flush_ms: topic.flush_ms,
        file_delete_delay_ms: topic.file_delete_delay_ms,
        preallocate: topic.preallocate,
        delete: topic.delete,
        compact: topic.compact,
        min_cleanable_dirty_ratio: topic.min_cleanable_dirty_ratio,
        min_compaction_lag_ms: topic.min_compaction_lag_ms,
        max_compaction_lag_ms: topic.max_compaction_lag_ms,
        delete_retention_ms: topic.delete_retention_ms,
        append_time: topic.log_append_time,
        ..LogConfig::default()
    }
}
