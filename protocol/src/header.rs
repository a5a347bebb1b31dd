//! What stands before a request's and a response's body.

use std::borrow::Cow;
use std::ops::Range;

use thiserror::Error;

use crate::ApiKey;
use crate::codec::{DecodeError, Reader, Wire, Writer};

/// The header of a request, versions 1 and 2.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestHeader<'a> {
    /// The API asked for.
    pub api: ApiKey,
    /// The version of the request; whether it is supported is not looked at.
    pub version: i16,
    /// What the response has to repeat.
    pub correlation_id: i32,
    /// What the client calls itself; a null is read as empty, as in Kafka.
    pub client_id: Cow<'a, str>,
}

/// Why a request's header could not be read. The connection cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum HeaderError {
    /// No API of Kafka 4.4 has this key.
    #[error("unknown API key {key} (version {version})")]
    UnknownApi {
        /// The key.
        key: i16,
        /// The version that came with it.
        version: i16,
    },
    /// The bytes are not a header.
    #[error("malformed request header: {0}")]
    Malformed(#[from] DecodeError),
}

/// A header's fields and where its parts lie in the frame.
struct Layout {
    api: ApiKey,
    version: i16,
    correlation_id: i32,
    client_id: Range<usize>,
    body: usize,
}

fn layout(frame: &[u8]) -> Result<Layout, HeaderError> {
    let mut r = Reader::new(frame, 1);
    let key = i16::read(&mut r)?;
    let version = i16::read(&mut r)?;
    let api = ApiKey::from_key(key).ok_or(HeaderError::UnknownApi { key, version })?;
    let correlation_id = i32::read(&mut r)?;
    // The client id is never compact: a broker must understand any version of ApiVersions so far.
    let length = r.string_length()?.unwrap_or_default();
    let from = frame.len().saturating_sub(r.rest().len());
    r.take(length)?;
    if api.request_header_version(version) >= 2 {
        r.tagged_fields(&mut |_, _| Ok(false))?;
    }
    let body = frame.len().saturating_sub(r.rest().len());
    Ok(Layout { api, version, correlation_id, client_id: from..from.saturating_add(length), body })
}

impl Layout {
    fn header<'a>(&self, head: &'a [u8]) -> RequestHeader<'a> {
        let client_id = head.get(self.client_id.clone()).unwrap_or_default();
        RequestHeader {
            api: self.api,
            version: self.version,
            correlation_id: self.correlation_id,
            client_id: String::from_utf8_lossy(client_id),
        }
    }
}

impl<'a> RequestHeader<'a> {
    /// Reads the header at the beginning of a frame, and gives the bytes of the body after it.
    pub fn parse(frame: &'a [u8]) -> Result<(RequestHeader<'a>, &'a [u8]), HeaderError> {
        let layout = layout(frame)?;
        let (head, body) = frame.split_at_checked(layout.body).unwrap_or((frame, &[]));
        Ok((layout.header(head), body))
    }

    /// As [`RequestHeader::parse`], with a body that may be patched.
    pub fn split(frame: &'a mut [u8]) -> Result<(RequestHeader<'a>, &'a mut [u8]), HeaderError> {
        let layout = layout(frame)?;
        let (head, body) = frame.split_at_mut_checked(layout.body).unwrap_or_default();
        Ok((layout.header(head), body))
    }

    /// Appends the header.
    pub fn write(&self, out: &mut Vec<u8>) {
        let mut w = Writer::new(out, 1);
        self.api.key().write(&mut w);
        self.version.write(&mut w);
        self.correlation_id.write(&mut w);
        w.string(Some(&self.client_id));
        if self.api.request_header_version(self.version) >= 2 {
            w.unsigned_varint(0);
        }
    }
}

/// Appends a response's header: the correlation id of the request it answers and, in front of a flexible
/// response, an empty list of tagged fields.
pub fn write_response_header(out: &mut Vec<u8>, api: ApiKey, version: i16, correlation_id: i32) {
    out.extend_from_slice(&correlation_id.to_be_bytes());
    if api.response_header_version(version) >= 1 {
        out.push(0);
    }
}

/// Reads the header of the response to a request of this API and version: the correlation id, and the bytes
/// of the body after it.
pub fn parse_response_header(frame: &[u8], api: ApiKey, version: i16) -> Result<(i32, &[u8]), DecodeError> {
    let mut r = Reader::new(frame, 0);
    let correlation_id = i32::read(&mut r)?;
    if api.response_header_version(version) >= 1 {
        r.tagged_fields(&mut |_, _| Ok(false))?;
    }
    Ok((correlation_id, r.rest()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(api: ApiKey, version: i16) -> RequestHeader<'static> {
        RequestHeader { api, version, correlation_id: 7, client_id: Cow::Borrowed("me") }
    }

    #[test]
    fn both_versions_have_a_plain_client_id() {
        let mut bytes = Vec::new();
        header(ApiKey::Metadata, 8).write(&mut bytes);
        assert_eq!(bytes, [0, 3, 0, 8, 0, 0, 0, 7, 0, 2, b'm', b'e']);
        bytes.push(99);
        assert_eq!(RequestHeader::parse(&bytes), Ok((header(ApiKey::Metadata, 8), &[99][..])));

        bytes.clear();
        header(ApiKey::Metadata, 9).write(&mut bytes);
        assert_eq!(bytes, [0, 3, 0, 9, 0, 0, 0, 7, 0, 2, b'm', b'e', 0]);
        assert_eq!(RequestHeader::parse(&bytes), Ok((header(ApiKey::Metadata, 9), &[][..])));
    }

    #[test]
    fn unknown_tagged_fields_are_skipped_and_null_is_empty() {
        let bytes = [0, 18, 0, 3, 0, 0, 0, 7, 0xff, 0xff, 1, 5, 2, 1, 1, 42];
        let (header, body) = RequestHeader::parse(&bytes).unwrap();
        assert_eq!((header.client_id.as_ref(), body), ("", &[42][..]));
    }

    #[test]
    fn an_unknown_key_is_not_a_malformed_header() {
        let unknown = HeaderError::UnknownApi { key: 999, version: 2 };
        assert_eq!(RequestHeader::parse(&[0x03, 0xe7, 0, 2]), Err(unknown));
        let good = [0, 3, 0, 8, 0, 0, 0, 7, 0, 2, b'm', b'e'];
        for cut in 0..good.len() {
            assert!(matches!(RequestHeader::parse(&good[..cut]), Err(HeaderError::Malformed(_))), "{cut}");
        }
    }

    #[test]
    fn responses_have_tags_only_if_flexible() {
        for (api, version, expected) in [
            (ApiKey::Metadata, 8, &[0, 0, 0, 7][..]),
            (ApiKey::Metadata, 9, &[0, 0, 0, 7, 0]),
            (ApiKey::ApiVersions, 4, &[0, 0, 0, 7]),
        ] {
            let mut bytes = Vec::new();
            write_response_header(&mut bytes, api, version, 7);
            assert_eq!(bytes, expected);
            assert_eq!(parse_response_header(&bytes, api, version), Ok((7, &[][..])));
        }
    }
}
