//! Who is measured: the reference Kafka, Barnabas, and the plain loops, each a process of its own.

pub mod barnabas;
mod guard;
pub mod kafka;
pub mod limit;

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};

use guard::Guard;

use crate::error::{Attempt, Error, Result};
use crate::load::caller::Caller;
use crate::load::request::api_versions;

/// A side of the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Side {
    /// Apache Kafka, the reference.
    Kafka,
    /// Ours.
    Barnabas,
    /// A plain loop of system calls.
    Limit,
}

impl Side {
    /// Its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Side::Kafka => "Kafka",
            Side::Barnabas => "Barnabas",
            Side::Limit => "limit",
        }
    }
}

/// A running server; it ends when this is dropped, unless somebody else started it.
pub struct Server {
    /// Where it listens.
    pub addr: SocketAddr,
    /// Its process, for /proc.
    pub pid: u32,
    /// From exec to the first answer.
    pub started_in: Duration,
    end: End,
    /// Released when the server has been stopped.
    guard: Option<Guard>,
}

enum End {
    /// A child of ours: SIGTERM, then wait.
    Child(Child),
    /// Kafka by its script.
    Script { script: PathBuf, dir: PathBuf },
    /// Not ours to stop.
    Foreign,
}

impl Server {
    /// Ends it at once, with nothing flushed. One that is not ours is left alone.
    pub fn kill(self) {
        if !matches!(self.end, End::Foreign) {
            signal(self.pid, rustix::process::Signal::KILL);
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        match &mut self.end {
            End::Child(child) => end_child(child),
            End::Script { script, dir } => kafka::stop(script, dir, self.pid),
            End::Foreign => {}
        }
    }
}

const STOP_PATIENCE: Duration = Duration::from_secs(20);

fn end_child(child: &mut Child) {
    signal(child.id(), rustix::process::Signal::TERM);
    let patience = Instant::now() + STOP_PATIENCE;
    while Instant::now() < patience {
        if !matches!(child.try_wait(), Ok(None)) {
            return;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    // It does not listen to SIGTERM, and a leftover process would disturb every later run.
    let _ = child.kill();
    let _ = child.wait();
}

fn signal(pid: u32, signal: rustix::process::Signal) {
    let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    if let Some(pid) = pid {
        // The process may have ended by itself, which is what is wanted.
        let _ = rustix::process::kill_process(pid, signal);
    }
}

/// What a server's log ends with; the log itself goes with the run's directory.
fn last_words(log: &Path) -> String {
    let text = std::fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let mut lines = text.lines().rev().filter(|line| !line.trim().is_empty()).take(3).collect::<Vec<_>>();
    lines.reverse();
    if lines.is_empty() { "it said nothing".to_owned() } else { lines.join(" / ") }
}

/// A port that was free a moment ago, and the next one too (for Kafka's controller).
fn free_port() -> Result<u16> {
    for _ in 0..100 {
        let probe = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).attempt("finding a free port")?;
        let port = probe.local_addr().attempt("finding a free port")?.port();
        if let Some(next) = port.checked_add(1)
            && TcpListener::bind((Ipv4Addr::LOCALHOST, next)).is_ok()
        {
            return Ok(port);
        }
    }
    Err(Error::Setup("no two free ports side by side".to_owned()))
}

fn local(port: u16) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, port))
}

/// Waits until a broker answers ApiVersions; `alive` may say that there is no hope.
fn await_answer(addr: SocketAddr, since: Instant, mut alive: impl FnMut() -> Result<()>) -> Result<Duration> {
    let patience = Duration::from_secs(60);
    loop {
        let answered =
            Caller::connect(addr).and_then(|mut caller| caller.call(&mut api_versions()).map(|_| ())).is_ok();
        let took = since.elapsed();
        if answered {
            return Ok(took);
        }
        alive()?;
        if took > patience {
            let what = format!("{addr} was to answer ApiVersions");
            return Err(Error::Stalled { what, seconds: patience.as_secs() });
        }
        std::thread::sleep(Duration::from_micros(500));
    }
}
