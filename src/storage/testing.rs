//! What the tests of this room share.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    clippy::string_slice,
    reason = "numbers in tests are small"
)]

use std::path::Path;
use std::sync::Arc;

use barnabas_protocol::batch::{
    Attributes, BatchBuilder, Caps, HEADER_BYTES, Header, Origin, RawBatch, Rules, Scratch, TimestampRule,
    ValidBatch,
};

use super::{
    AppendError, Appended, Appender, CleanError, CleanLimits, Cleaning, Log, LogConfig, Opened, Opening,
    Outcome, Plan, Step, StorageError,
};
use crate::clock::{Clock, Now};
use crate::disk::{Disk, MemoryDisk};

/// Some time in 2026.
pub(super) const NOW: Now = Now { wall_ms: 1_795_000_000_000, mono_ms: 1000 };

pub(super) fn memory() -> MemoryDisk {
    let disk = MemoryDisk::new(Clock::simulated(NOW.wall_ms));
    disk.create_dir(Path::new("/data")).unwrap();
    disk
}

pub(super) fn dir() -> &'static Path {
    Path::new("/data/a-0")
}

pub(super) const NEW: Opening =
    Opening { clean: false, recovery_point: 0, log_start: 0, producer_expiry_ms: 86_400_000, jitter_seed: 1 };

pub(super) fn open(disk: &MemoryDisk, config: LogConfig, opening: Opening) -> Opened {
    try_open(disk, config, opening).unwrap()
}

pub(super) fn try_open(
    disk: &MemoryDisk,
    config: LogConfig,
    opening: Opening,
) -> Result<Opened, StorageError> {
    Log::open(disk.shared(), dir(), config, opening, NOW)
}

/// A batch as a producer sends it.
#[derive(Clone, Debug)]
pub(super) struct Batch {
    pub(super) timestamps: Vec<i64>,
    pub(super) value_bytes: usize,
    pub(super) producer: Option<(i64, i16, i32)>,
    pub(super) transactional: bool,
    /// A transaction's end: commit or abort.
    pub(super) marker: Option<bool>,
}

impl Batch {
    /// Records with these timestamps.
    pub(super) fn at(timestamps: &[i64]) -> Batch {
        Batch {
            timestamps: timestamps.to_vec(),
            value_bytes: 20,
            producer: None,
            transactional: false,
            marker: None,
        }
    }

    pub(super) fn sized(mut self, value_bytes: usize) -> Batch {
        self.value_bytes = value_bytes;
        self
    }

    pub(super) fn of(mut self, id: i64, epoch: i16, sequence: i32) -> Batch {
        self.producer = Some((id, epoch, sequence));
        self
    }

    pub(super) fn transactional(mut self) -> Batch {
        self.transactional = true;
        self
    }

    pub(super) fn ends(id: i64, epoch: i16, commit: bool) -> Batch {
        let mut batch = Batch::at(&[NOW.wall_ms]).of(id, epoch, -1).transactional();
        batch.marker = Some(commit);
        batch
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        let base = self.timestamps[0];
        let mut records = Vec::new();
        for (at, timestamp) in self.timestamps.iter().enumerate() {
            let mut body = vec![0];
            varint(&mut body, timestamp - base);
            varint(&mut body, at as i64);
            match self.marker {
                Some(commit) => {
                    varint(&mut body, 4);
                    body.extend_from_slice(&[0, 0, 0, u8::from(commit)]);
                    varint(&mut body, 6);
                    body.extend_from_slice(&[0, 0, 0, 0, 0, 7]);
                }
                None => {
                    varint(&mut body, -1);
                    varint(&mut body, self.value_bytes as i64);
                    body.resize(body.len() + self.value_bytes, b'v');
                }
            }
            varint(&mut body, 0);
            varint(&mut records, body.len() as i64);
            records.extend_from_slice(&body);
        }
        let (producer_id, producer_epoch, base_sequence) = self.producer.unwrap_or((-1, -1, -1));
        let count = self.timestamps.len() as i32;
        let mut header = Header {
            base_offset: 0,
            length: (HEADER_BYTES - 12 + records.len()) as i32,
            leader_epoch: -1,
            magic: 2,
            crc: 0,
            attributes: Attributes(0)
                .with_transactional(self.transactional)
                .with_control(self.marker.is_some()),
            last_offset_delta: count - 1,
            base_timestamp: base,
            max_timestamp: *self.timestamps.iter().max().unwrap(),
            producer_id,
            producer_epoch,
            base_sequence,
            record_count: count,
        };
        header.crc = crc32c::crc32c_append(crc32c::crc32c(&header.to_bytes()[21..]), &records);
        [header.to_bytes().as_slice(), &records].concat()
    }
}

fn varint(out: &mut Vec<u8>, value: i64) {
    let mut rest = ((value << 1) ^ (value >> 63)) as u64;
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

pub(super) fn valid(bytes: &mut [u8]) -> ValidBatch<'_> {
    let rules = Rules {
        origin: Origin::Coordinator,
        max_bytes: 1 << 30,
        compacted: false,
        timestamps: TimestampRule::Create { before_max_ms: i64::MAX, after_max_ms: i64::MAX },
        now_ms: NOW.wall_ms,
        caps: Caps::default(),
        codec: None,
    };
    RawBatch::sole(bytes, true).unwrap().validate(&rules, &mut Scratch::default()).unwrap()
}

pub(super) fn append(appender: &mut Appender, batch: &Batch) -> Result<Appended, AppendError> {
    append_at(appender, batch, NOW)
}

pub(super) fn append_at(appender: &mut Appender, batch: &Batch, now: Now) -> Result<Appended, AppendError> {
    let mut bytes = batch.bytes();
    let origin = if batch.marker.is_some() { Origin::Coordinator } else { Origin::Client };
    appender.append(valid(&mut bytes), 0, origin, now)
}

/// A record of a compacted log; a value of `None` deletes the key.
pub(super) type Keyed<'a> = (&'a str, Option<&'a str>);

/// A batch of keyed records, all at one time.
pub(super) fn keyed(records: &[Keyed<'_>], time_ms: i64) -> BatchBuilder {
    let mut batch = BatchBuilder::new();
    for (key, value) in records {
        batch.append(time_ms, Some(key.as_bytes()), value.map(str::as_bytes));
    }
    batch
}

/// Appends a batch that was built; the offset of its last record.
pub(super) fn put(appender: &mut Appender, batch: BatchBuilder, origin: Origin, now: Now) -> i64 {
    put_bytes(appender, batch.finish().unwrap(), origin, now).unwrap().last_offset
}

pub(super) fn put_bytes(
    appender: &mut Appender,
    mut bytes: Vec<u8>,
    origin: Origin,
    now: Now,
) -> Result<Appended, AppendError> {
    appender.append(valid(&mut bytes), 0, origin, now)
}

pub(super) const LIMITS: CleanLimits = CleanLimits {
    key_bytes: 1 << 20,
    load_factor: 0.9,
    step_bytes: 300,
    hash_seed: 5,
    unpacked_bytes: 1 << 20,
};

/// Compacts whatever there is; gives up to where.
pub(super) fn compact(
    appender: &mut Appender,
    cleaned_to: Option<i64>,
    limits: CleanLimits,
    now: Now,
) -> Result<Outcome, CleanError> {
    let log = Arc::clone(appender.log());
    let end = log.end_offset();
    let stable = log.first_unstable_offset().unwrap_or(end);
    let plan = Plan::of(&log, cleaned_to, stable, now).unwrap();
    let mut cleaning = Cleaning::begin(appender, plan, end, limits, now);
    loop {
        match cleaning.step()? {
            Step::Moved(_) => {}
            Step::Copied(cleaned) => {
                if let Some(removal) = appender.replace(&cleaned)? {
                    removal.run()?;
                }
            }
            Step::Done(outcome) => return Ok(outcome),
            Step::Overtaken => return Ok(Outcome::default()),
        }
    }
}

/// Offset and leader epoch of every batch that can be read, fetched piece by piece.
pub(super) fn contents(log: &Log) -> Vec<(i64, i64)> {
    let mut found = Vec::new();
    let mut offset = log.start_offset();
    while offset < log.end_offset() {
        let bytes = log.read(offset, 1, true, i64::MAX).unwrap().chunk.load().unwrap();
        if bytes.is_empty() {
            break;
        }
        let header = Header::parse(&bytes).unwrap();
        found.push((header.base_offset, header.last_offset()));
        offset = header.next_offset();
    }
    found
}

/// The files in the log's directory.
pub(super) fn files(disk: &Arc<dyn Disk>) -> Vec<String> {
    disk.list(dir()).unwrap().into_iter().map(|entry| entry.name).collect()
}
