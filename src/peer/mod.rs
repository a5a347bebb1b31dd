//! Calls to other nodes: brokers and controllers.
//!
//! One [`Peer`] is one pipelined connection, made when it is first needed and made again, after a pause that grows,
//! when it is lost. A node answers the requests of a connection in order: whoever waits long (a fetch) has a peer of
//! its own. The first exchange agrees on versions and checks that the node is who it should be (KIP-1242).
//!
//! Whether a connection was closed or has only fallen silent is kept apart: the kernel closes the sockets of a
//! process that died, while a node that hangs, or a cut cable, says nothing.

mod error;
mod link;
mod versions;
mod wire;

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use barnabas_protocol::ApiKey;
use barnabas_protocol::codec::{Reader, Writer};
use barnabas_protocol::messages::{Message, Request};
use bytes::Bytes;
use tokio::sync::{mpsc, oneshot, watch};

use crate::clock::Clock;
use crate::net::Network;
use crate::rng::Rng;
use crate::spawn::Spawner;

pub use error::{Loss, PeerError};

/// Calls of one peer that may wait for their answers, sent or not.
const MOST_CALLS: usize = 4096;

/// Where a node listens.
#[derive(Clone, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Address {
    /// A name, resolved whenever a connection is made, or an address.
    pub host: String,
    /// Its port.
    pub port: u16,
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

/// Who must answer there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The cluster's id.
    pub cluster_id: String,
    /// `node.id`.
    pub node_id: i32,
}

/// What peers share: the doors and the settings. Cheap to clone.
#[derive(Clone)]
pub struct Peers {
    network: Network,
    spawner: Spawner,
    clock: Clock,
    /// Spreads the pauses before connecting again.
    rng: Rng,
    /// What this node calls itself.
    client_id: Arc<str>,
    settings: Settings,
}

/// Limits and times of peers.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// A connection that is not made after so many ms is given up (`socket.connection.setup.timeout.ms`).
    pub connect_timeout_ms: u64,
    /// The pause before connecting again, at first, in ms; it doubles with each failure (`reconnect.backoff.ms`).
    pub backoff_ms: u64,
    /// The longest pause, in ms (`reconnect.backoff.max.ms`).
    pub backoff_max_ms: u64,
    /// The largest answer, in bytes.
    pub largest_answer: usize,
}

impl Default for Settings {
    /// Kafka's.
    fn default() -> Settings {
        Settings {
            connect_timeout_ms: 10_000,
            backoff_ms: 50,
            backoff_max_ms: 1_000,
            largest_answer: 100 * 1024 * 1024,
        }
    }
}

/// How a peer's connection stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeerState {
    /// Nothing was asked yet.
    Unused,
    /// A connection is being made, or versions are agreed on.
    Connecting,
    /// It works.
    Up,
    /// It is lost; the next call, or the next pause's end, makes it again.
    Down {
        /// Why.
        loss: Loss,
        /// Since when, in monotonic ms.
        since_ms: u64,
    },
}

/// An answer as it came.
#[derive(Clone, Debug)]
pub struct RawAnswer {
    /// The version that was asked in.
    pub version: i16,
    /// The body, without the header.
    pub body: Bytes,
}

/// A call on its way to the connection.
struct Call {
    what: What,
    /// Monotonic ms when the caller wants to know.
    due_ms: u64,
    reply: oneshot::Sender<Result<RawAnswer, PeerError>>,
    _place: Place,
}

/// Writes a request's body at a version.
type Body = Box<dyn FnOnce(i16, &mut Vec<u8>) + Send>;

/// What is asked.
enum What {
    /// `write` gives the body once the version is known.
    Request { api: ApiKey, versions: RangeInclusive<i16>, write: Body },
    /// A whole request; only its correlation id is set.
    Frame(Vec<u8>),
}

/// One of the [`MOST_CALLS`]; dropping gives it back.
struct Place(Arc<AtomicUsize>);

impl Place {
    fn take(open: &Arc<AtomicUsize>) -> Option<Place> {
        let place = Place(open.clone());
        (open.fetch_add(1, Ordering::Relaxed) < MOST_CALLS).then_some(place)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// See the module. Cheap to clone; the connection is closed when the last clone is gone.
#[derive(Clone)]
pub struct Peer {
    calls: mpsc::UnboundedSender<Call>,
    open: Arc<AtomicUsize>,
    state: watch::Receiver<PeerState>,
    clock: Clock,
    largest_answer: usize,
}

impl Peers {
    /// Calls by these doors, under this name.
    pub fn new(network: Network, spawner: Spawner, clock: Clock, rng: Rng, client_id: &str) -> Peers {
        let client_id = client_id.into();
        Peers { network, spawner, clock, rng, client_id, settings: Settings::default() }
    }

    /// The same with other limits and times.
    pub fn with(mut self, settings: Settings) -> Peers {
        self.settings = settings;
        self
    }

    /// A connection of its own to whoever answers at an address, made by the first call.
    pub fn open(&self, to: Address) -> Peer {
        self.start(to, None)
    }

    /// As [`Peers::open`], but only this node may answer.
    pub fn open_node(&self, to: Address, node: Identity) -> Peer {
        self.start(to, Some(node))
    }

    fn start(&self, to: Address, node: Option<Identity>) -> Peer {
        let (calls, queue) = mpsc::unbounded_channel();
        let (sender, state) = watch::channel(PeerState::Unused);
        self.spawner.spawn(link::Link::new(self.clone(), to, node, queue, sender).run());
        let (clock, largest_answer) = (self.clock.clone(), self.settings.largest_answer);
        Peer { calls, open: Arc::default(), state, clock, largest_answer }
    }
}

impl Peer {
    /// Asks at the highest version that both speak, and waits up to `timeout_ms` for the answer.
    ///
    /// When it fails, [`PeerError::was_sent`] tells whether the node may have done what was asked. A call that is
    /// dropped while it waits is done all the same; its answer is thrown away.
    pub async fn ask<Q: Request>(&self, request: &Q, timeout_ms: u64) -> Result<Q::Response, PeerError> {
        self.ask_within(request, Q::MIN_VERSION..=Q::MAX_VERSION, timeout_ms).await
    }

    /// As [`Peer::ask`], at one version.
    pub async fn ask_at<Q: Request>(
        &self,
        request: &Q,
        version: i16,
        timeout_ms: u64,
    ) -> Result<Q::Response, PeerError> {
        self.ask_within(request, version..=version, timeout_ms).await
    }

    /// As [`Peer::ask`], at the highest of some versions.
    pub async fn ask_within<Q: Request>(
        &self,
        request: &Q,
        versions: RangeInclusive<i16>,
        timeout_ms: u64,
    ) -> Result<Q::Response, PeerError> {
        let request = request.clone();
        let write = move |version: i16, out: &mut Vec<u8>| request.encode(&mut Writer::new(out, version));
        let answer = self.ask_raw(Q::KEY, versions, write, timeout_ms).await?;
        let budget = self.largest_answer;
        Ok(Q::Response::decode(&mut Reader::with_budget(&answer.body, answer.version, budget))?)
    }

    /// As [`Peer::ask_within`], with a body that the caller writes and an answer that it reads: for what is large.
    pub async fn ask_raw(
        &self,
        api: ApiKey,
        versions: RangeInclusive<i16>,
        write: impl FnOnce(i16, &mut Vec<u8>) + Send + 'static,
        timeout_ms: u64,
    ) -> Result<RawAnswer, PeerError> {
        self.enqueue(What::Request { api, versions, write: Box::new(write) }, timeout_ms).await
    }

    /// Sends a request's header and body as they are, but for the correlation id, and gives what follows the
    /// correlation id of the answer: for calls that Kafka does not have.
    pub async fn exchange(&self, frame: Vec<u8>, timeout_ms: u64) -> Result<Bytes, PeerError> {
        Ok(self.enqueue(What::Frame(frame), timeout_ms).await?.body)
    }

    async fn enqueue(&self, what: What, timeout_ms: u64) -> Result<RawAnswer, PeerError> {
        let place = Place::take(&self.open).ok_or(PeerError::Busy)?;
        let (reply, answer) = oneshot::channel();
        let due_ms = self.clock.now().mono_ms.saturating_add(timeout_ms);
        let call = Call { what, due_ms, reply, _place: place };
        self.calls.send(call).map_err(|_| PeerError::Stopped)?;
        answer.await.unwrap_or(Err(PeerError::Stopped))
    }

    /// True while the connection works.
    pub fn is_connected(&self) -> bool {
        *self.state.borrow() == PeerState::Up
    }

    /// How the connection stands; whoever waits for a change is told.
    pub fn state(&self) -> watch::Receiver<PeerState> {
        self.state.clone()
    }
}

#[cfg(test)]
mod peer_test;
