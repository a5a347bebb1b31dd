//! The transaction index.

use crate::messages::dsl::message;

message! {
    /// An entry of a transaction index, prefixed with its version.
    data AbortedTxn, versions 0-0 {
        producer_id: i64;
        first_offset: i64;
        last_offset: i64;
        last_stable_offset: i64;
    }
}
