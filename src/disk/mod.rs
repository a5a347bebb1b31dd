//! The disk door: the only way to a file. A leaf that knows nothing of logs.
//!
//! [`Disk`] is a file system, [`DiskFile`] an open file, [`Map`] a read-only view of one that no longer changes,
//! [`Chunk`] bytes on their way out: in memory or still in a file.
//!
//! All calls are synchronous. Appends and reads of what is in the page cache are quick enough for a worker;
//! syncs, cold reads and whole-file scans belong on a blocking thread, which is the caller's choice.
//!
//! A [`KeptFile`] stays open between two uses, as long as there are [`Handles`].
//!
//! [`RealDisk`] is the machine's; [`MemoryDisk`] serves tests and the simulator and can lose what was not synced.

mod chunk;
mod kept;
mod memory;
mod real;

use std::fmt::Debug;
use std::io::{self, IoSlice};
use std::ops::Deref;
use std::os::fd::BorrowedFd;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;

pub use chunk::Chunk;
pub use kept::{Handles, KeptFile};
pub use memory::MemoryDisk;
pub use real::RealDisk;

/// How a file is opened. Every mode but `Read` allows writing, all allow reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenMode {
    /// An existing file, to read only.
    Read,
    /// An existing file, to write.
    Write,
    /// Made if it is missing.
    Create,
    /// Made if it is missing, emptied if it is there.
    Truncate,
}

/// What a directory entry or path is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meta {
    /// Size in bytes; 0 for directories.
    pub len: u64,
    /// A directory, not a file.
    pub is_dir: bool,
    /// When the content last changed, in ms since 1970.
    pub modified_ms: i64,
}

/// An entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Name inside the directory.
    pub name: String,
    /// What it is.
    pub meta: Meta,
}

/// Size of the volume that holds a path, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space {
    /// All of it.
    pub total: u64,
    /// What this process may still fill.
    pub usable: u64,
}

/// An open file. Positions and lengths are bytes.
pub trait DiskFile: Send + Sync + Debug {
    /// Writes all of `bytes` at `position`, which may lie beyond the end.
    fn write_at(&self, position: u64, bytes: &[u8]) -> io::Result<()>;

    /// Writes all parts one after another from `position` on.
    fn write_vectored_at(&self, position: u64, parts: &[IoSlice<'_>]) -> io::Result<()>;

    /// Fills `buffer` from `position` on; gives fewer bytes only at the end of the file.
    fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<usize>;

    /// As `read_at`, but only if that does not have to wait for the disk; `None` if it would.
    fn read_cached(&self, position: u64, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        self.read_at(position, buffer).map(Some)
    }

    /// Brings a range into the system's memory, so that who sends it from there does not wait. Blocks.
    fn warm(&self, _position: u64, _len: u64) -> io::Result<()> {
        Ok(())
    }

    /// Size of the file.
    fn size(&self) -> io::Result<u64>;

    /// Cuts or grows (with zeros) the file.
    fn set_len(&self, len: u64) -> io::Result<()>;

    /// Returns when the content, and the size it needs, survive a power cut.
    fn sync_data(&self) -> io::Result<()>;

    /// Lets the system begin to bring a range to the disk, so that a later `sync_data` waits for less. Promises nothing.
    fn start_sync(&self, position: u64, len: u64) {
        let _ = (position, len);
    }

    /// As `sync_data`, with times and other attributes.
    fn sync_all(&self) -> io::Result<()>;

    /// Makes it look as if the content last changed then, in ms since 1970.
    fn set_modified(&self, modified_ms: i64) -> io::Result<()>;

    /// Asks for blocks for a range without changing the size. A disk that cannot do it says so by
    /// `ErrorKind::Unsupported`; a full disk fails.
    fn reserve(&self, position: u64, len: u64) -> io::Result<()>;

    /// The descriptor, for sendfile; a memory disk has none.
    fn fd(&self) -> Option<BorrowedFd<'_>> {
        None
    }
}

/// A file system.
pub trait Disk: Send + Sync + Debug {
    /// Opens a file.
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn DiskFile>>;

    /// What is at a path; `None` if nothing is.
    fn meta(&self, path: &Path) -> io::Result<Option<Meta>>;

    /// Entries of a directory, sorted by name.
    fn list(&self, dir: &Path) -> io::Result<Vec<Entry>>;

    /// Makes a directory and those above it; fine if it is there.
    fn create_dir(&self, dir: &Path) -> io::Result<()>;

    /// Renames a file or directory, in one step; an existing file of that name is replaced.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    fn remove_file(&self, path: &Path) -> io::Result<()>;

    /// Removes a directory and all inside it.
    fn remove_dir_all(&self, dir: &Path) -> io::Result<()>;

    /// Returns when the names in a directory survive a power cut.
    fn sync_dir(&self, dir: &Path) -> io::Result<()>;

    /// Makes a lock file and holds it until the guard is dropped. `ErrorKind::WouldBlock` if another holds it,
    /// be it Barnabas or Kafka.
    fn lock(&self, path: &Path) -> io::Result<Box<dyn DiskLock>>;

    /// Size of the volume under a path.
    fn space(&self, path: &Path) -> io::Result<Space>;

    /// A read-only view of a file that is never cut while the view lives (it may be renamed or removed).
    fn map(&self, path: &Path) -> io::Result<Map>;

    /// Bounds how many kept files are open; `None` if this disk has no such bound.
    fn handles(&self) -> Option<&Handles> {
        None
    }

    /// A whole small file.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let file = self.open(path, OpenMode::Read)?;
        let len = usize::try_from(file.size()?).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
        let mut bytes = vec![0; len];
        let read = file.read_at(0, &mut bytes)?;
        bytes.truncate(read);
        Ok(bytes)
    }

    /// Replaces a small file so that a crash at any point leaves the old or the new content, and the new one once
    /// this has returned: a temporary file is written, synced and renamed, then the directory is synced.
    fn replace(&self, path: &Path, content: &[u8]) -> io::Result<()> {
        let mut name = path.file_name().unwrap_or_default().to_os_string();
        name.push(".tmp");
        let temporary = path.with_file_name(name);
        let file = self.open(&temporary, OpenMode::Truncate)?;
        file.write_at(0, content)?;
        file.sync_all()?;
        self.rename(&temporary, path)?;
        match path.parent() {
            Some(dir) => self.sync_dir(dir),
            None => Ok(()),
        }
    }
}

/// A held lock file.
pub trait DiskLock: Send + Sync + Debug {}

/// A read-only view of a whole file.
#[derive(Debug)]
pub enum Map {
    /// Pages of a real file.
    Pages(memmap2::Mmap),
    /// A copy.
    Bytes(Bytes),
}

impl Deref for Map {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Map::Pages(pages) => pages,
            Map::Bytes(bytes) => bytes,
        }
    }
}

#[cfg(test)]
mod disk_test;
