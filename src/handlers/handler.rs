//! The shape of a handler: two plain functions, one that starts a request and one that finishes it.

use std::any::Any;
use std::borrow::Cow;
use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use barnabas_protocol::codec::{DecodeError, Reader, Wire, Writer};
use barnabas_protocol::header::HeaderError;
use barnabas_protocol::messages::{Request, Response};
use barnabas_protocol::{ApiKey, ErrorCode};
use parking_lot::Mutex;
use tokio::sync::oneshot;

use super::{Out, Rooms};
use crate::clock::Now;
use crate::coordinator::{Answer as Asked, Reply, Unavailable};

/// Whom a listener is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Clients and other brokers.
    Broker,
    /// Those who want the controller (`controller.listener.names`).
    Controller,
}

/// What is known of a connection's other end.
#[derive(Debug)]
pub struct Session {
    /// Whom it came to see.
    pub side: Side,
    /// The listener's name, as in `listeners`.
    pub listener: Arc<str>,
    /// The peer's address.
    pub peer: IpAddr,
    /// Kafka's spelling, `User:ANONYMOUS` where nobody authenticated.
    pub principal: Arc<str>,
    /// What ends with the connection.
    pub kept: Mutex<Option<Box<dyn Any + Send + Sync>>>,
}

/// One request's surroundings.
pub struct Ctx<'a> {
    /// The broker.
    pub rooms: &'a Rooms,
    /// Who asks, and where.
    pub session: &'a Session,
    /// The client's name for itself.
    pub client_id: Cow<'a, str>,
    /// Which API, at which version: replies are encoded at it.
    pub api: ApiKey,
    /// See `api`.
    pub version: i16,
    /// When this step began.
    pub now: Now,
    /// The broker is going: what waits should answer with what it has.
    pub stopping: bool,
}

/// What a principal wants to do (KIP-11's operations).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "Kafka's names")]
pub enum Operation {
    Read,
    Write,
    Create,
    Delete,
    Alter,
    Describe,
    ClusterAction,
    DescribeConfigs,
    AlterConfigs,
    IdempotentWrite,
}

/// To what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "Kafka's names")]
pub enum Resource<'a> {
    Topic(&'a str),
    Group(&'a str),
    TransactionalId(&'a str),
    Cluster,
}

impl Ctx<'_> {
    /// May the principal do this? Every handler asks; until an authorizer is built, everybody may
    /// (and `authorizer.class.name` stops the start).
    pub fn authorize(&self, _operation: Operation, _resource: Resource<'_>) -> bool {
        true
    }

    /// Reads the body of a request.
    ///
    /// # Errors
    /// It does not follow its schema: the connection is hung up on.
    pub fn decode<R: Request>(&self, body: &[u8]) -> Result<R, CloseReason> {
        Ok(R::decode(&mut Reader::new(body, self.version))?)
    }

    /// Gathers the parts of an answer that grows faster than its request: a few bytes may name the same large thing
    /// again and again, and Kafka answers each time. An answer may take as much memory as a request may be large.
    ///
    /// # Errors
    /// It would take more: the connection is hung up on.
    pub fn gather<T: Wire>(&self, parts: impl IntoIterator<Item = T>) -> Result<Vec<T>, CloseReason> {
        let limit = usize::try_from(self.rooms.config.network.request_max_bytes).unwrap_or(usize::MAX);
        let mut room = limit;
        let mut gathered = Vec::new();
        for part in parts {
            let bytes = size_of::<T>().saturating_add(part.heap_bytes());
            room = room.checked_sub(bytes).ok_or(CloseReason::AnswerTooLarge { limit })?;
            gathered.push(part);
        }
        Ok(gathered)
    }

    /// Writes the body of a response, at the request's version.
    pub fn respond<R: Response>(&self, out: &mut Out, response: &R) -> Answer {
        response.encode(&mut Writer::new(out.bytes(), self.version));
        Ok(Outcome::Done)
    }
}

/// What became of a request.
pub enum Outcome {
    /// The body has been written.
    Done,
    /// There is no answer, as to a produce with acks=0.
    Silent,
    /// The answer comes later.
    Parked(Box<dyn Ticket>),
}

/// What a handler gives back: an outcome, or the reason why nothing sensible can be answered.
pub type Answer = Result<Outcome, CloseReason>;

/// Why a connection is hung up.
#[derive(Debug, thiserror::Error)]
pub enum CloseReason {
    /// A frame's length is negative or zero.
    #[error("a frame of {0} bytes cannot be")]
    InvalidLength(i32),
    /// A frame's length is above `socket.request.max.bytes`.
    #[error("a request of {claimed} bytes, where socket.request.max.bytes={allowed}")]
    TooLarge {
        /// The length announced, in bytes.
        claimed: usize,
        /// The limit, in bytes.
        allowed: usize,
    },
    /// The header is none.
    #[error("{0}")]
    Header(#[from] HeaderError),
    /// The body does not follow its schema.
    #[error("request that cannot be read: {0}")]
    Decode(#[from] DecodeError),
    /// What is asked would take more memory to answer than `socket.request.max.bytes`.
    #[error("its answer would take more than {limit} bytes (socket.request.max.bytes)")]
    AnswerTooLarge {
        /// The limit, in bytes.
        limit: usize,
    },
    /// No handler for this key and version.
    #[error("{api:?} version {version} is not served here")]
    Unsupported {
        /// The API in the header.
        api: ApiKey,
        /// The version in the header.
        version: i16,
    },
    /// An error with acks=0 can only be told by closing the socket.
    #[error("a produce with acks=0 failed: {0:?}")]
    ProduceFailed(ErrorCode),
    /// The answer could not be put together from the files.
    #[error("reading the log failed: {0}")]
    Read(#[from] std::io::Error),
    /// The work behind the request was dropped (a room is going or failed).
    #[error("the request's work was dropped")]
    Dropped,
}

/// A request that waits.
pub trait Ticket: Send {
    /// Ready when it is worth calling [`Ticket::finish`].
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<()>;

    /// Monotonic ms at which `finish` is called all the same.
    fn deadline(&self) -> Option<u64> {
        None
    }

    /// What the request changes is changed: others may begin behind it.
    fn has_begun(&self) -> bool {
        true
    }

    /// Bytes of the request that it holds on to: they count as the frame did, which is gone.
    fn held_bytes(&self) -> usize {
        0
    }

    /// Writes the body, or parks again.
    fn finish(self: Box<Self>, ctx: &Ctx<'_>, out: &mut Out) -> Answer;
}

/// Parks until a value arrives, then goes on with `then`.
pub fn when<T, F>(receiver: oneshot::Receiver<T>, then: F) -> Answer
where
    T: Send + 'static,
    F: FnOnce(T, &Ctx<'_>, &mut Out) -> Answer + Send + 'static,
{
    Ok(Outcome::Parked(Box::new(When { receiver, value: None, then, has_begun: true, held_bytes: 0 })))
}

/// As [`when`], where something has not been done yet that later requests could rely on; meanwhile `held_bytes` of the
/// request are kept.
pub fn before_it_begins<T, F>(receiver: oneshot::Receiver<T>, held_bytes: usize, then: F) -> Answer
where
    T: Send + 'static,
    F: FnOnce(T, &Ctx<'_>, &mut Out) -> Answer + Send + 'static,
{
    Ok(Outcome::Parked(Box::new(When { receiver, value: None, then, has_begun: false, held_bytes })))
}

/// Does work that blocks on a thread of its own, then goes on with `then`.
pub fn blocking<T, W, F>(ctx: &Ctx<'_>, work: W, then: F) -> Answer
where
    T: Send + 'static,
    W: FnOnce() -> T + Send + 'static,
    F: FnOnce(T, &Ctx<'_>, &mut Out) -> Answer + Send + 'static,
{
    let (sender, receiver) = oneshot::channel();
    ctx.rooms.spawner.blocking(move || {
        // Nobody waits for it any more if the connection is gone.
        let _gone = sender.send(work());
    });
    when(receiver, then)
}

/// Goes on when all shards of a coordinator have answered; their answers are in the order of the questions.
pub fn after_all<R, F>(asked: Vec<Asked<R>>, ctx: &Ctx<'_>, out: &mut Out, go_on: F) -> Answer
where
    R: Send + 'static,
    F: FnOnce(Vec<Reply<R>>, &Ctx<'_>, &mut Out) -> Answer + Send + 'static,
{
    let all = Box::new(All { parts: asked, go_on });
    if all.parts.iter().all(|part| matches!(part, Asked::Ready(_))) {
        return all.finish(ctx, out);
    }
    Ok(Outcome::Parked(all))
}

struct All<R, F> {
    parts: Vec<Asked<R>>,
    go_on: F,
}

impl<R, F> Ticket for All<R, F>
where
    R: Send,
    F: FnOnce(Vec<Reply<R>>, &Ctx<'_>, &mut Out) -> Answer + Send,
{
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        for part in &mut self.parts {
            if let Asked::Pending(receiver) = part {
                match Pin::new(receiver).poll(cx) {
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(reply) => *part = Asked::Ready(reply.unwrap_or(Err(Unavailable::Lost))),
                }
            }
        }
        Poll::Ready(())
    }

    fn finish(self: Box<Self>, ctx: &Ctx<'_>, out: &mut Out) -> Answer {
        let replies = self.parts.into_iter().map(|part| match part {
            Asked::Ready(reply) => reply,
            // The broker stops before everybody has answered.
            Asked::Pending(_) => Err(Unavailable::Lost),
        });
        (self.go_on)(replies.collect(), ctx, out)
    }
}

struct When<T, F> {
    receiver: oneshot::Receiver<T>,
    value: Option<T>,
    then: F,
    has_begun: bool,
    held_bytes: usize,
}

impl<T, F> Ticket for When<T, F>
where
    T: Send + 'static,
    F: FnOnce(T, &Ctx<'_>, &mut Out) -> Answer + Send + 'static,
{
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Poll::Ready(value) = Pin::new(&mut self.receiver).poll(cx) else {
            return Poll::Pending;
        };
        self.value = value.ok();
        Poll::Ready(())
    }

    fn has_begun(&self) -> bool {
        self.has_begun
    }

    fn held_bytes(&self) -> usize {
        self.held_bytes
    }

    fn finish(self: Box<Self>, ctx: &Ctx<'_>, out: &mut Out) -> Answer {
        let value = self.value.ok_or(CloseReason::Dropped)?;
        (self.then)(value, ctx, out)
    }
}
