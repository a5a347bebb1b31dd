//! The five ways in which a batch's records are packed.

/// How the records of a batch are compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Codec {
    /// Not at all.
    #[default]
    None,
    /// RFC 1952.
    Gzip,
    /// Blocks in the framing of xerial's snappy-java, or one raw block.
    Snappy,
    /// The LZ4 frame format.
    Lz4,
    /// RFC 8878.
    Zstd,
}

impl Codec {
    /// By its number in a batch's attributes.
    pub fn from_id(id: i16) -> Option<Codec> {
        Some(match id {
            0 => Codec::None,
            1 => Codec::Gzip,
            2 => Codec::Snappy,
            3 => Codec::Lz4,
            4 => Codec::Zstd,
            _ => return None,
        })
    }

    /// Its number in a batch's attributes.
    pub fn id(self) -> i16 {
        match self {
            Codec::None => 0,
            Codec::Gzip => 1,
            Codec::Snappy => 2,
            Codec::Lz4 => 3,
            Codec::Zstd => 4,
        }
    }

    /// By the name that `compression.type` uses (`uncompressed` and `none` are both known).
    pub fn from_name(name: &str) -> Option<Codec> {
        Some(match name {
            "none" | "uncompressed" => Codec::None,
            "gzip" => Codec::Gzip,
            "snappy" => Codec::Snappy,
            "lz4" => Codec::Lz4,
            "zstd" => Codec::Zstd,
            _ => return None,
        })
    }
}

/// How much a compressed batch may grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caps {
    /// All its records together, in bytes.
    pub bytes: u64,
    /// One record, in bytes without its length field (`max.decompressed.message.bytes`). Looked at by the checks only.
    pub record_bytes: u64,
}

impl Caps {
    /// What the records of any batch may have together. Kafka has no such limit, but no client can make more: their
    /// builders count in 32 bits.
    pub const MOST_BYTES: u64 = 2_147_483_647;
}

impl Default for Caps {
    /// What may be held whole in memory.
    fn default() -> Caps {
        Caps { bytes: 256 << 20, record_bytes: Self::MOST_BYTES }
    }
}
