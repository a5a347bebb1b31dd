//! Kafka's metadata records as the log has them.

pub use barnabas_protocol::messages::records::metadata::MetadataRecord as Record;

/// The bytes of a record's value in the log, at the newest version that metadata.version 4.4 has.
pub fn to_bytes(record: &Record) -> Vec<u8> {
    let mut out = Vec::with_capacity(64);
    record.encode(record.max_version(), &mut out);
    out
}
