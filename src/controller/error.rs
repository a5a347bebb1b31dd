use std::path::PathBuf;

use barnabas_protocol::batch::{BuildError, Fault};
use barnabas_protocol::messages::records::RecordError;
use thiserror::Error;

use super::state::ReplayError;
use crate::storage::{AppendError, ReadError, StorageError};

/// Our own truth cannot be read or written: the process stops.
#[derive(Debug, Error)]
pub enum ControllerError {
    /// The disk or the log's files failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The log cannot be read.
    #[error("the metadata log cannot be read: {0}")]
    Read(#[from] ReadError),
    /// The log refused a batch.
    #[error("the metadata log cannot be written: {0}")]
    Append(#[from] AppendError),
    /// Records do not make a batch.
    #[error("a batch of metadata records cannot be made: {0}")]
    Build(#[from] BuildError),
    /// A batch is damaged.
    #[error("{} is damaged: {fault}", path.display())]
    Batch {
        /// The file or directory.
        path: PathBuf,
        /// What is wrong.
        fault: Fault,
    },
    /// A record is damaged, or of a later version.
    #[error("{}, offset {offset}: {error}", path.display())]
    Record {
        /// The file or directory.
        path: PathBuf,
        /// Of the record.
        offset: i64,
        /// What is wrong.
        error: RecordError,
    },
    /// A record contradicts those before it.
    #[error("the metadata log contradicts itself: {0}")]
    Replay(#[from] ReplayError),
    /// A file beside the log is not what it should be.
    #[error("{} is corrupt: {what}", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// The system refused a call on a file beside the log.
    #[error("cannot {doing} {}: {source}", path.display())]
    Io {
        /// What was tried, as a verb.
        doing: &'static str,
        /// With which file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The epoch to be appended in is over: somebody else leads, or nobody. Not a fault.
    #[error("this node does not lead the metadata log")]
    NotLeader,
    /// The quorum cannot go on.
    #[error("the metadata quorum failed: {0}")]
    Quorum(String),
    /// It was closed.
    #[error("the metadata log is closed")]
    Closed,
    /// A defect.
    #[error("publishing metadata panicked")]
    Panicked,
}

impl ControllerError {
    pub(super) fn io<'a>(
        doing: &'static str,
        path: &'a std::path::Path,
    ) -> impl FnOnce(std::io::Error) -> ControllerError + 'a {
        move |source| ControllerError::Io { doing, path: path.into(), source }
    }
}
