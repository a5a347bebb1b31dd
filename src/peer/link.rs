//! The task behind a [`Peer`](super::Peer): it connects, agrees on versions, sends, receives, and gives up on time.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use barnabas_protocol::ApiKey;
use barnabas_protocol::header::{RequestHeader, parse_response_header};
use bytes::Bytes;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Sleep;
use tracing::{debug, info};

use super::versions::{self, Outcome, Versions};
use super::wire::Wire;
use super::{Address, Call, Identity, Loss, PeerError, PeerState, Peers, Place, RawAnswer, What};
use crate::net::{Network, Stream};

/// Where a request's header has its correlation id.
const CORRELATION_ID: Range<usize> = 4..8;

/// A request that has left, or is about to.
struct Sent {
    id: i32,
    /// `None`: not one of Kafka's, the header ends after the correlation id.
    api: Option<ApiKey>,
    version: i16,
    due_ms: u64,
    /// `None`: the connection's own first exchange.
    caller: Option<(oneshot::Sender<Result<RawAnswer, PeerError>>, Place)>,
}

/// A connection on its way.
type Attempt = Pin<Box<dyn Future<Output = Result<Stream, Loss>> + Send>>;

enum Phase {
    /// No connection, and none before this monotonic ms.
    Resting {
        until_ms: u64,
    },
    Connecting {
        attempt: Attempt,
        due_ms: u64,
    },
    /// A connection; `None` until versions are agreed on.
    Open {
        wire: Wire,
        versions: Option<Versions>,
    },
}

/// See the module.
pub(super) struct Link {
    peers: Peers,
    to: Arc<Address>,
    node: Option<Identity>,
    queue: mpsc::UnboundedReceiver<Call>,
    /// Every peer's handle is gone.
    abandoned: bool,
    state: watch::Sender<PeerState>,
    phase: Phase,
    /// In the order of asking, not sent yet.
    waiting: VecDeque<Call>,
    /// In the order of sending.
    sent: VecDeque<Sent>,
    next_id: i32,
    /// Attempts that failed since the last connection that worked.
    failures: u32,
    timer: Pin<Box<Sleep>>,
}

impl Link {
    pub(super) fn new(
        peers: Peers,
        to: Address,
        node: Option<Identity>,
        queue: mpsc::UnboundedReceiver<Call>,
        state: watch::Sender<PeerState>,
    ) -> Link {
        let timer = Box::pin(tokio::time::sleep_until(peers.clock.instant(u64::MAX)));
        Link {
            peers,
            to: Arc::new(to),
            node,
            queue,
            abandoned: false,
            state,
            phase: Phase::Resting { until_ms: 0 },
            waiting: VecDeque::new(),
            sent: VecDeque::new(),
            next_id: 0,
            failures: 0,
            timer,
        }
    }

    /// Runs until nobody can call any more and what was asked is answered.
    pub(super) async fn run(mut self) {
        std::future::poll_fn(|cx| self.poll(cx)).await;
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            self.take_calls(cx);
            if self.abandoned && self.waiting.is_empty() && self.sent.is_empty() {
                return Poll::Ready(());
            }
            let now_ms = self.peers.clock.now().mono_ms;
            self.expire(now_ms);
            let moved = match self.advance(cx, now_ms) {
                Ok(moved) => moved,
                Err(loss) => {
                    self.lose(loss, now_ms);
                    true
                }
            };
            if !moved && self.arm_timer(cx) {
                return Poll::Pending;
            }
        }
    }

    fn take_calls(&mut self, cx: &mut Context<'_>) {
        while !self.abandoned {
            match self.queue.poll_recv(cx) {
                Poll::Ready(Some(call)) => self.waiting.push_back(call),
                Poll::Ready(None) => self.abandoned = true,
                Poll::Pending => break,
            }
        }
    }

    /// One step of the phase; true if another may follow at once.
    fn advance(&mut self, cx: &mut Context<'_>, now_ms: u64) -> Result<bool, Loss> {
        match &mut self.phase {
            Phase::Resting { until_ms } => {
                if self.waiting.is_empty() || *until_ms > now_ms {
                    return Ok(false);
                }
                let attempt = Box::pin(connect(self.peers.network.clone(), self.to.clone()));
                let due_ms = now_ms.saturating_add(self.peers.settings.connect_timeout_ms);
                self.phase = Phase::Connecting { attempt, due_ms };
                self.state.send_replace(PeerState::Connecting);
                Ok(true)
            }
            Phase::Connecting { attempt, due_ms } => match attempt.as_mut().poll(cx) {
                Poll::Ready(stream) => {
                    let due_ms = *due_ms;
                    let wire = Wire::new(stream?, self.peers.settings.largest_answer);
                    self.phase = Phase::Open { wire, versions: None };
                    self.greet(versions::first(self.node.as_ref()), due_ms);
                    Ok(true)
                }
                Poll::Pending if *due_ms <= now_ms => Err(Loss::Silent),
                Poll::Pending => Ok(false),
            },
            Phase::Open { .. } => self.exchange(cx),
        }
    }

    /// Sends what may be sent and takes what has come.
    fn exchange(&mut self, cx: &mut Context<'_>) -> Result<bool, Loss> {
        while let Some(call) = self.next_to_send() {
            self.send(call);
        }
        let Phase::Open { wire, .. } = &mut self.phase else { return Ok(true) };
        let had_room = wire.has_room();
        if let Poll::Ready(result) = wire.poll_flush(cx) {
            result.map_err(|error| loss_of(&error))?;
        }
        let more_room = !had_room && wire.has_room();
        match wire.poll_frame(cx) {
            Poll::Ready(frame) => {
                self.receive(&frame.map_err(|error| loss_of(&error))?)?;
                Ok(true)
            }
            Poll::Pending => Ok(more_room),
        }
    }

    fn next_to_send(&mut self) -> Option<Call> {
        match &self.phase {
            Phase::Open { wire, versions: Some(_) } if wire.has_room() => self.waiting.pop_front(),
            _ => None,
        }
    }

    fn send(&mut self, call: Call) {
        let Phase::Open { wire, versions: Some(versions) } = &mut self.phase else { return };
        let Call { what, due_ms, reply, _place: place } = call;
        let id = self.next_id;
        let (api, version, fits) = match what {
            What::Request { api, versions: ours, write } => {
                let Some(version) = versions.agree(api, &ours) else {
                    let _gone = reply.send(Err(PeerError::Unsupported(api)));
                    return;
                };
                let header = header(api, version, id, &self.peers.client_id);
                let fits = wire.put(|out| {
                    header.write(out);
                    write(version, out);
                });
                (Some(api), version, fits)
            }
            What::Frame(mut frame) => {
                let place = frame.get_mut(CORRELATION_ID);
                let patched = place.map(|place| place.copy_from_slice(&id.to_be_bytes())).is_some();
                (None, 0, patched && wire.put(|out| out.append(&mut frame)))
            }
        };
        if !fits {
            let _gone = reply.send(Err(PeerError::NoFrame));
            return;
        }
        self.sent.push_back(Sent { id, api, version, due_ms, caller: Some((reply, place)) });
        self.next_id = id.wrapping_add(1);
    }

    /// The connection's own first request.
    fn greet(&mut self, version: i16, due_ms: u64) {
        let Phase::Open { wire, .. } = &mut self.phase else { return };
        let header = header(ApiKey::ApiVersions, version, self.next_id, &self.peers.client_id);
        wire.put(|out| {
            header.write(out);
            versions::write(self.node.as_ref(), version, out);
        });
        let (id, api) = (self.next_id, Some(ApiKey::ApiVersions));
        self.sent.push_back(Sent { id, api, version, due_ms, caller: None });
        self.next_id = self.next_id.wrapping_add(1);
    }

    /// An answer: it must be that to the oldest request.
    fn receive(&mut self, frame: &Bytes) -> Result<(), Loss> {
        let sent = self.sent.pop_front().ok_or(Loss::Garbled)?;
        let parsed = match sent.api {
            Some(api) => parse_response_header(frame, api, sent.version).ok(),
            None => frame.split_first_chunk::<4>().map(|(id, body)| (i32::from_be_bytes(*id), body)),
        };
        let body = match parsed {
            Some((id, body)) if id == sent.id => frame.slice_ref(body),
            _ => {
                self.sent.push_front(sent);
                return Err(Loss::Garbled);
            }
        };
        let Some((reply, _place)) = sent.caller else {
            return match versions::read(sent.version, &body) {
                Outcome::Agreed(agreed) => {
                    if let Phase::Open { versions, .. } = &mut self.phase {
                        *versions = Some(agreed);
                    }
                    self.failures = 0;
                    self.state.send_replace(PeerState::Up);
                    Ok(())
                }
                Outcome::Older(version) => {
                    self.greet(version, sent.due_ms);
                    Ok(())
                }
                Outcome::Failed(loss) => Err(loss),
            };
        };
        // Whoever no longer waits does not want it.
        let _gone = reply.send(Ok(RawAnswer { version: sent.version, body }));
        Ok(())
    }

    /// Calls whose time is up. An answer that does not come leaves the connection useless, as in Kafka: the
    /// answers behind it are not to be had.
    fn expire(&mut self, now_ms: u64) {
        if self.sent.iter().any(|sent| sent.due_ms <= now_ms) {
            for sent in take_due(&mut self.sent, |sent| sent.due_ms <= now_ms) {
                if let Some((reply, _place)) = sent.caller {
                    let _gone = reply.send(Err(PeerError::TimedOut { sent: true }));
                }
            }
            self.lose(Loss::Silent, now_ms);
        }
        for call in take_due(&mut self.waiting, |call| call.due_ms <= now_ms) {
            let _gone = call.reply.send(Err(PeerError::TimedOut { sent: false }));
        }
    }

    /// The connection is lost, or did not come about.
    fn lose(&mut self, loss: Loss, now_ms: u64) {
        let worked = matches!(self.phase, Phase::Open { versions: Some(_), .. });
        for Sent { caller, .. } in self.sent.drain(..) {
            if let Some((reply, _place)) = caller {
                let _gone = reply.send(Err(PeerError::Lost(loss)));
            }
        }
        let rest_ms = if worked { 0 } else { self.backoff() };
        if worked {
            debug!(to = %self.to, %loss, "a connection to another node was lost");
        } else {
            // Whoever waited for this attempt decides whether to try again.
            for call in self.waiting.drain(..) {
                let _gone = call.reply.send(Err(PeerError::Unreachable(loss)));
            }
            if self.failures == 1 {
                info!(to = %self.to, %loss, "cannot connect to another node");
            }
        }
        self.phase = Phase::Resting { until_ms: now_ms.saturating_add(rest_ms) };
        self.state.send_replace(PeerState::Down { loss, since_ms: now_ms });
    }

    /// The pause after one more failure: doubled each time, and spread by a fifth so that nodes do not come in step.
    fn backoff(&mut self) -> u64 {
        let settings = &self.peers.settings;
        let factor = 1_u64.checked_shl(self.failures.min(30)).unwrap_or(u64::MAX);
        self.failures = self.failures.saturating_add(1);
        let pause = settings.backoff_ms.saturating_mul(factor).min(settings.backoff_max_ms);
        let spread = pause / 5;
        let jitter = self.peers.rng.below(spread.saturating_mul(2).saturating_add(1));
        pause.saturating_sub(spread).saturating_add(jitter)
    }

    /// Sets the timer to what is due next. False if that is now.
    fn arm_timer(&mut self, cx: &mut Context<'_>) -> bool {
        let phase = match &self.phase {
            Phase::Resting { until_ms } if !self.waiting.is_empty() => Some(*until_ms),
            Phase::Connecting { due_ms, .. } => Some(*due_ms),
            Phase::Resting { .. } | Phase::Open { .. } => None,
        };
        let sent = self.sent.iter().map(|sent| sent.due_ms);
        let waiting = self.waiting.iter().map(|call| call.due_ms);
        let Some(next) = sent.chain(waiting).chain(phase).min() else { return true };
        let at = self.peers.clock.instant(next);
        if self.timer.deadline() != at || self.timer.is_elapsed() {
            self.timer.as_mut().reset(at);
        }
        self.timer.as_mut().poll(cx).is_pending()
    }
}

fn header(api: ApiKey, version: i16, correlation_id: i32, client_id: &str) -> RequestHeader<'_> {
    RequestHeader { api, version, correlation_id, client_id: Cow::Borrowed(client_id) }
}

fn take_due<T>(all: &mut VecDeque<T>, is_due: impl Fn(&T) -> bool) -> VecDeque<T> {
    if !all.iter().any(&is_due) {
        return VecDeque::new();
    }
    let (due, rest) = std::mem::take(all).into_iter().partition(is_due);
    *all = rest;
    due
}

/// Tries the addresses of a name in turn; the last failure is the reason.
async fn connect(network: Network, to: Arc<Address>) -> Result<Stream, Loss> {
    let addresses = network.resolve(&to.host, to.port).await.map_err(|_| Loss::Unresolved)?;
    let mut loss = Loss::Unresolved;
    for address in addresses {
        match network.connect(address).await {
            Ok(stream) => return Ok(stream),
            Err(error) => loss = loss_of(&error),
        }
    }
    Err(loss)
}

fn loss_of(error: &io::Error) -> Loss {
    match error.kind() {
        io::ErrorKind::ConnectionRefused
        | io::ErrorKind::ConnectionReset
        | io::ErrorKind::ConnectionAborted
        | io::ErrorKind::BrokenPipe
        | io::ErrorKind::WriteZero
        | io::ErrorKind::UnexpectedEof => Loss::Closed,
        io::ErrorKind::TimedOut => Loss::Silent,
        io::ErrorKind::InvalidData => Loss::Garbled,
        other => Loss::Network(other),
    }
}
