//! Taking possession of the log directories: one process, one node, one cluster.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use thiserror::Error;

use crate::disk::{Disk, DiskLock};
use crate::ids::Uuid;
use crate::rng::Rng;
use crate::storage::StorageError;
use crate::storage::log_dir::{self, MetaProperties};

/// Why the directories cannot be used.
#[derive(Debug, Error)]
pub enum ClaimError {
    /// Another process, ours or Kafka, has it.
    #[error("{} is in use by another process: stop it, or choose another directory in log.dirs", .0.display())]
    InUse(PathBuf),
    /// It holds somebody's data, but not whose.
    #[error("{} holds data but no meta.properties: restore the file, or choose an empty directory", .0.display())]
    Unnamed(PathBuf),
    /// The metadata directory was never formatted.
    #[error(
        "{} is not formatted: a node of a cluster needs the cluster's id, run `barnabas format --cluster-id ID`",
        .0.display()
    )]
    Unformatted(PathBuf),
    /// It stands in `log.dirs` more than once.
    #[error("{} is named twice in log.dirs", .0.display())]
    Twice(PathBuf),
    /// It belongs to another node.
    #[error("{} belongs to node {found}, this is node {expected} (node.id)", dir.display())]
    OtherNode {
        /// Which directory.
        dir: PathBuf,
        /// In its meta.properties.
        found: i32,
        /// Configured.
        expected: i32,
    },
    /// It belongs to another cluster than the first one.
    #[error("{} belongs to cluster {found}, the other directories to {expected}", dir.display())]
    OtherCluster {
        /// Which directory.
        dir: PathBuf,
        /// In its meta.properties.
        found: String,
        /// In the others.
        expected: String,
    },
    /// Two directories have the same id: one is a copy.
    #[error("{} has the same directory.id as another log directory: is it a copy?", .0.display())]
    Copy(PathBuf),
    /// The disk failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// A directory that is ours while this lives.
pub struct Claimed {
    /// Where.
    pub path: PathBuf,
    /// `directory.id`.
    pub id: Uuid,
    /// It was stopped in order.
    pub clean: bool,
    /// The broker epoch at that stop; -1 if there was none, or no such stop.
    pub last_epoch: i64,
    _lock: Box<dyn DiskLock>,
}

/// Whether an empty directory may be made the node's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fresh {
    /// One node that is its own cluster: yes, as its first start.
    Format,
    /// A node among others: only `format` may do it.
    Refuse,
}

impl Claim {
    /// The broker epoch of the last run, if that stopped in order everywhere; else -1.
    pub fn previous_epoch(&self) -> i64 {
        self.dirs.iter().map(|dir| dir.last_epoch).min().unwrap_or(-1)
    }
}

/// All directories, and the cluster they belong to.
pub struct Claim {
    /// In the order of `log.dirs`.
    pub dirs: Vec<Claimed>,
    /// Those that do not work, but the one for metadata.
    pub failed: Vec<(PathBuf, StorageError)>,
    /// `cluster.id`.
    pub cluster_id: String,
    /// All of them were empty.
    pub fresh: bool,
}

/// Locks the directories, checks to whom they belong, and names those that are new.
///
/// # Errors
/// See [`ClaimError`].
pub fn claim(
    disk: &Arc<dyn Disk>,
    rng: &Rng,
    dirs: &[PathBuf],
    metadata_dir: &Path,
    node_id: i32,
    fresh: Fresh,
) -> Result<Claim, ClaimError> {
    let mut found = Vec::with_capacity(dirs.len());
    let mut failed = Vec::new();
    for (at, path) in dirs.iter().enumerate() {
        if dirs.iter().take(at).any(|other| other.components().eq(path.components())) {
            return Err(ClaimError::Twice(path.clone()));
        }
        match enter(disk.as_ref(), path) {
            Ok(entered) => found.push(entered),
            Err(ClaimError::Storage(error)) if path != metadata_dir => failed.push((path.clone(), error)),
            Err(error) => return Err(error),
        }
    }
    let cluster_id = cluster_of(&found, node_id)?;
    let all_new = cluster_id.is_none();
    let formatted = found.iter().any(|(path, _, meta)| path == metadata_dir && meta.is_some());
    let may_format = all_new && fresh == Fresh::Format;
    if !formatted && !may_format {
        return Err(ClaimError::Unformatted(metadata_dir.to_owned()));
    }
    let cluster_id = cluster_id.unwrap_or_else(|| rng.uuid().to_string());
    let mut claimed: Vec<Claimed> = Vec::with_capacity(found.len());
    for (path, lock, meta) in found {
        let is_new = meta.is_none();
        if is_new && holds_data(disk.as_ref(), &path)? {
            return Err(ClaimError::Unnamed(path));
        }
        let id = meta.as_ref().and_then(|meta| meta.directory_id).unwrap_or_else(|| rng.uuid());
        if claimed.iter().any(|other| other.id == id) {
            return Err(ClaimError::Copy(path));
        }
        let named = meta.is_some_and(|meta| meta.directory_id.is_some());
        let written_last = all_new && path == metadata_dir;
        if !named && !written_last {
            write_meta(disk, &path, &cluster_id, node_id, id)?;
        }
        // A directory that was never used is as good as one that was stopped in order.
        let marker = log_dir::take_clean_marker(disk.as_ref(), &path)?;
        let clean = marker.is_some() || is_new;
        let last_epoch = marker.map_or(-1, |marker| marker.broker_epoch);
        claimed.push(Claimed { path, id, clean, last_epoch, _lock: lock });
    }
    Ok(Claim { dirs: claimed, failed, cluster_id, fresh: all_new })
}

/// Locks a directory and reads whose it is.
fn enter(disk: &dyn Disk, path: &Path) -> Result<Found, ClaimError> {
    let io = |source| StorageError::Io { doing: "create", path: path.to_owned(), source };
    if disk.meta(path).map_err(io)?.is_some_and(|meta| !meta.is_dir) {
        let source = io::Error::new(io::ErrorKind::NotADirectory, "log.dirs names a file, not a directory");
        return Err(StorageError::Io { doing: "use", path: path.to_owned(), source }.into());
    }
    disk.create_dir(path).map_err(io)?;
    let lock = log_dir::lock(disk, path)?.ok_or_else(|| ClaimError::InUse(path.to_owned()))?;
    Ok((path.to_owned(), lock, log_dir::read_meta(disk, path)?))
}

/// Writes `meta.properties`. The metadata directory's comes last: a format that was interrupted starts anew.
pub fn write_meta(
    disk: &Arc<dyn Disk>,
    path: &Path,
    cluster_id: &str,
    node_id: i32,
    id: Uuid,
) -> Result<(), StorageError> {
    let meta = MetaProperties { cluster_id: cluster_id.to_owned(), node_id, directory_id: Some(id) };
    log_dir::write_meta(disk.as_ref(), path, &meta)
}

type Found = (PathBuf, Box<dyn DiskLock>, Option<MetaProperties>);

/// The cluster that the directories agree on; `None` if all are new.
fn cluster_of(found: &[Found], expected_node: i32) -> Result<Option<String>, ClaimError> {
    let mut cluster: Option<String> = None;
    for (dir, _, meta) in found {
        let Some(meta) = meta else { continue };
        if meta.node_id != expected_node {
            return Err(ClaimError::OtherNode {
                dir: dir.clone(),
                found: meta.node_id,
                expected: expected_node,
            });
        }
        match &cluster {
            Some(expected) if *expected != meta.cluster_id => {
                return Err(ClaimError::OtherCluster {
                    dir: dir.clone(),
                    found: meta.cluster_id.clone(),
                    expected: expected.clone(),
                });
            }
            Some(_) => {}
            None => cluster = Some(meta.cluster_id.clone()),
        }
    }
    Ok(cluster)
}

/// Anything but what this process just made, or what a new file system has.
fn holds_data(disk: &dyn Disk, dir: &Path) -> Result<bool, StorageError> {
    let entries =
        disk.list(dir).map_err(|source| StorageError::Io { doing: "list", path: dir.to_owned(), source })?;
    // A format that was interrupted left the metadata directory; it is written anew.
    let harmless = [".lock", "lost+found", "bootstrap.checkpoint", "__cluster_metadata-0"];
    Ok(entries.iter().any(|entry| !harmless.contains(&entry.name.as_str())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::disk::{MemoryDisk, OpenMode};

    fn refused(disk: &Arc<dyn Disk>, dirs: &[&str]) -> String {
        let dirs: Vec<PathBuf> = dirs.iter().map(PathBuf::from).collect();
        let claimed = claim(disk, &Rng::from_seed(1), &dirs, &dirs[0], 1, Fresh::Format);
        claimed.err().unwrap().to_string()
    }

    #[test]
    fn a_directory_is_named_once_and_is_none_if_it_is_a_file() {
        let disk = MemoryDisk::new(Clock::simulated(0)).shared();
        assert_eq!(refused(&disk, &["/a", "/b", "/a/"]), "/a/ is named twice in log.dirs");
        disk.open(Path::new("/f"), OpenMode::Create).unwrap();
        assert_eq!(refused(&disk, &["/f"]), "cannot use /f: log.dirs names a file, not a directory");
    }
}
