//! The image that everybody reads, and who is told when there is a new one – whoever it is that feeds it: the active
//! controller, a standby, or an observer of the metadata log.

use std::sync::{Arc, OnceLock};

use arc_swap::ArcSwap;
use parking_lot::Mutex;
use tokio::sync::watch;

use super::error::ControllerError;
use super::image::{Changes, Delta, Image};
use super::metadata_log::Position;
use super::record::Record;
use super::state::{Hard, apply};

/// Who must know of every change: called before the new image is visible and before any answer leaves, one change
/// at a time, in order, on a thread that may block.
pub trait Subscriber: Send + Sync {
    /// The first call after [`Metadata::subscribe`] brings everything there is.
    fn changed(&self, old: &Image, new: &Arc<Image>, delta: &Delta);

    /// The metadata log failed: nothing will be decided any more, the process has to stop.
    fn failed(&self, error: &ControllerError);
}

/// The cluster's metadata as this process knows it. Cheap to clone; one per process.
#[derive(Clone)]
pub struct Metadata {
    shared: Arc<Shared>,
}

struct Shared {
    image: ArcSwap<Image>,
    offset: watch::Sender<i64>,
    subscriber: OnceLock<Arc<dyn Subscriber>>,
    failed: watch::Sender<bool>,
    /// Held while somebody is told.
    telling: Mutex<()>,
}

impl Metadata {
    /// Begins with an image.
    pub fn new(image: Image) -> Metadata {
        let (offset, _) = watch::channel(image.offset());
        let image = ArcSwap::from_pointee(image);
        let (subscriber, (failed, _)) = (OnceLock::new(), watch::channel(false));
        let shared = Shared { image, offset, subscriber, failed, telling: Mutex::default() };
        Metadata { shared: Arc::new(shared) }
    }

    /// What is committed, as far as this process has it.
    pub fn image(&self) -> Arc<Image> {
        self.shared.image.load_full()
    }

    /// The offset of the image, and every later one.
    pub fn watch(&self) -> watch::Receiver<i64> {
        self.shared.offset.subscribe()
    }

    /// Turns true when the metadata log fails, also before there is a subscriber.
    pub fn failed(&self) -> watch::Receiver<bool> {
        self.shared.failed.subscribe()
    }

    /// Makes somebody know of every change from now on; first of everything that is there, once `prepare` has seen
    /// it. To be called once, before requests come in. Blocks.
    pub fn subscribe(&self, subscriber: Arc<dyn Subscriber>, prepare: impl FnOnce(&Image)) {
        let _telling = self.shared.telling.lock();
        let image = self.image();
        prepare(&image);
        let nothing = Image::empty(image.cluster_id(), 0);
        subscriber.changed(&nothing, &image, &Delta::everything(&image));
        let taken = self.shared.subscriber.set(subscriber);
        debug_assert!(taken.is_ok(), "one subscriber");
    }

    /// A newer image. One thread at a time, in the order of the log.
    pub(in crate::controller) fn publish(&self, image: Image, changes: Changes) {
        let _telling = self.shared.telling.lock();
        let old = self.image();
        if image.offset() == old.offset() {
            return;
        }
        let new = Arc::new(image);
        let delta = changes.delta(&old, &new);
        if let Some(subscriber) = self.shared.subscriber.get() {
            subscriber.changed(&old, &new, &delta);
        }
        let offset = new.offset();
        self.shared.image.store(new);
        self.shared.offset.send_replace(offset);
    }

    /// There will be no newer image.
    pub(in crate::controller) fn fail(&self, error: &ControllerError) {
        tracing::error!(%error, "the metadata log failed");
        self.shared.failed.send_replace(true);
        if let Some(subscriber) = self.shared.subscriber.get() {
            subscriber.failed(error);
        }
    }
}

/// Replays what is committed into an image and publishes it.
pub struct Loader {
    hard: Hard,
    metadata: Metadata,
}

impl Loader {
    /// Goes on from a truth.
    pub fn new(hard: Hard, metadata: Metadata) -> Loader {
        Loader { hard, metadata }
    }

    /// One committed batch; control batches have no records.
    ///
    /// # Errors
    /// The records contradict what came before.
    pub fn take(&mut self, at: Position, records: &[Record]) -> Result<(), ControllerError> {
        for record in records {
            apply(&mut self.hard, record)?;
        }
        self.hard.advance(at.offset, at.epoch, at.timestamp_ms);
        // A transaction of records is seen whole or not at all.
        if !self.hard.in_transaction() {
            self.metadata.publish(self.hard.image.clone(), std::mem::take(&mut self.hard.changes));
        }
        Ok(())
    }

    /// A snapshot takes the place of everything so far.
    pub fn restore(&mut self, hard: Hard) {
        let changes = Changes::between(&self.metadata.image(), &hard.image);
        self.hard = hard;
        self.hard.changes = Changes::default();
        self.metadata.publish(self.hard.image.clone(), changes);
    }

    /// The truth so far.
    pub fn hard(&self) -> &Hard {
        &self.hard
    }
}

#[cfg(test)]
mod tests {
    use barnabas_protocol::messages::records::metadata::{RemoveTopicRecord, TopicRecord};

    use super::super::state::story::Story;
    use super::*;
    use crate::ids::Uuid;

    fn topic(name: &str, id: u8) -> Record {
        TopicRecord { name: name.to_owned(), topic_id: Uuid([id; 16]) }.into()
    }

    #[test]
    fn a_snapshot_brings_what_is_new_and_takes_what_is_gone() {
        let mut story = Story::started();
        story.write(vec![topic("a", 1), topic("b", 2)]);
        let old = story.image().clone();
        story.write(vec![RemoveTopicRecord { topic_id: Uuid([1; 16]) }.into(), topic("c", 3)]);
        let delta = Changes::between(&old, story.image()).delta(&old, story.image());
        let ids = |topics: &std::collections::BTreeMap<Uuid, Arc<super::super::image::TopicImage>>| {
            topics.keys().copied().collect::<Vec<Uuid>>()
        };
        assert_eq!((ids(&delta.changed), ids(&delta.removed)), (vec![Uuid([3; 16])], vec![Uuid([1; 16])]));
    }
}
