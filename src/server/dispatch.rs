//! From a frame to its handler, and from a handler's body to a framed reply.

use barnabas_protocol::ApiKey;
use barnabas_protocol::header::RequestHeader;

use crate::handlers::{self, Answer, CloseReason, Ctx, Mark, Out, Outcome, Rooms, Session, Side, Ticket};

/// What a reply needs to know of its request once the frame is gone.
pub struct Origin {
    api: ApiKey,
    version: i16,
    correlation_id: i32,
    /// Kept only for requests that wait.
    client_id: Box<str>,
}

/// The API of a frame, before its header is read.
pub fn peek_key(frame: &[u8]) -> Option<ApiKey> {
    let (key, _) = frame.split_first_chunk()?;
    ApiKey::from_key(i16::from_be_bytes(*key))
}

/// Starts the request in a frame; its reply, if it is there already, is in `out`.
pub fn start(rooms: &Rooms, session: &Session, frame: &mut [u8], out: &mut Out) -> (Answer, Origin) {
    let mut origin =
        Origin { api: ApiKey::ApiVersions, version: 0, correlation_id: 0, client_id: Box::default() };
    let answer = start_frame(rooms, session, frame, out, &mut origin);
    (answer, origin)
}

fn start_frame(
    rooms: &Rooms,
    session: &Session,
    frame: &mut [u8],
    out: &mut Out,
    origin: &mut Origin,
) -> Answer {
    let (header, body) = RequestHeader::split(frame)?;
    let unsupported = CloseReason::Unsupported { api: header.api, version: header.version };
    let Some(row) = handlers::row(session.side, header.api) else { return Err(unsupported) };
    let served = row.versions.contains(&header.version);
    if !served && row.key != ApiKey::ApiVersions {
        return Err(unsupported);
    }
    // A client that speaks a newer ApiVersions than we do is answered in the oldest form.
    let version = if served { header.version } else { 0 };
    origin.api = row.key;
    origin.version = version;
    origin.correlation_id = header.correlation_id;
    let ctx = Ctx {
        rooms,
        session,
        client_id: header.client_id,
        api: row.key,
        version,
        now: rooms.clock.now(),
        stopping: false,
    };
    let mark = out.begin(row.key, version, origin.correlation_id);
    let elsewhere = row.for_controller && session.side == Side::Broker && rooms.active_controller().is_none();
    let answer = if !served {
        handlers::newer_api_versions(&ctx, out)
    } else if elsewhere {
        handlers::forward(&ctx, body)
    } else if is_quick(row.key, body.len()) {
        (row.start)(&ctx, body, out)
    } else {
        rooms.spawner.in_place(|| (row.start)(&ctx, body, out))
    };
    close_frame(out, mark, &answer);
    if matches!(answer, Ok(Outcome::Parked(_))) {
        origin.client_id = (&*ctx.client_id).into();
    }
    answer
}

/// Lets a request that waited write its reply.
pub fn finish(
    rooms: &Rooms,
    session: &Session,
    origin: &Origin,
    stopping: bool,
    ticket: Box<dyn Ticket>,
    out: &mut Out,
) -> Answer {
    let ctx = Ctx {
        rooms,
        session,
        client_id: (&*origin.client_id).into(),
        api: origin.api,
        version: origin.version,
        now: rooms.clock.now(),
        stopping,
    };
    let mark = out.begin(origin.api, origin.version, origin.correlation_id);
    let answer = ticket.finish(&ctx, out);
    close_frame(out, mark, &answer);
    answer
}

/// Keeps what was written if it is an answer.
fn close_frame(out: &mut Out, mark: Mark, answer: &Answer) {
    match answer {
        Ok(Outcome::Done) => out.end(mark),
        Ok(Outcome::Silent | Outcome::Parked(_)) | Err(_) => out.rewind(mark),
    }
}

/// A body above this may name thousands of things, in bytes.
const LARGE_BODY: usize = 16 * 1024;

/// Everyday requests are answered on the connection's worker. Whoever asks about many things, or has much made,
/// must not keep the other connections of that worker waiting.
fn is_quick(key: ApiKey, body_bytes: usize) -> bool {
    match key {
        ApiKey::Produce => true,
        ApiKey::Fetch
        | ApiKey::ListOffsets
        | ApiKey::OffsetCommit
        | ApiKey::OffsetFetch
        | ApiKey::FindCoordinator
        | ApiKey::JoinGroup
        | ApiKey::SyncGroup
        | ApiKey::Heartbeat
        | ApiKey::LeaveGroup
        | ApiKey::ConsumerGroupHeartbeat
        | ApiKey::ApiVersions
        | ApiKey::InitProducerId
        | ApiKey::AddPartitionsToTxn
        | ApiKey::AddOffsetsToTxn
        | ApiKey::EndTxn
        | ApiKey::TxnOffsetCommit
        | ApiKey::OffsetForLeaderEpoch => body_bytes <= LARGE_BODY,
        _ => false,
    }
}
