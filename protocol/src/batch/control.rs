//! Control records: what brokers write for each other between the records of clients.
//!
//! The key is a version and a type (ControlRecordTypeSchema); the value depends on the type.

use super::build::{BatchBuilder, BuildError};
use super::cursor::Cursor;
use super::records::Record;

/// What a control record says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ControlType {
    /// A transaction was aborted.
    Abort,
    /// A transaction was committed.
    Commit,
    /// A leader of the metadata log begins.
    LeaderChange,
    /// A metadata snapshot begins.
    SnapshotHeader,
    /// A metadata snapshot is complete.
    SnapshotFooter,
    /// The version of KRaft (KIP-853).
    KRaftVersion,
    /// The voters of the metadata log (KIP-853).
    KRaftVoters,
}

impl ControlType {
    /// By its number.
    pub fn from_id(id: i16) -> Option<ControlType> {
        Some(match id {
            0 => ControlType::Abort,
            1 => ControlType::Commit,
            2 => ControlType::LeaderChange,
            3 => ControlType::SnapshotHeader,
            4 => ControlType::SnapshotFooter,
            5 => ControlType::KRaftVersion,
            6 => ControlType::KRaftVoters,
            _ => return None,
        })
    }

    /// Its number.
    pub fn id(self) -> i16 {
        match self {
            ControlType::Abort => 0,
            ControlType::Commit => 1,
            ControlType::LeaderChange => 2,
            ControlType::SnapshotHeader => 3,
            ControlType::SnapshotFooter => 4,
            ControlType::KRaftVersion => 5,
            ControlType::KRaftVoters => 6,
        }
    }

    /// Of a record in a control batch; `None` if its key is cut or of a later version of Kafka.
    pub fn of(record: &Record<'_>) -> Option<ControlType> {
        let mut key = Cursor(record.key?);
        let version = key.i16()?;
        if version < 0 {
            return None;
        }
        ControlType::from_id(key.i16()?)
    }

    /// The key that says it.
    pub fn key(self) -> [u8; 4] {
        let [high, low] = self.id().to_be_bytes();
        [0, 0, high, low]
    }
}

/// The end of a transaction in one partition (EndTxnMarker).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndTxnMarker {
    /// Committed, or else aborted.
    pub commit: bool,
    /// Epoch of the transaction coordinator that decided it.
    pub coordinator_epoch: i32,
}

impl EndTxnMarker {
    /// Of a record in a control batch; `None` if it is another kind or malformed.
    pub fn of(record: &Record<'_>) -> Option<EndTxnMarker> {
        let commit = match ControlType::of(record)? {
            ControlType::Commit => true,
            ControlType::Abort => false,
            _ => return None,
        };
        let mut value = Cursor(record.value?);
        let version = value.i16()?;
        if version < 0 {
            return None;
        }
        Some(EndTxnMarker { commit, coordinator_epoch: value.i32()? })
    }

    /// A batch of one marker, as the partition's leader appends it; `timestamp` in ms.
    pub fn batch(self, timestamp: i64, producer_id: i64, producer_epoch: i16) -> Result<Vec<u8>, BuildError> {
        let kind = if self.commit { ControlType::Commit } else { ControlType::Abort };
        let mut value = [0; 6];
        value[2..].copy_from_slice(&self.coordinator_epoch.to_be_bytes());
        let mut batch = BatchBuilder::new().producer(producer_id, producer_epoch, -1).transactional();
        batch.append_control(kind, timestamp, &value);
        batch.finish()
    }
}

impl BatchBuilder {
    /// Adds a control record and makes the batch a control batch. `value` is the type's schema, its version first.
    pub fn append_control(&mut self, kind: ControlType, timestamp: i64, value: &[u8]) {
        self.make_control();
        self.append(timestamp, Some(&kind.key()), Some(value));
    }
}
