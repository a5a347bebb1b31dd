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

/// How much a compressed batch may grow. Kafka has no such limit; without one a kilobyte keeps a core busy for minutes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caps {
    /// Never more than this many bytes.
    pub bytes: u64,
    /// Never more than this many times the packed size, but [`Caps::FLOOR_BYTES`] are always allowed.
    pub ratio: u32,
}

impl Caps {
    /// What any batch may grow to, however small it is packed.
    pub const FLOOR_BYTES: u64 = 64 << 20;

    pub(crate) fn limit(&self, packed: usize) -> u64 {
        let packed = u64::try_from(packed).unwrap_or(u64::MAX);
        packed.saturating_mul(u64::from(self.ratio)).max(Self::FLOOR_BYTES).min(self.bytes)
    }
}

impl Default for Caps {
    fn default() -> Caps {
        Caps { bytes: 256 << 20, ratio: 1000 }
    }
}
