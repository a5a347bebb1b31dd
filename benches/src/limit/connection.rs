//! One connection of a loop: receive, split, answer, one send for all answers of a receive.

use std::fs::File;
use std::net::TcpStream;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;

use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};

use super::{Options, Via, WARM_FILE};
use crate::error::{Attempt, Error, Result};
use crate::limit::answer;

const ASK: usize = 64 * 1024;
const RESERVE: u64 = 16 << 20;
/// Request bytes around the records: headers, topic id and the like. What is left is written.
const OVERHEAD: usize = 50;
/// From this size on a fetch's answer leaves on its own.
const LARGE_ANSWER: usize = 32 * 1024;

/// What all connections share.
pub struct State {
    /// What the loop was told to do.
    pub options: Options,
    warm: Option<File>,
    warm_at: usize,
    /// Parked fetches: connection and correlation id.
    parked: Vec<(usize, [u8; 4])>,
    /// Produces that no parked fetch has seen.
    unseen: usize,
    /// Answers to connections other than the one being served.
    pub released: Vec<(usize, Vec<u8>)>,
    /// Where the records of the last produce are, and who is to get them from there.
    pub fan_out: Option<FanOut>,
}

/// Records that everybody who waited gets by sendfile.
pub struct FanOut {
    /// Which produce it was, from 1 on.
    number: u64,
    file: File,
    place: u64,
    len: usize,
    /// Connections and the correlation ids of their fetches.
    pub waiters: Vec<(usize, [u8; 4])>,
}

impl State {
    /// Nothing parked yet.
    pub fn new(options: Options, warm: Option<File>) -> State {
        State {
            options,
            warm,
            warm_at: 0,
            parked: Vec::new(),
            unseen: 0,
            released: Vec::new(),
            fan_out: None,
        }
    }

    /// The next place in the warm file with so many bytes behind it.
    fn next_place(&mut self) -> u64 {
        let place = self.warm_at;
        let len = self.options.fetch_bytes;
        self.warm_at = if place + 2 * len > WARM_FILE { 0 } else { place + len };
        place as u64
    }

    fn warm(&self) -> Result<&File> {
        self.warm
            .as_ref()
            .ok_or_else(|| Error::Setup("a loop without --fetch-bytes was asked to fetch".to_owned()))
    }

    /// A fetch's whole answer, made by pread.
    fn read_answer(&mut self, correlation: [u8; 4], out: &mut Vec<u8>) -> Result<()> {
        let (place, len) = (self.next_place(), self.options.fetch_bytes);
        answer::fetch_head(correlation, len, out);
        let start = out.len();
        out.resize(start + len, 0);
        let room = out.get_mut(start..).unwrap_or_default();
        self.warm()?.read_exact_at(room, place).attempt("reading the warm file")
    }
}

/// One client.
pub struct Connection {
    socket: TcpStream,
    path: PathBuf,
    file: Option<File>,
    written: u64,
    reserved: u64,
    buffer: Vec<u8>,
    filled: usize,
    out: Vec<u8>,
    /// The last produce whose records went to this client; a fetch that comes behind its produce is not to wait.
    seen: u64,
}

impl Connection {
    /// A fresh one, which writes to `path` if it is ever asked to produce.
    pub fn new(socket: TcpStream, path: PathBuf) -> Connection {
        let (buffer, out) = (vec![0; ASK], Vec::new());
        Connection { socket, path, file: None, written: 0, reserved: 0, buffer, filled: 0, out, seen: 0 }
    }

    /// Its socket.
    pub fn socket(&self) -> &TcpStream {
        &self.socket
    }

    /// Sends all of some bytes; the socket blocks.
    pub fn send(&self, bytes: &[u8]) -> Result<()> {
        send_all(&self.socket, bytes, SendFlags::empty())
    }

    /// Sends an answer with the records of a fan-out.
    pub fn send_range(&mut self, correlation: [u8; 4], from: &FanOut) -> Result<()> {
        self.seen = from.number;
        let mut head = Vec::new();
        answer::fetch_head(correlation, from.len, &mut head);
        send_all(&self.socket, &head, SendFlags::MORE)?;
        send_file(&self.socket, &from.file, from.place, from.len)
    }

    /// Takes what has come and answers it; false when the client is gone.
    pub fn serve(&mut self, index: usize, state: &mut State) -> Result<bool> {
        loop {
            // Inside a large frame just its rest is asked for, so that nothing has to be moved afterwards.
            let frame = self.buffer.first_chunk::<4>().filter(|_| self.filled >= 4);
            let frame = frame.map_or(0, |prefix| (u32::from_be_bytes(*prefix) as usize).saturating_add(4));
            let ask = if frame > ASK { frame } else { ASK };
            if ask > self.buffer.len() {
                self.buffer.resize(ask, 0);
            }
            let room = self.buffer.get_mut(self.filled..ask).unwrap_or_default();
            let asked = room.len();
            let got = match recv(&self.socket, room, RecvFlags::DONTWAIT) {
                Ok((_, 0)) => return Ok(false),
                Ok((_, got)) => got,
                Err(Errno::AGAIN) => return Ok(true),
                Err(other) => return Err(other).attempt("receiving"),
            };
            self.filled += got;
            self.split(index, state)?;
            if !self.out.is_empty() {
                send_all(&self.socket, &self.out, SendFlags::empty())?;
                self.out.clear();
            }
            if got < asked {
                return Ok(true);
            }
        }
    }

    fn split(&mut self, index: usize, state: &mut State) -> Result<()> {
        let buffer = std::mem::take(&mut self.buffer);
        let mut rest = buffer.get(..self.filled).unwrap_or_default();
        while let Some((prefix, after)) = rest.split_first_chunk::<4>() {
            let Some((frame, next)) = after.split_at_checked(u32::from_be_bytes(*prefix) as usize) else {
                break;
            };
            self.answer(index, frame, state)?;
            rest = next;
        }
        let (start, kept) = (self.filled - rest.len(), rest.len());
        self.buffer = buffer;
        if start > 0 {
            self.buffer.copy_within(start..self.filled, 0);
        }
        self.filled = kept;
        Ok(())
    }

    fn answer(&mut self, index: usize, frame: &[u8], state: &mut State) -> Result<()> {
        let correlation = answer::correlation(frame);
        if answer::is_fetch(frame) {
            return self.fetch(index, correlation, state);
        }
        let place = self.written;
        self.append(frame)?;
        answer::produce(correlation, &mut self.out);
        if state.options.park && state.options.via == Via::Sendfile {
            let waiters = std::mem::take(&mut state.parked);
            let file = self.file.as_ref().map(File::try_clone);
            if let Some(file) = file.transpose().attempt("fanning out")? {
                let len = state.options.fetch_bytes;
                let number = state.fan_out.as_ref().map_or(1, |last| last.number + 1);
                state.fan_out = Some(FanOut { number, file, place, len, waiters });
            }
        } else if state.options.park {
            match state.parked.pop() {
                Some((waiter, correlation)) => {
                    let mut answer = Vec::new();
                    state.read_answer(correlation, &mut answer)?;
                    state.released.push((waiter, answer));
                }
                None => state.unseen += 1,
            }
        }
        Ok(())
    }

    fn append(&mut self, frame: &[u8]) -> Result<()> {
        let records = frame.get(OVERHEAD..).unwrap_or_default();
        std::hint::black_box(crc32c::crc32c(records));
        let file = match &mut self.file {
            Some(file) => file,
            none => {
                let mut options = File::options();
                // Read, too: a fan-out sends from it.
                options.read(true).write(true).create(true).truncate(true);
                none.insert(options.open(&self.path).attempt("creating a file")?)
            }
        };
        if self.written + records.len() as u64 > self.reserved {
            fallocate(&*file, FallocateFlags::KEEP_SIZE, self.reserved, RESERVE)
                .attempt("reserving space")?;
            self.reserved += RESERVE;
        }
        file.write_all_at(records, self.written).attempt("writing")?;
        self.written += records.len() as u64;
        Ok(())
    }

    fn fetch(&mut self, index: usize, correlation: [u8; 4], state: &mut State) -> Result<()> {
        if state.options.park {
            if let Some(fan_out) = state.fan_out.as_ref().filter(|last| last.number > self.seen) {
                return self.send_range(correlation, fan_out);
            }
            if state.unseen == 0 {
                state.parked.push((index, correlation));
                return Ok(());
            }
            state.unseen -= 1;
        }
        let len = state.options.fetch_bytes;
        if state.options.via == Via::Pread {
            state.read_answer(correlation, &mut self.out)?;
        } else {
            answer::fetch_head(correlation, len, &mut self.out);
            send_all(&self.socket, &self.out, SendFlags::MORE)?;
            self.out.clear();
            let place = state.next_place();
            send_file(&self.socket, state.warm()?, place, len)?;
        }
        if self.out.len() >= LARGE_ANSWER {
            send_all(&self.socket, &self.out, SendFlags::empty())?;
            self.out.clear();
        }
        Ok(())
    }
}

fn send_file(socket: &TcpStream, file: &File, mut place: u64, len: usize) -> Result<()> {
    let end = place + len as u64;
    while place < end {
        let left = usize::try_from(end - place).unwrap_or(0);
        if rustix::fs::sendfile(socket, file, Some(&mut place), left).attempt("sendfile")? == 0 {
            return Err(Error::Setup("a file is too short".to_owned()));
        }
    }
    Ok(())
}

fn send_all(socket: &TcpStream, mut bytes: &[u8], flags: SendFlags) -> Result<()> {
    while !bytes.is_empty() {
        let sent = send(socket, bytes, flags).attempt("answering")?;
        bytes = bytes.get(sent..).unwrap_or_default();
    }
    Ok(())
}
