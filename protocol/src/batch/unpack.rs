//! Decompressing records: as a stream in bounded memory for checking, or whole for reading.

use super::codec::{Caps, Codec};
use super::fault::Fault;
use super::pack::Packer;
use super::snappy;
use super::stream::Stream;
use flate2::bufread::GzDecoder;
use std::fmt;
use std::io::{self, Read, Write};
use zstd::stream::read;
use zstd::zstd_safe::{DCtx, ResetDirective};

/// What the checks see at once.
const WINDOW_BYTES: usize = 64 * 1024;
/// Buffers that grew beyond this are given back.
const KEEP_BYTES: usize = 4 << 20;
/// What an LZ4 frame begins with.
const LZ4_MAGIC: [u8; 4] = [0x04, 0x22, 0x4d, 0x18];
/// The flag of an LZ4 frame whose blocks do not refer to each other.
const LZ4_INDEPENDENT: u8 = 1 << 5;

/// Memory for unpacking, reused from batch to batch. One per worker is enough; it holds nothing between calls.
#[derive(Default)]
pub struct Scratch {
    window: Vec<u8>,
    block: Vec<u8>,
    plain: Vec<u8>,
    zstd: Option<DCtx<'static>>,
}

impl fmt::Debug for Scratch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scratch").finish_non_exhaustive()
    }
}

impl Scratch {
    /// The records as plain bytes, all of them.
    pub(crate) fn plain<'s>(
        &'s mut self,
        codec: Codec,
        packed: &'s [u8],
        caps: Caps,
    ) -> Result<&'s [u8], Fault> {
        if codec == Codec::None {
            return Ok(packed);
        }
        self.trim();
        let limit = caps.bytes;
        let Scratch { block, plain, zstd, .. } = self;
        plain.clear();
        let read = Source::open(codec, packed, limit, block, zstd)
            .and_then(|source| source.take(limit.saturating_add(1)).read_to_end(plain));
        match read {
            Ok(read) if read as u64 > limit => Err(Fault::Bomb(limit)),
            Ok(_) => Ok(plain),
            Err(error) => Err(fault_of(&error, codec, limit)),
        }
    }

    /// The records as a stream.
    pub(crate) fn stream<'s>(
        &'s mut self,
        codec: Codec,
        packed: &'s [u8],
        caps: Caps,
    ) -> Result<Stream<'s>, Fault> {
        self.trim();
        let limit = caps.bytes;
        self.window.resize(WINDOW_BYTES, 0);
        let source = Source::open(codec, packed, limit, &mut self.block, &mut self.zstd)
            .map_err(|error| fault_of(&error, codec, limit))?;
        Ok(Stream::new(source, &mut self.window, codec, caps))
    }

    /// Unpacks into `packer` what is known to have `plain_bytes`, as long as what comes out of it has at most `most`
    /// bytes.
    pub(crate) fn copy(
        &mut self,
        codec: Codec,
        packed: &[u8],
        plain_bytes: u64,
        packer: &mut Packer<'_>,
        most: usize,
    ) -> Result<(), Fault> {
        self.trim();
        self.window.resize(WINDOW_BYTES, 0);
        let broken = |_| Fault::Undecompressable(codec);
        let mut source =
            Source::open(codec, packed, plain_bytes, &mut self.block, &mut self.zstd).map_err(broken)?;
        loop {
            let count = source.read(&mut self.window).map_err(broken)?;
            let plain = self.window.get(..count).unwrap_or_default();
            if plain.is_empty() {
                return Ok(());
            }
            packer.write_all(plain).map_err(|_| Fault::Uncompressable(codec))?;
            if packer.packed_bytes() > most {
                return Err(Fault::TooLarge { bytes: packer.packed_bytes(), max: most });
            }
        }
    }

    /// Gives back what an unusual batch made grow.
    fn trim(&mut self) {
        for buffer in [&mut self.block, &mut self.plain] {
            if buffer.capacity() > KEEP_BYTES {
                *buffer = Vec::new();
            }
        }
        if self.zstd.as_ref().is_some_and(|context| context.sizeof() > KEEP_BYTES) {
            self.zstd = None;
        }
    }
}

pub(crate) fn fault_of(error: &io::Error, codec: Codec, limit: u64) -> Fault {
    match error.kind() {
        io::ErrorKind::FileTooLarge => Fault::Bomb(limit),
        _ => Fault::Undecompressable(codec),
    }
}

/// A decompressor; reading 0 bytes is a complete end, a stream that is cut is an error.
pub(crate) enum Source<'a> {
    Plain(&'a [u8]),
    Gzip(Box<GzDecoder<&'a [u8]>>),
    Snappy { unpacker: snappy::Unpacker<'a>, most: usize, block: &'a mut Vec<u8>, at: usize },
    Lz4(Option<lz4::Decoder<&'a [u8]>>),
    Zstd(read::Decoder<'a, &'a [u8]>),
}

impl<'a> Source<'a> {
    /// A decompressor over `packed`; blocks that must be held whole, in `block`, may have `most` bytes.
    fn open(
        codec: Codec,
        packed: &'a [u8],
        most: u64,
        block: &'a mut Vec<u8>,
        zstd: &'a mut Option<DCtx<'static>>,
    ) -> io::Result<Source<'a>> {
        Ok(match codec {
            Codec::None => Source::Plain(packed),
            // To Java a zstd stream of no bytes is a complete one.
            Codec::Zstd if packed.is_empty() => Source::Plain(packed),
            Codec::Gzip => Source::Gzip(Box::new(GzDecoder::new(packed))),
            Codec::Snappy => Source::Snappy {
                unpacker: snappy::Unpacker::new(packed)?,
                most: usize::try_from(most).unwrap_or(usize::MAX),
                block,
                at: usize::MAX,
            },
            Codec::Lz4 => {
                let flags = packed.strip_prefix(&LZ4_MAGIC).and_then(|rest| rest.first());
                if flags.is_none_or(|flags| flags & LZ4_INDEPENDENT == 0) {
                    return Err(io::Error::from(io::ErrorKind::InvalidData));
                }
                Source::Lz4(Some(lz4::Decoder::new(packed)?))
            }
            Codec::Zstd => {
                let context = zstd.get_or_insert_with(DCtx::create);
                // The batch before may have been given up in the middle.
                let reset = context.reset(ResetDirective::SessionOnly);
                reset.map_err(|_| io::Error::from(io::ErrorKind::Other))?;
                Source::Zstd(read::Decoder::with_context(packed, context))
            }
        })
    }
}

impl Read for Source<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self {
            Source::Plain(rest) => rest.read(out),
            Source::Gzip(decoder) => read_members(decoder, out),
            Source::Snappy { unpacker, most, block, at } => {
                while *at >= block.len() {
                    if !unpacker.next_block(block, *most)? {
                        block.clear();
                        return Ok(0);
                    }
                    *at = 0;
                }
                let count = block.get(*at..).unwrap_or_default().read(out)?;
                *at = at.saturating_add(count);
                Ok(count)
            }
            Source::Lz4(decoder) => {
                let Some(frame) = decoder else { return Ok(0) };
                let count = frame.read(out)?;
                if count == 0
                    && !out.is_empty()
                    && let Some(frame) = decoder.take()
                {
                    frame.finish().1?;
                }
                Ok(count)
            }
            Source::Zstd(decoder) => decoder.read(out),
        }
    }
}

/// One gzip member after the other; what follows the last and is none is ignored, as Java ignores it.
fn read_members(decoder: &mut GzDecoder<&[u8]>, out: &mut [u8]) -> io::Result<usize> {
    loop {
        let count = decoder.read(out)?;
        let rest = *decoder.get_ref();
        if count > 0 || out.is_empty() || !rest.starts_with(&[0x1f, 0x8b]) {
            return Ok(count);
        }
        *decoder = GzDecoder::new(rest);
    }
}
