//! A directory of `log.dirs`: whether it still works, and who hears when it fails.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tokio::sync::mpsc;
use tracing::error;

use crate::ids::Uuid;
use crate::storage::StorageError;

/// One of `log.dirs`, locked by this broker.
#[derive(Debug)]
pub struct LogDir {
    path: PathBuf,
    id: Uuid,
    offline: AtomicBool,
    /// Logs in it: new ones go where there are fewest.
    logs: AtomicUsize,
    failures: mpsc::UnboundedSender<PathBuf>,
}

impl LogDir {
    /// A directory that works; its failure will be told to `failures`.
    pub fn new(path: PathBuf, id: Uuid, failures: mpsc::UnboundedSender<PathBuf>) -> Arc<LogDir> {
        Arc::new(LogDir { path, id, offline: AtomicBool::new(false), logs: AtomicUsize::new(0), failures })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// `directory.id` of its meta.properties.
    pub fn id(&self) -> Uuid {
        self.id
    }

    /// How many logs are in it.
    pub(super) fn logs(&self) -> usize {
        self.logs.load(Ordering::Relaxed)
    }

    /// A log was opened here.
    pub(super) fn log_came(&self) {
        self.logs.fetch_add(1, Ordering::Relaxed);
    }

    /// A log left.
    pub(super) fn log_went(&self) {
        self.logs.fetch_sub(1, Ordering::Relaxed);
    }

    /// False once it has failed.
    pub fn is_online(&self) -> bool {
        !self.offline.load(Ordering::Acquire)
    }

    /// The directory can no longer be trusted: nothing is read or written there any more.
    pub fn fail(&self, cause: &StorageError) {
        if !self.offline.swap(true, Ordering::AcqRel) {
            error!(directory = %self.path.display(), %cause, "log directory taken offline");
            // Nobody listens only while the broker stops.
            let _stopping = self.failures.send(self.path.clone());
        }
    }
}
