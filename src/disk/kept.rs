//! Files that stay open between two uses, but not more of them than the process may have.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use parking_lot::{Mutex, RwLock};

use super::{Disk, DiskFile, OpenMode};

/// A file that is opened when it is first needed, and may be closed while nobody uses it. It must keep its name as
/// long as somebody may ask for it.
#[derive(Debug)]
pub struct KeptFile {
    path: PathBuf,
    slot: Arc<Slot>,
}

#[derive(Debug, Default)]
struct Slot {
    file: RwLock<Option<Arc<dyn DiskFile>>>,
    /// Asked for since it was last considered for closing.
    used: AtomicBool,
    /// Never closed again.
    pinned: AtomicBool,
}

impl KeptFile {
    /// Nothing is opened yet.
    pub fn new(path: PathBuf) -> KeptFile {
        KeptFile { path, slot: Arc::default() }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The open file; it stays open at least as long as the caller has it.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn get(&self, disk: &dyn Disk) -> io::Result<Arc<dyn DiskFile>> {
        if let Some(file) = &*self.slot.file.read() {
            self.slot.used.store(true, Ordering::Relaxed);
            return Ok(Arc::clone(file));
        }
        self.open(disk, OpenMode::Write)
    }

    /// From now on it stays open until this is dropped: its name is needed no longer.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn pin(&self, disk: &dyn Disk) -> io::Result<()> {
        self.slot.pinned.store(true, Ordering::SeqCst);
        self.get(disk).map(|_| ())
    }

    /// Makes the file, empty.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn create(&self, disk: &dyn Disk) -> io::Result<Arc<dyn DiskFile>> {
        self.open(disk, OpenMode::Truncate)
    }

    fn open(&self, disk: &dyn Disk, mode: OpenMode) -> io::Result<Arc<dyn DiskFile>> {
        let mut place = self.slot.file.write();
        if let Some(file) = place.as_ref().filter(|_| mode == OpenMode::Write) {
            return Ok(Arc::clone(file));
        }
        let file = disk.open(&self.path, mode)?;
        let was_open = place.replace(Arc::clone(&file)).is_some();
        drop(place);
        if let Some(handles) = disk.handles().filter(|_| !was_open) {
            handles.opened(&self.slot);
        }
        Ok(file)
    }
}

/// How many kept files of a disk may be open; of more, those are closed that were not asked for lately.
///
/// What was written to a file that is closed before it is synced is not lost: the next sync, of the file opened
/// again, covers it, and Linux tells it of an error that nobody has been told of.
#[derive(Debug)]
pub struct Handles {
    limit: AtomicUsize,
    /// In the order of opening, those that were dropped included.
    open: Mutex<VecDeque<Weak<Slot>>>,
}

impl Handles {
    /// At most `limit` files.
    pub fn new(limit: usize) -> Handles {
        Handles { limit: AtomicUsize::new(limit), open: Mutex::default() }
    }

    /// Changes how many there may be, from the next opening on.
    pub fn set_limit(&self, limit: usize) {
        self.limit.store(limit, Ordering::Relaxed);
    }

    fn opened(&self, slot: &Arc<Slot>) {
        let limit = self.limit.load(Ordering::Relaxed);
        let mut open = self.open.lock();
        open.push_back(Arc::downgrade(slot));
        // Who was asked for gets a second chance, but only one.
        let mut chances = open.len();
        while open.len() > limit {
            let Some(oldest) = open.pop_front() else { return };
            let Some(slot) = oldest.upgrade() else { continue };
            if slot.pinned.load(Ordering::SeqCst) {
                continue;
            }
            if chances > 0 && slot.used.swap(false, Ordering::Relaxed) {
                chances -= 1;
                open.push_back(oldest);
            } else {
                *slot.file.write() = None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::disk::MemoryDisk;

    fn is_open(file: &KeptFile) -> bool {
        file.slot.file.read().is_some()
    }

    #[test]
    fn files_that_nobody_asks_for_are_closed_and_opened_again() {
        let disk = MemoryDisk::new(Clock::simulated(0));
        disk.keep_open(3);
        let files: Vec<KeptFile> = (0..6).map(|n| KeptFile::new(format!("/{n}").into())).collect();
        for (n, file) in files.iter().enumerate() {
            file.create(&disk).unwrap().write_at(0, &[u8::try_from(n).unwrap()]).unwrap();
            // The first one is in use all the time.
            files.first().unwrap().get(&disk).unwrap();
        }
        let open: Vec<bool> = files.iter().map(is_open).collect();
        assert_eq!(open, [true, false, false, false, true, true]);
        for (n, file) in files.iter().enumerate() {
            let mut byte = [9];
            file.get(&disk).unwrap().read_at(0, &mut byte).unwrap();
            assert_eq!(usize::from(byte[0]), n);
        }
        assert_eq!(files.iter().filter(|file| is_open(file)).count(), 3);
    }

    #[test]
    fn a_file_in_use_outlives_its_closing() {
        let disk = MemoryDisk::new(Clock::simulated(0));
        disk.keep_open(1);
        let (first, second) = (KeptFile::new("/1".into()), KeptFile::new("/2".into()));
        let file = first.create(&disk).unwrap();
        second.create(&disk).unwrap();
        assert!(!is_open(&first));
        file.write_at(0, b"x").unwrap();
        disk.remove_file(Path::new("/1")).unwrap();
        assert_eq!(file.size().unwrap(), 1);
        assert!(first.get(&disk).is_err(), "its name is gone");
    }

    #[test]
    fn a_pinned_file_needs_no_name() {
        let disk = MemoryDisk::new(Clock::simulated(0));
        disk.keep_open(1);
        let (first, second) = (KeptFile::new("/1".into()), KeptFile::new("/2".into()));
        first.create(&disk).unwrap().write_at(0, b"old").unwrap();
        first.pin(&disk).unwrap();
        second.create(&disk).unwrap();
        disk.replace(Path::new("/1"), b"new").unwrap();
        let mut bytes = [0; 3];
        first.get(&disk).unwrap().read_at(0, &mut bytes).unwrap();
        assert_eq!(&bytes, b"old");
    }
}
