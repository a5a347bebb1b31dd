//! One file per API. The table of handlers is also what ApiVersions advertises: an API without a complete
//! handler is not in it.

mod api_versions;
mod fetch_session;
mod handler;
mod out;
mod rooms;

use std::ops::RangeInclusive;

use barnabas_protocol::ApiKey;

pub use api_versions::newer as newer_api_versions;
pub use fetch_session::FetchSessions;
pub use handler::{Answer, CloseReason, Ctx, Operation, Outcome, Resource, Session, Ticket, when};
pub use out::{Mark, Out, SEND_FILE, cut_short};
pub use rooms::Rooms;

/// A handler in the table.
pub struct Row {
    /// Which API.
    pub key: ApiKey,
    /// The versions it lists in ApiVersions.
    pub versions: RangeInclusive<i16>,
    /// Decodes, authorizes, asks a room; the body is the frame behind its header.
    pub start: fn(&Ctx<'_>, &mut [u8], &mut Out) -> Answer,
}

/// Every API served, by key.
pub const TABLE: &[Row] = &[Row { key: ApiKey::ApiVersions, versions: 0..=5, start: api_versions::start }];

/// The handler of an API.
pub fn row(key: ApiKey) -> Option<&'static Row> {
    TABLE.iter().find(|row| row.key == key)
}
