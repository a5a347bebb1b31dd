//! Drives a broker with windows of requests in flight over one or many connections, from one thread.

use std::collections::VecDeque;
use std::io::{ErrorKind, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use rustix::event::{Timespec, epoll};

use super::inbox::Inbox;
use super::request::Frame;
use super::{Outcome, latencies, nanos};
use crate::error::{Attempt, Error, Result};
use crate::measure::as_f64;

/// Frames from this size on are sent in place; smaller ones are gathered, so that a burst is one write.
const IN_PLACE: usize = 32 * 1024;
const GATHER: usize = 64 * 1024;
const STALL: Duration = Duration::from_secs(60);

/// What to send.
pub struct Plan {
    /// For each connection the frames it sends in turn.
    pub connections: Vec<Vec<Frame>>,
    /// Requests in flight on each connection.
    pub window: usize,
    /// Requests altogether.
    pub requests: u64,
}

/// When a plan's requests are sent, and when that ends.
#[derive(Clone, Copy)]
pub enum Pace {
    /// As quickly as the windows allow, until all are sent or so much time has passed.
    Quickly(Duration),
    /// One after the other at a fixed rate, whether or not the earlier ones have been answered, each on the next
    /// connection. Latency counts from the moment a request was due.
    Steadily {
        /// Requests in a second, over all connections.
        per_second: f64,
        /// Ends after this time, too.
        within: Duration,
    },
}

/// Sends all requests of a plan and waits for all answers.
pub fn drive(addr: SocketAddr, plan: Plan) -> Result<Outcome> {
    drive_at(addr, plan, Pace::Quickly(Duration::MAX))
}

/// Sends what a plan and a pace allow and waits for all answers.
pub fn drive_at(addr: SocketAddr, plan: Plan, pace: Pace) -> Result<Outcome> {
    let poll = epoll::create(epoll::CreateFlags::CLOEXEC).attempt("epoll")?;
    let mut connections = Vec::new();
    for (index, frames) in plan.connections.into_iter().enumerate() {
        let connection = Connection::open(addr, frames, plan.window)?;
        let flags = epoll::EventFlags::IN | epoll::EventFlags::OUT | epoll::EventFlags::ET;
        let data = epoll::EventData::new_u64(index as u64);
        epoll::add(&poll, &connection.socket, data, flags).attempt("epoll")?;
        connections.push(connection);
    }
    let start = Instant::now();
    let mut tally = Tally::new(plan.requests, pace, start)?;
    let mut turn = 0;
    for connection in &mut connections {
        connection.send(&mut tally)?;
    }
    let mut events = Vec::with_capacity(128);
    loop {
        while let Some(due) = tally.next_due()
            && due <= Instant::now()
            && let Some(connection) = connections.get_mut(turn)
        {
            connection.add(&mut tally, due);
            connection.send(&mut tally)?;
            turn = if turn + 1 >= connections.len() { 0 } else { turn + 1 };
        }
        if tally.is_done() {
            break;
        }
        events.clear();
        let next = tally.next_due().map(|due| due.saturating_duration_since(Instant::now()));
        let patience = next.unwrap_or(STALL);
        let patience = Timespec {
            tv_sec: i64::try_from(patience.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(patience.subsec_nanos()),
        };
        let buffer = rustix::buffer::spare_capacity(&mut events);
        match epoll::wait(&poll, buffer, Some(&patience)) {
            Ok(0) if next.is_some() => {}
            Ok(0) => {
                let what = format!("{} of {} requests were answered", tally.answered, tally.issued);
                return Err(Error::Stalled { what, seconds: STALL.as_secs() });
            }
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(other) => return Err(other).attempt("epoll"),
        }
        for event in &events {
            let index = usize::try_from(event.data.u64()).unwrap_or(usize::MAX);
            if let Some(connection) = connections.get_mut(index) {
                connection.receive(&mut tally)?;
                connection.send(&mut tally)?;
            }
        }
    }
    let Tally { answered, sent, received, latency, .. } = tally;
    Ok(Outcome { requests: answered, sent, received, elapsed: start.elapsed(), latency })
}

struct Tally {
    unsent: u64,
    issued: u64,
    answered: u64,
    pace: Pace,
    start: Instant,
    sent: u64,
    received: u64,
    latency: Histogram<u64>,
}

impl Tally {
    fn new(requests: u64, pace: Pace, start: Instant) -> Result<Tally> {
        let latency = latencies()?;
        Ok(Tally { unsent: requests, issued: 0, answered: 0, pace, start, sent: 0, received: 0, latency })
    }

    /// One more is sent, now.
    fn issue(&mut self, frame: &Frame) {
        self.unsent -= 1;
        self.issued += 1;
        self.sent += frame.bytes.len() as u64;
    }

    /// When the next request of a steady pace is due; `None` if there is none.
    fn next_due(&self) -> Option<Instant> {
        let Pace::Steadily { per_second, within } = self.pace else { return None };
        let after = Duration::from_secs_f64(as_f64(self.issued) / per_second);
        (self.unsent > 0 && after < within).then(|| self.start + after)
    }

    /// May a connection send one more as soon as its window allows?
    fn may_send(&self, now: Instant) -> bool {
        matches!(self.pace, Pace::Quickly(within) if self.unsent > 0 && now - self.start < within)
    }

    /// Everything that was to be sent has been answered.
    fn is_done(&self) -> bool {
        let over = self.next_due().is_none() && !self.may_send(Instant::now());
        over && self.answered >= self.issued
    }
}

struct Connection {
    socket: TcpStream,
    frames: Vec<Frame>,
    turn: usize,
    correlation: i32,
    window: usize,
    /// When, and by which frame, each request in flight was sent.
    in_flight: VecDeque<(Instant, usize)>,
    gathered: Vec<u8>,
    gathered_done: usize,
    /// A large frame on its way: which, and how much of it has left.
    in_place: Option<(usize, usize)>,
    inbox: Inbox,
}

impl Connection {
    fn open(addr: SocketAddr, frames: Vec<Frame>, window: usize) -> Result<Connection> {
        let socket = TcpStream::connect_timeout(&addr, Duration::from_secs(5)).attempt("connecting")?;
        socket.set_nodelay(true).attempt("connecting")?;
        socket.set_nonblocking(true).attempt("connecting")?;
        Ok(Connection {
            socket,
            frames,
            turn: 0,
            correlation: 0,
            window,
            in_flight: VecDeque::new(),
            gathered: Vec::with_capacity(GATHER * 2),
            gathered_done: 0,
            in_place: None,
            inbox: Inbox::new(),
        })
    }

    fn receive(&mut self, tally: &mut Tally) -> Result<()> {
        let Connection { socket, frames, in_flight, inbox, .. } = self;
        inbox.pull(socket, &mut |head, len| {
            let now = Instant::now();
            let (sent, which) =
                in_flight.pop_front().ok_or_else(|| Error::Answer("one answer too many".to_owned()))?;
            if let Some(frame) = frames.get(which) {
                frame.check(head, len)?;
            }
            tally.latency.saturating_record(nanos(now - sent));
            tally.answered += 1;
            tally.received += len as u64 + 4;
            Ok(())
        })
    }

    /// Sends until the window, the plan or the socket is full.
    fn send(&mut self, tally: &mut Tally) -> Result<()> {
        while self.flush()? {
            self.gather(tally);
            if self.in_place.is_none() && self.gathered.is_empty() {
                break;
            }
        }
        Ok(())
    }

    fn gather(&mut self, tally: &mut Tally) {
        let now = Instant::now();
        while tally.may_send(now) && self.in_flight.len() < self.window && self.gathered.len() < GATHER {
            let Some(frame) = self.frames.get_mut(self.turn) else { return };
            let large = frame.bytes.len() >= IN_PLACE;
            if large && !self.gathered.is_empty() {
                return;
            }
            self.correlation = self.correlation.wrapping_add(1);
            frame.prepare(self.correlation);
            self.in_flight.push_back((now, self.turn));
            tally.issue(frame);
            if large {
                self.in_place = Some((self.turn, 0));
            } else {
                self.gathered.extend_from_slice(&frame.bytes);
            }
            self.turn = if self.turn + 1 >= self.frames.len() { 0 } else { self.turn + 1 };
            if large {
                return;
            }
        }
    }

    /// Queues one request that was due at a moment; its frame is a small one.
    fn add(&mut self, tally: &mut Tally, due: Instant) {
        let Some(frame) = self.frames.get_mut(self.turn) else { return };
        self.correlation = self.correlation.wrapping_add(1);
        frame.prepare(self.correlation);
        self.in_flight.push_back((due, self.turn));
        tally.issue(frame);
        self.gathered.extend_from_slice(&frame.bytes);
        self.turn = if self.turn + 1 >= self.frames.len() { 0 } else { self.turn + 1 };
    }

    /// Writes what waits; false if the socket takes no more.
    fn flush(&mut self) -> Result<bool> {
        if let Some((which, done)) = &mut self.in_place {
            let bytes = self.frames.get(*which).map_or(&[][..], |frame| &frame.bytes);
            if !write_on(&mut self.socket, bytes, done)? {
                return Ok(false);
            }
            self.in_place = None;
        }
        if !write_on(&mut self.socket, &self.gathered, &mut self.gathered_done)? {
            return Ok(false);
        }
        self.gathered.clear();
        self.gathered_done = 0;
        Ok(true)
    }
}

fn write_on(socket: &mut TcpStream, bytes: &[u8], done: &mut usize) -> Result<bool> {
    loop {
        let rest = bytes.get(*done..).unwrap_or_default();
        if rest.is_empty() {
            return Ok(true);
        }
        match socket.write(rest) {
            Ok(count) => *done = done.saturating_add(count),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error).attempt("sending requests"),
        }
    }
}
