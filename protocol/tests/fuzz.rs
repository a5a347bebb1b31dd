//! Hostile bytes against everything that reads what a client sent: a corpus, and seeded mutations of it.
//!
//! Each target is a plain function that may refuse its bytes, but not panic and not contradict itself.
//! `BARNABAS_FUZZ_ROUNDS` (default 3000 for each target) and `BARNABAS_FUZZ_SEED` choose how long and where;
//! a failure prints the bytes.

#![allow(missing_docs, clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // All of it is tests.

use barnabas_protocol::batch::{
    BatchBuilder, BatchView, Batches, Caps, Codec, Fault, Origin, RawBatch, Rules, Scratch, Stamp,
    TimestampRule,
};
use barnabas_protocol::fetch::FetchRequest;
use barnabas_protocol::frame;
use barnabas_protocol::header::RequestHeader;
use barnabas_protocol::produce::ProduceRequest;
use std::panic::{AssertUnwindSafe, catch_unwind};

const CAPS: Caps = Caps { bytes: 1 << 20, record_bytes: 1 << 19 };

/// A client's record bytes: what passes the checks can be stamped, read by a follower, and read back.
fn batch(bytes: &[u8]) {
    let (mut scratch, mut bytes) = (Scratch::default(), bytes.to_vec());
    let timestamps = TimestampRule::Create { before_max_ms: i64::MAX, after_max_ms: i64::MAX };
    let client = Rules {
        origin: Origin::Client,
        max_bytes: 1 << 20,
        compacted: false,
        timestamps,
        now_ms: 0,
        caps: CAPS,
        codec: None,
    };
    let Ok(raw) = RawBatch::sole(&mut bytes, true) else { return };
    // Kafka believes the max timestamp of a client that claims append time, whatever the records say.
    let honest = !raw.header().attributes.append_time();
    let Ok(mut valid) = raw.validate(&client, &mut scratch) else { return };
    valid.stamp(&Stamp { base_offset: 1000, leader_epoch: 3, append_time: None });
    let mut repacked = Vec::new();
    match valid.recompress(Codec::Lz4, None, 1 << 24, &mut scratch, &mut repacked) {
        Ok(again) => assert_eq!(again.facts().count, valid.facts().count),
        Err(fault) => assert!(matches!(fault, Fault::NotRebuilt(_)), "{fault}"),
    }
    let (facts, stamped) = (*valid.facts(), valid.bytes().to_vec());
    let replica = Rules { origin: Origin::Replica, ..client };
    for bytes in [&stamped, &repacked] {
        let view = BatchView::first(bytes).unwrap().unwrap();
        let copied = view.validate(&replica, &mut scratch).unwrap();
        assert_eq!(copied.count, facts.count);
        assert!(copied.max_timestamp == facts.max_timestamp || !honest);
        let records = view.records(&mut scratch, CAPS).unwrap().filter(Result::is_ok).count();
        assert_eq!(i32::try_from(records).unwrap(), facts.count);
    }
}

/// Whatever stands in a log or a fetch answer: every record and header can be looked at.
fn records(bytes: &[u8]) {
    let (mut scratch, mut walk) = (Scratch::default(), Batches::new(bytes));
    for batch in walk.by_ref() {
        let Ok(batch) = batch else { break };
        let Ok(records) = batch.records(&mut scratch, CAPS) else { continue };
        for record in records {
            let Ok(record) = record else { break };
            let headers = record.headers().map(|header| header.key().len()).sum::<usize>();
            assert!(headers <= batch.bytes().len().saturating_add(1 << 20).saturating_mul(3));
        }
    }
    assert!(walk.rest().len() <= bytes.len());
}

fn produce(bytes: &[u8]) {
    for version in 3..=13 {
        let mut body = bytes.to_vec();
        let Ok(request) = ProduceRequest::read(version, &mut body) else { continue };
        let topics = request.topics.len();
        let mut seen = 0;
        for topic in request.topics {
            seen += 1;
            let partitions = topic.partitions.len();
            assert_eq!(topic.partitions.count(), partitions);
        }
        assert_eq!(seen, topics);
    }
}

fn fetch(bytes: &[u8]) {
    for version in 4..=18 {
        let Ok(request) = FetchRequest::read(version, bytes) else { continue };
        let (topics, forgotten) = (request.topics.len(), request.forgotten.len());
        assert!(request.topics.clone().all(|topic| topic.partitions.len() == topic.partitions.count()));
        assert_eq!(request.topics.count(), topics);
        assert_eq!(request.forgotten.count(), forgotten);
    }
}

fn request(bytes: &[u8]) {
    frame::check(bytes, 1 << 20);
    if let Ok((_, body)) = RequestHeader::parse(bytes) {
        assert!(body.len() <= bytes.len());
    }
}

/// Fails on bytes that the mutations must come upon: proof that the harness finds something.
fn canary(bytes: &[u8]) {
    assert!(bytes.len() < 20 || bytes[16] != 3);
}

/// splitmix64.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % (below.max(1) as u64)).unwrap()
    }

    fn byte(&mut self) -> u8 {
        let odd = [0, 1, 2, 3, 0x7f, 0x80, 0xfe, 0xff];
        if self.roll(2) == 0 { odd[self.roll(odd.len())] } else { u8::try_from(self.roll(256)).unwrap() }
    }

    fn mutate(&mut self, corpus: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = corpus[self.roll(corpus.len())].clone();
        for _ in 0..=self.roll(4) {
            let at = self.roll(bytes.len());
            match self.roll(6) {
                0 => bytes.truncate(at),
                1 => bytes.insert(at, self.byte()),
                2 => {
                    let other = &corpus[self.roll(corpus.len())];
                    bytes.truncate(at);
                    bytes.extend(&other[self.roll(other.len())..]);
                }
                _ if bytes.is_empty() => bytes.push(self.byte()),
                _ => bytes[at] = self.byte(),
            }
        }
        if self.roll(3) > 0 {
            repair(&mut bytes);
        }
        bytes
    }
}

/// Puts length and checksum right, if it can be a batch, so that more than the checksum is put to the test.
fn repair(bytes: &mut [u8]) {
    if bytes.len() > 61 {
        let length = i32::try_from(bytes.len() - 12).unwrap();
        bytes[8..12].copy_from_slice(&length.to_be_bytes());
        let crc = crc32c::crc32c(&bytes[21..]);
        bytes[17..21].copy_from_slice(&crc.to_be_bytes());
    }
}

/// The bytes that made the target fail.
fn hunt(target: fn(&[u8]), corpus: &[Vec<u8>], rounds: usize) -> Option<Vec<u8>> {
    let fails = |bytes: &[u8]| catch_unwind(AssertUnwindSafe(|| target(bytes))).is_err();
    if let Some(bytes) = corpus.iter().find(|bytes| fails(bytes)) {
        return Some(bytes.clone());
    }
    let mut dice = Dice(setting("BARNABAS_FUZZ_SEED", 1) as u64);
    (0..rounds).map(|_| dice.mutate(corpus)).find(|bytes| fails(bytes))
}

fn setting(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

fn survives(target: fn(&[u8]), corpus: &[Vec<u8>]) {
    if let Some(bytes) = hunt(target, corpus, setting("BARNABAS_FUZZ_ROUNDS", 3000)) {
        panic!("failed by {}", bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
    }
}

fn from_hex(text: &str) -> Vec<u8> {
    let digit = |byte: u8| u8::try_from(char::from(byte).to_digit(16).unwrap()).unwrap();
    text.as_bytes().chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}

/// Kafka's own batches, and small ones of ours in every codec.
fn batches() -> Vec<Vec<u8>> {
    let lines = include_str!("../testdata/batches.txt").lines();
    let mut corpus: Vec<_> = lines.map(|line| from_hex(line.split(' ').nth(1).unwrap())).collect();
    for codec in [Codec::None, Codec::Gzip, Codec::Snappy, Codec::Lz4, Codec::Zstd] {
        let mut batch = BatchBuilder::new().codec(codec, None).producer(7, 1, 3);
        batch.append_with(5, Some(b"key"), Some(&[7; 300]), &[("h", Some(b"v")), ("n", None)]);
        batch.append(6, None, None);
        corpus.push(batch.finish().unwrap());
    }
    corpus
}

/// Bodies of Produce or Fetch as Kafka's classes wrote them.
fn bodies(api: &str) -> Vec<Vec<u8>> {
    let lines = include_str!("../testdata/messages.txt").lines();
    let words = lines.map(|line| line.split_whitespace().collect::<Vec<_>>());
    let corpus: Vec<_> = words
        .filter(|words| words.first().is_some_and(|name| name.starts_with(api)))
        .filter_map(|words| words.last().map(|hex| from_hex(hex)))
        .collect();
    assert!(!corpus.is_empty(), "no bodies of {api}");
    corpus
}

#[test]
fn batches_survive() {
    survives(batch, &batches());
}

#[test]
fn records_survive() {
    survives(records, &batches());
}

#[test]
fn produce_survives() {
    survives(produce, &bodies("ProduceRequest"));
}

#[test]
fn fetch_survives() {
    survives(fetch, &bodies("FetchRequest"));
}

#[test]
fn requests_survive() {
    let mut corpus = bodies("ProduceRequest");
    corpus.push(from_hex("00030009000000050003616263000100"));
    survives(request, &corpus);
}

#[test]
fn the_canary_dies() {
    assert!(hunt(canary, &batches(), 3000).is_some());
}
