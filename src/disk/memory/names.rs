//! The directory tree of a memory disk.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use super::Inode;
use crate::disk::{Entry, Meta};

/// Which names there are.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    dirs: BTreeSet<PathBuf>,
    files: BTreeMap<PathBuf, Inode>,
}

/// A change of names.
#[derive(Clone, Debug)]
pub(super) enum NameOp {
    Create(PathBuf, Inode),
    CreateDir(PathBuf),
    Rename(PathBuf, PathBuf),
    RemoveFile(PathBuf),
    RemoveDir(PathBuf),
}

impl NameOp {
    /// True if an entry of `dir` changes.
    pub(super) fn touches(&self, dir: &Path) -> bool {
        let inside = |path: &Path| path.parent() == Some(dir);
        match self {
            NameOp::Create(path, _) | NameOp::RemoveFile(path) => inside(path),
            NameOp::CreateDir(path) => path.ancestors().any(inside),
            NameOp::RemoveDir(path) => inside(path) || path.starts_with(dir),
            NameOp::Rename(from, to) => inside(from) || inside(to),
        }
    }
}

impl Names {
    pub(super) fn file(&self, path: &Path) -> Option<Inode> {
        self.files.get(path).cloned()
    }

    pub(super) fn check_parent(&self, path: &Path) -> io::Result<()> {
        match path.parent() {
            Some(dir) if !self.is_dir(dir) => Err(io::ErrorKind::NotFound.into()),
            _ => Ok(()),
        }
    }

    fn is_dir(&self, path: &Path) -> bool {
        path.parent().is_none() || path.as_os_str().is_empty() || self.dirs.contains(path)
    }

    pub(super) fn meta(&self, path: &Path) -> Option<Meta> {
        if self.is_dir(path) {
            return Some(Meta { len: 0, is_dir: true, modified_ms: 0 });
        }
        let content = self.files.get(path)?.lock();
        Some(Meta { len: content.len(), is_dir: false, modified_ms: content.modified_ms })
    }

    pub(super) fn list(&self, dir: &Path) -> io::Result<Vec<Entry>> {
        if !self.is_dir(dir) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let mut entries: Vec<Entry> = self
            .files
            .keys()
            .chain(&self.dirs)
            .filter(|path| path.parent() == Some(dir))
            .filter_map(|path| {
                let name = path.file_name()?.to_string_lossy().into_owned();
                Some(Entry { name, meta: self.meta(path)? })
            })
            .collect();
        entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    /// Bytes in all files.
    pub(super) fn used(&self) -> u64 {
        self.files.values().map(|inode| inode.lock().len()).sum()
    }

    pub(super) fn replace_inodes(&mut self, with: impl Fn(&Inode) -> Inode) {
        for inode in self.files.values_mut() {
            *inode = with(inode);
        }
    }

    pub(super) fn apply(&mut self, op: NameOp) {
        match op {
            NameOp::Create(path, inode) => {
                self.files.insert(path, inode);
            }
            NameOp::CreateDir(path) => {
                self.dirs.extend(path.ancestors().map(Path::to_path_buf));
            }
            NameOp::RemoveFile(path) => {
                self.files.remove(&path);
            }
            NameOp::RemoveDir(dir) => {
                self.files.retain(|path, _| !path.starts_with(&dir));
                self.dirs.retain(|path| !path.starts_with(&dir));
            }
            NameOp::Rename(from, to) => self.rename(&from, &to),
        }
    }

    fn rename(&mut self, from: &Path, to: &Path) {
        if let Some(inode) = self.files.remove(from) {
            self.files.insert(to.into(), inode);
            return;
        }
        let moved = |path: &Path| {
            path.strip_prefix(from)
                .ok()
                .map(|rest| if rest.as_os_str().is_empty() { to.to_path_buf() } else { to.join(rest) })
        };
        let files = std::mem::take(&mut self.files);
        self.files = files.into_iter().map(|(path, inode)| (moved(&path).unwrap_or(path), inode)).collect();
        let dirs = std::mem::take(&mut self.dirs);
        self.dirs = dirs.into_iter().map(|path| moved(&path).unwrap_or(path)).collect();
    }
}
