//! Bytes on their way out.

use std::io;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};

use super::DiskFile;

/// Bytes to send: in memory, or a range of a file that can leave by sendfile.
#[derive(Clone, Debug)]
pub enum Chunk {
    /// In memory.
    Bytes(Bytes),
    /// Still in a file. The range lies within it unless the file is cut meanwhile.
    File {
        /// Where from.
        file: Arc<dyn DiskFile>,
        /// First byte.
        position: u64,
        /// Number of bytes.
        length: u64,
    },
}

impl Chunk {
    /// Nothing.
    pub const EMPTY: Chunk = Chunk::Bytes(Bytes::new());

    /// Number of bytes.
    pub fn len(&self) -> u64 {
        match self {
            Chunk::Bytes(bytes) => bytes.len() as u64,
            Chunk::File { length, .. } => *length,
        }
    }

    /// True if there is nothing to send.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes, read if they are in a file. `UnexpectedEof` if the file was cut.
    pub fn load(&self) -> io::Result<Bytes> {
        match self {
            Chunk::Bytes(bytes) => Ok(bytes.clone()),
            Chunk::File { file, position, length } => {
                let len =
                    usize::try_from(*length).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
                let mut bytes = BytesMut::zeroed(len);
                if file.read_at(*position, &mut bytes)? < len {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                Ok(bytes.freeze())
            }
        }
    }
}
