//! The log where one node is the whole quorum. Each start is a new epoch, which this node leads. What is appended
//! counts once it is flushed: on a blocking thread, one round at a time; whatever is appended while a flush is under
//! way shares the next one.

use std::sync::{Arc, OnceLock, Weak};

use parking_lot::Mutex;
use tokio::sync::watch;

use super::files::Files;
use super::snapshot::Snapshots;
use super::{Follower, Followers, LogEvents, MetadataLog, Position, Quorum, batches};
use crate::clock::Now;
use crate::controller::error::ControllerError;
use crate::controller::image::Image;
use crate::controller::record::Record;
use crate::ids::Uuid;
use crate::spawn::Spawner;
use crate::storage::Log;

/// Cheap to clone.
#[derive(Clone)]
pub struct SoleLog {
    shared: Arc<Shared>,
}

struct Shared {
    node: i32,
    epoch: i32,
    log: Arc<Log>,
    spawner: Spawner,
    events: OnceLock<Weak<dyn LogEvents>>,
    committed: watch::Sender<i64>,
    snapshots: Snapshots,
    followers: Followers,
    writer: Mutex<Writer>,
}

struct Writer {
    /// None once it is closed or has failed.
    files: Option<Files>,
    /// A thread is in `flush_until_idle`.
    flushing: bool,
}

impl SoleLog {
    /// Goes on with opened files, in an epoch that is on the disk.
    pub(super) fn new(
        node: i32,
        epoch: i32,
        files: Files,
        snapshots: Snapshots,
        spawner: Spawner,
    ) -> SoleLog {
        let log = files.appender.log().clone();
        let (committed, _) = watch::channel(0);
        let writer = Mutex::new(Writer { files: Some(files), flushing: false });
        let (events, followers) = (OnceLock::new(), Followers::default());
        let shared = Shared { node, epoch, log, spawner, events, committed, snapshots, followers, writer };
        SoleLog { shared: Arc::new(shared) }
    }
}

impl MetadataLog for SoleLog {
    fn begin(&self, events: Weak<dyn LogEvents>) -> Result<(), ControllerError> {
        let listener = events.upgrade();
        let taken = self.shared.events.set(events);
        debug_assert!(taken.is_ok(), "one listener");
        // Nobody else knows of the log yet: the first flush is this thread's.
        self.shared.writer.lock().flushing = true;
        if let Some(listener) = listener {
            listener.leading(self.shared.epoch)?;
        }
        self.shared.flush_once()?;
        self.shared.flush_until_idle();
        Ok(())
    }

    fn append(&self, epoch: i32, records: &[Record], now: Now) -> Result<Position, ControllerError> {
        if epoch != self.shared.epoch {
            return Err(ControllerError::NotLeader);
        }
        let mut bytes = batches::data(records, 0, epoch, now)?;
        let mut writer = self.shared.writer.lock();
        let files = writer.files.as_mut().ok_or(ControllerError::Closed)?;
        files.append(&mut bytes, epoch, now)
    }

    fn push(&self) {
        let begins = !std::mem::replace(&mut self.shared.writer.lock().flushing, true);
        if begins {
            let shared = self.shared.clone();
            drop(self.shared.spawner.blocking(move || shared.flush_until_idle()));
        }
    }

    fn next_offset(&self) -> i64 {
        self.shared.log.end_offset()
    }

    fn quorum(&self) -> Quorum {
        let Shared { node, epoch, .. } = *self.shared;
        Quorum { leader: node, epoch, log_end: self.next_offset(), directory: Uuid::ZERO }
    }

    fn log(&self) -> &Arc<Log> {
        &self.shared.log
    }

    fn snapshots(&self) -> &Snapshots {
        &self.shared.snapshots
    }

    fn voters(&self, now: Now) -> Vec<Follower> {
        let (node, log_end) = (self.shared.node, self.next_offset());
        vec![Follower::current(node, Uuid::ZERO, log_end, now.wall_ms)]
    }

    fn followers(&self) -> &Followers {
        &self.shared.followers
    }

    fn committed(&self) -> watch::Receiver<i64> {
        self.shared.committed.subscribe()
    }

    fn bytes_since_snapshot(&self) -> u64 {
        self.shared.writer.lock().files.as_ref().map_or(0, |files| files.bytes_since_snapshot)
    }

    fn snapshot(&self, image: &Image, now: Now) -> Result<(), ControllerError> {
        let id = self.shared.snapshots.write(image, now)?;
        let mut writer = self.shared.writer.lock();
        let Some(files) = &mut writer.files else { return Ok(()) };
        files.trim(id, now)?;
        self.shared.snapshots.remove_before(id)
    }

    fn close(&self) -> Result<(), ControllerError> {
        let files = self.shared.writer.lock().files.take();
        let Some(files) = files else { return Ok(()) };
        let end = self.next_offset();
        files.appender.close_clean()?;
        self.shared.committed.send_replace(end);
        Ok(())
    }
}

impl Shared {
    /// One flush, and the news of it. True if it found something to do.
    fn flush_once(&self) -> Result<bool, ControllerError> {
        let end = self.log.end_offset();
        if end == *self.committed.borrow() {
            return Ok(false);
        }
        self.log.flush()?;
        self.committed.send_replace(end);
        if let Some(events) = self.events.get().and_then(Weak::upgrade) {
            events.own_committed(end.saturating_sub(1));
        }
        Ok(true)
    }

    fn flush_until_idle(&self) {
        let mut guard = PanicGuard { shared: self, done: false };
        loop {
            let outcome = self.flush_once();
            let mut writer = self.writer.lock();
            match outcome {
                Err(error) => {
                    writer.files = None;
                    drop(writer);
                    guard.done = true;
                    return self.fail(&error);
                }
                Ok(_) if writer.files.is_some() && self.log.end_offset() != *self.committed.borrow() => {}
                Ok(_) => {
                    writer.flushing = false;
                    guard.done = true;
                    return;
                }
            }
        }
    }

    fn fail(&self, error: &ControllerError) {
        if let Some(events) = self.events.get().and_then(Weak::upgrade) {
            events.failed(error);
        }
    }
}

/// A panic of a flush round must not leave everybody waiting.
struct PanicGuard<'a> {
    shared: &'a Shared,
    done: bool,
}

impl Drop for PanicGuard<'_> {
    fn drop(&mut self) {
        if !self.done {
            self.shared.fail(&ControllerError::Panicked);
        }
    }
}
