//! ApiVersions (18), versions 0-5: what this broker serves, and its features (KIP-584).
//!
//! Version 3 brings the client's name for itself, version 5 checks that the client reached whom it meant
//! (KIP-1242). A version above ours is answered in the oldest form, and the connection stays.

use barnabas_protocol::ErrorCode;
use barnabas_protocol::messages::api_versions::{ApiVersion, FinalizedFeatureKey, SupportedFeatureKey};
use barnabas_protocol::messages::{ApiVersionsRequest, ApiVersionsResponse};

use super::{Answer, Ctx, Out, Row, hash_order, table};
use crate::controller::Image;

/// See the module.
pub fn start(ctx: &Ctx<'_>, body: &mut [u8], out: &mut Out) -> Answer {
    let request: ApiVersionsRequest = ctx.decode(body)?;
    let error = check(ctx, &request);
    if !error.is_none() {
        let response = ApiVersionsResponse { error_code: error.code(), ..ApiVersionsResponse::default() };
        return ctx.respond(out, &response);
    }
    let image = ctx.rooms.image();
    let id = ctx.rooms.config.node_id;
    let of_controller = || image.controllers().find(|controller| controller.id == id);
    let supported = image.broker(id).map(|broker| broker.features.as_slice());
    let supported = supported.or_else(|| of_controller().map(|controller| controller.features.as_slice()));
    let response = ApiVersionsResponse {
        api_keys: table(ctx.session.side).iter().map(entry).collect(),
        supported_features: supported
            .unwrap_or_default()
            .iter()
            .map(|feature| SupportedFeatureKey {
                name: feature.name.to_string(),
                min_version: feature.min,
                max_version: feature.max,
            })
            // A minimum of 0 is told only to those who can read it.
            .filter(|feature| ctx.version >= 4 || feature.min_version > 0)
            .collect(),
        finalized_features_epoch: image.offset(),
        finalized_features: finalized(&image),
        ..ApiVersionsResponse::default()
    };
    ctx.respond(out, &response)
}

/// The levels in force, in the order of Kafka's table: metadata.version is put into it last.
fn finalized(image: &Image) -> Vec<FinalizedFeatureKey> {
    let (last, first): (Vec<_>, Vec<_>) = image.features().partition(|(name, _)| *name == "metadata.version");
    let levels = hash_order::in_buckets(first.into_iter().chain(last).collect(), 8, |(name, _)| *name);
    let key = |(name, level): (&str, i16)| FinalizedFeatureKey {
        name: name.to_owned(),
        max_version_level: level,
        min_version_level: level,
    };
    levels.into_iter().map(key).collect()
}

/// The answer to a version above ours: the error and the range that would do, in version 0.
pub fn newer(ctx: &Ctx<'_>, out: &mut Out) -> Answer {
    let own = table(ctx.session.side).iter().filter(|row| row.key == ctx.api).map(entry).collect();
    let error_code = ErrorCode::UnsupportedVersion.code();
    ctx.respond(out, &ApiVersionsResponse { error_code, api_keys: own, ..ApiVersionsResponse::default() })
}

fn entry(row: &Row) -> ApiVersion {
    ApiVersion {
        api_key: row.key.key(),
        min_version: *row.versions.start(),
        max_version: *row.versions.end(),
    }
}

fn check(ctx: &Ctx<'_>, request: &ApiVersionsRequest) -> ErrorCode {
    if ctx.version >= 3
        && !(is_name(&request.client_software_name) && is_name(&request.client_software_version))
    {
        return ErrorCode::InvalidRequest;
    }
    let node_named = request.node_id >= 0;
    match &request.cluster_id {
        Some(_) if !node_named => ErrorCode::InvalidRequest,
        None if node_named => ErrorCode::InvalidRequest,
        Some(cluster)
            if cluster != ctx.rooms.image().cluster_id() || request.node_id != ctx.rooms.config.node_id =>
        {
            ErrorCode::RebootstrapRequired
        }
        _ => ErrorCode::None,
    }
}

/// Letters, digits, dots and dashes, the latter two not at the ends.
fn is_name(text: &str) -> bool {
    let inner = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '-';
    text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.ends_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn software_names_are_checked_as_kafka_does() {
        for good in ["a", "apache-kafka-java", "4.4.0", "a-b.c"] {
            assert!(is_name(good), "{good}");
        }
        for bad in ["", "-a", "a-", "a b", "a_b", "\u{e9}"] {
            assert!(!is_name(bad), "{bad}");
        }
    }
}
