//! Metadata records about the metadata log itself.

use crate::messages::dsl::message;

message! {
    /// Metadata record 20.
    record NoOpRecord, key 20, versions 0-0, flexible 0 {}
}

message! {
    /// Metadata record 23.
    record BeginTransactionRecord, key 23, versions 0-0, flexible 0 {
        name: Option<String>, tag 0;
    }
}

message! {
    /// Metadata record 24.
    record EndTransactionRecord, key 24, versions 0-0, flexible 0 {}
}

message! {
    /// Metadata record 25.
    record AbortTransactionRecord, key 25, versions 0-0, flexible 0 {
        reason: Option<String>, tag 0;
    }
}

message! {
    /// Metadata record 21.
    record ZkMigrationStateRecord, key 21, versions 0-0, flexible 0 {
        zk_migration_state: i8;
    }
}
