//! Opening what the log directories hold: the logs that the metadata knows, and nothing else.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use parking_lot::Mutex;
use tracing::{info, warn};

use super::Partitions;
use super::log_dir::LogDir;
use super::partitions::Condemned;
use crate::controller::{Delta, Image};
use crate::ids::{TopicName, Uuid};
use crate::storage::checkpoint::{HIGH_WATERMARK, LOG_START, Offsets, RECOVERY_POINT, read_offsets};
use crate::storage::log_dir::{DirKind, DirName, note_topic_id, read_topic_id};
use crate::storage::{Opening, StorageError};

/// A log found on disk.
struct Found {
    dir: Arc<LogDir>,
    topic: TopicName,
    id: Uuid,
    index: i32,
    opening: Opening,
    high_watermark: i64,
}

impl Partitions {
    /// Opens the logs of every directory (`clean`: those that were stopped in order), then follows the image.
    /// Blocks until all are open.
    pub fn load(&self, image: &Image, clean: &[bool]) {
        let mut found = VecDeque::new();
        for (dir, clean) in self.dirs.iter().zip(clean).filter(|(dir, _)| dir.is_online()) {
            if !clean {
                info!(directory = %dir.path().display(), "not stopped in order: logs are checked");
            }
            match self.find(dir, *clean, image) {
                Ok(logs) => found.extend(logs),
                Err(error) => dir.fail(&error),
            }
        }
        let checked: BTreeMap<Uuid, Arc<LogDir>> = found
            .iter()
            .filter(|found| !found.opening.clean)
            .map(|found| (found.dir.id(), found.dir.clone()))
            .collect();
        self.open_all(image, found);
        // A log that has lost flushed records ends below its recovery point now: what comes there is not flushed.
        checked.values().filter(|dir| dir.is_online()).for_each(|dir| self.note_recovery_points(dir));
        self.apply(image, &Delta::everything(image));
    }

    fn open_all(&self, image: &Image, found: VecDeque<Found>) {
        self.on_all_disks(found, |found| {
            let topic = self.topic_here(image, &found.topic, found.id);
            let remembered = Some((found.opening, found.high_watermark));
            // A failure has taken the directory offline.
            let _reported = self.open(&topic, found.index, &found.dir, remembered);
        });
    }

    /// Works through a list with as many threads as `num.recovery.threads.per.data.dir` gives. Blocks until all is done.
    pub(super) fn on_all_disks<T: Send>(&self, things: VecDeque<T>, each: impl Fn(T) + Sync) {
        let threads = self.settings.recovery_threads_per_dir.saturating_mul(self.dirs.len());
        let threads =
            if self.doors.spawner.is_simulated() { 1 } else { threads.clamp(1, things.len().max(1)) };
        let queue = Mutex::new(things);
        let work = || {
            loop {
                let next = queue.lock().pop_front();
                let Some(thing) = next else { break };
                each(thing);
            }
        };
        if threads == 1 {
            return work();
        }
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(work);
            }
        });
    }

    /// What lies in a directory, with what its checkpoints remember. Strangers are put aside.
    fn find(&self, dir: &Arc<LogDir>, clean: bool, image: &Image) -> Result<Vec<Found>, StorageError> {
        let disk = self.doors.disk.as_ref();
        let read = |name| read_offsets(disk, &Partitions::checkpoint(dir, name));
        let (recovery, starts, marks) = (read(RECOVERY_POINT)?, read(LOG_START)?, read(HIGH_WATERMARK)?);
        self.cleaner.load(self, dir)?;
        let entries = disk.list(dir.path()).map_err(|source| StorageError::Io {
            doing: "list",
            path: dir.path().to_owned(),
            source,
        })?;
        let mut found = Vec::new();
        for entry in entries.iter().filter(|entry| entry.meta.is_dir) {
            let Some(name) = DirName::parse(&entry.name) else { continue };
            match name.kind {
                DirKind::Current if &*name.partition.topic == METADATA_TOPIC => {}
                DirKind::Current => {
                    let at = |offsets: &Offsets| offsets.get(&name.partition).copied().unwrap_or_default();
                    let opening = Opening {
                        clean,
                        recovery_point: at(&recovery),
                        log_start: at(&starts),
                        ..self.new_log()
                    };
                    let high_watermark = at(&marks);
                    match self.owner(dir, &name, image)? {
                        Some((topic, id)) => found.push(Found {
                            dir: dir.clone(),
                            topic,
                            id,
                            index: name.partition.partition,
                            opening,
                            high_watermark,
                        }),
                        None => self.put_aside(dir, &name),
                    }
                }
                DirKind::Delete(_) => {
                    let doomed = Condemned::Directory(dir.clone(), dir.path().join(&entry.name));
                    self.remove_later(0, doomed);
                }
                DirKind::Future(_) | DirKind::Stray(_) => {}
            }
        }
        Ok(found)
    }

    /// The topic that a directory belongs to, if the metadata gives this broker that partition.
    fn owner(
        &self,
        dir: &LogDir,
        name: &DirName,
        image: &Image,
    ) -> Result<Option<(TopicName, Uuid)>, StorageError> {
        let path = dir.path().join(name.to_string());
        let disk = self.doors.disk.as_ref();
        let id = match read_topic_id(disk, &path) {
            // A partition that was new when the power was cut: nothing of it had been flushed.
            Err(StorageError::Corrupt { path, what }) => {
                warn!("{} does not say whose it is ({what}): its name counts", path.display());
                None
            }
            read => read?,
        };
        let topic = match id {
            Some(id) => image.topic_by_id(id),
            None => image.topic(&name.partition.topic),
        };
        let owner = topic.filter(|topic| {
            let partition = topic.partition(name.partition.partition);
            let here = partition.is_some_and(|partition| partition.replicas.contains(&self.settings.node_id));
            here && topic.name == name.partition.topic
        });
        if let (Some(topic), None) = (owner, id) {
            note_topic_id(disk, &path, topic.id)?;
        }
        Ok(owner.map(|topic| (topic.name.clone(), topic.id)))
    }

    /// A log that the metadata does not know is kept under another name, as Kafka keeps it.
    fn put_aside(&self, dir: &LogDir, name: &DirName) {
        let stray = DirName { kind: DirKind::Stray(self.doors.rng.uuid()), ..name.clone() };
        warn!(directory = %dir.path().display(), "{name} is not in the metadata: kept as {stray}");
        if self.rename(dir, &name.to_string(), &stray).is_some() {
            self.sync_names(dir);
        }
    }
}

/// The metadata log lies among the partitions and is the controller's.
const METADATA_TOPIC: &str = "__cluster_metadata";
