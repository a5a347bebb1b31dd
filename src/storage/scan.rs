//! Walks the batches of a segment: their headers only, or all of their bytes.

use std::io;
use std::sync::Arc;

use barnabas_protocol::batch::{BatchView, HEADER_BYTES, Header, MAGIC, OVERHEAD_BYTES};
use thiserror::Error;

use crate::disk::DiskFile;

/// Headers of small batches are read many at a time.
const WINDOW_BYTES: usize = 4096;
/// What a full scan reads at a time, unless a batch is larger.
const CHUNK_BYTES: usize = 1 << 20;

/// Why a walk ends before the end.
#[derive(Debug, Error)]
pub(super) enum ScanError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("at position {position}: {what}")]
    Bad { position: u64, what: String },
}

/// A batch in a segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub(super) position: u64,
    pub(super) header: Header,
}

impl Found {
    /// Where the next batch begins.
    pub(super) fn end(&self) -> u64 {
        self.position.saturating_add(self.header.total_bytes() as u64)
    }
}

/// Walks headers without reading the records between them.
pub(super) struct HeaderScan {
    file: Arc<dyn DiskFile>,
    position: u64,
    end: u64,
    window: [u8; WINDOW_BYTES],
    window_at: u64,
    window_len: usize,
}

impl HeaderScan {
    /// From a batch's position up to where the segment ends.
    pub(super) fn new(file: Arc<dyn DiskFile>, position: u64, end: u64) -> HeaderScan {
        HeaderScan { file, position, end, window: [0; WINDOW_BYTES], window_at: 0, window_len: 0 }
    }

    /// The next batch; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Found>, ScanError> {
        let position = self.position;
        if position >= self.end {
            return Ok(None);
        }
        let header = match self.in_window() {
            Some(header) => header,
            None => {
                let left = usize::try_from(self.end - position).unwrap_or(usize::MAX);
                let wanted = left.min(WINDOW_BYTES);
                let window = self.window.get_mut(..wanted).unwrap_or_default();
                self.window_len = self.file.read_at(position, window)?;
                self.window_at = position;
                self.in_window()
                    .ok_or_else(|| ScanError::Bad { position, what: "a batch's header is cut".into() })?
            }
        };
        check_header(&header, position, self.end)?;
        let found = Found { position, header };
        self.position = found.end();
        Ok(Some(found))
    }

    /// The first batch that ends at or after an offset.
    pub(super) fn find(&mut self, offset: i64) -> Result<Option<Found>, ScanError> {
        while let Some(found) = self.next()? {
            if found.header.last_offset() >= offset {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    fn in_window(&self) -> Option<Header> {
        let at = usize::try_from(self.position.checked_sub(self.window_at)?).ok()?;
        Header::parse(self.window.get(at..self.window_len)?)
    }
}

/// Can this be a batch that lies within the segment? Fields that only appending checks are left alone.
fn check_header(header: &Header, position: u64, end: u64) -> Result<(), ScanError> {
    let bad = |what: String| Err(ScanError::Bad { position, what });
    if header.magic != MAGIC {
        return bad(format!("batch format {} instead of {MAGIC}", header.magic));
    }
    if header.total_bytes() < HEADER_BYTES || header.length < 0 {
        return bad(format!("a batch length of {}", header.length));
    }
    if header.last_offset_delta < 0 || header.base_offset < 0 {
        return bad(format!("offsets from {} on, {} more", header.base_offset, header.last_offset_delta));
    }
    if position.saturating_add(header.total_bytes() as u64) > end {
        return bad(format!("a batch of {} bytes is cut", header.total_bytes()));
    }
    Ok(())
}

/// Looks behind damage at `from` for a batch that is sound, and whose offset is `least` or greater: its position and
/// offset. A stretch of nothing before it explains the damage: in a power cut a write may get lost before others that
/// came after it, and nobody was promised any of them.
pub(super) fn sound_behind(
    file: &Arc<dyn DiskFile>,
    from: u64,
    end: u64,
    least: i64,
) -> Result<Option<(u64, i64)>, ScanError> {
    let mut window = vec![0; CHUNK_BYTES];
    let (mut at, mut zeros) = (from, 0);
    while at < end {
        let read = file.read_at(at, &mut window)?;
        let bytes = window.get(..read).unwrap_or_default();
        // A header that is cut here is whole in the next window.
        let last = at.saturating_add(read as u64) >= end;
        let step = if last { read } else { read.saturating_sub(HEADER_BYTES).max(1) };
        for (n, byte) in bytes.iter().take(step).enumerate() {
            zeros = if *byte == 0 { zeros + 1 } else { 0 };
            if zeros >= HEADER_BYTES {
                return Ok(None);
            }
            let position = at.saturating_add(n as u64);
            let Some(header) = bytes.get(n..).and_then(Header::parse).filter(|_| position > from) else {
                continue;
            };
            if header.base_offset < least || check_header(&header, position, end).is_err() {
                continue;
            }
            match FullScan::new(Arc::clone(file), position, end).next() {
                Ok(Some((position, sound))) => return Ok(Some((position, sound.header().base_offset))),
                Err(ScanError::Io(error)) => return Err(error.into()),
                Ok(None) | Err(ScanError::Bad { .. }) => {}
            }
        }
        if read == 0 {
            break;
        }
        at = at.saturating_add(step as u64);
    }
    Ok(None)
}

/// Reads every byte and checks every checksum.
#[derive(Debug)]
pub(super) struct FullScan {
    file: Arc<dyn DiskFile>,
    position: u64,
    end: u64,
    buffer: Vec<u8>,
    buffer_at: u64,
    buffer_len: usize,
}

impl FullScan {
    /// The segment's bytes from a batch's position up to `end`.
    pub(super) fn new(file: Arc<dyn DiskFile>, position: u64, end: u64) -> FullScan {
        FullScan { file, position, end, buffer: Vec::new(), buffer_at: position, buffer_len: 0 }
    }

    /// Where the next batch begins.
    pub(super) fn position(&self) -> u64 {
        self.position
    }

    /// The next batch, sound to its last byte; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<(u64, BatchView<'_>)>, ScanError> {
        let position = self.position;
        if position >= self.end {
            return Ok(None);
        }
        let bad = |what: String| ScanError::Bad { position, what };
        if self.buffered().len() < HEADER_BYTES {
            self.fill(CHUNK_BYTES)?;
        }
        let header = Header::parse(self.buffered()).ok_or_else(|| bad("a batch's header is cut".into()))?;
        check_header(&header, position, self.end)?;
        if self.buffered().len() < header.total_bytes() {
            self.fill(CHUNK_BYTES.max(header.total_bytes()))?;
        }
        self.position = position.saturating_add(header.total_bytes() as u64);
        let start = usize::try_from(position - self.buffer_at).unwrap_or(usize::MAX);
        let bytes = self.buffer.get(start..self.buffer_len).unwrap_or_default();
        let checked = match BatchView::first(bytes) {
            Ok(Some(view)) => view.check_crc().map(|()| view).map_err(|fault| bad(fault.to_string())),
            Ok(None) => Err(bad("a batch is cut".into())),
            Err(fault) => Err(bad(fault.to_string())),
        };
        if checked.is_err() {
            self.position = position;
        }
        checked.map(|view| Some((position, view)))
    }

    fn buffered(&self) -> &[u8] {
        let start = self.position.saturating_sub(self.buffer_at);
        self.buffer.get(usize::try_from(start).unwrap_or(usize::MAX)..self.buffer_len).unwrap_or_default()
    }

    /// Has at least `wanted` bytes from the position on in the buffer, if the file has them.
    fn fill(&mut self, wanted: usize) -> io::Result<()> {
        let left = usize::try_from(self.end - self.position).unwrap_or(usize::MAX);
        let wanted = wanted.min(left);
        if self.buffer.len() < wanted {
            self.buffer.resize(wanted, 0);
        }
        let target = self.buffer.get_mut(..wanted).unwrap_or_default();
        self.buffer_len = self.file.read_at(self.position, target)?;
        self.buffer_at = self.position;
        Ok(())
    }
}

const _: () = assert!(HEADER_BYTES > OVERHEAD_BYTES && WINDOW_BYTES >= HEADER_BYTES);
