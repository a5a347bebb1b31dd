//! Decide, append, apply – then, once the records are on the disk, publish the image and let the answers go.
//!
//! Decisions are made on the caller's task under one lock, against the truth that runs ahead of the disk. Flushing
//! happens beside that on a blocking thread, one round at a time: whatever was decided while a flush was under way
//! shares the next one. An answer that changes nothing waits, too, if what it speaks of is not on the disk yet.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use arc_swap::ArcSwap;
use parking_lot::Mutex;
use tokio::sync::oneshot;

use super::error::ControllerError;
use super::image::{Changes, Delta, Image};
use super::metadata_log::{MetadataLog, Quorum};
use super::record::Record;
use super::state::{ConfigRules, Decision, Hard, View, apply};
use crate::clock::Clock;
use crate::rng::Rng;
use crate::spawn::Spawner;

/// Records in one batch of a start; a request's decision is always one batch.
const BATCH_RECORDS: usize = 5000;

/// Who must know of every change: called before the new image is visible and before any answer leaves, one change
/// at a time, in order, on a thread that may block.
pub trait Subscriber: Send + Sync {
    /// The first call after [`Controller::subscribe`] brings everything there is.
    fn changed(&self, old: &Image, new: &Arc<Image>, delta: &Delta);

    /// The metadata log failed: nothing will be decided any more, the process has to stop.
    fn failed(&self, error: &ControllerError);
}

/// What decisions need to be told.
#[derive(Clone, Debug)]
pub struct Settings {
    /// `node.id`.
    pub node_id: i32,
    /// `num.partitions`.
    pub num_partitions: i32,
    /// `default.replication.factor`.
    pub default_replication_factor: i16,
    /// `metadata.log.max.record.bytes.between.snapshots`.
    pub snapshot_bytes: u64,
}

/// The doors that the controller uses.
#[derive(Clone, Debug)]
pub struct Doors {
    /// Stamps batches.
    pub clock: Clock,
    /// Draws topic ids.
    pub rng: Rng,
    /// Runs flushes.
    pub spawner: Spawner,
}

/// The handle. Cheap to clone.
#[derive(Clone)]
pub struct Controller {
    pub(super) shared: Arc<Shared>,
}

pub(super) struct Shared {
    pub(super) settings: Settings,
    rules: Arc<dyn ConfigRules>,
    pub(super) doors: Doors,
    image: ArcSwap<Image>,
    subscriber: OnceLock<Arc<dyn Subscriber>>,
    active: Mutex<Active>,
}

struct Active {
    /// Runs ahead of the image that is published.
    hard: Hard,
    /// None once it is closed or has failed.
    log: Option<MetadataLog>,
    /// Answers that wait for the next flush.
    parked: Vec<Box<dyn FnOnce() + Send>>,
    /// Something was appended since the last flush began.
    dirty: bool,
    /// A thread is in `flush_until_idle`.
    flushing: bool,
    /// Producer ids of our block that were not handed out yet.
    block: Range<i64>,
}

impl Active {
    fn append(&mut self, doors: &Doors, records: &[Record]) -> Result<(), ControllerError> {
        let log = self.log.as_mut().ok_or(ControllerError::Closed)?;
        let at = log.append(records, doors.clock.now())?;
        for record in records {
            apply(&mut self.hard, record)?;
        }
        self.hard.advance(at.offset, at.epoch, at.timestamp_ms);
        self.dirty = true;
        Ok(())
    }
}

impl Controller {
    /// Takes over an opened metadata log: appends what a start has to say and returns when it is on the disk. Blocks.
    ///
    /// # Errors
    /// The log cannot be written.
    pub(super) fn start(
        hard: Hard,
        log: MetadataLog,
        records: &[Record],
        settings: Settings,
        rules: Arc<dyn ConfigRules>,
        doors: Doors,
    ) -> Result<Controller, ControllerError> {
        let shared = log.shared().clone();
        let mut active =
            Active { hard, log: Some(log), parked: Vec::new(), dirty: false, flushing: false, block: 0..0 };
        for batch in records.chunks(BATCH_RECORDS) {
            active.append(&doors, batch)?;
        }
        shared.flush()?;
        active.dirty = false;
        active.hard.changes = Changes::default();
        let image = ArcSwap::from_pointee(active.hard.image.clone());
        let subscriber = OnceLock::new();
        let shared = Shared { settings, rules, doors, image, subscriber, active: Mutex::new(active) };
        Ok(Controller { shared: Arc::new(shared) })
    }

    /// The cluster's metadata as it is on the disk.
    pub fn image(&self) -> Arc<Image> {
        self.shared.image.load_full()
    }

    /// Makes somebody know of every change from now on; first of everything that is there. To be called once,
    /// before requests come in.
    pub fn subscribe(&self, subscriber: Arc<dyn Subscriber>) {
        let image = self.image();
        let nothing = Image::empty(image.cluster_id(), 0);
        subscriber.changed(&nothing, &image, &Delta::everything(&image));
        let taken = self.shared.subscriber.set(subscriber);
        debug_assert!(taken.is_ok(), "one subscriber");
    }

    /// The metadata quorum, as DescribeQuorum shows it.
    pub fn quorum(&self) -> Option<Quorum> {
        self.shared.active.lock().log.as_ref().map(MetadataLog::quorum)
    }

    /// Runs a verb. The answer comes when all it speaks of is durable and published; never, if the log fails.
    pub(super) fn submit<R: Send + 'static>(
        &self,
        decide: impl FnOnce(&Image, &View<'_>) -> Decision<R>,
    ) -> oneshot::Receiver<R> {
        self.shared.run(|active, shared| {
            let decision = decide(&active.hard.image, &shared.view());
            if !decision.records.is_empty() {
                active.append(&shared.doors, &decision.records)?;
            }
            Ok(decision.reply)
        })
    }

    /// A producer id that nobody else gets.
    pub fn next_producer_id(&self) -> oneshot::Receiver<Result<i64, super::state::Refusal>> {
        self.shared.run(|active, shared| {
            if active.block.is_empty() {
                let node = shared.settings.node_id;
                let epoch = active.hard.image.broker(node).map_or(-1, |broker| broker.epoch);
                let decision = super::state::producer_ids::allocate(&active.hard.image, node, epoch);
                active.append(&shared.doors, &decision.records)?;
                match decision.reply {
                    Ok(block) => active.block = block,
                    Err(refusal) => return Ok(Err(refusal)),
                }
            }
            Ok(Ok(active.block.next().unwrap_or_default()))
        })
    }

    /// Flushes and closes the log for an orderly stop. What is asked afterwards is never answered. Blocks.
    ///
    /// # Errors
    /// The log cannot be written.
    pub fn close(&self) -> Result<(), ControllerError> {
        let (log, parked) = {
            let mut active = self.shared.active.lock();
            (active.log.take(), std::mem::take(&mut active.parked))
        };
        let Some(log) = log else { return Ok(()) };
        log.close()?;
        for release in parked {
            release();
        }
        Ok(())
    }
}

impl Shared {
    fn view(&self) -> View<'_> {
        View {
            num_partitions: self.settings.num_partitions,
            default_replication_factor: self.settings.default_replication_factor,
            rules: &*self.rules,
        }
    }

    fn run<R: Send + 'static>(
        self: &Arc<Shared>,
        work: impl FnOnce(&mut Active, &Shared) -> Result<R, ControllerError>,
    ) -> oneshot::Receiver<R> {
        let (sender, receiver) = oneshot::channel();
        let mut active = self.active.lock();
        if active.log.is_none() {
            return receiver;
        }
        match work(&mut active, self) {
            Err(error) => {
                drop(active);
                self.fail(&error);
            }
            Ok(reply) if active.dirty || active.flushing => {
                // A client that is gone does not wait for its answer.
                active.parked.push(Box::new(move || drop(sender.send(reply))));
                if !std::mem::replace(&mut active.flushing, true) {
                    drop(active);
                    let shared = self.clone();
                    drop(self.doors.spawner.blocking(move || shared.flush_until_idle()));
                }
            }
            Ok(reply) => drop(sender.send(reply)),
        }
        receiver
    }

    fn flush_until_idle(self: &Arc<Shared>) {
        let mut guard = PanicGuard { shared: self, done: false };
        loop {
            let mut active = self.active.lock();
            let Some(log) = active.log.as_ref().filter(|_| active.dirty || !active.parked.is_empty()) else {
                active.flushing = false;
                guard.done = true;
                return;
            };
            let log = log.shared().clone();
            let parked = std::mem::take(&mut active.parked);
            let changes = std::mem::take(&mut active.hard.changes);
            let image = active.hard.image.clone();
            let dirty = std::mem::take(&mut active.dirty);
            drop(active);
            if let Err(error) = if dirty { log.flush() } else { Ok(()) } {
                guard.done = true;
                self.fail(&error.into());
                return;
            }
            self.publish(image, changes);
            for release in parked {
                release();
            }
            if let Err(error) = self.snapshot_if_due() {
                guard.done = true;
                self.fail(&error);
                return;
            }
        }
    }

    fn publish(&self, image: Image, changes: Changes) {
        let old = self.image.load_full();
        if image.offset() == old.offset() {
            return;
        }
        let new = Arc::new(image);
        let delta = changes.delta(&old, &new);
        if let Some(subscriber) = self.subscriber.get() {
            subscriber.changed(&old, &new, &delta);
        }
        self.image.store(new);
    }

    fn snapshot_if_due(&self) -> Result<(), ControllerError> {
        let image = self.image.load_full();
        let writer = {
            let active = self.active.lock();
            let Some(log) = &active.log else { return Ok(()) };
            if log.bytes_since_snapshot() < self.settings.snapshot_bytes {
                return Ok(());
            }
            log.snapshots()
        };
        let taken = writer.write(&image, self.doors.clock.now())?;
        match &mut self.active.lock().log {
            Some(log) => log.snapshot_taken(taken, self.doors.clock.now()),
            None => Ok(()),
        }
    }

    /// Nothing can be decided any more. Answers that wait are dropped, never given.
    fn fail(&self, error: &ControllerError) {
        let (log, parked) = {
            let mut active = self.active.lock();
            active.flushing = false;
            (active.log.take(), std::mem::take(&mut active.parked))
        };
        drop(parked);
        if log.is_none() {
            return;
        }
        tracing::error!(%error, "the metadata log failed");
        if let Some(subscriber) = self.subscriber.get() {
            subscriber.failed(error);
        }
    }
}

/// A panic of a flush round must not leave everybody waiting.
struct PanicGuard<'a> {
    shared: &'a Arc<Shared>,
    done: bool,
}

impl Drop for PanicGuard<'_> {
    fn drop(&mut self) {
        if !self.done {
            self.shared.fail(&ControllerError::Panicked);
        }
    }
}
