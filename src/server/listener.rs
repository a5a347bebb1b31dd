//! One task per listener: accepts, counts, and starts a task per connection.

use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;

use parking_lot::Mutex;
use tracing::{debug, info, warn};

use super::connection::{Connection, End};
use super::hang_ups::HangUps;
use super::inbox::Inbox;
use super::memory::Memory;
use crate::handlers::{Rooms, Session, Side};
use crate::net::{Listener, Stream};
use crate::shutdown::Shutdown;

/// After a failed accept (no file handles left) the listener rests this long, in ms.
const ACCEPT_PAUSE_MS: u64 = 100;

/// Connections open now, by address, and how many there may be. Shared by all listeners.
pub struct Connections {
    max: usize,
    max_per_ip: usize,
    overrides: BTreeMap<IpAddr, usize>,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    total: usize,
    by_ip: BTreeMap<IpAddr, usize>,
}

impl Connections {
    /// `max.connections`, `max.connections.per.ip` and its overrides.
    pub fn new(max: usize, max_per_ip: usize, overrides: BTreeMap<IpAddr, usize>) -> Arc<Connections> {
        Arc::new(Connections { max, max_per_ip, overrides, open: Mutex::default() })
    }

    /// Counts one more, if there may be one.
    fn admit(self: &Arc<Self>, ip: IpAddr) -> Option<Admission> {
        let allowed = self.overrides.get(&ip).copied().unwrap_or(self.max_per_ip);
        let mut open = self.open.lock();
        if open.total >= self.max {
            return None;
        }
        let here = open.by_ip.entry(ip).or_default();
        if *here >= allowed {
            return None;
        }
        *here = here.saturating_add(1);
        open.total = open.total.saturating_add(1);
        Some(Admission { connections: self.clone(), ip })
    }
}

/// One counted connection.
struct Admission {
    connections: Arc<Connections>,
    ip: IpAddr,
}

impl Drop for Admission {
    fn drop(&mut self) {
        let mut open = self.connections.open.lock();
        open.total = open.total.saturating_sub(1);
        if let Some(here) = open.by_ip.get_mut(&self.ip) {
            *here = here.saturating_sub(1);
            if *here == 0 {
                open.by_ip.remove(&self.ip);
            }
        }
    }
}

/// What a listener's connections share.
#[derive(Clone)]
pub struct Door {
    /// The broker.
    pub rooms: Arc<Rooms>,
    /// The listener's name.
    pub name: Arc<str>,
    /// Whom it is for.
    pub side: Side,
    /// The account of receive buffers.
    pub memory: Memory,
    /// The count of connections.
    pub connections: Arc<Connections>,
    /// Warnings about peers.
    pub hang_ups: Arc<HangUps>,
    /// Tells when to stop.
    pub shutdown: Shutdown,
}

/// Accepts until the broker stops; returns when every connection has ended.
pub async fn accept(mut listener: Listener, door: Door) {
    let mut tasks = tokio::task::JoinSet::new();
    let mut shutdown = door.shutdown.clone();
    if door.side == Side::Broker {
        tokio::select! {
            biased;
            () = shutdown.requested() => return,
            () = door.rooms.entered() => {}
        }
    }
    loop {
        let accepted = tokio::select! {
            biased;
            () = shutdown.requested() => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, peer)) => match door.connections.admit(peer.ip()) {
                Some(admission) => {
                    let door = door.clone();
                    tasks.spawn(async move { serve(stream, peer.ip(), &door, admission).await });
                }
                None => debug!(%peer, "too many connections, hung up"),
            },
            Err(error) => {
                warn!(listener = %door.name, %error, "could not accept a connection");
                let clock = &door.rooms.clock;
                clock.sleep_until(clock.now().mono_ms.saturating_add(ACCEPT_PAUSE_MS)).await;
            }
        }
        while tasks.try_join_next().is_some() {}
    }
    drop(listener);
    while tasks.join_next().await.is_some() {}
}

async fn serve(stream: Stream, peer: IpAddr, door: &Door, admission: Admission) {
    let session = Session {
        side: door.side,
        listener: door.name.clone(),
        peer,
        principal: Arc::from("User:ANONYMOUS"),
        kept: Mutex::default(),
    };
    let largest = usize::try_from(door.rooms.config.network.request_max_bytes).unwrap_or(usize::MAX);
    let inbox = Inbox::new(door.memory.clone(), largest);
    let end = Connection::new(&door.rooms, &session, stream, inbox).serve(door.shutdown.clone()).await;
    drop(admission);
    match end {
        End::HungUp(reason) => door.hang_ups.warn(peer, &reason, door.rooms.clock.now().mono_ms),
        End::TooSlow => info!(%peer, "hung up: a half-sent request held memory that others waited for"),
        End::Socket(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            warn!(%peer, %error, "hung up in the middle of a reply");
        }
        End::Socket(_) | End::Peer | End::Idle | End::Stopping => debug!(%peer, ?end, "connection ended"),
    }
}
