//! One compaction of one log, in steps, so that the caller may pause between them.

use std::collections::VecDeque;
use std::sync::Arc;

use barnabas_protocol::batch::{BatchView, Caps, Fault, Header, Scratch};
use thiserror::Error;

use super::filter::{Filter, FilterError, Left};
use super::key_map::KeyMap;
use super::output::Output;
use super::transactions::Transactions;
use super::{Cleaned, Plan};
use crate::clock::Now;
use crate::storage::log::{Log, Segments};
use crate::storage::scan::{FullScan, ScanError};
use crate::storage::segment::Segment;
use crate::storage::{
    AbortedTransaction, Appender, LogConfig, ReadError, StorageError, offset_index, time_index,
};

/// What a compaction may use.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Memory for keys.
    pub key_bytes: u64,
    /// Share of that memory which may be filled, 0 to 1.
    pub load_factor: f64,
    /// Bytes that one step reads, more or less.
    pub step_bytes: u64,
    /// Seeds the hash of keys.
    pub hash_seed: u64,
    /// A compressed batch that has more bytes when unpacked is left as it is.
    pub unpacked_bytes: u64,
}

/// Why a compaction ends early.
#[derive(Debug, Error)]
pub enum CleanError {
    /// The disk failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// Something in the log cannot be read: it stays as it is.
    #[error("segment {segment}: {what}")]
    Unreadable {
        /// Its base offset.
        segment: i64,
        /// What is wrong.
        what: String,
    },
}

/// What a step did.
#[derive(Debug)]
pub enum Step {
    /// So many bytes were read and written.
    Moved(u64),
    /// A copy is complete: it is for [`Appender::replace`].
    Copied(Cleaned),
    /// There is nothing left to do.
    Done(Outcome),
    /// Segments went away meanwhile: nothing is remembered, the next plan begins anew.
    Overtaken,
}

/// What a compaction came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Everything below is compacted now.
    pub cleaned_to: i64,
    /// Bytes of the segments that were copied, before and after.
    pub bytes_before: u64,
    /// See `bytes_before`.
    pub bytes_after: u64,
}

/// See the module.
#[derive(Debug)]
pub struct Cleaning {
    log: Arc<Log>,
    config: Arc<LogConfig>,
    plan: Plan,
    now: Now,
    limits: Limits,
    filter: Filter,
    scratch: Scratch,
    transactions: Transactions,
    phase: Phase,
    outcome: Outcome,
}

#[derive(Debug)]
enum Phase {
    /// Making durable what the decisions rest on: later records and the ends of transactions.
    Flushing,
    /// Reading the dirty segments for their keys.
    Mapping {
        left: VecDeque<Arc<Segment>>,
        /// Of the one in front.
        scan: Option<FullScan>,
    },
    /// Copying groups of segments.
    Copying {
        left: VecDeque<Segments>,
        copy: Option<Box<Copy>>,
    },
    Done,
}

/// A group being copied.
#[derive(Debug)]
struct Copy {
    group: Segments,
    at: usize,
    /// Of the segment at that place.
    scan: Option<FullScan>,
    output: Output,
}

impl Cleaning {
    /// Prepares a compaction as planned. Quick: nothing is read yet.
    pub fn begin(appender: &Appender, plan: Plan, high_watermark: i64, limits: Limits, now: Now) -> Cleaning {
        let log = Arc::clone(&appender.log);
        let config = log.config();
        let records = plan.first_uncleanable.saturating_sub(plan.first_dirty).max(0).unsigned_abs();
        let caps = Caps { bytes: limits.unpacked_bytes, ..Caps::default() };
        let filter = Filter {
            keys: KeyMap::new(limits.key_bytes, limits.load_factor, records, limits.hash_seed),
            now_ms: now.wall_ms,
            delete_retention_ms: config.delete_retention_ms,
            last_records: appender.producers.last_records(),
            high_watermark,
            caps,
            hashes: Vec::new(),
            stays: Vec::new(),
        };
        Cleaning {
            log,
            config,
            plan,
            now,
            limits,
            filter,
            scratch: Scratch::default(),
            transactions: Transactions::default(),
            phase: Phase::Flushing,
            outcome: Outcome::default(),
        }
    }

    /// Does a part of the work. Blocks.
    ///
    /// # Errors
    /// See [`CleanError`]; the log is as it was, or as the copies that were exchanged left it.
    pub fn step(&mut self) -> Result<Step, CleanError> {
        let stepped = match &mut self.phase {
            Phase::Flushing => self.flush(),
            Phase::Mapping { .. } => self.map_keys(),
            Phase::Copying { .. } => self.copy(),
            Phase::Done => Ok(Step::Done(self.outcome)),
        };
        if stepped.is_ok() || !self.is_overtaken() {
            return stepped;
        }
        // A copy that is left behind would make the next opening throw away finished ones.
        if let Phase::Copying { copy: Some(copy), .. } = std::mem::replace(&mut self.phase, Phase::Done) {
            let discarded = copy.output.discard();
            discarded.map_err(|error| CleanError::Storage(self.log.io("compact")(error)))?;
        }
        Ok(Step::Overtaken)
    }

    /// Has retention or truncation taken away what is left to read?
    fn is_overtaken(&self) -> bool {
        let now = self.log.segments.load();
        let gone = |segment: &Arc<Segment>| !now.iter().any(|known| Arc::ptr_eq(known, segment));
        match &self.phase {
            Phase::Mapping { left, .. } => left.iter().any(gone),
            Phase::Copying { left, copy } => {
                let begun = copy.iter().flat_map(|copy| &copy.group);
                left.iter().flatten().chain(begun).any(gone)
            }
            Phase::Flushing | Phase::Done => false,
        }
    }

    fn flush(&mut self) -> Result<Step, CleanError> {
        self.log.flush()?;
        let (segments, plan) = (self.log.segments.load(), self.plan);
        let first = segments.partition_point(|segment| segment.base <= plan.first_dirty).saturating_sub(1);
        let dirty = segments.iter().skip(first).filter(|segment| segment.base < plan.first_uncleanable);
        self.phase = Phase::Mapping { left: dirty.cloned().collect(), scan: None };
        Ok(Step::Moved(0))
    }

    fn map_keys(&mut self) -> Result<Step, CleanError> {
        let Phase::Mapping { left, scan } = &mut self.phase else { return Ok(Step::Moved(0)) };
        let Some(segment) = left.front().cloned() else { return self.start_copying() };
        let next_base = left.get(1).map_or(self.plan.first_uncleanable, |next| next.base);
        let disk = Arc::clone(&self.log.disk);
        let first_dirty = self.plan.first_dirty;
        let fail = |error| broken(&self.log, &segment, error);
        let mut at = match scan.take() {
            Some(scan) => scan,
            None => {
                let range = (first_dirty.max(segment.base), self.plan.first_uncleanable);
                self.transactions.expect(&aborted(&self.log, range)?);
                let found = segment.find(disk.as_ref(), first_dirty, segment.bytes()).map_err(fail)?;
                let from = found.map_or(segment.bytes(), |found| found.position);
                let file = segment.file(disk.as_ref()).map_err(|error| fail(error.into()))?;
                FullScan::new(file, from, segment.bytes())
            }
        };
        let from = at.position();
        let (mut full, mut ended) = (false, false);
        while !full && at.position().saturating_sub(from) < self.limits.step_bytes {
            let Some((_, batch)) = at.next().map_err(fail)? else {
                ended = true;
                break;
            };
            check_offsets(&segment, batch.header(), next_base)?;
            let noted =
                note_keys(&mut self.filter, &mut self.transactions, &mut self.scratch, &batch, first_dirty);
            full = !noted.map_err(|error| unreadable(&segment, &error))?;
        }
        let moved = at.position().saturating_sub(from);
        if full {
            left.clear();
        } else if ended {
            // Offsets that an earlier compaction took out belong to the segment as well.
            self.filter.keys.seen(next_base.saturating_sub(1));
            left.pop_front();
        } else {
            *scan = Some(at);
        }
        Ok(Step::Moved(moved))
    }

    fn start_copying(&mut self) -> Result<Step, CleanError> {
        let end = self.filter.keys.latest().saturating_add(1);
        self.outcome.cleaned_to = end.max(self.plan.first_dirty);
        self.transactions = Transactions::default();
        let segments = self.log.segments.load();
        let sealed = segments.len().saturating_sub(1);
        let wanted: Segments =
            segments.iter().take(sealed).filter(|segment| segment.base < end).cloned().collect();
        let groups = group(&wanted, &self.config, self.plan.first_uncleanable);
        self.phase = Phase::Copying { left: groups.into(), copy: None };
        Ok(Step::Moved(0))
    }

    fn copy(&mut self) -> Result<Step, CleanError> {
        let Phase::Copying { left, copy } = &mut self.phase else { return Ok(Step::Moved(0)) };
        let disk = Arc::clone(&self.log.disk);
        let io = |error| CleanError::Storage(self.log.io("compact")(error));
        if copy.is_none() {
            // The exchange before this survives a power cut before anybody relies on it.
            disk.sync_dir(&self.log.dir).map_err(io)?;
            let Some(group) = left.pop_front() else {
                self.phase = Phase::Done;
                return Ok(Step::Done(self.outcome));
            };
            let base = group.first().map_or(0, |segment| segment.base);
            let output = Output::new(&disk, &self.log.dir, base, self.now).map_err(io)?;
            *copy = Some(Box::new(Copy { group, at: 0, scan: None, output }));
        }
        let Some(current) = copy.as_mut() else { return Ok(Step::Moved(0)) };
        let Some(segment) = current.group.get(current.at).cloned() else {
            // Readers may still be in the old ones after their files have other names.
            current.group.iter().try_for_each(|segment| segment.pin(disk.as_ref())).map_err(io)?;
            let Some(done) = copy.take() else { return Ok(Step::Moved(0)) };
            let Copy { group, output, .. } = *done;
            let cleaned = output.finish(group).map_err(io)?;
            self.outcome.bytes_before += cleaned.old.iter().map(|segment| segment.bytes()).sum::<u64>();
            self.outcome.bytes_after += cleaned.segment.bytes();
            return Ok(Step::Copied(cleaned));
        };
        let fail = |error| broken(&self.log, &segment, error);
        let next_base = match current.group.get(current.at + 1) {
            Some(next) => next.base,
            None => self.plan.first_uncleanable,
        };
        let mut scan = match current.scan.take() {
            Some(scan) => scan,
            None => {
                self.transactions.expect(&aborted(&self.log, (segment.base, next_base))?);
                let file = segment.file(disk.as_ref()).map_err(io)?;
                FullScan::new(file, 0, segment.bytes())
            }
        };
        let mut moved = 0_u64;
        while moved < self.limits.step_bytes {
            let Some((_, batch)) = scan.next().map_err(fail)? else {
                current.at += 1;
                return Ok(Step::Moved(moved));
            };
            check_offsets(&segment, batch.header(), next_base)?;
            let passed = self.filter.pass(&batch, &mut self.transactions, &mut self.scratch);
            let (left, ended) = passed.map_err(|error| unreadable(&segment, &error))?;
            let interval = self.config.index_interval_bytes;
            let written = match left {
                Left::Nothing => 0,
                Left::Whole => {
                    current.output.append(batch.bytes(), batch.header(), interval).map_err(io)?;
                    batch.bytes().len()
                }
                Left::Rewritten(bytes) => {
                    if let Some(header) = Header::parse(&bytes) {
                        current.output.append(&bytes, &header, interval).map_err(io)?;
                    }
                    bytes.len()
                }
            };
            if let Some(aborted) = ended {
                current.output.note_aborted(aborted);
            }
            moved = moved.saturating_add(batch.bytes().len() as u64).saturating_add(written as u64);
        }
        current.scan = Some(scan);
        Ok(Step::Moved(moved))
    }
}

/// Notes the keys of a batch; false if there was no room for one of them.
fn note_keys(
    filter: &mut Filter,
    transactions: &mut Transactions,
    scratch: &mut Scratch,
    batch: &BatchView<'_>,
    first_dirty: i64,
) -> Result<bool, FilterError> {
    let header = batch.header();
    if header.attributes.control() {
        transactions.control(batch, scratch, filter.caps)?;
    } else if !transactions.data(batch) {
        let records = match batch.records(scratch, filter.caps) {
            // It stays as it is, and nothing goes because of it.
            Err(Fault::Bomb(_)) => None,
            records => Some(records?),
        };
        if let Some(records) = records {
            filter.hash_keys(records.clone())?;
            for (record, hash) in records.zip(&filter.hashes) {
                let offset = record?.offset(header.base_offset);
                if let Some(hash) = hash.filter(|_| offset >= first_dirty)
                    && !filter.keys.put(hash, offset)
                {
                    return Ok(false);
                }
            }
        }
    }
    if header.last_offset() >= first_dirty {
        filter.keys.seen(header.last_offset());
    }
    Ok(true)
}

/// Neighbours that together make no more than one segment.
fn group(segments: &Segments, config: &LogConfig, first_uncleanable: i64) -> Vec<Segments> {
    let (most, most_index) = (u64::from(config.segment_bytes), u64::from(config.segment_index_bytes));
    let sizes = |segment: &Segment| {
        let offsets = segment.offsets.len().saturating_mul(offset_index::ENTRY_BYTES) as u64;
        let times = segment.times.len().saturating_mul(time_index::ENTRY_BYTES) as u64;
        (segment.bytes(), offsets, times)
    };
    let mut groups: Vec<Segments> = Vec::new();
    let mut total = (0_u64, 0_u64, 0_u64);
    for (at, segment) in segments.iter().enumerate() {
        let size = sizes(segment);
        let sum = (total.0 + size.0, total.1 + size.1, total.2 + size.2);
        let last_offset = segments.get(at + 1).map_or(first_uncleanable, |next| next.base) - 1;
        match groups.last_mut() {
            Some(group)
                if sum.0 <= most
                    && sum.1 <= most_index
                    && sum.2 <= most_index
                    && (size.0 == 0
                        || group.first().is_some_and(|first| {
                            last_offset.saturating_sub(first.base) <= i64::from(i32::MAX)
                        })) =>
            {
                group.push(Arc::clone(segment));
                total = sum;
            }
            _ => {
                groups.push(vec![Arc::clone(segment)]);
                total = size;
            }
        }
    }
    groups
}

/// No checksum covers a batch's offset.
fn check_offsets(segment: &Segment, header: &Header, next_base: i64) -> Result<(), CleanError> {
    let (first, last) = (header.base_offset, header.last_offset());
    if first >= segment.base && last >= first && last < next_base {
        return Ok(());
    }
    let what = format!("offsets {first} to {last}, but the next segment starts at {next_base}");
    Err(CleanError::Unreadable { segment: segment.base, what })
}

fn aborted(log: &Log, (from, to): (i64, i64)) -> Result<Vec<AbortedTransaction>, CleanError> {
    log.aborted_transactions(from, to).map_err(|error| match error {
        ReadError::Storage(error) => CleanError::Storage(error),
        other => CleanError::Unreadable { segment: from, what: other.to_string() },
    })
}

fn broken(log: &Log, segment: &Segment, error: ScanError) -> CleanError {
    match error {
        ScanError::Io(source) => CleanError::Storage(log.io("read")(source)),
        ScanError::Bad { .. } => unreadable(segment, &error),
    }
}

fn unreadable(segment: &Segment, error: &dyn std::error::Error) -> CleanError {
    CleanError::Unreadable { segment: segment.base, what: error.to_string() }
}
