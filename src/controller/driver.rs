//! Decide, append, apply – then, once the records are committed, publish the image and let the answers go.
//!
//! Decisions are made on the caller's task under one lock, against the truth that runs ahead of the commit. What is
//! decided while a commit is under way shares the next one. An answer that changes nothing waits, too, if what it
//! speaks of is not committed yet. A controller that does not lead replays what the leader commits.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use tokio::sync::{Notify, oneshot};

use super::error::ControllerError;
use super::image::{Changes, Image};
use super::metadata::Metadata;
use super::metadata_log::{LogEvents, MetadataLog, Position, Quorum};
use super::record::Record;
use super::state::activation::{self, Node};
use super::state::registration::Moment;
use super::state::sessions::Sessions;
use super::state::{ConfigRules, Decision, Hard, View, apply};
use crate::clock::Clock;
use crate::rng::Rng;
use crate::spawn::Spawner;

/// Records in one batch of a start; a request's decision is always one batch.
const BATCH_RECORDS: usize = 5000;

/// What decisions need to be told.
#[derive(Clone, Debug)]
pub struct Settings {
    /// `node.id`.
    pub node_id: i32,
    /// `num.partitions`.
    pub num_partitions: i32,
    /// `default.replication.factor`.
    pub default_replication_factor: i16,
    /// `min.insync.replicas` in the file.
    pub min_insync_replicas: usize,
    /// `unclean.leader.election.enable` in the file.
    pub unclean_leader_election: bool,
    /// `metadata.log.max.record.bytes.between.snapshots`.
    pub snapshot_bytes: u64,
    /// `broker.session.timeout.ms`: a broker that says nothing for so long is fenced.
    pub session_timeout_ms: u64,
    /// `broker.disconnect.grace.ms`: a broker whose connection was closed is fenced after so long; `None` leaves it to
    /// the session's timeout, as Kafka does.
    pub disconnect_grace_ms: Option<u64>,
    /// `leader.imbalance.check.interval.seconds`, in ms; `None` if leaders are not moved back by themselves.
    pub rebalance_interval_ms: Option<u64>,
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

/// What a controller says when it begins to lead.
pub(super) struct Start {
    /// This node.
    pub(super) node: Node,
    /// The records that a fresh cluster begins with.
    pub(super) fresh: Vec<Record>,
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
    metadata: Metadata,
    log: Arc<dyn MetadataLog>,
    start: Start,
    active: Mutex<Active>,
    /// Rings when something will be due earlier than was known.
    pub(super) alarm: Notify,
}

struct Active {
    /// Runs ahead of what is committed while this node leads.
    hard: Hard,
    /// The epoch that this node leads.
    leading: Option<i32>,
    /// What was appended in this epoch and is not committed, in order.
    ahead: VecDeque<Ahead>,
    /// Answers and the offset that must be committed before they leave, in order.
    parked: VecDeque<(i64, Box<dyn FnOnce() + Send>)>,
    /// Nothing is decided any more: the log was closed or has failed.
    closed: bool,
    /// Which brokers were heard of; meaningful only while this node leads.
    sessions: Sessions,
    /// Producer ids of our block that were not handed out yet.
    block: Range<i64>,
}

/// The truth behind one batch.
struct Ahead {
    last_offset: i64,
    image: Image,
    changes: Changes,
}

impl Controller {
    /// Takes over an opened metadata log. Where this node leads at once, what a start has to say is committed when
    /// this returns. Blocks.
    ///
    /// # Errors
    /// The log cannot be written.
    pub(super) fn start(
        (hard, metadata): (Hard, Metadata),
        log: Arc<dyn MetadataLog>,
        start: Start,
        settings: Settings,
        rules: Arc<dyn ConfigRules>,
        doors: Doors,
    ) -> Result<Controller, ControllerError> {
        let sessions =
            Sessions::begin(&hard.image, settings.session_timeout_ms, settings.disconnect_grace_ms, None, 0);
        let active = Active {
            hard,
            sessions,
            leading: None,
            ahead: VecDeque::new(),
            parked: VecDeque::new(),
            closed: false,
            block: 0..0,
        };
        let shared = Arc::new(Shared {
            settings,
            rules,
            doors,
            metadata,
            log,
            start,
            active: Mutex::new(active),
            alarm: Notify::new(),
        });
        let events: Weak<Shared> = Arc::downgrade(&shared);
        shared.log.begin(events)?;
        Ok(Controller { shared })
    }

    /// The image that this controller feeds.
    pub fn metadata(&self) -> &Metadata {
        &self.shared.metadata
    }

    /// The cluster's metadata as it is committed.
    pub fn image(&self) -> Arc<Image> {
        self.shared.metadata.image()
    }

    /// The metadata log, for those who copy it.
    pub fn log(&self) -> &Arc<dyn MetadataLog> {
        &self.shared.log
    }

    /// The metadata quorum, as DescribeQuorum shows it; none once the log is closed.
    pub fn quorum(&self) -> Option<Quorum> {
        let closed = self.shared.active.lock().closed;
        (!closed).then(|| self.shared.log.quorum())
    }

    /// Runs a verb. The answer comes when all it speaks of is committed and published; never, if this node does not
    /// lead, or not for long enough.
    pub(super) fn submit<R: Send + 'static>(
        &self,
        decide: impl FnOnce(&Image, &View<'_>) -> Decision<R>,
    ) -> oneshot::Receiver<R> {
        self.shared.run(|active, epoch, shared| {
            let decision = decide(&active.hard.image, &shared.view());
            if !decision.records.is_empty() {
                active.append(shared, epoch, &decision.records)?;
            }
            Ok(decision.reply)
        })
    }

    /// Runs a verb that looks at the brokers' sessions.
    pub(super) fn submit_with_sessions<R: Send + 'static>(
        &self,
        decide: impl FnOnce(&Image, &View<'_>, &mut Sessions, Moment) -> Decision<R>,
    ) -> oneshot::Receiver<R> {
        self.shared.run(|active, epoch, shared| {
            let now_ms = shared.doors.clock.now().mono_ms;
            let moment = Moment { next_offset: shared.log.next_offset(), now_ms };
            let Active { hard, sessions, .. } = active;
            let decision = decide(&hard.image, &shared.view(), sessions, moment);
            if !decision.records.is_empty() {
                active.append(shared, epoch, &decision.records)?;
            }
            Ok(decision.reply)
        })
    }

    /// True while this node decides.
    pub fn is_active(&self) -> bool {
        let active = self.shared.active.lock();
        active.leading.is_some() && !active.closed
    }

    /// The connection of a broker ended, which may mean that its process did.
    pub fn hung_up(&self, broker: i32, epoch: i64) {
        let now_ms = self.shared.doors.clock.now().mono_ms;
        self.shared.active.lock().sessions.hung_up(broker, epoch, now_ms);
        self.shared.alarm.notify_one();
    }

    /// Hands the leadership of the metadata log over to another controller, if there is one, and waits until it is done.
    pub async fn resign(&self) {
        if let Some(handed) = self.shared.log.resign() {
            handed.await;
        }
    }

    /// When the next session of a broker is over, in monotonic ms; none if this node does not lead.
    pub(super) fn next_session_end(&self) -> Option<u64> {
        let active = self.shared.active.lock();
        active.leading.and_then(|_| active.sessions.next_end(&active.hard.image))
    }

    /// A producer id that nobody else gets.
    pub fn next_producer_id(&self) -> oneshot::Receiver<Result<i64, super::state::Refusal>> {
        self.shared.run(|active, epoch, shared| {
            if active.block.is_empty() {
                let node = shared.settings.node_id;
                let broker_epoch = active.hard.image.broker(node).map_or(-1, |broker| broker.epoch);
                let decision = super::state::producer_ids::allocate(&active.hard.image, node, broker_epoch);
                active.append(shared, epoch, &decision.records)?;
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
        let parked = {
            let mut active = self.shared.active.lock();
            if std::mem::replace(&mut active.closed, true) {
                return Ok(());
            }
            std::mem::take(&mut active.parked)
        };
        self.shared.log.close()?;
        let committed = *self.shared.log.committed().borrow();
        for (_, release) in parked.into_iter().filter(|(offset, _)| *offset < committed) {
            release();
        }
        Ok(())
    }
}

impl Active {
    /// Appends one batch in the epoch that this node leads, and takes it into the truth.
    fn append(&mut self, shared: &Shared, epoch: i32, records: &[Record]) -> Result<(), ControllerError> {
        let at = shared.log.append(epoch, records, shared.doors.clock.now())?;
        for record in records {
            apply(&mut self.hard, record)?;
        }
        self.hard.advance(at.offset, at.epoch, at.timestamp_ms);
        let (image, changes) = (self.hard.image.clone(), std::mem::take(&mut self.hard.changes));
        self.ahead.push_back(Ahead { last_offset: at.offset, image, changes });
        Ok(())
    }

    /// Leads no more: what was not committed is forgotten, and nobody is told that it happened.
    fn step_down(&mut self, committed: &Image) {
        if self.leading.take().is_some() {
            self.hard = Hard::new(committed.clone());
            self.ahead.clear();
            self.parked.clear();
            self.block = 0..0;
        }
    }
}

impl Shared {
    fn view(&self) -> View<'_> {
        View {
            num_partitions: self.settings.num_partitions,
            default_replication_factor: self.settings.default_replication_factor,
            min_insync_replicas: self.settings.min_insync_replicas,
            unclean_leader_election: self.settings.unclean_leader_election,
            rules: &*self.rules,
        }
    }

    fn run<R: Send + 'static>(
        self: &Arc<Shared>,
        work: impl FnOnce(&mut Active, i32, &Shared) -> Result<R, ControllerError>,
    ) -> oneshot::Receiver<R> {
        let (sender, receiver) = oneshot::channel();
        let mut active = self.active.lock();
        let Some(epoch) = active.leading.filter(|_| !active.closed) else { return receiver };
        match work(&mut active, epoch, self) {
            Err(ControllerError::NotLeader) => active.step_down(&self.metadata.image()),
            Err(error) => {
                drop(active);
                self.fail(&error);
            }
            Ok(reply) => {
                // It may speak of what was decided before and is not published yet.
                let offset = active.hard.image.offset();
                if offset > self.metadata.image().offset() {
                    // A client that is gone does not wait for its answer.
                    active.parked.push_back((offset, Box::new(move || drop(sender.send(reply)))));
                    drop(active);
                    self.log.push();
                } else {
                    drop(sender.send(reply));
                }
            }
        }
        receiver
    }

    /// Nothing can be decided any more. Answers that wait are dropped, never given.
    fn fail(&self, error: &ControllerError) {
        let parked = {
            let mut active = self.active.lock();
            if std::mem::replace(&mut active.closed, true) {
                return;
            }
            std::mem::take(&mut active.parked)
        };
        drop(parked);
        self.metadata.fail(error);
    }

    fn snapshot_if_due(&self) -> Result<(), ControllerError> {
        if self.log.bytes_since_snapshot() < self.settings.snapshot_bytes {
            return Ok(());
        }
        self.log.snapshot(&self.metadata.image(), self.doors.clock.now())
    }

    fn snapshot_or_fail(&self) {
        if let Err(error) = self.snapshot_if_due() {
            self.fail(&error);
        }
    }
}

impl LogEvents for Shared {
    fn leading(&self, epoch: i32) -> Result<(), ControllerError> {
        let mut active = self.active.lock();
        active.leading = Some(epoch);
        let next = self.log.next_offset();
        let Start { node, fresh } = &self.start;
        let records = activation::activate(&active.hard, &self.view(), fresh, node, next);
        for batch in records.chunks(BATCH_RECORDS) {
            active.append(self, epoch, batch)?;
        }
        let timeout_ms = self.settings.session_timeout_ms;
        let now_ms = self.doors.clock.now().mono_ms;
        let exempt = node.joins_alone.then_some(node.id);
        active.sessions = Sessions::begin(
            &active.hard.image,
            timeout_ms,
            self.settings.disconnect_grace_ms,
            exempt,
            now_ms,
        );
        drop(active);
        self.alarm.notify_one();
        self.log.push();
        Ok(())
    }

    fn following(&self, _epoch: i32, _leader: Option<i32>) {
        self.active.lock().step_down(&self.metadata.image());
    }

    fn own_committed(&self, up_to: i64) {
        let mut newest: Option<Ahead> = None;
        let mut active = self.active.lock();
        while let Some(mut ahead) = active.ahead.pop_front() {
            if ahead.last_offset > up_to {
                active.ahead.push_front(ahead);
                break;
            }
            if let Some(before) = newest.take() {
                let later = std::mem::replace(&mut ahead.changes, before.changes);
                ahead.changes.then(later);
            }
            newest = Some(ahead);
        }
        drop(active);
        if let Some(ahead) = newest {
            self.metadata.publish(ahead.image, ahead.changes);
        }
        let mut active = self.active.lock();
        let due = active.parked.partition_point(|(offset, _)| *offset <= up_to);
        let released: Vec<_> = active.parked.drain(..due).collect();
        drop(active);
        for (_, release) in released {
            release();
        }
        self.snapshot_or_fail();
    }

    fn committed(&self, at: Position, records: &[Record]) {
        let mut active = self.active.lock();
        let hard = &mut active.hard;
        if let Some(error) = records.iter().find_map(|record| apply(hard, record).err()) {
            drop(active);
            return self.fail(&error.into());
        }
        hard.advance(at.offset, at.epoch, at.timestamp_ms);
        if hard.in_transaction() {
            return;
        }
        let (image, changes) = (hard.image.clone(), std::mem::take(&mut hard.changes));
        drop(active);
        self.metadata.publish(image, changes);
        self.snapshot_or_fail();
    }

    fn restored(&self, hard: Hard) {
        let changes = Changes::between(&self.metadata.image(), &hard.image);
        let image = hard.image.clone();
        self.active.lock().hard = hard;
        self.metadata.publish(image, changes);
    }

    fn nobody_there(&self, voter: i32) {
        let now_ms = self.doors.clock.now().mono_ms;
        let mut active = self.active.lock();
        if active.leading.is_some() && active.sessions.seems_gone(voter, now_ms) {
            drop(active);
            self.alarm.notify_one();
        }
    }

    fn failed(&self, error: &ControllerError) {
        self.fail(error);
    }
}
