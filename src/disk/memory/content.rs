//! What is in a file, and what of it would survive a power cut.

use crate::rng::Rng;

/// A file's content, now and as synced.
#[derive(Debug, Default)]
pub(super) struct Content {
    now: Vec<u8>,
    synced: Vec<u8>,
    pending: Vec<Change>,
    pub(super) modified_ms: i64,
}

#[derive(Clone, Debug)]
enum Change {
    Write { position: u64, bytes: Vec<u8> },
    SetLen(u64),
}

impl Change {
    fn apply(&self, bytes: &mut Vec<u8>) {
        match self {
            Change::Write { position, bytes: written } => overwrite(bytes, *position, written),
            Change::SetLen(len) => bytes.resize(index(*len), 0),
        }
    }
}

fn index(position: u64) -> usize {
    usize::try_from(position).unwrap_or(usize::MAX)
}

fn overwrite(bytes: &mut Vec<u8>, position: u64, written: &[u8]) {
    let start = index(position);
    let end = start.saturating_add(written.len());
    if bytes.len() < end {
        bytes.resize(end, 0);
    }
    if let Some(target) = bytes.get_mut(start..end) {
        target.copy_from_slice(written);
    }
}

impl Content {
    pub(super) fn len(&self) -> u64 {
        self.now.len() as u64
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.now
    }

    pub(super) fn write(&mut self, position: u64, bytes: &[u8]) {
        overwrite(&mut self.now, position, bytes);
        self.pending.push(Change::Write { position, bytes: bytes.to_vec() });
    }

    pub(super) fn set_len(&mut self, len: u64) {
        self.now.resize(index(len), 0);
        self.pending.push(Change::SetLen(len));
    }

    pub(super) fn read(&self, position: u64, buffer: &mut [u8]) -> usize {
        let available = self.now.get(index(position)..).unwrap_or_default();
        let count = available.len().min(buffer.len());
        for (to, from) in buffer.iter_mut().zip(available) {
            *to = *from;
        }
        count
    }

    pub(super) fn sync(&mut self) {
        for change in self.pending.drain(..) {
            change.apply(&mut self.synced);
        }
    }

    /// What a power cut leaves: all that was synced and, as `rng` will have it, nothing else, the first changes with
    /// the last of them torn, or any of them.
    pub(super) fn after_crash(&self, rng: &Rng) -> Content {
        let mut left = self.synced.clone();
        match rng.below(3) {
            0 => {}
            1 => {
                let kept = index(rng.below(self.pending.len() as u64 + 1));
                self.pending.iter().take(kept).for_each(|change| change.apply(&mut left));
                if let Some(Change::Write { position, bytes }) = self.pending.get(kept) {
                    let torn = index(rng.below(bytes.len() as u64 + 1));
                    overwrite(&mut left, *position, bytes.get(..torn).unwrap_or_default());
                }
            }
            _ => {
                for change in self.pending.iter().filter(|_| rng.below(2) == 0) {
                    change.apply(&mut left);
                }
            }
        }
        Content { now: left.clone(), synced: left, pending: Vec::new(), modified_ms: self.modified_ms }
    }
}
