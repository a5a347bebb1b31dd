//! Barnabas: a release build, any other command, or a server that runs already.

use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::guard::Guard;
use super::{End, Server, await_answer, free_port, last_words, local};
use crate::error::{Attempt, Error, Result};

/// How the broker under test comes to be.
pub enum Barnabas {
    /// A program called as `PROGRAM server FILE`.
    Binary(PathBuf),
    /// A shell command in which `{config}`, `{dir}` and `{port}` are replaced.
    Command(String),
    /// Somebody else runs it.
    Running {
        /// Where it listens.
        addr: SocketAddr,
        /// Its process.
        pid: u32,
    },
}

impl Barnabas {
    /// Starts it with its data in `dir`, which is formatted on the way if it is empty, and with `more` settings.
    pub fn start(&self, dir: &Path, more: &[&str]) -> Result<Server> {
        fs::create_dir_all(dir).attempt(format!("creating {}", dir.display()))?;
        let dir = dir.canonicalize().attempt(format!("finding {}", dir.display()))?;
        let port = free_port()?;
        let config = dir.join("server.properties");
        let text = properties(&dir, port) + &more.join("\n");
        fs::write(&config, text).attempt(format!("writing {}", config.display()))?;
        let mut command = match self {
            Barnabas::Running { addr, pid } => {
                let (started_in, end) = (Duration::ZERO, End::Foreign);
                return Ok(Server { addr: *addr, pid: *pid, started_in, end, guard: None });
            }
            Barnabas::Binary(program) => {
                let mut command = Command::new(program);
                command.arg("server").arg(&config);
                command
            }
            Barnabas::Command(text) => shell(text, &config, &dir, port),
        };
        let log = dir.join("broker.log");
        let output = File::create(&log).attempt(format!("creating {}", log.display()))?;
        command.stdin(Stdio::null()).stdout(output.try_clone().attempt("broker.log")?).stderr(output);
        let since = Instant::now();
        let child = command.spawn().attempt(format!("starting {:?}", command.get_program()))?;
        let (addr, pid) = (local(port), child.id());
        let mut server =
            Server { addr, pid, started_in: Duration::ZERO, end: End::Child(child), guard: None };
        let alive = || match &mut server.end {
            End::Child(child) => match child.try_wait() {
                Ok(None) => Ok(()),
                _ => Err(Error::Setup(format!("Barnabas ended: {}", last_words(&log)))),
            },
            _ => Ok(()),
        };
        let started_in = await_answer(addr, since, alive)?;
        server.started_in = started_in;
        server.guard = Some(Guard::new(&["kill".into(), pid.to_string().into()])?);
        Ok(server)
    }
}

fn shell(text: &str, config: &Path, dir: &Path, port: u16) -> Command {
    let text = text
        .replace("{config}", &config.to_string_lossy())
        .replace("{dir}", &dir.to_string_lossy())
        .replace("{port}", &port.to_string());
    let mut command = Command::new("sh");
    // exec: the process that is measured must be the broker, not the shell.
    command.arg("-c").arg(format!("exec {text}"));
    command
}

/// The same settings as the reference has.
fn properties(dir: &Path, port: u16) -> String {
    let (data, controller) = (dir.join("data"), port.saturating_add(1));
    format!(
        "process.roles=broker,controller\n\
         node.id=1\n\
         controller.quorum.voters=1@127.0.0.1:{controller}\n\
         listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}\n\
         advertised.listeners=PLAINTEXT://127.0.0.1:{port}\n\
         controller.listener.names=CONTROLLER\n\
         log.dirs={}\n\
         offsets.topic.replication.factor=1\n\
         transaction.state.log.replication.factor=1\n\
         transaction.state.log.min.isr=1\n\
         share.coordinator.state.topic.replication.factor=1\n\
         share.coordinator.state.topic.min.isr=1\n\
         log.segment.delete.delay.ms=500\n\
         log.retention.check.interval.ms=5000\n",
        data.display()
    )
}
