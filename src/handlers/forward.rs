//! Requests that only the active controller can answer, asked of another node: they travel in an Envelope (KIP-590),
//! with the name of who asked.

use std::net::IpAddr;

use barnabas_protocol::header::{RequestHeader, parse_response_header};
use barnabas_protocol::messages::default_principal::DefaultPrincipalData;
use barnabas_protocol::messages::{EnvelopeRequest, Message};
use bytes::Bytes;

use super::{Answer, CloseReason, Ctx, Outcome, when};

/// Passes the request on; the answer comes back as the controller gave it.
pub fn start(ctx: &Ctx<'_>, body: &[u8]) -> Answer {
    let header = RequestHeader {
        api: ctx.api,
        version: ctx.version,
        correlation_id: 0,
        client_id: (&*ctx.client_id).into(),
    };
    let mut request = Vec::with_capacity(body.len().saturating_add(64));
    header.write(&mut request);
    request.extend_from_slice(body);
    let envelope = EnvelopeRequest {
        request_data: request.into(),
        request_principal: Some(principal(&ctx.session.principal)),
        client_host_address: match ctx.session.peer {
            IpAddr::V4(address) => Bytes::copy_from_slice(&address.octets()),
            IpAddr::V6(address) => Bytes::copy_from_slice(&address.octets()),
        },
    };
    when(ctx.rooms.channel.forward(envelope), |answer, ctx, out| {
        let frame = answer.ok_or(CloseReason::Dropped)?;
        let (_, body) = parse_response_header(&frame, ctx.api, ctx.version)?;
        out.bytes().extend_from_slice(body);
        Ok(Outcome::Done)
    })
}

/// A principal, `Type:name`, as it travels: a version and the message.
fn principal(text: &str) -> Bytes {
    let (kind, name) = text.split_once(':').unwrap_or(("User", text));
    let data =
        DefaultPrincipalData { r#type: kind.to_owned(), name: name.to_owned(), token_authenticated: false };
    let mut bytes = 0_i16.to_be_bytes().to_vec();
    bytes.extend(data.to_bytes(0));
    bytes.into()
}
