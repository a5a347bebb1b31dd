//! Feature levels.

use barnabas_protocol::messages::records::metadata::FeatureLevelRecord;

use super::super::image::{Changes, FeatureRange, Image};

/// A feature that this version knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Feature {
    /// Its name.
    pub name: &'static str,
    /// The lowest level supported.
    pub min: i16,
    /// The highest.
    pub max: i16,
    /// The level that a freshly formatted directory gets; none if it is not written.
    pub fresh: Option<i16>,
}

/// The feature that everything else hangs on.
pub const METADATA_VERSION: &str = "metadata.version";
/// Eligible leader replicas (KIP-966).
pub const ELR_VERSION: &str = "eligible.leader.replicas.version";

/// Kafka 4.4's features, in the order in which its nodes tell them.
pub const FEATURES: [Feature; 7] = [
    Feature { name: "group.version", min: 0, max: 1, fresh: Some(1) },
    Feature { name: "kraft.version", min: 0, max: 1, fresh: None },
    Feature { name: METADATA_VERSION, min: 7, max: 33, fresh: Some(33) },
    Feature { name: "share.version", min: 0, max: 2, fresh: Some(2) },
    Feature { name: "streams.version", min: 0, max: 1, fresh: Some(1) },
    Feature { name: "transaction.version", min: 0, max: 2, fresh: Some(2) },
    Feature { name: ELR_VERSION, min: 0, max: 1, fresh: Some(1) },
];

/// The records of a fresh directory: metadata.version first, as it must be in a log, the others by name.
pub fn fresh() -> impl Iterator<Item = FeatureLevelRecord> {
    let mut features = FEATURES;
    features.sort_by_key(|feature| (feature.name != METADATA_VERSION, feature.name));
    features.into_iter().filter_map(|feature| {
        Some(FeatureLevelRecord { name: feature.name.to_owned(), feature_level: feature.fresh? })
    })
}

/// What a node of this version says it supports.
pub fn supported() -> Vec<FeatureRange> {
    FEATURES
        .iter()
        .map(|feature| FeatureRange { name: feature.name.into(), min: feature.min, max: feature.max })
        .collect()
}

pub(super) fn replay(image: &mut Image, changes: &mut Changes, record: &FeatureLevelRecord) {
    changes.features = true;
    let name: std::sync::Arc<str> = record.name.as_str().into();
    if record.feature_level == 0 {
        image.features.remove_mut(&name);
    } else {
        image.features.insert_mut(name, record.feature_level);
    }
}
