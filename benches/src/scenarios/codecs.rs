//! Produce of compressed batches: the broker looks inside, whatever the codec; cost by batch of 250 KB of plain text.

use barnabas_protocol::batch::{BatchBuilder, Codec};

use super::{Run, Scenario};
use crate::case::{Case, Per, Stage};
use crate::error::{Error, Result};
use crate::load::Outcome;
use crate::load::request::produce;

const WINDOW: usize = 5;
const RECORDS: u64 = 250;

pub const GZIP: Scenario = Scenario {
    name: "produce-gzip",
    about: "250 records of 1 KB text in a gzip batch, acks=1, one connection, window 5",
    run: Run::Compare(Case { name: "produce-gzip", drive: |stage| run(stage, Codec::Gzip), ..CASE }),
};

pub const SNAPPY: Scenario = Scenario {
    name: "produce-snappy",
    about: "the same with snappy",
    run: Run::Compare(Case { name: "produce-snappy", drive: |stage| run(stage, Codec::Snappy), ..CASE }),
};

pub const LZ4: Scenario = Scenario {
    name: "produce-lz4",
    about: "the same with lz4",
    run: Run::Compare(Case { name: "produce-lz4", drive: |stage| run(stage, Codec::Lz4), ..CASE }),
};

pub const ZSTD: Scenario = Scenario {
    name: "produce-zstd",
    about: "the same with zstd",
    run: Run::Compare(Case { name: "produce-zstd", drive: |stage| run(stage, Codec::Zstd), ..CASE }),
};

const CASE: Case = Case {
    name: "",
    partitions: 1,
    fill: None,
    requests: 6000,
    per: Per::Request("batch"),
    limits: &[],
    drive: |stage| run(stage, Codec::None),
};

fn run(stage: &Stage, codec: Codec) -> Result<Outcome> {
    let frame = produce(stage.topic.id, 0, 1, &text_batch(codec)?);
    stage.drive(vec![vec![frame]], WINDOW)
}

/// Lines such as a service writes: they shrink to about a quarter.
fn text_batch(codec: Codec) -> Result<Vec<u8>> {
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_millis());
    let now = i64::try_from(now).unwrap_or(0);
    let mut batch = BatchBuilder::new().codec(codec, None);
    let mut noise = 0x9e37_79b9_7f4a_7c15_u64;
    for record in 0..RECORDS {
        let mut value = String::new();
        while value.len() < 1000 {
            noise ^= noise << 13;
            noise ^= noise >> 7;
            noise ^= noise << 17;
            value.push_str(&format!(
                "level=info order={} user={:08x} took_ms={} ",
                record,
                noise >> 32,
                noise % 900
            ));
        }
        value.truncate(1000);
        batch.append(now, None, Some(value.as_bytes()));
    }
    batch.finish().map_err(|error| Error::Setup(format!("a compressed batch: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_codec_makes_the_text_smaller() {
        let plain = text_batch(Codec::None).unwrap().len();
        for codec in [Codec::Gzip, Codec::Snappy, Codec::Lz4, Codec::Zstd] {
            let packed = text_batch(codec).unwrap().len();
            assert!(packed * 2 < plain, "{codec:?}: {packed} of {plain}");
        }
    }
}
