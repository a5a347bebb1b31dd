//! Records whose meaning is not built yet – quotas, ACLs, SCRAM credentials, tokens. They are kept as they are, so
//! that a Kafka directory comes through without loss.

use std::sync::Arc;

use super::super::image::Image;
use super::super::record::Record;
use crate::ids::Uuid;

/// What a kept record speaks of; a later record for the same thing replaces it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::controller) enum KeptKey {
    /// A quota: its entity, sorted, and its name.
    Quota(Vec<(String, Option<String>)>, String),
    /// An ACL by its id.
    Acl(Uuid),
    /// A user's credential for a mechanism.
    Scram(String, i8),
    /// A delegation token by its id.
    Token(String),
    /// How far the way from ZooKeeper is.
    ZkMigration,
}

/// Keeps or drops a record; false if it is none of these.
pub(super) fn replay(image: &mut Image, record: &Record) -> bool {
    let (key, keep) = match record {
        Record::ClientQuota(quota) => {
            let mut entity: Vec<_> = quota
                .entity
                .iter()
                .map(|part| (part.entity_type.clone(), part.entity_name.clone()))
                .collect();
            entity.sort();
            (KeptKey::Quota(entity, quota.key.clone()), !quota.remove)
        }
        Record::AccessControlEntry(acl) => (KeptKey::Acl(acl.id), true),
        Record::RemoveAccessControlEntry(acl) => (KeptKey::Acl(acl.id), false),
        Record::UserScramCredential(user) => (KeptKey::Scram(user.name.clone(), user.mechanism), true),
        Record::RemoveUserScramCredential(user) => (KeptKey::Scram(user.name.clone(), user.mechanism), false),
        Record::DelegationToken(token) => (KeptKey::Token(token.token_id.clone()), true),
        Record::RemoveDelegationToken(token) => (KeptKey::Token(token.token_id.clone()), false),
        Record::ZkMigrationState(_) => (KeptKey::ZkMigration, true),
        _ => return false,
    };
    if keep {
        image.kept.insert_mut(key, Arc::new(record.clone()));
    } else {
        image.kept.remove_mut(&key);
    }
    true
}
