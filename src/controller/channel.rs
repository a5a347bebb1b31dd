//! The way to the active controller from anywhere in the process: a call where it is this node's, TCP where it is not.

use std::future::Future;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use barnabas_protocol::ErrorCode;
use barnabas_protocol::messages::create_topics::CreatableTopicResult;
use barnabas_protocol::messages::{
    AllocateProducerIdsRequest, AllocateProducerIdsResponse, AlterPartitionRequest, AlterPartitionResponse,
    AssignReplicasToDirsRequest, AssignReplicasToDirsResponse, BrokerHeartbeatRequest,
    BrokerHeartbeatResponse, BrokerRegistrationRequest, BrokerRegistrationResponse,
    ControllerRegistrationRequest, ControllerRegistrationResponse, CreateTopicsRequest, CreateTopicsResponse,
    EnvelopeRequest, EnvelopeResponse, Request,
};
use bytes::Bytes;
use parking_lot::Mutex;
use thiserror::Error;
use tokio::sync::oneshot::{self, Receiver};
use tokio::sync::watch;

use super::driver::Controller;
use super::leadership::Leadership;
use super::state::Refusal;
use super::verbs::{NewTopic, request_for};
use crate::clock::Clock;
use crate::peer::{Address, Peer, PeerError, Peers};
use crate::spawn::Spawner;

/// The pause before a controller that could not be reached, or does not lead, is asked for anew, in ms.
const PAUSE_MS: u64 = 50;
/// How long one answer may take, in ms, before the connection is given up for lost.
const ANSWER_MS: u64 = 5_000;
/// How long clients' requests and what the broker needs for them may take altogether, in ms.
const PATIENCE_MS: u64 = 30_000;

/// Why the controller did not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ChannelError {
    /// Nobody led, or could be reached, in time.
    #[error("no controller answered in time")]
    TimedOut,
    /// The process is stopping.
    #[error("the node is stopping")]
    Stopped,
}

/// What nodes ask of the active controller.
pub trait ControllerCall: Request {
    /// Asks it in this process; none if it can only be asked from outside.
    fn here(&self, controller: &Controller) -> Option<Receiver<Self::Response>>;

    /// The code of an answer.
    fn code(response: &Self::Response) -> i16;
}

macro_rules! calls {
    ($($request:ident => $response:ident, $verb:ident;)*) => {
        $(impl ControllerCall for $request {
            fn here(&self, controller: &Controller) -> Option<Receiver<$response>> {
                Some(controller.$verb(self))
            }

            fn code(response: &$response) -> i16 {
                response.error_code
            }
        })*
    };
}

calls! {
    AllocateProducerIdsRequest => AllocateProducerIdsResponse, allocate_producer_ids;
    AlterPartitionRequest => AlterPartitionResponse, alter_partition;
    AssignReplicasToDirsRequest => AssignReplicasToDirsResponse, assign_directories;
    BrokerHeartbeatRequest => BrokerHeartbeatResponse, broker_heartbeat;
    BrokerRegistrationRequest => BrokerRegistrationResponse, register_broker;
    ControllerRegistrationRequest => ControllerRegistrationResponse, register_controller;
}

impl ControllerCall for CreateTopicsRequest {
    fn here(&self, controller: &Controller) -> Option<Receiver<CreateTopicsResponse>> {
        Some(controller.create_topics(self))
    }

    fn code(response: &CreateTopicsResponse) -> i16 {
        response.topics.first().map_or(0, |topic| topic.error_code)
    }
}

impl ControllerCall for EnvelopeRequest {
    fn here(&self, _controller: &Controller) -> Option<Receiver<EnvelopeResponse>> {
        None
    }

    fn code(response: &EnvelopeResponse) -> i16 {
        response.error_code
    }
}

/// Cheap to clone.
#[derive(Clone)]
pub struct Channel {
    shared: Arc<Shared>,
    line: Arc<Line>,
}

struct Shared {
    node: i32,
    local: Option<Controller>,
    leadership: Leadership,
    peers: Peers,
    clock: Clock,
    spawner: Spawner,
    broker_epoch: watch::Sender<i64>,
    /// Producer ids of our block that were not handed out yet. Held while the next block is asked for.
    producer_ids: tokio::sync::Mutex<Range<i64>>,
}

/// One connection to whoever leads.
#[derive(Default)]
struct Line {
    peer: Mutex<Option<(Address, Peer)>>,
    /// Whom to ask next while nobody is known to lead.
    candidate: AtomicUsize,
}

impl Channel {
    /// From this node; `local` is its controller, if it has one.
    pub fn new(
        node: i32,
        local: Option<Controller>,
        leadership: Leadership,
        peers: Peers,
        clock: Clock,
        spawner: Spawner,
    ) -> Channel {
        let shared = Shared {
            node,
            local,
            leadership,
            peers,
            clock,
            spawner,
            broker_epoch: watch::Sender::new(-1),
            producer_ids: tokio::sync::Mutex::default(),
        };
        Channel { shared: Arc::new(shared), line: Arc::default() }
    }

    /// The same by a connection of its own, for what must not wait behind others.
    pub fn own_line(&self) -> Channel {
        Channel { shared: self.shared.clone(), line: Arc::default() }
    }

    /// Which registration of this broker is in force; -1 before there is one.
    pub fn broker_epoch(&self) -> i64 {
        *self.shared.broker_epoch.borrow()
    }

    /// The broker is registered.
    pub fn set_broker_epoch(&self, epoch: i64) {
        self.shared.broker_epoch.send_replace(epoch);
    }

    /// Waits until the broker is registered; its epoch then.
    pub async fn registered(&self) -> i64 {
        let mut epochs = self.shared.broker_epoch.subscribe();
        // The sender lives as long as this.
        epochs.wait_for(|epoch| *epoch >= 0).await.map_or(-1, |epoch| *epoch)
    }

    /// The controller of this process, if it is the active one.
    pub fn active_here(&self) -> Option<&Controller> {
        self.shared.local.as_ref().filter(|controller| controller.is_active())
    }

    /// Asks whoever leads, and anew whoever leads next, until there is an answer or the monotonic time `deadline_ms`.
    ///
    /// # Errors
    /// See [`ChannelError`].
    pub async fn ask<Q: ControllerCall>(
        &self,
        request: &Q,
        deadline_ms: u64,
    ) -> Result<Q::Response, ChannelError> {
        loop {
            if let Some(response) = self.ask_once(request, deadline_ms).await? {
                return Ok(response);
            }
            let now_ms = self.shared.clock.now().mono_ms;
            if now_ms >= deadline_ms {
                return Err(ChannelError::TimedOut);
            }
            self.shared.clock.sleep_until(now_ms.saturating_add(PAUSE_MS).min(deadline_ms)).await;
        }
    }

    async fn ask_once<Q: ControllerCall>(
        &self,
        request: &Q,
        deadline_ms: u64,
    ) -> Result<Option<Q::Response>, ChannelError> {
        let leads = |response: &Q::Response| Q::code(response) != ErrorCode::NotController.code();
        if let Some(answer) = self.active_here().and_then(|controller| request.here(controller)) {
            // Without a majority it would never come.
            return Ok(tokio::select! {
                biased;
                answer = answer => answer.ok().filter(leads),
                () = self.shared.clock.sleep_until(deadline_ms) => None,
            });
        }
        let Some(peer) = self.peer() else { return Ok(None) };
        let left_ms = deadline_ms.saturating_sub(self.shared.clock.now().mono_ms);
        match peer.ask(request, left_ms.min(ANSWER_MS)).await {
            Ok(response) if leads(&response) => Ok(Some(response)),
            Ok(_) => {
                self.hang_up();
                Ok(None)
            }
            Err(PeerError::Stopped) => Err(ChannelError::Stopped),
            Err(_) => {
                self.hang_up();
                Ok(None)
            }
        }
    }

    /// The connection to the leader; to the next one that may know while nobody is known to lead.
    fn peer(&self) -> Option<Peer> {
        let known = self.shared.leadership.get().filter(|leader| leader.id != self.shared.node);
        let mut line = self.line.peer.lock();
        let address = match known.and_then(|leader| leader.address) {
            Some(address) => address,
            // Until it turns out not to lead.
            None if line.is_some() => return line.as_ref().map(|(_, peer)| peer.clone()),
            None => {
                let candidates = self.shared.leadership.candidates();
                let turn = self.line.candidate.fetch_add(1, Ordering::Relaxed);
                candidates.get(turn.checked_rem(candidates.len())?)?.clone()
            }
        };
        match &*line {
            Some((there, peer)) if *there == address => Some(peer.clone()),
            _ => {
                let peer = self.shared.peers.open(address.clone());
                *line = Some((address, peer.clone()));
                Some(peer)
            }
        }
    }

    /// Whoever was asked does not lead, or is not there.
    fn hang_up(&self) {
        *self.line.peer.lock() = None;
    }

    /// A whole request of a client's, asked in its name; gives the frame of the answer, from the header on.
    pub fn forward(&self, envelope: EnvelopeRequest) -> Receiver<Option<Bytes>> {
        let channel = self.clone();
        self.spawn(move |deadline_ms| async move {
            let response = channel.ask(&envelope, deadline_ms).await.ok()?;
            response.response_data.filter(|_| response.error_code == 0)
        })
    }

    /// Makes a topic unless it is there. Succeeds in both cases.
    pub fn ensure_topic(&self, topic: &NewTopic) -> Receiver<Result<(), Refusal>> {
        let (channel, request) = (self.clone(), request_for(std::slice::from_ref(topic)));
        // Where this node decides, it does so now.
        let decided = self.active_here().map(|controller| controller.create_topics(&request));
        self.spawn(move |deadline_ms| async move {
            let made = match decided {
                Some(answer) => answer.await.map_err(|_| ChannelError::Stopped),
                None => channel.ask(&request, deadline_ms).await,
            };
            match made {
                Ok(response) => response.topics.first().map_or(Ok(()), there),
                Err(error) => Err(Refusal::new(ErrorCode::RequestTimedOut, error.to_string())),
            }
        })
    }

    /// Makes those of the topics that are not there, all in one; nobody waits for it.
    pub fn make_topics(&self, topics: &[NewTopic]) {
        if topics.is_empty() {
            return;
        }
        let request = request_for(topics);
        if let Some(controller) = self.active_here() {
            return drop(controller.create_topics(&request));
        }
        let channel = self.clone();
        drop(self.spawn(move |deadline_ms| async move { drop(channel.ask(&request, deadline_ms).await) }));
    }

    /// A producer id that nobody else gets.
    pub fn next_producer_id(&self) -> Receiver<Result<i64, Refusal>> {
        if let Some(controller) = self.active_here() {
            return controller.next_producer_id();
        }
        let channel = self.clone();
        self.spawn(move |deadline_ms| async move {
            let mut block = channel.shared.producer_ids.lock().await;
            if block.is_empty() {
                let (broker_id, broker_epoch) = (channel.shared.node, channel.broker_epoch());
                let request = AllocateProducerIdsRequest { broker_id, broker_epoch };
                // Kafka, too, tells the client to try again, whatever the reason.
                let again = || Refusal::bare(ErrorCode::CoordinatorLoadInProgress);
                let got = channel.ask(&request, deadline_ms).await.map_err(|_| again())?;
                if got.error_code != 0 {
                    return Err(again());
                }
                *block =
                    got.producer_id_start..got.producer_id_start.saturating_add(got.producer_id_len.into());
            }
            block.next().ok_or_else(|| Refusal::bare(ErrorCode::CoordinatorLoadInProgress))
        })
    }

    fn spawn<T, F>(&self, work: impl FnOnce(u64) -> F + Send + 'static) -> Receiver<T>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        let (sender, receiver) = oneshot::channel();
        let deadline_ms = self.shared.clock.now().mono_ms.saturating_add(PATIENCE_MS);
        let work = work(deadline_ms);
        self.shared.spawner.spawn(async move {
            // A client that is gone does not wait for its answer.
            let _gone = sender.send(work.await);
        });
        receiver
    }
}

/// A topic that is there is as good as one that was made.
fn there(made: &CreatableTopicResult) -> Result<(), Refusal> {
    let code = ErrorCode::from_code(made.error_code).unwrap_or(ErrorCode::UnknownServerError);
    match code {
        ErrorCode::None | ErrorCode::TopicAlreadyExists => Ok(()),
        code => Err(Refusal { code, message: made.error_message.clone() }),
    }
}
