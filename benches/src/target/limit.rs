//! Starts a plain loop as a process of its own.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use clap::ValueEnum as _;

use super::{End, Server, local};
use crate::error::{Attempt, Error, Result};
use crate::limit::Via;

/// A loop that a scenario is held against.
#[derive(Clone, Copy, Debug)]
pub struct Loop {
    /// Its name in the table.
    pub name: &'static str,
    /// Bytes of records per fetch.
    pub fetch_bytes: usize,
    /// How they are sent.
    pub via: Via,
    /// Fetches wait for the next produce.
    pub park: bool,
}

/// Receive, checksum, write, answer.
pub const WRITE: Loop = Loop { name: "recv + CRC32C + pwrite", fetch_bytes: 0, via: Via::Pread, park: false };

impl Loop {
    /// Starts it with its files in `dir`.
    pub fn start(&self, dir: &Path) -> Result<Server> {
        std::fs::create_dir_all(dir).attempt(format!("creating {}", dir.display()))?;
        let own = std::env::current_exe().attempt("finding this program")?;
        let via = self.via.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned());
        let mut command = Command::new(own);
        command.arg("limit-loop").arg("--dir").arg(dir);
        command.arg("--fetch-bytes").arg(self.fetch_bytes.to_string()).arg("--via").arg(via);
        if self.park {
            command.arg("--park");
        }
        let since = Instant::now();
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().attempt("starting a loop")?;
        let mut line = String::new();
        if let Some(stdout) = child.stdout.take() {
            BufReader::new(stdout).read_line(&mut line).attempt("starting a loop")?;
        }
        let port = line.trim().parse::<u16>();
        let pid = child.id();
        let mut server =
            Server { addr: local(0), pid, started_in: Duration::ZERO, end: End::Child(child), guard: None };
        server.addr = local(port.map_err(|_| Error::Setup("the loop did not start".to_owned()))?);
        server.started_in = since.elapsed();
        Ok(server)
    }
}
