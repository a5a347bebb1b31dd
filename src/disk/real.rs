//! The machine's file system.

use std::fs::{self, File};
use std::io::{self, IoSlice, IoSliceMut};
use std::num::NonZeroU64;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, UNIX_EPOCH};

use bytes::Bytes;
use rustix::fs::{Advice, FallocateFlags, FlockOperation};
use rustix::io::{Errno, ReadWriteFlags};
use rustix::process::{Resource, getrlimit};

use super::{Disk, DiskFile, DiskLock, Entry, Handles, Map, Meta, OpenMode, Space};

/// Bytes read at once to bring a range into memory.
const WARM_BYTES: usize = 128 << 10;

/// The process has one limit of open files, whoever opens them; half of them are for sockets and for what is opened in
/// passing.
static HANDLES: LazyLock<Handles> = LazyLock::new(|| {
    let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    Handles::new(usize::try_from(files / 2).unwrap_or(usize::MAX))
});

/// The machine's file system.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealDisk;

impl RealDisk {
    /// As the door that rooms take.
    pub fn shared() -> Arc<dyn Disk> {
        Arc::new(RealDisk)
    }
}

#[derive(Debug)]
struct RealFile(File);

impl DiskFile for RealFile {
    fn write_at(&self, position: u64, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all_at(bytes, position)
    }

    fn write_vectored_at(&self, mut position: u64, parts: &[IoSlice<'_>]) -> io::Result<()> {
        let mut parts = parts.to_vec();
        let mut rest: &mut [IoSlice<'_>] = &mut parts;
        IoSlice::advance_slices(&mut rest, 0);
        while !rest.is_empty() {
            let written = match rustix::io::pwritev(&self.0, rest, position) {
                Err(rustix::io::Errno::INTR) => continue,
                other => other?,
            };
            if written == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            position += written as u64;
            IoSlice::advance_slices(&mut rest, written);
        }
        Ok(())
    }

    fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match self.0.read_at(rest, position + filled as u64) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }

    fn read_cached(&self, position: u64, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        let wanted = buffer.len();
        let parts = &mut [IoSliceMut::new(buffer)];
        match rustix::io::preadv2(&self.0, parts, position, ReadWriteFlags::NOWAIT) {
            Ok(read) if read == wanted => Ok(Some(read)),
            // A part is in memory, or the file ends here: only a read that waits can tell.
            Ok(_) | Err(Errno::AGAIN) => Ok(None),
            // Not every file system can tell.
            Err(Errno::OPNOTSUPP) => self.read_at(position, buffer).map(Some),
            Err(error) => Err(error.into()),
        }
    }

    fn warm(&self, position: u64, len: u64) -> io::Result<()> {
        let mut scratch = vec![0; WARM_BYTES];
        let end = position.saturating_add(len);
        let mut at = position;
        while at < end {
            let read = self.read_at(at, &mut scratch)?;
            if read == 0 {
                break;
            }
            at = at.saturating_add(read as u64);
        }
        Ok(())
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.0.sync_data()
    }

    fn start_sync(&self, position: u64, len: u64) {
        // Of pages that are dirty this advice begins to write, and waits for none. What fails shows when it is synced.
        let _ = rustix::fs::fadvise(&self.0, position, NonZeroU64::new(len), Advice::DontNeed);
    }

    fn sync_all(&self) -> io::Result<()> {
        self.0.sync_all()
    }

    fn set_modified(&self, modified_ms: i64) -> io::Result<()> {
        let since = Duration::from_millis(modified_ms.max(0).unsigned_abs());
        self.0.set_modified(UNIX_EPOCH + since)
    }

    fn reserve(&self, position: u64, len: u64) -> io::Result<()> {
        Ok(rustix::fs::fallocate(&self.0, FallocateFlags::KEEP_SIZE, position, len)?)
    }

    fn fd(&self) -> Option<BorrowedFd<'_>> {
        Some(self.0.as_fd())
    }
}

#[derive(Debug)]
struct RealLock(#[expect(dead_code, reason = "held open: closing it unlocks")] File);

impl DiskLock for RealLock {}

fn meta_of(meta: &fs::Metadata) -> Meta {
    let modified = meta.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let modified_ms = modified.and_then(|since| i64::try_from(since.as_millis()).ok()).unwrap_or_default();
    let is_dir = meta.is_dir();
    Meta { len: if is_dir { 0 } else { meta.len() }, is_dir, modified_ms }
}

impl Disk for RealDisk {
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn DiskFile>> {
        let mut options = File::options();
        options.read(true);
        match mode {
            OpenMode::Read => &mut options,
            OpenMode::Write => options.write(true),
            OpenMode::Create => options.write(true).create(true).truncate(false),
            OpenMode::Truncate => options.write(true).create(true).truncate(true),
        };
        Ok(Arc::new(RealFile(options.open(path)?)))
    }

    fn meta(&self, path: &Path) -> io::Result<Option<Meta>> {
        match fs::metadata(path) {
            Ok(meta) => Ok(Some(meta_of(&meta))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(dir)? {
            let entry = entry?;
            match entry.metadata() {
                Ok(meta) => {
                    let name = entry.file_name().to_string_lossy().into_owned();
                    entries.push(Entry { name, meta: meta_of(&meta) });
                }
                // Removed since the directory was read.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    fn create_dir(&self, dir: &Path) -> io::Result<()> {
        fs::create_dir_all(dir)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn remove_dir_all(&self, dir: &Path) -> io::Result<()> {
        fs::remove_dir_all(dir)
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        File::open(dir)?.sync_all()
    }

    fn lock(&self, path: &Path) -> io::Result<Box<dyn DiskLock>> {
        let file = File::options().read(true).write(true).create(true).truncate(false).open(path)?;
        // Two kinds: flock keeps out a second opening in this process, too; a JVM takes POSIX record locks.
        rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        rustix::fs::fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive).map_err(
            |error| match error {
                rustix::io::Errno::ACCESS => io::Error::from(io::ErrorKind::WouldBlock),
                other => other.into(),
            },
        )?;
        Ok(Box::new(RealLock(file)))
    }

    fn space(&self, path: &Path) -> io::Result<Space> {
        let stat = rustix::fs::statvfs(path)?;
        Ok(Space {
            total: stat.f_blocks.saturating_mul(stat.f_frsize),
            usable: stat.f_bavail.saturating_mul(stat.f_frsize),
        })
    }

    fn handles(&self) -> Option<&Handles> {
        Some(&HANDLES)
    }

    fn map(&self, path: &Path) -> io::Result<Map> {
        let file = File::open(path)?;
        // An empty file cannot be mapped.
        if file.metadata()?.len() == 0 {
            return Ok(Map::Bytes(Bytes::new()));
        }
        // SAFETY: the caller promises that the file is not cut or changed while the view lives.
        #[allow(unsafe_code)]
        let pages = unsafe { memmap2::Mmap::map(&file)? };
        Ok(Map::Pages(pages))
    }
}
