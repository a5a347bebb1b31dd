//! Splits what a socket gives into answers. Of large ones only the beginning is kept, but all is received as a client
//! would: discarding it inside the kernel (MSG_TRUNC) was seen to turn round which way of sending is the cheaper one.

use std::net::TcpStream;

use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};

use crate::error::{Attempt, Error, Result};

const BUFFER: usize = 64 * 1024;
/// Read at once of what is not kept.
const DISCARD: usize = 256 * 1024;
/// So much of a large answer is kept: its error code lies within.
const HEAD: usize = 64;

/// The receiving half of a connection.
pub struct Inbox {
    buffer: Vec<u8>,
    filled: usize,
    /// Bytes of a large answer that are still to come.
    skip: usize,
    head: Vec<u8>,
    head_of: usize,
    discard: Vec<u8>,
}

impl Inbox {
    /// An empty one.
    pub fn new() -> Inbox {
        Inbox {
            buffer: vec![0; BUFFER],
            filled: 0,
            skip: 0,
            head: Vec::new(),
            head_of: 0,
            discard: vec![0; DISCARD],
        }
    }

    /// Takes what the socket has and calls `answered` with the beginning and the length of each complete answer.
    pub fn pull(
        &mut self,
        socket: &TcpStream,
        answered: &mut impl FnMut(&[u8], usize) -> Result<()>,
    ) -> Result<()> {
        loop {
            let got = if self.skip > 0 {
                let wanted = self.discard.get_mut(..self.skip.min(DISCARD)).unwrap_or_default();
                recv(socket, wanted, RecvFlags::DONTWAIT)
            } else {
                let room = self.buffer.get_mut(self.filled..).unwrap_or_default();
                recv(socket, room, RecvFlags::DONTWAIT)
            };
            match got {
                Err(Errno::AGAIN) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(other) => return Err(other).attempt("receiving answers"),
                Ok((_, 0)) => return Err(Error::Answer("the broker closed the connection".to_owned())),
                Ok((_, count)) if self.skip > 0 => {
                    self.skip = self.skip.saturating_sub(count);
                    if self.skip == 0 {
                        answered(&self.head, self.head_of)?;
                    }
                }
                Ok((_, count)) => {
                    self.filled = self.filled.saturating_add(count);
                    self.split(answered)?;
                }
            }
        }
    }

    fn split(&mut self, answered: &mut impl FnMut(&[u8], usize) -> Result<()>) -> Result<()> {
        let mut rest = self.buffer.get(..self.filled).unwrap_or_default();
        while let Some((prefix, after)) = rest.split_first_chunk::<4>() {
            let len = u32::from_be_bytes(*prefix) as usize;
            if let Some((answer, next)) = after.split_at_checked(len) {
                answered(answer, len)?;
                rest = next;
            } else if after.len() >= HEAD && len > BUFFER / 2 {
                self.head.clear();
                self.head.extend_from_slice(after.get(..HEAD).unwrap_or_default());
                self.head_of = len;
                self.skip = len - after.len();
                rest = &[];
            } else {
                break;
            }
        }
        let kept = rest.len();
        let start = self.filled - kept;
        self.buffer.copy_within(start..self.filled, 0);
        self.filled = kept;
        Ok(())
    }
}
