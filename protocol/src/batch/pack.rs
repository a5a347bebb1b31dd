//! Compressing records as Kafka's Java classes do, so that every client can read them.

use super::codec::Codec;
use super::snappy;
use std::io::{self, Write};

/// `compression.lz4.level` that means the fast compressor, not the ninth level of the slow one.
const LZ4_FAST: i32 = 9;
/// The least level of LZ4's slow compressor.
const LZ4_SLOW: u32 = 3;

/// Takes plain bytes and appends them to a buffer, compressed.
pub(crate) enum Packer<'o> {
    Plain(&'o mut Vec<u8>),
    Gzip(flate2::write::GzEncoder<&'o mut Vec<u8>>),
    Snappy(Box<snappy::Packer<'o>>),
    Lz4(lz4::Encoder<&'o mut Vec<u8>>),
    Zstd(zstd::stream::write::Encoder<'static, &'o mut Vec<u8>>),
}

impl<'o> Packer<'o> {
    /// `level` is the topic's `compression.<codec>.level`; `None` is Kafka's default.
    pub(crate) fn new(codec: Codec, level: Option<i32>, out: &'o mut Vec<u8>) -> io::Result<Packer<'o>> {
        Ok(match codec {
            Codec::None => Packer::Plain(out),
            Codec::Gzip => {
                let level = level.and_then(|level| u32::try_from(level).ok());
                let level = level
                    .map_or(flate2::Compression::default(), |level| flate2::Compression::new(level.min(9)));
                Packer::Gzip(flate2::write::GzEncoder::new(out, level))
            }
            Codec::Snappy => Packer::Snappy(Box::new(snappy::Packer::new(out))),
            Codec::Lz4 => Packer::Lz4(lz4_frames(level).build(out)?),
            Codec::Zstd => Packer::Zstd(zstd::stream::write::Encoder::new(out, level.unwrap_or(3))?),
        })
    }

    /// Bytes in the buffer so far: what was there before, and what has come out.
    pub(crate) fn packed_bytes(&self) -> usize {
        match self {
            Packer::Plain(out) => out.len(),
            Packer::Gzip(encoder) => encoder.get_ref().len(),
            Packer::Snappy(packer) => packer.packed_bytes(),
            Packer::Lz4(encoder) => encoder.writer().len(),
            Packer::Zstd(encoder) => encoder.get_ref().len(),
        }
    }

    /// Writes what is still held back and the end.
    pub(crate) fn finish(self) -> io::Result<()> {
        match self {
            Packer::Plain(_) => Ok(()),
            Packer::Gzip(encoder) => encoder.finish().map(drop),
            Packer::Snappy(packer) => packer.finish(),
            Packer::Lz4(encoder) => encoder.finish().1,
            Packer::Zstd(encoder) => encoder.finish().map(drop),
        }
    }
}

impl Write for Packer<'_> {
    fn write(&mut self, plain: &[u8]) -> io::Result<usize> {
        match self {
            Packer::Plain(out) => out.write(plain),
            Packer::Gzip(encoder) => encoder.write(plain),
            Packer::Snappy(packer) => packer.write(plain),
            Packer::Lz4(encoder) => encoder.write(plain),
            Packer::Zstd(encoder) => encoder.write(plain),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Java's reader knows independent blocks only; its writer makes them of 64 KB without checksums.
fn lz4_frames(level: Option<i32>) -> lz4::EncoderBuilder {
    let level = match level {
        None | Some(LZ4_FAST) => 0,
        Some(level) => u32::try_from(level).unwrap_or(LZ4_SLOW).max(LZ4_SLOW),
    };
    let mut frames = lz4::EncoderBuilder::new();
    frames
        .level(level)
        .block_size(lz4::BlockSize::Max64KB)
        .block_mode(lz4::BlockMode::Independent)
        .checksum(lz4::ContentChecksum::NoChecksum);
    frames
}
