//! The first exchange of a connection: ApiVersions (KIP-511, KIP-1242).

use std::ops::RangeInclusive;

use barnabas_protocol::codec::Writer;
use barnabas_protocol::messages::api_versions::ApiVersion;
use barnabas_protocol::messages::{ApiVersionsRequest, ApiVersionsResponse, Message};
use barnabas_protocol::{ApiKey, ErrorCode};

use super::{Identity, Loss};

/// The first version that names whom the caller means.
const NAMES_THE_NODE: i16 = 5;

/// What a node speaks.
#[derive(Clone, Debug, Default)]
pub(super) struct Versions(Vec<ApiVersion>);

impl Versions {
    /// The highest version that both can.
    pub(super) fn agree(&self, api: ApiKey, ours: &RangeInclusive<i16>) -> Option<i16> {
        let theirs = self.0.iter().find(|row| row.api_key == api.key())?;
        let version = theirs.max_version.min(*ours.end());
        (version >= theirs.min_version && version >= *ours.start()).then_some(version)
    }
}

/// What became of the exchange.
pub(super) enum Outcome {
    Agreed(Versions),
    /// Ask again at this version.
    Older(i16),
    Failed(Loss),
}

/// The version to begin with.
pub(super) fn first(identity: Option<&Identity>) -> i16 {
    if identity.is_some() { NAMES_THE_NODE } else { NAMES_THE_NODE - 1 }
}

/// Writes the request.
pub(super) fn write(identity: Option<&Identity>, version: i16, out: &mut Vec<u8>) {
    let mut request = ApiVersionsRequest {
        client_software_name: "barnabas".to_owned(),
        client_software_version: env!("CARGO_PKG_VERSION").to_owned(),
        ..ApiVersionsRequest::default()
    };
    if let Some(identity) = identity {
        request.cluster_id = Some(identity.cluster_id.clone());
        request.node_id = identity.node_id;
    }
    request.encode(&mut Writer::new(out, version));
}

/// Reads the answer to a request of `version`. A node that knows only older ones says so in version 0.
pub(super) fn read(version: i16, body: &[u8]) -> Outcome {
    let read = |version| ApiVersionsResponse::from_bytes(body, version).ok();
    let refused = read(0).filter(|response| response.error_code != 0);
    let Some(response) = refused.or_else(|| read(version)) else { return Outcome::Failed(Loss::Garbled) };
    let older = response.api_keys.iter().find(|row| row.api_key == ApiKey::ApiVersions.key());
    match ErrorCode::from_code(response.error_code) {
        Some(ErrorCode::None) => Outcome::Agreed(Versions(response.api_keys)),
        // Where even the range is missing, version 0 is what every broker has.
        Some(ErrorCode::UnsupportedVersion) if version > 0 => {
            let theirs = older.map_or(0, |row| row.max_version);
            Outcome::Older(theirs.clamp(0, version.saturating_sub(1)))
        }
        error => Outcome::Failed(Loss::Refused(error.unwrap_or(ErrorCode::UnknownServerError))),
    }
}
