//! A batch written again with the codec that its topic asks for (`compression.type`).

use super::build::seal;
use super::codec::Codec;
use super::fault::Fault;
use super::header::{Attributes, HEADER_BYTES};
use super::pack::Packer;
use super::unpack::Scratch;
use super::validate::{Facts, ValidBatch};

impl ValidBatch<'_> {
    /// The same batch in `out`, its records compressed by `codec`.
    ///
    /// `level` is the topic's `compression.<codec>.level`, `None` Kafka's default. The result may have `max_bytes`
    /// (`max.message.bytes`), as Kafka checks it again.
    pub fn recompress<'o>(
        &self,
        codec: Codec,
        level: Option<i32>,
        max_bytes: usize,
        scratch: &mut Scratch,
        out: &'o mut Vec<u8>,
    ) -> Result<ValidBatch<'o>, Fault> {
        if self.facts.negative_times {
            return Err(Fault::NotRebuilt("a negative timestamp"));
        }
        if self.header.producer_id >= 0 && self.header.producer_epoch < 0 {
            return Err(Fault::NotRebuilt("a negative producer epoch"));
        }
        let (from, plain_bytes) = (self.facts.codec, self.facts.plain_bytes);
        let packed = self.bytes.get(HEADER_BYTES..).unwrap_or_default();
        out.clear();
        out.resize(HEADER_BYTES, 0);
        let mut packer = Packer::new(codec, level, out).map_err(|_| Fault::Uncompressable(codec))?;
        scratch.copy(from, packed, plain_bytes, &mut packer, max_bytes)?;
        packer.finish().map_err(|_| Fault::Uncompressable(codec))?;
        if out.len() > max_bytes {
            return Err(Fault::TooLarge { bytes: out.len(), max: max_bytes });
        }
        let mut header = self.header;
        // What Kafka builds has nothing of the producer's attributes but these.
        header.attributes = Attributes(0)
            .with_codec(codec)
            .with_append_time(self.header.attributes.append_time())
            .with_transactional(self.header.attributes.transactional());
        let bytes = out.as_mut_slice();
        seal(&mut header, bytes).ok_or(Fault::TooLarge { bytes: bytes.len(), max: max_bytes })?;
        Ok(ValidBatch { header, facts: Facts { codec, ..self.facts }, bytes })
    }
}
