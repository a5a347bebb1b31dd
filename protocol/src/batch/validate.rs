//! The checks that every batch passes before it is appended.

use super::codec::{Caps, Codec};
use super::cursor::{Cursor, Feed};
use super::fault::{Fault, Malformed, RecordCause, RecordFault};
use super::header::{HEADER_BYTES, Header, NO_TIMESTAMP};
use super::records::Fields;
use super::unpack::Scratch;
use super::view::{BatchView, RawBatch, check_crc};

/// Who appends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A producer: strictest.
    Client,
    /// This broker's coordinators and its metadata log: control batches are allowed.
    Coordinator,
    /// A follower copying its leader: offsets are given, compaction may have left gaps.
    Replica,
}

/// What the topic says about timestamps (`message.timestamp.type` and its bounds).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimestampRule {
    /// CreateTime: the producer's, within bounds around now.
    Create {
        /// `message.timestamp.before.max.ms`.
        before_max_ms: i64,
        /// `message.timestamp.after.max.ms`.
        after_max_ms: i64,
    },
    /// LogAppendTime: the broker's.
    Append,
}

/// What a batch is checked against.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Who appends.
    pub origin: Origin,
    /// `max.message.bytes`.
    pub max_bytes: usize,
    /// The topic is compacted: every record needs a key.
    pub compacted: bool,
    /// About timestamps.
    pub timestamps: TimestampRule,
    /// Wall clock, ms.
    pub now_ms: i64,
    /// How much compressed records may grow.
    pub caps: Caps,
    /// The topic's own codec (`compression.type`): batches of another will be [compressed
    /// anew](ValidBatch::recompress). `None` leaves the choice to the producer.
    pub codec: Option<Codec>,
}

/// So many refused records are named in an answer; a batch can hold any number of them.
const MOST_REFUSED: usize = 100_000;

/// What a checked batch holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Number of records.
    pub count: i32,
    /// Largest timestamp of its records, ms; [`NO_TIMESTAMP`] if none has one.
    pub max_timestamp: i64,
    /// Offset of the first record with that timestamp, relative to the base offset.
    pub max_timestamp_delta: i32,
    /// How the records are compressed.
    pub codec: Codec,
    /// Bytes of the records when not compressed.
    pub plain_bytes: u64,
    /// A record's timestamp is below [`NO_TIMESTAMP`].
    pub negative_times: bool,
}

/// A batch that has passed all checks, in a buffer of its own: it may be patched and appended.
#[derive(Debug)]
pub struct ValidBatch<'a> {
    pub(crate) header: Header,
    pub(crate) facts: Facts,
    pub(crate) bytes: &'a mut [u8],
}

impl ValidBatch<'_> {
    /// The header as it is now.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// What it holds.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// The whole batch.
    pub fn bytes(&self) -> &[u8] {
        self.bytes
    }
}

impl<'a> RawBatch<'a> {
    /// Checks all of it: header, checksum, and every record.
    pub fn validate(self, rules: &Rules, scratch: &mut Scratch) -> Result<ValidBatch<'a>, Fault> {
        let facts = check(&self.header, self.bytes, rules, scratch)?;
        Ok(self.known(facts))
    }

    /// The same batch if [`Self::validate`] has passed it already.
    pub fn known(self, facts: Facts) -> ValidBatch<'a> {
        ValidBatch { header: self.header, facts, bytes: self.bytes }
    }
}

impl BatchView<'_> {
    /// Checks all of it: header, checksum, and every record.
    pub fn validate(&self, rules: &Rules, scratch: &mut Scratch) -> Result<Facts, Fault> {
        check(self.header(), self.bytes(), rules, scratch)
    }
}

fn check(header: &Header, bytes: &[u8], rules: &Rules, scratch: &mut Scratch) -> Result<Facts, Fault> {
    if rules.origin == Origin::Client && header.base_offset != 0 {
        return Err(Fault::BaseOffset(header.base_offset));
    }
    if rules.origin != Origin::Replica && bytes.len() > rules.max_bytes {
        return Err(Fault::TooLarge { bytes: bytes.len(), max: rules.max_bytes });
    }
    check_crc(header, bytes)?;
    let codec = header.attributes.codec().ok_or(Fault::UnknownCodec)?;
    check_counts(header, rules.origin)?;
    let packed = bytes.get(HEADER_BYTES..).unwrap_or_default();
    let mut tally = Tally::new(header, rules, codec);
    if codec == Codec::None {
        let mut plain = Cursor(packed);
        tally.add_all(&mut plain)?;
        return tally.finish(plain.0.is_empty(), packed.len() as u64);
    }
    let mut stream = scratch.stream(codec, packed, rules.caps)?;
    let walked = tally.add_all(&mut stream);
    // That the stream broke explains why the record did.
    let at_end = stream.finish()?;
    walked?;
    tally.finish(at_end, stream.plain_bytes())
}

/// The header alone.
fn check_counts(header: &Header, origin: Origin) -> Result<(), Fault> {
    let (count, last_offset_delta) = (header.record_count, header.last_offset_delta);
    if last_offset_delta < 0 {
        return Err(Fault::OffsetRange(last_offset_delta));
    }
    // Compaction may take all records of a batch and leave its header.
    if count < 0 || (count == 0 && origin != Origin::Replica) {
        return Err(Fault::Count(count));
    }
    let agree = match origin {
        Origin::Replica => i64::from(count) <= i64::from(last_offset_delta) + 1,
        _ => i64::from(count) == i64::from(last_offset_delta) + 1,
    };
    if !agree {
        return Err(Fault::CountDiffers { count, last_offset_delta });
    }
    if origin == Origin::Client {
        if header.attributes.control() {
            return Err(Fault::Control);
        }
        if header.producer_id >= 0 && header.base_sequence < 0 {
            return Err(Fault::Sequence(header.base_sequence));
        }
    }
    Ok(())
}

/// Goes through the records and remembers what matters.
struct Tally<'r> {
    header: Header,
    rules: &'r Rules,
    facts: Facts,
    next_delta: i32,
    /// The first records that may not be in the topic, and how many there are.
    refused: (Vec<RecordFault>, u64),
    /// What is wrong with a record that does not hinder reading the next: records that may not be in the topic are
    /// named before.
    odd: Option<Fault>,
}

impl<'r> Tally<'r> {
    fn new(header: &Header, rules: &'r Rules, codec: Codec) -> Tally<'r> {
        let facts = Facts {
            count: header.record_count,
            max_timestamp: NO_TIMESTAMP,
            max_timestamp_delta: 0,
            codec,
            plain_bytes: 0,
            negative_times: false,
        };
        Tally { header: *header, rules, facts, next_delta: 0, refused: (Vec::new(), 0), odd: None }
    }

    fn add_all<F: Feed>(&mut self, feed: &mut F) -> Result<(), Fault> {
        for index in 0..self.header.record_count {
            let bad = |what| Fault::Record { index, what };
            // To Kafka the length of a compressed record is but a hint.
            let record = match self.facts.codec {
                Codec::None => Fields::read(feed).map_err(bad)?,
                _ => Fields::read_loosely(feed).map_err(bad)?,
            };
            if !record.fits {
                self.odd.get_or_insert(bad(Malformed::Length));
            }
            self.add(index, &record);
        }
        Ok(())
    }

    #[inline]
    fn add<F: Feed>(&mut self, index: i32, record: &Fields<F>) {
        let delta = record.offset_delta;
        let in_order = match self.rules.origin {
            Origin::Replica => delta >= self.next_delta && delta <= self.header.last_offset_delta,
            _ => delta == index,
        };
        if !in_order {
            let packed = self.facts.codec != Codec::None;
            let what = if packed { Malformed::PackedOffset } else { Malformed::Offset };
            self.odd.get_or_insert(Fault::Record { index, what });
        }
        self.next_delta = delta.saturating_add(1);
        let timestamp = self.header.record_timestamp(record.timestamp_delta);
        if self.rules.origin != Origin::Replica
            && let Some(cause) = self.refusal(record, timestamp)
        {
            let (first, count) = &mut self.refused;
            if first.len() < MOST_REFUSED {
                first.push(RecordFault { index, cause });
            }
            *count = count.saturating_add(1);
        }
        self.facts.negative_times |= timestamp < NO_TIMESTAMP;
        if timestamp > self.facts.max_timestamp {
            self.facts.max_timestamp = timestamp;
            self.facts.max_timestamp_delta = delta;
        }
    }

    #[inline]
    fn refusal<F: Feed>(&self, record: &Fields<F>, timestamp: i64) -> Option<RecordCause> {
        if self.rules.compacted && record.key.is_none() {
            return Some(RecordCause::NoKey);
        }
        match self.rules.timestamps {
            TimestampRule::Create { before_max_ms, after_max_ms } if timestamp != NO_TIMESTAMP => {
                let now = self.rules.now_ms;
                let age = now.wrapping_sub(timestamp);
                (age > before_max_ms || age.wrapping_neg() > after_max_ms).then(|| RecordCause::Timestamp {
                    timestamp,
                    earliest: now.wrapping_sub(before_max_ms),
                    latest: now.wrapping_add(after_max_ms),
                })
            }
            _ => self.header.attributes.append_time().then(|| self.timestamp_type(record, timestamp)),
        }
    }

    #[cold]
    fn timestamp_type<F: Feed>(&self, record: &Fields<F>, timestamp: i64) -> RecordCause {
        let codec = self.facts.codec;
        RecordCause::TimestampType {
            timestamp,
            key: record.key.map(F::length_of),
            value: record.value.map(F::length_of),
            skimmed: codec != Codec::None && self.rules.codec.is_none_or(|wanted| wanted == codec),
        }
    }

    fn finish(mut self, at_end: bool, plain_bytes: u64) -> Result<Facts, Fault> {
        if !at_end {
            return Err(Fault::Record { index: self.header.record_count, what: Malformed::Trailing });
        }
        let (first, count) = self.refused;
        if count > 0 {
            return Err(Fault::Records { first, count });
        }
        if let Some(odd) = self.odd {
            return Err(odd);
        }
        self.facts.plain_bytes = plain_bytes;
        Ok(self.facts)
    }
}
