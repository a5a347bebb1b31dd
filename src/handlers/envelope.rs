//! Envelope (58), version 0: a broker passes on what one of its clients asks the controller (KIP-590).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::task::{Context, Poll};

use barnabas_protocol::header::{RequestHeader, write_response_header};
use barnabas_protocol::messages::default_principal::DefaultPrincipalData;
use barnabas_protocol::messages::{EnvelopeRequest, EnvelopeResponse, Message};
use barnabas_protocol::{ApiKey, ErrorCode};
use parking_lot::Mutex;

use super::{Answer, CloseReason, Ctx, Operation, Out, Outcome, Resource, Session, Side, Ticket, row};

/// See the module.
pub fn start(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out) -> Answer {
    let request: EnvelopeRequest = ctx.decode(body)?;
    let refused = |code: ErrorCode| EnvelopeResponse { error_code: code.code(), response_data: None };
    if !ctx.authorize(Operation::ClusterAction, Resource::Cluster) {
        return ctx.respond(out, &refused(ErrorCode::ClusterAuthorizationFailed));
    }
    if ctx.rooms.active_controller().is_none() {
        return ctx.respond(out, &refused(ErrorCode::NotController));
    }
    let Some(principal) = principal(request.request_principal.as_deref()) else {
        return ctx.respond(out, &refused(ErrorCode::PrincipalDeserializationFailure));
    };
    let Some(peer) = address(&request.client_host_address) else {
        return ctx.respond(out, &refused(ErrorCode::InvalidRequest));
    };
    let mut frame = request.request_data.to_vec();
    let Ok((header, inner_body)) = RequestHeader::split(&mut frame) else {
        return ctx.respond(out, &refused(ErrorCode::InvalidRequest));
    };
    let known = row(Side::Controller, header.api).filter(|row| row.for_controller);
    let Some(known) = known else { return ctx.respond(out, &refused(ErrorCode::InvalidRequest)) };
    if !known.versions.contains(&header.version) {
        return ctx.respond(out, &refused(ErrorCode::UnsupportedVersion));
    }
    let session = Session {
        side: Side::Controller,
        listener: ctx.session.listener.clone(),
        peer,
        principal,
        kept: Mutex::default(),
    };
    let inner = Inner {
        session,
        client_id: header.client_id.into_owned(),
        api: header.api,
        version: header.version,
        correlation_id: header.correlation_id,
    };
    let mut written = Out::default();
    let answer = (known.start)(&inner.ctx(ctx), inner_body, &mut written);
    inner.seal(answer, written, ctx, out)
}

/// The request inside.
struct Inner {
    session: Session,
    client_id: String,
    api: ApiKey,
    version: i16,
    correlation_id: i32,
}

impl Inner {
    fn ctx<'a>(&'a self, outer: &Ctx<'a>) -> Ctx<'a> {
        Ctx {
            rooms: outer.rooms,
            session: &self.session,
            client_id: self.client_id.as_str().into(),
            api: self.api,
            version: self.version,
            now: outer.now,
            stopping: outer.stopping,
        }
    }

    /// Puts the answer into an envelope, or waits for it.
    fn seal(self, answer: Answer, mut written: Out, ctx: &Ctx<'_>, out: &mut Out) -> Answer {
        match answer? {
            Outcome::Done => {
                let mut frame = Vec::with_capacity(written.len().saturating_add(8));
                write_response_header(&mut frame, self.api, self.version, self.correlation_id);
                frame.append(written.bytes());
                ctx.respond(out, &EnvelopeResponse { response_data: Some(frame.into()), error_code: 0 })
            }
            Outcome::Silent => Err(CloseReason::Dropped),
            Outcome::Parked(ticket) => Ok(Outcome::Parked(Box::new(Sealed { inner: self, ticket }))),
        }
    }
}

/// The request inside waits.
struct Sealed {
    inner: Inner,
    ticket: Box<dyn Ticket>,
}

impl Ticket for Sealed {
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.ticket.poll_ready(cx)
    }

    fn deadline(&self) -> Option<u64> {
        self.ticket.deadline()
    }

    fn finish(self: Box<Self>, ctx: &Ctx<'_>, out: &mut Out) -> Answer {
        let Sealed { inner, ticket } = *self;
        let mut written = Out::default();
        let answer = ticket.finish(&inner.ctx(ctx), &mut written);
        inner.seal(answer, written, ctx, out)
    }
}

/// Who asked, as Kafka writes it down.
fn principal(bytes: Option<&[u8]>) -> Option<Arc<str>> {
    let (version, data) = bytes?.split_first_chunk()?;
    let data = DefaultPrincipalData::from_bytes(data, i16::from_be_bytes(*version)).ok()?;
    Some(format!("{}:{}", data.r#type, data.name).into())
}

fn address(bytes: &[u8]) -> Option<IpAddr> {
    let v4 = || Some(IpAddr::V4(Ipv4Addr::from(<[u8; 4]>::try_from(bytes).ok()?)));
    let v6 = || Some(IpAddr::V6(Ipv6Addr::from(<[u8; 16]>::try_from(bytes).ok()?)));
    v4().or_else(v6)
}
