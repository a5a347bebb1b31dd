//! The limit: what the machine itself charges for a scenario, as a server that only makes the system calls.
//!
//! It runs as its own process (`benches limit-loop`) and is driven by the same load as the brokers, so its CPU is
//! counted as theirs is. It knows of Kafka's protocol only the length prefix, the API key and the correlation id;
//! its answers are zeros, which read as "no error". One thread, no checks, nothing kept.

mod answer;
mod connection;

use std::fs::File;
use std::io::Write as _;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};

use rustix::event::epoll;
use rustix::process::{Signal, set_parent_process_death_signal};

use crate::error::{Attempt, Result};
use connection::{Connection, State};

/// How a fetch's bytes get from file to socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Via {
    /// By sendfile, after a small send with MSG_MORE.
    Sendfile,
    /// By pread into a buffer and one send.
    Pread,
}

/// What a loop does.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// Where its files are.
    #[arg(long)]
    pub dir: PathBuf,
    /// Bytes of records in a fetch's answer.
    #[arg(long, default_value_t = 0)]
    pub fetch_bytes: usize,
    /// How they are sent.
    #[arg(long, default_value = "pread")]
    pub via: Via,
    /// A fetch waits for the next produce, as a long poll does. By pread each produce answers one fetch; by sendfile
    /// it answers all that wait, with what was produced.
    #[arg(long)]
    pub park: bool,
}

/// Fetches walk through a file of this size again and again; it stays in the page cache.
const WARM_FILE: usize = 512 << 20;
const LISTENER: u64 = u64::MAX;

/// Listens on a free port, prints it, and serves until it is killed or its parent is gone.
pub fn serve(options: &Options) -> Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL)).attempt("binding to the parent's life")?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).attempt("listening")?;
    let warm = warm_file(&options.dir, options.fetch_bytes)?;
    let mut state = State::new(options.clone(), warm);
    let poll = epoll::create(epoll::CreateFlags::CLOEXEC).attempt("epoll")?;
    let readable = epoll::EventFlags::IN;
    epoll::add(&poll, &listener, epoll::EventData::new_u64(LISTENER), readable).attempt("epoll")?;
    let port = listener.local_addr().attempt("listening")?.port();
    println!("{port}");
    std::io::stdout().flush().attempt("printing the port")?;
    let mut connections: Vec<Option<Connection>> = Vec::new();
    let mut events = Vec::with_capacity(128);
    loop {
        events.clear();
        match epoll::wait(&poll, rustix::buffer::spare_capacity(&mut events), None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(other) => return Err(other).attempt("epoll"),
        }
        for event in &events {
            let data = event.data.u64();
            if data == LISTENER {
                let (socket, _) = listener.accept().attempt("accepting")?;
                connections.push(Some(accept(&poll, socket, connections.len(), &state)?));
                continue;
            }
            let index = usize::try_from(data).unwrap_or(usize::MAX);
            let Some(slot) = connections.get_mut(index) else { continue };
            let open =
                slot.as_mut().is_some_and(|connection| connection.serve(index, &mut state).unwrap_or(false));
            if !open {
                *slot = None;
            }
            if let Some(fan_out) = &mut state.fan_out {
                for (waiter, correlation) in std::mem::take(&mut fan_out.waiters) {
                    if let Some(Some(connection)) = connections.get_mut(waiter) {
                        connection.send_range(correlation, fan_out)?;
                    }
                }
            }
            for (waiter, answer) in state.released.drain(..) {
                if let Some(Some(connection)) = connections.get_mut(waiter) {
                    connection.send(&answer)?;
                }
            }
        }
    }
}

fn accept(poll: &rustix::fd::OwnedFd, socket: TcpStream, index: usize, state: &State) -> Result<Connection> {
    socket.set_nodelay(true).attempt("accepting")?;
    let file = state.options.dir.join(format!("written-{index}"));
    let connection = Connection::new(socket, file);
    let flags = epoll::EventFlags::IN | epoll::EventFlags::RDHUP | epoll::EventFlags::ET;
    epoll::add(poll, connection.socket(), epoll::EventData::new_u64(index as u64), flags).attempt("epoll")?;
    Ok(connection)
}

fn warm_file(dir: &Path, fetch_bytes: usize) -> Result<Option<File>> {
    if fetch_bytes == 0 {
        return Ok(None);
    }
    let path = dir.join("warm");
    let mut file = File::options().read(true).write(true).create(true).truncate(true).open(&path);
    let file = file.as_mut().map_err(|error| std::io::Error::from(error.kind()));
    let file = file.attempt(format!("creating {}", path.display()))?;
    let chunk = vec![0x5a; 1 << 20];
    for _ in 0..WARM_FILE >> 20 {
        file.write_all(&chunk).attempt("filling a file")?;
    }
    file.try_clone().map(Some).attempt("filling a file")
}
