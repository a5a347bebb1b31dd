//! Fetch (1), versions 4-18: records from an offset on, now or when there are enough.
//!
//! Version 5 brings the log start offset, 7 sessions (KIP-227), 9 leader epochs (KIP-320), 11 racks, 12 flexible
//! fields and diverging epochs, 13 topic ids (KIP-516), 15 follower state (KIP-903), 16 the new leader (KIP-951).

mod gather;
mod reply;
mod session;

use std::cell::RefCell;
use std::sync::Arc;
use std::task::{Context, Poll};

use barnabas_protocol::fetch::FetchRequest;
use barnabas_protocol::{ErrorCode, TopicRef};
use parking_lot::Mutex;

use self::gather::{Gathered, Limits, Part, Replica};
use self::session::{Begun, Entry, FetchSession, NO_SESSION, Told, TopicKey, Wanted};
use super::{Answer, Ctx, Out, Outcome, Ticket};
use crate::ids::TopicName;
use crate::partition::{Isolation, Waiter};

pub use session::FetchSessions;

/// Topics go by id from here on.
const ID_VERSION: i16 = 13;

/// Where the list of partitions is.
enum Source {
    /// In the request; a session is opened with it if `opens` says so.
    Request { wanted: Vec<Wanted>, opens: bool },
    /// In a session.
    Session(Arc<Mutex<FetchSession>>),
}

impl Source {
    fn is_empty(&self) -> bool {
        match self {
            Source::Request { wanted, .. } => wanted.is_empty(),
            Source::Session(session) => session.lock().entries().next().is_none(),
        }
    }
}

/// A fetch, while it is answered or waits.
struct Fetch {
    source: Source,
    limits: Limits,
    /// Monotonic ms.
    deadline: u64,
    /// `None` until it waits.
    waiter: Option<Arc<Waiter>>,
}

thread_local! {
    /// Room for one request's list and one answer's parts, so that a fetch in steady state allocates nothing.
    static WANTED: RefCell<Vec<Wanted>> = RefCell::default();
    static PARTS: RefCell<Gathered> = RefCell::default();
}

/// See the module.
pub fn start(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out) -> Answer {
    let request = FetchRequest::read(ctx.version, body)?;
    let now_ms = ctx.now.mono_ms;
    let wait_ms = u64::try_from(request.max_wait_ms).unwrap_or_default();
    let by_id = ctx.version >= ID_VERSION;
    let sessions = &ctx.rooms.fetch_sessions;
    let source = match sessions.begin(request.session_id, request.session_epoch, by_id, now_ms) {
        Ok(begun) => source(ctx, &request, begun),
        Err(code) => return reply::refuse(ctx, out, code),
    };
    let deadline = now_ms.saturating_add(wait_ms);
    let limits = match limits(ctx, &request) {
        Some(limits) => limits,
        None if source.is_empty() => return reply::refuse(ctx, out, ErrorCode::None),
        None => return reply::refuse_all(ctx, out, &request, ErrorCode::UnknownServerError),
    };
    let fetch = Fetch { source, limits, deadline, waiter: None };
    fetch.answer_or_wait(ctx, out)
}

/// `None` if the request asks for an isolation that there is not.
fn limits(ctx: &Ctx<'_>, request: &FetchRequest<'_>) -> Option<Limits> {
    let largest = ctx.rooms.config.replication.fetch_max_bytes;
    let max_bytes = request.max_bytes.min(largest);
    let follower =
        (request.replica_id >= 0).then_some(Replica { id: request.replica_id, epoch: request.replica_epoch });
    let isolation = match (follower, request.isolation_level) {
        (Some(_), _) => Isolation::LogEnd,
        (None, 0) => Isolation::HighWatermark,
        (None, 1) => Isolation::LastStable,
        (None, _) => return None,
    };
    Some(Limits {
        follower,
        max_bytes: i64::from(max_bytes),
        min_bytes: u64::try_from(request.min_bytes.min(max_bytes)).unwrap_or_default(),
        isolation,
    })
}

fn source(ctx: &Ctx<'_>, request: &FetchRequest<'_>, begun: Begun) -> Source {
    let opens = matches!(begun, Begun::Full);
    let Begun::Incremental(session) = begun else {
        let mut list = WANTED.take();
        list.extend(wanted(ctx, request));
        return Source::Request { wanted: list, opens };
    };
    let mut open = session.lock();
    for wanted in wanted(ctx, request) {
        open.want(wanted);
    }
    for topic in request.forgotten.clone() {
        let key = key(ctx, &topic.topic);
        for index in topic.partitions() {
            open.forget(&key, index);
        }
    }
    drop(open);
    if ctx.rooms.fetch_sessions.close_if_empty(&session) {
        return Source::Request { wanted: Vec::new(), opens: false };
    }
    Source::Session(session)
}

fn key(ctx: &Ctx<'_>, topic: &TopicRef<'_>) -> TopicKey {
    match topic {
        TopicRef::Id(id) => TopicKey::Id(*id),
        TopicRef::Name(name) => {
            let known = ctx.rooms.partitions.topic(name).map(|topic| topic.name.clone());
            TopicKey::Name(known.unwrap_or_else(|| TopicName::from(&**name)))
        }
    }
}

fn wanted<'a>(ctx: &'a Ctx<'_>, request: &'a FetchRequest<'_>) -> impl Iterator<Item = Wanted> + 'a {
    request.topics.clone().flat_map(|topic| {
        let key = key(ctx, &topic.topic);
        topic.partitions.map(move |partition| Wanted {
            topic: key.clone(),
            partition: partition.partition,
            current_leader_epoch: partition.current_leader_epoch,
            fetch_offset: partition.fetch_offset,
            last_fetched_epoch: partition.last_fetched_epoch,
            log_start_offset: partition.log_start_offset,
            max_bytes: partition.partition_max_bytes,
            high_watermark: partition.high_watermark,
        })
    })
}

impl Fetch {
    fn answer_or_wait(self, ctx: &Ctx<'_>, out: &mut Out) -> Answer {
        PARTS.with_borrow_mut(|gathered| {
            gathered.clear();
            self.gather(ctx, gathered);
            let due = ctx.stopping || ctx.now.mono_ms >= self.deadline;
            let outcome = if due || gathered.suffices(&self.limits) {
                self.write(ctx, out, gathered)
            } else {
                let waiter = gathered.watch(&self.limits);
                Ok(Outcome::Parked(Box::new(Fetch { waiter: Some(waiter), ..self })))
            };
            // Nothing is kept alive by memory that is only kept for the next fetch.
            gathered.clear();
            outcome
        })
    }

    fn gather(&self, ctx: &Ctx<'_>, gathered: &mut Gathered) {
        // What a follower has it says once.
        gathered.is_first = self.waiter.is_none();
        match &self.source {
            Source::Request { wanted, .. } => {
                for wanted in wanted {
                    gathered.read(ctx, &self.limits, 0, wanted, Told::default());
                }
            }
            Source::Session(session) => {
                for (place, entry) in session.lock().entries() {
                    gathered.read(ctx, &self.limits, place, &entry.wanted, entry.told);
                }
            }
        }
    }

    fn write(self, ctx: &Ctx<'_>, out: &mut Out, gathered: &mut Gathered) -> Answer {
        let session_id = match self.source {
            Source::Request { wanted, opens: true } if !wanted.is_empty() => {
                let told = gathered.parts.iter().map(told_by);
                let entries = wanted.into_iter().zip(told).map(|(wanted, told)| Entry { wanted, told });
                let (by_id, now_ms) = (ctx.version >= ID_VERSION, ctx.now.mono_ms);
                ctx.rooms.fetch_sessions.open(entries, by_id, self.limits.follower.is_some(), now_ms)
            }
            Source::Request { mut wanted, .. } => {
                wanted.clear();
                WANTED.set(wanted);
                NO_SESSION
            }
            Source::Session(session) => {
                let mut session = session.lock();
                gathered.parts.retain(is_news);
                for part in &gathered.parts {
                    let served = part.result.as_ref().is_ok_and(|fetched| !fetched.records.is_empty());
                    session.tell(part.place, told_by(part), served);
                }
                session.id()
            }
        };
        reply::write(ctx, out, session_id, &gathered.parts)
    }
}

/// What the client knows once it has read this part.
fn told_by(part: &Part) -> Told {
    match &part.result {
        Ok(fetched) => {
            Told { high_watermark: fetched.high_watermark, log_start_offset: fetched.log_start_offset }
        }
        Err(_) => Told { high_watermark: -1, log_start_offset: part.told.log_start_offset },
    }
}

/// Is there anything in it that the session's client does not know?
fn is_news(part: &Part) -> bool {
    match &part.result {
        Ok(fetched) => {
            !fetched.records.is_empty() || fetched.diverging.is_some() || told_by(part) != part.told
        }
        Err(_) => true,
    }
}

impl Ticket for Fetch {
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.waiter.as_ref().map_or(Poll::Ready(()), |waiter| waiter.poll(cx))
    }

    fn deadline(&self) -> Option<u64> {
        Some(self.deadline)
    }

    fn finish(self: Box<Self>, ctx: &Ctx<'_>, out: &mut Out) -> Answer {
        (*self).answer_or_wait(ctx, out)
    }
}
