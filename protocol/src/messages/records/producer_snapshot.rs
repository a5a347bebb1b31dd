//! The file that keeps what a log knows of its producers.

use crate::messages::dsl::message;

message! {
    /// The content of a producer snapshot file, prefixed with its version.
    data ProducerSnapshot, versions 1-1 {
        crc: u32;
        producer_entries: Vec<ProducerEntry>;
    }

    struct ProducerEntry {
        producer_id: i64;
        epoch: i16;
        last_sequence: i32;
        last_offset: i64;
        offset_delta: i32;
        timestamp: i64;
        coordinator_epoch: i32;
        current_txn_first_offset: i64;
    }
}
