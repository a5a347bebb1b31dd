//! Counters: allocations of the threads that asked for it, and bytes and calls at the disk door.
#![allow(unsafe_code, reason = "a global allocator cannot be written without")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::{self, IoSlice};
use std::os::fd::BorrowedFd;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use barnabas::disk::{Disk, DiskFile, DiskLock, Entry, Map, Meta, OpenMode, RealDisk, Space};

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

thread_local! {
    static COUNTER: Cell<Option<&'static AtomicU64>> = const { Cell::new(None) };
}

/// Allocations of this thread are added to the counter from now on.
pub fn count_this_thread(counter: &'static AtomicU64) {
    COUNTER.set(Some(counter));
}

fn note() {
    if let Some(counter) = COUNTER.try_with(Cell::get).ok().flatten() {
        counter.fetch_add(1, Ordering::SeqCst);
    }
}

// SAFETY: every call goes to the system's allocator as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note();
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note();
        // SAFETY: the caller's promises are passed on.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// What passed the disk door of `.log` files.
#[derive(Debug, Default)]
pub struct Traffic {
    /// Writes.
    pub writes: AtomicU64,
    /// Their bytes.
    pub written: AtomicU64,
    /// Bytes read into this process.
    pub read: AtomicU64,
    /// Syncs of directories, whosever they are.
    pub directory_syncs: AtomicU64,
    /// Syncs.
    pub syncs: AtomicU64,
    /// How long each takes at least, ms.
    pub sync_ms: AtomicU64,
    /// Times that a descriptor was handed to sendfile.
    pub sent: AtomicU64,
    /// The files behave as if nothing of them were in memory.
    pub cold: AtomicBool,
    /// Bytes that were brought into memory on request.
    pub warmed: AtomicU64,
}

/// The machine's files, with a count of what happens to partitions' `.log` files.
#[derive(Debug)]
pub struct CountingDisk(pub Arc<Traffic>);

#[derive(Debug)]
struct CountingFile(Arc<dyn DiskFile>, Arc<Traffic>);

impl Disk for CountingDisk {
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn DiskFile>> {
        let file = RealDisk.open(path, mode)?;
        let text = path.to_string_lossy();
        let counted = text.ends_with(".log") && !text.contains("__cluster_metadata");
        Ok(if counted { Arc::new(CountingFile(file, self.0.clone())) } else { file })
    }

    fn meta(&self, path: &Path) -> io::Result<Option<Meta>> {
        RealDisk.meta(path)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<Entry>> {
        RealDisk.list(dir)
    }

    fn create_dir(&self, dir: &Path) -> io::Result<()> {
        RealDisk.create_dir(dir)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        RealDisk.rename(from, to)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        RealDisk.remove_file(path)
    }

    fn remove_dir_all(&self, dir: &Path) -> io::Result<()> {
        RealDisk.remove_dir_all(dir)
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        self.0.directory_syncs.fetch_add(1, Ordering::SeqCst);
        RealDisk.sync_dir(dir)
    }

    fn lock(&self, path: &Path) -> io::Result<Box<dyn DiskLock>> {
        RealDisk.lock(path)
    }

    fn space(&self, path: &Path) -> io::Result<Space> {
        RealDisk.space(path)
    }

    fn map(&self, path: &Path) -> io::Result<Map> {
        RealDisk.map(path)
    }
}

impl DiskFile for CountingFile {
    fn write_at(&self, position: u64, bytes: &[u8]) -> io::Result<()> {
        self.1.writes.fetch_add(1, Ordering::SeqCst);
        self.1.written.fetch_add(bytes.len() as u64, Ordering::SeqCst);
        self.0.write_at(position, bytes)
    }

    fn write_vectored_at(&self, position: u64, parts: &[IoSlice<'_>]) -> io::Result<()> {
        self.1.writes.fetch_add(1, Ordering::SeqCst);
        let bytes: usize = parts.iter().map(|part| part.len()).sum();
        self.1.written.fetch_add(bytes as u64, Ordering::SeqCst);
        self.0.write_vectored_at(position, parts)
    }

    fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.0.read_at(position, buffer)?;
        self.1.read.fetch_add(read as u64, Ordering::SeqCst);
        Ok(read)
    }

    fn read_cached(&self, position: u64, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        if self.1.cold.load(Ordering::SeqCst) {
            return Ok(None);
        }
        let read = self.0.read_cached(position, buffer)?;
        self.1.read.fetch_add(read.unwrap_or_default() as u64, Ordering::SeqCst);
        Ok(read)
    }

    fn warm(&self, position: u64, len: u64) -> io::Result<()> {
        self.1.warmed.fetch_add(len, Ordering::SeqCst);
        self.0.warm(position, len)
    }

    fn size(&self) -> io::Result<u64> {
        self.0.size()
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.1.syncs.fetch_add(1, Ordering::SeqCst);
        std::thread::sleep(std::time::Duration::from_millis(self.1.sync_ms.load(Ordering::SeqCst)));
        self.0.sync_data()
    }

    fn sync_all(&self) -> io::Result<()> {
        self.0.sync_all()
    }

    fn set_modified(&self, modified_ms: i64) -> io::Result<()> {
        self.0.set_modified(modified_ms)
    }

    fn reserve(&self, position: u64, len: u64) -> io::Result<()> {
        self.0.reserve(position, len)
    }

    fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.1.sent.fetch_add(1, Ordering::SeqCst);
        self.0.fd()
    }
}
