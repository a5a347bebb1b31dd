//! One request, then its answer, on a blocking socket.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use super::request::Frame;
use crate::error::{Attempt, Error, Result};

const PATIENCE: Duration = Duration::from_secs(60);

/// A connection that waits for each answer.
pub struct Caller {
    socket: TcpStream,
    correlation: i32,
    buffer: Vec<u8>,
    /// Bytes in the buffer.
    filled: usize,
    /// How many of them belong to the answer that was given out last.
    taken: usize,
}

impl Caller {
    /// Connects.
    pub fn connect(addr: SocketAddr) -> Result<Caller> {
        let socket = TcpStream::connect_timeout(&addr, Duration::from_secs(5)).attempt("connecting")?;
        socket.set_nodelay(true).attempt("connecting")?;
        socket.set_read_timeout(Some(PATIENCE)).attempt("connecting")?;
        Ok(Caller { socket, correlation: 0, buffer: vec![0; 64 * 1024], filled: 0, taken: 0 })
    }

    /// Sends without waiting.
    pub fn send(&mut self, frame: &mut Frame) -> Result<()> {
        self.correlation = self.correlation.wrapping_add(1);
        frame.prepare(self.correlation);
        self.socket.write_all(&frame.bytes).attempt(format!("sending {}", frame.api))
    }

    /// Waits for the answer to the oldest frame sent; its bytes after the length.
    pub fn receive(&mut self, frame: &Frame) -> Result<&[u8]> {
        let what = || format!("waiting for the answer to {}", frame.api);
        self.buffer.copy_within(self.taken..self.filled, 0);
        self.filled = self.filled.saturating_sub(std::mem::take(&mut self.taken));
        let whole = loop {
            let prefix = self.buffer.first_chunk::<4>().filter(|_| self.filled >= 4);
            let whole = prefix.map(|prefix| (u32::from_be_bytes(*prefix) as usize).saturating_add(4));
            if let Some(whole) = whole.filter(|whole| self.filled >= *whole) {
                break whole;
            }
            self.buffer.resize(self.buffer.len().max(whole.unwrap_or(0)), 0);
            let room = self.buffer.get_mut(self.filled..).unwrap_or_default();
            let got = self.socket.read(room).attempt(what())?;
            if got == 0 {
                return Err(Error::Answer(format!("{}: the broker closed the connection", frame.api)));
            }
            self.filled = self.filled.saturating_add(got);
        };
        self.taken = whole;
        let answer = self.buffer.get(4..whole).unwrap_or_default();
        frame.check(answer, answer.len())?;
        Ok(answer)
    }

    /// Sends and waits; the answer's bytes after the length.
    pub fn call(&mut self, frame: &mut Frame) -> Result<&[u8]> {
        self.send(frame)?;
        self.receive(frame)
    }
}
