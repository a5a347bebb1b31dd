use crate::varint;

/// The longest string the protocol can carry (bytes).
const LONGEST_STRING: usize = 0x7fff;

/// Appends one message to a buffer.
#[derive(Debug)]
pub struct Writer<'a> {
    out: &'a mut Vec<u8>,
    version: i16,
    flexible: bool,
}

impl<'a> Writer<'a> {
    /// Writes a message of this version at the end of `out`.
    pub fn new(out: &'a mut Vec<u8>, version: i16) -> Writer<'a> {
        Writer { out, version, flexible: false }
    }

    /// The version of the message.
    pub fn version(&self) -> i16 {
        self.version
    }

    /// Whether lengths are compact and structs end with tagged fields.
    pub fn flexible(&self) -> bool {
        self.flexible
    }

    /// Sets whether the version is a flexible one; a message does so when its encoding starts.
    pub fn set_flexible(&mut self, flexible: bool) {
        self.flexible = flexible;
    }

    /// What has been written, what stood before this message too; for those who append to it themselves.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        self.out
    }

    /// Bytes as they are.
    pub fn put(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    /// An unsigned varint.
    pub fn unsigned_varint(&mut self, value: u32) {
        varint::write_unsigned(self.out, value);
    }

    /// The length of bytes or the count of an array; `None` is null.
    pub fn length(&mut self, length: Option<usize>) {
        // A buffer of 2 GiB cannot be framed, so a length that does not fit never leaves.
        let length = length.map(|length| i32::try_from(length).unwrap_or(i32::MAX));
        if self.flexible {
            self.unsigned_varint(length.map_or(0, |length| length.cast_unsigned().saturating_add(1)));
        } else {
            self.put(&length.unwrap_or(-1).to_be_bytes());
        }
    }

    /// A string. Beyond 32767 bytes, which the protocol cannot carry, it is cut at a character.
    pub fn string(&mut self, text: Option<&str>) {
        let text = text.map(cut);
        if self.flexible {
            self.length(text.map(str::len));
        } else {
            let length = text.map_or(-1, |text| i16::try_from(text.len()).unwrap_or(i16::MAX));
            self.put(&length.to_be_bytes());
        }
        self.put(text.unwrap_or_default().as_bytes());
    }

    /// One tagged field: tag, size, and what `value` writes.
    pub fn tagged_field(&mut self, tag: u32, value: &mut dyn FnMut(&mut Writer<'_>)) {
        self.unsigned_varint(tag);
        let start = self.out.len();
        value(self);
        let size = self.out.len().saturating_sub(start);
        // The size goes in front of the value once it is known.
        self.unsigned_varint(u32::try_from(size).unwrap_or(u32::MAX));
        if let Some(written) = self.out.get_mut(start..) {
            written.rotate_left(size);
        }
    }
}

fn cut(text: &str) -> &str {
    if text.len() <= LONGEST_STRING {
        return text;
    }
    text.get(..text.floor_char_boundary(LONGEST_STRING)).unwrap_or_default()
}
