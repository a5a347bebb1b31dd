//! A disk in memory, for tests and the simulator: it forgets what was not synced, fills up and fails on request.

mod content;
mod names;

use std::io::{self, IoSlice};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use parking_lot::{Mutex, MutexGuard};

use self::content::Content;
use self::names::{NameOp, Names};
use super::{Disk, DiskFile, DiskLock, Entry, Handles, Map, Meta, OpenMode, Space};
use crate::clock::Clock;
use crate::rng::Rng;

/// A disk in memory. Clones are the same disk.
#[derive(Clone, Debug)]
pub struct MemoryDisk {
    shared: Arc<Shared>,
    /// Of a process: it sees nothing of the disk once its life is over.
    life: Option<u64>,
}

#[derive(Debug)]
struct Shared {
    clock: Clock,
    state: Mutex<State>,
    handles: Handles,
}

#[derive(Debug, Default)]
struct State {
    names: Names,
    /// What a power cut leaves of `names`, once `pending` is replayed over it.
    durable: Names,
    pending: Vec<NameOp>,
    locked: Vec<PathBuf>,
    /// Counts the ends of processes: what was opened before one has no effect after it.
    life: u64,
    /// Bytes in files, and how many there may be.
    used: u64,
    capacity: Option<u64>,
    /// Changing calls that still succeed.
    calls_left: Option<u64>,
}

type Inode = Arc<Mutex<Content>>;

impl MemoryDisk {
    /// An empty disk without limits. The clock gives files their times.
    pub fn new(clock: Clock) -> MemoryDisk {
        let handles = Handles::new(usize::MAX);
        MemoryDisk { shared: Arc::new(Shared { clock, state: Mutex::default(), handles }), life: None }
    }

    /// As the door that a process's rooms take: shut with the next [`Self::end_process`] or [`Self::crash`].
    pub fn shared(&self) -> Arc<dyn Disk> {
        let life = Some(self.shared.state.lock().life);
        Arc::new(MemoryDisk { shared: Arc::clone(&self.shared), life })
    }

    /// Ends the process that uses the disk: all that it has written stays, but nothing that is left of it reaches the
    /// disk any more.
    pub fn end_process(&self) {
        let mut state = self.shared.state.lock();
        state.locked.clear();
        state.life += 1;
    }

    fn state(&self) -> io::Result<MutexGuard<'_, State>> {
        let state = self.shared.state.lock();
        match self.life {
            Some(life) if life != state.life => Err(ended()),
            _ => Ok(state),
        }
    }

    /// Cuts the power. What was synced stays; of the rest a part that `rng` chooses, writes torn at any byte
    /// included. Open files and locks of before are dead.
    pub fn crash(&self, rng: &Rng) {
        let mut state = self.shared.state.lock();
        let kept = rng.below(state.pending.len() as u64 + 1);
        let pending = std::mem::take(&mut state.pending);
        let mut names = std::mem::take(&mut state.durable);
        for op in pending.into_iter().take(usize::try_from(kept).unwrap_or(usize::MAX)) {
            names.apply(op);
        }
        names.replace_inodes(|inode| Arc::new(Mutex::new(inode.lock().after_crash(rng))));
        state.used = names.used();
        state.durable = names.clone();
        state.names = names;
        state.locked.clear();
        state.life += 1;
    }

    /// Limits the bytes in files; `None` lifts the limit.
    pub fn set_capacity(&self, bytes: Option<u64>) {
        self.shared.state.lock().capacity = bytes;
    }

    /// Limits how many kept files are open.
    pub fn keep_open(&self, files: usize) {
        self.shared.handles.set_limit(files);
    }

    /// Lets every changing call after the next `calls` fail; `None` heals the disk.
    pub fn fail_after(&self, calls: Option<u64>) {
        self.shared.state.lock().calls_left = calls;
    }
}

fn ended() -> io::Error {
    io::Error::other("its process has ended")
}

impl State {
    fn changing(&mut self) -> io::Result<()> {
        match &mut self.calls_left {
            None => Ok(()),
            Some(0) => Err(io::Error::other("the disk was told to fail")),
            Some(left) => {
                *left -= 1;
                Ok(())
            }
        }
    }

    /// Counts a file's change of size, unless the disk is full.
    fn resize(&mut self, from: u64, to: u64) -> io::Result<()> {
        let used = self.used.saturating_sub(from).saturating_add(to);
        if to > from && self.capacity.is_some_and(|capacity| used > capacity) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.used = used;
        Ok(())
    }

    fn log(&mut self, op: NameOp) {
        self.names.apply(op.clone());
        self.pending.push(op);
    }
}

#[derive(Debug)]
struct MemoryFile {
    shared: Arc<Shared>,
    inode: Inode,
    life: u64,
    writable: bool,
}

impl MemoryFile {
    fn change(&self, new_len: impl Fn(u64) -> u64, change: impl FnOnce(&mut Content)) -> io::Result<()> {
        if !self.writable {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let mut state = self.shared.state.lock();
        if state.life != self.life {
            return Err(ended());
        }
        state.changing()?;
        let mut content = self.inode.lock();
        state.resize(content.len(), new_len(content.len()))?;
        change(&mut content);
        content.modified_ms = self.shared.clock.now().wall_ms;
        Ok(())
    }
}

impl DiskFile for MemoryFile {
    fn write_at(&self, position: u64, bytes: &[u8]) -> io::Result<()> {
        let end = position.saturating_add(bytes.len() as u64);
        self.change(|len| len.max(end), |content| content.write(position, bytes))
    }

    fn write_vectored_at(&self, position: u64, parts: &[IoSlice<'_>]) -> io::Result<()> {
        let whole: Vec<u8> = parts.iter().flat_map(|part| part.iter().copied()).collect();
        self.write_at(position, &whole)
    }

    fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<usize> {
        Ok(self.inode.lock().read(position, buffer))
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.inode.lock().len())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.change(|_| len, |content| content.set_len(len))
    }

    fn sync_data(&self) -> io::Result<()> {
        let mut state = self.shared.state.lock();
        if state.life != self.life {
            return Err(ended());
        }
        state.changing()?;
        self.inode.lock().sync();
        Ok(())
    }

    fn sync_all(&self) -> io::Result<()> {
        self.sync_data()
    }

    fn set_modified(&self, modified_ms: i64) -> io::Result<()> {
        self.shared.state.lock().changing()?;
        self.inode.lock().modified_ms = modified_ms;
        Ok(())
    }

    fn reserve(&self, _position: u64, _len: u64) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[derive(Debug)]
struct MemoryLock {
    shared: Arc<Shared>,
    path: PathBuf,
    life: u64,
}

impl DiskLock for MemoryLock {}

impl Drop for MemoryLock {
    fn drop(&mut self) {
        let mut state = self.shared.state.lock();
        if state.life == self.life {
            state.locked.retain(|path| *path != self.path);
        }
    }
}

impl Disk for MemoryDisk {
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn DiskFile>> {
        let mut state = self.state()?;
        if mode == OpenMode::Truncate && state.names.file(path).is_some() {
            state.changing()?;
        }
        let inode = match (state.names.file(path), mode) {
            (Some(inode), OpenMode::Truncate) => {
                let len = inode.lock().len();
                state.resize(len, 0)?;
                inode.lock().set_len(0);
                inode
            }
            (Some(inode), _) => inode,
            (None, OpenMode::Read | OpenMode::Write) => return Err(io::ErrorKind::NotFound.into()),
            (None, OpenMode::Create | OpenMode::Truncate) => {
                state.names.check_parent(path)?;
                state.changing()?;
                let inode = Inode::default();
                inode.lock().modified_ms = self.shared.clock.now().wall_ms;
                state.log(NameOp::Create(path.into(), Arc::clone(&inode)));
                inode
            }
        };
        let writable = mode != OpenMode::Read;
        Ok(Arc::new(MemoryFile { shared: Arc::clone(&self.shared), inode, life: state.life, writable }))
    }

    fn meta(&self, path: &Path) -> io::Result<Option<Meta>> {
        Ok(self.state()?.names.meta(path))
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<Entry>> {
        self.state()?.names.list(dir)
    }

    fn create_dir(&self, dir: &Path) -> io::Result<()> {
        let mut state = self.state()?;
        state.changing()?;
        state.log(NameOp::CreateDir(dir.into()));
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.state()?;
        if state.names.meta(from).is_none() {
            return Err(io::ErrorKind::NotFound.into());
        }
        state.names.check_parent(to)?;
        state.changing()?;
        state.log(NameOp::Rename(from.into(), to.into()));
        state.used = state.names.used();
        Ok(())
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state()?;
        let inode = state.names.file(path).ok_or(io::ErrorKind::NotFound)?;
        state.changing()?;
        state.log(NameOp::RemoveFile(path.into()));
        let len = inode.lock().len();
        state.resize(len, 0)
    }

    fn remove_dir_all(&self, dir: &Path) -> io::Result<()> {
        let mut state = self.state()?;
        if !state.names.meta(dir).is_some_and(|meta| meta.is_dir) {
            return Err(io::ErrorKind::NotFound.into());
        }
        state.changing()?;
        state.log(NameOp::RemoveDir(dir.into()));
        state.used = state.names.used();
        Ok(())
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        let mut state = self.state()?;
        state.changing()?;
        // As a journaling file system does: names become durable in the order in which they changed.
        let last = state.pending.iter().rposition(|op| op.touches(dir));
        let count = last.map_or(0, |at| at + 1);
        let synced: Vec<NameOp> = state.pending.drain(..count).collect();
        for op in synced {
            state.durable.apply(op);
        }
        Ok(())
    }

    fn lock(&self, path: &Path) -> io::Result<Box<dyn DiskLock>> {
        drop(self.open(path, OpenMode::Create)?);
        let mut state = self.state()?;
        if state.locked.iter().any(|locked| locked == path) {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        state.locked.push(path.into());
        Ok(Box::new(MemoryLock { shared: Arc::clone(&self.shared), path: path.into(), life: state.life }))
    }

    fn space(&self, _path: &Path) -> io::Result<Space> {
        let state = self.state()?;
        let total = state.capacity.unwrap_or(1 << 40);
        Ok(Space { total, usable: total.saturating_sub(state.used) })
    }

    fn handles(&self) -> Option<&Handles> {
        Some(&self.shared.handles)
    }

    fn map(&self, path: &Path) -> io::Result<Map> {
        let state = self.state()?;
        let inode = state.names.file(path).ok_or(io::ErrorKind::NotFound)?;
        let content = inode.lock();
        Ok(Map::Bytes(Bytes::copy_from_slice(content.bytes())))
    }
}
