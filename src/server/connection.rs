//! One connection: frames in, replies out in the same order, on one task.
//!
//! Kafka handles one request of a connection at a time. Here a produce may also start behind produces that
//! wait for replication; behind anything else that waits the connection pauses. All whole frames of one
//! receive are started before one send.

use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use barnabas_protocol::ApiKey;
use tokio::time::Sleep;

use super::dispatch::{self, Origin};
use super::inbox::Inbox;
use super::memory::Held;
use super::outbox::Outbox;
use crate::handlers::{CloseReason, Out, Outcome, Rooms, Session, Ticket};
use crate::net::Stream;
use crate::shutdown::Shutdown;

/// Replies of this many bytes wait to be sent: no further request is started.
const REPLIES_PENDING: usize = 1024 * 1024;
/// Produces that may wait for replication behind one another.
const PIPELINED: usize = 1024;
/// A peer that does not read may hold up an orderly stop for so long, in ms.
const STOP_WITHIN_MS: u64 = 3_000;

/// Why a connection ended.
#[derive(Debug)]
pub enum End {
    /// The peer closed it.
    Peer,
    /// Nothing happened for `connections.max.idle.ms`.
    Idle,
    /// A half-sent request held memory that others waited for.
    TooSlow,
    /// The broker stops.
    Stopping,
    /// What the peer sent, or an answer that can only be a hang-up.
    HungUp(CloseReason),
    /// The socket failed.
    Socket(io::Error),
}

/// A reply's place in the order.
enum Slot {
    Waiting { ticket: Box<dyn Ticket>, origin: Origin, held: Option<Held> },
    Answered(Out),
}

/// See the module.
pub struct Connection<'a> {
    rooms: &'a Rooms,
    session: &'a Session,
    stream: Stream,
    inbox: Inbox,
    outbox: Outbox,
    /// Behind a request that waits; the first is always a waiting one.
    slots: VecDeque<Slot>,
    /// Everything in `slots` is a produce.
    only_produces: bool,
    /// The peer has sent all it will send.
    read_closed: bool,
    /// Set once: the connection ends when what was answered before has been sent.
    closing: Option<End>,
    stopping: bool,
    /// Monotonic ms when the stop no longer waits for the peer.
    stop_by: Option<u64>,
    /// Monotonic ms of the last byte received or sent.
    active_at: u64,
    max_idle_ms: Option<u64>,
    timer: Pin<Box<Sleep>>,
    timer_at: u64,
}

impl<'a> Connection<'a> {
    /// A connection that has just been accepted.
    pub fn new(rooms: &'a Rooms, session: &'a Session, stream: Stream, inbox: Inbox) -> Connection<'a> {
        let now = rooms.clock.now().mono_ms;
        Connection {
            rooms,
            session,
            stream,
            inbox,
            outbox: Outbox::new(rooms.spawner),
            slots: VecDeque::new(),
            only_produces: true,
            read_closed: false,
            closing: None,
            stopping: false,
            stop_by: None,
            active_at: now,
            max_idle_ms: rooms.config.network.max_idle_ms,
            timer: Box::pin(tokio::time::sleep_until(rooms.clock.instant(u64::MAX))),
            timer_at: u64::MAX,
        }
    }

    /// Serves until the end.
    pub async fn serve(mut self, mut shutdown: Shutdown) -> End {
        let mut stop = std::pin::pin!(shutdown.requested());
        let mut stop_seen = false;
        std::future::poll_fn(move |cx| {
            if !stop_seen && stop.as_mut().poll(cx).is_ready() {
                stop_seen = true;
                self.stopping = true;
                self.stop_by = Some(self.rooms.clock.now().mono_ms.saturating_add(STOP_WITHIN_MS));
            }
            self.poll(cx)
        })
        .await
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<End> {
        loop {
            let now = self.rooms.clock.now();
            let mut moved = self.finish_waiting(cx, now.mono_ms);
            moved |= self.start_frames();
            match self.outbox.poll_flush(cx, &mut self.stream) {
                Poll::Ready(Ok(())) => {
                    if let Some(end) = self.ending() {
                        return Poll::Ready(end);
                    }
                }
                Poll::Ready(Err(error)) => return Poll::Ready(End::Socket(error)),
                Poll::Pending => {}
            }
            match self.receive(cx, now.mono_ms) {
                Poll::Ready(Ok(received)) => {
                    if received {
                        moved = true;
                        self.active_at = now.mono_ms;
                    }
                }
                Poll::Ready(Err(error)) => return Poll::Ready(End::Socket(error)),
                Poll::Pending => {}
            }
            if moved {
                continue;
            }
            if let Some(end) = self.overdue(now.mono_ms) {
                return Poll::Ready(end);
            }
            if self.arm_timer(cx, now.mono_ms) {
                return Poll::Pending;
            }
        }
    }

    /// Everything answered has been sent: is there a reason to end?
    fn ending(&mut self) -> Option<End> {
        if let Some(end) = self.closing.take() {
            return Some(end);
        }
        // A peer that has closed its side gets no more replies; the work it asked for is done or goes on.
        if self.read_closed {
            return Some(End::Peer);
        }
        (self.stopping && self.slots.is_empty()).then_some(End::Stopping)
    }

    /// Finishes what waits at the front and is ready; true if anything was answered.
    fn finish_waiting(&mut self, cx: &mut Context<'_>, now_ms: u64) -> bool {
        let mut moved = false;
        while self.closing.is_none() {
            match self.slots.pop_front() {
                Some(Slot::Answered(mut replies)) => self.outbox.out().append(&mut replies),
                Some(Slot::Waiting { mut ticket, origin, held }) => {
                    let due = ticket.deadline().is_some_and(|deadline| deadline <= now_ms);
                    if !(due || self.stopping) && ticket.poll_ready(cx).is_pending() {
                        self.slots.push_front(Slot::Waiting { ticket, origin, held });
                        break;
                    }
                    let (rooms, session) = (self.rooms, self.session);
                    let (out, stopping) = (self.outbox.out(), self.stopping);
                    match dispatch::finish(rooms, session, &origin, stopping, ticket, out) {
                        Ok(Outcome::Done | Outcome::Silent) => {}
                        Ok(Outcome::Parked(_)) if self.stopping => self.close(End::Stopping),
                        Ok(Outcome::Parked(ticket)) => {
                            let held = self.inbox.hold(ticket.held_bytes());
                            self.slots.push_front(Slot::Waiting { ticket, origin, held });
                            // It must be polled once more to be woken again.
                            moved = true;
                            continue;
                        }
                        Err(reason) => self.close(End::HungUp(reason)),
                    }
                }
                None => {
                    self.only_produces = true;
                    break;
                }
            }
            moved = true;
        }
        moved
    }

    /// Starts whole frames while the order of replies allows it; true if any was.
    fn start_frames(&mut self) -> bool {
        let mut moved = false;
        while self.closing.is_none()
            && !self.stopping
            && !self.read_closed
            && self.outbox.pending() < REPLIES_PENDING
        {
            let place = match self.inbox.next_frame() {
                Ok(Some(place)) => place,
                Ok(None) => break,
                Err(reason) => {
                    self.close(End::HungUp(reason));
                    break;
                }
            };
            let frame = self.inbox.frame(&place);
            let produce = dispatch::peek_key(frame) == Some(ApiKey::Produce);
            let behind = !self.slots.is_empty();
            if behind && !(produce && self.only_produces && self.slots.len() < PIPELINED) {
                break;
            }
            let mut aside = Out::default();
            let out = if behind { &mut aside } else { self.outbox.out() };
            let (answer, origin) = dispatch::start(self.rooms, self.session, frame, out);
            self.inbox.consume(&place);
            moved = true;
            match answer {
                Ok(Outcome::Done) if behind => self.slots.push_back(Slot::Answered(aside)),
                Ok(Outcome::Done | Outcome::Silent) => {}
                Ok(Outcome::Parked(ticket)) => {
                    self.only_produces &= produce && ticket.has_begun();
                    let held = self.inbox.hold(ticket.held_bytes());
                    self.slots.push_back(Slot::Waiting { ticket, origin, held });
                }
                Err(reason) => self.close(End::HungUp(reason)),
            }
        }
        moved
    }

    fn close(&mut self, end: End) {
        self.closing = Some(end);
        self.slots.clear();
    }

    /// Receives once if there is no whole frame to start; `true` if bytes or the end came.
    fn receive(&mut self, cx: &mut Context<'_>, now_ms: u64) -> Poll<io::Result<bool>> {
        if self.read_closed || self.stopping || self.closing.is_some() {
            return Poll::Ready(Ok(false));
        }
        if !matches!(self.inbox.next_frame(), Ok(None)) {
            return Poll::Ready(Ok(false));
        }
        match self.inbox.poll_fill(cx, &mut self.stream, now_ms) {
            Poll::Ready(Ok(0)) => {
                self.read_closed = true;
                self.slots.clear();
                Poll::Ready(Ok(true))
            }
            Poll::Ready(Ok(_)) => Poll::Ready(Ok(true)),
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Pending => Poll::Pending,
        }
    }

    /// Did it take too long?
    fn overdue(&self, now_ms: u64) -> Option<End> {
        if self.stop_by.is_some_and(|by| by <= now_ms) {
            return Some(End::Stopping);
        }
        if self.inbox.is_too_slow(now_ms) {
            return Some(End::TooSlow);
        }
        let quiet_ms = now_ms.saturating_sub(self.active_at);
        let idle = self.slots.is_empty() && self.max_idle_ms.is_some_and(|max| quiet_ms >= max);
        idle.then_some(End::Idle)
    }

    /// Sets the timer to the next thing that may be due. False if that is now: then look again.
    fn arm_timer(&mut self, cx: &mut Context<'_>, now_ms: u64) -> bool {
        let ticket = match self.slots.front() {
            Some(Slot::Waiting { ticket, .. }) => ticket.deadline(),
            _ => None,
        };
        let idle = self.max_idle_ms.filter(|_| self.slots.is_empty());
        let idle = idle.map(|max| self.active_at.saturating_add(max));
        // Others may begin to wait for memory later: look again and again.
        let slow = self.inbox.next_check(now_ms);
        let Some(next) = [ticket, idle, slow, self.stop_by].into_iter().flatten().min() else { return true };
        // A timer that fires early costs a look; moving it at each request would cost more.
        if next < self.timer_at || self.timer.is_elapsed() {
            self.timer_at = next;
            self.timer.as_mut().reset(self.rooms.clock.instant(next));
        }
        if self.timer.as_mut().poll(cx).is_ready() {
            // Rounding may let it fire a moment before the millisecond it was set for.
            self.timer_at = u64::MAX;
            if next > self.rooms.clock.now().mono_ms {
                self.timer_at = next.saturating_add(1);
                self.timer.as_mut().reset(self.rooms.clock.instant(self.timer_at));
                return self.timer.as_mut().poll(cx).is_pending();
            }
            return false;
        }
        true
    }
}
