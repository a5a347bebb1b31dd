//! Snappy in the framing of xerial's snappy-java, which Kafka's Java clients write and expect.
//!
//! ```text
//! 82 "SNAPPY" 00 | version i32 | least compatible version i32 | { block length i32, raw snappy block } ...
//! ```
//! Other clients send one raw block without any of this; both are read.

use std::io::{self, Write};

const MAGIC: [u8; 8] = *b"\x82SNAPPY\0";
/// The version written, and the least version a reader must have: both 1.
const VERSIONS: [u8; 8] = [0, 0, 0, 1, 0, 0, 0, 1];
/// How much plain data one block of ours holds.
const BLOCK_BYTES: usize = 32 * 1024;
/// No block can grow more than this: three bytes may stand for 64.
const MOST_GROWTH: usize = 22;

/// Compresses into blocks.
pub(crate) struct Packer<'o> {
    out: &'o mut Vec<u8>,
    plain: Vec<u8>,
    encoder: snap::raw::Encoder,
}

impl<'o> Packer<'o> {
    pub(crate) fn new(out: &'o mut Vec<u8>) -> Packer<'o> {
        out.extend_from_slice(&MAGIC);
        out.extend_from_slice(&VERSIONS);
        Packer { out, plain: Vec::new(), encoder: snap::raw::Encoder::new() }
    }

    pub(crate) fn packed_bytes(&self) -> usize {
        self.out.len()
    }

    pub(crate) fn finish(mut self) -> io::Result<()> {
        if self.plain.is_empty() { Ok(()) } else { self.put_block() }
    }

    fn put_block(&mut self) -> io::Result<()> {
        let block = self.encoder.compress_vec(&self.plain)?;
        let length = i32::try_from(block.len()).map_err(|_| broken("a block is too long"))?;
        self.out.extend_from_slice(&length.to_be_bytes());
        self.out.extend_from_slice(&block);
        self.plain.clear();
        Ok(())
    }
}

impl Write for Packer<'_> {
    fn write(&mut self, plain: &[u8]) -> io::Result<usize> {
        let room = BLOCK_BYTES.saturating_sub(self.plain.len());
        let taken = plain.get(..room).unwrap_or(plain);
        self.plain.extend_from_slice(taken);
        if self.plain.len() >= BLOCK_BYTES {
            self.put_block()?;
        }
        Ok(taken.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Decompresses block after block.
pub(crate) struct Unpacker<'a> {
    rest: &'a [u8],
    framed: bool,
    decoder: snap::raw::Decoder,
}

impl<'a> Unpacker<'a> {
    pub(crate) fn new(packed: &'a [u8]) -> io::Result<Unpacker<'a>> {
        let decoder = snap::raw::Decoder::new();
        let Some(rest) = packed.strip_prefix(&MAGIC) else {
            if packed.is_empty() {
                return Err(broken("no snappy data at all"));
            }
            return Ok(Unpacker { rest: packed, framed: false, decoder });
        };
        let (versions, rest) = rest.split_first_chunk::<8>().ok_or_else(|| broken("a cut snappy header"))?;
        if i32::from_be_bytes([versions[0], versions[1], versions[2], versions[3]]) < 1 {
            return Err(broken("an unknown version of the snappy framing"));
        }
        Ok(Unpacker { rest, framed: true, decoder })
    }

    /// Replaces `plain` by the next block; false at the end. No block may be larger than `most` bytes.
    pub(crate) fn next_block(&mut self, plain: &mut Vec<u8>, most: usize) -> io::Result<bool> {
        let Some(block) = self.block()? else { return Ok(false) };
        let length = snap::raw::decompress_len(block)?;
        if length > block.len().saturating_mul(MOST_GROWTH) {
            return Err(broken("a snappy block claims to grow more than it can"));
        }
        if length > most {
            return Err(io::Error::from(io::ErrorKind::FileTooLarge));
        }
        plain.resize(length, 0);
        self.decoder.decompress(block, plain)?;
        Ok(true)
    }

    fn block(&mut self) -> io::Result<Option<&'a [u8]>> {
        if !self.framed {
            let block = std::mem::take(&mut self.rest);
            return Ok((!block.is_empty()).then_some(block));
        }
        // A second stream may follow the first.
        while let Some(rest) = self.rest.strip_prefix(&MAGIC) {
            self.rest = rest.get(VERSIONS.len()..).unwrap_or_default();
        }
        let Some((length, rest)) = self.rest.split_first_chunk::<4>() else { return Ok(None) };
        let length = usize::try_from(i32::from_be_bytes(*length)).map_err(|_| broken("a negative length"))?;
        let (block, rest) = rest.split_at_checked(length).ok_or_else(|| broken("a cut snappy block"))?;
        self.rest = rest;
        Ok(Some(block))
    }
}

fn broken(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}
